"""Where a key stands in a TOML file, which `tomllib` does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Place"]

_TOKEN = re.compile(
    r'"""(?:.|\n)*?"""|\'\'\'(?:.|\n)*?\'\'\''
    r'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|\n|[\[\]{}=,]|[\w.-]+|.'
)


@dataclass(frozen=True, slots=True)
class Place:
    """A file, its text, and the path of a value in it; `str` gives `file:line: key`."""

    file: str
    text: str
    path: tuple[str | int, ...] = ()

    def at(self, key: str | int) -> Place:
        """The place of a key or an index below this one."""
        return Place(self.file, self.text, (*self.path, key))

    @property
    def keys_below(self) -> set[str]:
        """Keys that stand directly below this place in the file."""
        depth = len(self.path)
        return {
            str(path[-1])
            for path, _ in _paths(self.text)
            if len(path) == depth + 1 and path[:depth] == self.path
        }

    @property
    def line(self) -> int | None:
        """The line of this value, or of the nearest thing around it."""
        found = list(_paths(self.text))
        path = self.path
        while path:
            for each, line in found:
                if each[: len(path)] == path:  # itself, or the first thing below it
                    return line
            path = path[:-1]
        return None

    def __str__(self) -> str:
        keys = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path]
        key = "".join(keys).lstrip(".")
        line = f":{self.line}" if self.line is not None else ""
        return f"{self.file}{line}" + (f": {key}" if key else "")


def _paths(text: str) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Every key and element of a TOML text with its line, for text that parses as TOML."""
    line = 1
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    stack: list[tuple[str, tuple[str | int, ...], int]] = []  # bracket, path, index
    pending: list[str] = []
    fresh = True  # a key may start here
    words = [found.group() for found in _TOKEN.finditer(text)]
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "\n":
            line += 1
            if not stack:
                fresh, pending = True, []
        elif word.isspace() or word.startswith("#"):
            continue
        elif word == "[" and fresh and not stack and not pending:
            double = index < len(words) and words[index] == "["
            end = words.index("]", index)
            name = "".join(words[index + double : end]).strip()
            keys = tuple(part.strip().strip("\"'") for part in name.split("."))
            index = end + 1 + double
            if double:
                counts[keys] = counts.get(keys, -1) + 1
                table = (*keys, counts[keys])
            else:
                table = keys
            yield table, line
            fresh = False
        elif word == "=":
            base = stack[-1][1] if stack else table
            path = (*base, *".".join(pending).split("."))
            pending = []
            fresh = False
            yield path, line
            stack.append(("=", path, 0))
        elif word in "[{":
            base = stack[-1][1] if stack else table
            if stack and stack[-1][0] == "[":
                base = (*base, stack[-1][2])
                yield base, line
            stack.append((word, base, 0))
            fresh = word == "{"
        elif word in "]}":
            while stack and stack[-1][0] == "=":
                stack.pop()
            if stack:
                stack.pop()
            pending = []
            if stack and stack[-1][0] == "=" and _outermost(stack):
                stack.pop()
        elif word == ",":
            if stack and stack[-1][0] == "=":
                stack.pop()
            if stack and stack[-1][0] == "[":
                kind, base, count = stack.pop()
                stack.append((kind, base, count + 1))
            pending = []
            fresh = bool(stack) and stack[-1][0] == "{"
        elif stack and stack[-1][0] == "=":
            if len(stack) == 1:
                stack.pop()  # a plain value ends its key
            line += word.count("\n")
        else:
            if stack and stack[-1][0] == "[":
                yield (*stack[-1][1], stack[-1][2]), line
            pending.append(word.strip("\"'"))
            line += word.count("\n")


def _outermost(stack: list[tuple[str, tuple[str | int, ...], int]]) -> bool:
    return len(stack) == 1
