"""`staticfire routers`: what is here, and how to get the rest."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.stand.routers import builtin
from staticfire.stand.routers.flaws import FLAWS
from staticfire.stand.routers.found import BIN


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch, tmp_path):
    """A machine without any router, in a project without tables."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(BIN, raising=False)
    monkeypatch.chdir(tmp_path)


def routers(*args):
    told = CliRunner().invoke(main, ["routers", *args])
    assert told.exit_code == 0, told.output
    return told.output


def test_what_is_not_here_says_how_to_install_it():
    """Every known router, and ours, which is always here."""
    lines = {line.split()[0]: line for line in routers().splitlines()}
    assert set(lines) - {"direct"} == {"bundled", *builtin()}
    assert "in the test process" in lines["bundled"]
    assert "not here: pip install smg" in lines["smg"]


def test_a_machine_reads_the_same(tmp_path):
    """A router in a folder is here, of a version, and lacks what it lacks."""
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\necho nginx version: nginx/9.8.7 >&2\n")
    program.chmod(0o755)
    rows = {
        row["name"]: row for row in json.loads(routers("--json", "--router-bin", str(tmp_path)))
    }
    assert (rows["nginx"]["here"], rows["nginx"]["version"]) == (True, "9.8.7")
    assert "breaker" in rows["nginx"]["lacks"]
    assert rows["caddy"]["here"] is False


def test_mutants_are_listed_when_asked_for():
    """The naive router, without its flaws, and with one at a time."""
    names = {line.split()[0] for line in routers("--mutants").splitlines()}
    assert {"naive", "naive-without-flaws", *(f"naive-{flaw}" for flaw in FLAWS)} <= names
