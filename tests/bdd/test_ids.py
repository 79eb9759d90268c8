"""An id is a name for ever: reports, rows and other people's pages go by it.

`ids.txt` beside this file has every id that there ever was, one a line. A scenario that goes leaves
its line, with an arrow and what to look at instead: `old-id -> new-id`, or `old-id -> none`.
"""

from __future__ import annotations

from pathlib import Path

from staticfire.bdd.collect import scenario_ids

LIST = Path(__file__).with_name("ids.txt")


def listed() -> dict[str, str | None]:
    """Each id with what stands for it now; None for one that lives."""
    found: dict[str, str | None] = {}
    for line in LIST.read_text().splitlines():
        name, arrow, after = line.partition(" -> ")
        assert name not in found, f"{name} is listed twice"
        found[name] = after if arrow else None
    return found


def test_an_id_that_is_gone_left_a_stone():
    """Who looks for it learns what to look at instead."""
    lost = [name for name, after in listed().items() if after is None and name not in ids()]
    assert lost == [], "write `old-id -> new-id` or `old-id -> none` into tests/bdd/ids.txt"


def test_an_id_that_is_gone_never_comes_back():
    """It would mean something else in old reports."""
    gone = {name for name, after in listed().items() if after is not None}
    assert gone & ids() == set()


def test_what_stands_for_an_id_lives():
    """An arrow leads to a scenario, or says that there is none."""
    arrows = {after for after in listed().values() if after is not None}
    assert arrows - {"none"} - ids() == set()


def test_every_id_is_listed():
    """From its first day on, so that its loss is seen."""
    assert sorted(ids() - listed().keys()) == [], "add them to tests/bdd/ids.txt"


def ids() -> set[str]:
    """Those of the packaged scenarios."""
    return set(scenario_ids([]))
