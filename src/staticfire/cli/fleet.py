"""`staticfire fleet`: many mock engines in one process in real time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from staticfire.errors import WrongInput

if TYPE_CHECKING:
    from staticfire.engine.fleet_file import FleetFile

__all__ = ["command"]

SOCKETS = 2
"""Open files of each engine: what owns its port, and its listener."""
SPARE = 100
"""Open files for everything else, connections among them."""


@click.command("fleet")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to bind to.")
@click.option(
    "--seed", type=int, help="What everything random comes from; it replaces the file's.  [0]"
)
def command(file: Path, host: str, seed: int | None) -> None:
    """Serve the mock engines of FILE, a fleet file (TOML), until SIGTERM or Ctrl-C.

    It prints one JSON line, {"pid", "seed", "urls", "engines"}, when all own their ports; their
    lives begin then. Of each engine it tells {"name", "group", "model", "url", "port"}.
    """
    try:
        from staticfire.engine.fleet_file import load_fleet

        fleet = load_fleet(file)
        _room(file, sum(group.count for group in fleet.groups))
        chosen = seed if seed is not None else fleet.seed
        asyncio.run(_serve(fleet, host, chosen if chosen is not None else 0))
    except WrongInput as exc:
        click.echo(f"staticfire fleet: {exc}", err=True)
        sys.exit(2)


def _room(file: Path, engines: int) -> None:
    """Raise `WrongInput` unless the machine allows as many open files as the fleet needs."""
    from staticfire.stand.limits import lift_open_files

    allowed = lift_open_files()
    most = (allowed - SPARE) // SOCKETS
    if engines > most:
        raise WrongInput(
            str(file),
            expected=f"at most {most} engines, as {allowed} open files are allowed",
            found=str(engines),
            do="raise the hard limit (ulimit -Hn), or split the fleet",
        )


async def _serve(read: FleetFile, host: str, seed: int) -> None:
    from staticfire.engine import Fleet
    from staticfire.engine.groups import members

    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    async with Fleet.of_groups(read.groups, seed=seed, host=host) as fleet:
        engines = [
            {
                "name": engine.name,
                "group": member.group,
                "model": engine.script.model,
                "url": engine.url,
                "port": engine.port,
            }
            for engine, member in zip(fleet, members(read.groups, seed), strict=True)
        ]
        facts = {"pid": os.getpid(), "seed": seed, "urls": fleet.urls, "engines": engines}
        print(json.dumps(facts), flush=True)
        await over.wait()
