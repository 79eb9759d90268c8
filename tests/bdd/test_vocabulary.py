"""The reference of the whole vocabulary is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from staticfire.bdd.step import LIBRARY
from staticfire.bdd.vocabulary import page
from staticfire.cli import main
from staticfire.engine import faults, personalities
from staticfire.engine.phases import PHASES

PAGE = Path(__file__).parents[2] / "docs/reference/vocabulary.md"


def test_the_page_in_the_repository_is_what_the_command_prints():
    """Run `staticfire steps --markdown > docs/reference/vocabulary.md` when this fails."""
    shown = CliRunner().invoke(main, ["steps", "--markdown"])
    assert shown.exit_code == 0
    assert PAGE.read_text(encoding="utf-8") == shown.output


def test_every_phase_fault_personality_and_step_is_told():
    """Each with what it is, and none with an empty description."""
    text = page()
    ours = [name for name, cls in faults().items() if cls.__module__.startswith("staticfire.")]
    for name in ours:
        assert re.search(rf"^### {re.escape(name)}\n\n[A-Z]", text, re.MULTILINE), name
    for name in (*PHASES, *personalities()):
        assert re.search(rf"^\| `{name}` \|.*[a-z].* \|$", text, re.MULTILINE), name
    for step in LIBRARY:
        if step.module.startswith("staticfire."):
            assert step.doc.replace("|", "\\|") in text, step


def test_a_page_is_whole_or_not_at_all():
    """Words beside it would look like a filter."""
    result = CliRunner().invoke(main, ["steps", "--markdown", "breaker"])
    assert result.exit_code == 2
    assert "no WORDS" in result.output
