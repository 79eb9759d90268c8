"""`--latch`: seconds, or for ever."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from staticfire.cli import main
from staticfire.cli._latch import latch_option, latched
from staticfire.readiness import Settings


@click.command()
@latch_option
def show(latch):
    click.echo(latched(latch))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], {"fresh_for": 300.0}),
        (["--latch", "20.5"], {"fresh_for": 20.5}),
        (["--latch", "0"], {"fresh_for": 0.0}),
        (["--latch", "forever"], {"latch_forever": True}),
    ],
)
def test_a_latch_is_seconds_or_the_word(words, told):
    """What the readiness core is told; five minutes unless the command line says so."""
    result = CliRunner().invoke(show, words)
    assert result.output == f"{told}\n"
    assert Settings(**told).limits.latch_forever is ("latch_forever" in told)


@pytest.mark.parametrize("wrong", ["never", "-1", "nan", "inf", ""])
def test_another_word_is_a_usage_error(wrong):
    """With what was expected and what came."""
    result = CliRunner().invoke(show, ["--latch", wrong])
    assert result.exit_code == 2
    assert f"expected seconds, 0 or more, or forever, found {wrong!r}" in result.output


@pytest.mark.parametrize("command", ["serve", "gate", "router"])
def test_whoever_keeps_checking_has_the_option(command):
    """A service, a gate, a router; the others go by the record or end with the first answer."""
    result = CliRunner().invoke(main, [command, "--help"])
    assert "--latch S|forever" in result.output


@pytest.mark.parametrize(("words", "forever"), [([], False), (["--latch", "forever"], True)])
def test_a_routers_checks_go_by_it(monkeypatch, words, forever):
    """It is a setting of its readiness."""
    seen = []

    async def serve(settings, log_requests, *, as_json):
        seen.append(settings.readiness.limits.latch_forever)

    monkeypatch.setattr("staticfire.cli.router._serve", serve)
    monkeypatch.setattr("staticfire.router.logs.configure", lambda *_: None)  # it keeps stderr
    CliRunner().invoke(main, ["router", "--worker-urls", "http://127.0.0.1:9", *words])
    assert seen == [forever]
