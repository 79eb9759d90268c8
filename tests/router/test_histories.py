"""Whole histories of the router by chance, in virtual time, against what must always hold."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import defaultdict
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from staticfire.clock.virtual import run
from staticfire.router import breaker as breakers
from staticfire.router.breaker import State

ENDS = {
    "ok": 200,
    "stream": 200,
    "busy": 503,
    "busy stream": 503,
    "full": 429,
    "error": 500,
    "mistake": 400,
    "cut": None,
    "cut stream": None,
    "reset": None,
    "silent": None,
}
EVENT = b'data: {"choices":[]}\n\n'

step = st.tuples(
    st.sampled_from(sorted(ENDS)),
    st.sampled_from((0.0, 0.0, 0.2, 3.0)),  # how long its worker takes
    st.sampled_from((0.0, 0.01, 1.0, 8.0)),  # until the next request
    st.booleans(),  # whether its client leaves after a second
)
error = ("error", 0.0, 0.01, False)
troubles = st.lists(step, min_size=1, max_size=8).map(
    lambda rest: [error, error, ("error", 0.0, 8.0, False), *rest]  # it is half-open then
)
histories = st.one_of(
    st.tuples(st.integers(1, 3), st.lists(step, min_size=1, max_size=25)),
    st.tuples(st.just(1), troubles),
)


class Teller:
    """A worker's chat, which does what each request's body says; notes who was asked what."""

    def __init__(self, raw, loop):
        self.raw = raw
        self.loop = loop
        self.attempts = defaultdict(list)  # request -> [(worker, when, what it was to do)]

    def chat(self, name):
        async def answer(reader, writer):
            asked = json.loads(worker_of[name].seen[-1][1])
            what, wait = asked["does"], asked["takes"]
            self.attempts[asked["number"]].append((name, self.loop.time(), what))
            await asyncio.sleep(wait)
            self.tell(what, writer)
            if what == "silent":
                await reader.read()

        worker_of = self.workers
        return answer

    def tell(self, what, writer):
        raw = self.raw
        match what:
            case "ok":
                writer.write(raw.whole(200))
            case "stream":
                writer.write(
                    raw.sse + raw.chunk(EVENT) + raw.chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
                )
            case "busy stream":
                told = b'data: {"error":{"message":"m","code":503}}\n\n'
                writer.write(raw.sse + raw.chunk(told) + b"0\r\n\r\n")
            case "busy" | "full" | "error" | "mistake":
                writer.write(raw.whole(ENDS[what], b'{"error":{"message":"m"}}'))
            case "cut":
                writer.write(raw.whole(200)[:-5])
                writer.close()
            case "cut stream":
                writer.write(raw.sse + raw.chunk(EVENT))
                writer.close()
            case "reset":
                writer.transport.abort()


class Watched(breakers.Breaker):
    """A breaker that checks its own invariants at every step."""

    __slots__ = ("out",)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.out = 0

    def admit(self, now):
        permit = super().admit(now)
        if permit is not None and permit.probe:
            assert self.out == 0, "half-open holds two probes"
            self.out += 1
        return permit

    def record(self, permit, outcome, now):
        before = self.state
        super().record(permit, outcome, now)
        if permit.probe:
            self.out -= 1
        if before is State.closed and self.state is State.open:
            assert outcome.value == "error", f"{outcome} opened a closed breaker"


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(histories)
def test_what_always_holds(raw, history):
    """Each request is answered once, by one worker, retried only where nobody can have begun it;
    loads return to zero; no breaker stays open for ever.
    """
    count, steps = history

    async def main():
        loop = asyncio.get_running_loop()
        teller = Teller(raw, loop)
        workers = teller.workers = [raw.Worker() for _ in range(count)]
        for name, worker in enumerate(workers):
            worker.chat = teller.chat(name)
        async with raw.stand(
            *workers, request_timeout_secs=5.0, cb_failure_threshold=3, cb_timeout_duration_secs=4.0
        ) as stand:
            asking = []
            for number, (does, takes, pause, leaves) in enumerate(steps):
                asking.append(
                    asyncio.create_task(one(stand, number, does, takes, leaves), name=f"r{number}")
                )
                await asyncio.sleep(pause)
            answers = await asyncio.gather(*asking)
            for number, (answer, step) in enumerate(zip(answers, steps, strict=True)):
                judge(number, answer, step, teller.attempts[number])
            await asyncio.sleep(6)
            for worker in stand.workers:
                assert worker.in_flight == 0
                assert worker.lines.all == {one for _, one in worker.lines._idle}
            client = await stand.connect()
            for _ in range(count * 2):  # every worker is asked again, and answers
                assert (await ask(client, 10_000, "ok", 0.0))[0] == 200
            assert {worker.breaker.state for worker in stand.workers} == {State.closed}

    with mock.patch("staticfire.router.worker.Breaker", Watched):
        run(main())


async def one(stand, number, does, takes, leaves):
    """One request: its status, whether its answer was whole, when its first byte came."""
    client = await stand.connect()
    try:
        async with asyncio.timeout(1.0 if leaves else 120.0):
            return await ask(client, number, does, takes)
    except TimeoutError:
        assert leaves, f"request {number} was never answered"
        return None
    finally:
        client.writer.close()


async def ask(client, number, does, takes):
    client.send(
        json.dumps({"model": "qwen", "number": number, "does": does, "takes": takes}).encode()
    )
    status, headers = await client.head()
    first = asyncio.get_running_loop().time()
    whole = False
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        if b"content-length" in headers:
            await client.reader.readexactly(int(headers[b"content-length"]))
        else:
            await client.chunks()
        whole = True
    assert not client.reader._buffer, f"request {number} was answered twice"
    return status, whole, first, headers


def judge(number, answer, step, attempts):
    """What must hold of one request, its answer and the attempts that it took."""
    what = step[0]
    names = [name for name, _, _ in attempts]
    assert len(names) == len(set(names)), f"request {number} asked a worker twice: {names}"
    if what not in ("busy", "full"):
        assert len(names) <= 1, f"request {number} was begun twice: {attempts}"
    if answer is None:
        return
    status, whole, first, headers = answer
    assert all(at <= first for _, at, _ in attempts), "a worker was asked after the first byte"
    if not attempts:
        assert headers[b"x-staticfire-error"] == b"workers_resting"
        assert status == 503
    elif what == "cut stream":
        assert not whole, "a cut was made whole"
    else:
        expected = {"cut": 502, "reset": 502, "silent": 504, "busy stream": 200}
        assert status == expected.get(what, ENDS[what])
        assert whole
