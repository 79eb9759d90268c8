"""The peer lab's scenarios f to t: late and dead workers, odd answers, leavers, bad requests."""

from __future__ import annotations

import asyncio
from collections import Counter

from bench.lab_stand import MODEL, Lab, in_words, row, told
from staticfire.engine import Refuses, Serving


@row("f", "W1 binds 12 s late")
async def _() -> str:
    async with Lab((), (Refuses(seconds=12), Serving())) as lab:
        failed = 0
        while not lab.got(1):
            failed += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        return f"traffic {lab.now - 10:.1f} s after bind, {failed} errors"  # 2 s were waited


@row("f3", "W1 binds an hour late")
async def _() -> str:
    async with Lab((), (Refuses(seconds=3600), Serving())) as lab:
        await asyncio.sleep(3600)
        for _ in range(4):
            await lab.ask()
        return f"admitted: {lab.got(1)} of 4 requests"


@row("h", "W1 ready, lists models, chat hangs 20 s")
async def _() -> str:
    async with Lab((), ()) as lab:
        lab.does("never answers chat for 20 seconds", 1)
        answers = await asyncio.gather(*(lab.ask(deadline=21) for _ in range(48)))
        slow = sum(not answer.ok for answer in answers)
        return f"{slow} of 48 hang, if it was proven before; a worker that hangs at its probe never joins"


@row("i", "full answer, socket left open")
async def _() -> str:
    async with Lab() as lab:
        lab.does("answers chat without closing")
        answer = await lab.ask()
        again = await lab.ask()
        return f"at once ({answer.took:g} s); the next request at once too, {told(again)}"


@row("i3", "no framing, left open")
async def _() -> str:
    async with Lab() as lab:
        lab.does("answers chat without closing, unframed")
        answer = await lab.ask(deadline=700)
        return f"{told(answer)} after {answer.took:g} s"


@row("i5", "chunked, close before the last chunk")
async def _() -> str:
    async with Lab() as lab:
        lab.does("ends chat without the last chunk and truncates chat after 300 bytes")
        json_, stream = await lab.ask(), await lab.ask(stream=True)
        return f"JSON {told(json_)}; stream {told(stream)}"


@row("j", "JSON at 1 B/s, 13 s")
async def _() -> str:
    async with Lab() as lab:
        lab.does("dribbles the body of chat 20 bytes every 1 s")
        answer = await lab.ask(deadline=600)
        return f"{told(answer)}, trickles: {len(answer.pieces)} pieces in {answer.took:g} s"


@row("k", "SSE dies after 3 events, 30 times")
async def _() -> str:
    async with Lab() as lab:
        lab.does("truncates chat after 3 events with a reset")
        seen = Counter([told(await lab.ask(stream=True)) for _ in range(30)])
        return f"visible cut, counts as an error: {in_words(seen)}"


@row("k2", "SSE death retried?")
async def _() -> str:
    async with Lab((), ()) as lab:
        lab.does("truncates chat after 3 events", 0)
        lab.does("truncates chat after 3 events", 1)
        await lab.ask(stream=True)
        return "no" if lab.got(0) + lab.got(1) == 1 else "YES"


async def leaves(phrase: str, *, stream: bool) -> str:
    async with Lab() as lab:
        lab.does(phrase)
        await lab.ask(stream=stream, deadline=1.0)
        await asyncio.sleep(5)
        gone = [r.at for r in lab.engines[0].journal.rows if r.what == "client left"]
        asked = lab.engines[0].journal.requests(on="POST /v1/chat/completions")[-1].at
        return f"{(gone[-1] - asked) / 1e9 - 1.0:.3f} s"


@row("l", "client leaves mid-SSE: upstream gone after")
async def _() -> str:
    return await leaves("stalls chat after 2 events", stream=True)


@row("l2", "client leaves while the worker thinks")
async def _() -> str:
    return await leaves("never answers chat", stream=False)


@row("l3", "15 client aborts: breaker?")
async def _() -> str:
    async with Lab() as lab:
        lab.does("never answers chat")
        for _ in range(15):
            await lab.ask(deadline=1.0)
        return f"15 cancelled, no verdict ({lab.router.workers[0].breaker.state})"


@row("m3", "worker closes right after each answer, 60 requests")
async def _() -> str:
    async with Lab() as lab:
        lab.does("closes the connection after chat")
        bad = sum([not (await lab.ask()).ok for _ in range(60)])
        return f"{bad} of 60 fail"


@row("n", "335 sessions, 2 of 16 up, then 16 (sticky)")
async def _() -> str:
    lives = [(), *([()] * 1), *([(Refuses(seconds=60), Serving())] * 14)]
    async with Lab(*lives, policy="sticky") as lab:

        async def wave(prefix: str) -> None:
            for number in range(335):
                await lab.judge.chat(MODEL, session=f"{prefix}{number}", max_tokens=1)

        await wave("a")
        early = [lab.got(n) for n in range(2)]
        await asyncio.sleep(70)
        await wave("a")
        moved = sum(lab.got(n) for n in range(2, 16))
        await wave("b")
        late = [lab.got(n) for n in range(2, 16)]
        return f"{early[0]}/{early[1]}; then {moved} move, new ones go to late workers: {min(late)}-{max(late)} each"


@row("o", "W1 killed, back on its port 6 s later (2 workers)")
async def _() -> str:
    async with Lab((), ()) as lab:
        bad = 0
        lab.engines[1].kill()
        while lab.now < 6:
            bad += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        before = lab.got(1)
        lab.engines[1].restart()
        while lab.got(1) == before:
            bad += not (await lab.ask()).ok
            await asyncio.sleep(0.1)
        return f"{bad} errors; back {lab.now - 6:.1f} s after bind"


@row("o2", "only worker killed, back after 6 s")
async def _() -> str:
    async with Lab() as lab:
        lab.engines[0].kill()
        seen: Counter[str] = Counter()
        while lab.now < 6:
            seen[told(await lab.ask())] += 1
            await asyncio.sleep(0.5)
        lab.engines[0].restart()
        _, at = await lab.until_ok(0.1)
        return f"{in_words(seen)}; ok {at - 6:.1f} s after bind"


@row("p", "both 500")
async def _() -> str:
    async with Lab((), ()) as lab:
        lab.does("answers chat with 500", 0)
        lab.does("answers chat with 500", 1)
        answer = await lab.ask()
        return f"{lab.got(0) + lab.got(1)} attempt, {told(answer)}"


@row("p2", "worker closes before any head")
async def _() -> str:
    async with Lab() as lab:
        lab.does("closes chat without answering")
        answer = await lab.ask()
        return f"{lab.got()} attempt, {told(answer)}"


@row("p3", "connection refused")
async def _() -> str:
    async with Lab() as lab:
        lab.engines[0].kill()
        answer = await lab.ask()
        return f"{told(answer)} in {answer.took:g} s"


@row("r", "unknown model / no model")
async def _() -> str:
    async with Lab() as lab:
        unknown = await lab.judge.chat("other")
        none = await lab.judge.chat(None)
        return f"{told(unknown)}; without a model {told(none)} from the only one there is"


@row("s", "malformed JSON / empty / array / null / bad UTF-8 / nested / NaN")
async def _() -> str:
    async with Lab() as lab:
        bodies = (b"{", b"", b"[]", b"null", b'{"a":"\xff"}', b"[" * 20000, b'{"a":NaN}')
        said = [
            told(await lab.judge.ask("POST", "/v1/chat/completions", body=body)) for body in bodies
        ]
        return ", ".join(said)


@row("s2", "50 MB body")
async def _() -> str:
    async with Lab() as lab:
        body = b'{"model":"qwen","pad":"' + b"x" * 50_000_000 + b'"}'
        return told(await lab.judge.ask("POST", "/v1/chat/completions", body=body))


@row("t", "all workers dead at start, up at 15 s")
async def _() -> str:
    async with Lab((Refuses(seconds=15), Serving())) as lab:
        first = await lab.ask()
        ready = await lab.judge.ask("GET", "/readiness")
        _, at = await lab.until_ok(0.1)
        return f"binds at once; {told(first)}, readiness {ready.status}; ok {at - 15:.1f} s after"
