"""Three incidents that founded this project, played on mock engines, on two routers.

`make demo` runs it. Every line with a time was seen by the honest client or read from an engine's
journal; minutes of a fleet's life pass in virtual time.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from rich.console import Console

from staticfire import readiness
from staticfire.clock import current, seconds
from staticfire.clock.virtual import run
from staticfire.engine import (
    Answers,
    Loading,
    MockEngine,
    NeverAnswers,
    Refuses,
    Rule,
    Script,
    Serving,
)
from staticfire.judge import Judge
from staticfire.stand.limits import lift_open_files
from staticfire.stand.routers.bundled import BundledRouter
from staticfire.stand.routers.naive import NaiveRouter

console = Console(highlight=False, soft_wrap=True)
MODEL = "qwen"
CHAT = "POST /v1/chat/completions"


def told(text: str, *, held: bool | None = None) -> None:
    """One line of the story, with the scenario's time."""
    mark = {None: " ", True: "[green]✔[/]", False: "[red]✘[/]"}[held]
    console.print(f"   {seconds(current().now()):8.2f} s  {mark} {text}")


async def fleet(*scripts: Script) -> list[MockEngine]:
    return [
        await MockEngine(script, name=f"e{n:02}", seed=n).start()
        for n, script in enumerate(scripts)
    ]


async def busy(make: Callable[..., Any]) -> bool:
    """A busy engine's 503s shed the only worker."""
    (sole,) = await fleet(Script(model=MODEL))
    router = make([sole.url], {})
    await router.start()
    client = Judge(router.url)
    await asyncio.sleep(2)
    first = await client.chat(MODEL)
    told(f"the only engine serves: {first.status}")
    sole.add_rule(Rule(CHAT, Answers(503), seconds=8))
    shed = [await client.chat(MODEL) for _ in range(12)]
    told(
        f"it is full for 8 s and answers 503; 12 requests get {dict(Counter(a.status for a in shed))}"
    )
    await asyncio.sleep(8)
    after = await client.chat(MODEL)
    lost = 0.0
    while not after.ok and lost < 120:
        await asyncio.sleep(1)
        lost += 1
        after = await client.chat(MODEL)
    if lost:
        told(
            f"it is idle again, and the router keeps everybody away from it for {lost:g} s",
            held=False,
        )
    else:
        told("it is idle again, and serves on the first request", held=True)
    await router.stop()
    await sole.stop()
    return not lost


async def late(make: Callable[..., Any], *, gate: bool) -> bool:
    """A router came up with 2 of 16 workers."""
    waits = [0, 0, *(172 * (n + 1) / 14 for n in range(14))]
    engines = await fleet(
        *(Script(model=MODEL, life=[Refuses(seconds=w), Serving()]) for w in waits)
    )
    urls = [engine.url for engine in engines]
    if gate:
        waited = await readiness.wait_for(urls, timeout=4200)
        told(f"the gate: all {len(waited.there)} workers serve after {seconds(waited.after):g} s")
    router = make(urls, {"policy": "sticky"} if make is BundledRouter else {})
    await router.start()
    await asyncio.sleep(1)
    client = Judge(router.url)

    async def session(name: str) -> None:
        for _ in range(5):
            await client.chat(MODEL, session=name, max_tokens=2)

    async with asyncio.TaskGroup() as group:
        for n in range(335):
            group.create_task(session(f"s{n:03}"))
    spread: Counter[int] = Counter()
    for engine in engines:
        spread[len({r.session for r in engine.journal.requests(on=CHAT) if r.session})] += 1
    shape = ", ".join(
        f"{count} with {held}" for held, count in sorted(spread.items(), reverse=True)
    )
    even = set(spread) <= {20, 21}
    told(f"335 sessions on 16 engines: {shape}", held=even)
    await router.stop()
    for engine in engines:
        await engine.stop()
    return even


async def listed(make: Callable[..., Any]) -> bool:
    """A service was called ready while it could not answer."""
    life = [Refuses(seconds=4), Loading(seconds=360, chat=NeverAnswers()), Serving()]
    (slow,) = await fleet(Script(model=MODEL, life=life))
    router = make([slow.url], {})
    await router.start()
    client = Judge(router.url)
    await asyncio.sleep(10)
    told("the engine lists its model since 4 s, and answers from 364 s")
    while (await client.ask("GET", "/readiness")).status != 200:
        await asyncio.sleep(1)
    told("the router says it is ready")
    answer = await client.chat(MODEL, deadline=30)
    told(f"a user's request: {answer.status or answer.end} after {answer.took:g} s", held=answer.ok)
    await router.stop()
    await slow.stop()
    return answer.ok


INCIDENTS: list[
    tuple[
        str, Callable[[Any], Coroutine[Any, Any, bool]], Callable[[Any], Coroutine[Any, Any, bool]]
    ]
] = [
    ("A busy engine answers 503, and the router sheds the only worker", busy, busy),
    (
        "2 of 16 workers are up when the router starts",
        lambda make: late(make, gate=False),
        lambda make: late(make, gate=True),
    ),
    ("The model is listed while the weights still load", listed, listed),
]


def main() -> int:
    """Play every incident; 0 when ours held each and the naive router none."""
    lift_open_files()
    as_expected = True
    for title, on_naive, on_ours in INCIDENTS:
        console.print(f"\n[bold]{title}[/]")
        console.print("   a naive router")
        as_expected &= not run(on_naive(NaiveRouter))
        console.print("   Static Fire")
        as_expected &= run(on_ours(BundledRouter))
    console.print()
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(main())
