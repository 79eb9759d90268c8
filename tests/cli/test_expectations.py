"""`staticfire expectations` names the rows that a fix should remove."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from staticfire.cli import main

ROWS = """\
[["gate-opens"]]
when = { engine = "vllm", lane = "x" }
bug = "EAI-7333"
reason = "it opens early"

[["late-workers"]]
when = {}
bug = "EAI-7333, #9"
reason = "two of sixteen"
flaky = true
until = 2001-01-01
"""


@pytest.fixture
def file(tmp_path):
    """A file with two rows of one ticket, one of them expired."""
    path = tmp_path / "rows.toml"
    path.write_text(ROWS)
    return str(path)


def call(*args: str):
    """Run the command."""
    return CliRunner().invoke(main, ["expectations", *args])


def test_the_rows_of_a_ticket_are_named(file):
    """Place, scenario, condition, ticket and reason of each; an expired row is a row too."""
    result = call("EAI-7333", "--expectations", file)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "A fix should remove 2 rows:",
        f"  {file}:1: gate-opens (engine vllm, lane x): EAI-7333: it opens early",
        f"  {file}:6: late-workers (always): EAI-7333, #9: two of sixteen",
    ]


def test_one_row_is_one_row(file):
    """The singular, by another ticket."""
    assert call("#9", "--expectations", file).output.startswith("A fix should remove 1 row:")


def test_no_row_is_said(file):
    """A ticket without rows is no error."""
    result = call("EAI-1", "--expectations", file)
    assert (result.exit_code, result.output) == (0, f"{file}: no row names EAI-1\n")


def test_json_is_for_machines(file):
    """The same as one object."""
    page = json.loads(call("EAI-7333", "--json", "--expectations", file).output)
    assert [row["scenario"] for row in page["rows"]] == ["gate-opens", "late-workers"]
    assert page["rows"][1]["until"] == "2001-01-01"


@pytest.mark.parametrize(
    ("args", "told"),
    [((), "TICKET"), (("X", "--expectations", "/none/such.toml"), "expected a readable file")],
)
def test_a_wrong_call_is_a_usage_error(args, told):
    """No ticket and no file exit 2."""
    result = call(*args)
    assert result.exit_code == 2
    assert told in result.output
