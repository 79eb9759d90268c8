"""Steps of what a request carries: its headers and its body, as sent and as an engine saw them."""

from __future__ import annotations

import json
import re
from typing import Any

from staticfire.bdd.step import then, when
from staticfire.bdd.steps.answers import promise
from staticfire.bdd.steps.client import streams
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.world import World
from staticfire.engine.journal import Request
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.judge import PROMPT, chat_body

ROUTE = "/v1/chat/completions"
JSON = ("Content-Type", "application/json")


@when(
    "a {kind} request is sent with the headers",
    example="a JSON request is sent with the headers",
)
async def _(world: World, kind: str, datatable: list[list[str]]) -> None:
    """One chat request; a table of names and values, in their order, beside Content-Type."""
    headers = [(name.strip(), value.strip()) for name, value in datatable]
    await world.judge().ask(
        "POST", ROUTE, headers=[JSON, *headers], body=chat_body(world.model, stream=streams(kind))
    )


@when('"{route}" is asked of the router', example='"GET /workers" is asked of the router')
async def _(world: World, route: str) -> None:
    """Any request, method and path, without a body."""
    await plain(world, route, [])


@when(
    '"{route}" is asked of the router with the headers',
    example='"GET /workers" is asked of the router with the headers',
)
async def _(world: World, route: str, datatable: list[list[str]]) -> None:
    """The same; a table of names and values."""
    await plain(world, route, [(name.strip(), value.strip()) for name, value in datatable])


async def plain(world: World, route: str, headers: list[tuple[str, str]]) -> None:
    """A request without a body to the router."""
    method, _, path = route.partition(" ")
    if not method.isupper() or not path.startswith("/"):
        raise WrongStep(f'a route is a method and a path, such as "GET /workers", not "{route}"')
    await world.judge().ask(method, path, headers=headers)


@when("a request with this body is sent", example="a request with this body is sent")
async def _(world: World, docstring: str) -> None:
    """The text, to the letter, as the body of a chat request; `[byte FF]` is that one byte."""
    parts = re.split(r"\[byte (\w\w)\]", docstring.strip())
    body = b"".join(
        bytes.fromhex(part) if number % 2 else part.encode() for number, part in enumerate(parts)
    )
    world.facts["body"] = body
    await send(world, body)


@when("a request nested {depth:d} deep is sent", example="a request nested 600 deep is sent")
async def _(world: World, depth: int) -> None:
    """A chat request with so many arrays in each other in a field that nobody knows."""
    whole = json.dumps({"model": world.model, "messages": [], "x": PROMPT})
    await send(world, (whole[:-1] + ', "y": ' + "[" * depth + "]" * depth + "}").encode())


@when("a request of {size:d} bytes is sent", example="a request of 50000000 bytes is sent")
async def _(world: World, size: int) -> None:
    """A chat request whose prompt makes it so long."""
    short = chat_body(world.model, prompt=PROMPT)
    filled = PROMPT + "x" * (size - len(short))
    await send(world, chat_body(world.model, prompt=filled))


async def send(world: World, body: bytes) -> None:
    """A chat request with a body of its own."""
    await world.judge().ask("POST", ROUTE, headers=[JSON], body=body)


def last(world: World, name: str) -> Request:
    """The last chat request of a client that an engine got."""
    mine = [r for r in requests(world.mock(name), CHAT) if not probe(r)]
    if not mine:
        raise BrokenPromise(f"expected a client's request at engine {name!r}; it got none")
    return mine[-1]


def probe(request: Request) -> bool:
    """Whether it is a readiness probe: two tokens, and nobody's prompt."""
    return b'"max_tokens":2' in request.body.replace(b" ", b"") and PROMPT.encode() not in (
        request.body
    )


def values(request: Request, name: str) -> list[str]:
    """Every value of a header, in their order."""
    found: Any = request.headers
    return list(found.getall(name, []))


@then(
    'engine "{name}" saw the header "{header}" with "{value}"',
    example='engine "a" saw the header "traceparent" with "00-1"',
)
def _(world: World, name: str, header: str, value: str) -> None:
    """On the last request of a client: exactly once, and with this value."""
    found = values(last(world, name), header)
    if found != [value]:
        raise BrokenPromise(
            f"expected engine {name!r} to see {header}: {value} once; it saw {found or 'none'}"
        )


@then(
    'engine "{name}" saw no header "{header}"', example='engine "a" saw no header "Authorization"'
)
def _(world: World, name: str, header: str) -> None:
    """On the last request of a client."""
    found = values(last(world, name), header)
    if found:
        raise BrokenPromise(f"expected engine {name!r} to see no {header}; it saw {found}")


@then('the body reached engine "{name}" unchanged', example='the body reached engine "a" unchanged')
def _(world: World, name: str) -> None:
    """The body of the last `this body` step, byte for byte."""
    found, sent = last(world, name).body, world.facts["body"]
    if found != sent:
        raise BrokenPromise(f"expected engine {name!r} to get {sent!r}; it got {found!r}")


@then(
    'engine "{name}" saw the field "{field}" with {value}',
    example='engine "a" saw the field "top_k" with 3',
)
def _(world: World, name: str, field: str, value: str) -> None:
    """In the body of the last request of a client, whatever its bytes."""
    found, wanted = json.loads(last(world, name).body).get(field), json.loads(value)
    if found != wanted:
        raise BrokenPromise(f"expected {field} {wanted!r} at engine {name!r}; it saw {found!r}")


@then('engine "{name}" saw its body\'s length', example='engine "a" saw its body\'s length')
def _(world: World, name: str) -> None:
    """Content-Length was there once and true, on the last request of a client."""
    request = last(world, name)
    found, true = values(request, "Content-Length"), str(len(request.body))
    if found != [true]:
        raise BrokenPromise(f"expected the length {true} at engine {name!r}; it saw {found}")


@then('the answer has no header "{name}"', example='the answer has no header "Location"')
def _(world: World, name: str) -> None:
    """A header is not there."""
    found = world.answer.header(name)
    promise(found is None, f"no header {name} (it is {found!r})", world.answer)


@then(
    'the last {count:d} answers differ in the header "{name}"',
    example='the last 2 answers differ in the header "x-request-id"',
)
def _(world: World, count: int, name: str) -> None:
    """Each has the header, and no two have the same value."""
    found = [answer.header(name) for answer in world.answers[-count:]]
    kept = None not in found and len(set(found)) == count
    promise(kept, f"{count} different values of {name} (they are {found})", world.answers[-count:])


@then(
    'engine "{name}" saw the header "{header}" of the answer',
    example='engine "a" saw the header "x-request-id" of the answer',
)
def _(world: World, name: str, header: str) -> None:
    """The last request and its answer have the same value."""
    told, seen = world.answer.header(header), values(last(world, name), header)
    if told is None or seen != [told]:
        raise BrokenPromise(f"expected {header} {told!r} at engine {name!r}; it saw {seen}")


@then(
    "the error is one that OpenAI clients read",
    example="the error is one that OpenAI clients read",
)
def _(world: World) -> None:
    """JSON with an `error` of `message`, `type`, `param` and `code`, whole."""
    error = world.answer.error
    kept = isinstance(error, dict) and {"message", "type", "param", "code"} <= error.keys()
    promise(kept, "an error with message, type, param and code", world.answer)
