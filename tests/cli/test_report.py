"""`staticfire report`: pages from the results of runs."""

from __future__ import annotations

import msgspec
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.report.results import Outcome, Result, Router, Run


def write(path, scenario, ran=1):
    result = Result(
        scenario, "", f"Title of {scenario}", "f", "must", "bundled", "mock", Outcome.PASS
    )
    run = Run("0.1.0", "now", "mock", 7, (Router("bundled", "1"),), 1, ran, results=(result,))
    path.write_bytes(msgspec.json.encode(run))
    return str(path)


def test_merge_writes_each_form_that_is_asked_for(tmp_path):
    """Runs of two machines become one page, one Markdown, one result file."""
    a, b = write(tmp_path / "a.json", "a"), write(tmp_path / "b.json", "b")
    outputs = [str(tmp_path / f"all.{ending}") for ending in ("html", "md", "json")]
    words = [word for output in outputs for word in ("-o", output)]
    found = CliRunner().invoke(main, ["report", "merge", a, b, *words])
    assert found.exit_code == 0, found.output
    for output in outputs:
        text = (tmp_path / output).read_text(encoding="utf-8")
        assert "Title of a" in text
        assert "Title of b" in text
    again = CliRunner().invoke(main, ["report", "merge", outputs[2], "-o", outputs[0]])
    assert "2 results of 2 runs" in again.output


def test_merge_refuses_a_shard_in_which_nothing_ran(tmp_path):
    """Exit status 2, the file named, and nothing written."""
    a, b = write(tmp_path / "a.json", "a"), write(tmp_path / "b.json", "b", ran=0)
    output = tmp_path / "all.html"
    found = CliRunner().invoke(main, ["report", "merge", a, b, "-o", str(output)])
    assert found.exit_code == 2
    assert "b.json" in found.output
    assert not output.exists()


def test_merge_refuses_a_form_that_it_has_not(tmp_path):
    """Before anything is read, with the endings that it knows."""
    a = write(tmp_path / "a.json", "a")
    found = CliRunner().invoke(main, ["report", "merge", a, "-o", str(tmp_path / "all.xml")])
    assert found.exit_code == 2
    assert ".html, .json, .md" in found.output


def test_a_conformance_page_and_a_badge_are_made_of_result_files(tmp_path):
    """What `make conformance` and a repository's badge come from."""
    a, page, badge = write(tmp_path / "a.json", "a"), tmp_path / "c.md", tmp_path / "b.json"
    for command, output in (("conformance", page), ("badge", badge)):
        found = CliRunner().invoke(main, ["report", command, a, "-o", str(output)])
        assert found.exit_code == 0, found.output
    assert "`a`: Title of a" in page.read_text(encoding="utf-8")
    assert "1 kept" in badge.read_text(encoding="utf-8")
