"""The `openai` client, as users have it, against our processes: engine, and router in front of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.realtime

SCRIPT = """
model = "qwen"
tokens = 6

[[rule]]
on = "POST /v1/chat/completions"
times = 1
do = { fault = "answers", status = 429, retry_after = "1s" }
"""


@contextmanager
def serving(*args: str):
    """A command of ours as a process; gives the JSON line that it prints when it owns its port."""
    command = [sys.executable, "-m", "staticfire", *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
    assert process.returncode == 0


@pytest.fixture(scope="module")
def engine():
    with serving("engine", "--model", "qwen", "--name", "one", "--seed", "7") as line:
        yield line


@pytest.fixture(scope="module")
def router(engine):
    with serving("router", "--worker-urls", engine["url"], "--port", "0", "--json") as line:
        gate = ["gate", "--worker", line["url"], "--timeout", "10", "--interval", "0.05"]
        subprocess.run([sys.executable, "-m", "staticfire", *gate, "--", "true"], check=True)
        yield line


@pytest.fixture(params=["engine", "router"])
def client(request):
    url = request.getfixturevalue(request.param)["url"]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as made:
        yield made


MESSAGES = [{"role": "user", "content": "Say hello."}]


def test_json(client):
    """A chat answer parses into the client's own types."""
    answer = client.chat.completions.create(model="qwen", messages=MESSAGES, max_tokens=5)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 5
    assert answer.choices[0].message.content


def test_stream(client):
    """A stream parses chunk by chunk, usage included, and ends."""
    stream = client.chat.completions.create(
        model="qwen", messages=MESSAGES, max_tokens=5, stream=True,
        stream_options={"include_usage": True},
    )  # fmt: skip
    chunks = list(stream)
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert len(words) == 5
    assert chunks[-1].usage.completion_tokens == 5


def test_models(client):
    """The listing names the model."""
    assert "qwen" in [model.id for model in client.models.list()]


def test_an_error_is_the_clients_own_exception(client):
    """An unknown model is a NotFoundError with the engine's, or the router's, error object."""
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="nobody", messages=MESSAGES)
    assert caught.value.body["code"] in (404, "model_not_found")


def test_a_scripted_fault_reaches_the_client(tmp_path):
    """429 with Retry-After, as the script file says, then an honest answer."""
    script = tmp_path / "busy.toml"
    script.write_text(SCRIPT)
    with (
        serving("engine", "--script", str(script)) as line,
        openai.OpenAI(base_url=line["url"] + "/v1", api_key="unused", max_retries=0) as client,
    ):
        with pytest.raises(openai.RateLimitError) as caught:
            client.chat.completions.create(model="qwen", messages=MESSAGES)
        assert caught.value.response.headers["retry-after"] == "1"
        answer = client.chat.completions.create(model="qwen", messages=MESSAGES)
        assert answer.usage.completion_tokens == 6
