"""Finding routers on this machine."""

from __future__ import annotations

import socket

import pytest

from staticfire.errors import WrongInput
from staticfire.stand.ports import free_ports
from staticfire.stand.routers.entry import read_entry
from staticfire.stand.routers.found import BIN, find, version_of
from staticfire.stand.routers.process import ProcessFactory


def program(path):
    """A program that does nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def entry(**more):
    table = {"command": "its-router --port {port} {workers}", "install": "get it", **more}
    return read_entry("mine", table, "[mine]")


@pytest.mark.parametrize("place", ["its-router", "bin/its-router", "mine/bin/its-router"])
def test_a_folder_holds_programs_or_environments(tmp_path, place):
    """The program, a bin, or virtual environments by the routers' names."""
    path = program(tmp_path / place)
    assert find(entry(), [tmp_path]) == path


def test_the_own_venv_is_looked_at_first_and_path_last(tmp_path, monkeypatch):
    """Then the folders of the command line, then those of the environment variable."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv(BIN, str(tmp_path / "variable"))
    places = ["path", "variable", "option", "venv/bin"]
    found = []
    for place in places:
        program(tmp_path / place / "its-router")
        found.append(find(entry(venv=str(tmp_path / "venv")), [tmp_path / "option"]))
    assert [path.parent.relative_to(tmp_path).as_posix() for path in found] == places


def test_what_is_not_here_says_how_to_get_it(monkeypatch, tmp_path):
    """Before a test runs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(BIN, raising=False)
    with pytest.raises(WrongInput, match=r"'its-router' on PATH.*get it"):
        ProcessFactory(entry()).load()


def test_the_version_of_a_python_package_is_read_beside_it(tmp_path):
    """Nothing is started for it."""
    path = program(tmp_path / "bin" / "its-router")
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    (site / "its_router-1.2.3.dist-info").mkdir(parents=True)
    assert version_of(entry(package="its-router"), path) == "1.2.3"
    assert version_of(entry(package="another"), path) == "unknown"


def test_free_ports_are_different_and_can_be_bound():
    """Also by somebody who does not share."""
    ports = free_ports(8)
    assert len(set(ports)) == 8
    for port in ports:
        with socket.socket() as one:
            one.bind(("127.0.0.1", port))
