"""Holding a launch, in virtual time."""

from __future__ import annotations

from staticfire.clock import NS, current
from staticfire.clock.virtual import run
from staticfire.engine import MockEngine, Refuses, Script, Serving, Waits
from staticfire.readiness.gate import wait_at_gate
from staticfire.readiness.launch import Named, Need
from staticfire.readiness.settings import Settings
from staticfire.readiness.waiting import Target


class Dies:
    """A process that dies at a second of the scenario."""

    pid, never = 42, False

    def __init__(self, at: float) -> None:
        self.at = at

    @property
    def dead(self) -> bool:
        return current().now() >= self.at * NS


def gated(lives, *, at_least=None, dies=None, timeout=600.0, interval=1.0):
    """How a gate before engines with these lives ended, and what it told on the way."""

    async def main():
        engines = [await MockEngine(Script("qwen", life=life)).start() for life in lives]
        targets = tuple(Target(engine.url) for engine in engines)
        dying = {engines[i].url: Dies(at) for i, at in (dies or {}).items()}
        told = []
        ended = await wait_at_gate(
            targets,
            Need.of([Named(engine.url) for engine in engines], at_least),
            dying,
            timeout=timeout,
            interval=interval,
            on_change=told.append,
            settings=Settings(),
        )
        for engine in engines:
            await engine.stop()
        place = {engine.url: i for i, engine in enumerate(engines)}
        return ended, [(place[c.target.url], c.there, c.count, c.at / NS) for c in told]

    return run(main())


LATE = [Refuses(seconds=100), Serving()]


def test_it_opens_when_the_last_one_is_there():
    """At the next look after the last one bound."""
    ended, _ = gated([[Serving()], LATE])
    assert (ended.why, ended.after, len(ended.there), ended.missing) == ("open", 100 * NS, 2, ())


def test_it_is_over_when_a_process_dies():
    """At the look that finds it, with who died and why, whatever the timeout."""
    ended, told = gated([[Serving()], LATE], dies={1: 30.5})
    assert (ended.why, ended.after) == ("dead", 31 * NS)
    assert [why for _, why in ended.missing] == ["its process 42 is dead"]
    assert ended.dead == {ended.missing[0][0].url}
    assert told[-1] == (1, False, 1, 31.0)


def test_one_that_was_there_and_dies_is_there_no_more():
    """A worker that serves counts as long as its process lives."""
    ended, told = gated([[Serving()], LATE], dies={0: 50})
    assert (ended.why, ended.after) == ("dead", 50 * NS)
    assert told[-1] == (0, False, 0, 50.0)


def test_a_stranger_at_a_dead_workers_url_is_not_counted():
    """What answers there later is somebody else."""
    ended, told = gated([LATE, LATE], at_least=1, dies={0: 50}, interval=2)
    assert (ended.why, ended.after) == ("open", 100 * NS)
    assert [place for place, there, _, _ in told if there] == [1]


def test_it_does_not_open_for_a_process_that_has_just_died():
    """The processes are looked at once more before it opens."""
    slow = [Serving(chat=Waits(before_head=0.5))]
    ended, _ = gated([slow], dies={0: 0.2})
    assert (ended.why, ended.after) == ("dead", NS // 2)


def test_the_time_runs_out():
    """With the last word of who is missing."""
    ended, _ = gated([LATE, [Serving()]], timeout=20)
    assert (ended.why, ended.after) == ("timeout", 20 * NS)
    assert [why for _, why in ended.missing] == ["connection refused"]
