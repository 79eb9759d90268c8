"""What is known of a router that is a program: a frozen value, read from a table.

    [tool.staticfire.routers.mine]
    command = "mine --port {port} --workers {workers}"
    readiness = "/readyz"
    capabilities = ["health", "sessions"]

Placeholders of `command`, `config`, `env`: `{port}`, `{metrics_port}`, `{model}`, `{config}` (the
path of the file written from `config`), `{folder}` (an empty one) and `{workers}`: in a command one
argument a worker; in a config one line a worker, made from `worker`, where `{url}`, `{address}`,
`{host}`, `{port}`, `{n}` are that worker's. Other braces of a config stay as they are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from staticfire.errors import WrongInput, did_you_mean
from staticfire.stand.routers.flags import Flag, read_flag

__all__ = ["CAPABILITIES", "PLACEHOLDERS", "Entry", "read_entry"]

CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "readiness": "it says whether it can serve, and is up while it cannot",
        "health": "it looks at its workers by itself",
        "breaker": "it rests a worker after a streak of errors, for a time that is set",
        "sessions": "it keeps a session on one worker",
        "least-sessions": "it gives a new session to the worker with the fewest",
        "turns": "it takes its workers in turns",
        "models": "it knows who serves which model",
        "request-ids": "the client's X-Request-Id reaches the engine",
        "bodies": "it reads the body of a request, and refuses one that is none",
        "openai-errors": "its own errors have the four keys of OpenAI's",
        "gateway-errors": "it says 502 where a worker's answer is none, 504 where none came in time",
        "retries": "it asks another worker where one says that it cannot now",
        "verbatim": "what it does not use passes as it is: the body's bytes, the headers of sessions",
        "body-sessions": "it finds a session in the body of a request",
        "kept-connections": "it keeps a connection to a worker for the next client",
        "telling": "it tells each worker's breaker and outcomes, as the bundled router does",
        "pairs": "it makes pairs of prefill and decode workers",
        "metrics-page": "it has a page of metrics that Prometheus reads",
    }
)
"""What a scenario may need of the router (`@needs:…`), and what that means."""

PLACEHOLDERS = frozenset({"port", "metrics_port", "model", "config", "folder", "workers"})
_FIELD = re.compile(r"\{(\w+)\}")
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """How a router is found and started, and what it has."""

    name: str
    command: str
    config: str = ""
    worker: str = "{url}"
    """One line of a config for one worker."""
    readiness: str = "/readiness"
    liveness: str = "/liveness"
    capabilities: frozenset[str] = frozenset(CAPABILITIES)
    """All, until it says which: a promise is held against it unless it says that it has no such thing."""
    session_headers: tuple[str, ...] = ()
    """Headers that name a session to it, besides X-Session-Id."""
    env: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    venv: str = ""
    """A virtual environment, or a folder of programs, where its program lies."""
    package: str = ""
    """The Python package whose version is the router's."""
    version: str = ""
    """Else: a command that prints it."""
    install: str = ""
    time_scale: float = 10.0
    """Scenario seconds in a real one, for scenarios that let time pass."""
    notices: float = 1.5
    """Real seconds within which it has seen a change of a worker."""
    start_within: float = 20.0
    """Real seconds in which it has bound its port, where it binds at once."""
    defaults: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """Settings of every scenario that does not set them otherwise."""
    counting: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """Settings of scenarios that count attempts (`@counts`)."""
    settings: Mapping[str, Flag] = field(default_factory=lambda: _EMPTY)

    @property
    def program(self) -> str:
        """The first word of its command."""
        return shlex.split(self.command)[0]


_KINDS: Mapping[str, tuple[type, ...]] = {
    "command": (str,), "config": (str,), "worker": (str,), "readiness": (str,),
    "liveness": (str,), "capabilities": (list,), "session_headers": (list,), "env": (dict,),
    "venv": (str,), "package": (str,), "version": (str,), "install": (str,),
    "time_scale": (int, float), "notices": (int, float), "start_within": (int, float),
    "defaults": (dict,), "counting": (dict,), "settings": (dict,),
}  # fmt: skip


def read_entry(name: str, table: Mapping[str, Any], where: str, base: Entry | None = None) -> Entry:
    """The entry of a table; keys that it leaves out are those of `base`.

    Raises WrongInput for an unknown key, a value of the wrong kind, a command with an unknown
    placeholder or none for its port.
    """
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KINDS:
            raise WrongInput(
                where, expected="a known key", found=f'"{key}"', do=did_you_mean(key, _KINDS)
            )
        if not isinstance(value, _KINDS[key]) or isinstance(value, bool):
            kinds = " or ".join(kind.__name__ for kind in _KINDS[key])
            raise WrongInput(f"{where} {key}", expected=f"a {kinds}", found=repr(value))
        given[key] = value
    for key in ("time_scale", "notices", "start_within"):
        if given.get(key, 1) <= 0:
            raise WrongInput(f"{where} {key}", expected="above zero", found=repr(given[key]))
    for key, value in given.items():
        if key == "settings":
            given[key] = MappingProxyType(
                {n: read_flag(v, f"{where} settings.{n}") for n, v in value.items()}
            )
        elif isinstance(value, dict):
            given[key] = MappingProxyType({str(k): str(v) for k, v in value.items()})
    if "capabilities" in given:
        given["capabilities"] = _capabilities(given["capabilities"], f"{where} capabilities")
    if "session_headers" in given:
        given["session_headers"] = tuple(str(one) for one in given["session_headers"])
    inherited = (
        {f.name: getattr(base, f.name) for f in fields(Entry) if f.name != "name"} if base else {}
    )
    if "command" not in given and base is None:
        raise WrongInput(where, expected='command = "…" or python = "…"', found="neither")
    entry = Entry(name=name, **(inherited | given))
    _check_command(entry, where)
    return entry


def _capabilities(given: list[Any], where: str) -> frozenset[str]:
    for one in given:
        if one not in CAPABILITIES:
            raise WrongInput(
                where,
                expected="known capabilities",
                found=repr(one),
                do=did_you_mean(str(one), CAPABILITIES),
            )
    return frozenset(given)


def _check_command(entry: Entry, where: str) -> None:
    try:
        words = shlex.split(entry.command)
    except ValueError as error:
        raise WrongInput(f"{where} command", expected="a command line", found=str(error)) from None
    used = set(_FIELD.findall(entry.command))
    for one in sorted(used - PLACEHOLDERS):
        raise WrongInput(
            f"{where} command",
            expected="known placeholders",
            found=f"{{{one}}}",
            do=did_you_mean(one, PLACEHOLDERS),
        )
    named = used | (set(_FIELD.findall(entry.config)) if "config" in used else set())
    missing = [one for one in ("port", "workers") if one not in named]
    if not words or missing:
        lacking = ", ".join(f"{{{one}}}" for one in missing) or "a program"
        raise WrongInput(
            f"{where} command",
            expected="a program that is told its {port} and its {workers}",
            found=f"no {lacking}",
        )
