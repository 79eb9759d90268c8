"""The peer lab's scenarios i to m, p, r and s: odd answers, leavers, lost connections, bad requests."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.lab_stand import Lab, in_words, row, told
from staticfire.engine import Rule
from staticfire.engine.actions import CLOSE, Action, Head, without
from staticfire.engine.ask import Ask


@row("i", "full answer, socket left open")
async def _() -> str:
    async with Lab() as lab:
        lab.does("answers chat without closing")
        answer = await lab.ask()
        again = await lab.ask()
        return f"at once ({answer.took:g} s); the next request at once too, {told(again)}"


@row("i2", "the next request on a connection that fell silent, limit 5 s")
async def _() -> str:
    async with Lab(request_timeout_secs=5) as lab:
        lab.does("goes silent after chat for 1 request")
        await lab.ask()
        answer = await lab.ask()
        after = await lab.ask()
        return f"{told(answer)} after {answer.took:g} s; the one after it {told(after)}"


@row("i3", "no framing, left open")
async def _() -> str:
    async with Lab() as lab:
        lab.does("answers chat without closing, unframed")
        answer = await lab.ask(deadline=700)
        return f"{told(answer)} after {answer.took:g} s"


@dataclass(frozen=True, slots=True)
class EndsByClosing:
    """The honest answer with no framing but the end of its connection."""

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        """Less its length and its chunks."""
        del ask
        for action in honest:
            if isinstance(action, Head):
                kept = without(action.headers, b"content-length")
                yield action._replace(headers=kept, framing=CLOSE)
            else:
                yield action


@row("i4", "no framing, then close")
async def _() -> str:
    async with Lab() as lab:
        lab.does(Rule("POST /v1/chat/completions", do=EndsByClosing()))
        said = []
        for stream in (False, True):
            answer = await lab.ask(stream=stream)
            length = answer.header("content-length")
            framing = answer.header("transfer-encoding") if length is None else "Content-Length"
            said.append(f"{told(answer)} with {framing or 'no framing'}")
        return f"JSON {said[0]}; stream {said[1]}"


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


@row("j2", "same, limit 5 s")
async def _() -> str:
    said = []
    for limit in ("request_timeout_secs", "total_timeout_secs"):
        for stream in (False, True):
            async with Lab(**{limit: 5.0}) as lab:
                lab.does("dribbles the body of chat 20 bytes every 1 s")
                answer = await lab.ask(stream=stream, deadline=600)
                said.append(f"{told(answer)} after {answer.took:g} s")
    return (
        f"request-timeout-secs ends with the first bytes: JSON {said[0]}, stream {said[1]}; "
        f"total-timeout-secs: JSON {said[2]}, stream {said[3]}"
    )


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


async def reset(**settings: Any) -> str:
    async with Lab(**settings) as lab:
        lab.does("resets the next request after chat")
        seen = Counter([told(await lab.ask()) for _ in range(60)])
        return f"{in_words(seen)}; {await lab.opened()}"


@row("m", "worker RSTs every 2nd request of a connection, no retries")
async def _() -> str:
    return await reset(disable_retries=True)


@row("m2", "same, default retries")
async def _() -> str:
    return (
        f"{await reset()}; with upstream-keepalive-secs 0: {await reset(upstream_keepalive_secs=0)}"
    )


@row("m3", "worker closes right after each answer, 60 requests")
async def _() -> str:
    async with Lab() as lab:
        lab.does("closes the connection after chat")
        bad = sum([not (await lab.ask()).ok for _ in range(60)])
        return f"{bad} of 60 fail"


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


@row("s3", "20,000 nested arrays / the model twice / NaN / bad UTF-8")
async def _() -> str:
    async with Lab() as lab:
        twice = b'{"model":"other","model":"qwen","messages":[{"role":"user","content":"hi"}]}'
        nested = b'{"model":"qwen","messages":' + b"[" * 20000 + b"]" * 20000 + b"}"
        not_a_number = b'{"model":"qwen","messages":[],"x":NaN}'
        bad = b'{"model":"qwen","messages":[],"x":"\xff"}'
        json_ = (("content-type", "application/json"),)
        said = [
            told(await lab.judge.ask("POST", "/v1/chat/completions", headers=json_, body=body))
            for body in (nested, twice, not_a_number, bad)
        ]
        return f"{said[0]} / {said[1]}, the last one counts / {said[2]} / {said[3]}"
