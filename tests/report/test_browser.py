"""The page in a real browser, where there is one."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from staticfire.report.page import page
from staticfire.report.results import Outcome, Request, Router

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.realtime


@pytest.fixture
def browser(monkeypatch):
    """`bench.browser`, with a Chromium that can be had."""
    monkeypatch.syspath_prepend(str(ROOT))
    found = importlib.import_module("bench.browser")
    if found.missing():
        pytest.skip(found.missing())
    return found


def test_every_cell_is_drawn_and_nothing_goes_wrong(make, browser, tmp_path):
    """A row a scenario, a button a cell, and no error of a script."""
    results = [
        make.result(f"s{number}", outcome, routed=number > 0)
        for number, outcome in enumerate(Outcome)
    ]
    (tmp_path / "r.html").write_text(page([make.run(*results)]), encoding="utf-8")
    seen = browser.look(tmp_path / "r.html")
    assert seen.root["data-errors"] == "0", seen.root
    assert seen.root["data-rows"] == str(len(Outcome))
    assert seen.classes["tr.row"] == len(Outcome)
    assert seen.classes["span.both"] == len(Outcome)
    assert "div.panel" not in seen.classes
    assert "Against the promises" in seen.text


def test_a_link_opens_its_cell_with_the_timeline(make, browser, tmp_path):
    """The reason, the line that replays it, the steps, the one that failed, the picture."""
    failed = make.result(
        "slow",
        Outcome.FAIL,
        example="a/b c",
        router="other one",
        why="expected </script> & came",
        failed_at="f.feature:9: When requests come",
        replay="pytest 'f.feature::test_slow'",
        timeline=make.timeline(requests=40),
    )
    run = make.run(failed, make.result(), routers=(Router("other one", "2"),))
    (tmp_path / "r.html").write_text(page([run]), encoding="utf-8")
    seen = browser.look(tmp_path / "r.html", "slow/a%2Fb%20c/mock/other%20one")
    assert seen.root["data-errors"] == "0", seen.root
    assert seen.root["data-timeline"] is not None
    assert seen.classes["div.panel"] == 1
    assert seen.classes["li.broke"] == 1
    assert "pytest 'f.feature::test_slow'" in seen.text
    assert "expected </script> & came" in seen.text
    assert "late joins the rotation" in seen.text


def test_200_scenarios_are_drawn_at_once(browser, tmp_path):
    """Sixteen engines with 335 sessions are open among them; the bar of 1 s is the bench's."""
    bench = importlib.import_module("bench.report")
    run = bench.a_run(200, 10)
    (tmp_path / "r.html").write_text(page([run]), encoding="utf-8")
    assert (tmp_path / "r.html").stat().st_size < 2_000_000
    seen = browser.look(tmp_path / "r.html", "scenario-0//mock/bundled")
    assert seen.root["data-errors"] == "0", seen.root
    assert seen.classes["tr.row"] == 200
    assert int(seen.root["data-drawn"]) < 10_000


PLAYED = """
<script>
const press = (key) => document.querySelector("canvas").dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const said = () => document.querySelector(".says").textContent;
const told = [];
press("ArrowRight"); told.push(said());
press("ArrowDown"); told.push(said());
document.getElementById("find").value = "plain ONE";
document.getElementById("filter").dispatchEvent(new Event("input"));
told.push(document.getElementById("shown").textContent);
document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
told.push(document.querySelectorAll(".panel").length, document.activeElement.tagName);
document.documentElement.dataset.told = JSON.stringify(told);
</script>
</body>"""


def test_keys_walk_through_a_timeline_and_words_filter(make, browser, tmp_path):
    """Right goes to the next thing, down to the next failure; Escape closes and gives the focus back."""
    shed = Request("late", 21.0, 21.5, 503, "whole", "judge-9", "s9", 1)
    line = make.timeline(requests=3)
    line = replace(line, requests=(*line.requests, shed))
    run = make.run(make.result("slow", timeline=line), make.result("one", title="A plain one"))
    html = page([run]).replace("</body>", PLAYED)
    (tmp_path / "r.html").write_text(html, encoding="utf-8")
    seen = browser.look(tmp_path / "r.html", "slow//mock/bundled")
    assert seen.root["data-errors"] == "0", seen.root
    first, failure, shown, panels, focused = json.loads(seen.root["data-told"] or "[]")
    assert 'Given an engine "late"' in first or "loading" in first
    assert failure == (
        "late: backpressure; status 503, whole, 21 s, 0.5 s long, session s9, in step 2"
    )
    assert (shown, panels, focused) == ("1 of 2 scenarios", 0, "BUTTON")
