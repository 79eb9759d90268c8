"""Clients as users have them, curl and `openai`, against a router process with keys and limits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

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
    with (
        serving("engine", "--model", "qwen", "--name", "one", "--seed", "7") as engine,
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
