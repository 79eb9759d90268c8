"""Who may ask what."""

from __future__ import annotations

import pytest

from staticfire import wire
from staticfire.router.access import OPEN, ROUTES, Access, Keys

CHAT = b"/v1/chat/completions"
OWN = (*OPEN, b"/v1/models", b"/workers")


def asked(path=CHAT, method=b"POST", *headers):
    host = (
        () if any(name.lower() == b"host" for name, _ in headers) else ((b"Host", b"localhost:1"),)
    )
    return wire.Request(method, path, "1.1", (*host, *headers), b"", keep=True)


def bearer(key):
    return b"Authorization", b"Bearer " + key


def status(access, path=CHAT, method=b"POST", *headers):
    failure = access.refused(path, asked(path, method, *headers), OWN)
    return None if failure is None else failure.status


@pytest.mark.parametrize("path", sorted(ROUTES))
def test_without_keys_everybody_may_ask(path):
    """No key is configured: none is asked for, and one that comes is the worker's affair."""
    assert status(Access(), path) is None
    assert status(Access(), path, b"POST", bearer(b"any")) is None


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ((), 401),
        ((bearer(b"wrong"),), 401),
        ((bearer(b""),), 401),
        ((bearer(b"on"),), 401),
        (((b"Authorization", b"Basic one"),), 401),
        (((b"Authorization", b"one"),), 401),
        ((bearer(b"one"),), None),
        ((bearer(b"two"),), None),
        ((bearer(b"boss"),), None),
        (((b"authorization", b"bearer  two "),), None),
        (((b"X-Api-Key", b"one"),), None),
        ((bearer(b"wrong"), (b"x-api-key", b"one")), 401),
    ],
)
def test_with_keys_one_must_be_brought(headers, said):
    """Any of them, or an admin's, as OpenAI's or as Anthropic's clients bring it."""
    access = Access(("one", "two"), ("boss",))
    assert status(access, CHAT, b"POST", *headers) == said
    assert status(access, b"/v1/models", b"GET", *headers) == said
    assert status(access, b"/workers", b"GET", *headers) == said


@pytest.mark.parametrize("path", sorted(OPEN))
def test_balancers_and_scrapers_need_no_key(path):
    """Health, readiness and metrics are open."""
    assert status(Access(("one",)), path, b"GET") is None


def test_a_401_says_how_and_shows_no_key():
    """WWW-Authenticate is there (RFC 9110 11.6.1); no key is, neither ours nor theirs."""
    for headers in ((), (bearer(b"theirs"),)):
        failure = Access(("ours-1",)).refused(CHAT, asked(CHAT, b"POST", *headers), ())
        assert dict(failure.headers)[b"www-authenticate"].startswith(b"Bearer")
        assert failure.code == "invalid_api_key"
        assert not any(secret in failure.body for secret in (b"ours-1", b"theirs"))


@pytest.mark.parametrize(
    ("path", "method", "said", "allow"),
    [
        (b"/nix", b"GET", 404, None),
        (CHAT, b"GET", 405, b"POST"),
        (b"/health", b"POST", 405, b"GET, HEAD"),
        (b"/health", b"HEAD", None, None),
    ],
)
def test_paths_and_methods(path, method, said, allow):
    """What is not there is 404, with or without a key; a wrong method names the right ones."""
    for access in (Access(), Access(("one",))):
        failure = access.refused(path, asked(path, method), OWN)
        assert (failure and failure.status) == said
        assert failure is None or dict(failure.headers).get(b"allow") == allow


@pytest.mark.parametrize(
    ("peer", "headers", "may"),
    [
        ("127.0.0.1", (), True),
        ("127.9.9.9", (), True),
        ("::1", ((b"Host", b"[::1]:30000"),), True),
        ("::ffff:127.0.0.1", (), True),
        ("127.0.0.1", ((b"host", b"127.0.0.1"),), True),
        ("10.0.0.5", (), False),
        ("::ffff:10.0.0.5", (), False),
        ("", (), False),
        ("127.0.0.1", ((b"Host", b"router.example:30000"),), False),
        ("127.0.0.1", ((b"Host", b"localhost.example"),), False),
        ("127.0.0.1", ((b"X-Forwarded-For", b"1.2.3.4"),), False),
        ("127.0.0.1", ((b"Via", b"1.1 proxy"),), False),
        ("127.0.0.1", ((b"Origin", b"http://localhost:30000"),), False),
        ("127.0.0.1", ((b"sec-fetch-site", b"none"),), False),
    ],
)
def test_without_an_admin_key_the_fleet_is_changed_from_here(peer, headers, may):
    """From this machine and directly: a proxy or a browser on it asks for others."""
    failure = Access().not_admin(asked(b"/workers", b"POST", *headers), peer)
    assert (failure is None) is may
    assert failure is None or (failure.status, failure.code) == (403, "admin_off")


def test_with_an_admin_key_only_who_has_it():
    """Neither this machine nor a client's key opens it then."""
    access = Access(("one",), ("boss",))
    for headers, may in (((), False), ((bearer(b"one"),), False), ((bearer(b"boss"),), True)):
        failure = access.not_admin(asked(b"/workers", b"POST", *headers), "127.0.0.1")
        assert (failure is None) is may
        assert failure is None or failure.status == 401


def test_every_key_is_compared(monkeypatch):
    """Which one it is, and whether the first bytes fit, makes no difference in time."""
    seen = []
    monkeypatch.setattr(
        "staticfire.router.access.hmac.compare_digest", lambda a, b: seen.append(a) or a == b
    )
    keys = Keys(("one", "two", "three"))
    assert [keys.hold(b"one"), keys.hold(b"three"), keys.hold(b"x" * 1000), keys.hold(None)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert len(seen) == 12
    assert {len(digest) for digest in seen} == {32}
