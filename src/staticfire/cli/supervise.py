"""`staticfire supervise`: keep services until it is told to stop; they live on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from datetime import UTC, datetime

import click

from staticfire.cli._services import SUPERVISOR, Room, opened
from staticfire.clock import current
from staticfire.readiness.running import leave, run_now
from staticfire.services.home import check_name
from staticfire.services.supervise import Supervisor

__all__ = ["command"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--tick", type=click.FloatRange(min=0, min_open=True), default=5.0, show_default=True,
    metavar="S", help="Seconds between two looks at a service.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def command(names: tuple[str, ...], tick: float, as_json: bool) -> None:
    """Keep the services of this state folder, or those named, until SIGTERM or Ctrl-C.

    A service is started again when its process is dead, or when its start-up budget is used up
    before its first listing; never because it is slow or busy. The services outlive this command.
    A line is printed for each change.

    \b
    Exit status:
      0  stopped by a signal
      1  another supervisor is at work in this state folder
    """  # noqa: D301 - the backslash is click's own mark
    with opened() as room, contextlib.ExitStack() as held:
        mine = held.enter_context(room.home.locked(SUPERVISOR))
        if not mine:
            click.echo(
                "staticfire supervise: expected to be the only supervisor of "
                f"{room.home.path}, found pid {room.supervisor}; stop that one first",
                err=True,
            )
            leave(1)
        run_now(_keep(room, tuple(map(check_name, names)), tick, as_json=as_json))
        leave(0)


async def _keep(room: Room, names: tuple[str, ...], tick: float, *, as_json: bool) -> None:
    def say(name: str, text: str) -> None:
        room.warn()
        stamp = datetime.fromtimestamp(current().wall(), UTC).strftime("%H:%M:%SZ")
        if as_json:
            click.echo(json.dumps({"at": stamp, "service": name, "text": text}))
        else:
            click.echo(f"{stamp} {name}: {text}")

    loop = asyncio.get_running_loop()
    keeper = Supervisor(room.store, room.machine, names=names, tick=tick, say=say)
    task = asyncio.ensure_future(keeper.run())
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    if as_json:
        click.echo(json.dumps({"pid": os.getpid(), "state": str(room.home.path), "tick": tick}))
    else:
        click.echo(f"keeping the services of {room.home.path} (pid {os.getpid()})")
    with contextlib.suppress(asyncio.CancelledError):
        await task
