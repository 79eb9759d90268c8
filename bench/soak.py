"""A long run with churn of workers and clients: `python bench/soak.py --minutes 30`.

The router runs in a process of its own, with everything on by default. Workers die, come back, are
added and taken out; clients come and go: whole answers, streams, leavers, slow readers, mistakes.
Once a minute the load pauses, and the router is looked at while it rests. The verdict: at rest no
task more, no more sockets than an idle one to each worker, and a resident set that stays.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from staticfire.engine import Capacity, MockEngine, Script, phrases  # noqa: E402

WORKERS, SPARE = 6, 2
CLIENTS = 24
REST = 8.0
"""Seconds without load before a look."""
SLACK_MIB = 4.0
"""What the resident set may differ by at rest, from the middle of the run to its end."""
FAULTS = (
    "answers chat with 503 for 20 requests",
    "answers chat with 500 for 3 requests",
    "truncates chat after 2 events with a reset for 5 requests",
    "resets chat for 3 requests",
    "never answers chat for 2 requests",
)


@dataclass(frozen=True, slots=True)
class Look:
    """The router at rest: MiB resident, tasks, open files; and how many requests it has served."""

    rss: float
    tasks: int
    files: int
    served: int


# --- the router's process


async def serve(urls: list[str]) -> None:
    """Run the router; answer each line of standard input with a look."""
    from staticfire.router import Router, Settings

    settings = Settings(
        worker_urls=tuple(urls), port=0, policy="least_load", health_check_interval_secs=2.0,
        cb_timeout_duration_secs=3.0, request_timeout_secs=5.0,
    )  # fmt: skip
    router = Router(settings)
    await router.start()
    print(router.port, flush=True)
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        print(json.dumps({**resources(), "tasks": len(asyncio.all_tasks())}), flush=True)
    await router.stop()


def resources() -> dict[str, float]:
    """What this process holds: MiB resident, open files."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "rss": pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
        "files": len(list(Path("/proc/self/fd").iterdir())),
    }


# --- the clients


class Load:
    """Clients with every habit, for as long as `on` is set."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.chance = random.Random(seed)
        self.on = asyncio.Event()
        self.done = 0
        self.statuses: dict[str, int] = {}

    async def client(self) -> None:
        """One client after another, each with a connection of its own."""
        while True:
            await self.on.wait()
            with contextlib.suppress(
                OSError, asyncio.IncompleteReadError, TimeoutError, ValueError
            ):
                async with asyncio.timeout(20):
                    await self.visit()
            await asyncio.sleep(self.chance.random() * 0.2)

    async def visit(self) -> None:
        """A few requests on one connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        try:
            for _ in range(self.chance.randint(1, 5)):
                if not await self.ask(reader, writer):
                    break
        finally:
            writer.transport.abort()

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; False when the connection is over."""
        habit = self.chance.choices(
            ("json", "stream", "leaves", "slow", "mistake", "models"), (10, 10, 4, 2, 2, 1)
        )[0]
        if habit == "models":
            path = self.chance.choice(("/v1/models", "/metrics", "/readiness", "/workers"))
            writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        else:
            asked: dict[str, Any] = {"model": "qwen", "max_tokens": self.chance.randint(1, 30)}
            asked["messages"] = [{"role": "user", "content": "x" * self.chance.randint(1, 4000)}]
            asked["stream"] = habit in ("stream", "leaves", "slow")
            body = json.dumps(asked).encode() if habit != "mistake" else b'{"model": "qwen", '
            session = self.chance.randint(1, 10**9)
            writer.write(
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                b"x-session-id: s%d\r\ncontent-length: %d\r\n\r\n" % (session, len(body)) + body
            )
        if habit == "leaves":
            await asyncio.sleep(self.chance.random() * 0.05)
            return False
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        self.done += 1
        status = head[9:12].decode()
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if habit == "slow":
            await asyncio.sleep(0.5)
        at = head.find(b"\r\ncontent-length: ")
        if at >= 0:
            await reader.readexactly(int(head[at + 18 :].split(b"\r\n", 1)[0]))
        else:
            while (await reader.readuntil(b"\r\n")) != b"0\r\n":
                pass
            await reader.readuntil(b"\r\n")
        return b"\r\nconnection: close" not in head


async def churn(load: Load, engines: list[MockEngine], spare: list[MockEngine]) -> None:
    """Workers die and come back, misbehave, are added and taken out."""
    chance = load.chance
    while True:
        await asyncio.sleep(1 + chance.random() * 4)
        if not load.on.is_set():
            continue
        engine = chance.choice(engines)
        match chance.randrange(3):
            case 0:
                engine.kill()
                await asyncio.sleep(chance.random() * 3)
                engine.restart()
            case 1:
                engine.add_rule(phrases.rule(chance.choice(FAULTS)))
            case _:
                await admin(load.port, "POST", "/workers", {"url": chance.choice(spare).url})
                await asyncio.sleep(chance.random() * 4)
                for worker in (await admin(load.port, "GET", "/workers", None)).get("workers", []):
                    if int(worker["id"].lstrip("w")) >= WORKERS:
                        await admin(load.port, "DELETE", f"/workers/{worker['id']}", None)


async def admin(port: int, method: str, path: str, body: object) -> Any:
    """One call of the admin API."""
    data = b"" if body is None else json.dumps(body).encode()
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
            head += f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
            writer.write(head.encode() + data)
            answer = await reader.read()
            writer.close()
            return json.loads(answer.partition(b"\r\n\r\n")[2] or b"{}")
    return {}


# --- the run


async def soak(minutes: float, seed: int, *, every: float = 60.0) -> list[Look]:
    """Looks at the router at rest, one a minute; tells each as it comes."""
    script = Script(
        model="qwen", personality="vllm", capacity=Capacity(slots=64, per_token=0.002), tokens=30
    )
    every_one = [MockEngine(script, name=f"e{n}", seed=n) for n in range(WORKERS + SPARE)]
    for engine in every_one:
        await engine.start()
    engines, spare = every_one[:WORKERS], every_one[WORKERS:]
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--serve", *(engine.url for engine in engines),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin and process.stdout
    load = Load(int(await process.stdout.readline()), seed)
    tasks = [asyncio.create_task(load.client()) for _ in range(CLIENTS)]
    tasks.append(asyncio.create_task(churn(load, engines, spare)))
    looks: list[Look] = []
    until = time.monotonic() + minutes * 60
    try:
        while time.monotonic() < until:
            load.on.set()
            await asyncio.sleep(min(every - REST, max(1.0, until - time.monotonic() - REST)))
            load.on.clear()
            await asyncio.sleep(REST)
            for engine in every_one:
                engine.journal.rows.clear()
            process.stdin.write(b"\n")
            told = json.loads(await process.stdout.readline())
            looks.append(Look(told["rss"], told["tasks"], told["files"], load.done))
            print(f"{len(looks):3} {looks[-1]}  {load.statuses}", flush=True)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        process.stdin.close()
        await process.wait()
        for engine in every_one:
            await engine.stop()
    return looks


def verdict(looks: Sequence[Look]) -> tuple[bool, str]:
    """Whether nothing grew, in words.

    A look may fall on a check that is under way, so the floors count: the least that was held in
    the first third of the run and in the last one. Memory is judged after the first half, when
    every buffer and cache has been filled once.
    """
    third = max(1, len(looks) // 3)
    early, late = looks[:third], looks[-third:]
    tasks, files = (
        min(getattr(look, what) for look in late) - min(getattr(look, what) for look in early)
        for what in ("tasks", "files")
    )
    half = looks[len(looks) // 2 :]
    middle, end = half[: len(half) // 2 + 1], half[len(half) // 2 :]
    grown = statistics.median(x.rss for x in end) - statistics.median(x.rss for x in middle)
    good = tasks <= 0 and files <= WORKERS and grown <= SLACK_MIB
    words = (
        f"{looks[-1].served} requests; at rest {tasks:+d} tasks and {files:+d} open files from the "
        f"first third to the last; resident {looks[0].rss:.1f} MiB at first, {looks[-1].rss:.1f} at "
        f"last, {grown:+.1f} from the third quarter to the fourth"
    )
    return good, words


def main() -> int:
    """Run, then tell the verdict: 0 when nothing grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=60.0, help="seconds from look to look")
    parser.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        asyncio.run(serve(chosen.serve))
        return 0
    good, words = verdict(asyncio.run(soak(chosen.minutes, chosen.seed, every=chosen.every)))
    print(f"{'nothing grew' if good else 'IT GROWS'}: {words}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
