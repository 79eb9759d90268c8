"""`staticfire serve`: start an engine as a service, wait for it, say honestly what it is."""

from __future__ import annotations

import json
import os

import click

from staticfire.cli._key import key_options
from staticfire.cli._latch import FOREVER, latch_option
from staticfire.cli._services import Room, opened, report, tailed
from staticfire.readiness.keys import key_headers
from staticfire.readiness.running import leave, run_now
from staticfire.services.check import Checked, Checker
from staticfire.services.decide import Facts
from staticfire.services.home import check_name
from staticfire.services.host import CannotStart
from staticfire.services.launch import Launcher, plan
from staticfire.services.service import Patience, Service
from staticfire.services.wait import End, Waited, wait

__all__ = ["command"]

SECONDS = click.FloatRange(min=0)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option("--model", metavar="M", help="The model it must serve; without it the first listed.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port that COMMAND listens on.")
@click.option("--url", help="Where the engine listens, when that is not COMMAND's own process.")
@click.option(
    "--timeout", type=SECONDS, default=45.0, show_default=True, metavar="S",
    help="Seconds to wait until it is ready. It goes on coming up after that.",
)  # fmt: skip
@click.option(
    "--startup-budget", type=SECONDS, default=300.0, show_default=True, metavar="S",
    help="Seconds without progress until its first listing; then a supervisor restarts it.",
)  # fmt: skip
@click.option(
    "--restarts", type=click.IntRange(0), default=8, show_default=True, metavar="N",
    help="Restarts in a row until a supervisor gives it up.",
)  # fmt: skip
@click.option(
    "--grace", type=SECONDS, default=10.0, show_default=True, metavar="S",
    help="Seconds that it has to end after SIGTERM.",
)  # fmt: skip
@click.option(
    "--probe-deadline", type=click.FloatRange(min=0, min_open=True), default=8.0,
    show_default=True, metavar="S", help="Seconds for one chat request of a check.",
)  # fmt: skip
@latch_option
@key_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("command_line", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
def command(
    name: str,
    model: str | None,
    port: int | None,
    url: str | None,
    timeout: float,
    startup_budget: float,
    restarts: int,
    grace: float,
    probe_deadline: float,
    latch: float,
    api_key_env: str | None,
    api_key_file: str | None,
    as_json: bool,
    command_line: tuple[str, ...],
) -> None:
    """Start COMMAND as the service NAME and wait until it is ready.

    Every {port} in COMMAND becomes a free port; without one, --port or --url says where the engine
    listens. It runs in a session of its own and outlives this command.

    \b
    Exit status:
      0  ready: it has answered the smoke test
      3  still coming up: no smoke test has passed yet
      4  its process is dead, or could not be started
      5  misconfigured: the wrong model, key or route, or another's port
      2  the command line is wrong
    """  # noqa: D301 - the backslash is click's own mark
    name = check_name(name)
    patience = Patience(
        startup=startup_budget, restarts=restarts, grace=grace, probe_deadline=probe_deadline,
        latch=None if latch == FOREVER else latch,
    )  # fmt: skip
    key_headers(env=api_key_env, file=api_key_file)
    with opened() as room:
        taken = frozenset(
            s.port for s in room.store.all() if isinstance(s, Service) and s.port is not None
        )
        service = plan(
            name, command_line, model=model, port=port, url=url, folder=os.getcwd(),  # noqa: PTH109
            key_env=api_key_env, key_file=_absolute(api_key_file), patience=patience, taken=taken,
        )  # fmt: skip
        waited, note = run_now(_serve(room, service, timeout))
        tell(room, waited, note, as_json=as_json)
        leave(int(waited.end))


async def _serve(room: Room, service: Service, timeout: float) -> tuple[Waited, str]:  # noqa: ASYNC109 - see wait
    launcher = Launcher(room.store, room.machine)
    try:
        served, new = await launcher.serve(service, dict(os.environ))
    except CannotStart:
        return not_started(room, service.name), ""
    checker = Checker(room.store, room.machine, interval=1.0)
    waited = await wait(checker, served.name, timeout=timeout)
    return waited, "" if new else "it was running already"


def not_started(room: Room, name: str) -> Waited:
    """The end of a wait that never began."""
    service = room.store.get(name)
    return Waited(End.DEAD, Checked(service, Facts(alive=False, death=service.life.death)), 0)


def tell(room: Room, waited: Waited, note: str, *, as_json: bool) -> None:
    """What came of it."""
    shown = room.view(waited)
    if not as_json:
        report(shown, waited, note)
        return
    page = shown.json() | {
        "outcome": waited.end.name.lower(),
        "code": int(waited.end),
        "seconds": round(waited.after / 1e9, 3),
        "already_running": bool(note),
        "log_tail": tailed(shown) if waited.end is End.DEAD else [],
    }
    click.echo(json.dumps(page, ensure_ascii=False))


def _absolute(file: str | None) -> str | None:
    return None if file is None else os.path.abspath(file)  # noqa: PTH100 - as given, links kept
