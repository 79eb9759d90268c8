"""Probes of raw engines in virtual time: exact ends, one deadline."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from staticfire import clock, readiness
from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.readiness import Verdict


def probed(fake, *args, **kwargs):
    """The evidence of one probe, with the seconds that it took."""

    async def main():
        async with fake:
            start = clock.current().now()
            evidence = await readiness.probe(fake.url, *args, **kwargs)
            return evidence, clock.seconds(clock.current().now() - start)

    return run(main())


def test_an_answered_chat_is_serving(raw):
    """One list, one chat of two tokens to the model asked for."""
    fake = raw.Fake()
    evidence, took = probed(fake, "qwen")
    assert (evidence.verdict, evidence.models, took) == (Verdict.SERVING, ("qwen",), 0.0)
    listing, chat = fake.requests
    assert (listing.method, listing.path) == ("GET", "/v1/models")
    assert (chat.method, chat.path) == ("POST", "/v1/chat/completions")
    sent = json.loads(chat.body)
    assert (sent["model"], sent["max_tokens"], sent["stream"]) == ("qwen", 2, False)


def test_without_a_model_the_first_listed_one_is_asked(raw):
    """`model=None` proves the first of the list."""
    fake = raw.Fake(chat=raw.reply(200, raw.completion("a")), models=("a", "b"))
    evidence, _ = probed(fake)
    assert (evidence.verdict, evidence.model) == (Verdict.SERVING, "a")
    assert evidence.models == ("a", "b")


def test_an_embeddings_model_is_never_sent_chat(raw):
    """A model labelled so is asked on the embeddings route."""
    labelled = {"data": [{"id": "e", "labels": ["embeddings"]}]}
    fake = raw.Fake(models=raw.reply(200, labelled), chat=raw.reply(200, {"data": [{}]}))
    evidence, _ = probed(fake, "e")
    assert evidence.verdict is Verdict.SERVING
    assert fake.requests[1].path == "/v1/embeddings"
    assert "embeddings answered 200" in evidence.reason


def test_a_listed_model_that_hangs_is_listing_at_the_deadline(raw):
    """The deadline is over all of it, and what was learned by then is the verdict."""
    evidence, took = probed(raw.Fake(raw.silent), "qwen", deadline=8.0)
    assert (evidence.verdict, took) == (Verdict.LISTING, 8.0)
    assert "no whole answer within 8 s" in evidence.reason


def test_a_dribble_does_not_extend_the_deadline(raw):
    """A byte every 50 ms for ever ends at the deadline."""
    evidence, took = probed(raw.Fake(raw.dribble(0.05)), "qwen", deadline=0.5)
    assert (evidence.verdict, took) == (Verdict.LISTING, 0.5)


def test_event_comments_do_not_extend_the_deadline(raw):
    """SSE comments are bytes like others."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n:\n\n"
    evidence, took = probed(raw.Fake(raw.dribble(1.0, head)), "qwen", deadline=3.0)
    assert (evidence.verdict, took) == (Verdict.LISTING, 3.0)


def test_a_list_that_dribbles_costs_its_own_deadline(raw):
    """The list has 2 s; a known model's chat decides after that."""
    evidence, took = probed(raw.Fake(models=raw.dribble(0.05)), "qwen")
    assert (evidence.verdict, took) == (Verdict.SERVING, 2.0)


def test_an_engine_that_accepts_and_stays_silent_is_broken(raw):
    """Reached and never listed: broken at the one deadline, not twice of it."""
    evidence, took = probed(raw.Fake(raw.silent, models=raw.silent), "qwen", deadline=8.0)
    assert (evidence.verdict, took) == (Verdict.BROKEN, 8.0)


def test_a_deadline_within_the_lists_own(raw):
    """A deadline under 2 s holds for the list too."""
    evidence, took = probed(raw.Fake(models=raw.silent), "qwen", deadline=0.5)
    assert (evidence.verdict, took) == (Verdict.BROKEN, 0.5)


def test_a_held_open_socket_is_not_waited_for(raw):
    """A reply is whole by its length or its last chunk, whatever the socket does after it."""
    body = json.dumps(raw.completion()).encode()
    chunked = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x;ext\r\n%s\r\n0\r\nt: 1\r\n\r\n"
    )
    evidence, took = probed(raw.Fake(chunked % (len(body), body)), "qwen")
    assert (evidence.verdict, took) == (Verdict.SERVING, 0.0)


def test_a_reply_without_framing_ends_with_its_connection(raw):
    """EOF is a framing too."""
    body = b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(raw.completion()).encode()
    evidence, _ = probed(raw.Fake(raw.then_close(body)), "qwen")
    assert evidence.verdict is Verdict.SERVING


def test_a_truncated_body_is_broken(raw):
    """A body that ends before its length says so proves nothing, whatever the status."""
    cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"
    evidence, took = probed(raw.Fake(raw.then_close(cut)), "qwen")
    assert (evidence.verdict, took) == (Verdict.BROKEN, 0.0)


def test_an_interim_reply_is_passed_over(raw):
    """100, then 503: judged by the 503."""
    fake = raw.Fake(b"HTTP/1.1 100 Continue\r\n\r\n" + raw.reply(503, headers="retry-after: 7\r\n"))
    evidence, _ = probed(fake, "qwen")
    assert evidence.verdict is Verdict.BUSY
    assert evidence.retry_after == clock.ns(7)


def test_a_bodyless_reply_ends_at_once(raw):
    """204 held open: judged at once, and it is no completion."""
    evidence, took = probed(raw.Fake(b"HTTP/1.1 204 No Content\r\n\r\n"), "qwen")
    assert (evidence.verdict, took) == (Verdict.MISCONFIGURED, 0.0)


def test_an_endless_body_stops_at_the_cap(raw):
    """The size of a reply is capped."""
    settings = readiness.Settings(body_limit=1000)
    fake = raw.Fake(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000)
    evidence, took = probed(fake, "qwen", settings=settings)
    assert (evidence.verdict, took) == (Verdict.BROKEN, 0.0)


def test_garbage_is_broken(raw):
    """What is no HTTP is no answer."""
    evidence, _ = probed(raw.Fake(b"SSH-2.0-OpenSSH_9.6\r\n"), "qwen")
    assert evidence.verdict is Verdict.BROKEN


def test_another_model_on_the_port_is_told_with_both_names(raw):
    """A model that is not listed is never sent a chat; the reason has what is listed."""
    fake = raw.Fake(models=("qwem", "phi"))
    evidence, _ = probed(fake, "qwen")
    assert evidence.verdict is Verdict.MISCONFIGURED
    assert evidence.reason == 'qwen is not listed; listed: qwem, phi; did you mean "qwem"?'
    assert fake.at("POST") == []


def test_an_unlisted_alias_passes_under_answered(raw):
    """`answered` does not look at names: the chat of an alias that no list has is asked."""
    evidence, _ = probed(raw.Fake(), "alias", accept="answered")
    assert evidence.verdict is Verdict.SERVING


def test_an_empty_list_is_not_there_yet(raw):
    """An engine that lists nothing is reached, and nothing is asked of it."""
    fake = raw.Fake(models=())
    evidence, _ = probed(fake, "qwen")
    assert (evidence.verdict, evidence.named) == (Verdict.BROKEN, False)
    assert fake.at("POST") == []


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(503, Verdict.BUSY), (500, Verdict.BROKEN), (401, Verdict.MISCONFIGURED)],
)
def test_a_list_that_is_refused_is_judged_by_its_status(raw, status, verdict):
    """llama.cpp answers 503 to the list while it loads: busy, not broken."""
    evidence, _ = probed(raw.Fake(models=raw.reply(status)))
    assert evidence.verdict is verdict
    assert str(status) in evidence.reason


def test_a_refused_port_is_unreachable_at_once():
    """Nothing listens: no deadline is spent."""

    async def main():
        with socket.socket() as owner:
            owner.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{owner.getsockname()[1]}"
            return await readiness.probe(url, "qwen")

    evidence = run(main())
    assert evidence.verdict is Verdict.UNREACHABLE
    assert evidence.refused
    assert "127.0.0.1" not in evidence.reason


def test_a_connect_that_is_swallowed_is_unreachable_at_the_deadline(raw):
    """One deadline covers the connect."""

    async def main():
        async with raw.Fake() as fake:
            loop = asyncio.get_running_loop()
            loop.swallow(("127.0.0.1", fake.port))
            evidence = await readiness.probe(fake.url, "qwen", deadline=5.0)
            return evidence, loop.time()

    evidence, took = run(main())
    assert evidence.verdict is Verdict.UNREACHABLE
    assert not evidence.refused
    assert took == 2.0  # the list's own deadline; a chat would not connect either


def test_every_address_of_a_host_is_tried(raw):
    """A name may be ::1 first, with the engine on 127.0.0.1 only."""

    async def main():
        async with raw.Fake() as fake:
            loop = asyncio.get_running_loop()
            both = [
                (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", fake.port, 0, 0)),
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", fake.port)),
            ]

            async def resolve(*_, **__):
                return both

            loop.getaddrinfo = resolve
            return await readiness.probe(f"http://localhost:{fake.port}", "qwen")

    assert run(main()).verdict is Verdict.SERVING


@pytest.mark.parametrize("hosts", [("127.0.0.1",), ("127.0.0.1", "127.0.0.2")])
def test_refused_means_refused_by_every_address(hosts):
    """A host of several addresses that all refuse is a refused port, as one that refuses is."""

    async def main():
        with socket.socket() as owner:
            owner.bind(("", 0))
            port = owner.getsockname()[1]
            rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in hosts]

            async def resolve(*_, **__):
                return rows

            asyncio.get_running_loop().getaddrinfo = resolve
            return await readiness.probe(f"http://engine.test:{port}", "qwen")

    evidence = run(main())
    assert evidence.refused
    assert evidence.reason == "connection refused"


def test_a_probe_leaves_no_connection(raw):
    """Both of its connections are closed when it returns, also those the engine holds open."""

    async def main():
        async with raw.Fake() as fake:
            await readiness.probe(fake.url, "qwen")
            await asyncio.sleep(0.001)
            return len(fake.requests), len(fake.transports)

    assert run(main()) == (2, 0)


def test_a_resolver_that_hangs_is_within_the_deadline(monkeypatch):
    """One deadline covers the name lookup."""

    async def main():
        loop = asyncio.get_running_loop()

        async def resolve(*_, **__):
            await loop.create_future()

        loop.getaddrinfo = resolve
        evidence = await readiness.probe("http://engine.test:80", "qwen", deadline=1.5)
        return evidence, loop.time()

    evidence, took = run(main())
    assert (evidence.verdict, took) == (Verdict.UNREACHABLE, 1.5)


def test_a_base_url_with_v1_is_understood(raw):
    """Clients are configured with .../v1; the same URL works here."""

    async def main():
        async with raw.Fake() as fake:
            evidence = await readiness.probe(f"{fake.url}/v1/", "qwen")
            return evidence, [r.path for r in fake.requests]

    evidence, paths = run(main())
    assert evidence.verdict is Verdict.SERVING
    assert paths == ["/v1/models", "/v1/chat/completions"]


def test_headers_go_to_both_requests_and_into_no_reason(raw):
    """A key is sent on list and chat, and never shown."""
    fake = raw.Fake(chat=raw.reply(401))
    evidence, _ = probed(fake, "qwen", headers=((b"authorization", b"Bearer s3cret"),))
    assert evidence.verdict is Verdict.MISCONFIGURED
    assert "s3cret" not in evidence.reason
    assert all(b"Bearer s3cret" in r.head for r in fake.requests)


def test_a_url_that_is_none_is_an_error():
    """Before anything is sent."""
    with pytest.raises(WrongInput):
        run(readiness.probe("127.0.0.1:80"))
