"""The page's data: packed so that nothing is lost, and so that no text can break out of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from staticfire.report.packing import pack
from staticfire.report.page import as_script, page
from staticfire.report.results import Breaker, Outcome, Request

DATA = re.compile(r'<script id="data" type="application/json">(.*?)</script>', re.DOTALL)
HOSTILE = "</script><script>alert(1)</script> <!-- {data} /* script */ \u2028 ✓ &amp;"


def data_of(html):
    (found,) = DATA.findall(html)
    return json.loads(found)


def test_no_text_of_a_run_can_end_the_script(make):
    """A router's log may say anything: the page holds it as data, byte for byte."""
    line = make.timeline(steps=(), router=())
    html = page([make.run(make.result(outcome=Outcome.FAIL, why=HOSTILE, timeline=line))])
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert HOSTILE in data_of(html)["texts"]


def test_the_page_asks_for_nothing_from_elsewhere(make):
    """One file: no address in it, and a policy that forbids the browser to load anything."""
    html = page([make.run(make.result())])
    assert "default-src 'none'" in html
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", html)
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html


def test_json_in_a_script_is_the_same_json():
    """What is escaped reads back as it was."""
    assert json.loads(as_script({"a": HOSTILE})) == {"a": HOSTILE}
    assert "<" not in as_script(HOSTILE)


def test_times_are_whole_milliseconds_and_texts_stand_once(make):
    """Nine integers a request: row, at, took, kind, status, end, session, step, how many."""
    line = make.timeline(breakers=(Breaker("late", 20.25, "open", 1),))
    data = pack([make.run(make.result(timeline=line), make.result("two", timeline=line))])
    (_, [cell]) = data["cells"][0][0]
    packed, texts = cell[6], data["texts"]
    whole = texts.index("whole")
    assert packed["requests"][:9] == [0, 20000, 500, 0, 200, whole, texts.index("s0"), 1, 1]
    assert packed["phases"][:6] == [0, texts.index("loading"), 0, 12000, 1, 0]
    assert packed["breakers"] == [0, texts.index("open"), 20250, 1]
    assert packed["ms"] == 30500
    assert len(texts) == len(set(texts))


def test_the_step_that_failed_is_the_last_that_ran(make):
    """Steps after it never ran; a pass has none, and neither has a failure of no step."""
    line = make.timeline()
    broke = make.result("a", Outcome.FAIL, failed_at="f.feature:3: When …", timeline=line)
    lost = make.result("b", Outcome.ERROR, timeline=line)
    data = pack([make.run(broke, lost, make.result("c", timeline=line))])
    assert [row[0][1][0][6]["broke"] for row in data["cells"]] == [1, -1, -1]


def test_requests_of_no_engine_are_the_clients(make):
    """What clients got stands in a row of its own, number -1."""
    silent = Request(None, 1.0, None, None, "silent", step=0)
    line = replace(make.timeline(), requests=(silent,))
    data = pack([make.run(make.result(timeline=line))])
    packed = data["cells"][0][0][1][0][6]
    assert packed["requests"][:3] == [-1, 1000, -1]
