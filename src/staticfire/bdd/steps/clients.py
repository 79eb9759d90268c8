"""Steps of clients with habits, good and bad, and what an engine finds about them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from staticfire.bdd.step import then, when
from staticfire.bdd.world import MODEL, World
from staticfire.engine import verdicts
from staticfire.errors import BrokenPromise, WrongStep, did_you_mean
from staticfire.judge import Answer, End, Judge

CUT_STREAM = "took a cut stream for whole"
NAMES = (*verdicts.VERDICTS, CUT_STREAM)


@dataclass(frozen=True, slots=True)
class Habits:
    """What a client does when a request fails; as it stands it does well."""

    tries: int = 6
    wait: float = 0.5
    """Seconds before the second attempt."""
    growth: float = 2.0
    """How much longer each later wait is."""
    heeds: bool = True
    """Whether it waits as long as `Retry-After` says."""
    stubborn: bool = False
    """Whether it sends a request again that was called wrong."""
    trusting: bool = False
    """Whether it takes what came of a cut stream for the answer."""


HABITS = {
    "behaves": Habits(),
    "ignores Retry-After": Habits(heeds=False),
    "never backs off": Habits(growth=1.0, wait=2.5),
    "retries at once": Habits(tries=12, wait=0.0),
    "retries a 4xx": Habits(stubborn=True),
    "trusts cut streams": Habits(trusting=True),
}


def habits(words: str) -> Habits:
    """The habits of a phrase; raises ValueError with the nearest one."""
    if words not in HABITS:
        raise WrongStep(f"no client {words!r}; {did_you_mean(words, HABITS)}")
    return HABITS[words]


@when(
    'a client that {habit} asks engine "{name}"',
    example='a client that never backs off asks engine "a"',
)
async def _(world: World, habit: str, name: str) -> None:
    """It behaves, ignores Retry-After, never backs off, retries at once, retries a 4xx, trusts cut streams."""
    await persist(world.judge(world.engine(name).url), habits(habit))


@when(
    'a client that {habit} holds a conversation of {turns:d} turns with engine "{name}"',
    example='a client that trusts cut streams holds a conversation of 2 turns with engine "a"',
)
async def _(world: World, habit: str, turns: int, name: str) -> None:
    """It streams, and each turn carries the answers before it."""
    client, own = world.judge(world.engine(name).url), habits(habit)
    messages: list[dict[str, str]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn + 1}."})
        answer = await persist(client, own, messages=messages, stream=True)
        messages.append({"role": "assistant", "content": answer.text})


async def persist(client: Judge, own: Habits, **body: Any) -> Answer:
    """Ask until the answer is taken or the client gives up; its last answer."""
    for attempt in range(own.tries):
        answer = await client.chat(MODEL, **body)
        if not again(answer, own) or attempt == own.tries - 1:
            break
        told = answer.header("retry-after") if own.heeds else None
        await asyncio.sleep(float(told) if told else own.wait * own.growth**attempt)
    return answer


def again(answer: Answer, own: Habits) -> bool:
    """Whether a client of these habits asks again after an answer."""
    if answer.end is not End.WHOLE:
        return not (own.trusting and answer.text)
    status = answer.status or 0
    wrong = 400 <= status < 500 and status not in verdicts.MAY_BE_RETRIED
    return own.stubborn if wrong else status >= 400


def found(world: World, name: str) -> list[verdicts.Finding]:
    """What an engine finds about its client."""
    return verdicts.on_client(world.mock(name))


def known(verdict: str) -> str:
    """The name of a verdict; raises ValueError with the nearest one."""
    if verdict not in NAMES:
        raise WrongStep(f"no verdict {verdict!r}; {did_you_mean(verdict, NAMES)}")
    return verdict


def told(findings: list[verdicts.Finding]) -> str:
    """Findings for a message."""
    return "\n  ".join(map(str, findings)) or "no fault"


@then(
    'engine "{name}" finds that its client {verdict}',
    example='engine "a" finds that its client ignored Retry-After',
)
def _(world: World, name: str, verdict: str) -> None:
    """It ignored Retry-After, did not back off, made a retry storm, retried a 4xx, took a cut stream for whole."""
    findings = found(world, name)
    if known(verdict) not in {finding.verdict for finding in findings}:
        raise BrokenPromise(
            f"expected engine {name!r} to find that its client {verdict}; it finds:\n  "
            f"{told(findings)}"
        )


@then(
    'engine "{name}" finds no fault with its client',
    example='engine "a" finds no fault with its client',
)
def _(world: World, name: str) -> None:
    """None of the verdicts, on all its requests so far."""
    findings = found(world, name)
    if findings:
        raise BrokenPromise(
            f"expected engine {name!r} to find no fault with its client; it finds:\n  "
            f"{told(findings)}"
        )
