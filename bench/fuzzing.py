"""The long fuzz of the router: `python bench/fuzzing.py --seconds 300`; `--seed N` replays one."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from fuzz.stand import Broken, batch  # noqa: E402 - found through the line above

KINDS = ((True, False), (False, True), (True, True))
CASES = 50


def main() -> int:
    """Run batches until the time is over; 1 at the first invariant that does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    chosen = parser.parse_args()
    until = time.monotonic() + chosen.seconds
    done: Counter[str] = Counter()
    seed = chosen.first if chosen.seed is None else chosen.seed
    while time.monotonic() < until:
        for bad_client, bad_worker in KINDS:
            try:
                batch(seed, CASES, bad_client=bad_client, bad_worker=bad_worker)
            except Broken as broken:
                print(broken)
                return 1
            done["clients and workers" if bad_client and bad_worker else
                 "clients" if bad_client else "workers"] += CASES  # fmt: skip
        if chosen.seed is not None:
            break
        seed += 1
    told = ", ".join(f"{count} of fuzzed {kind}" for kind, count in done.items())
    print(f"no crash, no hang, no leak: {told}; seeds {chosen.first} to {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
