"""A fleet: many mock engines that start side by side and stop together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from staticfire.engine.groups import Group, members
from staticfire.engine.script import Script
from staticfire.engine.server import MockEngine
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["Fleet"]


class Fleet:
    """Engines by name, in the order in which they were added.

        async with Fleet({"early": Script(), "late": Script(life=[Refuses(seconds=12)])}) as fleet:
            fleet["late"].kill()

    Engines share the fleet's seed and differ by their names. One that cannot start stops the rest.
    """

    def __init__(
        self,
        scripts: Mapping[str, Script] | None = None,
        *,
        seed: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        self.seed, self.host = seed, host
        self._engines: dict[str, MockEngine] = {}
        for name, script in (scripts or {}).items():
            self.add(name, script)

    @classmethod
    def of(cls, count: int, script: Script | None = None, *, seed: int = 0) -> Fleet:
        """So many engines of one script, named e00, e01 …"""
        width = max(2, len(str(count - 1)))
        made = script if script is not None else Script()
        return cls({f"e{number:0{width}}": made for number in range(count)}, seed=seed)

    @classmethod
    def of_groups(cls, groups: Iterable[Group], *, seed: int = 0, host: str = "127.0.0.1") -> Fleet:
        """The engines of groups; raises `WrongInput` when two would have one name."""
        fleet = cls(seed=seed, host=host)
        for member in members(groups, seed):
            fleet.add(member.name, member.script, port=member.port)
        return fleet

    def add(self, name: str, script: Script | None = None, *, port: int = 0) -> MockEngine:
        """One more engine; it is not started by this."""
        if name in self._engines:
            raise WrongInput(
                f'engine "{name}"',
                expected="a new name",
                found="the name of another engine of this fleet",
                do="choose another name",
            )
        self._engines[name] = MockEngine(
            script, name=name, seed=self.seed, host=self.host, port=port
        )
        return self._engines[name]

    async def start(self) -> Self:
        """Start every engine that is not started yet, side by side."""
        try:
            await asyncio.gather(*(e.start() for e in self if not e.started))
        except BaseException:
            await self.stop()
            raise
        return self

    async def stop(self) -> None:
        """Stop every engine, side by side."""
        await asyncio.gather(*(engine.stop() for engine in self))

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def __getitem__(self, name: str) -> MockEngine:
        if name not in self._engines:
            raise WrongInput(
                f'engine "{name}"',
                expected="the name of an engine of this fleet",
                found=f'"{name}"',
                do=did_you_mean(name, self._engines) if self._engines else "add it first",
            )
        return self._engines[name]

    def __iter__(self) -> Iterator[MockEngine]:
        return iter(self._engines.values())

    def __len__(self) -> int:
        return len(self._engines)

    @property
    def urls(self) -> tuple[str, ...]:
        """The engines' URLs in order."""
        return tuple(engine.url for engine in self)

    def timeline(self) -> list[str]:
        """What happened to all of them, in the order of time."""
        rows = [
            (row.at, number, row.seq, line)
            for number, engine in enumerate(self)
            for row, line in engine.journal.told(engine.name)
        ]
        return [line for *_, line in sorted(rows)]
