"""The command `staticfire` itself."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from staticfire import __version__
from staticfire.cli import COMMANDS, main


def ask(*args: str):
    return CliRunner().invoke(main, args)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps(name):
    """`--help` of each command works and says what it is for."""
    result = ask(name, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.output


def test_help_imports_no_command():
    """The list of commands costs nothing: no aiohttp, no pytest."""
    code = (
        "import sys; from staticfire.cli import main; main(['--help'], standalone_mode=False);"
        "print([m for m in ('aiohttp', 'pytest', 'prometheus_client', 'faker') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip().endswith("[]")


def test_an_unknown_command_names_the_nearest():
    """Usage errors exit 2."""
    result = ask("ruoter")
    assert result.exit_code == 2
    assert "no command 'ruoter'; did you mean \"router\"?" in result.output


def test_the_version():
    """`--version` says which one this is."""
    assert __version__ in ask("--version").output


def test_python_m_is_the_same_command():
    """`python -m staticfire` works where the script is not on PATH."""
    out = subprocess.run(
        [sys.executable, "-m", "staticfire", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert __version__ in out.stdout


def test_steps_lists_an_example_of_each():
    """QA people find a step by a word of it."""
    result = ask("steps", "gate", "SIGTERM")
    assert result.exit_code == 0
    assert "When the gate is sent SIGTERM" in result.output
    assert "the router in front" not in result.output


def test_steps_as_json():
    """An editor can read the list."""
    steps = json.loads(ask("steps", "--json").output)
    assert len(steps) > 50
    assert {"kind", "pattern", "example", "doc"} == steps[0].keys()


def test_steps_without_a_match_say_so():
    """An empty list would look like a bug."""
    result = ask("steps", "frobnicate")
    assert result.exit_code == 2
    assert "no step contains 'frobnicate'" in result.output
