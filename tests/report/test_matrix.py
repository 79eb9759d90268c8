"""Which cell a result stands in, and what stands first."""

from __future__ import annotations

from staticfire.report.matrix import Column, matrix
from staticfire.report.results import Outcome, Router


def test_the_baseline_is_first_then_routers_by_name(make):
    """An order of merit would be a rank: without a router comes first, then names in order."""
    table = matrix(
        [
            make.run(make.result(router="zed"), make.result(router="able")),
            make.run(make.result(router="direct")),
        ]
    )
    assert [(one.lane, one.router) for one in table.columns] == [
        ("mock", ""),
        ("mock", "able"),
        ("mock", "zed"),
    ]


def test_a_scenario_without_a_router_is_the_lanes(make):
    """What no router takes part in says nothing of the router that the run named."""
    table = matrix([make.run(make.result("engine", routed=False), make.result("routed"))])
    columns = {row.scenario: column.router for row, column in table.cells}
    assert columns == {"engine": "", "routed": "bundled"}


def test_what_a_routers_run_passes_over_is_no_result(make):
    """A run against another router skips all in which none takes part: no column, no row."""
    skipped = make.result("engine", Outcome.NOT_APPLICABLE, routed=False, router="nginx")
    table = matrix([make.run(skipped, make.result("routed", router="nginx"))])
    assert [one.router for one in table.columns] == ["nginx"]
    assert [row.scenario for row in table.rows] == ["routed"]


def test_not_applicable_gives_way(make):
    """A result of one run is not hidden by another run that had none to give."""
    passed = make.result("engine", routed=False)
    skipped = make.result("engine", Outcome.NOT_APPLICABLE, routed=False, router="nginx")
    table = matrix([make.run(skipped, make.result(router="nginx")), make.run(passed)])
    (found,) = [cell for (row, _), cell in table.cells.items() if row.scenario == "engine"]
    assert [one.outcome for one in found] == [Outcome.PASS]


def test_two_outcomes_of_one_cell_are_both_kept(make):
    """A scenario that passed here and failed there is seen as both, never as the better one."""
    table = matrix([make.run(make.result()), make.run(make.result(outcome=Outcome.FAIL))])
    (found,) = table.cells.values()
    assert [one.outcome for one in found] == [Outcome.PASS, Outcome.FAIL]
    assert table.counts(table.columns[0], "must") == {Outcome.PASS: 1, Outcome.FAIL: 1}


def test_versions_of_a_router_are_columns_of_their_own(make):
    """Results of two versions are never mixed."""
    old = make.run(make.result(), routers=(Router("bundled", "1.0"),))
    new = make.run(make.result(), routers=(Router("bundled", "2.0"),))
    assert [one.version for one in matrix([new, old]).columns] == ["1.0", "2.0"]


def test_levels_are_counted_apart(make):
    """What must hold is never summed up with what is only observed."""
    table = matrix(
        [
            make.run(
                make.result("a"),
                make.result("b", Outcome.FAIL, level="observe"),
                make.result("c", Outcome.KNOWN, level="should"),
            )
        ]
    )
    column = Column("mock", "bundled", "1.2.3")
    assert table.counts(column, "must") == {Outcome.PASS: 1}
    assert table.counts(column, "should") == {Outcome.KNOWN: 1}
    assert table.counts(column, "observe") == {Outcome.FAIL: 1}
