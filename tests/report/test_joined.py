"""Files of runs that become one report."""

from __future__ import annotations

import pytest

from staticfire.errors import WrongInput
from staticfire.report.joined import join, mixed, read_all
from staticfire.report.writing import check_ending, write_report


def test_a_run_is_read_as_it_was_written(make, tmp_path):
    """The result file holds all that the page shows."""
    run = make.run(make.result(timeline=make.timeline()))
    write_report([run], tmp_path / "deep" / "r.json")
    assert read_all(tmp_path / "deep" / "r.json") == (run,)


def test_joined_runs_stay_apart_and_can_be_joined_again(make, tmp_path):
    """A file of several runs holds each as it came out; the same run counts once."""
    a, b = make.run(make.result("a")), make.run(make.result("b"), seed=8)
    for name, runs in (("a", [a]), ("b", [b]), ("ab", [a, b])):
        write_report(runs, tmp_path / f"{name}.json")
    assert join([tmp_path / "a.json", tmp_path / "b.json"]) == (a, b)
    assert join([tmp_path / "ab.json", tmp_path / "b.json"]) == (a, b)


def test_a_run_in_which_nothing_ran_is_refused(make, tmp_path):
    """A broken shard must not look like a small one."""
    write_report([make.run(make.result(), ran=0)], tmp_path / "r.json")
    with pytest.raises(WrongInput, match=r"1 selected, 0 ran"):
        join([tmp_path / "r.json"])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"runs": 1}', '{"runs": [{}]}', "\xff"])
def test_what_is_no_result_file_is_wrong_input(tmp_path, text):
    """The file is named, and what it was expected to be."""
    (tmp_path / "r.json").write_text(text, encoding="latin-1")
    with pytest.raises(WrongInput, match=r"r\.json: expected"):
        read_all(tmp_path / "r.json")


@pytest.mark.parametrize("several", [False, True])
def test_other_rules_are_refused(make, tmp_path, several):
    """A file whose words mean something else is not read as if they did not."""
    write_report([make.run(rules=99)] * (1 + several), tmp_path / "r.json")
    with pytest.raises(WrongInput, match="found 99"):
        read_all(tmp_path / "r.json")


def test_several_suites_on_one_page_are_told(make):
    """Results of two versions of the suite may not be comparable, so a reader is told."""
    runs = [make.run(suite="1"), make.run(suite="2")]
    assert mixed(runs) == ["made by several versions of the suite: 1, 2"]
    assert mixed(runs[:1]) == []


def test_a_name_without_a_known_ending_is_wrong_input(tmp_path):
    """The form is in the file's name; the error lists the forms."""
    with pytest.raises(WrongInput, match=r"--x: expected a file that ends in \.html, \.json, \.md"):
        check_ending(tmp_path / "report.xml", "--x")
