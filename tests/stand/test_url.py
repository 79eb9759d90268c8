"""The lane of engines that already run: asked, lent, given back, never changed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Answers, MockEngine, Rule, Script
from staticfire.errors import WrongInput
from staticfire.stand.lanes import LaneFailed, NoneLeft, lanes
from staticfire.stand.lanes.url import UrlLane


def look(*scripts: Script, **options):
    """A lane of mock engines with these scripts, looked at."""

    async def main():
        async with AsyncExitStack() as stack:
            engines = [await stack.enter_async_context(MockEngine(script)) for script in scripts]
            lane = UrlLane([engine.url for engine in engines], **options)
            await lane.look()
        return lane

    return run(main())


def test_it_can_what_all_of_its_engines_can():
    """One without metrics, and the lane has none; nobody is put to sleep, so nobody can sleep."""
    both = Script(model="m", dev_mode=True), Script(model="m", personality="transformers")
    assert look(both[0]).capabilities == {"listing", "chat", "stream", "refusals", "metrics"}
    assert look(*both).capabilities == {"listing", "chat", "stream"}


def test_the_model_is_found_or_named():
    """The first that the first engine lists, or the one that was named; every engine has it."""
    assert look(Script(model="big"), Script(model="x", models=("big",))).model == "big"
    assert look(Script(model="big", models=("small",)), model="small").model == "small"


def test_an_engine_without_the_model_fails_the_lane():
    """With its address, and what it lists."""
    with pytest.raises(LaneFailed, match=r"lane url: http://.*a list with big, .*listed: small"):
        look(Script(model="big"), Script(model="small"))


def test_a_broken_probe_fails_the_lane():
    """It does not skip what could not be asked."""
    rules = [Rule("GET /metrics", do=Answers(500))]
    with pytest.raises(LaneFailed, match=r"lane url: http://.*: /metrics: .*status 500"):
        look(Script(model="m", rules=rules))


def test_an_engine_is_lent_to_one_at_a_time():
    """Who wants more than there are is told; one that was given back is lent again."""

    async def main():
        lane = UrlLane(["http://a:1", "http://b:2"])
        first = await lane.start("x", "m", 1)
        await lane.start("y", "m", 1)
        with pytest.raises(NoneLeft, match="more than 2 engines"):
            await lane.start("z", "m", 1)
        await first.stop()
        again = await lane.start("z", "m", 1)
        return first.url, again.url, again.timeline()

    first, again, timeline = asyncio.run(main())
    assert first == again == "http://a:1"
    assert "not ours" in timeline[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "--engine-url: expected the engines of a url lane, found none"),
        ({"urls": ["10.0.0.1:8000"]}, "--engine-url: expected a URL .* write http://10.0.0.1"),
        ({"urls": ["http://a:1", "http://A:1/"]}, "each engine once"),
        ({"urls": "http://a:1"}, r"lanes.mine\] urls: expected a list of URLs"),
        ({"urls": [8000]}, "expected a list of URLs"),
        ({"url": "http://a:1"}, "options of a url lane"),
    ],
)
def test_wrong_options_are_refused(options, told):
    """When the lane is made, with where and what to do."""
    with pytest.raises(WrongInput, match=told):
        lanes({"mine": {"kind": "url", **options}})["mine"]()


def test_the_command_line_goes_before_the_table():
    """The URLs of today, with the key of every day."""
    table = {"kind": "url", "urls": ["http://old:1"], "key_env": "KEY"}
    lane = lanes({"mine": table}, {"urls": ("http://new:1",)})["mine"]()
    assert lane.urls == ("http://new:1",)
    assert lane.key.words == ("--api-key-env", "KEY")


def test_urls_are_for_engines_that_run():
    """Another lane starts its own: told, rather than ignored."""
    with pytest.raises(WrongInput, match=r"--engine-url.*found one of kind mock"):
        lanes({}, {"urls": ("http://new:1",)})["mock"]()


def test_a_key_that_is_not_there_is_told_by_its_name(monkeypatch):
    """Before any engine is asked."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(WrongInput, match="--api-key-env NO_SUCH_KEY: expected a variable"):
        UrlLane(["http://a:1"], key_env="NO_SUCH_KEY").prepare()
