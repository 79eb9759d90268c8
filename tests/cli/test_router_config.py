"""Settings of `staticfire router` from flags, the environment and a file."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields

import click
import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.cli._router_options import FIELDS, NOT_SETTINGS, READINESS, SECRET
from staticfire.cli.router import _within, command
from staticfire.readiness import Settings as Checks
from staticfire.router import Settings

URL = "http://127.0.0.1:9"
ONLY_IN_PYTHON = {"readiness", "workers"}
"""Fields that are made of other flags."""


def options():
    return {p.name: p for p in command.params if isinstance(p, click.Option)}


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Runs `staticfire router --check` with a file, variables and flags."""

    def run(*flags, toml=None, **variables):
        args = ["router", "--check", *flags]
        if toml is not None:
            path = tmp_path / "router.toml"
            path.write_text(toml, encoding="utf-8")
            args += ["--config", str(path)]
        return CliRunner().invoke(
            main,
            args,
            env={f"STATICFIRE_ROUTER_{name}": value for name, value in variables.items()},
        )

    return run


def shown(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_each_setting_has_one_name():
    """Every field of Settings has a flag, every flag a field, and their defaults are the same."""
    made = {FIELDS.get(name, name) for name in options()} - NOT_SETTINGS - READINESS.keys()
    known = {field.name: field for field in fields(Settings)}
    assert made == known.keys() - ONLY_IN_PYTHON
    for name, option in options().items():
        field = known.get(FIELDS.get(name, name))
        if field is None or option.multiple:
            continue
        default = option.default if isinstance(option.default, str | int | float) else None
        assert field.default is not MISSING, name
        assert default == field.default or (default is None and not field.default), name
    for name, field in READINESS.items():
        assert options()[name].default == getattr(Checks(), field)


def test_a_flag_beats_the_environment_that_beats_the_file_that_beats_the_default(check):
    """`--check` tells the value that holds, and where it stands."""
    found = shown(
        check(
            "--json", "--queue-size", "3", QUEUE_SIZE="2", QUEUE_TIMEOUT_SECS="5",
            toml=f'worker-urls = ["{URL}"]\nqueue_size = 1\nqueue-timeout-secs = 4\nport = 1234\n',
        )
    )  # fmt: skip
    assert found["queue_size"] == {"value": 3, "from": "flag"}
    assert found["queue_timeout_secs"] == {
        "value": 5.0, "from": "STATICFIRE_ROUTER_QUEUE_TIMEOUT_SECS",
    }  # fmt: skip
    assert found["port"]["value"] == 1234
    assert found["port"]["from"].endswith("router.toml: port")
    assert found["worker_urls"]["value"] == [URL]
    assert found["policy"]["from"] == "default"


def test_what_check_prints_is_a_file_that_can_be_read(check):
    """Its output as `--config` gives the same settings; each line tells where it came from."""
    first = check("--worker-urls", URL, "http://127.0.0.1:10", "--policy", "sticky", PORT="0")
    assert first.exit_code == 0
    assert 'policy = "sticky"  # flag' in first.output
    assert "port = 0  # STATICFIRE_ROUTER_PORT" in first.output
    second = check("--json", toml=first.output)
    values = {name: one["value"] for name, one in shown(second).items()}
    assert values["worker_urls"] == [URL, "http://127.0.0.1:10"]
    assert (values["policy"], values["port"]) == ("sticky", 0)


def test_keys_are_not_shown(check):
    """Neither by `--check` nor in an error; an environment variable keeps them off `ps`."""
    for as_json in ((), ("--json",)):
        result = check(
            "--worker-urls", URL, *as_json, "--worker-api-key", "sesame-w", API_KEY="sesame-c",
            toml='admin_api_key = "sesame-a"',
        )  # fmt: skip
        assert result.exit_code == 0
        assert result.output.count("(set)") == 3
        assert "sesame" not in result.output
    for wrong in ('api_key = "sesame\\n"', "api_key = 51251", 'worker_api_key = " sesame"'):
        result = check("--worker-urls", URL, toml=wrong)
        assert result.exit_code == 2
        assert "api" in result.output
        assert not any(part in result.output for part in ("sesame", "51251"))
    assert "sesame" not in repr(Settings(api_keys=("sesame",), worker_api_key="sesame"))
    assert not SECRET - options().keys()


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (
            "qeue_size = 1",
            ["router.toml: qeue_size: expected a setting", 'did you mean "queue_size"'],
        ),
        ("queue_size = 'many'", ["router.toml: queue_size: expected a whole number", "'many'"]),
        ("queue_size = true", ["queue_size: expected a whole number", "True"]),
        ("queue_size = [1]", ["queue_size: expected one value"]),
        ("queue_size = -1", ["router.toml: queue_size: expected 0 or more, found -1"]),
        ("queue_timeout_secs = nan", ["router.toml: queue_timeout_secs: expected 0 or more"]),
        ("policy = 'stiky'", ["router.toml: policy", 'did you mean "sticky"']),
        ("max_concurrent_requests = 0", ["max_concurrent_requests: expected 1 or more, or -1"]),
        ("forward_headers = ['a b']", ["forward_headers: expected names of headers", "'a b'"]),
        ("backpressure_status = [900]", ["backpressure_status: expected a value that fits", "900"]),
        ("disable_circuit_breaker = 'yes'", ["expected true or false"]),
        ("dp_aware = true", ["router.toml: dp_aware: expected to be left out"]),
        ("[router]\nport = 1", ["router.toml: router: expected a setting"]),
        ("port = ", ["router.toml: expected TOML"]),
    ],
)
def test_a_wrong_setting_in_a_file_is_named(check, toml, words):
    """Key, value and what to do, on one line; exit 2."""
    result = check("--worker-urls", URL, toml=toml)
    assert result.exit_code == 2
    for word in words:
        assert word in result.output


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("QUEU_SIZE", "1", ["STATICFIRE_ROUTER_QUEU_SIZE", 'did you mean "queue_size"']),
        ("QUEUE_SIZE", "many", ["QUEUE_SIZE", "many"]),
        ("QUEUE_SIZE", "-1", ["STATICFIRE_ROUTER_QUEUE_SIZE: expected 0 or more, found -1"]),
        ("DP_AWARE", "1", ["STATICFIRE_ROUTER_DP_AWARE: expected to be left out"]),
    ],
)
def test_a_wrong_setting_in_the_environment_is_named(check, name, value, words):
    """A name that is none too: a setting that is silently ignored would be worse."""
    result = check("--worker-urls", URL, **{name: value})
    assert result.exit_code == 2
    for word in words:
        assert word in result.output


def test_lists_in_the_environment(check):
    """Values are parted by spaces."""
    found = shown(check("--json", WORKER_URLS=f"{URL} http://b:1", FORWARD_HEADERS="x-a x-b-*"))
    assert found["worker_urls"]["value"] == [URL, "http://b:1"]
    assert found["forward_headers"]["value"] == ["x-a", "x-b-*"]


def test_a_file_that_is_none(check):
    """It is named, with why."""
    result = check("--config", "/nowhere.toml", "--worker-urls", URL)
    assert result.exit_code == 2
    assert "/nowhere.toml: expected a TOML file, found no such file" in result.output


@pytest.mark.parametrize(
    ("asked", "files", "most"),
    [(32768, 20_000, 9950), (256, 20_000, 256), (-1, 200, -1), (9, 3, 1)],
)
def test_no_more_requests_than_sockets(asked, files, most):
    """A router does not run out of descriptors: that limit is part of admission (B125)."""
    settings = Settings(max_concurrent_requests=asked)
    assert _within(settings, files).max_concurrent_requests == most
