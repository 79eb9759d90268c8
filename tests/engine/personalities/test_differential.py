"""The same requests to a real engine and to its personality: statuses, heads, JSON, framing."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from golden import pieces
from staticfire.engine import Capacity, MockEngine, Script
from staticfire.stand.lanes.hf import write_cache
from staticfire.stand.lanes.llamacpp import LlamaCppLane

FORGIVEN = {
    "GET /props": "the mock leaves the sampling defaults out of `default_generation_settings`",
    "HEAD /v1/models": "the real one writes Accept-Ranges, after Connection",
}
"""Requests of which only the status is compared, and why."""


@dataclass
class Port:
    """An engine that is not ours, for a client that wants to know its port only."""

    port: int


def shape(value):
    """The structure of a JSON value: keys in their order and kinds of values."""
    if isinstance(value, dict):
        return [(key, shape(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def told(heard):
    """What is compared of an answer: status, header names in order, and its body's structure."""
    names = [line.partition(b":")[0] for line in heard.head.split(b"\r\n")[1:]]
    head = [name for name in names if name.lower() != b"x-engine"]
    raw = heard.data.partition(b"\r\n\r\n")[2]
    if b"transfer-encoding: chunked" in heard.head.lower():
        body = [events(chunk) for chunk in pieces(raw)]
    elif heard.body[:1] in (b"{", b"["):
        body = shape(heard.json())
    elif b"# TYPE" in heard.body:
        body = [line for line in heard.body.decode().splitlines() if line.startswith("# TYPE")]
    else:
        body = heard.body
    return heard.status, head, body


def events(chunk):
    """The structure of each event of a chunk."""
    found = []
    for event in chunk.split(b"\n\n"):
        data = event.removeprefix(b"data: ")
        found.append(shape(json.loads(data)) if data[:1] == b"{" else data)
    return found


def questions(http, model):
    """What is asked of both."""

    def chat(**fields):
        body = {"model": model, "messages": http.MESSAGES, "max_tokens": 4, "temperature": 0}
        body |= fields
        return http.request(body={key: value for key, value in body.items() if value is not None})

    gets = ("/health", "/v1/health", "/v1/models", "/models", "/metrics", "/props", "/version",
            "/v1/nope", "/v1/chat/completions")  # fmt: skip
    return {
        **{f"GET {path}": http.get(path) for path in gets},
        "HEAD /v1/models": http.request("HEAD", "/v1/models"),
        "POST /health": http.request("POST", "/health", {}),
        "chat": chat(),
        "chat kept open": chat().replace(b"\r\nConnection: close", b""),
        "chat stream": chat(stream=True),
        "chat stream with usage": chat(stream=True, stream_options={"include_usage": True}),
        "chat to its end": chat(max_tokens=None),
        "chat max_tokens=0": chat(max_tokens=0),
        "chat max_tokens=-5": chat(max_tokens=-5),
        "chat max_tokens='x'": chat(max_tokens="x"),
        "chat n=2": chat(n=2),
        "chat unknown model": chat(model="no-such-model"),
        "chat no model": chat(model=None),
        "chat no messages": http.request(body={"model": model}),
        "chat messages is a string": chat(messages="hi"),
        "chat invalid JSON": http.request(body=b'{"model": "x", "messages": ['),
        "chat cut object": http.request(body=b'{"a": 1'),
        "chat empty body": http.request(body=b"", headers=("Content-Type: application/json",)),
        "completions": http.request(
            "POST", "/v1/completions", {"model": model, "prompt": "hi", "max_tokens": 3}
        ),
        "completions stream": http.request(
            "POST",
            "/v1/completions",
            {"model": model, "prompt": "hi", "max_tokens": 3, "stream": True},
        ),
        "embeddings": http.request("POST", "/v1/embeddings", {"model": model, "input": "hi"}),
        "not HTTP": b"HELLO\r\n\r\n",
    }


async def both(http, port, script, asks):
    """Each answer of the real engine beside that of the mock."""
    answers = {}
    async with MockEngine(script) as mock:
        for name, ask in asks.items():
            patience = 2 if name == "chat kept open" else 20
            answers[name] = await asyncio.gather(
                *(http.talk(engine, ask, patience=patience) for engine in (Port(port), mock))
            )
    return answers


def differences(answers, fold=lambda told: told):
    """What is not alike once `fold` has taken away what may differ."""
    found = {}
    for name, (real, mock) in answers.items():
        theirs, ours = fold(told(real)), fold(told(mock))
        if name in FORGIVEN:
            theirs, ours = theirs[:1], ours[:1]
        if theirs != ours:
            found[name] = (theirs, ours)
    return found


FRAMING = {b"connection", b"transfer-encoding"}


def uvicorns(told):
    """Without what uvicorn's parser decides: spelling and order of two headers, what shares a chunk.

    The capture has h11's `Transfer-Encoding`, `Connection`; httptools, where it is installed, says
    `connection`, `transfer-encoding`.
    """
    status, head, body = told
    framing = sorted(name.lower() for name in head if name.lower() in FRAMING)
    if b"transfer-encoding" in framing:
        body = [event for chunk in body for event in chunk if event]
    return status, [name for name in head if name.lower() not in FRAMING] + framing, body


@pytest.mark.realtime
def test_llamacpp_and_its_personality_answer_alike(http):
    """Status, header names, JSON keys and chunks of a real llama.cpp server are the mock's."""
    pytest.importorskip("xllamacpp")
    lane = LlamaCppLane()

    async def main():
        engine = await lane.start("real", "tiny", seed=0)
        port = int(engine.url.rpartition(":")[2])
        script = Script(
            model="tiny",
            personality="llamacpp",
            max_model_len=1024,
            capacity=Capacity(slots=2),
        )
        asks = questions(http, "tiny")
        asks["responses"] = http.request(
            "POST", "/v1/responses", {"input": "hi", "max_output_tokens": 3}
        )
        asks["tokenize"] = http.request("POST", "/tokenize", {"content": "hi"})
        asks["OPTIONS"] = http.request("OPTIONS", "/v1/chat/completions")
        return await both(http, port, script, asks)

    try:
        answers = asyncio.run(main())
    finally:
        lane.close()
    assert len(answers) > 30
    assert differences(answers) == {}


@pytest.fixture
def transformers_serve(tmp_path):
    """A real `transformers serve` with a tiny model of known words; skips without what it needs."""
    needed = (
        "torch", "transformers", "safetensors", "tokenizers", "fastapi", "uvicorn", "pydantic",
        "openai", "accelerate", "requests",
    )  # fmt: skip
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"transformers serve needs {', '.join(missing)}")
    write_cache(tmp_path, "lab/tiny")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "transformers"), "serve"]
    with (tmp_path / "log").open("w+") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        )  # fmt: skip
        try:
            _wait_for(port, process, log)
            yield port
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


def _wait_for(port, process, log):
    """Until the port is open; fails with the log's end when the process dies first."""
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            log.seek(0)
            pytest.fail(f"transformers serve died: {log.read()[-2000:]}")
        time.sleep(0.2)
    pytest.fail("transformers serve did not open its port in 120 s")


def test_transformers_and_its_personality_answer_alike(http, transformers_serve):
    """The same with `transformers serve`, where torch can be had."""
    script = Script(model="lab/tiny", personality="transformers")
    asks = questions(http, "lab/tiny")
    answers = asyncio.run(both(http, transformers_serve, script, asks))
    # Garbage is answered by uvicorn's parser: h11 in the capture, httptools where it is installed.
    del answers["not HTTP"]
    assert differences(answers, uvicorns) == {}
