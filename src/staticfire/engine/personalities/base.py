"""What a personality is: whose wire dialect a mock engine speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from staticfire.engine.actions import Action, Head, Headers
from staticfire.engine.ask import Ask
from staticfire.engine.capacity import Slots
from staticfire.engine.identity import Identity
from staticfire.engine.player import Stats
from staticfire.engine.script import Script
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["Desk", "Personality", "personalities", "personality", "register"]


class Desk(Protocol):
    """What a personality may know of its engine, and the few things it may ask of it."""

    script: Script
    identity: Identity
    slots: Slots
    stats: Stats

    @property
    def lists(self) -> bool:
        """Whether the listing names the models now."""
        ...

    @property
    def asleep(self) -> bool:
        """Whether inference hangs until the engine is woken."""
        ...

    @property
    def paused(self) -> bool:
        """Whether inference hangs until the engine is resumed."""
        ...

    @property
    def sleepable(self) -> bool:
        """Whether the development routes (sleep, pause and their kin) exist now."""
        ...

    def sleep(self, level: int) -> None:
        """Put the engine to sleep."""
        ...

    def wake(self) -> None:
        """Wake the engine; a sleeping phase ends."""
        ...

    def pause(self, *, on: bool) -> None:
        """Pause or resume inference."""
        ...

    def wall(self) -> int:
        """Unix seconds."""
        ...

    def date(self) -> bytes:
        """The `Date` header's value now."""
        ...


class Personality(Protocol):
    """One dialect. A new one is a class with these members and one `@register` line."""

    name: str
    idle: float
    """Seconds after which an idle kept-alive connection is closed."""

    def endpoint(self, method: str, path: str) -> str:
        """Which of `ask.ENDPOINTS` a request is for, or `other`."""
        ...

    def answer(self, ask: Ask, desk: Desk) -> Iterator[Action]:
        """The honest answer."""
        ...

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        """Headers (in wire order) and body of an error of that status on that endpoint."""
        ...

    def not_http(self, desk: Desk) -> tuple[Head, bytes]:
        """The answer to bytes that are no HTTP."""
        ...


P = TypeVar("P", bound=Callable[[], Personality])
_BY_NAME: dict[str, Callable[[], Personality]] = {}
_MADE: dict[str, Personality] = {}


def register(name: str) -> Callable[[P], P]:
    """Register a personality's factory under its name."""

    def keep(factory: P) -> P:
        _BY_NAME[name] = factory
        _MADE.pop(name, None)
        return factory

    return keep


def personalities() -> tuple[str, ...]:
    """The names of every registered personality."""
    return tuple(sorted(_BY_NAME))


def personality(name: str, where: str = "personality") -> Personality:
    """The personality of that name, shared by its engines; raises `WrongInput` with the nearest."""
    if name not in _BY_NAME:
        raise WrongInput(
            where,
            expected="the name of a personality",
            found=f'"{name}"',
            do=did_you_mean(name, _BY_NAME),
        )
    if name not in _MADE:
        _MADE[name] = _BY_NAME[name]()
    return _MADE[name]
