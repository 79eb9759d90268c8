"""`given`, `when` and `then` for steps that may be coroutines.

pytest-bdd calls an `async def` step like a fixture and never awaits it, so the scenario passes
whatever it asserts. These decorators turn it into a plain function that the scenario's world
runs; they use pytest-bdd's public interface only.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import parse  # type: ignore[import-untyped]  # it publishes no types
import pytest_bdd
from pytest_bdd import parsers

__all__ = ["LIBRARY", "StepDoc", "given", "then", "when"]

F = TypeVar("F", bound=Callable[..., Any])

WORLD = "world"
"""The fixture that runs coroutines on the scenario's clock."""


@dataclass(frozen=True, slots=True)
class StepDoc:
    """One line of the step library, as `staticfire steps` lists it."""

    kind: str
    pattern: str
    example: str
    doc: str
    module: str


LIBRARY: list[StepDoc] = []


def _runs_in_the_world(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step as a plain function that asks for the world besides its own fixtures."""
    signature = inspect.signature(step)
    takes_world = WORLD in signature.parameters

    def own(kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return kwargs[WORLD], kwargs if takes_world else {**_without_world(kwargs)}

    if inspect.iscoroutinefunction(step):

        def call(**kwargs: Any) -> Any:
            __tracebackhide__ = True
            world, arguments = own(kwargs)
            return world.run(step(**arguments))

    elif inspect.isasyncgenfunction(step):

        def call(**kwargs: Any) -> Any:
            __tracebackhide__ = True
            world, arguments = own(kwargs)
            halves = step(**arguments)
            yield world.run(anext(halves))
            if world.run(anext(halves, StopAsyncIteration)) is not StopAsyncIteration:
                raise RuntimeError(f"the step {step.__qualname__} yielded twice")

    else:
        return step

    call.__name__, call.__qualname__ = step.__name__, step.__qualname__
    call.__module__, call.__doc__ = step.__module__, step.__doc__
    # pytest-bdd fills parameters that are positional-or-keyword without a default, and only those.
    extra = inspect.Parameter(WORLD, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [*signature.parameters.values(), *([] if takes_world else [extra])]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


@parse.with_pattern(r'[^"]*')  # type: ignore[untyped-decorator]  # parse has no types
def _quoted(text: str) -> str:
    """What stands between two double quotes: none of them, so that patterns stay narrow."""
    return text


def _without_world(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name != WORLD}


def _decorator(kind: str) -> Callable[..., Callable[[F], F]]:
    register: Callable[..., Callable[[Any], Any]] = getattr(pytest_bdd, kind)

    def step(
        pattern: str,
        *,
        example: str = "",
        converters: dict[str, Callable[[str], Any]] | None = None,
        target_fixture: str | None = None,
        stacklevel: int = 1,
    ) -> Callable[[F], F]:
        """Define a step; `pattern` is for `parse`: `{name}`, `{count:d}`, `{seconds:g}`.

        `example` is a line that matches it, for the list of steps; a pattern without parameters
        is its own example.
        """
        typed = re.sub(r'"\{(\w+)\}"', r'"{\1:Quoted}"', pattern)
        parser = parsers.parse(typed, {"Quoted": _quoted}) if "{" in pattern else pattern
        place = register(
            parser, converters=converters, target_fixture=target_fixture, stacklevel=stacklevel + 1
        )

        def define(function: F) -> F:
            place(_runs_in_the_world(function))
            doc = (inspect.getdoc(function) or "").partition("\n")[0]
            LIBRARY.append(
                StepDoc(kind.capitalize(), pattern, example or pattern, doc, function.__module__)
            )
            return function

        return define

    return step


given, when, then = (_decorator(kind) for kind in ("given", "when", "then"))
