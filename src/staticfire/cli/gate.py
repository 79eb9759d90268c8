"""`staticfire gate`: hold a launch until the workers are there, then exec the command."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

import click

from staticfire.clock import NS
from staticfire.errors import WrongInput
from staticfire.readiness.launch import workers_of
from staticfire.readiness.running import leave, run_now
from staticfire.readiness.settings import Settings
from staticfire.readiness.waiting import Change, Target, Waited, targets_of, wait_for

__all__ = ["command"]

DONE = {"health": "healthy", "listed": "listed", "serving": "serving"}
"""What a worker is when it is there."""


@click.command(
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": False}
)
@click.option("--worker", "workers", multiple=True, metavar="URL", help="A worker; repeatable.")
@click.option("--model", metavar="M", help="The model to wait for; without it any listed one.")
@click.option(
    "--until",
    metavar="health|listed|serving",
    help="Up to where. Default: serving; health for prefill and decode legs.",
)
@click.option("--at-least", type=int, metavar="N", help="That many are enough. Default: all.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=4200.0,
    show_default=True,
    metavar="S",
    help="Seconds until it gives up.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Seconds between two looks at a worker.",
)
@click.option(
    "--probe-deadline",
    type=click.FloatRange(min=0, min_open=True),
    default=8.0,
    show_default=True,
    metavar="S",
    help="Seconds for one chat request.",
)
@click.option("--accept", default="proven", show_default=True, metavar="RULE")
@click.argument("command_line", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
def command(
    workers: tuple[str, ...],
    model: str | None,
    until: str | None,
    at_least: int | None,
    timeout: float,
    interval: float,
    probe_deadline: float,
    accept: str,
    command_line: tuple[str, ...],
) -> None:
    """Wait for all workers, then become COMMAND: same process, same PID.

    Without --worker the workers are those in COMMAND's own arguments: --worker-urls A B ...,
    --prefill URL [PORT] ..., --decode URL ...

    \b
    Exit status, when COMMAND is not started:
      1    the time ran out; each missing worker is named with why
      126  COMMAND cannot be run        127  there is no such command
      143  SIGTERM                      130  SIGINT
      2    the command line is wrong
    """  # noqa: D301 - the backslash is click's own mark
    if not command_line:
        raise WrongInput("gate", expected="a command after --", found="none")
    targets = _targets(workers, command_line, until, model)
    if not targets:
        raise WrongInput(
            "gate",
            expected="workers",
            found="none",
            do="give --worker URL, or a command with --worker-urls, --prefill or --decode",
        )
    settings = Settings(probe_deadline=probe_deadline, accept=accept)
    _check_startable(command_line[0])
    needed = len(targets) if at_least is None else at_least
    show = _bar(len(targets)) if sys.stderr.isatty() else _Lines()
    files = _lift_open_files(len(targets))

    async def main() -> Waited:
        _on_signals(show.close)
        show.begin(targets, needed, timeout)
        return await wait_for(
            targets,
            at_least=at_least,
            timeout=timeout,
            interval=interval,
            on_change=show.change,
            settings=settings,
        )

    handlers = {number: signal.getsignal(number) for number in _ENDING}
    try:
        waited = run_now(main())
    finally:
        show.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
    total, seconds = len(targets), waited.after // NS
    if not waited.ok:
        _say(
            f"{len(waited.missing)} of {total} workers missing after {seconds}s "
            f"({needed} needed); the command was not started:"
        )
        for target, why in waited.missing:
            _say(f"  {target.url}: expected {DONE[target.until]}, found: {why}")
        leave(1)
    count = len(waited.there)
    head = f"All {total}" if count == total else f"{count} of {total}"
    _say(f"{head} workers healthy after {seconds}s")
    _become(command_line)


def _targets(
    workers: Sequence[str], command_line: Sequence[str], until: str | None, model: str | None
) -> tuple[Target, ...]:
    if workers:
        return targets_of(workers, until=until or "serving", model=model)
    named = []
    for worker in workers_of(command_line):
        default = "serving" if worker.role == "worker" else "health"
        named.append(Target(worker.url, until or default, model))
    return targets_of(named)


def _say(line: str) -> None:
    """Everything goes to stderr: stdout is the command's."""
    print(line, file=sys.stderr, flush=True)


class _Show(Protocol):
    def begin(self, targets: Sequence[Target], needed: int, timeout: float) -> None: ...

    def change(self, change: Change) -> None: ...

    def close(self) -> None: ...


class _Lines:
    """A line per change."""

    def begin(self, targets: Sequence[Target], needed: int, timeout: float) -> None:
        _say(f"waiting for {needed} of {len(targets)} workers, at most {timeout:g}s")

    def change(self, change: Change) -> None:
        word = DONE[change.target.until] if change.there else change.reason
        at = change.at // NS
        _say(f"[{change.count}/{change.total}] {change.target.url}: {word} after {at}s")

    def close(self) -> None:
        pass


def _bar(total: int) -> _Show:
    """A bar with the newest word of a worker that is missing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    class Bar:
        def __init__(self) -> None:
            self.progress = Progress(
                TextColumn("workers"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True),
            )
            self.task = self.progress.add_task("", total=total)

        def begin(self, targets: Sequence[Target], needed: int, timeout: float) -> None:
            del targets, needed, timeout
            self.progress.start()

        def change(self, change: Change) -> None:
            word = "" if change.there else f"{change.target.url}: {change.reason}"
            self.progress.update(self.task, completed=change.count, description=word)

        def close(self) -> None:
            self.progress.stop()

    return Bar()


# -- the process

_ENDING = (signal.SIGTERM, signal.SIGINT)


def _on_signals(close: Callable[[], None]) -> None:
    """SIGTERM and SIGINT end the gate at once; one that we were started with as ignored stays so."""
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        close()
        sys.stderr.flush()
        os._exit(128 + number)

    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)


def _lift_open_files(workers: int) -> tuple[int, int]:
    """Make room for a socket per worker; the limits to give back before the command runs."""
    soft, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * workers + 64
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return limits


def _check_startable(name: str) -> None:
    """Say now what would fail after an hour of waiting."""
    if shutil.which(name) is not None:
        return
    if os.sep in name and os.path.exists(name):  # noqa: PTH110 - a name, as exec takes it
        _cannot(name, "it cannot be run", 126)
    _cannot(name, "there is no such command", 127)


def _cannot(name: str, why: str, code: int) -> NoReturn:
    _say(f"{name}: expected a command that can be run, found: {why}")
    leave(code)


def _become(command_line: Sequence[str]) -> NoReturn:
    """Exec. Python ignores two signals for itself, which a shell would not hand on."""
    sys.stdout.flush()
    sys.stderr.flush()
    for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(command_line[0], list(command_line))  # noqa: S606 - this is what the gate is for
    except FileNotFoundError:
        _cannot(command_line[0], "there is no such command, or its interpreter is missing", 127)
    except OSError as error:
        _cannot(command_line[0], (error.strerror or str(error)).lower(), 126)
