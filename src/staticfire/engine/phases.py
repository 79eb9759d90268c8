"""The phases of an engine's life: what it does with connections, health, listing and inference.

A phase lasts `seconds`, or a number of inference `requests`, or until the hold named `hold` is
released, or for ever. Health, listing and each kind of inference are scripted apart in every phase
that answers at all; `completions` and `embeddings` do as `chat` does unless they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, cast

from staticfire.engine.faults import Answers, Fault, Honest, NeverAnswers, as_fault
from staticfire.errors import WrongInput

Faulty = Fault | str | Sequence[Fault | str]

__all__ = [
    "PHASES",
    "Accepting",
    "Busy",
    "Dead",
    "Draining",
    "Loading",
    "Phase",
    "Refuses",
    "Serving",
    "Sleeping",
]

HONEST = Honest()
SHED = Answers(503)
SILENT = NeverAnswers()


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of life; use one of the subclasses."""

    seconds: float | None = None
    requests: int | None = None
    hold: str | None = None

    name: ClassVar[str] = "phase"
    listens: ClassVar[bool] = True
    """Whether connects succeed."""

    def __post_init__(self) -> None:
        given = [key for key in ("seconds", "requests", "hold") if getattr(self, key) is not None]
        if len(given) > 1:
            raise WrongInput(
                f"phase {self.name}",
                expected="one of seconds, requests, hold",
                found=" and ".join(given),
                do="split it into two phases",
            )
        if self.seconds is not None and self.seconds < 0:
            raise WrongInput(
                f"phase {self.name}: seconds",
                expected="a duration of zero or more",
                found=f"{self.seconds:g}",
            )
        if self.requests is not None and self.requests < 1:
            raise WrongInput(
                f"phase {self.name}: requests",
                expected="at least one request",
                found=str(self.requests),
            )

    def does(self, endpoint: str) -> Fault:
        """What this phase does with a request for an endpoint."""
        del endpoint
        return HONEST

    @property
    def lists(self) -> bool:
        """Whether an honest listing names the models."""
        return True


@dataclass(frozen=True, slots=True)
class _Answering(Phase):
    health: int | Faulty = 200
    listed: bool | Faulty = True
    chat: Faulty = HONEST
    completions: Faulty | None = None
    embeddings: Faulty | None = None

    def __post_init__(self) -> None:
        Phase.__post_init__(self)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("chat", "completions", "embeddings"):
                wanted = value is not None
            else:
                wanted = field.name in ("health", "listed") and not isinstance(value, int)
            if wanted:
                made = as_fault(value, f"phase {self.name}: {field.name}")
                object.__setattr__(self, field.name, made)

    def does(self, endpoint: str) -> Fault:
        # hot: no isinstance of the Fault protocol here, which costs 10 µs
        if endpoint == "chat":
            return cast(Fault, self.chat)
        if endpoint == "health":
            return _health(self.health)
        if endpoint == "models":
            return HONEST if isinstance(self.listed, bool) else cast(Fault, self.listed)
        own = {"completions": self.completions, "embeddings": self.embeddings}
        if endpoint not in own:
            return HONEST
        chosen = own[endpoint]
        return cast(Fault, self.chat if chosen is None else chosen)

    @property
    def lists(self) -> bool:
        return self.listed is not False


def _health(health: int | Faulty) -> Fault:
    if isinstance(health, int):
        return HONEST if health == 200 else Answers(health)
    return cast(Fault, health)


@dataclass(frozen=True, slots=True)
class Refuses(Phase):
    """Owns its port and refuses every connect; connections of an earlier phase are cut."""

    name: ClassVar[str] = "refuses"
    listens: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Accepting(Phase):
    """Accepts connections and never reads or answers; those stay silent in later phases too."""

    name: ClassVar[str] = "accepting"

    def does(self, endpoint: str) -> Fault:
        del endpoint
        return SILENT


@dataclass(frozen=True, slots=True)
class Loading(_Answering):
    """Up, and the model is not ready: inference is answered 503 unless the script says otherwise."""

    chat: Faulty = SHED
    name: ClassVar[str] = "loading"


@dataclass(frozen=True, slots=True)
class Serving(_Answering):
    """Everything answers honestly, less what the script says."""

    name: ClassVar[str] = "serving"


@dataclass(frozen=True, slots=True)
class Busy(_Answering):
    """Healthy and listed; inference is shed with 503."""

    chat: Faulty = SHED
    name: ClassVar[str] = "busy"


@dataclass(frozen=True, slots=True)
class Sleeping(_Answering):
    """Healthy and listed; inference hangs until the engine wakes (vLLM, `/sleep`)."""

    name: ClassVar[str] = "sleeping"


@dataclass(frozen=True, slots=True)
class Draining(_Answering):
    """Requests in flight finish, new inference is shed with 503; health stays 200 (vLLM).

    With `refuses` the port is closed at once, and only open connections go on (llama.cpp, uvicorn).
    """

    chat: Faulty = SHED
    refuses: bool = False
    name: ClassVar[str] = "draining"


@dataclass(frozen=True, slots=True)
class Dead(Phase):
    """The process is gone: every connection ends (by RST with `reset`), connects are refused."""

    reset: bool = False
    name: ClassVar[str] = "dead"
    listens: ClassVar[bool] = False


PHASES: dict[str, type[Phase]] = {
    cls.name: cls for cls in (Refuses, Accepting, Loading, Serving, Busy, Sleeping, Draining, Dead)
}
