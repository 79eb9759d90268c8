"""The lane of `transformers serve`: found, told what it lacks, started on the model that we write."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from staticfire import readiness
from staticfire.errors import WrongInput
from staticfire.judge import Judge
from staticfire.stand.lanes import lanes
from staticfire.stand.lanes.found import find_program, lacking
from staticfire.stand.lanes.gguf import WORDS
from staticfire.stand.lanes.transformers import INSTALL, TransformersLane

VENV = os.environ.get("STATICFIRE_TRANSFORMERS", "")
"""A virtual environment with transformers and torch; without it, the one on PATH."""


@pytest.fixture
def venv(tmp_path):
    """Makes an environment with a script, whose Python has what this one has."""

    def make(name: str = "transformers", first: str = f"#!{sys.executable}"):
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"{first}\nraise SystemExit\n")
        script.chmod(0o755)
        return str(tmp_path)

    return make


def test_a_program_is_found_with_its_interpreter(venv, tmp_path, monkeypatch):
    """In the environment that is named, else on PATH; the script says which Python it is."""
    found = find_program("transformers", venv())
    assert found is not None
    assert found.python == sys.executable
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program("transformers") == found
    assert find_program("transformers", str(tmp_path / "other")) is None
    assert find_program("vllm", venv("vllm", "#!/bin/sh")).python == f"{tmp_path}/bin/python3"


def test_what_an_interpreter_lacks_is_asked_of_it():
    """Nothing is imported for that; one that does not run lacks everything."""
    assert lacking(sys.executable, ["json", "no_such_module"]) == ["no_such_module"]
    assert lacking("/no/python", ["json"]) == ["json"]


def test_without_the_program_the_lane_says_how_to_get_it(tmp_path, monkeypatch):
    """A run skips with these words."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lanes({})["transformers"]().missing() == (
        f"there is no program transformers on PATH: {INSTALL}"
    )
    named = lanes({"transformers": {"venv": str(tmp_path)}})["transformers"]()
    assert f"in {tmp_path}" in named.missing()


def test_without_torch_the_lane_says_what_is_missing(venv, monkeypatch):
    """The program alone does not serve."""
    monkeypatch.setattr("staticfire.stand.lanes.transformers.NEEDS", ("json", "no_such_torch"))
    told = TransformersLane(venv()).missing()
    assert told == f"{sys.executable} has no no_such_torch: {INSTALL}"
    monkeypatch.setattr("staticfire.stand.lanes.transformers.NEEDS", ("json",))
    assert TransformersLane(venv()).missing() is None


def test_its_command_is_offline_and_on_the_device_that_is_named(venv):
    """The model is in a cache of the lane's own; nothing is asked of a network."""
    lane = TransformersLane(venv(), model="lab/tiny", env={"MORE": "1"})
    words = lane.command("lab/tiny")
    home = next(word for word in words if word.startswith("HF_HOME=")).removeprefix("HF_HOME=")
    assert {"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "MORE=1"} <= set(words)
    assert words[-2:] == ("--device", "cpu")
    assert Path(home, "hub/models--lab--tiny").is_dir()
    lane.close()
    assert not Path(home).exists()
    assert TransformersLane(venv(), device="H200").words()[-1] == "cuda:0"


def test_an_environment_without_the_script_is_started_by_its_interpreter(tmp_path):
    """One on top of the machine's packages: the machine's script would not see what it adds."""
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    words = TransformersLane(str(tmp_path)).words()
    assert words[:2] == [str(python), "-c"]
    assert words[3:6] == ["serve", "--host", "127.0.0.1"]


def test_a_model_of_its_own_is_put_into_the_cache(venv, tmp_path):
    """Under the model's name, as links; a folder that is none is told."""
    folder = tmp_path / "mine"
    folder.mkdir()
    with pytest.raises(WrongInput, match=r"lanes.mine\] path: expected a model folder"):
        lanes({"mine": {"kind": "transformers", "path": str(folder)}})["mine"]()
    (folder / "config.json").write_text("{}")
    lane = TransformersLane(venv(), path=str(folder), model="lab/mine")
    (found,) = Path(lane.environ()["HF_HOME"]).rglob("config.json")
    assert found.resolve() == (folder / "config.json").resolve()
    assert "models--lab--mine/snapshots" in str(found)
    lane.close()


@pytest.mark.realtime
def test_a_real_server_says_the_scripted_words():
    """It streams, ends without [DONE], calls no mistake of a client one, and has listed what it has not loaded."""
    lane = TransformersLane(VENV)
    if lane.missing():
        pytest.skip(lane.missing())
    try:
        lane.prepare()
        assert lane.capabilities == {"listing", "chat", "stream", "unloaded", "command"}

        async def main():
            engine = await lane.start("a", "qwen", 0)
            answer = await Judge(engine.url).chat("qwen", max_tokens=64)
            lazy = await lane.start_unloaded("b", "qwen", 0)
            first = await readiness.probe(lazy.url, "qwen", deadline=0.6)
            waited = await readiness.wait_for([lazy.url], model="qwen", timeout=60)
            await lazy.stop()
            return answer, first, waited, await readiness.probe(lazy.url, "qwen")

        answer, first, waited, last = asyncio.run(main())
    finally:
        lane.close()
    assert answer.text.split() == list(WORDS)
    assert first.verdict is readiness.Verdict.LISTING
    assert waited.ok
    assert last.verdict is readiness.Verdict.UNREACHABLE
