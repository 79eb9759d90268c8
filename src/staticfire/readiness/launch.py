"""The workers that a router's own command line names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from staticfire import wire

__all__ = ["Named", "workers_of"]

FLAGS = {"--worker-urls": "worker", "--prefill": "prefill", "--decode": "decode"}
"""The flags of the vLLM and SGLang routers, and of ours."""


@dataclass(frozen=True, slots=True)
class Named:
    """One worker of a launch: `role` is worker, prefill or decode."""

    url: str
    role: str


def workers_of(command: Sequence[str]) -> tuple[Named, ...]:
    """The workers in `--worker-urls A B …`, `--prefill URL [PORT] …` and `--decode URL …`.

    Each flag may come again, or as `--flag=URL`. A URL that comes twice counts once, in its first
    role. Raises WrongInput, naming the flag, for a value that is no URL.
    """
    seen: dict[str, Named] = {}
    for flag, value in _values(command):
        role = FLAGS[flag]
        if role == "prefill" and (value.isdigit() or value.lower() == "none"):
            continue  # the bootstrap port of the URL before it
        named = Named(wire.parse_url(value, where=flag).url, role)
        seen.setdefault(named.url, named)
    return tuple(seen.values())


def _values(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    open_flag: str | None = None
    for token in command:
        if token.startswith("-"):
            name, equals, value = token.partition("=")
            open_flag = name if name in FLAGS and not equals else None
            if name in FLAGS and equals:
                yield name, value
        elif open_flag is not None:
            yield open_flag, token
