"""The promises about a router's front are red on routers with the faults that they name."""

from __future__ import annotations

import pytest

import leaky_routers  # noqa: F401 - pytester forgets what its runs import first

pytestmark = pytest.mark.proof


@pytest.mark.parametrize(
    ("router", "feature", "promises"),
    [
        (
            "Overruns",
            "overload",
            {
                "overload-a-leaver-gives-up-its-slot", "overload-each-engine-has-a-cap",
                "overload-the-engines-413-is-its-own", "overload-nobody-home-is-503",
            },
        ),
        (
            "MiscountsAll",
            "metrics",
            {
                "metrics-outcomes-are-the-breakers", "metrics-count-on-arrival",
                "metrics-labels-are-the-fleets", "metrics-are-there-from-the-start",
                "metrics-of-a-removed-worker-vanish", "metrics-tell-why-a-breaker-moved",
                "metrics-times-of-a-stream", "metrics-of-the-line", "metrics-name-no-address",
                "metrics-tell-who-is-stuck",
            },
        ),
        (
            "ForgetsWho",
            "headers",
            {
                "headers-only-what-engines-use", "headers-more-by-setting", "headers-an-id-is-made",
                "headers-an-error-has-the-id-too", "headers-say-who-answered",
                "headers-a-requests-id-comes-back",
            },
        ),
        (
            "Rewrites",
            "headers",
            {"headers-an-upload-has-its-length", "headers-a-requests-id-is-kept"},
        ),
        ("Rewrites", "security", {"security-what-nobody-knows-passes"}),
        ("KnowsFields", "security", {"security-a-new-field-passes"}),
        (
            "StandsOpen",
            "security",
            {
                "security-what-needs-no-key", "security-admin-by-key",
                "security-our-key-goes-to-configured-workers-only",
                "security-admin-from-here-only", "security-no-address-and-no-key-is-told",
            },
        ),
    ],
)  # fmt: skip
def test_a_promise_is_red_where_it_is_broken(run_on, router, feature, promises):
    """Each promise fails on a router that breaks it, as a broken promise and nothing else."""
    result = run_on(f"leaky_routers:{router}", feature, promises)
    assert result.ran == promises
    assert promises - result.failures.keys() == set()
    assert all("BrokenPromise" in failure for failure in result.failures.values())
