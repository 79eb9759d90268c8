"""Steps of a client: what it got."""

from __future__ import annotations

from itertools import pairwise

from staticfire.bdd.step import then
from staticfire.bdd.world import World
from staticfire.clock import NS
from staticfire.errors import BrokenPromise, WrongStep, did_you_mean
from staticfire.judge import Answer, End

ENDS = {str(end): end for end in End}


def promise(kept: bool, expected: str, answer: Answer | list[Answer]) -> None:
    """Raise `BrokenPromise` with what came instead, unless the promise was kept."""
    if not kept:
        answers = answer if isinstance(answer, list) else [answer]
        came = "\n  ".join(str(one) for one in answers[-12:])
        raise BrokenPromise(f"expected {expected}; came:\n  {came}")


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
    """How it ended: whole, cut, reset, closed without answering, refused, silent, unfinished, malformed."""
    if end not in ENDS:
        raise WrongStep(f"an answer is not {end!r}; {did_you_mean(end, ENDS)}")
    promise(world.answer.end is ENDS[end], f"an answer that is {end}", world.answer)


@then("the failure is visible", example="the failure is visible")
def _(world: World) -> None:
    """A cut, a reset, an error event, or a whole error of status 500 and up; never a clean end."""
    answer = world.answer
    broken = answer.end in (End.CUT, End.RESET, End.CLOSED)
    told = answer.end is End.WHOLE and ((answer.status or 0) >= 500 or answer.error is not None)
    promise(broken or told, "a failure that shows", answer)


@then("the answer blames the client", example="the answer blames the client")
def _(world: World) -> None:
    """A whole answer from 400 to 499: which one is the router's own affair."""
    answer = world.answer
    kept = answer.end is End.WHOLE and 400 <= (answer.status or 0) < 500
    promise(kept, "a whole 4xx", answer)


@then("the client is not deceived", example="the client is not deceived")
def _(world: World) -> None:
    """A success with something in it, or a failure that shows; never a part that looks whole."""
    answer = world.answer
    shows = answer.end is not End.WHOLE or (answer.status or 0) >= 500 or answer.error is not None
    promise(shows or (answer.ok and bool(answer.text)), "a success or a failure that shows", answer)


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
    """From the request to the answer's end; to the millisecond in virtual time."""
    kept = world.near(world.answer.took, seconds)
    promise(kept, f"an answer after {seconds:g} s", world.answer)


@then("the head came after {seconds:g} seconds", example="the head came after 5 seconds")
def _(world: World, seconds: float) -> None:
    """From the request to the head's end; to the millisecond in virtual time."""
    kept = world.near(head_after(world.answer), seconds)
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


@then(
    "{count:d} events came before the cut",
    example="3 events came before the cut",
)
def _(world: World, count: int) -> None:
    """So many; in a time that runs the last ones may be lost with the connection, but no more come."""
    found = len(world.answer.events)
    kept = found == count if world.exact else found <= count
    promise(kept, f"{count} events before the cut (found {found})", world.answer)


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
