"""Tests of `staticfire init`: what it writes runs, and what is there stays."""

from __future__ import annotations

import importlib

import pytest
from click.testing import CliRunner

from staticfire.bdd.steps import MODULES
from staticfire.cli import main
from staticfire.cli.first_files import FILES

for module in MODULES:  # pytester forgets what its runs import first
    importlib.import_module(module)


def init(*args):
    return CliRunner().invoke(main, ["init", *map(str, args)])


def run(pytester, *args):
    return pytester.runpytest_inprocess(
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        "-o", "asyncio_default_fixture_loop_scope=function", "--engine-seed", "7", *args
    )  # fmt: skip


def test_what_it_writes_passes(pytester):
    """A new user runs one command and sees two scenarios pass."""
    result = init()
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        *(f"wrote {name}" for name in FILES),
        "Now run: pytest --mock-engines",
    ]
    run(pytester, "--mock-engines").assert_outcomes(passed=2)


def test_the_row_that_it_shows_is_a_row(pytester):
    """Without its comment sign it is read: the scenario passes, so that the row is told to go."""
    init()
    path = pytester.path / "expectations.toml"
    path.write_text(path.read_text().replace("# [[", "[[").replace("# when", "when")
                    .replace("# bug", "bug").replace("# reason", "reason"))  # fmt: skip
    result = run(pytester, "--mock-engines")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*XPASS(strict)*#12: late engines are found too late*"])


def test_the_setting_that_it_shows_is_a_setting(pytester):
    """Without its comment sign the flag is not needed."""
    init()
    path = pytester.path / "pyproject.toml"
    path.write_text(path.read_text().replace("# engine_lane", "engine_lane"))
    run(pytester).assert_outcomes(passed=2)


def test_its_own_step_can_fail(pytester):
    """The step that it writes is a promise, too."""
    init()
    path = pytester.path / "features/first.feature"
    path.write_text(path.read_text().replace("loads for 30 seconds", "loads for 300 seconds"))
    result = run(pytester, "--mock-engines")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*engine 'late' served nobody*"])


def test_a_folder_is_made_and_named(tmp_path):
    """The command to run next goes there."""
    result = init(tmp_path / "new" / "project")
    assert f"Now run: cd {tmp_path}/new/project && pytest --mock-engines" in result.output
    for name, text in FILES.items():
        assert (tmp_path / "new" / "project" / name).read_text() == text


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(tmp_path, name):
    """One error that names the file, and nothing else is written."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    result = init(tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path / name}: expected no such file yet, found one that is yours" in result.output
    assert [p.read_text() for p in tmp_path.rglob("*") if p.is_file()] == ["mine"]
