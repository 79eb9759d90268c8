"""A group of a fleet: engines alike, which may bind one after the other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from staticfire.engine.phases import Refuses, Serving
from staticfire.engine.script import Script
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["SPREADS", "Group", "Member", "members"]

MOST = 65_535
"""An address has no more ports."""
SPREADS = ("even", "random")


class Member(NamedTuple):
    """One engine of a fleet before it is made: its name, its group's, its script, its port."""

    name: str
    group: str
    script: Script
    port: int


@dataclass(frozen=True, slots=True)
class Group:
    """`count` engines of one script, named after the group: `late-00`, `late-01` …

    `binds` is when they own up to their port, in seconds from the start: one time for all, or the
    first and the last engine's. Between those the others bind at even distances, or at times drawn
    from the seed (`spread="random"`). An engine refuses until it binds; its script's life begins
    then. Without a script they do as the whole fleet does. A group of one is called by the group's
    name alone. `port` is the first engine's, the others follow; 0 lets the kernel choose each.
    """

    name: str
    count: int = 1
    script: Script | None = None
    binds: float | tuple[float, float] = 0.0
    spread: str = "even"
    port: int = 0

    def __post_init__(self) -> None:
        where = f'group "{self.name}"'
        if not self.name or not self.name.isprintable() or self.name != self.name.strip():
            raise WrongInput("group: name", expected="a name", found=repr(self.name))
        if not 1 <= self.count <= MOST:
            raise WrongInput(
                f"{where}: count", expected=f"1 to {MOST} engines", found=str(self.count)
            )
        if isinstance(self.binds, Iterable):
            object.__setattr__(self, "binds", tuple(self.binds))
        first, last = self.first_and_last
        if not 0 <= first <= last:
            raise WrongInput(
                f"{where}: binds",
                expected="a time, or the first and a later last one",
                found=repr(self.binds),
            )
        if self.spread not in SPREADS:
            raise WrongInput(
                f"{where}: spread",
                expected=" or ".join(SPREADS),
                found=repr(self.spread),
                do=did_you_mean(self.spread, SPREADS),
            )
        if self.port and not 0 < self.port <= 65536 - self.count:
            raise WrongInput(
                f"{where}: port",
                expected="0, or a port with room for the whole group above it",
                found=str(self.port),
            )

    @property
    def first_and_last(self) -> tuple[float, float]:
        """When the first and the last engine bind, in seconds."""
        if not isinstance(self.binds, tuple):
            return (self.binds, self.binds)
        if len(self.binds) != 2:
            raise WrongInput(
                f'group "{self.name}": binds',
                expected="one time, or the first and the last",
                found=repr(self.binds),
            )
        return self.binds

    @property
    def names(self) -> tuple[str, ...]:
        """The engines' names in order."""
        if self.count == 1:
            return (self.name,)
        width = max(2, len(str(self.count - 1)))
        return tuple(f"{self.name}-{number:0{width}}" for number in range(self.count))

    def bind_times(self, seed: int) -> tuple[float, ...]:
        """When each engine binds, in seconds; the same for one seed."""
        first, last = self.first_and_last
        if self.spread == "random":
            return tuple(
                round(random.Random(f"{seed}/{name}/binds").uniform(first, last), 3)
                for name in self.names
            )
        step = (last - first) / (self.count - 1) if self.count > 1 else 0.0
        return tuple(round(first + step * number, 9) for number in range(self.count))

    def members(self, seed: int, default: Script) -> Iterator[Member]:
        """The group's engines in order; `default` is the script of a group without one."""
        times = self.bind_times(seed)
        for number, (name, binds) in enumerate(zip(self.names, times, strict=True)):
            script = self.script if self.script is not None else default
            if binds:
                life = (Refuses(seconds=binds), *(script.life or (Serving(),)))
                script = replace(script, life=life)
            yield Member(name, self.name, script, self.port and self.port + number)


def members(
    groups: Iterable[Group], seed: int, default: Script | None = None
) -> tuple[Member, ...]:
    """The engines of all groups in order; raises `WrongInput` when two have one name."""
    alike = default if default is not None else Script()
    found: dict[str, Member] = {}
    for group in groups:
        for member in group.members(seed, alike):
            if member.name in found:
                raise WrongInput(
                    f'group "{group.name}"',
                    expected="names of its own for its engines",
                    found=f'"{member.name}", which is an engine of the group '
                    f'"{found[member.name].group}"',
                    do="choose another name for the group",
                )
            found[member.name] = member
    return tuple(found.values())
