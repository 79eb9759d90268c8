"""Tests of capacity: slots, queue, speed."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Capacity, MockEngine, Script
from staticfire.engine.capacity import shed
from staticfire.errors import WrongInput


@pytest.mark.parametrize(
    ("queue", "tokens", "waiting", "backlog", "verdict"),
    [
        (None, None, 999, 9999, None),
        (1, None, 0, 0, None),
        (1, None, 1, 50, "requests"),
        (0, None, 0, 0, "requests"),
        (None, 100, 2, 50, None),
        (None, 100, 2, 51, "tokens"),
        (3, 100, 3, 90, "requests"),
    ],
)
def test_a_request_that_cannot_run_waits_or_is_shed(queue, tokens, waiting, backlog, verdict):
    """The queue is without bound unless its requests or its prompt tokens are limited."""
    limits = Capacity(slots=2, queue=queue, queued_tokens=tokens)
    assert shed(limits, waiting, backlog, 50) == verdict


def test_waiting_requests_are_served_first_come_first_served(http):
    """With one slot, answers of 2 s end at 2, 4 and 6 s in the order of arrival."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(slots=1, first_token=2.0))) as engine:
            asks = [asyncio.create_task(http.talk(engine, http.chat())) for _ in range(3)]
            ends = [(await ask).lasted for ask in asks]
            return ends, engine.slots.running, engine.slots.waiting

    assert run(main()) == ([2.0, 4.0, 6.0], 0, 0)


def test_a_waiting_client_that_leaves_gives_up_its_place(http):
    """The next in the queue moves up when one before it goes."""

    async def main():
        async with MockEngine(Script(capacity=Capacity(slots=1, first_token=10.0))) as engine:
            first = asyncio.create_task(http.talk(engine, http.chat()))
            await asyncio.sleep(1)
            leaver = asyncio.create_task(http.talk(engine, http.chat(), patience=2))
            await asyncio.sleep(1)
            third = asyncio.create_task(http.talk(engine, http.chat()))
            lasted = [(await task).lasted for task in (first, leaver, third)]
            return lasted, engine.slots.running

    assert run(main()) == ([10.0, 2.0, 18.0], 0)


def test_speed_is_seconds_to_the_first_token_and_between_tokens(http):
    """A JSON answer takes first_token plus per_token for each later one."""

    async def main():
        script = Script(capacity=Capacity(first_token=1.0, per_token=0.5))
        async with MockEngine(script) as engine:
            return (await http.talk(engine, http.chat(max_tokens=5))).times

    assert run(main()) == [3.0]


@pytest.mark.parametrize(
    "fields",
    [{"slots": 0}, {"queue": -1}, {"per_token": -0.1}, {"blocks": 0}, {"block_size": 0}],
)
def test_impossible_limits_are_refused(fields):
    """Each limit has a least value."""
    with pytest.raises(WrongInput, match=f"capacity: {next(iter(fields))}"):
        Capacity(**fields)


def test_a_long_prompt_takes_longer_and_a_known_one_is_found_again(http):
    """Prefill time counts prompt tokens; those of an equal beginning are in the cache."""
    capacity = Capacity(first_token=1.0, per_prompt_token=0.1, blocks=100, block_size=4)

    async def main():
        async with MockEngine(Script(capacity=capacity)) as engine:
            ask = http.chat(messages=[{"role": "user", "content": "a" * 22}], max_tokens=1)
            first = (await http.talk(engine, ask)).lasted
            again = (await http.talk(engine, ask)).lasted
            schedule = engine.slots.schedule
            return first, again, schedule.queries, schedule.hits

    # 18 tokens of the template and 22 letters: ten blocks of four, of which the last token counts
    assert run(main()) == (5.0, 1.1, 80, 39)


def test_without_reuse_nothing_is_found_again(http):
    """The same prompt takes the same time twice, and no cache is asked."""
    capacity = Capacity(per_prompt_token=0.1, blocks=100, block_size=4, reuse=False)

    async def main():
        async with MockEngine(Script(capacity=capacity)) as engine:
            ask = http.chat(messages=[{"role": "user", "content": "a" * 22}], max_tokens=1)
            lasted = [(await http.talk(engine, ask)).lasted for _ in range(2)]
            return lasted, engine.slots.schedule.queries

    assert run(main()) == ([4.0, 4.0], 0)


def test_a_preempted_request_waits_and_computes_everything_again(http):
    """Two streams outgrow five blocks: the younger loses its own, waits, prefills anew, ends well."""
    capacity = Capacity(per_token=1.0, first_token=2.0, blocks=13, block_size=4, reuse=False)
    # a prompt of 18 + 2 tokens takes five blocks, two of them ten; each grows by eight tokens

    async def main():
        async with MockEngine(Script(capacity=capacity)) as engine:
            asks = [
                asyncio.create_task(http.talk(engine, http.chat(max_tokens=8, stream=True)))
                for _ in range(2)
            ]
            await asyncio.sleep(8)
            midway = engine.slots.running, engine.slots.waiting, engine.slots.schedule.usage
            heard = [await ask for ask in asks]
            page = (await http.talk(engine, http.get("/metrics"))).body.decode()
            return midway, [(each.lasted, len(each.events)) for each in heard], page

    midway, heard, page = run(main())
    assert midway == (1, 1, 7 / 13)
    # role, eight tokens, [DONE]; the younger begins again when the older one ends at 9 s
    assert heard == [(9.0, 10), (14.0, 10)]
    assert 'vllm:num_preemptions_total{engine="0",model_name="mock"} 1.0' in page
    assert 'vllm:request_num_preemptions_sum{engine="0",model_name="mock"} 1.0' in page


def test_a_client_that_leaves_while_preempted_leaves_nothing_behind(http):
    """Its blocks are free, it waits no more."""
    capacity = Capacity(per_token=1.0, blocks=11, block_size=4, reuse=False)

    async def main():
        async with MockEngine(Script(capacity=capacity)) as engine:
            asks = [
                asyncio.create_task(
                    http.talk(engine, http.chat(max_tokens=8, stream=True), patience=patience)
                )
                for patience in (600, 5)
            ]
            for ask in asks:
                await ask
            schedule = engine.slots.schedule
            return schedule.preemptions, engine.slots.running, engine.slots.waiting, schedule.usage

    assert run(main()) == (1, 0, 0, 0.0)
