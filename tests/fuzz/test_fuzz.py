"""A short, seeded run of the fuzz; `make fuzz SECONDS=300` runs it for as long as is wanted."""

from __future__ import annotations

import random

import pytest

from fuzz import answering, asking
from fuzz.stand import Broken, batch
from staticfire.router import app


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("bad_client", "bad_worker"), [(True, False), (False, True), (True, True)])
def test_no_bytes_crash_hang_or_leak(seed, bad_client, bad_worker):
    """Whatever clients and workers send: no crash, no hang past the deadline, nothing left open."""
    batch(seed, 25, bad_client=bad_client, bad_worker=bad_worker)


def test_a_seed_gives_the_same_bytes():
    """A failure is replayed by its seed."""
    first = [(asking.conversation(c), answering.play(c)) for c in map(random.Random, range(20))]
    again = [(asking.conversation(c), answering.play(c)) for c in map(random.Random, range(20))]
    assert first == again


def test_a_crash_is_found(monkeypatch):
    """The fuzz can fail: a router that trips over a body is named with its seed."""

    def stumbles(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(app.Router, "_infer", stumbles)
    with pytest.raises(Broken, match=r"(?s)seed 1.*ZeroDivisionError"):
        batch(1, 5, bad_client=False, bad_worker=False)
