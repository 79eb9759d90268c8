"""The lane of `vllm serve`: its command and its environment, tried on a program that only tells them."""

from __future__ import annotations

import json
import sys

import pytest

from staticfire.errors import WrongInput
from staticfire.stand.lanes import LaneFailed, lanes
from staticfire.stand.lanes.vllm import INSTALL, VllmLane

TELLS = """#!{python}
import json, os, sys
words = sys.argv[1:]
json.dump({{"words": words, "env": dict(os.environ)}}, open({told!r}, "w"))
port, model = words[words.index("--port") + 1], words[words.index("--served-model-name") + 1]
os.execv(sys.executable, [sys.executable, "-m", "staticfire", "engine", "--model", model, "--port", port])
"""
"""Stands in for vLLM: it tells what it was given, then serves as our mock engine does."""


@pytest.fixture
def venv(tmp_path):
    """An environment with such a program, and where it tells."""
    program = tmp_path / "venv/bin/vllm"
    program.parent.mkdir(parents=True)
    program.write_text(TELLS.format(python=sys.executable, told=str(tmp_path / "told.json")))
    program.chmod(0o755)
    return str(tmp_path / "venv")


def test_without_an_environment_the_lane_says_how_to_name_one(tmp_path):
    """VLLM is never looked for on PATH: whoever wants it says where it is."""
    assert INSTALL in lanes({})["vllm"]().missing()
    named = lanes({"vllm": {"venv": str(tmp_path)}})["vllm"]()
    assert named.missing().startswith(f"there is no program vllm in {tmp_path}")


def test_its_command_serves_the_model_that_we_write(venv):
    """Without a path; with the words that are added, and the environment of a CPU without a network."""
    lane = lanes({"vllm": {"venv": venv, "arguments": ["--max-num-queued-reqs", "4"]}})["vllm"]()
    assert lane.missing() is None
    words = lane.command("qwen")
    at = words.index("serve")
    assert words[at - 1] == f"{venv}/bin/vllm"
    assert words[at + 1].endswith("/model")
    assert words[at + 2 : at + 8] == (
        "--served-model-name", "qwen", "--host", "127.0.0.1", "--port", "{port}",
    )  # fmt: skip
    assert words[-2:] == ("--max-num-queued-reqs", "4")
    assert {"HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1", "VLLM_CPU_KVCACHE_SPACE=1"} <= set(words)
    lane.close()
    assert "VLLM_CPU_KVCACHE_SPACE" not in VllmLane(venv, device="H200").environ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"arguments": "--eager"}, r"lanes.vllm\] arguments: expected a list of words"),
        ({"path": "no/model"}, r"lanes.vllm\] path: expected a model folder with config.json"),
        ({"start_within": -1}, r"lanes.vllm\] start_within: expected above zero"),
        ({"vnev": "x"}, "options of a vllm lane"),
    ],
)
def test_wrong_options_are_refused(options, told):
    """When the lane is made, by its table."""
    with pytest.raises(WrongInput, match=told):
        lanes({"vllm": options})["vllm"]()


def test_a_model_of_its_own_is_served_as_it_lies(venv, tmp_path):
    """Nothing is written then."""
    (tmp_path / "config.json").write_text("{}")
    lane = VllmLane(venv, path=str(tmp_path))
    assert lane.words()[2] == str(tmp_path)
    assert lane._made is None


@pytest.mark.realtime
def test_it_is_started_so_and_asked_what_it_can_do(venv, tmp_path):
    """What the program gets is what was told; its capabilities are those of what answers."""
    lane = VllmLane(venv, start_within=60, grace=1)
    try:
        lane.prepare()
        assert {"listing", "chat", "stream", "metrics", "command"} <= lane.capabilities
    finally:
        lane.close()
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["words"][0] == "serve"
    assert "{port}" not in told["words"]
    assert told["env"]["HF_HUB_OFFLINE"] == told["env"]["VLLM_NO_USAGE_STATS"] == "1"
    assert told["env"]["PATH"]


@pytest.mark.realtime
def test_a_device_that_is_not_there_fails_it_first(venv, tmp_path):
    """Its own torch is asked; this Python has none."""
    with pytest.raises(LaneFailed, match="lane vllm: expected the device 'H200', found no device"):
        VllmLane(venv, device="H200").prepare()
    assert not (tmp_path / "told.json").exists()
