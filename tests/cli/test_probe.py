"""`staticfire probe`: exit codes and words, on tiny raw engines in a thread."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

from staticfire.cli import main


class Raw:
    """An engine in a thread: canned bytes by path, None to stay silent."""

    def __init__(self, chat: bytes | None, models: bytes | None) -> None:
        self.answers = {b"/v1/models": models, b"/v1/chat/completions": chat}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open: list[socket.socket] = []
        self.asked: list[bytes] = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(peer)
            self.asked.append(peer.recv(65536))
            answer = self.answers.get(self.asked[-1].split(b" ")[1])
            if answer is not None:
                peer.sendall(answer)

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for peer in self.open:
            peer.close()


def reply(status: int, body: object = None, headers: str = "") -> bytes:
    """One answer with its length."""
    data = b"" if body is None else json.dumps(body).encode()
    return f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n{headers}\r\n".encode() + data


LIST = reply(200, {"data": [{"id": "qwen"}]})
OK = reply(200, {"model": "qwen", "choices": [{}]})


@pytest.fixture
def engine():
    """A factory of raw engines."""
    started = []

    def start(chat=OK, models=LIST):
        started.append(Raw(chat, models))
        return started[-1]

    yield start
    for raw in started:
        raw.stop()


def call(*args: str):
    """Run the command in this process."""
    return CliRunner().invoke(main, ["probe", *args])


@pytest.mark.parametrize(
    ("chat", "models", "code", "word"),
    [
        (OK, LIST, 0, "serving"),
        (None, LIST, 3, "listing"),
        (reply(503), LIST, 3, "busy"),
        (reply(429, headers="retry-after: 7\r\n"), LIST, 3, "busy"),
        (reply(500), LIST, 4, "broken"),
        (OK[:-3], LIST, 3, "listing"),
        (reply(404), LIST, 5, "misconfigured"),
        (OK, reply(401), 5, "misconfigured"),
        (OK, reply(200, {"data": [{"id": "phi"}]}), 5, "misconfigured"),
    ],
    ids=["ok", "hangs", "503", "429", "500", "unfinished", "404", "list 401", "other model"],
)
def test_the_exit_code_tells_the_verdict(engine, chat, models, code, word):
    """0 serving, 3 coming up, 4 broken, 5 misconfigured; the word is the first one printed."""
    result = call(engine(chat, models).url, "--model", "qwen", "--deadline", "0.2")
    assert result.exit_code == code, result.output
    assert result.output.startswith(f"{word}: ")
    assert result.output.count("\n") == 1


def test_a_refused_port_is_unreachable():
    """4, with what was expected, what came and what to do."""
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{owner.getsockname()[1]}"
        result = call(url, "--model", "qwen")
    assert result.exit_code == 4
    assert result.output == (
        f"unreachable: {url}: expected an answer of qwen within 8 s, found: connection refused; "
        "start the engine, or correct the host and the port\n"
    )


def test_json_is_one_object(engine):
    """A machine reads verdict, exit, reason and what to do."""
    raw = engine(reply(429, headers="retry-after: 7\r\n"))
    result = call(raw.url, "--json")
    page = json.loads(result.output)
    assert (page["verdict"], page["exit"], page["status"]) == ("busy", 3, 429)
    assert (page["model"], page["models"]) == ("qwen", ["qwen"])
    assert (page["retry_after"], page["do"]) == (7.0, "ask again in 7 s")
    assert result.exit_code == 3


@pytest.mark.parametrize(("rule", "code"), [("answered", 0), ("proven", 0), ("strict", 5)])
def test_the_accept_rule_is_chosen_by_name(engine, rule, code):
    """A 400 is life for two of the rules, and the wrong model for the third."""
    assert call(engine(reply(400)).url, "--accept", rule).exit_code == code


@pytest.mark.parametrize("as_file", [False, True], ids=["a variable", "a file"])
def test_a_key_is_taken_by_name_and_told_nowhere(engine, monkeypatch, tmp_path, as_file):
    """The engine echoes the key that it refuses; the output does not."""
    echo = {"error": {"message": "Incorrect API key provided: s3cret-key"}}
    raw = engine(reply(401, echo))
    monkeypatch.setenv("THE_KEY", "s3cret-key")
    (tmp_path / "key").write_text("s3cret-key\n")
    named = ("--api-key-file", str(tmp_path / "key")) if as_file else ("--api-key-env", "THE_KEY")
    for more in ((), ("--json",)):
        result = call(raw.url, *named, *more)
        assert result.exit_code == 5
        assert "s3cret" not in result.output
        assert "[key]" in result.output
    assert all(b"authorization: Bearer s3cret-key" in asked for asked in raw.asked)
    assert len(raw.asked) == 4


def test_there_is_no_option_for_the_key_itself():
    """It would stand in the list of processes."""
    result = call("http://127.0.0.1:1", "--api-key", "s3cret-key")
    assert result.exit_code == 2
    assert "s3cret" not in result.output


def test_a_kind_is_chosen(engine):
    """A completion model is asked on its own route."""
    raw = engine(reply(404))
    raw.answers[b"/v1/completions"] = OK
    assert call(raw.url, "--kind", "completion").exit_code == 0
    assert call(raw.url).exit_code == 5
    wrong = call(raw.url, "--kind", "embedding")
    assert wrong.exit_code == 2
    assert 'did you mean "embeddings"?' in wrong.output


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("http://127.0.0.1:1", "--api-key-env", "NO_SUCH_KEY"), "a variable that is set"),
        (("http://127.0.0.1:1", "--accept", "provn"), 'did you mean "proven"?'),
        (("127.0.0.1:1",), "write http://127.0.0.1:1"),
        (("http://127.0.0.1:1", "--deadline", "0"), "--deadline"),
        ((), "URL"),
    ],
)
def test_a_wrong_call_is_a_usage_error(args, told):
    """Exit 2, and what to write instead."""
    result = call(*args)
    assert result.exit_code == 2
    assert told in result.output


def test_a_probe_loads_no_test_stack():
    """It starts quickly: no pydantic, no prometheus_client, no aiohttp, no pytest, no engines."""
    code = (
        "import sys; from staticfire.cli import main\n"
        "try: main(['probe', 'http://127.0.0.1:1', '--deadline', '0.1'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pydantic', 'prometheus_client', 'aiohttp', 'pytest', 'rich',"
        " 'staticfire.engine', 'staticfire.judge', 'staticfire.router') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_a_resolver_that_hangs_does_not_hold_the_exit():
    """The process ends at its deadline though a thread still waits for a name."""
    code = (
        "import socket, sys, time; from staticfire.cli import main\n"
        "socket.getaddrinfo = lambda *a, **k: time.sleep(60)\n"
        "main(['probe', 'http://engine.test:1', '--deadline', '0.2'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert done.returncode == 4
    assert "no connection within 0.2 s" in done.stdout
