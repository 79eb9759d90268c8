"""`staticfire wait`: wait until a service, or an engine at a URL, is ready."""

from __future__ import annotations

import asyncio
import json

import click

from staticfire.cli._key import key_options
from staticfire.cli._services import opened, report, tailed
from staticfire.clock import NS, current, ns
from staticfire.readiness import Record, Watch
from staticfire.readiness.keys import key_headers
from staticfire.readiness.running import leave, run_now
from staticfire.readiness.verdict import Status
from staticfire.services.check import Checker
from staticfire.services.home import check_name
from staticfire.services.wait import LEAST, End, wait

__all__ = ["command", "wait_for_service"]

RAN_OUT = 6
"""Its own exit status: `serve` has 3 for the same, after which the engine goes on coming up."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("target")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=600.0, show_default=True, metavar="S",
    help="Seconds until it gives up waiting.",
)  # fmt: skip
@click.option("--model", metavar="M", help="With a URL: the model to wait for.")
@key_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    target: str,
    timeout: float,
    model: str | None,
    api_key_env: str | None,
    api_key_file: str | None,
    as_json: bool,
) -> None:
    """Wait until TARGET is ready: a service by its name, or an engine by its URL.

    \b
    Exit status:
      0  ready
      4  its process is dead, and nobody starts it again (a refused port is no death)
      5  misconfigured: waiting will not help
      6  the time ran out
      2  the command line is wrong
    """  # noqa: D301 - the backslash is click's own mark
    if "://" in target:
        headers = key_headers(env=api_key_env, file=api_key_file)
        watch = Watch(target, model, headers=headers)
        leave(_url(watch, timeout, as_json=as_json))
    wait_for_service(target, timeout, as_json=as_json)


def wait_for_service(name: str, timeout: float, *, as_json: bool) -> None:
    """Wait for a service, say what came of it, leave."""
    name = check_name(name)
    with opened() as room:
        checker = Checker(room.store, room.machine, interval=1.0)
        waited = run_now(
            wait(checker, name, timeout=timeout, kept=lambda: room.supervisor is not None)
        )
        shown = room.view(waited)
        code = RAN_OUT if waited.end is End.COMING else int(waited.end)
        if as_json:
            record = waited.checked.service.readiness
            page = shown.json() | {
                "outcome": "ran_out" if code == RAN_OUT else waited.end.name.lower(),
                "code": code,
                "verdict": None if record.verdict is None else str(record.verdict),
                "seconds": round(waited.after / NS, 3),
                "log_tail": tailed(shown) if waited.end is End.DEAD else [],
            }
            click.echo(json.dumps(page, ensure_ascii=False))
        else:
            report(shown, waited)
        leave(code)


def _url(watch: Watch, timeout: float, *, as_json: bool) -> int:
    record, after = run_now(_ready(watch, timeout))
    misconfigured = record.status is Status.MISCONFIGURED
    code = 0 if record.ready else int(End.MISCONFIGURED) if misconfigured else RAN_OUT
    verdict = None if record.verdict is None else str(record.verdict)
    if as_json:
        page = {
            "url": watch.url, "model": record.served_model or watch.model,
            "status": str(record.status), "verdict": verdict, "reason": watch.why, "code": code,
            "seconds": round(after, 3),
        }  # fmt: skip
        click.echo(json.dumps(page))
    else:
        more = "" if record.ready else f": expected ready within {timeout:g} s, found: {watch.why}"
        click.echo(f"{watch.url}: {record.status} after {after:.1f} s{more}")
    return code


async def _ready(watch: Watch, timeout: float) -> tuple[Record, float]:  # noqa: ASYNC109 - as `wait`
    clock = current()
    start = clock.now()
    end = start + ns(timeout)
    while True:
        record = await watch.check(until=max(end, start + LEAST))
        now = clock.now()
        if record.ready or record.status is Status.MISCONFIGURED:
            return record, (now - start) / NS
        if end - now < LEAST:
            await asyncio.sleep(max(0, end - now) / NS)
            return record, (clock.now() - start) / NS
        due = watch.plan(now).at
        wake = min(now + ns(watch.settings.interval), end, due if due and due > now else end)
        await asyncio.sleep((wake - now) / NS)
