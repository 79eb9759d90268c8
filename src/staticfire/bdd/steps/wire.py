"""Steps of the wire: connections that are kept, keys, ids, and what exactly arrived."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from staticfire.bdd.step import then, when
from staticfire.bdd.steps.answers import promise
from staticfire.bdd.steps.client import ask, streams
from staticfire.bdd.world import World
from staticfire.clock import NS
from staticfire.engine import Redirects, Rule
from staticfire.errors import WrongStep, did_you_mean
from staticfire.judge import Answer, Connection, Judge, chat_body

CHAT = "/v1/chat/completions"
BODIES: dict[str, Callable[[Answer], bool]] = {
    "empty": lambda answer: not answer.body,
    "HTML": lambda answer: (answer.header("content-type") or "").startswith("text/html"),
    "no JSON": lambda answer: bool(answer.body) and not answer.objects,
    "no UTF-8": lambda answer: not answer.utf8,
}


@when(
    'a {kind} request is sent to engine "{name}" on connection "{kept}"',
    example='a JSON request is sent to engine "a" on connection "kept"',
)
async def _(world: World, kind: str, name: str, kept: str) -> None:
    """One chat request on a connection that is kept open between requests, as a pool does."""
    url = world.engine(name).url
    await ask(world, kind, url, on=_kept(world, world.judge(url), kept))


def _kept(world: World, judge: Judge, name: str) -> Connection:
    """The connection of that name in this scenario, made when it is first used."""
    key = f"connection {name}"
    if key not in world.facts:
        connection = world.facts[key] = judge.connection()

        async def close() -> None:
            connection.close()

        world.defer(close)
    found: Connection = world.facts[key]
    return found


@when(
    'a {kind} request with the key "{key}" is sent to engine "{name}"',
    example='a JSON request with the key "secret" is sent to engine "a"',
)
async def _(world: World, kind: str, key: str, name: str) -> None:
    """One chat request with a bearer token."""
    await _chat(world, name, kind, ("Authorization", f"Bearer {key}"))


@when(
    'a {kind} request with the id "{request_id}" is sent to engine "{name}" and its client leaves '
    "after {seconds:g} seconds",
    example='a JSON request with the id "r1" is sent to engine "a" and its client leaves after '
    "1 seconds",
)
async def _(world: World, kind: str, request_id: str, name: str, seconds: float) -> None:
    """One chat request that says who it is, by a client that leaves."""
    await _chat(world, name, kind, ("X-Request-Id", request_id), seconds)


async def _chat(
    world: World, name: str, kind: str, header: tuple[str, str], deadline: float = 60.0
) -> Answer:
    return await world.judge(world.engine(name).url).ask(
        "POST",
        CHAT,
        headers=[("Content-Type", "application/json"), header],
        body=chat_body(world.model, stream=streams(kind)),
        deadline=deadline,
    )


@when(
    'the request with the id "{request_id}" is aborted at engine "{name}"',
    example='the request with the id "r1" is aborted at engine "a"',
)
async def _(world: World, request_id: str, name: str) -> None:
    """`POST /abort_request`, as SGLang takes it."""
    await world.judge(world.engine(name).url).ask(
        "POST",
        "/abort_request",
        headers=[("Content-Type", "application/json")],
        body=json.dumps({"rid": request_id}).encode(),
    )


@when(
    'chat of engine "{name}" is redirected to engine "{other}"',
    example='chat of engine "a" is redirected to engine "b"',
)
async def _(world: World, name: str, other: str) -> None:
    """A redirect to the other engine's address, which a scenario cannot name."""
    world.mock(name).add_rule(Rule("chat", Redirects(f"{world.engine(other).url}{CHAT}")))


@then('the answer to request "{name}" is {end}', example='the answer to request "slow" is cut')
async def _(world: World, name: str, end: str) -> None:
    """How the answer to a request that was on its way ended, as in `the answer is whole`."""
    answer: Answer = await world.facts[f"request {name}"]
    promise(answer.end == end, f"an answer that is {end}", answer)


@then('the judge notes "{words}"', example='the judge notes "RFC 9112, 6.2"')
def _(world: World, words: str) -> None:
    """A note on the answer's framing, or what is said about its end, has these words."""
    answer = world.answer
    told = [*answer.notes, answer.detail]
    promise(any(words in one for one in told), f"a note {words!r} (found {told})", answer)


@then('the head has the line "{line}"', example='the head has the line "HTTP/1.1 200 OK"')
def _(world: World, line: str) -> None:
    """One line of the raw head, to the letter."""
    lines = world.answer.head.decode("latin-1").split("\r\n")
    promise(line in lines, f"the line {line!r} in the head {lines[:6]}", world.answer)


@then("the head has more than {count:d} lines", example="the head has more than 200 lines")
def _(world: World, count: int) -> None:
    """A head of many fields."""
    found = world.answer.head.count(b"\r\n")
    promise(found > count, f"more than {count} lines of head (found {found})", world.answer)


@then("the head has more than {count:d} bytes", example="the head has more than 100 bytes")
def _(world: World, count: int) -> None:
    """A long head."""
    found = len(world.answer.head)
    promise(found > count, f"more than {count} bytes of head (found {found})", world.answer)


@then("the interim answers were {statuses}", example="the interim answers were 100, 103")
def _(world: World, statuses: str) -> None:
    """The statuses of every 1xx that came before the answer, in their order."""
    found = ", ".join(map(str, world.answer.interim))
    promise(
        found == statuses, f"interim answers {statuses} (found {found or 'none'})", world.answer
    )


@then(
    'the answer has trailer "{name}" with "{value}"',
    example='the answer has trailer "x-checksum" with "0"',
)
def _(world: World, name: str, value: str) -> None:
    """A field after the last chunk, to the letter."""
    found = world.answer.trailers
    promise((name, value) in found, f"trailer {name}: {value} (found {found})", world.answer)


@then("the body is {what}", example="the body is no JSON")
def _(world: World, what: str) -> None:
    """Of what use it is: empty, HTML, no JSON, no UTF-8."""
    if what not in BODIES:
        raise WrongStep(f"a body is not {what!r}; {did_you_mean(what, BODIES)}")
    promise(BODIES[what](world.answer), f"a body that is {what}", world.answer)


@then("the body begins with the bytes {digits}", example="the body begins with the bytes EF BB BF")
def _(world: World, digits: str) -> None:
    """Its first bytes, in hexadecimal."""
    wanted = bytes.fromhex(digits)
    found = world.answer.body[: len(wanted)]
    promise(found == wanted, f"{digits} first (found {found.hex(' ')})", world.answer)


@then("the body ends with the bytes {digits}", example="the body ends with the bytes 0D 0A 0D 0A")
def _(world: World, digits: str) -> None:
    """Its last bytes, in hexadecimal."""
    wanted = bytes.fromhex(digits)
    found = world.answer.body[-len(wanted) :]
    promise(found == wanted, f"{digits} last (found {found.hex(' ')})", world.answer)


@then(
    "the body came in pieces of {size:d} bytes at once",
    example="the body came in pieces of 1 bytes at once",
)
def _(world: World, size: int) -> None:
    """No time passed between them, and only the last may be shorter."""
    pieces = world.answer.pieces
    sizes = {count for _, count in pieces[:-1]}
    late = (pieces[-1][0] - pieces[0][0]) / NS > 0.001 if pieces else True
    kept = len(pieces) > 1 and sizes == {size} and not late
    promise(kept, f"{size} bytes at a time, at once (sizes {sorted(sizes)})", world.answer)


@then("the body has more than {count:d} bytes", example="the body has more than 1000 bytes")
def _(world: World, count: int) -> None:
    """A long body."""
    found = len(world.answer.body)
    promise(found > count, f"more than {count} bytes (found {found})", world.answer)


@then("the line ends of the stream are {ends}", example="the line ends of the stream are LF")
def _(world: World, ends: str) -> None:
    """Which line ends occur: CR, LF, CRLF, several joined by commas."""
    names = {b"\r": "CR", b"\n": "LF", b"\r\n": "CRLF"}
    found = {names[end] for end in re.findall(rb"\r\n|\r|\n", world.answer.body)}
    kept = found == {end.strip() for end in ends.split(",")}
    promise(kept, f"the line ends {ends} (found {', '.join(sorted(found))})", world.answer)


@then(
    '{count:d} lines of the stream begin with "{start}"',
    example='9 lines of the stream begin with "data: "',
)
def _(world: World, count: int, start: str) -> None:
    """How many lines of the body begin so."""
    found = sum(line.startswith(start.encode()) for line in world.answer.body.splitlines())
    promise(found == count, f"{count} lines {start!r} (found {found})", world.answer)


@then(
    "the stream says [DONE] {count:d} times",
    example="the stream says [DONE] 2 times",
)
def _(world: World, count: int) -> None:
    """How often the end mark came."""
    found = world.answer.events.count("[DONE]")
    promise(found == count, f"[DONE] {count} times (found {found})", world.answer)


@then("{count:d} comments came", example="3 comments came")
def _(world: World, count: int) -> None:
    """How many comment lines the stream has."""
    found = world.answer.comments
    promise(found == count, f"{count} comments (found {found})", world.answer)


@then('the answer names the model "{model}"', example='the answer names the model "qwen"')
def _(world: World, model: str) -> None:
    """The model that its JSON, or every event of it, names."""
    found = {value.get("model") for value in world.answer.objects}
    promise(found == {model}, f"an answer of {model!r} (found {found})", world.answer)


@then("{count:d} events are no JSON", example="1 events are no JSON")
def _(world: World, count: int) -> None:
    """Events that came whole and are neither JSON nor [DONE]."""
    answer = world.answer
    found = len([event for event in answer.events if event != "[DONE]"]) - len(answer.objects)
    promise(found == count, f"{count} events that are no JSON (found {found})", answer)


@then("no event has a finish reason", example="no event has a finish reason")
def _(world: World) -> None:
    """The stream never says why it stopped."""
    choices = [c for value in world.answer.objects for c in value.get("choices") or []]
    reasons = {choice.get("finish_reason") for choice in choices} - {None}
    promise(bool(choices) and not reasons, f"no finish reason (found {reasons})", world.answer)


@then(
    'the location is the address of engine "{name}" and "{path}"',
    example='the location is the address of engine "a" and "/v1"',
)
def _(world: World, name: str, path: str) -> None:
    """A redirect to a path of that engine."""
    wanted = f"{world.engine(name).url}{path}"
    found = world.answer.header("location")
    promise(found == wanted, f"the location {wanted} (found {found})", world.answer)


@then('the answer says "{words}"', example='the answer says "ready"')
def _(world: World, words: str) -> None:
    """Words of the model."""
    promise(words in world.answer.text, f"an answer that says {words!r}", world.answer)
