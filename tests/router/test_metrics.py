"""What `/metrics` shows, and what showing it costs."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse

from staticfire.clock import NS
from staticfire.clock.virtual import run
from staticfire.router.breaker import State
from staticfire.router.families import Counters, Histograms, Sampled
from staticfire.router.metrics import Metrics
from staticfire.router.outcome import Outcome
from staticfire.router.wedged import Sign


def one_worker(name, status="ready"):
    record = SimpleNamespace(status=SimpleNamespace(value=status))
    return SimpleNamespace(
        id=name,
        breaker=SimpleNamespace(state=State.closed),
        in_flight=2,
        serving=True,
        sign=Sign.well,
        watch=SimpleNamespace(record=record),
    )


def text(metrics):
    return asyncio.run(metrics.render()).decode()


def samples(page):
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse(page)
        for sample in family.samples
    }


def test_families_are_what_prometheus_reads():
    """Counters, histograms and gauges parse as such; odd label values come back as they were."""
    odd = 'a"b\\c\nd'
    counters = Counters("x_total", "Help.", ("model",))
    counters.child(odd).inc()
    counters.child(odd).inc()
    times = Histograms("t_seconds", "Help.", (0.1, 1.0), ("model",))
    for value in (0.05, 0.1, 0.5, 7):
        times.child("m").observe(value)
    gauge = Sampled("g", "Help.", lambda: ((("w",), 3),), ("worker",))
    page = "".join(piece for family in (counters, times, gauge) for piece in family.pieces())
    assert [family.type for family in parse(page)] == ["counter", "histogram", "gauge"]
    found = samples(page)
    assert found["x_total", (("model", odd),)] == 2
    buckets = [
        found["t_seconds_bucket", (("le", le), ("model", "m"))] for le in ("0.1", "1", "+Inf")
    ]
    assert buckets == [2, 3, 4]
    assert found["t_seconds_count", (("model", "m"),)] == 4
    assert found["t_seconds_sum", (("model", "m"),)] == pytest.approx(7.65)
    assert found["g", (("worker", "w"),)] == 3


def test_a_page_is_what_prometheus_reads():
    """Every family has a name of its own, its help and its type, and parses."""
    metrics = Metrics(lambda: [one_worker("w00")])
    metrics.attempt("w00", "qwen", Outcome.success)
    page = text(metrics)
    names = [line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) > 15
    assert all(name.startswith("staticfire_") for name in names)
    assert ("staticfire_worker_serving", (("worker", "w00"),)) in samples(page)
    status = (("status", "ready"), ("worker", "w00"))
    assert samples(page)["staticfire_worker_status", status] == 1


@pytest.mark.parametrize("sign", Sign)
def test_a_worker_has_one_sign(sign):
    """One line a worker, with the word that `/workers` has for it."""
    worker = one_worker("w00")
    worker.sign = sign
    lines = [line for line in text(Metrics(lambda: [worker])).splitlines() if "_sign{" in line]
    assert lines == [f'staticfire_worker_sign{{worker="w00",sign="{sign.value}"}} 1.0']


def test_a_removed_worker_vanishes():
    """Its lines go with it, and a late answer does not bring them back."""
    workers = [one_worker("w00"), one_worker("w01")]
    metrics = Metrics(lambda: workers)
    for name in ("w00", "w01"):
        metrics.attempt(name, "qwen", Outcome.error)
        metrics.stream(name, "qwen", "ok")
        metrics.moved(name, State.closed, State.open, "error")
    del workers[0]
    metrics.forget("w00")
    metrics.attempt("w00", "qwen", Outcome.success)
    metrics.stream("w00", "qwen", "upstream_error")
    metrics.moved("w00", State.open, State.half_open, "cool_down")
    page = text(metrics)
    assert "w00" not in page
    assert page.count('worker="w01"') == 8
    assert metrics.value("w00", Outcome.error) == 0


def test_a_transition_is_told_with_its_cause():
    """An unchanged state is no transition (B005)."""
    metrics = Metrics(lambda: [one_worker("w00")])
    metrics.moved("w00", State.half_open, State.closed, "client_error")
    metrics.moved("w00", State.closed, State.closed, "success")
    moves = [line for line in text(metrics).splitlines() if "breaker_transitions_total{" in line]
    labels = 'worker="w00",from="half-open",to="closed",cause="client_error"'
    assert moves == [f"staticfire_breaker_transitions_total{{{labels}}} 1.0"]


def test_times_reach_from_milliseconds_to_an_hour():
    """A reply of half an hour still falls into a bucket of its own."""
    metrics = Metrics(list)
    passage = SimpleNamespace(model="qwen", arrived=0, stream=True, first_at=NS // 5)
    metrics.passed(passage, 1500 * NS)
    found = samples(text(metrics))

    def at(name, le):
        return found[f"staticfire_{name}_seconds_bucket", (("le", le), ("model", "qwen"))]

    assert [at("request_duration", le) for le in ("1200", "1800", "+Inf")] == [0, 1, 1]
    assert [at("ttft", le) for le in ("0.1", "0.25", "3600")] == [0, 1, 1]


def test_who_was_given_to_no_worker_has_no_duration():
    """The model is a name of the registry, so a request for another one has no series."""
    metrics = Metrics(list)
    metrics.passed(SimpleNamespace(model="", arrived=0, stream=True, first_at=None), NS)
    assert "staticfire_request_duration_seconds_" not in text(metrics)


def test_a_thousand_workers_block_nothing():
    """Between two pieces of a page the loop is free again: each costs a few milliseconds of CPU.

    The bar is 20 ms; measured are about 1. CPU time, so that a busy machine changes nothing.
    """
    workers = [one_worker(f"w{number:03}") for number in range(1000)]
    metrics = Metrics(lambda: workers)
    for worker in workers:
        for outcome in Outcome:
            metrics.attempt(worker.id, "qwen", outcome)
        metrics.stream(worker.id, "qwen", "ok")
    longest, pieces = 0.0, metrics.pieces()
    while True:
        began = time.thread_time()
        piece = next(pieces, None)
        longest = max(longest, time.thread_time() - began)
        if piece is None:
            break
    assert longest < 0.020
    assert text(metrics).count('worker="w999"') == 11


def test_requests_are_counted_when_they_come(raw):
    """A request that is under way is seen: counted, not yet answered, in flight (B136)."""

    async def slow(reader, writer):
        await asyncio.sleep(5)
        writer.write(raw.whole(200))

    async def main():
        async with raw.stand(raw.Worker(chat=slow)) as stand:
            client, other = await stand.connect(), await stand.connect()
            client.send()
            await asyncio.sleep(1)
            found = samples((await other.ask(path=b"/metrics", method=b"GET"))[2].decode())
            route = ("route", "/v1/chat/completions")
            assert found["staticfire_requests_total", (route,)] == 1
            assert not any(
                name == "staticfire_responses_total" and route in labels for name, labels in found
            )
            assert found["staticfire_requests_in_flight", ()] == 2, "itself, too"
            assert found["staticfire_worker_in_flight", (("worker", "w00"),)] == 1
            await client.head()
            await asyncio.sleep(1)
            found = samples((await other.ask(path=b"/metrics", method=b"GET"))[2].decode())
            assert found["staticfire_responses_total", (route, ("status", "200"))] == 1
            assert found["staticfire_requests_in_flight", ()] == 1

    run(main())


def test_what_a_client_writes_makes_no_label(raw):
    """A thousand models and paths that nobody has make no series of their own (B133)."""

    async def main():
        async with raw.stand(raw.Worker()) as stand:
            client = await stand.connect()
            await client.ask(b'{"model":"m"}')
            await client.ask(path=b"/x", method=b"GET")
            before = len((await client.ask(path=b"/metrics", method=b"GET"))[2].splitlines())
            await client.ask(path=b"/metrics", method=b"GET")
            for number in range(100):
                assert (await client.ask(b'{"model":"m%d"}' % number))[0] == 404
                assert (await client.ask(path=b"/x%d" % number, method=b"GET"))[0] == 404
            after = (await client.ask(path=b"/metrics", method=b"GET"))[2]
            assert len(after.splitlines()) <= before + 2
            assert b"m99" not in after

    run(main())


def test_healthy_workers_are_shown_from_the_start(raw):
    """A gauge needs no change to be there (B134)."""

    async def main():
        async with raw.stand(raw.Worker(), raw.Worker()) as stand:
            page = (await (await stand.connect()).ask(path=b"/metrics", method=b"GET"))[2].decode()
            serving = [line for line in page.splitlines() if "worker_serving{" in line]
            assert [line.rpartition(" ")[2] for line in serving] == ["1.0", "1.0"]
            assert json.dumps("w01") in serving[1]

    run(main())
