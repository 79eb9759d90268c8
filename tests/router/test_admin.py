"""The fleet, told and changed while requests run."""

from __future__ import annotations

import asyncio
import json

import pytest

from staticfire.clock.virtual import run


async def call(client, method, path=b"/workers", body=None, *lines):
    """One admin request from this machine: status, headers, JSON."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    status, headers, text = await client.ask(
        data, *lines, path=path, method=method, host=b"127.0.0.1"
    )
    return status, headers, json.loads(text) if text else None


def test_a_worker_is_added_and_serves(raw):
    """202 with its id; requests reach it once it serves; its URL is told to who may change."""

    async def main():
        async with raw.stand(raw.Worker()) as stand:
            client = await stand.connect()
            late = await raw.Worker(models=("llama",)).start()
            status, _, shown = await call(client, b"POST", body={"url": late.url})
            assert (status, shown["id"], shown["url"]) == (202, "w01", late.url)
            assert not shown["serving"]
            await asyncio.sleep(1.5)
            assert (await client.ask(b'{"model":"llama"}'))[0] == 200
            assert len(late.seen) == 1
            status, _, shown = await call(client, b"GET", b"/workers/w01")
            assert (status, shown["serving"], shown["models"]) == (200, True, ["llama"])
            await late.stop()

    run(main())


def test_a_worker_is_removed_and_its_request_ends(raw):
    """Nothing new reaches it, checks stop, what is under way is answered, its id is never reused."""

    async def main():
        released = asyncio.Event()

        async def chat(_reader, writer):
            await released.wait()
            writer.write(raw.whole(200))

        first, second = raw.Worker(chat=chat), raw.Worker()
        async with raw.stand(first, second) as stand:
            client, slow = await stand.connect(), await stand.connect()
            slow.send()
            await asyncio.sleep(0.1)
            assert (await call(client, b"DELETE", b"/workers/w00"))[0] == 200
            listings = first.connections
            for _ in range(4):
                assert (await client.ask())[0] == 200
            assert (len(first.seen), len(second.seen)) == (1, 4)
            await asyncio.sleep(30)
            assert first.connections == listings
            page = (await client.ask(path=b"/metrics", method=b"GET"))[2]
            assert b'worker="w00"' not in page
            released.set()
            assert (await slow.head())[0] == 200
            assert (await call(client, b"GET", b"/workers/w00"))[0] == 404
            assert (await call(client, b"POST", body={"url": first.url}))[2]["id"] == "w02"

    run(main())


def test_a_draining_worker_gets_nothing_new(raw):
    """PATCH draining takes a worker out without a check's delay, and brings it back (B097)."""

    async def main():
        first, second = raw.Worker(), raw.Worker()
        async with raw.stand(first, second) as stand:
            client = await stand.connect()
            status, _, shown = await call(client, b"PATCH", b"/workers/w00", {"draining": True})
            assert (status, shown["draining"], shown["standing"]) == (200, True, "out")
            for _ in range(4):
                await client.ask()
            assert (len(first.seen), len(second.seen)) == (0, 4)
            await call(client, b"PATCH", b"/workers/w01", {"draining": True})
            status, headers, _ = await client.ask()
            assert (status, headers[b"x-staticfire-error"]) == (503, b"workers_draining")
            assert (await client.ask(path=b"/readiness", method=b"GET"))[0] == 503
            await call(client, b"PATCH", b"/workers/w00", {"draining": False})
            assert (await client.ask())[0] == 200
            assert len(first.seen) == 1

    run(main())


def test_a_list_replaces_the_fleet(raw):
    """PUT removes who is not in it, adds who is new; who stays keeps its id and state (B088, B098)."""

    async def main():
        stays, goes, comes = raw.Worker(), raw.Worker(), await raw.Worker().start()
        async with raw.stand(stays, goes) as stand:
            client = await stand.connect()
            fleet = {"workers": [{"url": stays.url}, {"url": comes.url}]}
            status, _, shown = await call(client, b"PUT", body=fleet)
            assert status == 200
            assert [(one["id"], one["serving"]) for one in shown["workers"]] == [
                ("w00", True), ("w02", False),
            ]  # fmt: skip
            await asyncio.sleep(1.5)
            for _ in range(4):
                assert (await client.ask())[0] == 200
            assert (len(stays.seen), len(goes.seen), len(comes.seen)) == (2, 0, 2)
            await comes.stop()

    run(main())


def test_no_key_of_ours_goes_to_a_worker_added_at_run_time(raw):
    """A configured worker is asked with the default key; one that came later with its own (B137)."""

    async def main():
        first, later = raw.Worker(), await raw.Worker(models=("llama",)).start()
        async with raw.stand(first, worker_api_key="ours") as stand:
            client = await stand.connect()
            await call(client, b"POST", body={"url": later.url})
            await asyncio.sleep(1.5)
            await client.ask()
            await client.ask(b'{"model":"llama"}')
            assert b"Bearer ours" in first.seen[0][0]
            assert b"ours" not in later.seen[0][0]
            await later.stop()

    run(main())


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        (b"POST", b"/workers", b"{", 400, "invalid_request"),
        (b"POST", b"/workers", {"url": "ftp://x"}, 400, "invalid_request"),
        (b"POST", b"/workers", {"url": "http://x:1", "prio": 1}, 400, "invalid_request"),
        (b"POST", b"/workers", {"url": "http://x:1", "api_key": "a\nb"}, 400, "invalid_request"),
        (b"PUT", b"/workers", {"workers": ["x"]}, 400, "invalid_request"),
        (b"PATCH", b"/workers/w00", {"draining": "yes"}, 400, "invalid_request"),
        (b"PATCH", b"/workers/w07", {"draining": True}, 404, "worker_not_found"),
        (b"GET", b"/workers/w07", None, 404, "worker_not_found"),
        (b"PATCH", b"/workers", {}, 405, "method_not_allowed"),
        (b"POST", b"/workers/w00", {}, 405, "method_not_allowed"),
    ],
)
def test_what_does_not_fit_is_refused(raw, method, path, body, status, code):
    """A wrong request changes nothing, and says what is wrong in the usual shape."""

    async def main():
        async with raw.stand(raw.Worker()) as stand:
            client = await stand.connect()
            found, headers, shown = await call(client, method, path, body)
            assert (found, headers[b"x-staticfire-error"].decode()) == (status, code)
            assert shown["error"]["code"] == code
            assert len(stand.router.workers) == 1
            assert (await client.ask())[0] == 200

    run(main())


def test_a_url_stands_for_one_worker(raw):
    """The same URL again is refused with the id that has it, however it is spelled."""

    async def main():
        worker = raw.Worker()
        async with raw.stand(worker) as stand:
            client = await stand.connect()
            status, _, shown = await call(client, b"POST", body={"url": worker.url + "/"})
            assert (status, shown["error"]["code"]) == (409, "worker_exists")
            assert "w00" in shown["error"]["message"]

    run(main())


def test_who_may_not_change_the_fleet_sees_no_address(raw):
    """With an admin key, whoever lacks it is told no URL and changes nothing."""

    async def main():
        async with raw.stand(raw.Worker(), admin_api_keys=("secret",)) as stand:
            client = await stand.connect()
            shown = (await call(client, b"GET"))[2]["workers"][0]
            assert "url" not in shown
            assert (await call(client, b"DELETE", b"/workers/w00"))[0] == 401
            key = b"authorization: Bearer secret"
            assert "url" in (await call(client, b"GET", b"/workers", None, key))[2]["workers"][0]
            assert (await call(client, b"DELETE", b"/workers/w00", None, key))[0] == 200

    run(main())
