"""What is shown of a service."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from staticfire.clock import NS, ns
from staticfire.readiness import Status, core
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.verdict import Source, Verdict
from staticfire.services.check import Checked
from staticfire.services.decide import Decision, Do, Facts, begun, looked, rested, started
from staticfire.services.service import Service
from staticfire.services.view import ANSWERS, SILENT, counts, view

NOW = 1000 * NS
ALIVE = Facts(alive=True)


def service() -> Service:
    made = Service("a", ("x",), "http://127.0.0.1:1", boot="b")
    return started(begun(made, "n", NOW), 7, 70, NOW)


def heard(one: Service, verdict: Verdict, source: Source, **more) -> Service:
    evidence = Evidence(verdict, NOW, one.readiness.generation, source=source, **more)
    record, _ = core.observe(one.readiness, evidence, NOW, one.patience.settings().limits)
    return replace(one, readiness=record)


def running() -> Service:
    return heard(service(), Verdict.LISTING, Source.LISTING, named=True, model="m")


def ready() -> Service:
    return heard(running(), Verdict.SERVING, Source.CHAT, model="m", reason="chat answered 200")


def shown(one: Service, facts: Facts = ALIVE, found=None, supervisor=None, at=NOW):
    return view(Checked(one, facts, found), at, supervisor=supervisor)


def test_a_service_that_loads_says_how_far_it_is():
    """Answers but cannot serve yet, or has not answered yet; no smoke test in either."""
    silent, answers = shown(service()), shown(running())
    assert (silent.status, silent.coming) == ("starting", SILENT)
    assert (answers.status, answers.coming) == ("running", ANSWERS)
    assert silent.smoke_test is answers.smoke_test is answers.answered_in is None


def test_one_that_is_ready_shows_its_proof():
    """The smoke test, how long it took, when the next request is due."""
    one = replace(ready(), life=replace(ready().life, smoked=NOW, answered_in=ns(0.25)))
    page = shown(one, at=NOW + ns(100))
    assert (page.status, page.smoke_test, page.answered_in) == ("ready", "passed", 0.25)
    assert (page.since, page.next_probe_in, page.coming) == (100.0, 200.0, "")
    assert "nobody supervises it; a chat request not before 200 s from now" in page.next_check
    assert "by the supervisor (pid 5)" in shown(one, supervisor=5).next_check


def test_a_dead_process_is_shown_dead_before_anybody_wrote_it():
    """The record says ready, the machine says dead."""
    page = shown(ready(), Facts(alive=False, death="its process is gone"))
    assert (page.status, page.alive) == ("failed", False)
    assert page.reason.startswith("its process is gone after")
    assert page.next_check == "none: it is not running"


def test_recovering_is_only_said_where_somebody_recovers():
    """The pause of a dead service that nobody supervises would never end."""
    dead = Facts(alive=False, death="exited with 1")
    one = rested(looked(service(), dead, NOW), Decision(Do.REST, "exited with 1", NOW), NOW)
    assert shown(one, dead, supervisor=5).status == "recovering"
    alone = shown(one, dead)
    assert alone.status == "failed"
    assert alone.reason.endswith("nobody supervises it")


@pytest.mark.parametrize(
    ("verdict", "told"), [(Verdict.BROKEN, "boo"), (Verdict.LISTING, ""), (Verdict.SERVING, "")]
)
def test_a_finding_against_it_is_shown_beside(verdict, told):
    """A list does not demote, and hides nothing."""
    assert shown(ready(), found=Evidence(verdict, NOW, reason="boo")).finding == told


def test_a_page_is_json():
    """Every value can be read by a machine."""
    page = json.loads(json.dumps(shown(ready()).json()))
    assert page["name"] == "a"
    assert page["command"] == ["x"]


def test_loading_is_never_counted_as_ready():
    """One number for each status; ready is always told, none of them lies."""
    assert counts([]) == "no services"
    pages = [shown(service()), shown(running()), shown(ready())]
    assert counts(pages) == "3 services: 1 ready, 1 running, 1 starting"
    assert counts(pages[:1]) == "1 service: 0 ready, 1 starting"
    every = [replace(pages[0], status=str(status)) for status in Status]
    assert counts(every).count("1 ") == len(Status)
