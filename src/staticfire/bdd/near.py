"""The steps nearest to one that nothing matches, by their words.

What stands between quotes, numbers and parameters are all one word, as a step is remembered by its
other words. A misspelt word counts as the known one that it is near to. Words that few steps have
say more than words that all have.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["nearest_steps"]

VALUE = "…"
"""The word that stands for any value."""
ENOUGH = 0.3
"""How alike a step must be to be named, from 0 to 1."""
NEXT_BEST = 0.65
"""How near to the best one another must come to be named beside it."""
_WORD = re.compile(r'"[^"]*"|\{[^}]*\}|<[^>]*>|[\w\[\]\'-]+(?:\.\d+)?|…')


def words(text: str) -> list[str]:
    """The words of a step or of a pattern, values all alike."""
    found = []
    for word in _WORD.findall(text):
        value = word[0] in '"{<' or word[0].isdigit()
        found.append(VALUE if value else word.lower())
    return found


def nearest_steps(text: str, known: Mapping[str, str], limit: int = 3) -> list[str]:
    """The examples of the patterns nearest to a step's text, the best first.

    `known` has each pattern with its example; patterns that show one example are named once.
    """
    spelled = {pattern: (words(pattern), words(example)) for pattern, example in known.items()}
    weights = _weights(set(own) | set(shown) for own, shown in spelled.values())
    asked = [_corrected(word, weights) for word in words(text)]
    rated: dict[str, float] = {}
    for pattern, both in spelled.items():
        example = known[pattern]
        alike = max(_alike(asked, own, weights) for own in both)
        rated[example] = max(rated.get(example, 0.0), alike)
    best = sorted(rated, key=lambda example: (-rated[example], example))[:limit]
    return [
        example
        for example in best
        if rated[example] >= ENOUGH and rated[example] >= NEXT_BEST * rated[best[0]]
    ]


def _weights(patterns: Iterable[set[str]]) -> dict[str, float]:
    """How much each known word says; values say least."""
    every = list(patterns)
    among = Counter(word for own in every for word in own)
    weights = {word: math.log(1 + len(every) / count) for word, count in among.items()}
    weights[VALUE] = min(weights.values(), default=1.0) / 2
    return weights


def _corrected(word: str, known: Mapping[str, float]) -> str:
    if word in known:
        return word
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.7)), word)


def _alike(asked: list[str], own: list[str], weights: Mapping[str, float]) -> float:
    """The weight of the words in common, by that of all (Dice); order decides between equals."""
    unknown = max(weights.values(), default=1.0)
    common = Counter(asked) & Counter(own)

    def weight(bag: Counter[str]) -> float:
        return sum(weights.get(word, unknown) * count for word, count in bag.items())

    both = weight(Counter(asked)) + weight(Counter(own))
    order = difflib.SequenceMatcher(None, asked, own).ratio()
    return (2 * weight(common) / both if both else 0.0) + order / 1000
