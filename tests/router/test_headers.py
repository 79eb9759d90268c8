"""Which headers pass the router, and which are its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from staticfire import wire
from staticfire.router.headers import ALLOWED, Headers


def asked(*headers):
    return wire.Request(b"POST", b"/v1/chat/completions", "1.1", headers, b"{}", keep=True)


def worker(key=None):
    address = SimpleNamespace(base="/engine")
    return SimpleNamespace(id="w03", key=key, authority=b"10.0.0.7:8000", address=address)


def passed(rules, *headers, key=None):
    """What a worker gets of a client's headers, ours left out."""
    passage = rules.passage(asked(*headers), b"/v1/chat/completions", 0)
    found = rules.to_worker(passage, worker(key))
    return [header for header in found if header[0] not in (b"via", b"x-request-id")]


def returned(*headers):
    """What a client gets of a worker's headers, ours left out."""
    rules = Headers()
    passage = rules.passage(asked(), b"/", 0)
    head = wire.Head(200, headers, "length", 0)
    ours = (
        b"x-request-id",
        b"x-staticfire-worker",
        b"x-staticfire-attempts",
        b"x-staticfire-choice",
    )
    return [one for one in rules.to_client(head, passage, worker()) if one[0] not in ours]


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_what_engines_have_a_use_for_passes(name):
    """A name on the list passes in its own spelling, with its value to the letter."""
    header = (name.title().encode(), b"a,  b")
    assert passed(Headers(), header) == [header]


@pytest.mark.parametrize(
    "name",
    [
        b"Cookie", b"X-Forwarded-For", b"X-Real-IP", b"Forwarded", b"X-Data-Parallel-Rank", b"Host",
        b"Content-Length", b"Expect", b"Transfer-Encoding", b"TE", b"Keep-Alive", b"Upgrade",
        b"Proxy-Authorization", b"X-Anything", b"X-Staticfire-Worker",
    ],
)  # fmt: skip
def test_the_rest_stays(name):
    """What nobody let through does not reach an engine, the client's address first of all."""
    assert passed(Headers(), (name, b"1")) == []


def test_a_setting_lets_more_through():
    """By name or by prefix, in any case; what is never let through stays out."""
    rules = Headers(forward=["X-One", "x-my-*", "cookie"], session="X-Chat")
    got = passed(rules, (b"x-ONE", b"1"), (b"X-My-Two", b"2"), (b"x-chat", b"3"), (b"Cookie", b"4"))
    assert got == [(b"x-ONE", b"1"), (b"X-My-Two", b"2"), (b"x-chat", b"3")]


def test_named_by_connection():
    """A header that Connection names is of the connection, also one that would pass (RFC 9110 7.6.1)."""
    named = (b"Connection", b"close, Baggage")
    assert passed(Headers(), named, (b"baggage", b"1"), (b"Accept", b"a")) == [(b"Accept", b"a")]
    assert returned(named, (b"Baggage", b"1"), (b"X-A", b"a")) == [(b"X-A", b"a")]


def test_a_workers_key_replaces_the_clients():
    """Exactly one credential goes out: the worker's, of whatever kind the client's is (B113)."""
    theirs = ((b"Authorization", b"Bearer c"), (b"X-Api-Key", b"c"))
    assert passed(Headers(), *theirs, key="w") == [(b"authorization", b"Bearer w")]


def test_the_clients_key_passes_where_nobody_else_has_one():
    """Without a key of the worker's or of ours the client's own passes unchanged (B112)."""
    theirs = ((b"Authorization", b"Bearer c"), (b"X-Api-Key", b"c"))
    assert passed(Headers(), *theirs) == [*theirs]
    assert passed(Headers(keep_credentials=False), *theirs) == []


def test_attempts_start_from_the_same_request():
    """What one worker got leaves no trace in what the next one gets (B025)."""
    rules = Headers()
    passage = rules.passage(asked((b"Accept", b"a")), b"/", 0)
    assert (b"authorization", b"Bearer a") in rules.to_worker(passage, worker("a"))
    second = rules.to_worker(passage, worker("b"))
    assert [value for name, value in second if name == b"authorization"] == [b"Bearer b"]


def test_a_requests_id_is_kept():
    """The first name of the setting that is there wins; the worker gets it as X-Request-Id."""
    rules = Headers(id_names=["x-trace", "x-request-id"])
    passage = rules.passage(asked((b"X-Request-Id", b"r"), (b"X-Trace", b"t")), b"/", 0)
    assert passage.id == b"t"
    sent = rules.to_worker(passage, worker())
    assert [one for one in sent if one[0].lower() in (b"x-request-id", b"x-trace")] == [
        (b"x-request-id", b"t")
    ]


@pytest.mark.parametrize("value", [b"", b"a b", b"x" * 129, b"\xe9", b"a\tb", None])
def test_an_id_is_made_where_there_is_none(value):
    """Also for one that could forge a log line; ids differ and have one length."""
    rules = Headers()
    headers = () if value is None else ((b"x-request-id", value),)
    made = [rules.passage(asked(*headers), b"/", 0).id for _ in range(3)]
    assert len(set(made)) == 3
    assert {len(one) for one in made} == {24}


def test_two_routers_make_different_ids():
    """An id names one request in the logs of a whole fleet."""
    one, two = (Headers().passage(asked(), b"/", 0).id for _ in range(2))
    assert one != two


def test_everything_else_comes_back():
    """Repeated headers keep their number and order; encodings are those of the bytes (B109)."""
    theirs = ((b"Set-Cookie", b"a"), (b"Content-Encoding", b"gzip"), (b"set-cookie", b"b"))
    assert returned(*theirs) == [*theirs]


@pytest.mark.parametrize(
    "header",
    [
        (b"Location", b"http://inside/v1"),
        (b"Location", b"//inside/v1"),
        (b"Location", b"/\\inside"),
        (b"Alt-Svc", b'h2=":8000"'),
        (b"X-Served-By", b"http://10.0.0.7:8000/"),
        (b"X-Staticfire-Error", b"forged"),
        (b"X-Staticfire-Worker", b"w99"),
        (b"Keep-Alive", b"timeout=5"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Content-Length", b"3"),
        (b"X-Request-Id", b"another"),
    ],
)
def test_what_does_not_come_back(header):
    """What leads past the router, what is of one connection, what only the router says (B127, B139)."""
    assert returned(header) == []


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (b"/v1/files/1", b"/v1/files/1"),
        (b"http://10.0.0.7:8000/v1/files/1", b"/v1/files/1"),
        (b"http://10.0.0.7:8000/engine/v1/files/1", b"/v1/files/1"),
        (b"/engine/v1/files/1", b"/v1/files/1"),
        (b"http://10.0.0.7:8000", b"/"),
        (b"http://10.0.0.7:80001/x", None),
        (b"http://10.0.0.7:8000@inside/x", None),
        (b"http://10.0.0.7:8000//inside/x", None),
    ],
)
def test_a_location_leads_here_or_nowhere(theirs, ours):
    """An engine's own address becomes ours; what leads elsewhere is left out (B139)."""
    assert returned((b"Location", theirs)) == ([] if ours is None else [(b"Location", ours)])


def test_the_router_says_who_answered():
    """The id of the request, the opaque name of the worker, how many attempts it took, why it was chosen."""
    rules = Headers()
    passage = rules.passage(asked((b"x-request-id", b"r1")), b"/", 0)
    passage.attempts, passage.why = 2, "home"
    told = dict(rules.to_client(wire.Head(200, (), "none", None), passage, worker()))
    assert told == {
        b"x-request-id": b"r1", b"x-staticfire-worker": b"w03", b"x-staticfire-attempts": b"2",
        b"x-staticfire-choice": b"home",
    }  # fmt: skip


def test_made_up_names_fill_no_memory():
    """Names are judged once for each spelling, up to a limit."""
    rules = Headers()
    for number in range(5000):
        rules.passage(asked((b"x-%d" % number, b"")), b"/", 0)
    assert len(rules._asked) <= 2048
    assert passed(rules, (b"Accept", b"a")) == [(b"Accept", b"a")]
