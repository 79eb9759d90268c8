"""The key of protected workers, before a launch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading

import pytest


@pytest.fixture
def protected():
    """The URL of an engine that wants a key for its list and its chat."""
    body = json.dumps({"data": [{"id": "qwen"}], "model": "qwen", "choices": [{}]}).encode()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                status = 200 if b"Bearer s3cret-key\r\n" in peer.recv(65536) else 401
                head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n\r\n"
                peer.sendall(head.encode() + body)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize(("key", "code"), [("s3cret-key", 0), ("wr0ng-key", 1)])
def test_a_gate_sends_the_key_and_shows_it_nowhere(protected, key, code):
    """With the right one it opens; with the wrong one it says that it is refused."""
    command = [sys.executable, "-m", "staticfire", "gate", "--worker", protected]
    done = subprocess.run(
        [*command, "--api-key-env", "THE_KEY", "--timeout", "5" if code == 0 else "0.5", "--", "true"],
        capture_output=True, text=True, timeout=30, check=False,
        env={**os.environ, "THE_KEY": key},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert key not in done.stdout + done.stderr
    assert code == 0 or "the key is refused" in done.stderr
