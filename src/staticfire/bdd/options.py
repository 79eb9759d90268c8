"""The options of a run, each with an ini twin, read into one session.

Nothing heavy is imported without a lane: aiohttp alone would cost every user 0.3 s.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from staticfire.bdd.keys import SESSION, TOLD
from staticfire.bdd.profiles import PROFILES, parse_shard
from staticfire.errors import StaticFireError, WrongInput

CLOCKS = ("virtual", "real")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("staticfire", "Static Fire: engines that misbehave on purpose")
    group.addoption(
        "--mock-engines",
        dest="engine_lane",
        action="store_const",
        const="mock",
        help="run the scenarios on mock engines, in virtual time (the lane `mock`)",
    )
    group.addoption(
        "--engine-lane",
        dest="engine_lane",
        metavar="NAME",
        help="mock, llamacpp, transformers, url …, or one of [tool.staticfire.lanes]",
    )
    group.addoption(
        "--engine-url",
        metavar="URL",
        action="append",
        default=[],
        help="an engine that already runs, for the lane `url`; repeatable",
    )
    group.addoption("--engine-model", metavar="NAME", help="the model to ask engines at a URL for")
    group.addoption(
        "--engine-key-env", metavar="NAME", help="the environment variable with their key"
    )
    group.addoption("--engine-key-file", metavar="FILE", help="the file with their key")
    group.addoption(
        "--router",
        dest="engine_routers",
        metavar="NAME",
        action="append",
        help="the router under test, as `staticfire routers` lists them; repeatable",
    )
    group.addoption(
        "--router-bin",
        dest="router_bin",
        metavar="DIR",
        action="append",
        default=[],
        help="where routers that are programs lie, besides PATH; repeatable",
    )
    group.addoption("--engine-clock", choices=CLOCKS, help="the clock of mock engines")
    group.addoption(
        "--engine-seed", type=int, metavar="N", help="replay a run: the seed of everything random"
    )
    group.addoption("--expectations", metavar="FILE", help="known bugs, as a TOML file")
    group.addoption(
        "--engine-report",
        metavar="FILE",
        action="append",
        default=[],
        help="write what came of the run: FILE.html, FILE.json or FILE.md; repeatable",
    )
    group.addoption(
        "--engine-profile",
        metavar="NAME",
        choices=tuple(PROFILES),
        help=f"only the scenarios of a profile: {', '.join(PROFILES)}",
    )
    group.addoption(
        "--engine-id",
        metavar="ID",
        action="append",
        default=[],
        help="only the scenario with this @id; repeatable",
    )
    group.addoption(
        "--engine-shard", metavar="I/N", help="only the I-th of N parts of what was selected"
    )
    parser.addini("engine_lane", "as --engine-lane", default="")
    parser.addini("engine_routers", "as --router", type="args", default=["bundled"])
    parser.addini("engine_clock", "as --engine-clock", default="virtual")
    parser.addini("engine_seed", "as --engine-seed", type="int", default=None)
    parser.addini("staticfire_expectations", "as --expectations", default="")
    parser.addini("staticfire_features", "where the features live", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TOLD] = []
    config.addinivalue_line("markers", "realtime: runs whole processes on the real clock")
    given = _given(config)
    lane = config.getoption("engine_lane") or ("url" if given else config.getini("engine_lane"))
    if not lane:
        return
    from staticfire.bdd.collect import STEPS_LOADED
    from staticfire.bdd.running import LendsItsLoop, Ran
    from staticfire.bdd.session import Asked, Session
    from staticfire.bdd.steps import MODULES

    try:
        parse_shard(config.getoption("engine_shard"))
        _check_reports(config)
        config.stash[SESSION] = session = Session(
            Asked(
                lane=lane,
                routers=tuple(
                    config.getoption("engine_routers") or config.getini("engine_routers")
                ),
                clock=_clock(config),
                seed=_seed(config),
                expectations=_expectations(config),
                features=tuple(config.getini("staticfire_features")),
                router_bin=tuple(config.getoption("router_bin")),
                given=given,
            ),
            config.rootpath,
        )
        session.prepare()
        if _only_hands_out(config):
            session.lane.close()
    except StaticFireError as error:
        raise pytest.UsageError(str(error)) from error
    for module in MODULES:
        config.pluginmanager.import_plugin(module)
    config.stash[STEPS_LOADED] = True
    config.pluginmanager.register(Ran(session, config.stash[TOLD]), "staticfire-ran")
    reports = [Path(file).absolute() for file in config.getoption("engine_report")]
    if reports:
        from staticfire.bdd.recording import Recorder

        recorder = Recorder(session, reports, config.stash[TOLD])
        config.pluginmanager.register(recorder, "staticfire-recorder")
    if session.lane.virtual and config.pluginmanager.hasplugin("asyncio"):
        config.pluginmanager.register(LendsItsLoop(), "staticfire-asyncio")


def _only_hands_out(config: pytest.Config) -> bool:
    """Whether other processes run the tests: xdist's controller has looked, and needs no engine."""
    return not hasattr(config, "workerinput") and config.getoption("dist", "no") != "no"


def _given(config: pytest.Config) -> tuple[tuple[str, Any], ...]:
    """What the command line says of engines that already run, as options of their lane."""
    said = {
        "urls": tuple(config.getoption("engine_url")),
        "model": config.getoption("engine_model"),
        "key_env": config.getoption("engine_key_env"),
        "key_file": config.getoption("engine_key_file"),
    }
    return tuple((name, value) for name, value in said.items() if value)


def _check_reports(config: pytest.Config) -> None:
    """Raises `WrongInput` before the run for a file that could not be written after it."""
    if config.getoption("engine_report"):
        from staticfire.report.writing import check_ending

        for file in config.getoption("engine_report"):
            check_ending(Path(file), "--engine-report")


def _clock(config: pytest.Config) -> str:
    clock = str(config.getoption("engine_clock") or config.getini("engine_clock"))
    if clock not in CLOCKS:
        raise WrongInput("engine_clock", expected=" or ".join(CLOCKS), found=repr(clock))
    return clock


def _seed(config: pytest.Config) -> int:
    asked = config.getoption("engine_seed")
    if asked is not None:
        return int(asked)
    from_controller = getattr(config, "workerinput", {}).get("engine_seed")
    if from_controller is not None:
        return int(from_controller)
    ini = config.getini("engine_seed")
    return random.SystemRandom().randrange(1_000_000) if ini is None else int(ini)


def _expectations(config: pytest.Config) -> Path | None:
    asked = config.getoption("expectations")
    if asked:
        return Path(asked).resolve()
    ini = config.getini("staticfire_expectations")
    return config.rootpath / ini if ini else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Every xdist worker uses the controller's seed."""
    session = node.config.stash.get(SESSION, None)
    if session is not None:
        node.workerinput["engine_seed"] = session.asked.seed


def pytest_report_header(config: pytest.Config) -> list[str]:
    session = config.stash.get(SESSION, None)
    if session is None:
        return []
    asked = session.asked
    routers = ", ".join(asked.routers)
    what = f"lane {asked.lane}, clock {asked.clock}, router {routers}, --engine-seed {asked.seed}"
    return [f"static fire: {line}" for line in (what, *session.notes)]
