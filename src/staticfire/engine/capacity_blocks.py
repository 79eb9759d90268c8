"""The KV blocks of an engine: taken, given back, found again by what they hold.

A block that holds a known piece of a prompt has a key, which stands for everything from the
prompt's start to that block's end; requests with equal beginnings share such blocks. A block that
nobody uses any more is free, and remembered until a new one is needed: the one longest unused is
forgotten first, and of one prompt its end before its beginning. Other blocks are only counted.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Blocks", "keys_of"]


class Blocks:
    """`total` blocks; `used` of them belong to requests."""

    __slots__ = ("_held", "_idle", "total", "used")

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0
        self._held: dict[int, int] = {}
        self._idle: dict[int, None] = {}

    @property
    def free(self) -> int:
        return self.total - self.used

    @property
    def remembered(self) -> int:
        """How many free blocks still hold a piece of a prompt."""
        return len(self._idle)

    def found(self, keys: Sequence[int]) -> int:
        """How many blocks of a prompt's beginning are still here."""
        count = 0
        for key in keys:
            if key not in self._held and key not in self._idle:
                break
            count += 1
        return count

    def need(self, keys: Sequence[int], plain: int) -> int:
        """How many free blocks `take` would use: those in use by others are shared."""
        held = self._held
        return plain + sum(key not in held for key in keys)

    def take(self, keys: Sequence[int], plain: int) -> None:
        """Take the blocks of these keys and `plain` others; there must be room for them."""
        need, held = self.need(keys, plain), self._held
        assert need <= self.free
        for key in keys:
            held[key] = held.get(key, 0) + 1
            self._idle.pop(key, None)
        self.used += need
        while len(self._idle) > self.free:
            del self._idle[next(iter(self._idle))]

    def give_back(self, keys: Sequence[int], plain: int) -> None:
        """Return what `take` took; keyed blocks that nobody else uses are remembered."""
        self.used -= plain
        for key in reversed(keys):
            left = self._held[key] - 1
            if left:
                self._held[key] = left
            else:
                del self._held[key]
                self._idle[key] = None
                self.used -= 1


def keys_of(text: str, size: int, count: int) -> tuple[int, ...]:
    """The keys of a prompt's first `count` blocks of `size` letters, as far as the text goes."""
    keys: list[int] = []
    key = 0
    for start in range(0, min(count * size, len(text) - size + 1), size):
        key = hash((key, text[start : start + size]))
        keys.append(key)
    return tuple(keys)
