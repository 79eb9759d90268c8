"""Who an engine is and what it says: everything that looks random, from one seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["WORDS", "Identity", "mix"]

_MASK = (1 << 64) - 1

WORDS = (
    " ready", " steady", " the", " quick", " mock", " engine", " answers", " from", " a", " real",
    " transformer", " graph", " thrust", " holds", " on", " stand", " every", " valve", " opens",
    " in", " order", " and", " then", " it", " burns", " bright", " while", " we", " count", " down",
    " to", " zero",
)  # fmt: skip
"""What answers are made of; 32 words, so that a pick is five bits."""
PAIRS = tuple((WORDS[number & 31], WORDS[number >> 5]) for number in range(1024))
"""Two words by ten bits."""


def mix(number: int) -> int:
    """64 well mixed bits from a number (the finaliser of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


@dataclass(frozen=True, slots=True)
class Identity:
    """An engine's name, with bits and a run token drawn from the seed.

    The run token is the same for one seed and name, and another for every other: an answer with a
    foreign token came from somewhere else.
    """

    name: str
    bits: int
    run: str

    @classmethod
    def of(cls, name: str, seed: int) -> Identity:
        digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
        return cls(name, int.from_bytes(digest), digest.hex()[:8])

    def id(self, number: int) -> str:
        """16 hexadecimal digits for the answer to request `number`."""
        return f"{mix(self.bits ^ number):016x}"

    def tokens(self, number: int, count: int) -> list[str]:
        """What the engine says to request `number`: its name, its run token, then words."""
        said = [f" {self.name}", f" {self.run}"]
        state = self.bits ^ (number << 20)
        while len(said) < count:
            state = bits = mix(state)
            for _ in range(6):  # hot: two words at a time
                said += PAIRS[bits & 1023]
                bits >>= 10
        return said[:count]
