"""The promises about routing are red on routers with the faults that they name."""

from __future__ import annotations

import pytest

import misrouting_routers  # noqa: F401 - pytester forgets what its runs import first

pytestmark = pytest.mark.proof


@pytest.mark.parametrize(
    ("router", "feature", "promises"),
    [
        ("CountsNoLoad", "affinity", {"load-counts-from-the-choice"}),
        ("KeepsLoad", "affinity", {"load-is-given-back"}),
        ("ForgetsSheds", "affinity", {"fast-failure-is-no-advantage"}),
        ("ForgetsSheds", "stuck", {"retry-after-spares"}),
        ("TakesEveryoneForIdle", "stuck", {"busy-is-not-stuck"}),
        (
            "TakesTheFirst",
            "affinity",
            {"two-choices-spread-a-burst", "conversations-are-spread"},
        ),
        ("TakesTheFirst", "late_workers", {"behind-the-gate-nobody-drowns"}),
        ("LeavesOut", "affinity", {"bounded-home"}),
        ("LeavesOut", "late_workers", {"idle-sessions-move-where-asked"}),
        (
            "LeavesOut",
            "stuck",
            {
                "stuck-is-wedged",
                "stuck-without-metrics-is-suspect",
                "stuck-heals-with-its-first-answer",
            },
        ),
        ("LooksRarely", "discovery", {"everybody-is-found", "a-cut-list-is-read-again"}),
        ("IgnoresTheNew", "discovery", {"added-at-run-time"}),
        (
            "HangsUp",
            "discovery",
            {"draining-gets-nothing-new", "a-blip-costs-nothing", "removed-while-it-answers"},
        ),
        ("OnlyAdds", "discovery", {"a-list-replaces-the-fleet", "priority-before-standby"}),
        (
            "Guesses",
            "many_models",
            {
                "a-request-without-one-of-two",
                "an-alias-is-another-name",
                "each-try-begins-anew",
            },
        ),
        ("GuessesNothing", "many_models", {"a-request-without-a-model"}),
    ],
)
def test_a_promise_is_red_where_it_is_broken(run_on, router, feature, promises):
    """Each promise fails on a router that breaks it, as a broken promise and nothing else."""
    result = run_on(f"misrouting_routers:{router}", feature, promises)
    assert result.ran == promises
    assert promises - result.failures.keys() == set()
    assert all("BrokenPromise" in failure for failure in result.failures.values())
