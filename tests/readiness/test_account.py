"""What an engine says of itself, in three dialects."""

from __future__ import annotations

import pytest

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.readiness import Verdict, account
from staticfire.readiness.probing import account_of
from staticfire.readiness.questions import Engine
from staticfire.wire import parse_url

VLLM = """# HELP vllm:num_requests_waiting Number of requests waiting.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_running{engine="0",model_name="a b"} 2.0
vllm:num_requests_waiting{engine="0",model_name="a b"} 3.0
vllm:num_requests_waiting{engine="1",model_name="a b"} 4.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0
vllm:engine_sleep_state{engine="0",sleep_state="awake"} %s
vllm:engine_sleep_state{engine="0",sleep_state="weights_offloaded"} 1.0
vllm:generation_tokens_total{engine="0"} 1.5e+06
"""
LLAMACPP = "llamacpp:requests_processing 1\nllamacpp:requests_deferred 5\n"
SGLANG = 'sglang:num_running_reqs{m="x"} 7\nsglang:num_queue_reqs{m="x"} 0\n'


def test_vllm_tells_sums_over_engines_and_whether_it_sleeps():
    """Labels are summed over; the state `awake` is 0 when it sleeps."""
    load = account.read_metrics(VLLM % "0.0")
    assert (load.waiting, load.running, load.tokens) == (7.0, 2.0, 1_500_000.0)
    assert load.paused == "asleep"
    assert account.read_metrics(VLLM % "1.0").paused == ""


@pytest.mark.parametrize(
    ("page", "waiting", "running"),
    [
        (LLAMACPP, 5.0, 1.0),
        (SGLANG, 0.0, 7.0),
        ("", None, None),
        ("<html>no metrics</html>", None, None),
        ("vllm:num_requests_waiting NaNs\nvllm:num_requests_running{", None, None),
    ],
    ids=["llama.cpp", "sglang", "nothing", "a web page", "garbage"],
)
def test_other_dialects_and_none(page, waiting, running):
    """llama.cpp has no labels, SGLang its own names; garbage says nothing."""
    load = account.read_metrics(page)
    assert (load.waiting, load.running) == (waiting, running)


def asked(fake, times=1, generations=(1,)):
    """The accounts of a fake, one after the other."""

    async def main():
        async with fake:
            teller = account_of(Engine(parse_url(fake.url)))
            return [
                await teller.ask(deadline=10 * NS, generation=generation)
                for generation in generations
                for _ in range(times)
            ]

    return run(main())


def test_a_route_that_is_not_there_is_asked_once_in_a_generation(raw):
    """404 is remembered until the engine is another one."""
    fake = raw.Fake()
    fake.accounts_of["/metrics"] = raw.reply(200, LLAMACPP.encode())
    asked(fake, times=3)
    assert [path for _, path in fake.accounts] == [
        "/metrics", "/is_sleeping", "/is_paused", "/metrics", "/metrics",
    ]  # fmt: skip
    fake = raw.Fake()
    asked(fake, generations=(1, 2))
    assert len(fake.accounts) == 6


@pytest.mark.parametrize(
    ("route", "key", "word"),
    [("/is_sleeping", "is_sleeping", "asleep"), ("/is_paused", "is_paused", "paused")],
)
def test_a_pause_is_told_by_one_boolean(raw, route, key, word):
    """Only `true` is a pause."""
    for value, expected in ((True, word), (False, ""), ("true", "")):
        fake = raw.Fake()
        fake.accounts_of[route] = raw.reply(200, {key: value})
        (load,) = asked(fake)
        assert load.paused == expected


def test_an_engine_that_says_nothing_is_no_evidence(raw):
    """404, 401, a hang: nothing is said, and nothing is raised."""
    fake = raw.Fake()
    fake.accounts_of = {"/metrics": raw.silent, "/is_sleeping": raw.reply(401)}
    (load,) = asked(fake)
    assert not load.said
    assert load.evidence(1, 0, "qwen") is None


def test_a_queue_that_does_not_move_is_no_load(raw):
    """Requests wait and no token came since the last account: it is wedged, not saturated."""
    fake = raw.Fake()
    pages = [f"{LLAMACPP}llamacpp:tokens_predicted_total {n}\n".encode() for n in (5, 9, 9, 12)]
    fake.accounts_of["/metrics"] = raw.sequence(*(raw.reply(200, page) for page in pages))
    loads = asked(fake, times=4)
    assert [load.saturated for load in loads] == [True, True, False, True]


def test_what_a_queue_says_is_busy():
    """It has a latch's worth of trust: counted as busy, with how many wait."""
    told = account.Load(waiting=7, running=2).evidence(3, 0, "qwen")
    assert (told.verdict, told.generation) == (Verdict.BUSY, 3)
    assert told.reason == "busy: 7 requests wait in its own queue"
    assert account.Load(waiting=0, running=9).evidence(3, 0, "qwen") is None
