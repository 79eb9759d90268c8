"""`staticfire conform`: a router held to the promises, for people who do not use pytest."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from staticfire.report.results import Run

__all__ = ["command"]

NAME = "under-test"
"""The router's name where only its command is given."""


@click.command
@click.option("--router", metavar="NAME", help="One that `staticfire routers` lists.")
@click.option(
    "--router-command",
    metavar="LINE",
    help="How it starts: {port}, {workers}, {metrics_port}, {model}, {config}, {folder}.",
)
@click.option(
    "--router-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A template of its {config} file.",
)
@click.option("--worker-line", metavar="TEXT", help="One line of {workers} in the config.")
@click.option("--readiness", default="/readiness", show_default=True, help="Its readiness path.")
@click.option("--lacks", multiple=True, metavar="WHAT", help="What it has not; repeatable.")
@click.option("--router-bin", multiple=True, metavar="DIR", help="Where it lies, besides PATH.")
@click.option("--profile", metavar="NAME", help="Part of it: a wrong name lists them.")
@click.option("--id", "ids", multiple=True, metavar="ID", help="One scenario; repeatable.")
@click.option("--shard", metavar="I/N", help="One part of N.")
@click.option("--jobs", type=click.IntRange(1), help="So many at once; needs pytest-xdist.")
@click.option("--seed", type=int, metavar="N", help="Replay a run.")
@click.option(
    "--expectations",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Known bugs, as a TOML file.",
)
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write them: FILE.html, FILE.json, FILE.md"
)
@click.option("--dry-run", is_flag=True, help="List the scenarios and run none.")
def command(
    *,
    router: str | None,
    router_command: str | None,
    router_config: Path | None,
    worker_line: str | None,
    readiness: str,
    lacks: tuple[str, ...],
    router_bin: tuple[str, ...],
    profile: str | None,
    ids: tuple[str, ...],
    shard: str | None,
    jobs: int | None,
    seed: int | None,
    expectations: Path | None,
    report: Path | None,
    dry_run: bool,
) -> None:
    """Run the packaged scenarios on one router, and say what it keeps.

    Exit status: 0 as expected, 1 a promise broken or a known bug fixed, 2 wrong input, 3 the
    harness broke, 5 nothing ran. Scenarios that are only observed never fail it.
    """
    from staticfire.errors import WrongInput
    from staticfire.report.results import read

    if (router is None) == (router_command is None):
        raise click.UsageError("name either --router or --router-command")
    with tempfile.TemporaryDirectory(prefix="staticfire-conform-") as folder:
        root = Path(folder)
        file = root / "results.json"
        table = ""
        if router_command is not None:
            table = _table(router_command, router_config, worker_line, readiness, lacks)
        (root / "pyproject.toml").write_text(table, encoding="utf-8")
        options = [
            "--router", router or NAME, "--engine-report", str(file),
            *_each("--engine-report", [str(report.absolute())] if report else []),
            *_each("--router-bin", (str(Path(one).absolute()) for one in router_bin)),
            *_each("--engine-profile", [profile] if profile else []),
            *_each("--engine-shard", [shard] if shard else []),
            *_at_once(jobs),
            *_each("--engine-id", ids),
            *_each("--engine-seed", [str(seed)] if seed is not None else []),
            *_each("--expectations", [str(expectations.absolute())] if expectations else []),
            *(["--collect-only"] if dry_run else []),
        ]  # fmt: skip
        status, said = _run(root, options, quiet=not dry_run)
        if dry_run:
            raise SystemExit(status)
        if status in (USAGE, INTERNAL) or not file.exists():
            sys.stderr.write(said)
            raise SystemExit(2 if status == USAGE else 3)
        try:
            run = read(file)
        except WrongInput as error:
            raise click.UsageError(str(error)) from error
    _show(run)
    raise SystemExit(exit_status(run))


USAGE, INTERNAL = 4, 3
"""How pytest exits for wrong options, and when it broke itself."""


def _each(flag: str, values: object) -> list[str]:
    return [word for value in values for word in (flag, value)]  # type: ignore[attr-defined]


def _at_once(jobs: int | None) -> list[str]:
    """Scenarios side by side, in worker processes of pytest-xdist. Raises `UsageError` without it."""
    from importlib.util import find_spec

    if jobs is None or jobs == 1:
        return []
    if find_spec("xdist") is None:
        raise click.UsageError("--jobs needs pytest-xdist: pip install pytest-xdist")
    return ["-n", str(jobs), "--dist", "worksteal"]


def _run(root: Path, options: list[str], *, quiet: bool) -> tuple[int, str]:
    """Pytest on the packaged features, in an empty project; what it said where it is kept quiet."""
    import pytest

    said = io.StringIO()
    arguments = [
        "-c", str(root / "pyproject.toml"), "--rootdir", str(root), "-q", "--no-header",
        "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function",
        "--mock-engines", *options, "--pyargs", "staticfire.features",
    ]  # fmt: skip
    with contextlib.ExitStack() as stack:
        if quiet:
            stack.enter_context(contextlib.redirect_stdout(said))
            stack.enter_context(contextlib.redirect_stderr(said))
        status = pytest.main(arguments)
    return int(status), said.getvalue()


def _table(
    line: str, config: Path | None, worker: str | None, readiness: str, lacks: tuple[str, ...]
) -> str:
    """A pyproject.toml with the router in it; JSON's texts are TOML's too."""
    from staticfire.errors import WrongInput, did_you_mean
    from staticfire.stand.routers import CAPABILITIES

    for one in lacks:
        if one not in CAPABILITIES:
            raise WrongInput(
                "--lacks", expected="what a router can have", found=repr(one),
                do=did_you_mean(one, CAPABILITIES),
            )  # fmt: skip
    keys = {
        "command": line,
        "readiness": readiness,
        "capabilities": sorted(set(CAPABILITIES) - set(lacks)),
    }
    if config is not None:
        keys["config"] = config.read_text(encoding="utf-8")
    if worker is not None:
        keys["worker"] = worker
    rows = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    return f"[tool.staticfire.routers.{NAME}]\n{rows}\n"


def exit_status(run: Run) -> int:
    """What a run means for whoever waits for it."""
    from staticfire.report.results import Outcome

    if run.ran == 0:
        return 5
    counted = {one.outcome for one in run.results if one.level != "observe"}
    if Outcome.ERROR in counted:
        return 3
    return int(bool(counted & {Outcome.FAIL, Outcome.FIXED}))


def _show(run: Run) -> None:
    """Counts by level, what is against the expectations, and the first failure whole."""
    from staticfire.report.claims import empty_claims
    from staticfire.report.results import Outcome

    router = run.routers[0]
    click.echo(f"{router.name} {router.version}, suite {run.suite}, rules {run.rules}")
    for level in ("must", "should", "observe"):
        counts = Counter(one.outcome for one in run.results if (one.level or "must") == level)
        if counts:
            told = ", ".join(f"{counts[o]} {o.value}" for o in Outcome if counts[o])
            click.echo(f"  {level:<8}{told}")
    for note in (*run.notes, *empty_claims(run)):
        click.echo(f"  {note}")
    bad = [r for r in run.results if r.outcome in (Outcome.FAIL, Outcome.FIXED, Outcome.ERROR)]
    for one in bad:
        example = f" [{one.example}]" if one.example else ""
        click.echo(f"{one.outcome.value:>14}  {one.scenario}{example}: {one.title}")
    if bad:
        first = bad[0]
        click.echo(f"\nThe first of them: {first.title}\n{first.failed_at}\n{first.why}")
        click.echo(f"\nAgain: staticfire conform … --seed {run.seed} --id {first.scenario}")
        click.echo(
            "A bug that is known becomes a row of --expectations FILE:\n"
            f'  [["{first.scenario}"]]\n  when = {{ router = "{first.router}" }}\n'
            '  bug = "#1"\n  reason = "…"'
        )
    if not run.ran:
        click.echo(
            "nothing ran: see --dry-run for what was selected, --lacks for what was left out"
        )
