"""The pages of lanes are true: their tables make lanes, and the script for a GPU says its plan."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from staticfire.stand.lanes import KINDS, lanes
from staticfire.stand.lanes.base import CAPABILITIES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("run-on-a-real-engine", "run-on-a-gpu-machine")
SCRIPT = DOCS / "examples/gpu-lane.sh"


def read(page: str) -> str:
    return (DOCS / f"how-to/{page}.md").read_text(encoding="utf-8")


BLOCK = re.compile(r"^```toml\n((?:.*\n)*?)```$", re.MULTILINE)
TABLES = [
    shown
    for page in PAGES
    for block in BLOCK.findall(read(page))
    for shown in tomllib.loads(block)["tool"]["staticfire"]["lanes"].items()
]


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_a_table_that_a_page_shows_makes_a_lane(name, table, tmp_path, monkeypatch):
    """Who copies one gets no complaint about its keys."""
    monkeypatch.setenv("PATH", str(tmp_path))
    lane = lanes({name: table})[name]()
    assert lane.kind == table.get("kind", name)
    lane.close()


def test_every_kind_and_what_is_asked_is_told():
    """A reader finds every lane, and every capability that is asked for."""
    page = read(PAGES[0])
    assert [kind for kind in KINDS if kind != "mock" and f"`{kind}`" not in page] == []
    asked = {"listing", "chat", "stream", "refusals", "metrics", "sleep"}
    assert asked <= set(CAPABILITIES)
    rows = re.findall(r"^\| .* \| `(\w+)`: ", page, re.MULTILINE)
    assert set(rows) == asked


def script(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(SCRIPT), *words],
        env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.realtime
def test_the_script_is_bash():
    """`bash -n` finds nothing."""
    checked = subprocess.run(
        ["bash", "-n", str(SCRIPT)], capture_output=True, timeout=60, check=True
    )
    assert checked.stderr == b""


@pytest.mark.realtime
def test_a_dry_run_says_what_is_carried(tmp_path):
    """Wheels, lock, features, the model; and makes nothing."""
    (tmp_path / "config.json").touch()
    told = script(
        "--dry-run", "pack", f"{tmp_path}/x.tar.gz", MODEL=str(tmp_path), CARRY="transformers"
    )
    assert told.returncode == 0, told.stderr
    plan = told.stdout.splitlines()
    assert all(line.startswith("+ ") for line in plan)
    download = next(line for line in plan if "pip download" in line)
    assert "--constraint requirements.lock" in download
    assert {"fastapi", "uvicorn", "transformers"} <= set(download.split())
    assert "torch" not in download.split()
    assert f"+ cp -rL {tmp_path} WORK/model" in plan
    assert "+ cp -r features WORK/features" in plan
    assert not (tmp_path / "x.tar.gz").exists()


@pytest.mark.realtime
def test_a_dry_run_says_what_runs_there(tmp_path):
    """The device before all else, then a lane that our code takes, from the wheels alone."""
    told = script("--dry-run", "run", "x.tar.gz", "H200", OPTIONS="--router nginx")
    assert told.returncode == 0, told.stderr
    plan = told.stdout.splitlines()
    assert plan[0] == "+ nvidia-smi names a device H200"
    assert any("pip install --quiet --no-index" in line for line in plan)
    written = "\n".join(line[4:] for line in plan if line.startswith("    "))
    table = tomllib.loads(written)["tool"]["staticfire"]["lanes"]["gpu"]
    assert table["device"] == "H200"
    assert lanes({"gpu": table})["gpu"]().kind == "transformers"
    assert "--engine-lane gpu features" in plan[-1]
    assert "--router nginx" in plan[-1]


@pytest.mark.realtime
def test_another_device_stops_the_script_first(tmp_path):
    """By its name, before anything is unpacked."""
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho NVIDIA T4\n")
    driver.chmod(0o755)
    told = script("run", "no-such.tar.gz", "H200", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert told.returncode == 3
    assert "expected the device 'H200', found: NVIDIA T4" in told.stderr
    assert "tar -xzf" not in told.stdout


@pytest.mark.realtime
@pytest.mark.parametrize("words", [(), ("pack",), ("carry", "x.tar.gz"), ("run", "x.tar.gz")])
def test_wrong_words_are_told(words):
    """How it is called."""
    told = script(*words)
    assert told.returncode != 0
    assert "gpu-lane.sh [--dry-run] pack FILE | run FILE DEVICE" in told.stderr


@pytest.mark.realtime
def test_a_model_that_is_none_is_told():
    """Before an hour of packing."""
    told = script("--dry-run", "pack", "x.tar.gz", MODEL="/no/model")
    assert told.returncode == 2
    assert "no config.json in /no/model" in told.stderr


def test_every_variable_of_the_script_is_told():
    """The page has a row for each."""
    names = re.findall(r"^(\w+)=\$\{\1:-", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) > 5
    assert [name for name in names if f"| `{name}` |" not in read(PAGES[1])] == []
