"""The peer lab's scenarios against our router: `python bench/peer_lab.py` prints our column.

In virtual time, with the defaults of `staticfire router`, on mock engines. The letters are those of
`docs/router-lab.md`, where the peers' results stand beside ours; what they did was measured on the
real clock with other mock engines, so counts compare and times do so roughly.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from bench import lab_breaker, lab_fleet  # noqa: E402, F401 - they enter their rows
from bench.lab_stand import ROWS  # noqa: E402
from staticfire.clock.virtual import run  # noqa: E402


def column(letters: Sequence[str] = ()) -> dict[str, str]:
    """Our result for each letter."""
    return {
        letter: run(scenario()) for letter, _, scenario in ROWS if not letters or letter in letters
    }


def main() -> None:
    """Print one line a scenario."""
    found = column(sys.argv[1:])
    for letter, what, _ in ROWS:
        if letter in found:
            print(f"| {letter} | {what} | {found[letter]} |")


if __name__ == "__main__":
    main()
