"""Users' own aiohttp handlers, registered by name outside a script and named in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from staticfire.errors import WrongInput, did_you_mean

__all__ = ["Handler", "handler", "handler_of", "handles"]

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Handler:
    """A registered handler and its `METHOD /path`."""

    route: str
    handle: Handle


_BY_NAME: dict[str, Handler] = {}


def handles(name: str, route: str) -> Callable[[Handle], Handle]:
    """Register an aiohttp handler as `name` for `METHOD /path`; a script names it in `handlers`.

    Rules and phases alter a `web.Response` like any honest answer; a `StreamResponse` that the
    handler writes by itself goes through as it is.
    """

    def keep(handle: Handle) -> Handle:
        _BY_NAME[name] = Handler(route, handle)
        return handle

    return keep


def handler_of(names: Sequence[str], route: str) -> Handle | None:
    """The handler among these that is for `METHOD /path`; None where there is none."""
    return next((own.handle for own in map(handler, names) if own.route == route), None)


def handler(name: str) -> Handler:
    """The handler of that name; raises `WrongInput` with the nearest one."""
    if name not in _BY_NAME:
        raise WrongInput(
            "script: handlers",
            expected="the name of a registered handler",
            found=f'"{name}"',
            do=did_you_mean(name, _BY_NAME) if _BY_NAME else "register it with @handles",
        )
    return _BY_NAME[name]
