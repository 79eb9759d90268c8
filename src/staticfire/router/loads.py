"""What engines say of their own load, read beside health checks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from staticfire import wire
from staticfire.readiness.account import RUNNING, WAITING
from staticfire.readiness.exchange import ask
from staticfire.router.worker import Worker

__all__ = ["EngineLoad", "ask_load", "read"]

_KV = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "llamacpp:kv_cache_usage_ratio",
       "sglang:token_usage")  # fmt: skip
_NAMES = {name.encode(): what for what, names in (("running", RUNNING), ("waiting", WAITING),
                                                  ("kv", _KV)) for name in names}  # fmt: skip
_SAMPLE = re.compile(
    rb"^(%b)(?:\{[^\n]*\})?[ \t]+([^\s]+)" % b"|".join(map(re.escape, _NAMES)), re.MULTILINE
)
_LIMIT = 4 << 20


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """One account: requests that run and that wait, the share of the cache in use."""

    running: int
    waiting: int
    kv: float | None = None

    @property
    def idle(self) -> bool:
        """Nothing runs, nothing waits."""
        return not self.running and not self.waiting


def read(page: bytes) -> EngineLoad | None:
    """The load in a page of Prometheus text, summed over engines; None when it does not say."""
    sums: dict[str, float] = {}
    for match in _SAMPLE.finditer(page):
        try:
            value = float(match[2])
        except ValueError:
            continue
        what = _NAMES[match[1]]
        sums[what] = max(sums.get(what, 0.0), value) if what == "kv" else sums.get(what, 0) + value
    if not {"running", "waiting"} & sums.keys():
        return None
    try:
        running, waiting = int(sums.get("running", 0)), int(sums.get("waiting", 0))
    except (OverflowError, ValueError):  # an infinity or NaN says nothing
        return None
    return EngineLoad(running, waiting, sums.get("kv"))


async def ask_load(worker: Worker, deadline: int) -> EngineLoad | None:
    """Ask a worker's engine, until an instant in nanoseconds; None when it does not say."""
    headers = () if worker.key is None else ((b"authorization", b"Bearer " + worker.key.encode()),)
    reply = await ask(
        worker.address, "GET", "/metrics", deadline=deadline, headers=headers, limit=_LIMIT
    )
    return read(reply.body) if isinstance(reply, wire.Reply) and reply.status == 200 else None
