"""What a mock engine does over its life, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from staticfire.engine.ask import ENDPOINTS
from staticfire.engine.capacity import Capacity
from staticfire.engine.faults import Fault, as_fault
from staticfire.engine.phases import Phase
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["Rule", "Script"]

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "*")
ROUTES = {**ENDPOINTS, "everything": "* *", "inference": "POST /v1/*"}


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to requests for one method and path: `times`, for `seconds`, or for ever.

    `on` is `METHOD PATH`, where `*` stands for any method and, at a path's end, for any rest; or a
    short name: health, models, chat, completions, embeddings, inference, everything. Of the rules
    that match, the one added last acts; among a script's rules the first. Seconds count from when
    the rule was added, for a script's rules from the engine's start.
    """

    on: str
    do: Fault | str | Sequence[Fault | str]
    times: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        route = ROUTES.get(self.on, self.on)
        method, _, path = route.partition(" ")
        if method not in METHODS or not path.startswith(("/", "*")):
            known = [*ROUTES, *(f"{name} /" for name in METHODS)]
            raise WrongInput(
                "rule: on",
                expected="METHOD /PATH or an endpoint's short name",
                found=repr(self.on),
                do=did_you_mean(self.on, known),
            )
        object.__setattr__(self, "on", route)
        object.__setattr__(self, "do", as_fault(self.do, f"rule on {route}: do"))
        if self.times is not None and self.times < 1:
            raise WrongInput("rule: times", expected="at least 1", found=str(self.times))
        if self.seconds is not None and self.seconds <= 0:
            raise WrongInput("rule: seconds", expected="more than 0", found=f"{self.seconds:g}")

    def matches(self, method: str, path: str) -> bool:
        """Whether a request is one of this rule's."""
        own_method, _, own_path = self.on.partition(" ")
        if own_method not in ("*", method):
            return False
        if own_path.endswith("*"):
            return path.startswith(own_path[:-1])
        return path == own_path


@dataclass(frozen=True, slots=True)
class Script:
    """A mock engine's whole behaviour; equal values behave the same, byte for byte, with one seed.

    `models` are served besides `model`; `embeddings` says that the model is an embeddings model;
    `tokens` is how long an answer is unless the request limits it; `dev_mode` opens `/sleep`,
    `/pause` and their kin; `handlers` are names of registered aiohttp handlers. `flags` are those
    that the real engine would be started with, as far as its personality knows them
    (`"--shutdown-timeout 20"`); `build` is which of its builds speaks, where builds differ.
    """

    model: str = "mock"
    personality: str = "vllm"
    life: Sequence[Phase] = ()
    rules: Sequence[Rule] = ()
    capacity: Capacity = field(default_factory=Capacity)
    models: Sequence[str] = ()
    embeddings: bool = False
    tokens: int = 13
    max_model_len: int = 131072
    dev_mode: bool = False
    handlers: Sequence[str] = ()
    flags: Sequence[str] = ()
    build: str = ""

    def __post_init__(self) -> None:
        for name, kind in (
            ("life", Phase),
            ("rules", Rule),
            ("models", str),
            ("handlers", str),
            ("flags", str),
        ):
            value = getattr(self, name)
            if isinstance(value, (str, Phase, Rule)):
                raise WrongInput(f"script: {name}", expected="a list", found=repr(value))
            items = tuple(value)
            for item in items:
                if not isinstance(item, kind):
                    raise WrongInput(
                        f"script: {name}",
                        expected=f"values of {kind.__name__}",
                        found=repr(item),
                        do="Serving(), for example" if kind is Phase else "",
                    )
            object.__setattr__(self, name, items)
        for name in ("tokens", "max_model_len"):
            if getattr(self, name) < 1:
                raise WrongInput(
                    f"script: {name}", expected="at least 1", found=str(getattr(self, name))
                )
        from staticfire.engine.personalities import personality  # the registry imports scripts

        check_options(self, personality(self.personality, "script: personality"))

    def flag(self, name: str) -> str | None:
        """What follows a flag, empty for one without a value; None without the flag."""
        for given in self.flags:
            head, _, value = given.replace("=", " ", 1).partition(" ")
            if head == name:
                return value.strip()
        return None

    @property
    def served(self) -> tuple[str, ...]:
        """Every model that the engine lists."""
        return (self.model, *self.models)


class Options(Protocol):
    """What a personality says of the options that it takes."""

    flags: ClassVar[Mapping[str, str]]
    builds: ClassVar[Sequence[str]]


def check_options(script: Script, known: Options) -> None:
    """Raise `WrongInput` for a flag or a build that the script's personality does not know."""
    for given in script.flags:
        name = given.replace("=", " ", 1).partition(" ")[0]
        if name not in known.flags:
            raise WrongInput(
                "script: flags",
                expected=f"flags of the personality {script.personality}",
                found=f'"{given}"',
                do=did_you_mean(name, known.flags) if known.flags else "it takes none",
            )
    if script.build and script.build not in known.builds:
        raise WrongInput(
            "script: build",
            expected=f"a build of the personality {script.personality}",
            found=f'"{script.build}"',
            do=did_you_mean(script.build, known.builds) if known.builds else "it has only one",
        )
