"""`staticfire lanes`: what is here, and what a lane would start."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.stand.lanes import KINDS, llamacpp_bin

PROJECT = """
[tool.staticfire.lanes.vllm]
venv = "/no/such/venv"
device = "H200"

[tool.staticfire.lanes.cluster]
kind = "url"
urls = ["http://10.0.0.7:8000"]
key_env = "CLUSTER_KEY"

[tool.staticfire.lanes.mine]
kind = "command"
command = "serve --model {model} --port {port}"
env = { QUIET = "yes please" }
"""


@pytest.fixture(autouse=True)
def project(monkeypatch, tmp_path):
    """A machine without any engine, in a project with tables."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(llamacpp_bin, "WHEEL", "no_such_wheel")
    monkeypatch.setenv("CLUSTER_KEY", "s3cret-key")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(PROJECT)


def lanes(*args, code: int = 0):
    told = CliRunner().invoke(main, ["lanes", *args])
    assert told.exit_code == code, told.output
    return told.output


def test_every_lane_is_listed():
    """The built-in ones and the project's; what is not here says why."""
    lines = {line.split()[0]: line for line in lanes().splitlines()}
    assert set(lines) == {*KINDS, "cluster", "mine"}
    assert lines["mock"].split(maxsplit=1)[1] == "here, of kind mock"
    assert "here, of kind url" in lines["cluster"]
    assert "name them with --engine-url" in lines["url"]
    assert "not here: there is no program transformers on PATH" in lines["transformers"]
    assert "not here: there is no program vllm in /no/such/venv" in lines["vllm"]


def test_what_a_lane_would_start_is_shown():
    """A dry run: device, environment and command, and nothing was started."""
    told = lanes("vllm")
    assert "asserts       the device 'H200', before anything is started" in told
    assert "environment   HF_HUB_OFFLINE=1" in told
    assert "command       vllm serve " in told
    assert "--served-model-name qwen --host 127.0.0.1 --port '{port}'" in told
    assert "waits         600 s at most" in told
    assert "environment   QUIET='yes please'" in lanes("mine")
    assert "command       serve --model qwen --port '{port}'" in lanes("mine")


def test_a_key_is_shown_by_its_name():
    """Never the key."""
    told = lanes("cluster")
    assert "engine        http://10.0.0.7:8000" in told
    assert "key           --api-key-env CLUSTER_KEY" in told
    assert "s3cret" not in told


def test_a_machine_reads_the_same():
    """One row a lane."""
    (row,) = json.loads(lanes("mine", "--json"))
    assert row["command"] == ["serve", "--model", "qwen", "--port", "{port}"]
    assert row["environment"] == {"QUIET": "yes please"}
    assert {one["name"] for one in json.loads(lanes("--json"))} == {*KINDS, "cluster", "mine"}


def test_an_unknown_lane_is_told_with_the_nearest():
    """As for `--engine-lane`."""
    assert "expected a known lane, found 'mok'" in lanes("mok", code=2)


def test_a_wrong_table_is_told():
    """Where it stands, when it is the one that was named."""
    assert "expected the engines of a url lane, found none" in lanes("url", code=2)
