"""Who waits because every worker of his model is at its cap."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.router.crowd import FULL, Crowd
from staticfire.router.errors import Failure

NO_PLACE = Failure(429, FULL, "full", retry_after=1)


class Worker:
    """So many places; a lease is a name, which is given back by `withdraw`."""

    def __init__(self, places):
        self.places = places

    def choose(self, name):
        def now():
            if not self.places:
                return NO_PLACE
            self.places -= 1
            return Lease(name, self)

        return now


class Lease:
    def __init__(self, name, worker):
        self.name, self.worker = name, worker

    def withdraw(self):
        self.worker.places += 1


def stand(crowd, worker, name, model="qwen"):
    return asyncio.create_task(crowd.stand(model, NO_PLACE, worker.choose(name)), name=name)


def test_first_come_first_served():
    """A place goes to the first of the line, and is taken in that very moment."""

    async def main():
        crowd, worker = Crowd(9, 60 * NS), Worker(0)
        tasks = [stand(crowd, worker, name) for name in "abc"]
        await asyncio.sleep(0)
        assert crowd.queued("qwen")
        assert not crowd.queued("llama")
        worker.places = 2
        crowd.freed({"qwen"})
        assert worker.places == 0, "nobody who comes now can take them"
        assert [(await tasks[n]).name for n in (0, 1)] == ["a", "b"]
        assert not tasks[2].done()
        worker.places = 1
        crowd.freed({"llama"})
        await asyncio.sleep(0)
        assert not tasks[2].done(), "a place for another model is none"
        crowd.freed({"qwen"})
        assert (await tasks[2]).name == "c"
        assert (crowd.waiting, crowd.queued("qwen")) == (0, False)
        crowd.stop()

    run(main())


def test_a_worker_that_joins_is_seen_within_a_second():
    """Nobody gave a place back, and yet there is one."""

    async def main():
        crowd, worker = Crowd(9, 60 * NS), Worker(0)
        task = stand(crowd, worker, "a")
        await asyncio.sleep(5.5)
        worker.places = 1
        began = asyncio.get_running_loop().time()
        assert (await task).name == "a"
        assert asyncio.get_running_loop().time() - began <= 1
        crowd.stop()

    run(main())


def test_the_wait_and_the_line_have_an_end():
    """Who waits too long, or finds no place in the line, is told 429."""

    async def main():
        crowd, worker = Crowd(1, 30 * NS), Worker(0)
        first = stand(crowd, worker, "a")
        await asyncio.sleep(1)
        assert await crowd.stand("qwen", NO_PLACE, worker.choose("b")) is NO_PLACE
        assert await first is NO_PLACE
        assert asyncio.get_running_loop().time() == 30
        assert crowd.waiting == 0
        crowd.stop()

    run(main())


def test_whatever_else_is_wrong_is_told_at_once():
    """Who waited for a place hears that everybody rests now, and waits no longer."""

    async def main():
        crowd = Crowd(9, 60 * NS)
        resting = Failure(503, "workers_resting", "rests")
        task = asyncio.create_task(crowd.stand("qwen", NO_PLACE, lambda: resting))
        await asyncio.sleep(0)
        crowd.freed({"qwen"})
        assert await task is resting
        crowd.stop()

    run(main())


@pytest.mark.parametrize("its_turn_came", [False, True])
def test_who_leaves_takes_no_place(its_turn_came):
    """Also when its turn came in the very moment in which it left."""

    async def main():
        crowd, worker = Crowd(9, 60 * NS), Worker(0)
        first, second = stand(crowd, worker, "a"), stand(crowd, worker, "b")
        await asyncio.sleep(1)
        if its_turn_came:
            worker.places = 1
            crowd.freed({"qwen"})
        first.cancel()
        await asyncio.sleep(0)
        if not its_turn_came:
            worker.places = 1
        crowd.freed({"qwen"})
        assert (await second).name == "b"
        assert (worker.places, crowd.waiting) == (0, 0)
        crowd.stop()

    run(main())
