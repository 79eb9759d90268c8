"""`staticfire services`: list, show, logs, stop, restart, wait, forget."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import click

from staticfire.cli._services import Room, nice, opened, rows, table
from staticfire.cli.serve import not_started, tell
from staticfire.cli.wait import command as wait_command
from staticfire.clock import current, ns
from staticfire.errors import StaticFireError
from staticfire.readiness.running import leave, run_now
from staticfire.services import logs
from staticfire.services.check import Checked, Checker
from staticfire.services.home import check_name
from staticfire.services.host import CannotStart
from staticfire.services.launch import Launcher
from staticfire.services.service import Service
from staticfire.services.store import Unreadable
from staticfire.services.view import View, counts, view
from staticfire.services.wait import Waited, wait

__all__ = ["command"]

HELP = {"help_option_names": ["-h", "--help"]}
WITHIN = 8.0
"""Seconds for all checks of a list, side by side."""

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
within_option = click.option(
    "--within", type=click.FloatRange(min=0), default=WITHIN, show_default=True, metavar="S",
    help="Seconds for the checks; 0 shows what is known without any.",
)  # fmt: skip


@click.group("services", context_settings=HELP)
def command() -> None:
    """List, show, stop and restart services; read their logs."""


@command.command("list", context_settings=HELP)
@within_option
@as_json_option
def list_(within: float, as_json: bool) -> None:
    """List every service, after the throttled check of each, all side by side.

    It can find out that one is ready; it never restarts anything and counts nothing against
    anybody.
    """
    with opened() as room:
        found = run_now(_checked(room, within))
        pid = room.supervisor
        now = current().boot()
        views = [view(one, now, supervisor=pid) for one in found if isinstance(one, Checked)]
        torn = [one for one in found if isinstance(one, Unreadable)]
        if as_json:
            shown: list[dict[str, Any]] = [one.json() for one in views]
            shown += [{"name": t.name, "status": "unreadable", "reason": t.why} for t in torn]
            page = {
                "services": shown,
                "supervisor": pid,
                "state": str(room.home.path),
                "notes": room.store.notes,
            }
            click.echo(json.dumps(page, ensure_ascii=False))
            return
        _print(views, torn, pid)


def _print(views: list[View], torn: list[Unreadable], pid: int | None) -> None:
    head = ("NAME", "STATUS", "FOR", "URL", "MODEL", "RESTARTS", "WHY")
    lines = [
        (v.name, v.status, _span(v.since), v.url, nice(v.model), str(v.restarts), _why(v))
        for v in views
    ]
    lines += [(t.name, "unreadable", "n/a", "n/a", "n/a", "n/a", t.why) for t in torn]
    if lines:
        for line in table(head, lines):
            click.echo(line)
    kept = "nobody supervises them" if pid is None else f"kept by the supervisor (pid {pid})"
    click.echo(counts(views) + (f", {len(torn)} unreadable" if torn else "") + f"; {kept}")


def _why(shown: View) -> str:
    why = f"{shown.coming}: {shown.reason}" if shown.coming else shown.reason
    return f"{why}; just now: {shown.finding}" if shown.finding else why


def _span(since: float | None) -> str:
    if since is None:
        return "n/a"
    if since < 120:
        return f"{since:.0f}s"
    return f"{since / 60:.0f}min" if since < 7200 else f"{since / 3600:.0f}h"


async def _checked(room: Room, within: float) -> list[Checked | Unreadable]:
    checker = Checker(room.store, room.machine, promotes=True)
    until = current().now() + ns(within)

    async def one(service: Service | Unreadable) -> Checked | Unreadable:
        if isinstance(service, Unreadable):
            return service
        if within > 0:
            try:
                return await checker.check(service.name, until=until)
            except StaticFireError as error:
                click.echo(f"staticfire: {service.name}: {error}", err=True)
        return Checked(service, room.machine.look(service))

    return list(await asyncio.gather(*map(one, room.store.all())))


@command.command(context_settings=HELP)
@click.argument("name")
@within_option
@as_json_option
def show(name: str, within: float, as_json: bool) -> None:
    """Show all that is known of the service NAME."""
    with opened() as room:
        name = check_name(name)
        service = room.store.get(name)
        checked = Checked(service, room.machine.look(service))
        if within > 0:
            checker = Checker(room.store, room.machine, promotes=True)
            checked = run_now(checker.check(name, until=current().now() + ns(within)))
        shown = view(checked, current().boot(), supervisor=room.supervisor)
        if as_json:
            click.echo(json.dumps(shown.json(), ensure_ascii=False))
            return
        click.echo(f"{shown.name}: {shown.status} for {_span(shown.since)}: {_why(shown)}")
        for what, value in rows(shown):
            click.echo(f"  {what:12} {value}")
        click.echo(f"  {'command':12} {' '.join(shown.command)}")
        for line in shown.history:
            click.echo(f"  {line}")


@command.command("logs", context_settings=HELP)
@click.argument("name")
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="How many."
)
@click.option("-f", "--follow", is_flag=True, help="Go on printing what comes.")
def logs_(name: str, lines: int, follow: bool) -> None:
    """Print the last lines of the log of the service NAME: its output and its errors."""
    with opened() as room:
        path = Path(room.store.get(check_name(name)).log)
        seen, identity = logs.size(path), _file_of(path)
        for line in logs.tail(path, lines, upto=seen):
            click.echo(line)
        if follow:
            _follow(path, seen, identity)


def _file_of(path: Path) -> int:
    return path.stat().st_ino if path.exists() else 0


def _follow(path: Path, seen: int, identity: int) -> None:
    """Print what is added. A log that was moved on or emptied is begun anew."""
    while True:
        time.sleep(0.2)  # files have no event that the standard library could wait for
        now = logs.size(path)
        new = _file_of(path)
        if now < seen or new != identity:
            seen, identity = 0, new
        if now > seen:
            with path.open("rb") as file:
                file.seek(seen)
                data = file.read()
            seen += len(data)
            click.echo(data.decode("utf-8", "replace"), nl=False)


@command.command(context_settings=HELP)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def stop(names: tuple[str, ...]) -> None:
    """Stop services: SIGTERM to all of their processes, SIGTERM again, SIGKILL.

    Exit status 4 when something is left of one.
    """
    with opened() as room:
        launcher = Launcher(room.store, room.machine)
        for name in map(check_name, names):
            room.store.get(name)  # a mistyped name stops none of them

        async def all_of_them() -> list[BaseException | Service]:
            stops = [launcher.stop(check_name(name)) for name in names]
            return await asyncio.gather(*stops, return_exceptions=True)

        code = 0
        for name, done in zip(names, run_now(all_of_them()), strict=True):
            if isinstance(done, StaticFireError):
                click.echo(f"{name}: {done}", err=True)
                code = 4
            elif isinstance(done, BaseException):
                raise done
            else:
                click.echo(f"{name}: stopped")
        leave(code)


@command.command(context_settings=HELP)
@click.argument("name")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=45.0, show_default=True, metavar="S",
    help="Seconds to wait until it is ready.",
)  # fmt: skip
@as_json_option
def restart(name: str, timeout: float, as_json: bool) -> None:
    """End all processes of the service NAME, start it again, wait as `staticfire serve` does."""
    name = check_name(name)
    with opened() as room:
        waited = run_now(_restart(room, name, timeout))
        tell(room, waited, "", as_json=as_json)
        leave(int(waited.end))


async def _restart(room: Room, name: str, timeout: float) -> Waited:  # noqa: ASYNC109 - as `wait`
    try:
        await Launcher(room.store, room.machine).restart(name)
    except CannotStart:
        return not_started(room, name)
    return await wait(Checker(room.store, room.machine, interval=1.0), name, timeout=timeout)


@command.command(context_settings=HELP)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def forget(names: tuple[str, ...]) -> None:
    """Remove the records of stopped services. Their logs stay."""
    with opened() as room:
        launcher = Launcher(room.store, room.machine)
        for name in names:
            run_now(launcher.forget(name))
            click.echo(f"{name}: forgotten")


command.add_command(wait_command, "wait")
