"""The servers that are measured: a mock engine, bare aiohttp, the bundled router.

    python -m bench.serve KIND '{"option": …}'

Prints its port (its ports), then its CPU time in nanoseconds for each line that it reads; ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

__all__ = ["BARE_ANSWER"]

ANSWER = {
    "id": "chatcmpl-0123456789abcdef",
    "object": "chat.completion",
    "created": 1767225600,
    "model": "qwen",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": " engine 01234567 ready steady the quick mock engine answers from a",
                "refusal": None,
                "annotations": None,
                "audio": None,
                "function_call": None,
                "reasoning": None,
            },
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": None,
            "token_ids": None,
            "routed_experts": None,
        }
    ],
    "service_tier": None,
    "system_fingerprint": "vllm-0.32.0-01234567",
    "usage": {
        "prompt_tokens": 24,
        "total_tokens": 37,
        "completion_tokens": 13,
        "prompt_tokens_details": None,
        "completion_tokens_details": None,
    },
    "prompt_logprobs": None,
    "prompt_token_ids": None,
    "prompt_text": None,
    "kv_transfer_params": None,
    "ec_transfer_params": None,
    "metrics": None,
}
"""What bare aiohttp says: the keys of the mock engine's answer, so about as many bytes."""

BARE_ANSWER = json.dumps(ANSWER, separators=(",", ":")).encode()

EVENT = (
    b'data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1767225600,'
    b'"model":"qwen","choices":[{"index":0,"delta":{"content":" ready"},"logprobs":null,'
    b'"finish_reason":null,"token_ids":null}]}\n\n'
)


async def engine(
    per_token: float = 0.0, tokens: int = 13, blocks: int | None = None, block_size: int = 16
) -> int:
    """One mock engine, honest, with or without a pace; an answer has at most `tokens`."""
    from staticfire.engine import Capacity, MockEngine, Script

    capacity = Capacity(
        slots=100_000, per_token=per_token, blocks=blocks, block_size=block_size, reuse=False
    )
    script = Script(model="qwen", capacity=capacity, tokens=tokens)
    return (await MockEngine(script).start()).port


async def waiting(count: int, state: str) -> list[int]:
    """Mock engines that never become ready, each in the same way."""
    from staticfire.engine import Answers, Busy, Loading, MockEngine, NeverAnswers, Refuses, Script

    no = Answers(503)
    phase = {
        "refuses": Refuses(),
        "loads": Loading(health=503, listed=no, chat=no),
        "hangs": Loading(chat=NeverAnswers()),
        "is busy": Busy(),
    }[state]
    engines = [MockEngine(Script(model="qwen", life=[phase])) for _ in range(count)]
    _kept.extend(engines)
    return [(await engine.start()).port for engine in engines]


async def constant() -> int:
    """`web.Server` with the least handler: it reads the body and says constant bytes."""

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=BARE_ANSWER, content_type="application/json")

    return await _listen(web.Server(handle, access_log=None))


async def written() -> int:
    """`web.Server` with the handler that one writes by hand: it parses, answers in JSON."""

    async def handle(request: web.BaseRequest) -> web.Response:
        asked = json.loads(await request.read())
        return web.json_response({**ANSWER, "model": asked["model"]})

    return await _listen(web.Server(handle, access_log=None))


async def stream(per_token: float, tokens: int) -> int:
    """`web.Server` that says constant events, with a sleep before each."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(tokens):
            await asyncio.sleep(per_token)
            await response.write(EVENT)
        await response.write_eof()
        return response

    return await _listen(web.Server(handle, access_log=None))


async def _listen(factory: Any) -> int:
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(factory, "127.0.0.1", 0, backlog=4096)
    _kept.append(listener)
    return int(listener.sockets[0].getsockname()[1])


_kept: list[Any] = []


async def router(workers: list[str]) -> int:
    """The bundled router, once all its workers serve."""
    from staticfire.router import Router, Settings

    made = Router(Settings(worker_urls=tuple(workers), port=0))
    _kept.append(made)
    await made.start()
    async with asyncio.timeout(30):
        while not all(worker.serving for worker in made.workers):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)
    return made.port


KINDS: dict[str, Callable[..., Awaitable[int | list[int]]]] = {
    kind.__name__: kind for kind in (engine, waiting, constant, written, stream, router)
}


async def serve(kind: str, options: dict[str, Any]) -> None:
    print(await KINDS[kind](**options), flush=True)
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def told() -> None:
        line = os.read(0, 64)
        if line:
            print(time.process_time_ns(), flush=True)
        else:
            loop.remove_reader(0)
            over.set_result(None)

    loop.add_reader(0, told)
    await over


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], json.loads(sys.argv[2])))
    os._exit(0)  # what still runs has nothing to say
