"""From an entry and a scenario's settings to the command line that starts the router."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from staticfire.errors import WrongInput
from staticfire.stand.routers.entry import Entry
from staticfire.stand.routers.flags import Unsupported, say

__all__ = ["Place", "Prepared", "prepare"]

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one life of a router has its ports and its files."""

    port: int
    metrics_port: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Prepared:
    """What to run: arguments, environment, and the text of the config, if it has one."""

    arguments: tuple[str, ...]
    env: Mapping[str, str]
    config: str


def prepare(
    entry: Entry, workers: Sequence[str], settings: Mapping[str, str], place: Place, model: str
) -> Prepared:
    """Fill in the templates of an entry.

    Raises `Unsupported` for a setting that the router has not; the entry's defaults are settings
    that the scenario may replace.
    """
    said = _said(entry, dict(entry.defaults) | dict(settings))
    config_path = place.folder / "config"
    values = {
        "port": str(place.port),
        "metrics_port": str(place.metrics_port),
        "model": model,
        "config": str(config_path),
        "folder": str(place.folder),
    }
    lines = [
        _fill(entry.worker, _worker(url, n) | {"model": model}) for n, url in enumerate(workers)
    ]
    known = dict.fromkeys(entry.settings, "") | said
    config = _fill(entry.config, values | known | {"workers": "\n".join(lines)})
    in_config = set(_FIELD.findall(entry.config))
    arguments: list[str] = []
    for word in shlex.split(entry.command):
        arguments += list(workers) if word == "{workers}" else [_fill(word, values)]
    for name, text in said.items():
        arguments += [] if name in in_config else shlex.split(text)
    env = {name: _fill(value, values) for name, value in entry.env.items()}
    return Prepared(tuple(arguments), env, config)


def _said(entry: Entry, settings: Mapping[str, str]) -> dict[str, str]:
    said = {}
    for name, value in settings.items():
        if name not in entry.settings:
            raise Unsupported(f"{entry.name} has no setting {name}")
        try:
            said[name] = say(entry.settings[name], name, value, entry.name, entry.time_scale)
        except ValueError:
            raise WrongInput(
                f"router setting {name}", expected="seconds", found=repr(value)
            ) from None
    return said


def _worker(url: str, number: int) -> dict[str, str]:
    address = url.partition("://")[2].rstrip("/")
    host, _, port = address.rpartition(":")
    return {"url": url, "address": address, "host": host, "port": port, "n": str(number)}


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Known placeholders only: a config has braces of its own."""
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), text)
