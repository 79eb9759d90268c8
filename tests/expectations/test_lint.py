"""Rows that can be read and still are wrong."""

from __future__ import annotations

from datetime import date

import pytest

from staticfire.expectations import Known, lint, parse

KNOWN = Known(
    ids=("gate-opens", "late-workers"),
    lanes=("mock", "llamacpp"),
    routers=("bundled", "vllm-router"),
)
TODAY = date(2026, 6, 1)


def problems(*rows: str, known: Known = KNOWN) -> list[str]:
    """The problems of rows given as `id | when | more`."""
    text = ""
    for row in rows:
        name, when, *more = (part.strip() for part in row.split("|"))
        text += f'[["{name}"]]\nwhen = {{{when}}}\nbug = "#1"\nreason = "r"\n{"".join(more)}\n'
    return [str(problem) for problem in lint(parse(text), known, TODAY)]


def test_good_rows_have_no_problem():
    """Known names, a day to come, rows that can each decide."""
    assert not problems(
        'gate-opens | lane = "mock", engine = "vllm"',
        'gate-opens | lane = "mock" | until = 2026-06-01',
        'gate-opens | router = "bundled", personality = "sglang", clock = "real", os = "win32"',
        'late-workers | gpu = "amd"',
        "late-workers | gpu = true",
    )


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            "gate-open |",
            'expected the @id of a scenario, found "gate-open"; did you mean "gate-ope',
        ),
        ('gate-opens | lane = "mok"', 'when.lane: expected a known lane, found "mok"; did you me'),
        ('gate-opens | router = "bundeld"', 'did you mean "bundled"?'),
        ('gate-opens | engine = "vlm"', 'did you mean "vllm"?'),
        ('gate-opens | personality = "llama"', 'did you mean "llamacpp"?'),
        ('gate-opens | clock = "fake"', 'expected a known clock, found "fake"'),
        ('gate-opens | os = "windows"', 'did you mean "win32"?'),
        ('gate-opens | gpu = "nvidea"', 'did you mean "nvidia"?'),
        (
            "gate-opens | | until = 2026-05-31",
            "until: expected a day that is not over (2026-06-01)",
        ),
    ],
)
def test_a_wrong_name_or_day_is_told(row, told):
    """Each with its place and the nearest name."""
    (problem,) = problems(row)
    assert told in problem
    assert problem.startswith('expectations.toml:1: [["')


@pytest.mark.parametrize(
    ("first", "second", "shadowed"),
    [
        ("", 'os = "linux"', True),
        ("", "", True),
        ('os = "linux"', 'os = "linux"', True),
        ('os = "linux"', 'os = "Linux", lane = "mock"', True),
        ("gpu = true", 'gpu = "amd"', True),
        ('gpu = "none"', "gpu = false", True),
        ('os = "linux"', "", False),
        ('os = "linux", lane = "mock"', 'os = "linux"', False),
        ('os = "linux"', 'os = "darwin"', False),
        ('gpu = "amd"', "gpu = true", False),
    ],
)
def test_a_shadowed_row_is_told(first, second, shadowed):
    """A row that an earlier one always beats can never decide."""
    found = problems(f"gate-opens | {first}", f"gate-opens | {second}")
    assert bool(found) is shadowed
    if shadowed:
        assert "one shadowed by expectations.toml:1" in found[0]


def test_rows_of_two_scenarios_do_not_shadow():
    """Shadowing is within one id."""
    assert not problems("gate-opens |", "late-workers |")


def test_all_problems_are_found():
    """`lint` gives every problem, in the order of the file."""
    found = problems('gate-open | lane = "x"', "gate-opens | | until = 2020-01-01")
    assert len(found) == 3


def test_what_is_not_known_is_not_checked():
    """None as a list of names switches its check off."""
    assert not problems('x | lane = "y", router = "z"', known=Known())


def test_an_empty_list_knows_nothing():
    """An empty list of names refuses every name."""
    assert problems("x |", known=Known(ids=()))
    assert problems('gate-opens | lane = "mock"', known=Known(lanes=()))
