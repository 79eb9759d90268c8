"""`staticfire report`: pages from the results of runs."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
    type=click.Path(dir_okay=False, path_type=Path),
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
