"""The lane of engines that already run: they are asked, and never started, stopped or changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from staticfire import wire
from staticfire.errors import StaticFireError, WrongInput
from staticfire.stand.lanes.asking import Able, BrokenProbe, able
from staticfire.stand.lanes.base import Key, LaneFailed, NoneLeft

__all__ = ["BorrowedEngine", "UrlLane"]

HOW = 'name them with --engine-url, or urls = ["http://…"] in [tool.staticfire.lanes.NAME]'

CHANGES = frozenset({"sleep"})
"""What a running engine may be able to do and is never asked to: others use it."""


class BorrowedEngine:
    """An engine of somebody else's, lent to a scenario under the scenario's name."""

    def __init__(self, name: str, url: str, lane: UrlLane) -> None:
        self.name, self.url = name, url
        self._lane = lane

    async def stop(self) -> None:
        """Give it back; it runs on."""
        self._lane.give_back(self.url)

    def timeline(self) -> list[str]:
        """Nothing is known of it but where it is."""
        return [f"at {self.url}; it is not ours, so what it saw is in its own log"]


class UrlLane:
    """Lends the engines at `urls`, each to one scenario at a time.

    `model` is the one to be asked for; without it, the first that the first engine lists. Every
    engine has to list it. `key_env` or `key_file` names the key. An answer may take `patience`
    seconds while the lane finds out what they can do.
    """

    kind = "url"
    virtual = False

    def __init__(
        self,
        urls: Iterable[str] = (),
        model: str = "",
        key_env: str = "",
        key_file: str = "",
        personality: str = "unknown",
        patience: float = 30.0,
    ) -> None:
        if isinstance(urls, str) or not all(isinstance(one, str) for one in urls):
            raise WrongInput("urls", expected="a list of URLs", found=repr(urls))
        found = [wire.parse_url(url, where="--engine-url").url for url in urls]
        if not found:
            raise WrongInput(
                "--engine-url", expected="the engines of a url lane", found="none", do=HOW
            )
        if len(set(found)) < len(found):
            raise WrongInput("--engine-url", expected="each engine once", found=", ".join(found))
        self.urls = tuple(found)
        self.model, self.personality = model, personality
        self.key = Key(key_env or None, key_file or None)
        self.capabilities: frozenset[str] = frozenset()
        self._free = list(self.urls)
        self._patience = patience

    def missing(self) -> str | None:
        return None

    def prepare(self) -> None:
        """Ask every engine what it can do; the lane can what all of them can."""
        asyncio.run(self.look())

    async def look(self) -> None:
        """The same, for whoever has a loop."""
        headers = self.key.headers

        async def asked(url: str, model: str) -> Able:
            return await able(url, model, headers=headers, patience=self._patience)

        try:
            first = await asked(self.urls[0], self.model)
            async with asyncio.TaskGroup() as group:
                rest = [group.create_task(asked(url, first.model)) for url in self.urls[1:]]
        except* BrokenProbe as several:
            broken = several.exceptions[0]
            raise LaneFailed(self.kind, str(broken)) from broken
        self.model = first.model
        all_of = frozenset.intersection(
            first.capabilities, *(one.result().capabilities for one in rest)
        )
        self.capabilities = all_of - CHANGES

    async def start(self, name: str, model: str, seed: int) -> BorrowedEngine:
        """Lend one; raises `NoneLeft` when all are lent."""
        del model, seed
        if not self._free:
            raise NoneLeft(f"more than {len(self.urls)} engines, which is what --engine-url names")
        return BorrowedEngine(name, self._free.pop(0), self)

    def give_back(self, url: str) -> None:
        """Take an engine back for the next scenario."""
        self._free.append(url)

    def too_small(self) -> str | None:
        return None

    async def start_loading(self, name: str, model: str, seed: int) -> BorrowedEngine:
        """Nothing of that kind is here."""
        del model, seed
        raise StaticFireError(f"engine {name!r}: an engine that runs is not loaded again")

    async def start_unloaded(self, name: str, model: str, seed: int) -> BorrowedEngine:
        """Nothing of that kind is here."""
        del model, seed
        raise StaticFireError(f"engine {name!r}: an engine that runs is not unloaded")

    def command(self, model: str) -> tuple[str, ...]:
        """There is none."""
        raise StaticFireError(f"no command is known that starts an engine of {model}")

    def close(self) -> None:
        """They run on."""
