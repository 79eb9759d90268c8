"""Starting, restarting and stopping, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Rule, Serving, Waits
from staticfire.errors import WrongInput
from staticfire.readiness import Status, Verdict
from staticfire.services.check import Checker
from staticfire.services.decide import Do
from staticfire.services.home import Home
from staticfire.services.host import CannotStart, Undying
from staticfire.services.launch import Busy, Launcher, plan
from staticfire.services.store import Store


def test_a_port_of_its_own():
    """{port} becomes a free port that no other service has; --port and --url are as given."""
    one = plan("a", ("x", "--port={port}"))
    assert one.url == f"http://127.0.0.1:{one.port}"
    assert plan("a", ("x",), port=81).url == "http://127.0.0.1:81"
    assert plan("a", ("x", "{port}"), port=81).port == 81
    far = plan("a", ("srun", "x"), url="http://node7:8000/")
    assert (far.url, far.port) == ("http://node7:8000", None)


def test_a_port_of_another_service_is_not_taken(monkeypatch):
    """Its engine may be between two lives."""
    ports = iter([5, 6, 7])
    monkeypatch.setattr("staticfire.services.launch.free_port", lambda: next(ports))
    assert plan("a", ("{port}",), taken=frozenset((5, 6))).port == 7


@pytest.mark.parametrize(
    ("args", "more", "words"),
    [
        ((), {}, "expected a command after --"),
        (("x",), {}, "found a command without {port}; write {port}"),
        (("x",), {"port": 1, "url": "http://a"}, "expected --port or --url, found both"),
        (("{port}",), {"url": "http://a"}, "expected a command without {port}"),
        (("x",), {"url": "a:1"}, "--url: expected a URL"),
    ],
)
def test_an_engine_whose_port_nobody_knows_is_refused(args, more, words):
    """What was expected, what was found, what to do."""
    with pytest.raises(WrongInput, match=words):
        plan("a", args, **more)


def test_serve_starts_once(room):
    """The same command under a name that lives is the same service: one process."""

    async def main():
        await room.serve("a", Serving())
        again, new = await room.launcher.serve(room.store.get("a"), {})
        await room.close()
        return again, new, len(room.host.programs["a"].pids)

    again, new, starts = run(main())
    assert (new, starts, again.life.number) == (False, 1, 1)


@pytest.mark.parametrize(
    "other", [{"command": ("other",)}, {"model": "other"}, {"url": "http://127.0.0.1:9"}]
)
def test_another_command_under_a_name_that_lives_is_refused(room, other):
    """Nobody's engine is replaced by accident."""

    async def main():
        await room.serve("a", Serving())
        try:
            await room.launcher.serve(replace(room.store.get("a"), **other), {})
        finally:
            await room.close()

    with pytest.raises(WrongInput, match="stop it first, or take another name"):
        run(main())


def test_serve_after_a_death_starts_anew(room):
    """A dead service is started with what is asked for now; its history goes on."""

    async def main():
        engine = await room.serve("a", Serving())
        await Checker(room.store, room.host).check("a")
        engine.kill()
        asked = replace(room.store.get("a"), command=("new",), restarts=0)
        service, new = await room.launcher.serve(asked, {"B": "2"})
        await room.close()
        return service, new

    service, new = run(main())
    assert (new, service.command, service.life.number) == (True, ("new",), 2)
    assert service.status is Status.STARTING
    assert len(service.history) > 2
    assert room.store.environ("a") == {"B": "2"}


def test_a_command_that_cannot_start_leaves_a_record(room):
    """Failed, with why; a second try is a new life."""

    async def main():
        await room.serve("a", Serving())
        await room.launcher.stop("a")
        room.host.programs["a"].startable = False
        with pytest.raises(CannotStart):
            await room.launcher.restart("a")
        failed = room.store.get("a")
        room.host.programs["a"].startable = True
        again = await room.launcher.restart("a")
        await room.close()
        return failed, again

    failed, again = run(main())
    assert failed.status is Status.FAILED
    assert "there is no command" in failed.readiness.reason
    assert again.status is Status.STARTING


def test_restart_ends_the_old_one_first(room):
    """Evidence of the old life is gone, the row of restarts begins anew, one process runs."""

    async def main():
        await room.serve("a", Serving())
        await Checker(room.store, room.host).check("a")
        room.store.change("a", lambda s: replace(s, streak=3, restarts=5))
        service = await room.launcher.restart("a")
        ends = room.host.programs["a"].ends
        await room.close()
        return service, ends

    service, ends = run(main())
    assert ends == 1
    assert service.status is Status.STARTING
    assert (service.streak, service.restarts) == (0, 5)


def test_stop_says_so_before_it_does(room):
    """While the processes end the record says stopped: no supervisor starts it meanwhile."""

    async def main():
        await room.serve("a", Serving())
        seen = []
        end = room.host.end

        async def slow(service):
            seen.append((room.store.get("a").status, await room.launcher.keep("a")))
            await end(service)

        room.host.end = slow
        await room.launcher.stop("a")
        await room.close()
        return seen, room.store.get("a")

    seen, service = run(main())
    assert seen[0][0] is Status.STOPPED
    assert seen[0][1].do is Do.NOTHING
    assert service.status is Status.STOPPED
    assert not room.host.programs["a"].runs


def test_stop_while_a_probe_is_under_way(room):
    """The late pass does not make it ready."""

    async def main():
        await room.serve("a", Serving(), rules=[Rule("chat", Waits(2))])
        checking = asyncio.create_task(Checker(room.store, room.host).check("a"))
        await asyncio.sleep(1)
        before = room.store.get("a")
        room.host.end = _nothing  # the engine goes on and answers
        await room.launcher.stop("a")
        checked = await checking
        await room.close()
        assert checked.found is not None
        assert checked.found.verdict is Verdict.SERVING
        return before, room.store.get("a")

    before, after = run(main())
    assert before.status is Status.RUNNING
    assert after.status is Status.STOPPED
    assert not after.readiness.latched


async def _nothing(service) -> None:
    """Ends nothing."""


def test_two_do_not_start_one_service(room, monkeypatch):
    """Whoever has its hands on a service is waited for, with a bound."""
    monkeypatch.setattr("staticfire.services.launch.HANDS", 1.0)

    async def main():
        await room.serve("a", Serving())
        with room.store.home.locked("hands on a") as mine:
            assert mine
            decision = await room.launcher.keep("a")
            with pytest.raises(Busy, match="another process that starts or stops it"):
                await room.launcher.restart("a")
        await room.launcher.restart("a")
        await room.close()
        return decision, len(room.host.programs["a"].pids)

    decision, starts = run(main())
    assert (decision.do, starts) == (Do.NOTHING, 2)


def test_a_start_waits_until_the_old_processes_are_gone(room):
    """What cannot be ended is told, and nothing new starts beside it."""

    async def main():
        await room.serve("a", Serving())

        async def undying(service):
            raise Undying("pid 7 (state D)")

        room.host.end = undying
        with pytest.raises(Undying, match="state D"):
            await room.launcher.restart("a")
        starts = len(room.host.programs["a"].pids)
        await room.close()
        return starts

    assert run(main()) == 1


def test_an_engine_without_a_record_is_not_started(room):
    """A state folder that cannot be written: nobody could stop what runs."""

    async def main():
        store = Store(Home(Path("/proc/none")))
        launcher = Launcher(store, room.host)
        with pytest.raises(WrongInput, match="could be neither found nor stopped"):
            await launcher.serve(plan("a", ("x", "{port}")), {})
        store.close()

    run(main())
    assert room.host.programs == {}


def test_forget_only_what_is_dead(room):
    """A running service is refused; the record of a dead one goes; a torn one as well."""

    async def main():
        await room.serve("a", Serving())
        with pytest.raises(WrongInput, match="found one that runs; stop it first"):
            await room.launcher.forget("a")
        await room.launcher.stop("a")
        await room.launcher.forget("a")
        left = room.store.all()
        room.store._connection.execute("INSERT INTO services VALUES ('torn', 1, '{', '{}')")
        await room.launcher.forget("torn")
        with pytest.raises(WrongInput, match="expected a known name"):
            await room.launcher.forget("b")
        await room.close()
        return left

    assert run(main()) == ()
    assert room.store.all() == ()
