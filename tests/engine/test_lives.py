"""Tests of lives: phases in their order, on their instants, on one port."""

from __future__ import annotations

import asyncio
import socket

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.engine import (
    Accepting,
    Answers,
    Busy,
    Dead,
    Draining,
    Loading,
    MockEngine,
    NeverAnswers,
    Refuses,
    Script,
    Serving,
    Sleeping,
)
from staticfire.engine.life import Walk, advance, phase_of
from staticfire.errors import WrongInput

LIFE = (Refuses(seconds=12), Loading(seconds=352), Serving())


@pytest.mark.parametrize(
    ("at", "name"),
    [(0, "refuses"), (12 * NS - 1, "refuses"), (12 * NS, "loading"), (364 * NS - 1, "loading"), (364 * NS, "serving"), (10**15, "serving")],
)  # fmt: skip
def test_a_phase_is_a_function_of_now_on_start_to_end(at, name):
    """A phase holds from its first nanosecond to the one before its end."""
    assert phase_of(advance(Walk(LIFE, 0), at)).name == name


def test_after_its_last_phase_an_engine_serves():
    """A life whose last phase ends goes on serving."""
    assert phase_of(advance(Walk((Busy(seconds=1),), 0), NS)) == Serving()


async def connects(engine):
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", engine.port)
    except ConnectionRefusedError:
        return False
    writer.close()
    return True


def test_a_late_binder_owns_its_port_and_refuses_until_its_instant(http):
    """Connects are refused at 12 s less a nanosecond and succeed at 12 s."""

    async def main():
        async with MockEngine(Script(life=[Refuses(seconds=12), Serving()])) as engine:
            seen = [await connects(engine)]
            await asyncio.sleep(11.999999999)
            seen.append(await connects(engine))
            await asyncio.sleep(0.000000001)
            seen.append(await connects(engine))
            return seen, (await http.talk(engine, http.get("/health"))).status

    assert run(main()) == ([False, False, True], 200)


def test_a_port_is_kept_through_three_lives(http):
    """Dead and restarted, an engine has the port it had, and each life is a new generation."""

    async def main():
        async with MockEngine() as engine:
            port, seen = engine.port, []
            for _ in range(3):
                answer = await http.talk(engine, http.chat())
                seen.append((engine.port == port, engine.generation, answer.status))
                engine.kill()
                seen.append(await connects(engine))
                engine.restart()
            return seen, [request.generation for request in engine.journal.requests()]

    seen, generations = run(main())
    assert seen == [(True, 1, 200), False, (True, 2, 200), False, (True, 3, 200), False]
    assert generations == [1, 2, 3]


def test_a_life_dies_and_comes_back_by_its_script(http):
    """Dead for 5 s in a life: refused then, a new generation after."""

    async def main():
        life = [Serving(seconds=10), Dead(seconds=5), Serving()]
        async with MockEngine(Script(life=life)) as engine:
            seen = []
            for pause in (9, 1, 4, 1):
                await asyncio.sleep(pause)
                seen.append((await connects(engine), engine.phase().name, engine.generation))
            return seen

    assert run(main()) == [
        (True, "serving", 1),
        (False, "dead", 1),
        (False, "dead", 1),
        (True, "serving", 2),
    ]


def test_an_accepting_engine_never_answers_even_later(http):
    """A connection that was swallowed stays silent when the engine serves others."""

    async def main():
        async with MockEngine(Script(life=[Accepting(seconds=5), Serving()])) as engine:
            first = asyncio.create_task(http.talk(engine, http.get("/health"), patience=60))
            await asyncio.sleep(6)
            second = await http.talk(engine, http.get("/health"))
            return await first, second, engine.journal.requests()

    first, second, requests = run(main())
    assert (first.data, first.ended) == (b"", "open")
    assert second.status == 200
    assert len(requests) == 1


def test_endpoints_are_scripted_apart():
    """Listed, healthy and not answering: each endpoint does what the phase says of it."""
    phase = Loading(health=200, listed=True, chat=NeverAnswers(), embeddings=Answers(404))
    does = {name: phase.does(name) for name in ("chat", "completions", "embeddings")}
    assert does == {
        "chat": NeverAnswers(),
        "completions": NeverAnswers(),
        "embeddings": Answers(404),
    }
    assert Loading(health=503).does("health") == Answers(503)
    assert Loading(listed="never answers").does("models") == NeverAnswers()


def test_each_phase_answers_as_its_name_says(http):
    """Health, listing and chat of every phase that answers, as vLLM would."""

    async def main():
        seen = {}
        for phase in (Loading(), Loading(health=503, listed=False), Busy(), Draining(), Serving()):
            async with MockEngine(Script(model="qwen", life=[phase])) as engine:
                health = await http.talk(engine, http.get("/health"))
                models = await http.talk(engine, http.get("/v1/models"))
                chat = await http.talk(engine, http.chat())
                seen[phase] = (health.status, len(models.json()["data"]), chat.status)
        return list(seen.values())

    assert run(main()) == [
        (200, 1, 503),
        (503, 0, 503),
        (200, 1, 503),
        (200, 1, 503),
        (200, 1, 200),
    ]


def test_a_phase_can_last_for_requests(http):
    """Busy for three inference requests sheds three and serves the fourth; health counts for none."""

    async def main():
        async with MockEngine(Script(life=[Busy(requests=3), Serving()])) as engine:
            await http.talk(engine, http.get("/health"))
            return [(await http.talk(engine, http.chat())).status for _ in range(4)]

    assert run(main()) == [503, 503, 503, 200]


def test_a_phase_can_last_until_a_hold_is_released(http):
    """A loading engine serves from the instant at which the test releases its weights."""

    async def main():
        async with MockEngine(Script(life=[Loading(hold="weights"), Serving()])) as engine:
            await asyncio.sleep(1000)
            before = (await http.talk(engine, http.chat())).status
            engine.hold("weights").release()
            return before, (await http.talk(engine, http.chat())).status

    assert run(main()) == (503, 200)


def test_sleeping_inference_hangs_until_the_engine_wakes(http):
    """A chat that came while the engine slept is answered when the phase ends; health is 200."""

    async def main():
        async with MockEngine(Script(life=[Sleeping(seconds=30), Serving()])) as engine:
            health = await http.talk(engine, http.get("/health"))
            return health.status, (await http.talk(engine, http.chat())).times

    assert run(main()) == (200, [30.0])


def test_the_rest_of_a_life_can_be_replaced(http):
    """`run` begins other phases now."""

    async def main():
        async with MockEngine() as engine:
            engine.run(Busy(seconds=8))
            first = (await http.talk(engine, http.chat())).status
            await asyncio.sleep(8)
            return first, (await http.talk(engine, http.chat())).status

    assert run(main()) == (503, 200)


def test_two_durations_for_one_phase_are_refused():
    """A phase lasts by one measure."""
    with pytest.raises(WrongInput, match="one of seconds, requests, hold"):
        Busy(seconds=1, requests=2)


def test_stop_leaves_nothing_behind(http):
    """After `stop` no task runs, the port is free, and a second stop is harmless."""

    async def main():
        engine = await MockEngine(Script(life=[Loading(seconds=99, chat="never answers")])).start()
        hung = asyncio.create_task(http.talk(engine, http.chat()))
        await asyncio.sleep(1)
        await engine.stop()
        await engine.stop()
        left = asyncio.all_tasks() - {asyncio.current_task(), hung}
        async with MockEngine(port=engine.port):
            return (await hung).ended, left

    assert run(main()) == ("fin", set())


def test_a_port_in_use_is_one_clear_error():
    """Starting on a port that somebody listens on says so."""

    async def main():
        async with MockEngine() as engine:
            with pytest.raises(WrongInput, match=r"expected a free port, found one that is in use"):
                await MockEngine(port=engine.port).start()

    run(main())


@pytest.mark.parametrize("turns", range(5))
def test_a_connection_that_comes_as_the_engine_dies_ends_too(turns):
    """In whatever turn of the loop it was taken, its client is cut and does not wait for ever."""

    async def main():
        async with MockEngine() as engine:
            with socket.create_connection(("127.0.0.1", engine.port)) as sock:
                sock.setblocking(False)
                for _ in range(turns):
                    await asyncio.sleep(0)
                engine.kill()
                async with asyncio.timeout(30):
                    try:
                        return await asyncio.get_running_loop().sock_recv(sock, 10)
                    except ConnectionResetError:
                        return b""

    assert run(main()) == b""
