"""A router between fuzzed clients and a fuzzed worker, in virtual time, and what must hold of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import re
import socket
import struct
from dataclasses import dataclass, field

from fuzz import answering, asking
from fuzz.bending import pieces
from staticfire.clock.virtual import Stuck, run
from staticfire.router import Router, Settings

__all__ = ["Broken", "batch"]

DEADLINE = 400.0
"""Virtual seconds after a client's last byte in which its connection has ended."""
IDLE = 8.0
TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
UPSTREAM = re.compile(
    rb"[A-Z]+ /[!-~]* HTTP/1\.1\r\n(?:" + TOKEN + rb": ?[^\r\n\0]*\r\n)+\r\n", re.DOTALL
)
ANSWER = re.compile(
    rb"HTTP/1\.1 [1-9]\d\d [^\r\n]*\r\n(?:" + TOKEN + rb": ?[^\r\n\0]*\r\n)*\r\n", re.DOTALL
)
HONEST = json.dumps({"model": "qwen", "messages": [{"role": "user", "content": "hi"}]}).encode()
LISTING = b'{"object":"list","data":[{"id":"qwen","object":"model"}]}'
PROBED = b'{"choices":[{"message":{"role":"assistant","content":"ok"}}],"model":"qwen"}'


class Broken(AssertionError):
    """An invariant does not hold; the message names it, and the seed that shows it."""


@dataclass
class Stand:
    """One batch of cases: what it saw wrong so far, who is connected."""

    chance: random.Random
    wrong: list[str] = field(default_factory=list)
    open: set[asyncio.StreamWriter] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    bad_worker: bool = True


def batch(seed: int, cases: int, *, bad_client: bool, bad_worker: bool) -> None:
    """Run a batch of cases side by side; raises `Broken`."""
    chance = random.Random(f"{seed}/{bad_client}/{bad_worker}")
    stand = Stand(chance, bad_worker=bad_worker)
    listener = _Errors(stand.wrong)
    logger = logging.getLogger("staticfire")
    logger.addHandler(listener)
    before = logger.propagate
    logger.propagate = False
    try:
        run(_batch(stand, cases, bad_client=bad_client))
    except Stuck as stuck:
        stand.wrong.append(f"it hangs or spins: {stuck}")
    finally:
        logger.removeHandler(listener)
        logger.propagate = before
    if stand.wrong:
        found = "\n  ".join(dict.fromkeys(stand.wrong))
        raise Broken(f"seed {seed}, {bad_client=}, {bad_worker=}:\n  {found}")


async def _batch(stand: Stand, cases: int, *, bad_client: bool) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: stand.wrong.append(f"unhandled: {context}"))
    servers = [
        await asyncio.start_server(
            lambda reader, writer: _worker(stand, reader, writer), "127.0.0.1", 0, backlog=4096
        )
        for _ in range(2)
    ]
    one, other = (f"http://127.0.0.1:{s.sockets[0].getsockname()[1]}" for s in servers)
    legs = {"prefill": (one,), "decode": (other,)}
    fleet = stand.chance.choice(
        (
            {"worker_urls": (one,)},
            {"worker_urls": (one, other)},
            {"pd_disaggregation": "vllm", **legs},
            {"pd_disaggregation": "sglang", **legs},
        )
    )
    settings = Settings(
        **fleet,
        port=0,
        request_timeout_secs=IDLE,
        stream_idle_timeout_secs=IDLE,
        max_payload_size=1 << 20,
        disable_circuit_breaker=stand.chance.random() < 0.7,
    )
    router = Router(settings)
    await router.start()
    while not router.registry.served_models():
        await asyncio.sleep(0.1)
    seeds = [stand.chance.getrandbits(64) for _ in range(cases)]
    client = _bad_client if bad_client else _good_client
    async with asyncio.TaskGroup() as group:
        for number, seed in enumerate(seeds):
            group.create_task(
                client(stand, router.port, random.Random(seed)), name=f"case {number}"
            )
    await asyncio.sleep(4 * IDLE)  # a prefill leg may be read on for so long
    _nothing_left(stand, router)
    await router.stop()
    for server in servers:
        server.close()
    for task in tuple(stand.tasks):
        task.cancel()
    await asyncio.gather(*stand.tasks, return_exceptions=True)
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        stand.wrong.append(f"tasks left: {left}")


def _nothing_left(stand: Stand, router: Router) -> None:
    listener = router._listener
    if listener.connections or listener.tasks:
        stand.wrong.append(f"clients' connections left: {listener.connections, listener.tasks}")
    for worker in router.workers:
        busy = worker.lines.all - {connection for _, connection in worker.lines._idle}
        if worker.in_flight or busy:
            stand.wrong.append(f"{worker.in_flight} in flight, connections in use left: {busy}")


async def _worker(stand: Stand, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    task = asyncio.current_task()
    assert task is not None
    stand.tasks.add(task)
    task.add_done_callback(stand.tasks.discard)
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        try:
            while await _answer(stand, reader, writer):
                pass
        finally:
            writer.transport.abort()


async def _answer(stand: Stand, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """One answer; False when the connection is over."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = _judge_upstream(stand, head)
    body = await reader.readexactly(size)
    if head.startswith(b"GET /v1/models"):
        writer.write(_whole(LISTING))
        return True
    if head.startswith(b"GET "):
        writer.write(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
        return True
    _judge_body(stand, body)
    if b'"max_tokens":2' in body.replace(b" ", b"") or not stand.bad_worker:
        writer.write(_whole(PROBED))
        return True
    chance = random.Random(stand.chance.getrandbits(64))
    said, end = answering.play(chance)
    for act in pieces(said, chance):
        if isinstance(act, float):
            await asyncio.sleep(act)
        else:
            writer.write(act)
            await writer.drain()
    if end == "stay":
        return True
    if end == "reset":
        plain: socket.socket = writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()
    return False


def _judge_upstream(stand: Stand, head: bytes) -> int:
    """The length of a request's body; notes what no worker should ever get."""
    if UPSTREAM.fullmatch(head) is None:
        stand.wrong.append(f"a worker got a head that is not clean HTTP/1.1: {head[:300]!r}")
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:-2]]
    for name, most in ((b"host", 1), (b"content-length", 1), (b"transfer-encoding", 0)):
        if names.count(name) > most:
            stand.wrong.append(f"a worker got {names.count(name)} times {name!r}: {head[:300]!r}")
    if b"host" not in names:
        stand.wrong.append(f"a worker got no host: {head[:300]!r}")
    found = re.search(rb"(?i)\r\ncontent-length: ?(\d+)\r\n", head)
    return int(found[1]) if found else 0


def _judge_body(stand: Stand, body: bytes) -> None:
    """A body that is no JSON object never reaches a worker."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        stand.wrong.append(f"a worker got a body that is no JSON object: {body[:200]!r}")


def _whole(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


async def _good_client(stand: Stand, port: int, chance: random.Random) -> None:
    """One honest request: whatever the worker does, there is exactly one answer, with a head."""
    await asyncio.sleep(chance.random() * 20)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = HONEST[:-1] + b',"stream":true}' if chance.random() < 0.5 else HONEST
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: r\r\ncontent-type: application/json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    came = await _read(stand, reader, f"honest client of {body!r}")
    found = ANSWER.match(came)
    if found is None:
        stand.wrong.append(f"an honest client got no head, or a broken one: {came[:300]!r}")
    elif after := _beyond(found[0].lower(), came[found.end() :]):
        stand.wrong.append(f"{after[:100]!r} follows an answer's end: {came[:300]!r}")
    elif b"internal_error" in came:
        stand.wrong.append(f"a bug of ours was told: {came[:400]!r}")
    writer.close()


def _beyond(head: bytes, rest: bytes) -> bytes:
    """What follows the end of an answer by its own framing; nothing where it was cut."""
    if b"\r\ncontent-length: " in head:
        size = head.partition(b"\r\ncontent-length: ")[2].partition(b"\r")[0]
        return rest[int(size) :]
    if b"\r\ntransfer-encoding: chunked\r\n" not in head:
        return b""
    while found := re.match(rb"([0-9a-f]+)\r\n", rest):
        size = int(found[1], 16)
        if not size:
            return rest[found.end() + 2 :]
        rest = rest[found.end() + size + 2 :]
    return b"" if len(rest) < 20 else rest


async def _bad_client(stand: Stand, port: int, chance: random.Random) -> None:
    """Any bytes at any pace, and any way to go: the connection ends, or is ended, in time."""
    await asyncio.sleep(chance.random() * 20)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = asking.conversation(chance)
    with contextlib.suppress(OSError):
        for act in pieces(said, chance):
            if isinstance(act, float):
                await asyncio.sleep(act)
            else:
                writer.write(act)
                await writer.drain()
        match chance.randrange(4):
            case 0:
                writer.transport.abort()
                return
            case 1:
                writer.write_eof()
            case 2:
                await asyncio.sleep(chance.random())
                writer.close()
                return
        came = await _read(stand, reader, f"client that said {said[:300]!r}")
        if came and re.match(rb"HTTP/1\.1 [1-5]\d\d ", came) is None:
            stand.wrong.append(f"an answer that is none: {came[:200]!r} to {said[:300]!r}")
        if b"internal_error" in came:
            stand.wrong.append(f"a bug of ours was told: {came[:400]!r} to {said[:300]!r}")
    writer.close()


async def _read(stand: Stand, reader: asyncio.StreamReader, who: str) -> bytes:
    """Everything until the connection's end, which must come before the deadline."""
    came = bytearray()
    try:
        async with asyncio.timeout(DEADLINE):
            while data := await reader.read(1 << 16):
                came += data
    except TimeoutError:
        stand.wrong.append(f"not over after {DEADLINE:g} s: {who}; came: {bytes(came[:300])!r}")
    except ConnectionError:
        pass
    return bytes(came)


class _Errors(logging.Handler):
    def __init__(self, wrong: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._wrong = wrong

    def emit(self, record: logging.LogRecord) -> None:
        self._wrong.append(f"logged: {self.format(record)}")
