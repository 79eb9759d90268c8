"""The promises about the way through a router are red on routers with the faults that they name."""

from __future__ import annotations

import pytest

import flawed_routers  # noqa: F401 - pytester forgets what its runs import first

pytestmark = pytest.mark.proof


@pytest.mark.parametrize(
    ("router", "feature", "promises"),
    [
        (
            "MeddlesomeRouter",
            "streaming",
            {
                "stream-piece-by-piece", "stream-error-event-passes",
                "stream-refused-before-it-began", "stream-odd-but-honest",
            },
        ),
        (
            "MeddlesomeRouter",
            "retries",
            {
                "a-taken-request-is-not-sent-twice", "no-retry-of-what-may-have-begun",
                "no-retry-after-the-first-byte",
            },
        ),
        ("MeddlesomeRouter", "framing", {"odd-heads-pass", "unfit-bodies-pass"}),
        (
            "LooseRouter",
            "framing",
            {"client-breaks-the-rules", "client-pipelines", "client-asks-in-chunks"},
        ),
        (
            "TrustingRouter",
            "retries",
            {"stale-connection-is-replaced", "stale-connection-in-the-same-instant"},
        ),
        ("TrustingRouter", "framing", {"mended-or-failed", "odd-but-good", "stream-longer-than-its-length"}),
        (
            "NeverRetries",
            "retries",
            {
                "retry-pauses-grow", "retry-after-is-waited-out", "retry-tries-are-limited",
                "retry-what-may-have-begun-if-asked", "retry-529-elsewhere",
            },
        ),
        (
            "Muddles",
            "streaming",
            {
                "leaver-is-no-verdict", "leaver-is-told", "stream-error-field",
                "stream-done-twice", "stream-silence-is-counted", "stream-total-time",
            },
        ),
        ("WaitsForEver", "framing", {"client-takes-its-time"}),
        ("Grudging", "breaker", {"breaker-closes-on-a-clients-mistake"}),
        (
            "StopsAtOnce",
            "shutdown",
            {
                "drain-readiness-first", "drain-lets-answers-end", "drain-sends-clients-elsewhere",
            },
        ),
        ("StaysReady", "shutdown", {"drain-readiness-first", "drain-has-an-end"}),
    ],
)  # fmt: skip
def test_a_promise_is_red_where_it_is_broken(run_on, router, feature, promises):
    """Each promise fails on a router that breaks it, as a broken promise and nothing else."""
    result = run_on(f"flawed_routers:{router}", feature, promises)
    assert result.ran == promises
    assert promises - result.failures.keys() == set()
    assert all("BrokenPromise" in failure for failure in result.failures.values())
