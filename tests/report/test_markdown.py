"""The report as Markdown."""

from __future__ import annotations

from staticfire.report.markdown import SIGNS, markdown
from staticfire.report.results import Outcome


def test_every_outcome_has_a_sign_of_its_own():
    """Two outcomes never look alike."""
    assert set(SIGNS) == set(Outcome)
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_counts_stand_before_the_matrix_and_no_percentage_anywhere(make):
    """A column's line says how many came to what, by level."""
    text = markdown(
        [
            make.run(
                make.result("a"),
                make.result("b", Outcome.FAIL, why="expected x; came: y", replay="pytest -k b"),
                make.result("c", Outcome.KNOWN, ticket="#12", level="should"),
            )
        ]
    )
    assert "| bundled | 1.2.3 | 1 pass, 1 fail | 1 known |" in text
    assert "| Title of b | **✕** |" in text
    assert "| Title of c (should) | K #12 |" in text
    assert "`pytest -k b`" in text
    assert "%" not in text


def test_without_failures_there_is_no_section_of_them(make):
    """A page says what is there."""
    assert "## Against the promises" not in markdown([make.run(make.result())])


def test_a_text_cannot_break_the_table(make):
    """A bar or a tag in a title or a reason stays text."""
    text = markdown([make.run(make.result(title="a | b <img>", outcome=Outcome.FAIL))])
    assert "| a \\| b &lt;img> | **✕** |" in text


def test_no_folder_of_a_machine_is_published(make):
    """The line that replays a failure leaves out where the routers of this machine lie."""
    replay = "pytest --mock-engines --router a --router-bin /home/me/b 'f.feature::test'"
    text = markdown([make.run(make.result(outcome=Outcome.FAIL, replay=replay))])
    assert "`pytest --mock-engines --router a 'f.feature::test'`" in text
    assert "/home/me" not in text
