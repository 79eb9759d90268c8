"""What a personality is: whose wire dialect a mock engine speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeVar

from staticfire.engine.actions import Action, Head, Headers
from staticfire.engine.ask import Ask
from staticfire.engine.framing import UVICORN, Manner
from staticfire.engine.identity import Identity
from staticfire.engine.phases import Draining, Phase
from staticfire.engine.script import Script
from staticfire.engine.slots import Slots
from staticfire.engine.stage import Stats
from staticfire.errors import WrongInput, did_you_mean

__all__ = [
    "Desk",
    "Dialect",
    "Personality",
    "Sigterm",
    "personalities",
    "personality",
    "register",
]


class Desk(Protocol):
    """What a personality may know of its engine, and the few things it may ask of it."""

    script: Script
    identity: Identity
    slots: Slots
    stats: Stats
    born: float
    """When its process began, in Unix seconds."""

    def phase(self) -> Phase:
        """The phase at this instant."""
        ...

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


class Sigterm(NamedTuple):
    """What SIGTERM does to an engine.

    Answers on their way `finish`, are ended early as their personality ends them (`abort`), or fall
    `mute`. The engine goes through `phase` and is dead after it; with `at_idle` it is dead as soon
    as no answer is on its way.
    """

    answers: Literal["finish", "abort", "mute"]
    phase: Phase
    at_idle: bool = False


class Personality(Protocol):
    """One dialect. A new one is a subclass of `Dialect` and one `@register` line."""

    name: str
    idle: float
    """Seconds after which an idle kept-alive connection is closed."""
    manner: Manner
    """How its server writes framing headers."""
    lazy: bool
    """Whether it loads the model for the first request, which waits for that."""
    flags: ClassVar[Mapping[str, str]]
    """The flags of a script that it knows, with what they do."""
    builds: ClassVar[Sequence[str]]
    """The builds of a script that it knows."""

    def sigterm(self, desk: Desk) -> Sigterm:
        """What SIGTERM does."""
        ...

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


class Dialect:
    """What most personalities have in common."""

    idle = 5.0
    manner = UVICORN
    lazy = False
    flags: ClassVar[Mapping[str, str]] = {}
    builds: ClassVar[Sequence[str]] = ()

    def sigterm(self, desk: Desk) -> Sigterm:
        """Uvicorn's way: no new connection, what is on its way goes on to its end."""
        del desk
        return Sigterm("finish", Draining(refuses=True), at_idle=True)


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
