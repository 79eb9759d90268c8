"""The peer lab's scenarios against our router: `python bench/peer_lab.py` prints our columns.

In virtual time, on mock engines, with the defaults of `staticfire router` but for what a row names.
The letters are those of `docs/router-lab.md`, where the peers' results stand beside ours; what they
did was measured on the real clock with other mock engines, so counts compare and times do so roughly.
With letters, only those scenarios; `q` is the table of malformed answers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from bench import lab_breaker, lab_fleet, lab_wire  # noqa: E402, F401 - they enter their rows
from bench.lab_malformed import MALFORMED, comes_to  # noqa: E402
from bench.lab_stand import ROWS  # noqa: E402
from staticfire.clock.virtual import run  # noqa: E402


def column(letters: Sequence[str] = ()) -> dict[str, str]:
    """Our result for each letter."""
    return {
        letter: run(scenario()) for letter, _, scenario in ROWS if not letters or letter in letters
    }


def malformed() -> dict[str, str]:
    """What a client of ours gets, for each thing that a worker sends."""
    return {what: run(comes_to(phrases, tell)) for what, phrases, tell in MALFORMED}


def main() -> None:
    """Print one line a scenario."""
    letters = sys.argv[1:]
    found = {} if letters == ["q"] else column(letters)
    for letter, what, _ in sorted(ROWS):
        if letter in found:
            print(f"| {letter} | {what} | {found[letter]} |")
    if not letters or "q" in letters:
        for what, ours in malformed().items():
            print(f"| {what} | {ours} |")


if __name__ == "__main__":
    main()
