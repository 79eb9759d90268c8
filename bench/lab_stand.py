"""What the peer lab stands on: engines, a router in front of them, a client."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Self

from staticfire.engine import MockEngine, Rule, Script, Serving, phrases
from staticfire.judge import Answer, End, Judge
from staticfire.router import Router, Settings

__all__ = ["MODEL", "ROWS", "Lab", "in_words", "row", "told"]

MODEL = "qwen"
ROWS: list[tuple[str, str, Callable[[], Coroutine[Any, Any, str]]]] = []


def row(letter: str, what: str) -> Callable[[Any], Any]:
    """A scenario with its letter and its words."""

    def add(scenario: Callable[[], Coroutine[Any, Any, str]]) -> Any:
        ROWS.append((letter, what, scenario))
        return scenario

    return add


class Lab:
    """Engines, a router in front of them, and a client; all gone afterwards."""

    def __init__(
        self, *lives: Sequence[Any], models: Sequence[str] = (MODEL,), **settings: Any
    ) -> None:
        """`models` are theirs in turn; `settings` are the router's."""
        self.engines = [
            MockEngine(
                Script(model=models[n % len(models)], life=list(life or [Serving()])),
                name=f"e{n}",
                seed=n,
            )
            for n, life in enumerate(lives or [()])
        ]
        self.settings = settings

    async def __aenter__(self) -> Self:
        for engine in self.engines:
            await engine.start()
        urls = tuple(engine.url for engine in self.engines)
        self.router = Router(Settings(worker_urls=urls, port=0, seed=1, **self.settings))
        await self.router.start()
        self.judge = Judge(self.router.url)
        self.began = asyncio.get_running_loop().time()
        if self.settings.get("wait", True) and any(e.open for e in self.engines):
            await asyncio.sleep(2)
        self.began = asyncio.get_running_loop().time()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.router.stop()
        for engine in self.engines:
            await engine.stop()

    @property
    def now(self) -> float:
        """Seconds since the scenario began."""
        return asyncio.get_running_loop().time() - self.began

    def does(self, rule: str | Rule, engine: int = 0) -> None:
        """An engine misbehaves from now on."""
        self.engines[engine].add_rule(phrases.rule(rule) if isinstance(rule, str) else rule)

    async def ask(
        self, *, model: str = MODEL, stream: bool = False, deadline: float = 60.0
    ) -> Answer:
        """One chat request."""
        return await self.judge.chat(model, stream=stream, deadline=deadline)

    async def opened(self) -> str:
        """Whether a breaker has moved since the start."""
        page = await self.judge.ask("GET", "/metrics")
        moved = b"staticfire_breaker_transitions_total{" in page.body
        return "opens" if moved else "never opens"

    async def until_ok(self, every: float, most: int = 4000) -> tuple[int, float]:
        """Ask until a request succeeds: how many did not before it, and when it was."""
        for failed in range(most):
            if (await self.ask()).ok:
                return failed, self.now
            await asyncio.sleep(every)
        return most, self.now

    def got(self, engine: int = 0) -> int:
        """Chat requests of clients that an engine got."""
        chats = self.engines[engine].journal.requests(on="POST /v1/chat/completions")
        return sum(b"judge" in request.body for request in chats)


def told(answer: Answer) -> str:
    """An answer in few words."""
    own = answer.header("x-staticfire-error")
    status = f"{answer.status}" if answer.status else "no head"
    end = "" if answer.end is End.WHOLE else f", {answer.end}"
    return status + (f" {own}" if own else "") + end


def in_words(seen: Counter[str]) -> str:
    """Counts of what came."""
    return ", ".join(f"{count} x {what}" for what, count in seen.items())
