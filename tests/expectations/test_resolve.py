"""Rows and conditions give pass, xfail or skip."""

from __future__ import annotations

import itertools
from datetime import date

import pytest

from staticfire.errors import WrongInput
from staticfire.expectations import Expectations, load, parse, read

HERE = {"router": "bundled", "lane": "mock", "engine": "mock", "clock": "virtual", "os": "linux"}


def rows(*whens: str) -> Expectations:
    """Rows of one scenario with these conditions; their tickets are #0, #1 …"""
    text = "".join(
        f'[["a"]]\nwhen = {{{when}}}\nbug = "#{i}"\nreason = "r"\n' for i, when in enumerate(whens)
    )
    return Expectations(parse(text))


def test_without_a_row_a_scenario_has_to_pass():
    """A row of another scenario says nothing."""
    expectation = rows("").resolve("b", HERE)
    assert (expectation.outcome, expectation.row, expectation.strict) == ("pass", None, False)


def test_an_empty_when_is_always():
    """`when = {}` holds everywhere, also where nothing is known."""
    assert rows("").resolve("a", {}).outcome == "xfail"
    assert rows("").resolve("a", HERE).why == "#0: r"


@pytest.mark.parametrize("held", list(itertools.product([True, False], repeat=3)))
def test_conditions_are_anded(held):
    """All keys of one `when` have to hold."""
    keys = ("lane", "os", "router")
    when = ", ".join(
        f'{key} = "{HERE[key] if yes else "x"}"' for key, yes in zip(keys, held, strict=True)
    )
    expected = "xfail" if all(held) else "pass"
    assert rows(when).resolve("a", HERE).outcome == expected


def test_an_unknown_condition_does_not_hold():
    """A row about GPUs does not match a run that does not know its GPU."""
    assert rows("gpu = false").resolve("a", HERE).outcome == "pass"


@pytest.mark.parametrize(
    ("whens", "bug"),
    [
        (('os = "darwin"', 'os = "linux"'), "#1"),
        (('lane = "mock"', 'os = "linux"'), "#0"),
        (('os = "linux", lane = "mock"', 'os = "linux"'), "#0"),
    ],
)
def test_several_tables_are_alternatives_and_the_first_decides(whens, bug):
    """The ticket, the reason and the timeout all come from the first row that matches."""
    assert rows(*whens).resolve("a", HERE).row.bug == bug


def test_the_timeout_is_the_deciding_rows_own():
    """A later row's timeout is not borrowed."""
    text = '[["a"]]\nwhen = {{}}\nbug = "1"\nreason = "r"\nserve_timeout_secs = {}\n'
    expectations = Expectations(parse(text.format(240) + text.format(90)))
    assert expectations.resolve("a", HERE).serve_timeout == 240


@pytest.mark.parametrize(
    ("tags", "has", "why"),
    [
        (["@needs:faults"], {"chat"}, "needs faults, which the lane mock lacks"),
        (["@needs:chat", "@needs:faults"], {"chat", "faults"}, None),
        (["needs:chat"], None, None),
        (["@os:darwin"], None, "for os darwin only; this is linux"),
        (["@os:linux", "@must", "@case:B031"], None, None),
        (["@gpu:amd"], None, "for gpu amd only; this is unknown"),
    ],
)
def test_a_tag_that_does_not_apply_is_a_skip(tags, has, why):
    """Skip comes before the rows, with its reason; it is never made by a row."""
    expectation = rows("").resolve("a", HERE, tags=tags, has=has)
    assert expectation.outcome == ("xfail" if why is None else "skip")
    if why is not None:
        assert (expectation.why, expectation.row) == (why, None)


@pytest.mark.parametrize(("gpu", "outcome"), [("amd", "xfail"), ("none", "skip"), (False, "skip")])
def test_any_gpu_will_do(gpu, outcome):
    """`@gpu:any` is a run that has one."""
    expectation = rows("").resolve("a", HERE | {"gpu": gpu}, tags=["@gpu:any"])
    assert expectation.outcome == outcome


@pytest.mark.parametrize(
    ("tickets", "found"),
    [
        (["EAI-7333"], ["EAI-7333", "EAI-7333, #12"]),
        (["eai-7333"], ["EAI-7333", "EAI-7333, #12"]),
        (["#12"], ["EAI-7333, #12"]),
        (["#1"], []),
        (["owner/repo#1", "#12"], ["EAI-7333, #12", "owner/repo#1"]),
        (["EAI-733"], []),
    ],
)
def test_tickets_name_their_rows(tickets, found):
    """A ticket is a whole word of `bug`, without regard to case."""
    bugs = ("EAI-7333", "EAI-7333, #12", "owner/repo#1")
    text = "".join(f'[["s{i}"]]\nwhen={{}}\nbug="{b}"\nreason="r"\n' for i, b in enumerate(bugs))
    assert [r.bug for r in Expectations(parse(text)).of_tickets(tickets)] == found


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """A missing file and one that is no text are told with their name."""
    missing = tmp_path / "none.toml"
    with pytest.raises(
        WrongInput, match=r"none\.toml: expected a readable file, found no such file"
    ):
        read(missing)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(WrongInput, match="found not UTF-8"):
        read(binary)


def test_load_raises_the_first_problem(tmp_path):
    """`load` is `read` with the lint of this run."""
    file = tmp_path / "expectations.toml"
    file.write_text('[["gate-open"]]\nwhen = {}\nbug = "1"\nreason = "r"\n')
    with pytest.raises(WrongInput, match='did you mean "gate-opens"'):
        load(file, known_ids={"gate-opens"}, lanes=(), routers=(), today=date(2026, 1, 1))
    assert load(file, known_ids={"gate-open"}, today=date(2026, 1, 1)).rows[0].bug == "1"
