"""Who has seen the beginning of a text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

__all__ = ["Prefixes", "path_of"]

_STEPS = ((4 << 10, 128), (64 << 10, 1 << 10), (1 << 20, 16 << 10))
"""Up to how many bytes in blocks of which size; what comes after is one text to us."""


def _ends() -> tuple[int, ...]:
    ends, at = [], 0
    for limit, size in _STEPS:
        while at < limit:
            at += size
            ends.append(at)
    return tuple(ends)


_ENDS = _ends()


class Prefixes:
    """A tree of texts in blocks: small ones at the beginning, where texts part, then larger ones.

    A node is named by the hash of its block and its parent's name, so that the tree is one dict
    and a text of a megabyte costs some 150 look-ups. The nodes used least recently are dropped
    when more than `limit` bytes of text are held; a parent is always younger than its children.
    Who has seen a text is a number of the caller's; one that means nobody any more does no harm.
    """

    __slots__ = ("_limit", "_nodes", "held")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._nodes: OrderedDict[int, tuple[int, dict[int, None]]] = OrderedDict()
        self.held = 0
        """Bytes of text that the tree stands for."""

    def longest(self, path: list[tuple[int, int]]) -> Iterator[tuple[int, dict[int, None]]]:
        """How far, and who has seen so much: the longest known beginning first."""
        found = []
        for name, end in path:
            node = self._nodes.get(name)
            if node is None:
                break
            found.append((end, node[1]))
        return reversed(found)

    def add(self, path: list[tuple[int, int]], who: int) -> None:
        """Somebody has seen the text."""
        nodes = self._nodes
        for place in range(len(path) - 1, -1, -1):  # parents last: they are the youngest
            name, end = path[place]
            node = nodes.get(name)
            if node is None:
                size = end - (path[place - 1][1] if place else 0)
                nodes[name] = (size, {who: None})
                self.held += size
            else:
                node[1][who] = None
                nodes.move_to_end(name)
        while self.held > self._limit and nodes:
            _, (size, _) = nodes.popitem(last=False)
            self.held -= size


def path_of(text: bytes) -> list[tuple[int, int]]:
    """The nodes of a text from its beginning: name and how far each reaches."""
    return list(_names(text))


def _names(text: bytes) -> Iterator[tuple[int, int]]:
    name, start, length = 0, 0, len(text)
    for end in _ENDS:
        if start >= length:
            return
        name = hash((name, text[start:end]))
        yield name, min(end, length)
        start = end
