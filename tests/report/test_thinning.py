"""How long timelines are thinned out."""

from __future__ import annotations

from staticfire.report.kinds import Kind
from staticfire.report.results import Line, Request
from staticfire.report.thinning import LIMITS, bars, limit_for, lines


def requests(count, status=200):
    return [Request("e", n * 0.01, n * 0.01 + 0.5, status, "whole", step=1) for n in range(count)]


def test_up_to_the_limit_every_request_is_a_bar():
    """Nothing is put together where there is room."""
    assert [one.many for one in bars(requests(300), 3.0, 300)] == [1] * 300


def test_beyond_the_limit_nothing_is_lost():
    """Fewer bars than requests, and as many requests as came."""
    found = bars(requests(1000), 10.0, 300)
    assert len(found) <= 101
    assert sum(one.many for one in found) == 1000


def test_a_failure_among_thousands_stays_a_bar_of_its_own():
    """Only what came to the same is put together."""
    one = Request("e", 5.0, 5.1, 502, "whole", step=1)
    found = bars([*requests(1000), one], 10.0, 300)
    assert [(bar.kind, bar.many) for bar in found if bar.kind is not Kind.OK] == [(Kind.ERROR, 1)]


def test_what_never_ended_does_not_end_by_being_thinned():
    """A bar of several ends only if all of them did."""
    going = [Request("e", 1.0, until, None, "open") for until in (1.1, None, 1.2)]
    (bar,) = bars(going, 10.0, 1)
    assert (bar.until, bar.many) == (None, 3)


def test_a_time_of_zero_is_one_stretch():
    """A scenario in which no time passes is thinned as one instant."""
    alike = [Request("e", 0.0, 0.0, 200, "whole")] * 10
    assert [one.many for one in bars(alike, 0.0, 5)] == [10]


def test_the_limit_falls_with_the_size_of_the_page():
    """The largest limit with which a page stays small; the last one if none does."""
    assert limit_for([3000] * 10) == LIMITS[0]
    assert limit_for([3000] * 20, page=41_000) == 2000
    assert limit_for([3000] * 2000) == LIMITS[-1]
    assert limit_for([]) == LIMITS[0]


def test_a_long_log_keeps_its_beginning_and_more_of_its_end():
    """What is left out is told where it is left out."""
    log = [Line(float(n), str(n), n) for n in range(100)]
    assert [one.text for one in lines(log, 8)] == [
        "0", "1", "… 92 lines left out", "94", "95", "96", "97", "98", "99",
    ]  # fmt: skip
    assert lines(log, 100) == log
