"""What a fault is, how it gets its name, how a name becomes a fault."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from staticfire.engine.actions import Action
from staticfire.engine.ask import Ask
from staticfire.errors import WrongInput, did_you_mean

__all__ = [
    "Fault",
    "as_fault",
    "error_object",
    "fault",
    "fault_class",
    "fault_name",
    "faults",
    "frozen_headers",
    "make",
    "one_of",
]


@runtime_checkable
class Fault(Protocol):
    """A misbehaviour, named by what the client sees.

    A fault is a frozen dataclass with one method. `play` gets the honest answer, action by action,
    and yields what the engine does instead. It is a generator: an endless one is fine, and what it
    does not ask for never happens. It may keep locals, never state on itself, as one fault value
    plays many answers at once.
    """

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        """Turn the honest answer into the faulty one."""
        ...


class Described(Protocol):
    """A fault class that Gherkin can name too."""

    phrases: ClassVar[Mapping[str, Mapping[str, Any]]]
    """`parse` patterns with `{what}` for the endpoint, and the fields that a pattern fixes."""


C = TypeVar("C", bound=type)
_BY_NAME: dict[str, type[Any]] = {}
_NAMES: dict[type[Any], str] = {}


def fault(name: str) -> Callable[[C], C]:
    """Register a fault class under the one name it has in Python, TOML and Gherkin.

    Raises `WrongInput` for a name that is taken and for a class that is no frozen dataclass with a
    `play` method.
    """

    def register(cls: C) -> C:
        where = f"@fault({name!r}) on {cls.__module__}.{cls.__qualname__}"
        taken = _BY_NAME.get(name)
        if taken is not None and f"{taken.__module__}.{taken.__qualname__}" != (
            f"{cls.__module__}.{cls.__qualname__}"
        ):
            raise WrongInput(
                where,
                expected="a new name",
                found=f"the name of {taken.__module__}.{taken.__qualname__}",
                do="choose another name",
            )
        params = getattr(cls, "__dataclass_params__", None)
        if params is None or not params.frozen:
            raise WrongInput(
                where,
                expected="a frozen dataclass",
                found="another class",
                do="put @dataclass(frozen=True, slots=True) below @fault",
            )
        if not inspect.isfunction(getattr(cls, "play", None)):
            raise WrongInput(
                where,
                expected="a method play(self, honest, ask)",
                found="none",
                do="yield the actions of the faulty answer in it",
            )
        _BY_NAME[name] = cls
        _NAMES[cls] = name
        return cls

    return register


def faults() -> Mapping[str, type[Any]]:
    """Every registered fault class by its name."""
    return dict(sorted(_BY_NAME.items()))


def fault_name(value: object) -> str:
    """The registered name of a fault; the class's own name for one that was never registered.

    Several in one are named one after the other: `answers and truncates`.
    """
    if type(value) is _BY_NAME.get("combines"):
        return str(value)
    return _NAMES.get(type(value), type(value).__name__)


def fault_class(name: str, where: str = "fault") -> type[Any]:
    """The class registered as `name`; raises `WrongInput` with the nearest name."""
    if name not in _BY_NAME:
        raise WrongInput(
            where,
            expected="the name of a fault",
            found=f'"{name}"',
            do=did_you_mean(name, _BY_NAME),
        )
    return _BY_NAME[name]


def make(name: str, where: str = "fault", /, **fields: Any) -> Fault:
    """A fault by name and fields; raises `WrongInput` for unknown names, keys and values."""
    cls = fault_class(name, where)
    known = {field.name for field in dataclasses.fields(cls) if field.init}
    for key in fields:
        if key not in known:
            raise WrongInput(
                f"{where}: {key}",
                expected=f'a field of the fault "{name}"',
                found=f'"{key}"',
                do=did_you_mean(key, known) if known else "this fault has no fields",
            )
    missing = [
        field.name
        for field in dataclasses.fields(cls)
        if field.init
        and field.name not in fields
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise WrongInput(
            where,
            expected=f'the field "{missing[0]}" of the fault "{name}"',
            found="no such key",
            do=f"add {missing[0]}",
        )
    made: Fault = cls(**fields)
    return made


def as_fault(value: Fault | str | Sequence[Fault | str], where: str = "fault") -> Fault:
    """A fault value, the fault of that name with its defaults, or several combined in a list."""
    if isinstance(value, (list, tuple)):
        return make("combines", where, faults=tuple(as_fault(each, where) for each in value))
    if isinstance(value, str):
        return make(value, where)
    if isinstance(value, type) or not isinstance(value, Fault):
        raise WrongInput(
            where,
            expected="a fault or the name of one",
            found=repr(value),
            do='NeverAnswers() or "never answers", for example',
        )
    return value


def one_of(where: str, field: str, value: str, known: Collection[str]) -> None:
    """Raise `WrongInput` with the nearest unless a field's value is one of the known ones."""
    if value not in known:
        raise WrongInput(
            f"{where}: {field}",
            expected=f"one of {', '.join(known)}",
            found=repr(value),
            do=did_you_mean(str(value), known),
        )


def error_object(ask: Ask, code: int) -> bytes:
    """The engine's own error object; OpenAI's around what an engine says that has none."""
    _, body = ask.complain(code, None)
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict) and ("error" in said or said.get("object") == "error"):
        return body
    text = body.decode("utf-8", "replace") or "error"
    error = {"message": text, "type": "server_error", "param": None, "code": code}
    return json.dumps({"error": error}, separators=(",", ":")).encode()


def frozen_headers(
    headers: Mapping[str, str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """Header fields of a script, given as a mapping or in pairs, as pairs of text."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((str(name), str(value)) for name, value in pairs)
