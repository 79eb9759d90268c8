"""Seeds: one number for a run, from which every scenario has its own."""

from __future__ import annotations

import hashlib

__all__ = ["derive"]


def derive(seed: int, *names: str) -> int:
    """The seed of a scenario or engine, from the run's seed and its names, never from an order."""
    text = "\0".join((str(seed), *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest())
