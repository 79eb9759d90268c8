"""`staticfire gate`: hold a launch until the workers are there, then exec the command."""

from __future__ import annotations

from collections.abc import Sequence

import click

from staticfire.cli._become import (
    become,
    check_startable,
    end_on_signals,
    own_signals,
    room_for,
)
from staticfire.cli._gate_show import chosen
from staticfire.cli._key import key_options
from staticfire.cli._latch import latch_option, latched
from staticfire.errors import WrongInput, did_you_mean
from staticfire.readiness.gate import Gated, Process, wait_at_gate
from staticfire.readiness.keys import key_headers
from staticfire.readiness.launch import Named, Need, named, none_found, pids_of, workers_of
from staticfire.readiness.running import leave, run_now
from staticfire.readiness.settings import Settings
from staticfire.readiness.waiting import UNTIL, Target

__all__ = ["command"]


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
    "--pid",
    "pids",
    multiple=True,
    metavar="URL=PID",
    help="The process of a worker: when it dies, so does the wait; repeatable.",
)
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
@click.option(
    "--kind",
    default="auto",
    show_default=True,
    metavar="KIND",
    help="Which route is asked: chat, completion, embeddings; auto: by what the list says.",
)
@latch_option
@key_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, on stderr.")
@click.argument("command_line", metavar="-- COMMAND...", nargs=-1, type=click.UNPROCESSED)
def command(
    workers: tuple[str, ...],
    model: str | None,
    until: str | None,
    at_least: int | None,
    pids: tuple[str, ...],
    timeout: float,
    interval: float,
    probe_deadline: float,
    accept: str,
    kind: str,
    latch: float,
    api_key_env: str | None,
    api_key_file: str | None,
    as_json: bool,
    command_line: tuple[str, ...],
) -> None:
    """Wait for all workers, then become COMMAND: same process, same PID.

    Without --worker the workers are those in COMMAND's own arguments: --worker-urls A B ...,
    --prefill URL [PORT] ..., --decode URL ..., --static-backends A,B

    \b
    Exit status, when COMMAND is not started:
      1    the time ran out, or too many workers are dead; each missing one is named with why
      126  COMMAND cannot be run        127  there is no such command
      143  SIGTERM                      130  SIGINT
      2    the command line is wrong
    """  # noqa: D301 - the backslash is click's own mark
    if not command_line:
        raise WrongInput("gate", expected="a command after --", found="none")
    if until is not None and until not in UNTIL:
        raise WrongInput(
            "--until",
            expected=f"one of {', '.join(UNTIL)}",
            found=repr(until),
            do=did_you_mean(until, UNTIL),
        )
    found = named(workers) or workers_of(command_line)
    if not found:
        raise none_found(command_line)
    need = Need.of(found, at_least)
    targets = tuple(Target(worker.url, until or _default(worker), model) for worker in found)
    processes = _processes(pids, found)
    settings = Settings(probe_deadline=probe_deadline, accept=accept, kind=kind, **latched(latch))
    headers = key_headers(env=api_key_env, file=api_key_file)
    check_startable(command_line[0])
    show = chosen(as_json=as_json, total=len(targets))

    async def main() -> Gated:
        end_on_signals(show.signal)
        show.begin(targets, need, timeout)
        return await wait_at_gate(
            targets,
            need,
            processes,
            timeout=timeout,
            interval=interval,
            on_change=show.change,
            settings=settings,
            headers=headers,
        )

    with room_for(len(targets)), own_signals():
        try:
            gated = run_now(main())
        finally:
            show.close()
    show.end(gated, need)
    if not gated.ok:
        leave(1)
    become(command_line)


def _processes(texts: Sequence[str], workers: Sequence[Named]) -> dict[str, Process]:
    pids = pids_of(texts, [worker.url for worker in workers])
    if not pids:
        return {}
    from staticfire.cli._process import LocalProcess  # what reads /proc is loaded when it is needed

    return {url: LocalProcess(pid) for url, pid in pids.items()}


def _default(worker: Named) -> str:
    """A leg serves nobody alone, so that its health is all there is to wait for."""
    return "serving" if worker.role == "worker" else "health"
