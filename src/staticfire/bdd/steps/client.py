"""Steps of a client: what it asks, what it gets."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

from staticfire.bdd.step import then, when
from staticfire.bdd.world import MODEL, World
from staticfire.clock import NS
from staticfire.errors import BrokenPromise, did_you_mean
from staticfire.judge import Answer, End

KINDS = {"JSON": False, "streaming": True}
ENDS = {str(end): end for end in End}


def streams(kind: str) -> bool:
    """Whether a request of this kind streams; raises ValueError for a word that is no kind."""
    if kind not in KINDS:
        raise ValueError(f"a request is JSON or streaming, not {kind!r}")
    return KINDS[kind]


def promise(kept: bool, expected: str, answer: Answer | list[Answer]) -> None:
    """Raise `BrokenPromise` with what came instead, unless the promise was kept."""
    if not kept:
        answers = answer if isinstance(answer, list) else [answer]
        came = "\n  ".join(str(one) for one in answers[-12:])
        raise BrokenPromise(f"expected {expected}; came:\n  {came}")


async def ask(world: World, kind: str, url: str | None = None, **more: Any) -> Answer:
    """One chat request of a kind."""
    return await world.judge(url).chat(MODEL, stream=streams(kind), **more)


@when("a {kind} request is sent", example="a JSON request is sent")
async def _(world: World, kind: str) -> None:
    """One chat request, to the router, or to the only engine where there is no router."""
    await ask(world, kind)


@when('a {kind} request is sent to engine "{name}"', example='a JSON request is sent to engine "a"')
async def _(world: World, kind: str, name: str) -> None:
    """One chat request straight to an engine."""
    await ask(world, kind, world.engine(name).url)


@when(
    'a {kind} request is sent to engine "{name}" by a client that waits {seconds:g} seconds',
    example='a JSON request is sent to engine "a" by a client that waits 5 seconds',
)
async def _(world: World, kind: str, name: str, seconds: float) -> None:
    """One chat request straight to an engine, by a client that then leaves."""
    await ask(world, kind, world.engine(name).url, deadline=seconds)


@when(
    '"{route}" is asked of engine "{name}" for {seconds:g} seconds',
    example='"GET /health" is asked of engine "a" for 5 seconds',
)
async def _(world: World, route: str, name: str, seconds: float) -> None:
    """Any request without a body, by a client that waits so long."""
    method, _, path = route.partition(" ")
    await world.judge(world.engine(name).url).ask(method, path, deadline=seconds)


@when(
    'a {kind} request for model "{model}" is sent',
    example='a JSON request for model "llama" is sent',
)
async def _(world: World, kind: str, model: str) -> None:
    """One chat request that names its model."""
    await world.judge().chat(model, stream=streams(kind))


@when(
    "{count:d} {kind} requests are sent one after another",
    example="5 JSON requests are sent one after another",
)
async def _(world: World, count: int, kind: str) -> None:
    """Each is sent when the one before was answered."""
    for _ in range(count):
        await ask(world, kind)


@when("{count:d} {kind} requests are sent at once", example="5 JSON requests are sent at once")
async def _(world: World, count: int, kind: str) -> None:
    """All are sent at one instant; the step ends with the last answer."""
    await asyncio.gather(*(ask(world, kind) for _ in range(count)))


@when(
    "a {kind} request is sent every {every:g} seconds for {total:g} seconds",
    example="a JSON request is sent every 0.25 seconds for 8 seconds",
)
async def _(world: World, kind: str, every: float, total: float) -> None:
    """Requests at a steady pace, whether or not earlier ones were answered."""
    started = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number in range(round(total / every)):
            async with asyncio.timeout_at(started + number * every) as due:
                await _forever(due)
            group.create_task(ask(world, kind))
        async with asyncio.timeout_at(started + total) as due:
            await _forever(due)


async def _forever(due: asyncio.Timeout) -> None:
    """Wait until the surrounding timeout, which then swallows it."""
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        if not due.expired():
            raise


@when(
    "a {kind} request is sent and its client leaves after {seconds:g} seconds",
    example="a streaming request is sent and its client leaves after 1 seconds",
)
async def _(world: World, kind: str, seconds: float) -> None:
    """A client that closes its connection while the answer is still to come."""
    await ask(world, kind, deadline=seconds)


@when(
    "{count:d} {kind} requests are sent and their clients leave after {seconds:g} seconds",
    example="10 streaming requests are sent and their clients leave after 1 seconds",
)
async def _(world: World, count: int, kind: str, seconds: float) -> None:
    """Clients that come one after another, and none waits for its answer's end."""
    for _ in range(count):
        await ask(world, kind, deadline=seconds)


@when(
    "{count:d} requests without messages are sent one after another",
    example="20 requests without messages are sent one after another",
)
async def _(world: World, count: int) -> None:
    """JSON that names the model and is no chat request: the client's mistake."""
    client = world.judge()
    for _ in range(count):
        await client.ask(
            "POST",
            "/v1/chat/completions",
            headers=[("Content-Type", "application/json")],
            body=json.dumps({"model": MODEL}).encode(),
        )


@when(
    'a {kind} request "{name}" is on its way',
    example='a JSON request "slow" is on its way',
)
async def _(world: World, kind: str, name: str) -> None:
    """A request whose answer a later step waits for."""
    task = asyncio.create_task(ask(world, kind), name=f"request {name}")
    world.facts[f"request {name}"] = task
    await asyncio.sleep(0.001)


@when('request "{name}" is answered', example='request "slow" is answered')
async def _(world: World, name: str) -> None:
    """Wait for the answer of a request that is on its way."""
    await world.facts[f"request {name}"]


@then("the answer has status {status:d}", example="the answer has status 503")
def _(world: World, status: int) -> None:
    """The last answer's status, and that it came whole."""
    answer = world.answer
    promise(answer.status == status and answer.end is End.WHOLE, f"a whole {status}", answer)


@then("every answer has status {status:d}", example="every answer has status 200")
def _(world: World, status: int) -> None:
    """All answers of the scenario so far."""
    wrong = [a for a in world.answers if a.status != status or a.end is not End.WHOLE]
    promise(bool(world.answers) and not wrong, f"whole answers with {status} only", wrong)


@then(
    "the last {count:d} answers have status {status:d}",
    example="the last 5 answers have status 503",
)
def _(world: World, count: int, status: int) -> None:
    """The newest answers."""
    last = world.answers[-count:]
    wrong = [a for a in last if a.status != status or a.end is not End.WHOLE]
    promise(len(last) == count and not wrong, f"{count} whole answers with {status}", wrong or last)


@then("the answer is {end}", example="the answer is whole")
def _(world: World, end: str) -> None:
    """How the last answer ended: whole, cut, reset, closed without answering, refused, silent."""
    if end not in ENDS:
        raise ValueError(f"an answer is not {end!r}; {did_you_mean(end, ENDS)}")
    promise(world.answer.end is ENDS[end], f"an answer that is {end}", world.answer)


@then("the request succeeds", example="the request succeeds")
def _(world: World) -> None:
    """A whole 200 without an error in it, that says something."""
    promise(world.answer.ok and bool(world.answer.text), "a request that succeeds", world.answer)


@then(
    "the request succeeds within {seconds:g} seconds",
    example="the request succeeds within 1 seconds",
)
def _(world: World, seconds: float) -> None:
    """It succeeds, and soon enough."""
    answer = world.answer
    kept = answer.ok and bool(answer.text) and answer.took <= seconds
    promise(kept, f"a request that succeeds within {seconds:g} s", answer)


@then("no request succeeds", example="no request succeeds")
def _(world: World) -> None:
    """Every answer of the scenario so far is an error of some kind, and whole."""
    wrong = [answer for answer in world.answers if answer.ok or answer.end is not End.WHOLE]
    promise(bool(world.answers) and not wrong, "whole answers without a success", wrong)


@then("every request succeeds", example="every request succeeds")
def _(world: World) -> None:
    """Every answer is a whole 200 without an error in it."""
    wrong = [answer for answer in world.answers if not answer.ok]
    promise(bool(world.answers) and not wrong, "requests that all succeed", wrong)


@then("the answer took {seconds:g} seconds", example="the answer took 8 seconds")
def _(world: World, seconds: float) -> None:
    """From the request to the answer's end, to the millisecond."""
    kept = round(world.answer.took, 3) == seconds
    promise(kept, f"an answer after {seconds:g} s", world.answer)


@then("the head came after {seconds:g} seconds", example="the head came after 5 seconds")
def _(world: World, seconds: float) -> None:
    """From the request to the head's end, to the millisecond."""
    kept = round(head_after(world.answer), 3) == seconds
    promise(kept, f"a head after {seconds:g} s", world.answer)


@then(
    "the head came after more than {seconds:g} seconds",
    example="the head came after more than 100 seconds",
)
def _(world: World, seconds: float) -> None:
    """A head that took its time."""
    kept = head_after(world.answer) > seconds
    promise(kept, f"a head after more than {seconds:g} s", world.answer)


def head_after(answer: Answer) -> float:
    """Seconds from the request to the head's end; -1 without a head."""
    return -1.0 if answer.head_at is None else (answer.head_at - answer.asked_at) / NS


@then(
    "the body came in pieces of {size:d} bytes, {seconds:g} seconds apart",
    example="the body came in pieces of 100 bytes, 3 seconds apart",
)
def _(world: World, size: int, seconds: float) -> None:
    """Each piece but the last has that size; each comes so long after the one before."""
    pieces = world.answer.pieces
    gaps = {round((b[0] - a[0]) / NS, 3) for a, b in pairwise(pieces)}
    sizes = {count for _, count in pieces[:-1]}
    kept = len(pieces) > 1 and gaps == {seconds} and sizes == {size}
    promise(kept, f"pieces of {size} bytes (sizes {sizes}, gaps {gaps})", world.answer)


@then("the connection was left open", example="the connection was left open")
def _(world: World) -> None:
    """The server had not closed when the answer ended."""
    promise(not world.answer.closed, "a connection that is left open", world.answer)


@then("the framing is without fault", example="the framing is without fault")
def _(world: World) -> None:
    """The judge has no note on the answer's framing (RFC 9112)."""
    promise(not world.answer.notes, f"no notes (found {world.answer.notes})", world.answer)


@then('the answer names engine "{name}"', example='the answer names engine "a"')
def _(world: World, name: str) -> None:
    """In a header and in the body."""
    answer = world.answer
    kept = answer.header("x-engine") == name and name.encode() in answer.body
    promise(kept, f"the name {name!r} in header x-engine and in the body", answer)


@then(
    'the answer has header "{name}" with "{value}"',
    example='the answer has header "Retry-After" with "1"',
)
def _(world: World, name: str, value: str) -> None:
    """A header's exact value."""
    found = world.answer.header(name)
    promise(found == value, f"header {name}: {value} (it is {found!r})", world.answer)


@then('the answer has header "{name}"', example='the answer has header "Retry-After"')
def _(world: World, name: str) -> None:
    """A header is there, whatever its value."""
    promise(world.answer.header(name) is not None, f"a header {name}", world.answer)


@then('the answer carries the error "{code}"', example='the answer carries the error "503"')
def _(world: World, code: str) -> None:
    """The `code` of the error object in the body or in an event."""
    error = world.answer.error or {}
    promise(str(error.get("code")) == code, f"an error with code {code}", world.answer)


@then("the stream says [DONE]", example="the stream says [DONE]")
def _(world: World) -> None:
    """The last event is `[DONE]`."""
    promise(world.answer.done, "a stream that ends with [DONE]", world.answer)


@then("the stream does not say [DONE]", example="the stream does not say [DONE]")
def _(world: World) -> None:
    """No `[DONE]` anywhere: nobody invents an end."""
    promise("[DONE]" not in world.answer.events, "a stream without [DONE]", world.answer)


@then("{count:d} events came", example="3 events came")
def _(world: World, count: int) -> None:
    """How many server-sent events came whole, `[DONE]` included."""
    found = len(world.answer.events)
    promise(found == count, f"{count} events (found {found})", world.answer)


@then("no answer names an engine's address", example="no answer names an engine's address")
def _(world: World) -> None:
    """Worker URLs never reach a client."""
    addresses = [engine.url.removeprefix("http://") for engine in world.engines.values()]
    wrong = [
        answer
        for answer in world.answers
        if any(a.encode() in answer.head + answer.body for a in addresses)
    ]
    promise(not wrong, "answers without an engine's address", wrong)
