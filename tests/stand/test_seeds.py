"""Seeds and limits of a run."""

from __future__ import annotations

import resource

from staticfire.stand.limits import lift_open_files
from staticfire.stand.seeds import derive


def test_a_seed_depends_on_the_run_and_the_names_only():
    """Never on an order, so that one test replays alone."""
    assert derive(7, "a", "b") == derive(7, "a", "b")
    assert len({derive(7, "a"), derive(8, "a"), derive(7, "b"), derive(7, "a", "b")}) == 4


def test_names_do_not_run_together():
    """("ab", "c") is another scenario than ("a", "bc")."""
    assert derive(7, "ab", "c") != derive(7, "a", "bc")


def test_the_soft_limit_on_open_files_is_lifted():
    """335 sessions under 1,024 open files gave 110 false 502 answers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        assert lift_open_files() == hard
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
