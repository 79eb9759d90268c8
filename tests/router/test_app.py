"""What the router says by itself."""

from __future__ import annotations

import asyncio
import json

import pytest

from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.router import Router, Settings


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"{", 400, "invalid_json"),
        (b'{"model":"qwen","x":"\xff"}', 400, "invalid_json"),
        (b"[" * 100_000, 400, "invalid_request"),
        (b'{"model":"qwen","x":' + b"[" * 100_000, 400, "invalid_json"),
        (b"[]", 400, "invalid_request"),
        (b'{"model":3}', 400, "invalid_request"),
        (b'{"model":"nobody"}', 404, "model_not_found"),
        (b'{"model":""}', 404, "model_not_found"),
    ],
)
def test_wrong_requests(raw, body, status, code):
    """A wrong request gets OpenAI error JSON with all four keys; no worker is bothered."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            got, headers, told = await client.ask(body)
            assert (got, headers[b"x-staticfire-error"]) == (status, code.encode())
            error = json.loads(told)["error"]
            assert set(error) == {"message", "type", "param", "code"}
            assert (error["code"], error["type"]) == (code, "invalid_request_error")
            assert worker.seen == []
            assert (await client.ask())[0] == 200, "the connection stays usable"

    run(main())


def test_too_large(raw):
    """A body over the limit is a 413 in OpenAI's shape, readable before the upload ended."""

    async def main():
        async with raw.stand(raw.Worker(), max_payload_size=1000) as stand:
            client = await stand.connect()
            client.writer.write(
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: r\r\ncontent-length: 9000000\r\n\r\n"
            )
            client.writer.write(b"x" * 900_000)
            status, headers = await client.head()
            assert (status, headers[b"x-staticfire-error"]) == (413, b"payload_too_large")
            assert json.loads(await client.reader.read())["error"]["code"] == "payload_too_large"

    run(main())


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        (b"GET", b"/nix", 404, b"not_found"),
        (b"POST", b"/v1/nix", 404, b"not_found"),
        (b"GET", b"/v1/chat/completions", 405, b"method_not_allowed"),
        (b"POST", b"/health", 405, b"method_not_allowed"),
        (b"DELETE", b"/workers", 405, b"method_not_allowed"),
    ],
)
def test_wrong_places(raw, method, path, status, code):
    """A path nobody serves is a 404, a wrong method a 405 that names the right one."""

    async def main():
        async with raw.stand(raw.Worker()) as stand:
            got, headers, _ = await (await stand.connect()).ask(path=path, method=method)
            assert (got, headers[b"x-staticfire-error"]) == (status, code)
            assert (b"allow" in headers) is (status == 405)

    run(main())


def test_a_sole_model_needs_no_name(raw):
    """A request that names no model goes to the only one; with two models it is a 400."""

    async def main():
        worker, other = raw.Worker(), raw.Worker()
        async with raw.stand(worker, other) as stand:
            client = await stand.connect()
            assert (await client.ask(b'{"model":null}'))[0] == 200
            other.models = ("llama",)
            await asyncio.sleep(12)
            status, headers, _ = await client.ask(b"{}")
            assert (status, headers[b"x-staticfire-error"]) == (400, b"model_required")

    run(main())


def test_workers_and_metrics_name_no_url(raw):
    """`/workers`, `/metrics`, `/readiness` name workers w00, w01; never a URL."""

    async def main():
        workers = raw.Worker(), raw.Worker()
        async with raw.stand(*workers) as stand:
            client = await stand.connect()
            await client.ask()
            await workers[1].stop()
            await asyncio.sleep(30)
            for path in (b"/workers", b"/metrics", b"/readiness", b"/v1/models", b"/health"):
                status, _, body = await client.ask(path=path, method=b"GET")
                assert status == 200
                assert b"127.0.0.1" not in body
            shown = json.loads((await client.ask(path=b"/workers", method=b"GET"))[2])["workers"]
            assert [(one["id"], one["serving"]) for one in shown] == [("w00", True), ("w01", False)]
            assert shown[0]["models"] == ["qwen"]
            text = (await client.ask(path=b"/metrics", method=b"GET"))[2].decode()
            assert 'staticfire_worker_serving{worker="w00"} 1.0' in text
            assert 'staticfire_worker_serving{worker="w01"} 0.0' in text
            assert 'staticfire_worker_breaker_state{worker="w00"} 0.0' in text
            assert 'staticfire_worker_in_flight{worker="w00"} 0.0' in text

    run(main())


def test_a_port_for_metrics(raw):
    """`/metrics` can have a port of its own, which serves nothing else."""

    async def main():
        async with raw.stand(raw.Worker(), prometheus_port=0) as stand:
            reader, writer = await asyncio.open_connection("127.0.0.1", stand.router._scraped.port)
            writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert b"staticfire_worker_serving" in await reader.read()
            writer.close()
            await asyncio.sleep(0)

    run(main())


def test_a_url_twice_counts_once():
    """The same engine named twice, in two spellings, is one worker."""

    async def main():
        router = Router(Settings(worker_urls=("http://127.0.0.1:1", "http://127.0.0.1:1/")))
        assert [worker.id for worker in router.workers] == ["w00"]

    run(main())


def test_port_in_use():
    """A port in use is said clearly, with what to do; nothing is left behind."""

    async def main():
        first = Router(Settings(port=0))
        await first.start()
        second = Router(Settings(port=first.port))
        with pytest.raises(WrongInput, match=rf"--port: .*127\.0\.0\.1:{first.port} in use"):
            await second.start()
        third = Router(Settings(port=0, prometheus_port=first.port))
        with pytest.raises(WrongInput, match="--prometheus-port"):
            await third.start()
        await first.stop()

    run(main())


def test_stop_leaves_nothing(raw):
    """Stopping cuts what is under way, ends every task, closes every connection."""

    async def hang(reader, writer):
        writer.write(raw.sse)
        await reader.read()

    async def main():
        worker = raw.Worker(chat=hang)
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            client.send()
            await client.head()
            closed = len(worker.closed_at)
            worker.chat = raw.whole(200)
            assert (await (await stand.connect()).ask())[0] == 200
            assert len(stand.workers[0].lines.all) == 2, "one under way, one idle"
            await stand.router.stop()
            assert not stand.workers[0].lines.all
            assert await client.reader.read() == b""
            await asyncio.sleep(1)
            assert len(worker.closed_at) > closed
            ours = {f"watch {one.id}" for one in stand.workers}
            assert not ours & {task.get_name() for task in asyncio.all_tasks()}

    run(main())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"worker_urls": ("nonsense",)}, "--worker-urls: expected a URL"),
        ({"policy": "stiky"}, 'did you mean "sticky"'),
        ({"cb_failure_threshold": 0}, "--cb-failure-threshold: expected 1 or more"),
        ({"request_timeout_secs": float("nan")}, "--request-timeout-secs"),
        ({"port": 70000}, "--port: expected 0 to 65535"),
    ],
)
def test_wrong_settings(settings, words):
    """A setting that cannot be used is refused by the name of its flag."""
    with pytest.raises(WrongInput, match=words):
        Settings(**settings)


def test_a_second_stop_hurries(raw):
    """While it drains, a second order ends it at once: what is under way is cut, nothing is left."""

    async def hang(reader, writer):
        writer.write(raw.sse)
        await reader.read()

    async def main():
        loop = asyncio.get_running_loop()
        async with raw.stand(raw.Worker(chat=hang), shutdown_grace_period_secs=100) as stand:
            client = await stand.connect()
            client.send()
            await client.head()
            began = loop.time()
            draining = asyncio.ensure_future(stand.router.drain())
            await asyncio.sleep(10)
            assert not draining.done()
            draining.cancel()
            await asyncio.wait([draining])
            await stand.router.stop()
            assert await client.reader.read() == b""
            assert loop.time() - began == 10
            assert not stand.workers[0].lines.all

    run(main())
