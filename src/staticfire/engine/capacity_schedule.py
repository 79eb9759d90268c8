"""Who runs on an engine and who waits, as vLLM's scheduler decides it.

First come, first served: the first in the queue runs as soon as a slot, the blocks of its whole
prompt and a place in the batch are free, and nobody overtakes it. A running request that needs one
more block when none is free takes those of the request that began to run last (its own, if it is
that one). Such a preempted request goes to the queue's head and computes everything again. So the
oldest request always gets on. A request alone on the engine runs even if the blocks do not suffice.

    arrive → running ─ grow ─┬→ running … leave
         ↘ waiting ↗         └→ preempted = waiting, first in line
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from staticfire.engine.capacity import Capacity, Full, shed
from staticfire.engine.capacity_blocks import Blocks

__all__ = ["Schedule", "Work"]

_NOBODY: tuple[Work, ...] = ()


class Work:
    """One request as the scheduler sees it: its tokens, its blocks, whether it runs."""

    __slots__ = ("admissions", "fresh", "keys", "plain", "prompt", "ready", "room", "running",
                 "tokens")  # fmt: skip

    def __init__(self, prompt: int, keys: Sequence[int] = ()) -> None:
        self.prompt = self.tokens = prompt
        self.keys = keys
        self.plain = 0
        self.room = 0
        self.fresh = 0
        """Tokens that its prefill computes."""
        self.admissions = 0
        self.running = False
        self.ready = False
        """Whether it runs and its prefill is done: it may make tokens."""


class Schedule:
    """The running and waiting requests of one engine."""

    __slots__ = ("_waiting", "blocks", "capacity", "counted", "hits", "plain", "preemptions", "prefilling", "queries",
                 "running")  # fmt: skip

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self.blocks = None if capacity.blocks is None else Blocks(capacity.blocks)
        self.plain = capacity.blocks is None and capacity.batch_tokens is None
        """Whether only slots count: then less is kept."""
        self.counted = 0
        """Running requests that are only counted (hot: most engines need no more)."""
        self.running: dict[Work, None] = {}
        """In the order in which they began."""
        self._waiting: deque[Work] | None = None
        self.prefilling = 0
        """Prompt tokens that are being computed."""
        self.preemptions = 0
        self.queries = 0
        """Prompt tokens that were looked for in the cache, and `hits`: those found there."""
        self.hits = 0

    @property
    def waiting(self) -> Sequence[Work]:
        return self._waiting or ()

    @property
    def usage(self) -> float:
        """The share of the blocks in use; without blocks that of the slots."""
        if self.blocks is not None:
            return self.blocks.used / self.blocks.total
        return min(1.0, (len(self.running) + self.counted) / self.capacity.slots)

    def refuses(self, work: Work) -> Full | None:
        """Why a request would be refused now, before it arrives; None when it would not."""
        capacity = self.capacity
        if capacity.queue is None and capacity.queued_tokens is None:
            return None
        waiting = self.waiting
        if not waiting and self._fits(work):
            return None
        return shed(capacity, len(waiting), sum(each.tokens for each in waiting), work.prompt)

    def arrive(self, work: Work) -> bool:
        """A request comes; true when it runs at once."""
        if not self._waiting and (self._enter(work) if self.plain else self._start(work)):
            return True
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(work)
        return False

    def count_in(self) -> bool:
        """A request comes that need not be known, as only slots count; false without a free one."""
        if self._waiting or len(self.running) + self.counted >= self.capacity.slots:
            return False
        self.counted += 1
        return True

    def count_out(self) -> Sequence[Work]:
        """Such a request ends; those that run now because of that."""
        self.counted -= 1
        return self._advance() if self._waiting else _NOBODY

    def prefilled(self, work: Work) -> Sequence[Work]:
        """A request's prefill is done; those that run now because of that."""
        work.ready = True
        if self.plain:
            return _NOBODY
        self.prefilling -= work.fresh
        work.fresh = 0
        return self._advance()

    def grow(self, work: Work, tokens: int) -> bool:
        """A ready request makes tokens; false when it was preempted for want of a block."""
        work.tokens += tokens
        work.room -= tokens
        blocks = self.blocks
        if blocks is None or work.room >= 0:
            return True
        need = -(work.room // self.capacity.block_size)
        while blocks.free < need:
            if len(self.running) == 1:
                need = blocks.free
                break
            last = next(reversed(self.running))
            self._preempt(last)
            if last is work:
                return False
        blocks.take((), need)
        work.plain += need
        work.room += need * self.capacity.block_size
        return True

    def leave(self, work: Work) -> Sequence[Work]:
        """A request ends or its client left; those that run now because of that."""
        if work.running:
            if self.plain:
                del self.running[work]
                work.running = work.ready = False
            else:
                self._stop(work)
        elif self._waiting and work in self._waiting:
            self._waiting.remove(work)
        return self._advance() if self._waiting else _NOBODY

    # --- inside

    def _advance(self) -> list[Work]:
        started: list[Work] = []
        start = self._enter if self.plain else self._start
        while self._waiting and start(self._waiting[0]):
            started.append(self._waiting.popleft())
        return started

    def _enter(self, work: Work) -> bool:
        """Take a slot, if nothing else counts."""
        if len(self.running) + self.counted >= self.capacity.slots:
            return False
        work.fresh = work.tokens
        work.running = True
        work.admissions += 1
        self.running[work] = None
        return True

    def _fits(self, work: Work) -> bool:
        """Whether a request could run now."""
        if len(self.running) + self.counted >= self.capacity.slots:
            return False
        if not self.running:
            return True
        batch, blocks = self.capacity.batch_tokens, self.blocks
        fresh = self._fresh(work)
        if batch is not None and self.prefilling and self.prefilling + fresh > batch:
            return False
        if blocks is None:
            return True
        return blocks.need(work.keys, self._count(work) - len(work.keys)) <= blocks.free

    def _start(self, work: Work) -> bool:
        if not self._fits(work):
            return False
        fresh = self._fresh(work)
        if self.blocks is not None:
            count, size = min(self._count(work), self.blocks.total), self.capacity.block_size
            work.keys = work.keys[:count]
            work.plain = count - len(work.keys)
            self.blocks.take(work.keys, work.plain)
            work.room = max(0, count * size - work.tokens)
            if self.capacity.reuse:
                self.queries += work.tokens
                self.hits += work.tokens - fresh
        work.fresh = fresh
        self.prefilling += fresh
        work.running = True
        work.admissions += 1
        self.running[work] = None
        return True

    def _preempt(self, work: Work) -> None:
        self._stop(work)
        self.preemptions += 1
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.appendleft(work)

    def _stop(self, work: Work) -> None:
        del self.running[work]
        work.running = work.ready = False
        self.prefilling -= work.fresh
        work.fresh = 0
        if self.blocks is not None:
            self.blocks.give_back(work.keys, work.plain)
            work.plain = work.room = 0

    def _count(self, work: Work) -> int:
        return -(-work.tokens // self.capacity.block_size)

    def _fresh(self, work: Work) -> int:
        """Tokens that its prefill would have to compute: at least the last one."""
        if self.blocks is None or not work.keys:
            return work.tokens
        found = self.blocks.found(work.keys) * self.capacity.block_size
        return max(1, work.tokens - found)
