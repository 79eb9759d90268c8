"""Every publicly reported symptom of a router has a scenario or a test here that shows the right outcome.

The ids are those of the list of public cases; readiness and health have their own list of scenarios
(`@readiness:N`). The symptom stands in the scenario's words; where our rule is another one than the
case's, `docs/reference/public-cases.md` says why.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from staticfire.bdd.collect import features_dir
from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Script
from staticfire.judge import Judge

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/public-cases.md"
TAGS = re.compile(r"^\s*@id:.*$", re.MULTILINE)

SHOWN = {
    "B001": "backpressure-sole-engine-is-never-shed",
    "B002": "no-retry-of-a-clients-fault",
    "B004": "trouble-a-burst-of-429",
    "B005": "breaker-closes-on-a-clients-mistake",
    "B007": "late-503-leaves-an-open-breaker-alone",
    "B008": "breaker-probe-whose-client-leaves",
    "B010": "session-comes-home",
    "B011": "pd-each-leg-has-its-breaker",
    "B013": "declared-client-fault-never-opens",
    "B014": "fast-failure-is-no-advantage",
    "B016": "breaker-late-errors-rest-it-no-longer",
    "B017": "retry-after-spares",
    "B019": "retry-pauses-grow",
    "B020": "tests/router/test_retry.py::test_a_zero_is_a_value",
    "B022": "retry-backpressure-elsewhere",
    "B023": "retry-backpressure-elsewhere",
    "B025": "each-try-begins-anew",
    "B026": "priority-before-standby",
    "B028": "no-retry-of-a-timeout",
    "B029": "resting-says-when",
    "B031": "stream-cut-before-the-first-event",
    "B032": "stream-cut-stays-a-cut",
    "B034": "stream-cut-stays-a-cut",
    "B035": "stream-cut-stays-a-cut",
    "B037": "stream-cut-before-the-first-event",
    "B038": "trouble-a-long-line",
    "B040": "stream-error-event-passes",
    "B041": "stream-silent-after-an-error",
    "B043": "stream-refused-before-it-began",
    "B044": "stream-error-field",
    "B046": "leaver-is-seen",
    "B047": "leaver-is-seen",
    "B049": "stream-falls-silent",
    "B050": "stream-piece-by-piece",
    "B052": "stream-without-an-event",
    "B053": "load-is-given-back",
    "B055": "two-choices-spread-a-burst",
    "B056": "tests/router/policies/test_cache_aware.py::test_who_rests_does_not_count",
    "B058": "tests/router/policies/test_cache_aware.py::test_a_new_prompt_goes_by_load_whatever_is_cached",
    "B059": "load-counts-from-the-choice",
    "B061": "session-named-in-the-body",
    "B062": "a-new-engine-moves-its-share",
    "B064": "everybody-is-found",
    "B092": "trouble-one-that-hangs",
    "B094": "stream-idle-is-per-piece",
    "B095": "stale-connection-is-replaced",
    "B097": "draining-gets-nothing-new",
    "B098": "a-list-replaces-the-fleet",
    "B100": "draining-gets-nothing-new",
    "B101": "a-blip-costs-nothing",
    "B103": "a-known-model-with-nobody",
    "B104": "a-cut-list-is-read-again",
    "B106": "odd-but-good",
    "B107": "malformed-stream-body",
    "B109": "headers-encodings-are-the-engines",
    "B110": "headers-an-upload-has-its-length",
    "B112": "security-the-clients-key-passes",
    "B113": "security-a-workers-key-replaces-the-clients",
    "B115": "security-what-nobody-knows-passes",
    "B116": "stream-odd-but-honest",
    "B118": "engine-sends-data-on-two-lines",
    "B119": "stream-odd-but-honest",
    "B121": "overload-the-engines-answer-stands",
    "B122": "overload-nobody-home-is-503",
    "B124": "tests/router/test_ledger.py::test_no_account_is_no_load",
    "B125": "overload-many-at-once",
    "B127": "overload-the-engines-answer-stands",
    "B128": "drain-lets-answers-end",
    "B130": "drain-readiness-first",
    "B131": "metrics-outcomes-are-the-breakers",
    "B133": "metrics-labels-are-the-fleets",
    "B134": "metrics-are-there-from-the-start",
    "B136": "metrics-count-on-arrival",
    "B137": "each-try-begins-anew",
    "B139": "redirects-are-not-followed",
    "B140": "redirects-are-not-followed",
    "B142": "pd-decode-fails-prefill-is-let-go",
    "B143": "tests/test_public_cases.py::test_a_prompt_that_is_too_long_is_refused_before_the_stream",
    "B145": "stream-error-event-passes",
    "B146": "stream-odd-but-honest",
}
"""By case: the id of a scenario, or the test."""

NOT_ROUTERS = ("readiness", "services", "gate", "engines")
"""Features that speak of other rooms."""


def scenarios() -> dict[str, set[str]]:
    """Every scenario's public cases, by its id."""
    found = {}
    for feature in features_dir().glob("*.feature"):
        for line in TAGS.findall(feature.read_text(encoding="utf-8")):
            own = re.search(r"@id:(\S+)", line)
            found[own[1]] = set(re.findall(r"@case:(\S+)", line))
    return found


@pytest.mark.parametrize("case", SHOWN)
def test_a_case_is_shown(case):
    """What shows a case exists; a scenario that other rooms do not own carries the case's tag."""
    shown = SHOWN[case]
    if "::" not in shown:
        assert shown in scenarios()
        return
    file, _, name = shown.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_no_tag_names_an_unknown_case():
    """A scenario about routers carries only cases that are listed above."""
    tagged = set()
    for feature in features_dir().glob("*.feature"):
        if not feature.stem.startswith(NOT_ROUTERS):
            tagged |= set(re.findall(r"@case:(\S+)", feature.read_text(encoding="utf-8")))
    assert tagged - SHOWN.keys() <= READINESS


READINESS = {"B065", "B067", "B068", "B070", "B071", "B073", "B074", "B076", "B077", "B079"} | {
    "B080", "B082", "B083", "B085", "B086", "B088", "B089", "B091",
}  # fmt: skip
"""Cases of readiness and health, which a router may show too."""


def test_the_page_tells_of_cases_that_exist():
    """The page of differences names no case that is not shown."""
    assert set(re.findall(r"\bB\d{3}\b", PAGE.read_text(encoding="utf-8"))) <= SHOWN.keys()


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_is_too_long_is_refused_before_the_stream(stream):
    """The mock engine says 400 with its engine's JSON, never an error inside a 200 (B143)."""

    async def main():
        async with MockEngine(Script(model="qwen", max_model_len=100), name="a") as engine:
            judge = Judge(engine.url)
            answer = await judge.chat("qwen", prompt="x" * 200, stream=stream)
            assert (answer.status, answer.error["code"]) == (400, 400)
            assert answer.header("content-type") == "application/json"

    run(main())
