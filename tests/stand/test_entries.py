"""Entries of routers that are programs: reading them, and filling in their templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from staticfire.errors import WrongInput
from staticfire.stand.routers import CAPABILITIES, Unsupported, builtin, routers
from staticfire.stand.routers.entry import read_entry
from staticfire.stand.routers.flags import read_flag, say
from staticfire.stand.routers.prepared import Place, prepare
from staticfire.stand.routers.process import ProcessFactory, ProcessRouter

LINE = "mine --port {port} --workers {workers}"
PLACE = Place(8001, 8002, Path("/somewhere"))
URLS = ("http://127.0.0.1:1", "http://127.0.0.1:2")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, 'command = "…" or python'),
        ({"command": "mine {workers}"}, "no {port}"),
        ({"command": "mine {port}"}, "no {workers}"),
        ({"command": "mine 'x {port} {workers}"}, "a command line"),
        ({"command": f"{LINE} {{prot}}"}, 'did you mean "port"?'),
        ({"command": LINE, "redyness": "/x"}, 'did you mean "readiness"?'),
        ({"command": LINE, "capabilities": ["sesions"]}, 'did you mean "sessions"?'),
        ({"command": LINE, "time_scale": 0}, "above zero"),
        ({"command": LINE, "time_scale": "10"}, "expected a int or float"),
        ({"command": LINE, "settings": {"policy": 3}}, "settings.policy"),
        ({"command": LINE, "settings": {"policy": {"txt": "x"}}}, "settings.policy"),
    ],
)
def test_a_wrong_table_is_one_clear_error(table, message):
    """Where, what was expected, what came."""
    with pytest.raises(WrongInput) as caught:
        read_entry("mine", table, "[mine]")
    assert message in str(caught.value)


def test_a_command_without_capabilities_is_held_to_every_promise():
    """Only a router that says that it has no such thing is let off."""
    assert read_entry("mine", {"command": LINE}, "[mine]").capabilities == set(CAPABILITIES)


def test_workers_are_one_argument_each():
    """Placeholders are filled in; the scenario's settings stand at the end."""
    table = {"command": LINE, "settings": {"policy": "--policy {value}"}}
    made = prepare(read_entry("mine", table, "[]"), URLS, {"policy": "random"}, PLACE, "qwen")
    assert made.arguments == (
        "mine", "--port", "8001", "--workers", *URLS, "--policy", "random",
    )  # fmt: skip


def test_a_config_has_a_line_for_each_worker_and_keeps_its_own_braces():
    """The file's own braces are not ours; a setting that it names is not said on the command line."""
    table = {
        "command": "mine -c {config}",
        "config": "listen {port}; { {policy}\n{workers}\n} {other}",
        "worker": " server {n} {address};",
        "settings": {"policy": {"words": {"sticky": "hash;"}}},
    }
    made = prepare(read_entry("mine", table, "[]"), URLS, {"policy": "sticky"}, PLACE, "qwen")
    assert made.arguments == ("mine", "-c", "/somewhere/config")
    assert made.config == (
        "listen 8001; { hash;\n server 0 127.0.0.1:1;\n server 1 127.0.0.1:2;\n} {other}"
    )


@pytest.mark.parametrize(
    ("value", "said"), [("30", "--t 3"), ("4", "--t 1"), ("600", "--t 60"), ("0.1", "--t 1")]
)
def test_seconds_are_scaled_and_never_below_what_the_router_takes(value, said):
    """30 scenario seconds at ten in a real one are 3."""
    flag = read_flag({"text": "--t {value}", "step": 1}, "settings.t")
    assert say(flag, "t", value, "mine", 10.0) == said


def test_a_list_may_be_said_part_by_part():
    """A flag that takes one value at a time is given as often as there are values."""
    flag = read_flag({"text": "--decode {value}", "each": True}, "settings.decode")
    assert say(flag, "decode", "http://a 1, http://b 2", "mine", 10.0) == (
        "--decode http://a 1 --decode http://b 2"
    )
    assert say(flag, "decode", "", "mine", 10.0) == ""
    with pytest.raises(WrongInput):
        read_flag({"text": "--decode {value}", "each": "yes"}, "settings.decode")


def test_metrics_are_where_the_entry_has_them():
    """On the port that it is given for them, or else on its only one."""
    for line, port in ((LINE, 8001), (LINE + " --metrics {metrics_port}", 8002)):
        entry = read_entry("mine", {"command": line}, "[]")
        router = ProcessRouter(entry, prepare(entry, URLS, {}, PLACE, "qwen"), PLACE)
        assert router.metrics_url == f"http://127.0.0.1:{port}"


def test_what_a_router_has_not_is_unsupported():
    """A setting or a choice of it: the scenario is skipped, and says why."""
    table = {"command": LINE, "settings": {"policy": {"words": {"random": ""}}}}
    entry = read_entry("mine", table, "[]")
    with pytest.raises(Unsupported, match="mine has no setting queue_size"):
        prepare(entry, URLS, {"queue_size": "3"}, PLACE, "qwen")
    with pytest.raises(Unsupported, match="mine has no policy sticky"):
        prepare(entry, URLS, {"policy": "sticky"}, PLACE, "qwen")


def test_defaults_give_way_to_the_scenario():
    """And settings for scenarios that count faults stand between the two."""
    table = {
        "command": LINE,
        "defaults": {"a": 1, "b": 1, "c": 1},
        "counting": {"b": 2, "c": 2},
        "settings": {name: f"--{name} {{value}}" for name in "abc"},
    }
    entry = ProcessFactory(read_entry("mine", table, "[]")).counting().entry
    made = prepare(entry, URLS, {"c": "3"}, PLACE, "qwen")
    assert made.arguments[-6:] == ("--a", "1", "--b", "2", "--c", "3")


@pytest.mark.parametrize("name", builtin())
def test_a_known_router_can_be_prepared(name):
    """With its own defaults; every setting of its defaults is one that it can say."""
    entry = ProcessFactory(builtin()[name]).counting().entry
    made = prepare(entry, URLS, {}, PLACE, "qwen")
    everything = " ".join(made.arguments) + made.config
    assert "8001" in everything
    assert all(url.removeprefix("http://") in everything for url in URLS)
    assert entry.install


def test_a_table_changes_what_is_known_of_a_known_router():
    """The rest stays as it is."""
    found = routers({"nginx": {"time_scale": 5}})["nginx"]
    assert (found.entry.time_scale, found.entry.config) == (5, builtin()["nginx"].config)
