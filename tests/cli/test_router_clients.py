"""Clients as users have them, curl, `openai` and aiohttp, against a router process with keys and limits."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import aiohttp
import pytest

openai = pytest.importorskip("openai")
CURL = shutil.which("curl")

pytestmark = pytest.mark.realtime

MESSAGES = [{"role": "user", "content": "Say hello."}]
KEY = "client-key-1"
TOML = """
api-key = ["client-key-1", "client-key-2"]
max_payload_size = 2000000
log-format = "json"
log_requests = "all"
port = 0
"""
SCRIPT = """
model = "qwen"
tokens = 5

[[rule]]
on = "POST /v1/completions"
do = { fault = "stalls", events = 2 }
"""
PROMPT = {"model": "qwen", "prompt": "Say hello.", "max_tokens": 5}


@contextmanager
def serving(*args, log=None, **environment):
    """A command of ours as a process; gives the JSON line that it prints when it owns its port."""
    command = [sys.executable, "-m", "staticfire", *args]
    environment = {**os.environ, **environment}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
    ) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)
    assert process.returncode == 0


@pytest.fixture(scope="module")
def router(tmp_path_factory):
    """Its base URL, and the path of its log."""
    folder = tmp_path_factory.mktemp("router")
    config, log = folder / "router.toml", folder / "router.log"
    config.write_text(TOML, encoding="utf-8")
    script = folder / "script.toml"
    script.write_text(SCRIPT, encoding="utf-8")
    with (
        serving("engine", "--script", str(script), "--name", "one", "--seed", "7") as engine,
        log.open("w") as written,
        serving(
            "router", "--config", str(config), "--json", log=written,
            STATICFIRE_ROUTER_WORKER_URLS=engine["url"], STATICFIRE_ROUTER_SHUTDOWN_DELAY_SECS="0",
        ) as line,
    ):  # fmt: skip
        gate = ["gate", "--worker", line["url"], "--until", "health", "--interval", "0.05"]
        subprocess.run([sys.executable, "-m", "staticfire", *gate, "--", "true"], check=True)
        yield line["url"], log


def client(router, key=KEY):
    return openai.OpenAI(base_url=f"{router[0]}/v1", api_key=key, max_retries=0)


def curl(router, *args, body=None, path="/v1/chat/completions", key=KEY):
    """Status, headers (lower-case names) and body, as curl got them."""
    command = [
        CURL, "-s", "-i", "--max-time", "60", "-H", f"Authorization: Bearer {key}",
        "-H", "Content-Type: application/json", "-H", "Expect:", *args, router[0] + path,
    ]  # fmt: skip
    if body is not None:
        command += ["--data-binary", "@-"]
    done = subprocess.run(command, input=body, capture_output=True, check=False)
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, rest


def test_openai_with_a_key(router):
    """JSON, a stream, tools, a stream left half-way, the list: all as from the engine itself."""
    with client(router) as asks:
        create = asks.chat.completions.create
        whole = create(model="qwen", messages=MESSAGES, max_tokens=5)
        assert whole.usage.completion_tokens == 5
        tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        assert create(model="qwen", messages=MESSAGES, tools=[tool]).choices
        with create(model="qwen", messages=MESSAGES, max_tokens=5, stream=True) as stream:
            assert sum(bool(c.choices and c.choices[0].delta.content) for c in stream) == 5
        with create(model="qwen", messages=MESSAGES, max_tokens=500, stream=True) as stream:
            next(iter(stream))
        assert [model.id for model in asks.models.list()] == ["qwen"]
        raw = asks.chat.completions.with_raw_response.create(model="qwen", messages=MESSAGES)
        assert raw.headers["x-staticfire-worker"] == "w00"
        assert raw.headers["x-request-id"]


def metric(router, sample):
    """The value of one sample; 0 where there is none."""
    with urllib.request.urlopen(f"{router[0]}/metrics", timeout=60) as page:
        lines = page.read().decode().splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(f"{sample} ")), 0.0)


IN_FLIGHT = 'staticfire_worker_in_flight{worker="w00"}'
LEFT = 'staticfire_worker_streams_total{worker="w00",model="qwen",outcome="client_disconnect"}'


def until(router, sample, value):
    """Wait until a sample has the value: at once, but a busy machine may take its time."""
    patience = time.monotonic() + 60
    while (found := metric(router, sample)) != value:
        assert time.monotonic() < patience, f"{sample} is {found:g}, not {value:g}"
        time.sleep(0.02)


def quiet(router):
    """Wait until nothing is under way; how many streams were left so far."""
    until(router, IN_FLIGHT, 0)
    return metric(router, LEFT)


def noticed(router, before):
    """Wait until one more stream was left, and its place at the worker is free."""
    until(router, LEFT, before + 1)
    until(router, IN_FLIGHT, 0)


def test_openai_leaves_a_stream_half_way(router):
    """The router notices, with the engine silent and nothing more to send."""
    before = quiet(router)
    with client(router) as asks:
        with asks.completions.create(**PROMPT, stream=True) as stream:
            next(iter(stream))
            assert metric(router, IN_FLIGHT) == 1
        noticed(router, before)


def test_aiohttp_leaves_a_stream_half_way(router):
    """As `openai` does; the session lives on."""

    async def leaves(session):
        before = await asyncio.to_thread(quiet, router)
        async with session.post("/v1/completions", json={**PROMPT, "stream": True}) as answer:
            assert (await answer.content.readline()).startswith(b"data: {")
            assert await asyncio.to_thread(metric, router, IN_FLIGHT) == 1
        await asyncio.to_thread(noticed, router, before)
        async with session.get("/v1/models") as answer:
            assert answer.status == 200

    asyncio.run(with_session(router, leaves))


async def with_session(router, does):
    """One aiohttp session with a key, closed afterwards."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(router[0], headers=headers, raise_for_status=True) as session:
        await does(session)


def test_aiohttp_with_a_key(router):
    """JSON, a stream to its end, and twenty requests at once on one session: each has its own answer."""
    chat, asked = "/v1/chat/completions", {"model": "qwen", "messages": MESSAGES, "max_tokens": 5}

    async def one(session, number):
        named = {"X-Request-Id": f"aiohttp-{number}"}
        async with session.post(chat, json=asked, headers=named) as answer:
            told = await answer.json()
            return answer.headers["X-Request-Id"], told["usage"]["completion_tokens"], told["id"]

    async def asks(session):
        async with session.post(chat, json={**asked, "stream": True}) as answer:
            assert answer.content_type == "text/event-stream"
            text = (await answer.text()).strip()
        events = [line.removeprefix("data: ") for line in text.splitlines() if line]
        assert events[-1] == "[DONE]"
        deltas = [choice["delta"] for e in events[:-1] for choice in json.loads(e)["choices"]]
        assert sum(bool(delta.get("content")) for delta in deltas) == 5
        told = await asyncio.gather(*(one(session, number) for number in range(20)))
        assert [name for name, _, _ in told] == [f"aiohttp-{number}" for number in range(20)]
        assert {tokens for _, tokens, _ in told} == {5}
        assert len({answer for _, _, answer in told}) == 20

    asyncio.run(with_session(router, asks))


@pytest.mark.parametrize(
    ("kind", "key", "asked"),
    [
        ("AuthenticationError", "wrong", {}),
        ("NotFoundError", KEY, {"model": "nobody"}),
        ("BadRequestError", KEY, {"extra_body": {"stream": "yes"}}),
        ("APIStatusError", KEY, {"extra_body": {"x": "x" * 2_000_000}}),
    ],
)
def test_openai_knows_our_errors(router, kind, key, asked):
    """Each of our own errors is the client's own exception, with message, type, param and code."""
    with client(router, key) as asks, pytest.raises(getattr(openai, kind)) as caught:
        asks.chat.completions.create(**{"model": "qwen", "messages": MESSAGES, **asked})
    error = caught.value
    assert error.body.keys() >= {"message", "type", "param", "code"}
    assert error.response.headers["x-staticfire-error"] == error.body["code"] == error.code


@pytest.mark.skipif(CURL is None, reason="no curl here")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"model": "qwen", "messages": [', 400, "invalid_json"),
        (b"model=qwen", 400, "invalid_json"),
        (b"", 400, "invalid_json"),
        (b'["qwen"]', 400, "invalid_request"),
        (b'{"model": ["qwen"]}', 400, "invalid_request"),
        (b'{"model": "qwen", "x": "\xff"}', 400, "invalid_json"),
        (b'{"model": "qwen", "x": ' + b"[" * 600 + b"]" * 600 + b"}", 400, "invalid_json"),
        (b'{"model": "qwen", "x": "' + b"x" * 50_000_000 + b'"}', 413, "payload_too_large"),
    ],
    ids=["cut", "no JSON", "nothing", "a list", "a wrong type", "no UTF-8", "too deep", "50 MB"],
)
def test_curl_with_what_is_no_request(router, body, status, code):
    """400 or 413 in OpenAI's shape, which curl can read also before its upload ended."""
    got, headers, told = curl(router, body=body)
    assert (got, headers["x-staticfire-error"]) == (status, code)
    assert set(json.loads(told)["error"]) == {"message", "type", "param", "code"}
    fine = {"model": "qwen", "messages": MESSAGES, "x": 10**40}
    assert curl(router, body=json.dumps(fine).encode())[0] == 200


def test_the_log_is_json_with_the_ids(router):
    """Each line is an object; a request is found by the id that its client gave it."""
    with client(router) as asks:
        asks.chat.completions.create(
            model="qwen", messages=MESSAGES, extra_headers={"X-Request-Id": "find-me"}
        )
        asks.models.list()  # answered after the line was written
    lines = [json.loads(line) for line in router[1].read_text().splitlines()]
    (mine,) = (line for line in lines if line.get("request_id") == "find-me")
    assert (mine["status"], mine["worker"], mine["model"]) == (200, "w00", "qwen")
    assert not any(KEY in json.dumps(line) for line in lines)
    assert not any("127.0.0.1" in line["message"] for line in lines if "listening" not in line["message"])  # fmt: skip
