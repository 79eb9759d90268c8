"""What a lane runs on is asserted by its name, before anything is started."""

from __future__ import annotations

import sys

import pytest

from staticfire.stand.lanes import LaneFailed
from staticfire.stand.lanes.command import CommandLane
from staticfire.stand.lanes.device import assert_device, devices


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Makes an `nvidia-smi` that says these lines."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(says: str, code: int = 0):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\nprintf '{says}'\nexit {code}\n")
        program.chmod(0o755)

    return make


@pytest.fixture
def torch(tmp_path):
    """Makes a Python whose torch has these devices."""

    def make(*names: str) -> str:
        (tmp_path / "torch").mkdir(exist_ok=True)
        (tmp_path / "torch/__init__.py").write_text(
            f"names = {names!r}\n"
            "class cuda:\n"
            "    device_count = staticmethod(lambda: len(names))\n"
            "    get_device_name = staticmethod(lambda n: names[n])\n"
        )
        program = tmp_path / "python-with-torch"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
        program.chmod(0o755)
        return str(program)

    return make


def test_a_device_of_that_name_is_here(driver):
    """Part of the name will do, in any case; one of several too."""
    driver("NVIDIA T4\\nNVIDIA H200\\n")
    assert devices() == (["NVIDIA T4", "NVIDIA H200"], "nvidia-smi")
    assert_device("mine", "h200")


@pytest.mark.parametrize(
    ("says", "code", "found"),
    [("NVIDIA T4\\n", 0, "NVIDIA T4"), ("", 0, "no device"), ("NVIDIA H200", 9, "no device")],
)
def test_another_device_fails_the_lane_by_its_name(driver, says, code, found):
    """So it does where the driver fails."""
    driver(says, code)
    with pytest.raises(LaneFailed, match=rf"lane mine: expected the device 'H200', found {found} "):
        assert_device("mine", "H200")


def test_without_a_driver_there_is_no_device(tmp_path, monkeypatch):
    """And it says what was looked for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LaneFailed, match=r"found no device .there is no nvidia-smi"):
        assert_device("mine", "H200")


def test_what_torch_does_not_see_is_not_there(driver, torch):
    """A GPU that the engine's own torch cannot use would leave it on the CPU."""
    driver("NVIDIA H200\\n")
    assert_device("mine", "H200", torch("NVIDIA H200"))
    with pytest.raises(LaneFailed, match=r"found no device .torch.cuda of"):
        assert_device("mine", "H200", torch())


def test_the_device_comes_first(driver, tmp_path):
    """Nothing was started on a machine that has another one."""
    driver("NVIDIA T4\\n")
    mark = tmp_path / "started"
    with pytest.raises(LaneFailed, match="lane command: expected the device"):
        CommandLane(f"touch {mark} {{port}}", device="H200").prepare()
    assert not mark.exists()
