"""Steps of a router under load, and what its metrics tell of it."""

from __future__ import annotations

import asyncio
import json
import re

from staticfire.bdd.step import then, when
from staticfire.bdd.steps.client import ask
from staticfire.bdd.steps.engines import CHAT, requests
from staticfire.bdd.steps.heads import probe
from staticfire.bdd.world import World
from staticfire.errors import BrokenPromise, WrongStep
from staticfire.judge import End, Judge

APART = 0.2
"""Seconds between two requests that another process shall see in their order."""

SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'\w+="[^"]*"')


@when(
    "{count:d} {kind} requests are on their way to the router",
    example="10 JSON requests are on their way to the router",
)
async def _(world: World, count: int, kind: str) -> None:
    """One after another, without waiting; a later step waits for their answers."""
    tasks = world.facts.setdefault("on their way", [])
    for number in range(count):
        tasks.append(asyncio.create_task(ask(world, kind), name=f"request {number}"))
        await asyncio.sleep(0.001 if world.exact else APART)


@then(
    "{count:d} of the answers have status {status:d}",
    example="5 of the answers have status 429",
)
def _(world: World, count: int, status: int) -> None:
    """How many of all answers so far came whole with it."""
    found = [a for a in world.answers if a.status == status and a.end is End.WHOLE]
    if len(found) != count:
        all_of_them = sorted(str(answer.status) for answer in world.answers)
        raise BrokenPromise(
            f"expected {count} whole answers with {status}, came {len(found)} among {all_of_them}"
        )


@then(
    'engine "{name}" never had more than {count:d} requests at once',
    example='engine "a" never had more than 2 requests at once',
)
def _(world: World, name: str, count: int) -> None:
    """Chat requests of clients that were under way at one instant, over the whole scenario."""
    moves = []
    for request in requests(world.mock(name), CHAT):
        if not probe(request):
            moves.append((request.at, 1))
            if request.ended_at is not None:
                moves.append((request.ended_at, -1))
    most = now = 0
    for _, step in sorted(moves):
        now += step
        most = max(most, now)
    if most > count or not moves:
        raise BrokenPromise(
            f"expected at most {count} requests at once at engine {name!r}, it had {most}"
        )


@then(
    'engine "{name}" was asked in the order in which the requests came',
    example='engine "a" was asked in the order in which the requests came',
)
def _(world: World, name: str) -> None:
    """First come, first served."""
    ids = [r.headers.get("x-request-id", "") for r in requests(world.mock(name), CHAT)]
    mine = [one for one in ids if one in world.sent]
    expected = [one for one in world.sent if one in mine]
    if mine != expected or len(mine) < 2:
        raise BrokenPromise(f"expected engine {name!r} to be asked in order {expected}, was {mine}")


async def page_of(world: World) -> str:
    """The text of the router's metrics, which may have a port of their own."""
    url = getattr(world.router, "metrics_url", world.front)
    answer = await Judge(url).ask("GET", "/metrics")
    if answer.end is not End.WHOLE or answer.status != 200:
        raise BrokenPromise(f"/metrics does not answer: {answer}")
    return answer.body.decode()


def read(sample: str) -> tuple[str, frozenset[str]]:
    """A sample's name and its labels, whatever their order."""
    found = SAMPLE.fullmatch(sample + " 0")
    if found is None:
        raise WrongStep(f'a sample is a name or name{{label="value"}}, not {sample}')
    return found[1], frozenset(LABEL.findall(found[2] or ""))


@then(
    "the metric {sample} is {value:g}",
    example="the metric staticfire_workers is 16",
)
async def _(world: World, sample: str, value: float) -> None:
    """One sample; one that is not there is none."""
    page = await page_of(world)
    name, labels = read(sample)
    for line in page.splitlines():
        found = SAMPLE.fullmatch(line)
        if found and found[1] == name and labels == set(LABEL.findall(found[2] or "")):
            if float(found[3]) != value:
                raise BrokenPromise(f"expected {sample} {value:g}, the metric says {found[3]}")
            return
    near = [line for line in page.splitlines() if line.startswith(name)]
    raise BrokenPromise(f"no sample {sample}; of that name are:\n  " + "\n  ".join(near))


@then(
    "there is no metric {sample}",
    example="there is no metric staticfire_made_up",
)
async def _(world: World, sample: str) -> None:
    """No sample of that name has these labels, whatever others it has."""
    name, labels = read(sample)
    for line in (await page_of(world)).splitlines():
        found = SAMPLE.fullmatch(line)
        if found and found[1] == name and labels <= set(LABEL.findall(found[2] or "")):
            raise BrokenPromise(f"expected no {sample}; found: {line}")


@then(
    "Prometheus can read the router's metrics", example="Prometheus can read the router's metrics"
)
async def _(world: World) -> None:
    """There are samples, and every line is one or a comment."""
    lines = [line for line in (await page_of(world)).splitlines() if line.strip()]
    wrong = [line for line in lines if not line.startswith("#") and not sample_of(line)]
    if wrong or all(line.startswith("#") for line in lines):
        raise BrokenPromise(
            f"expected samples and comments; {len(lines)} lines came, wrong are:\n  "
            + "\n  ".join(wrong[:5])
        )


def sample_of(line: str) -> tuple[str, float] | None:
    """A sample's name with its labels, and its value; None for a line that is none."""
    found = re.fullmatch(r"([a-zA-Z_:][\w:]*(?:\{.*\})?) (\S+)(?: -?\d+)?", line.strip())
    try:
        return (found[1], float(found[2])) if found else None
    except ValueError:
        return None


def samples(page: str) -> dict[str, float]:
    """Every sample of a page."""
    return dict(filter(None, map(sample_of, page.splitlines())))


@when("the router's metrics are read", example="the router's metrics are read")
async def _(world: World) -> None:
    """Kept, so that a later step sees what moved."""
    world.facts["metrics"] = samples(await page_of(world))


@then(
    "{count:d} more are counted by a metric of the router",
    example="3 more are counted by a metric of the router",
)
async def _(world: World, count: int) -> None:
    """Whatever its name and its labels: since the page was read, one sample grew by so much."""
    before: dict[str, float] = world.facts["metrics"]
    moved = {
        name: value - before.get(name, 0.0)
        for name, value in samples(await page_of(world)).items()
        if value != before.get(name, 0.0)
    }
    if count not in moved.values():
        raise BrokenPromise(
            f"expected a metric that grew by {count}; those that moved are:\n  "
            + "\n  ".join(f"{name} by {by:g}" for name, by in sorted(moved.items())[:20])
        )


@then('no metric names "{text}"', example='no metric names "w01"')
async def _(world: World, text: str) -> None:
    """The text stands nowhere in the page."""
    lines = [line for line in (await page_of(world)).splitlines() if text in line]
    if lines:
        raise BrokenPromise(
            f"expected no metric that names {text!r}; found:\n  " + "\n  ".join(lines)
        )


@then(
    "no metric and no log line names an engine's address",
    example="no metric and no log line names an engine's address",
)
async def _(world: World) -> None:
    """Neither a URL nor a host with its port; the log at its usual level."""
    page = await page_of(world)
    for engine in world.engines.values():
        address = engine.url.removeprefix("http://")
        lines = [line for line in (*page.splitlines(), *world.log) if address in line]
        if lines:
            raise BrokenPromise(f"{address} is named:\n  " + "\n  ".join(lines))


@then(
    'no answer, metric or log line has "{text}"',
    example='no answer, metric or log line has "worker-key"',
)
async def _(world: World, text: str) -> None:
    """A secret that must be told to nobody, in heads and bodies too."""
    told = [*(await page_of(world)).splitlines(), *world.log]
    told += [(answer.head + answer.body).decode("latin-1") for answer in world.answers]
    found = [one for one in told if text in one]
    if found:
        raise BrokenPromise(f"expected {text!r} nowhere; found: {found[0][:300]!r}")


@then("the router has {count:d} workers", example="the router has 3 workers")
async def _(world: World, count: int) -> None:
    """How many are configured, serving or not."""
    found = json.loads((await Judge(world.front).ask("GET", "/readiness")).body)["total_workers"]
    if found != count:
        raise BrokenPromise(f"expected {count} workers, the router has {found}")
