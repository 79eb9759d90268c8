"""How much an engine can do at once, as a frozen value.

Slots, a queue and the speed of tokens are there for every engine. KV blocks are simulated when
`blocks` is given: a request takes blocks for its prompt and one more for each `block_size` tokens
that it makes, finds again what an earlier prompt left, waits when there are none, and loses its own
to an older request when that one needs them (`capacity_schedule` tells the rules).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from staticfire.errors import WrongInput

__all__ = ["Capacity", "Full", "shed"]

Full = Literal["requests", "tokens"]
"""Which limit of the queue is reached."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of a mock engine.

    `slots` requests run at once; `queue` more may wait (None: without bound, as vLLM does unless
    `--max-num-queued-reqs` is set; that flag counts running and waiting together), with at most
    `queued_tokens` prompt tokens among them. A request takes `first_token` seconds to its first
    token, `per_prompt_token` more for each prompt token that the cache does not hold, and
    `per_token` for each later token. At most `batch_tokens` prompt tokens are computed side by
    side; a longer prompt is computed alone. `reuse` keeps the blocks of old prompts to be found
    again.
    """

    slots: int = 256
    queue: int | None = None
    first_token: float = 0.0
    per_token: float = 0.0
    per_prompt_token: float = 0.0
    queued_tokens: int | None = None
    batch_tokens: int | None = None
    blocks: int | None = None
    block_size: int = 16
    reuse: bool = True

    def __post_init__(self) -> None:
        for name, least in (
            ("slots", 1), ("queue", 0), ("queued_tokens", 0), ("batch_tokens", 1), ("blocks", 1),
            ("block_size", 1),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None and value < least:
                raise WrongInput(
                    f"capacity: {name}",
                    expected="0 or more" if least == 0 else f"at least {least}",
                    found=str(value),
                )
        for name in ("first_token", "per_prompt_token", "per_token"):
            if getattr(self, name) < 0:
                raise WrongInput(
                    f"capacity: {name}",
                    expected="0 or more seconds",
                    found=f"{getattr(self, name):g}",
                )


def shed(capacity: Capacity, waiting: int, backlog: int, prompt: int) -> Full | None:
    """Why a request that cannot run at once is refused; None when it may wait.

    `waiting` requests with `backlog` prompt tokens wait already.
    """
    if capacity.queue is not None and waiting >= capacity.queue:
        return "requests"
    if capacity.queued_tokens is not None and backlog + prompt > capacity.queued_tokens:
        return "tokens"
    return None
