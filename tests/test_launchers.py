"""The example launchers run: with mock engines for engines, and stand-ins for what Slurm brings."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.realtime

EXAMPLES = Path(__file__).parents[1] / "docs/examples"
NODES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]

SCONTROL = r"""
    print("\n".join(sys.argv[3].split(",")))
"""
SRUN = """
    import signal, subprocess

    nodes, words = os.environ["SLURM_JOB_NODELIST"].split(","), sys.argv[1:]
    while words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        nodes = value.split(",") if name == "--nodelist" else nodes
    tasks = [
        subprocess.Popen(words, env={**os.environ, "SLURMD_NODENAME": node}) for node in nodes
    ]
    def end(*_):
        for task in tasks:
            task.terminate()
    signal.signal(signal.SIGTERM, end)
    code = 0
    for _ in tasks:
        _, status = os.wait()
        code = code or os.waitstatus_to_exitcode(status)
        if code:
            end()
    sys.exit(code if code >= 0 else 128 - code)
"""
VLLM = """
    node = os.environ.get("SLURMD_NODENAME", os.environ["SLURM_JOB_NODELIST"].split(",")[0])
    if node in os.environ.get("DYING", "").split(","):
        print("out of memory", file=sys.stderr)
        sys.exit(9)
    script = os.environ["ENGINE_SCRIPT"]
    model, port = sys.argv[2], sys.argv[sys.argv.index("--port") + 1]
    os.dup2(2, 1)
    run("engine", "--script", script, "--model", model, "--host", node, "--port", port)
"""
ROUTER = """
    words = [w for i, w in enumerate(sys.argv) if sys.argv[i - 1] == "--decode"]
    bound = sys.argv[sys.argv.index("--host"):]
    print("told", *sys.argv[1:], file=sys.stderr, flush=True)
    run("router", "--worker-urls", *words, *bound)
"""
USER = r"""
    import json, re, urllib.request

    base = re.search(r"http://[^/ ]+", " ".join(sys.argv))
    if base is None or "train_sft.py" in sys.argv:
        os.write(1, b"trained\n")
        sys.exit()
    asked = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": "hi"}]}
    url = base[0] + "/v1/chat/completions"
    request = urllib.request.Request(
        url, json.dumps(asked).encode(), {"content-type": "application/json"}
    )
    said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    print("answered", bool(said), flush=True)
"""
TOOLS = {"scontrol": SCONTROL, "srun": SRUN, "vllm": VLLM, "vllm-router": ROUTER}
TOOLS |= {"torchrun": USER, "lm_eval": USER, "staticfire": "run(*sys.argv[1:])"}


def bash() -> str:
    """A bash that has `wait -n -p`, or a skip that says why not."""
    found = shutil.which("bash")
    if found is None:
        pytest.skip("needs bash 5.1, there is none")
    told = subprocess.run([found, "-c", "echo $BASH_VERSION"], capture_output=True, text=True)
    version = tuple(int(number) for number in re.findall(r"\d+", told.stdout)[:2])
    if version < (5, 1):
        pytest.skip(f"needs bash 5.1, this is {told.stdout.strip()}")
    return found


@pytest.fixture
def ports():
    """Two ports that are ours on every node: for the engines and for the router.

    The sockets are bound and never listen, so that nobody else is given a port and whoever listens
    beside them is reached.
    """
    if sys.platform != "linux":
        pytest.skip("needs 127.0.0.2 for a second node")
    kept: list[socket.socket] = []
    found: list[int] = []
    while len(found) < 2:
        tried: list[socket.socket] = []
        port = 0
        try:
            for node in [*NODES, "0.0.0.0"] if not found else ["0.0.0.0"]:
                tried.append(socket.socket())
                tried[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried[-1].bind((node, port))
                port = tried[-1].getsockname()[1]
        except OSError:  # somebody has it on one of the nodes: another
            for one in tried:
                one.close()
        else:
            kept += tried
            found.append(port)
    yield found
    for one in kept:
        one.close()


@pytest.fixture
def job(tmp_path, ports):
    """Start a launcher with stand-ins for its tools; it is killed with its group after the test."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in TOOLS.items():
        head = f"""\
            #!{sys.executable}
            import os, sys
            def run(*words):
                os.execv({sys.executable!r}, [{sys.executable!r}, "-m", "staticfire", *words])
        """
        (tools / name).write_text(textwrap.dedent(head) + textwrap.dedent(text))
        (tools / name).chmod(0o755)
    script = tmp_path / "engine.toml"
    started = []

    def start(name: str, life: str = "serving", nodes: int = 2, **variables: object):
        phases = [f'{{ phase = "{phase}" }}' for phase in life.split(", ")]
        script.write_text(f'model = "m"\nlife = [{", ".join(phases)}]\n')
        env = {
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "ENGINE_SCRIPT": str(script),
            "SLURM_JOB_NODELIST": ",".join(NODES[:nodes]), "MODEL": "qwen", "CHECKPOINT": "qwen",
            "PORT": str(ports[0]), "ROUTER_PORT": str(ports[1]),
            **{name: str(value) for name, value in variables.items()},
        }  # fmt: skip
        process = subprocess.Popen(
            [bash(), str(EXAMPLES / name)],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def nobody_is_left(process: subprocess.Popen[str]) -> bool:
    """Whether the job's processes are gone: every one of them is in its group."""
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*-slurm.sh")), ids=lambda path: path.name)
def test_it_is_a_clean_script(script):
    """Bash reads it without a word, and it is a job that Slurm reads."""
    done = subprocess.run([bash(), "-n", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert script.read_text().startswith("#!/usr/bin/env bash\n#SBATCH ")
    assert os.access(script, os.X_OK)


def test_inference_stops_as_a_whole(job, ports):
    """The router serves when all engines do; scancel ends it, and nothing is left."""
    process = job("inference-slurm.sh", STARTUP=20)
    for line in process.stderr:
        if "unique hosts are healthy" in line and "2 out of 2" in line:
            break
    process.terminate()
    assert process.wait(timeout=20) == 143
    assert nobody_is_left(process)


def test_inference_ends_when_the_gate_gives_up(job):
    """The time ran out: the router never starts, the engines are stopped, the job fails."""
    process = job("inference-slurm.sh", life="busy", STARTUP=0.3)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 1
    assert re.search(r"2 of 2 workers missing after \d+s \(2 needed\); the command was not", told)
    assert "the gate, or the router behind it, ended with 1" in told
    assert nobody_is_left(process)


def test_prefill_decode_ends_when_the_router_crashes(job, ports):
    """Legs open the gate by their health; a router that cannot bind ends the job."""
    with socket.create_server(("0.0.0.0", ports[1])):
        process = job("inference-slurm.sh", nodes=3, PREFILL_NODES=1)
        _, told = process.communicate(timeout=20)
    engine = f"http://{{}}:{ports[0]}"
    legs = f"--prefill {engine.format(NODES[0])} --decode {engine.format(NODES[1])}"
    assert f"{legs} --decode {engine.format(NODES[2])}" in told
    assert "All 3 workers healthy after " in told
    assert "the gate, or the router behind it, ended with " in told
    assert process.returncode not in (0, 143)
    assert nobody_is_left(process)


@pytest.mark.parametrize("legs", [0, 1])
def test_rl_ends_with_the_trainer(job, legs):
    """The trainer starts when the router serves, and its end is the job's: exit 0, all stopped."""
    process = job("rl-slurm.sh", nodes=3, ENGINE_NODES=2, PREFILL_NODES=legs)
    out, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert out == "answered True\n"
    assert "the trainer ended with 0" in told
    assert nobody_is_left(process)


def test_rl_fails_when_an_engine_dies(job):
    """One dead engine ends the job while the trainer still waits at its gate."""
    process = job("rl-slurm.sh", nodes=3, ENGINE_NODES=2, DYING=NODES[1])
    out, told = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert "an engine ended with 9 while it was needed" in told
    assert nobody_is_left(process)


def test_an_evaluation_runs_when_the_checkpoint_serves(job):
    """First the training, then the engine, then the evaluation, whose end is the job's."""
    process = job("sft-eval-slurm.sh")
    out, told = process.communicate(timeout=20)
    assert process.returncode == 0, told
    assert out.splitlines() == ["trained", "trained", "answered True"]
    assert nobody_is_left(process)


def test_an_evaluation_does_not_wait_for_a_dead_engine(job):
    """The gate knows the engine's process: the wait ends long before its time."""
    process = job("sft-eval-slurm.sh", DYING=NODES[0])
    out, told = process.communicate(timeout=20)
    assert process.returncode == 1
    assert out.splitlines() == ["trained", "trained"]
    assert "1 of 1 workers missing" in told
    assert re.search(r"found: (its process \d+ is dead|there is no process \d+)", told)
    assert nobody_is_left(process)
