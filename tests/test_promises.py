"""Every promise can fail: a naive router is red where ours is green, a planted bug is named."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import journal_digest  # noqa: F401 - pytester forgets what its runs import first
import naive_router  # noqa: F401
from staticfire.bdd.collect import features_dir

pytestmark = pytest.mark.proof

ROUTER_PROMISES = {
    "backpressure": {
        "backpressure-sole-engine-is-never-shed",
        "backpressure-in-stream",
        "backpressure-interleaved-with-errors",
        "errors-open-the-breaker",
        "half-open-probe-answered-503-closes",
        "late-503-leaves-an-open-breaker-alone",
        "client-faults-never-open",
        "declared-client-fault-never-opens",
        "cut-answers-open-the-breaker",
        "resting-says-when",
    },
    "late_workers": {
        "behind-the-gate-the-spread-is-even",
        "late-workers-get-the-new-sessions",
        "late-workers-of-each-model",
        "nothing-is-reindexed-later",
        "nobody-is-forgotten",
        "a-router-with-nobody-says-so",
    },
    "fleets": {
        "fleet-behind-the-gate",
        "fleet-in-turns",
        "fleet-coming-up",
        "fleet-an-engine-dies",
        "fleet-users-come-and-go",
    },
    "affinity": {
        "session-named-in-the-body",
        "session-comes-home",
        "a-new-engine-moves-its-share",
        "conversations-stay-with-their-prefix",
    },
    "discovery": {"a-known-model-with-nobody", "a-new-life-owes-nothing"},
    "many_models": {"each-model-has-its-engines", "unknown-until-all-have-listed"},
    "stuck": {"stuck-alone-is-still-asked"},
    "streaming": {
        "stream-cut-stays-a-cut",
        "stream-crash-stays-a-cut",
        "stream-cut-before-the-first-event",
        "stream-without-an-event",
        "stream-falls-silent",
        "stream-silent-after-an-error",
        "stream-idle-is-per-piece",
        "leaver-is-seen",
    },
    "retries": {
        "retry-a-refused-connect",
        "retry-backpressure-elsewhere",
        "retry-after-over-the-cap",
        "no-retry-of-a-timeout",
        "no-retry-of-a-clients-fault",
        "the-newest-answer-stands",
    },
    "framing": {
        "malformed-json",
        "malformed-shows",
        "malformed-stream-head",
        "malformed-stream-body",
        "length-too-long-shows",
        "large-heads-pass",
        "an-answer-nobody-asked-for",
        "unframed-answer-ends-with-the-connection",
        "only-an-interim-answer",
        "redirects-are-not-followed",
    },
    "overload": {
        "overload-slots-then-line-then-429",
        "overload-429-says-when",
        "overload-the-wait-is-limited",
        "overload-first-come-first-served",
        "overload-a-leaver-gives-up-its-place",
        "overload-the-router-still-speaks",
        "overload-the-engines-answer-stands",
        "overload-many-at-once",
    },
    "headers": {
        "headers-traces-pass",
        "headers-of-a-connection-stay",
        "headers-sessions-pass",
        "headers-encodings-are-the-engines",
    },
    "security": {
        "security-clients-bring-a-key",
        "security-a-workers-key-replaces-the-clients",
        "security-probes-carry-the-key",
        "security-the-clients-key-passes",
        "security-what-is-no-request",
        "security-too-deep",
        "security-too-large",
        "security-over-the-limit",
        "security-no-request-is-refused",
    },
    "metrics": {
        "metrics-can-be-read",
        "metrics-count-every-answer",
        "metrics-are-not-the-clients-to-name",
    },
    "breaker": {"breaker-probe-whose-client-leaves", "breaker-late-errors-rest-it-no-longer"},
    "fleet_trouble": {
        "trouble-a-burst-of-429",
        "trouble-one-that-hangs",
        "trouble-a-long-line",
        "trouble-no-404-while-it-loads",
    },
    "load": {"behind-the-gate-nobody-waits-for-a-cache"},
    "prefill_decode": {
        "pd-vllm-in-turn",
        "pd-sglang-at-once",
        "pd-ready-with-one-of-each",
        "pd-decode-fails-prefill-is-let-go",
        "pd-prefill-fails-decode-is-let-go",
        "pd-vllm-prefill-decides",
        "pd-each-leg-has-its-breaker",
        "pd-client-leaves-both",
        "pd-a-cut-shows",
        "pd-a-leaver-frees-both",
        "pd-cut-stays-a-cut",
        "pd-another-pair-takes-over",
    },
}
"""The promises about routers by feature, those about our own inside left out."""


@pytest.mark.parametrize("feature", ROUTER_PROMISES)
def test_every_router_promise_is_red_on_the_naive_router(run_on, feature):
    """A promise that no router can break promises nothing."""
    promises = ROUTER_PROMISES[feature]
    result = run_on("NaiveRouter", feature, promises)
    assert result.ran == promises
    assert promises - result.failures.keys() == set()
    assert all("BrokenPromise" in failure for failure in result.failures.values())


@pytest.mark.parametrize(
    ("router", "scenario", "words"),
    [
        ("Counts503", "backpressure-sole-engine-is-never-shed", "rests after errors"),
        ("Counts503", "half-open-probe-answered-503-closes", "20 whole answers with 200"),
        ("NeverOpens", "errors-open-the-breaker", "expected a whole 503"),
        ("NeverOpens", "cut-answers-open-the-breaker", "expected a whole 503"),
        (
            "LooksRarely",
            "late-workers-get-the-new-sessions",
            "expected 8 sessions 'late' on 'qwen1'",
        ),
    ],
)
def test_a_bug_planted_in_our_router_is_named(run_on, router, scenario, words):
    """The message alone says which rule was broken."""
    feature = next(name for name, ids in ROUTER_PROMISES.items() if scenario in ids)
    result = run_on(router, feature, {scenario})
    assert words in result.failures[scenario]


def journals(folder: Path) -> dict[str, list[object]]:
    """What the scenarios of a run left in a folder, by scenario."""
    found: dict[str, list[object]] = defaultdict(list)
    for file in sorted(folder.iterdir()):
        for line in file.read_text().splitlines():
            scenario, rows = json.loads(line)
            found[scenario].append(rows)
    return dict(found)


def test_a_scenario_gives_the_same_journal_twice_and_with_two_workers(pytester, monkeypatch):
    """Virtual time is exact: one seed, one journal, ports aside."""
    ini = pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    arguments = [
        "-c", str(ini), "--mock-engines", "--engine-seed", "7", "-q", "-p", "journal_digest",
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        *(str(features_dir() / f"{name}.feature") for name in ("backpressure", "engines")),
    ]  # fmt: skip
    alone, two = pytester.mkdir("alone"), pytester.mkdir("two")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("JOURNALS", str(two))
    command = [sys.executable, "-m", "pytest", "-n", "2", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as workers:
        monkeypatch.setenv("JOURNALS", str(alone))
        assert pytester.inline_run(*arguments).ret == 0
        assert workers.wait() == 0
    assert len(journals(alone)) > 50
    assert journals(alone) == journals(two)
