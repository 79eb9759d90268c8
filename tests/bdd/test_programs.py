"""Scenarios on a router that is a program: what runs, what is skipped and why, what is left."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.realtime

ROUTER = """
import asyncio, sys

async def relay(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()

async def serve(reader, writer):
    host, _, port = sys.argv[2].rpartition("/")[2].partition(":")
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    if b"/readiness" in head:
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
        return writer.close()
    upstream_reader, upstream = await asyncio.open_connection(host, int(port))
    upstream.write(head)
    await asyncio.gather(relay(reader, upstream), relay(upstream_reader, writer))

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
"""
"""The first worker gets everything, byte by byte."""

FEATURE = """
    Feature: f
      @id:relays
      Scenario: a request is relayed
        Given an engine "a" that loads for 20 seconds
        And the router in front of all engines
        And the router is ready
        When 30 seconds pass
        And a JSON request is sent
        Then the request succeeds

      @id:needs-a-breaker @needs:breaker
      Scenario: a breaker
        Given the router in front of all engines

      @id:needs-virtual-time @needs:virtual
      Scenario: an hour
        Given the router in front of all engines
        When 3600 seconds pass

      @id:needs-a-setting
      Scenario: a setting
        Given an engine "a" that serves
        And the router in front of all engines, set to
          | policy | sticky |

      @id:without-a-router
      Scenario: no router
        Given an engine "a" that serves
"""


@pytest.fixture
def mine(project):
    """A project with a router of its own and a feature."""
    project.write("router.py", ROUTER)
    line = f"{sys.executable} {project.path / 'router.py'} {{port}} {{workers}}"
    project.write(
        "pyproject.toml",
        f"[tool.staticfire.routers.mine]\ncommand = {json.dumps(line)}\n"
        "capabilities = ['readiness']\n",
    )
    project.write("f.feature", FEATURE)
    return project


def test_what_a_router_cannot_do_is_skipped_with_the_reason(mine):
    """The rest runs, in scaled real time."""
    result = mine.run("--router", "mine", "-rs")
    result.assert_outcomes(passed=1, skipped=4)
    result.stdout.fnmatch_lines_random(
        [
            "*unsupported: needs breaker, which the router mine lacks",
            "*needs virtual, which the lane mock lacks",
            "*unsupported: mine has no setting policy",
            "*no router takes part in it",
            "static fire: lane mock, clock virtual, router mine*",
        ]
    )


def test_a_failure_shows_the_routers_log_and_the_line_that_replays_it(mine):
    """As the program printed it."""
    mine.write(
        "router.py", "print('my last words', flush=True)\n" + ROUTER.replace("200 OK", "503 No")
    )
    mine.write(
        "f.feature",
        re.sub(r"the router is ready\n", "the router is ready within 1 seconds\n", FEATURE)
        .replace("And the router is ready within", "When the router is ready within")
        .replace("When 30", "And 30"),
    )
    result = mine.run("--router", "mine", "--router-bin", "somewhere", "--engine-id", "relays")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*Router's log*", "my last words", "pytest * --router mine --router-bin somewhere *"]
    )


def test_a_router_that_is_not_here_is_one_clear_error(project):
    """Before a test runs, with what to do."""
    project.write("f.feature", FEATURE)
    project.write(
        "pyproject.toml",
        "[tool.staticfire.routers.mine]\ncommand = 'nowhere-to-be-found {port} {workers}'\n",
    )
    result = project.run("--router", "mine")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--router mine: expected a program 'nowhere-to-be-found'*"])


def test_the_options_choose_among_scenarios(mine):
    """By id and by share; an id that nobody has is an error."""
    mine.run("--router", "mine", "--engine-id", "relays").assert_outcomes(passed=1, deselected=4)
    mine.run("--router", "mine", "--engine-shard", "2/5").assert_outcomes(skipped=1, deselected=4)
    result = mine.run("--router", "mine", "--engine-id", "relay")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


TELLS = """
    from staticfire.bdd.step import when

    @when("the router's process is told")
    def _(world):
        with open("told.part", "w") as file:
            file.write(str(world.router._group.pid))
        import os
        os.rename("told.part", "told")
"""


def until(condition, within=30.0):
    """Wait for something that another process does."""
    ends = time.monotonic() + within
    while time.monotonic() < ends:
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it never came")


def lives(group):
    """Whether a process group has a process that is no zombie, which nobody may have reaped."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, own = stat.read_text().rpartition(")")[2].split()[:3]
            if int(own) == group and state != "Z":
                return True
    return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_router_ends_with_the_run(mine, how):
    """On Ctrl-C, and when pytest is killed."""
    mine.write("conftest.py", TELLS)
    mine.write(
        "f.feature",
        FEATURE.replace("When 30", "When the router's process is told\n        And 3000"),
    )
    told = mine.path / "told"
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "--mock-engines", "--router", "mine", "--engine-id", "relays",
         "-q", "-p", "no:randomly", "-o", "asyncio_default_fixture_loop_scope=function"],
        cwd=mine.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        until(told.exists)
        group = int(told.read_text())
        assert lives(group)
        run.send_signal(how)
        run.wait(timeout=30)
    until(lambda: not lives(group))
