"""`staticfire report`: pages from the results of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW = click.Path(dir_okay=False, path_type=Path)


def _one_output(metavar: str, told: str) -> Callable[[F], F]:
    """The option that says where one file goes."""
    return click.option("-o", "--output", required=True, type=NEW, metavar=metavar, help=told)


@click.group("report")
def command() -> None:
    """Make a page, Markdown or one result file of what runs came to."""


@command.command
@click.argument("results", nargs=-1, required=True, type=FILE, metavar="A.json [B.json …]")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    type=NEW,
    metavar="FILE",
    help="Where to: FILE.html, FILE.json or FILE.md; repeatable.",
)
def merge(results: tuple[Path, ...], outputs: tuple[Path, ...]) -> None:
    """Join the result files of several runs: shards, routers, lanes, machines.

    Runs of `--engine-report X.json` or of an earlier merge. A run in which nothing ran is refused,
    so that a broken shard cannot look like a small one.
    """
    from staticfire.report.joined import join
    from staticfire.report.writing import check_ending, write_report

    for output in outputs:
        check_ending(output, "--output")
    runs = join(results)
    for output in outputs:
        write_report(runs, output)
        many = sum(len(run.results) for run in runs)
        click.echo(f"{output}: {many} results of {len(runs)} run{'s' * (len(runs) > 1)}")


@command.command
@click.argument("results", nargs=-1, required=True, type=FILE, metavar="A.json [B.json …]")
@_one_output("FILE.md", "Where to.")
def conformance(results: tuple[Path, ...], output: Path) -> None:
    """Write the page of what each router keeps: the same text for equal results.

    It says versions and counts, and no times, so that two runs can be compared line by line.
    """
    from staticfire.report.conformance import conformance as page
    from staticfire.report.joined import join

    text = page(join(results))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    click.echo(f"{output}: {len(results)} runs")


@command.command
@click.argument("results", nargs=-1, required=True, type=FILE, metavar="A.json [B.json …]")
@_one_output("FILE.json", "Where to; a badge server reads it from your repository.")
def badge(results: tuple[Path, ...], output: Path) -> None:
    """Write a badge: how many promises one router keeps, and how many faults are known.

    The file is what https://img.shields.io/endpoint takes as its `url`.
    """
    from staticfire.report.badge import badge as made
    from staticfire.report.joined import join

    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(made(join(results)))
    click.echo(f"{output}: {len(results)} runs")
