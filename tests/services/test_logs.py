"""The log of an engine."""

from __future__ import annotations

import os

from staticfire.services import logs


def test_each_life_begins_an_empty_log(tmp_path):
    """Older ones move on by one; the oldest goes."""
    path = tmp_path / "a.log"
    logs.rotate(path)
    for life in range(6):
        logs.rotate(path)
        path.write_text(f"life {life}")
    kept = {p.name: p.read_text() for p in tmp_path.iterdir()}
    assert kept == {
        "a.log": "life 5",
        "a.log.1": "life 4",
        "a.log.2": "life 3",
        "a.log.3": "life 2",
    }


def test_a_log_that_grows_is_moved_on_under_its_writer(tmp_path):
    """What was written is kept aside; what the engine writes next is at the new start."""
    path = tmp_path / "a.log"
    file = logs.opened(path)
    os.write(file, b"x" * 100)
    assert not logs.trim(path, 100)
    os.write(file, b"y")
    assert logs.trim(path, 100)
    os.write(file, b"z")
    os.close(file)
    assert path.read_bytes() == b"z"
    assert (tmp_path / "a.log.1").read_bytes() == b"x" * 100 + b"y"


def test_the_tail_is_readable(tmp_path):
    """The last state of a progress bar, no control characters, no half line, bad bytes marked."""
    path = tmp_path / "a.log"
    path.write_bytes(b"one\n" + b"10%\r50%\r100%\r\n\x1b[31mred\x1b[0m\n" + b"\xffend\n\n")
    assert logs.tail(path, 3) == ["100%", "?[31mred?[0m", "\ufffdend"]
    assert logs.tail(path, 3, most=9) == ["\ufffdend"]
    assert logs.tail(path, 0) == []


def test_no_log_is_no_error(tmp_path):
    """A service that never started has none."""
    assert logs.tail(tmp_path / "none", 5) == []
    assert logs.size(tmp_path / "none") == 0
    assert not logs.trim(tmp_path / "none")


def test_a_log_is_for_the_user_alone(tmp_path):
    """Prompts may stand in it."""
    os.close(logs.opened(tmp_path / "a.log"))
    assert (tmp_path / "a.log").stat().st_mode & 0o777 == 0o600
