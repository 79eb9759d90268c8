"""The conformance page: equal results give an equal text, and the incidents stand on top."""

from __future__ import annotations

from dataclasses import replace

from staticfire.bdd.collect import scenario_ids
from staticfire.report.conformance import INCIDENTS, conformance
from staticfire.report.results import Outcome


def test_two_runs_of_equal_results_are_one_text(make):
    """When it ran, how long it took and with which seed is not on the page."""
    once = make.run(make.result("a", wall=1.5), make.result("b", Outcome.UNSUPPORTED))
    again = replace(
        once,
        started="2027-05-06T07:08:09+00:00",
        seed=8,
        machine="another",
        results=tuple(replace(one, wall=9.0, replay="x") for one in once.results),
    )
    assert conformance([once]) == conformance([again])
    assert "1 pass, 1 unsupported" in conformance([once])


def test_the_order_of_the_files_does_not_matter(make):
    """Routers stand by name."""
    runs = [make.run(make.result("a", router=name)) for name in ("smg", "bundled", "nginx")]
    assert conformance(runs) == conformance(runs[::-1])
    assert "| scenario | bundled | nginx | smg |" in conformance(runs)


def test_a_result_that_differs_is_seen(make):
    """A page that hid it would prove nothing."""
    kept = make.run(make.result("a"))
    broken = make.run(make.result("a", Outcome.FAIL))
    assert conformance([kept]) != conformance([broken])
    assert "- bundled: fail: `a`" in conformance([broken])


def test_a_pass_under_a_row_that_is_not_certain_is_still_a_known_fault(make):
    """A fault that does not show each time is no virtue on the days when it does not."""
    shown = make.result("a", Outcome.KNOWN, ticket="#1", why="#1: by chance")
    hidden = make.result("a", Outcome.PASS, ticket="#1")
    both = [make.run(one, make.result("b")) for one in (shown, hidden)]
    first, second = (
        [line for line in conformance([run]).splitlines() if "`a`" in line] for run in both
    )
    assert [line for line in first if line.startswith("|")] == second


def test_what_is_known_is_said_once_with_its_report(make):
    """One line for a fault, however many scenarios show it."""
    found = [
        make.result(
            name, Outcome.KNOWN, ticket="a/b#1", why="a/b#1: it sheds", link="https://x.test/1"
        )
        for name in ("one", "two")
    ]
    line = "- it sheds ([a/b#1](https://x.test/1)): `one`, `two`"
    assert line in conformance([make.run(*found)]).splitlines()


def test_the_incidents_are_scenarios_that_there_are():
    """A founding incident that nothing shows would be a story."""
    ids = scenario_ids([])
    assert [one for _, _, shown in INCIDENTS for one in shown if one not in ids] == []


def test_the_incidents_stand_on_top(make):
    """A reader finds them before anything else."""
    shed, late = (shown[0] for _, _, shown in INCIDENTS)
    text = conformance([make.run(make.result(shed), make.result(late, Outcome.FAIL))])
    assert text.index(shed) < text.index("## Counts")
    assert text.index(late) < text.index("## Counts")
