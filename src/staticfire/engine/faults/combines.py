"""`combines`: several faults on one answer, each on what the one before it made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from staticfire.engine.actions import Action
from staticfire.engine.ask import Ask
from staticfire.engine.faults.base import Fault, as_fault, fault, fault_name
from staticfire.engine.reading import Reading, reading
from staticfire.errors import WrongInput

__all__ = ["Combines"]


@fault("combines")
@dataclass(frozen=True, slots=True)
class Combines:
    """Plays `faults` in their order: the second alters what the first one made, and so on.

    Python and TOML write it as a list in place of one fault, Gherkin with `and`.
    """

    faults: tuple[Fault | str, ...]

    def __post_init__(self) -> None:
        if len(self.faults) < 1:
            raise WrongInput("combines: faults", expected="a list of faults", found="none")
        made = tuple(as_fault(each, "combines: faults") for each in self.faults)
        object.__setattr__(self, "faults", made)

    def __str__(self) -> str:
        return " and ".join(map(fault_name, self.faults))

    @property
    def reading(self) -> Reading | None:
        """How the first of them that cares reads the request."""
        found = (reading(each) for each in self.faults)
        return next((pace for pace in found if pace is not None), None)

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        for each in self.faults:
            honest = as_fault(each).play(honest, ask)
        return honest
