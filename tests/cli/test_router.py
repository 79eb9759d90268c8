"""`staticfire router`."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.cli._router_flags import BORROWED, REFUSED, translate
from staticfire.errors import WrongInput


def test_worker_urls_in_one_flag():
    """`--worker-urls A B` is read as other routers read it."""
    args, warnings = translate(["--worker-urls", "a", "b", "--port", "1", "--worker-urls=c"])
    assert args == [
        "--worker-urls", "a", "--worker-urls", "b", "--port", "1", "--worker-urls", "c",
    ]  # fmt: skip
    assert warnings == []


@pytest.mark.parametrize("flag", sorted(REFUSED))
def test_refused_flags(flag):
    """A flag whose meaning we do not have is refused with the reason."""
    with pytest.raises(WrongInput) as caught:
        translate([flag, "1"])
    assert REFUSED[flag] in str(caught.value)


@pytest.mark.parametrize("flag", sorted(BORROWED))
def test_borrowed_flags(flag):
    """A harmless flag of other routers is dropped with its values, with one warning."""
    values = ["7"] * BORROWED[flag][0]
    args, warnings = translate([flag, *values, "--port", "1"])
    assert args == ["--port", "1"]
    assert len(warnings) == 1
    assert warnings[0].startswith(flag)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--worker-urls"], "requires an argument"),
        (["--worker-urls", "nonsense"], "--worker-urls: expected a URL"),
        (["--worker-urls", "http://a:1", "--policy", "stiky"], 'did you mean "sticky"'),
        (["--worker-urls", "http://a:1", "--queue-size", "-1"], "--queue-size: expected 0 or more"),
        (["--worker-urls", "http://a:1", "--api-key", ""], "--api-key: expected one line"),
        (["--worker-urls", "http://a:1", "--prot", "1"], "--port"),
        (["--worker-urls", "http://a:1", "--cb-failure-threshold", "0"], "1 or more"),
    ],
)
def test_usage_errors(args, words):
    """What cannot be used is a usage error: exit 2, with what was expected."""
    result = CliRunner().invoke(main, ["router", *args])
    assert result.exit_code == 2
    assert words in result.output


COMMAND = "import sys; from staticfire.cli import main; sys.argv[0] = 'staticfire'; main()"


def launch(*args):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "router", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_serves_and_stops():
    """It prints where it listens, answers at once, leaves with 0 at SIGTERM."""
    with launch(
        "--worker-urls", "http://127.0.0.1:9", "--port", "0", "--json", "--log-dir", "x"
    ) as process:
        try:
            line = json.loads(process.stdout.readline())
            assert line["pid"] == process.pid
            with urllib.request.urlopen(line["url"] + "/liveness", timeout=10) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (0, "")
    assert "--log-dir has no effect here" in err
    assert "Traceback" not in err


@pytest.mark.realtime
def test_the_first_signal_drains_and_the_second_hurries():
    """At SIGTERM it is not ready and still there; at the next one it is gone, with exit 0."""
    with launch(
        "--worker-urls", "http://127.0.0.1:9", "--port", "0", "--json",
        "--shutdown-delay-secs", "3600", "--log-level", "info",
    ) as process:  # fmt: skip
        try:
            url = json.loads(process.stdout.readline())["url"]
            process.send_signal(signal.SIGTERM)
            while "stopping" not in (line := process.stderr.readline()):
                assert line, "it ended without draining"
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(url + "/readiness", timeout=10)
            assert refused.value.code == 503
            assert json.load(refused.value)["reason"] == "the router drains"
            refused.value.close()
            with urllib.request.urlopen(url + "/liveness", timeout=10) as answer:
                assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0


def test_port_in_use():
    """A port in use is said in one line: exit 2, no traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with launch("--worker-urls", "http://127.0.0.1:9", "--port", str(port)) as process:
            _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert f"127.0.0.1:{port} in use" in err
    assert "Traceback" not in err
