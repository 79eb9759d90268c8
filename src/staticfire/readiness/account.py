"""What an engine says of itself: how much waits, how much runs, whether it is asleep.

Nobody has to say anything: a route that is not there is asked once in a generation.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from staticfire import wire
from staticfire.clock import current
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.exchange import ask
from staticfire.readiness.verdict import Source, Verdict

__all__ = ["Account", "Load", "read_metrics"]

WAITING = ("vllm:num_requests_waiting", "llamacpp:requests_deferred", "sglang:num_queue_reqs")
RUNNING = ("vllm:num_requests_running", "llamacpp:requests_processing", "sglang:num_running_reqs")
TOKENS = (
    "vllm:generation_tokens_total",
    "llamacpp:tokens_predicted_total",
    "sglang:generation_tokens_total",
)
SLEEP = "vllm:engine_sleep_state"

STATES = {
    "/is_sleeping": ("is_sleeping", "asleep"),
    "/is_paused": ("is_paused", "paused"),
}
"""Routes that tell a pause by one boolean (vLLM in development mode, which RL runs use)."""

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Load:
    """One account. None where the engine does not say."""

    waiting: float | None = None
    running: float | None = None
    tokens: float | None = None
    """Tokens that it has generated in its life."""
    paused: str = ""
    """`asleep` or `paused`."""
    moved: bool = True
    """False when no token was generated since the account before this one."""

    @property
    def said(self) -> bool:
        """Whether it says how many run or wait."""
        return self.waiting is not None or self.running is not None

    @property
    def works(self) -> bool:
        """It is at work: on a queue that moves, or on what runs (ours, with a slow first token)."""
        return self.saturated if self.waiting else bool(self.running)

    @property
    def saturated(self) -> bool:
        """Requests wait, and it gets on with them: one more would only wait behind users."""
        return bool(self.waiting) and self.moved

    def evidence(self, generation: int, began: int, model: str | None) -> Evidence | None:
        """What the account says about readiness; None when it says nothing of the kind."""
        now = current().now()
        told = Evidence(
            Verdict.LISTING, now, generation, source=Source.ACCOUNT, began=began, model=model,
            named=True,
        )  # fmt: skip
        if self.paused:
            reason = f"{self.paused}: it says so, and answers nobody until it is resumed"
            return replace(told, reason=reason, paused=self.paused)
        if self.saturated:
            reason = f"busy: {self.waiting:g} requests wait in its own queue"
            return replace(told, verdict=Verdict.BUSY, reason=reason, tokens=self.tokens)
        return None


def read_metrics(text: str) -> Load:
    """The load in a page of Prometheus text, summed over engines and models."""
    sums: dict[str, float] = {}
    awake: list[float] = []
    for name, labels, value in _samples(text):
        if name == SLEEP:
            if 'sleep_state="awake"' in labels:
                awake.append(value)
        else:
            sums[name] = sums.get(name, 0.0) + value

    def of(names: tuple[str, ...]) -> float | None:
        return next((sums[name] for name in names if name in sums), None)

    asleep = bool(awake) and not any(awake)
    return Load(of(WAITING), of(RUNNING), of(TOKENS), "asleep" if asleep else "")


def _samples(text: str) -> Iterator[tuple[str, str, float]]:
    for match in _SAMPLE.finditer(text):
        try:
            yield match[1], match[2] or "", float(match[3])
        except ValueError:
            continue


class Account:
    """Asks one engine for accounts, and remembers which routes it has and how far it was."""

    def __init__(self, address: wire.Address, headers: tuple[wire.Header, ...], limit: int) -> None:
        base = address.base.removesuffix("/v1")
        self._address = replace(address, base=base)
        self._headers = headers
        self._limit = limit
        self._missing: set[str] = set()
        self._generation = 0
        self._tokens: float | None = None

    async def ask(self, *, deadline: int, generation: int = 1, tokens: float | None = None) -> Load:
        """One account. `deadline` is an instant in nanoseconds. Never raises for the engine.

        `tokens` is what an account of this generation said before, to another who asked.
        """
        if generation != self._generation:
            self._generation, self._tokens = generation, tokens
            self._missing.clear()
        routes = [route for route in ("/metrics", *STATES) if route not in self._missing]
        replies = await asyncio.gather(*(self._get(route, deadline) for route in routes))
        load = Load()
        for route, reply in zip(routes, replies, strict=True):
            if reply is None:
                continue
            if route == "/metrics":
                said = read_metrics(reply.body.decode("utf-8", "replace"))
                load = replace(said, paused=load.paused or said.paused)
            elif (word := _state(route, reply.body)) and not load.paused:
                load = replace(load, paused=word)
        before, self._tokens = self._tokens, load.tokens
        still = load.tokens is not None and before is not None and load.tokens <= before
        return replace(load, moved=not still)

    async def _get(self, route: str, deadline: int) -> wire.Reply | None:
        reply = await ask(
            self._address, "GET", route, deadline=deadline, headers=self._headers, limit=self._limit
        )
        if isinstance(reply, wire.Reply) and reply.status == 200:
            return reply
        if isinstance(reply, wire.Reply) and reply.status in (404, 405, 501):
            self._missing.add(route)
        return None


def _state(route: str, body: bytes) -> str:
    key, word = STATES[route]
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return word if isinstance(page, dict) and page.get(key) is True else ""
