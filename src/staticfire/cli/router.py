"""`staticfire router`: the router as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import resource
import signal
import sys

import click

from staticfire.cli._latch import latch_option, latched
from staticfire.cli._router_flags import BORROWED, REFUSED, translate
from staticfire.errors import WrongInput

__all__ = ["command"]

log = logging.getLogger("staticfire.router")


class _Command(click.Command):
    """Reads command lines that were written for the vLLM and SGLang routers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            args, warnings = translate(args)
        except WrongInput as wrong:
            raise click.UsageError(str(wrong), ctx) from wrong
        ctx.meta["warnings"] = warnings
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Accepted from other routers, with a warning"):
            formatter.write_text(", ".join(sorted(BORROWED)))
        with formatter.section("Known from other routers and refused"):
            formatter.write_text(", ".join(sorted(REFUSED)))


@click.command(cls=_Command)
@click.option("--worker-urls", multiple=True, metavar="URL…", help="The engines, in one flag.")
@click.option("--policy", default="round_robin", show_default=True, help="round_robin or sticky.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=int, default=30000, show_default=True, help="0 takes any free port.")
@click.option("--prometheus-port", type=int, help="Serve /metrics here too.")
@click.option(
    "--session-header",
    default="x-session-id",
    show_default=True,
    help="Names a session for sticky.",
)
@click.option(
    "--health-check-interval-secs",
    type=float,
    default=10.0,
    show_default=True,
    help="For workers that serve.",
)
@click.option(
    "--worker-startup-check-interval",
    type=float,
    default=1.0,
    show_default=True,
    help="For workers that do not serve yet.",
)
@click.option(
    "--health-check-timeout-secs",
    type=float,
    default=2.0,
    show_default=True,
    help="Deadline of a listing.",
)
@click.option(
    "--health-failure-threshold",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Failed listings in a row before a worker leaves.",
)
@latch_option
@click.option(
    "--cb-failure-threshold",
    type=int,
    default=5,
    show_default=True,
    help="Errors in a row that open a breaker.",
)
@click.option(
    "--cb-timeout-duration-secs",
    type=float,
    default=30.0,
    show_default=True,
    help="How long an open breaker rests.",
)
@click.option("--disable-circuit-breaker", is_flag=True)
@click.option(
    "--backpressure-status",
    type=click.IntRange(400, 599),
    multiple=True,
    help="A status by which engines shed load. [default: 429, 503, 529]",
)
@click.option(
    "--request-timeout-secs",
    type=float,
    default=1800.0,
    show_default=True,
    help="To the head of an answer.",
)
@click.option(
    "--stream-idle-timeout-secs",
    type=float,
    default=600.0,
    show_default=True,
    help="Longest silence inside an answer.",
)
@click.option(
    "--max-payload-size", type=int, default=512 << 20, show_default=True, help="In bytes."
)
@click.option(
    "--shutdown-grace-period-secs",
    type=float,
    default=5.0,
    show_default=True,
    help="For answers under way at SIGTERM.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "warn", "error"]),
    default="info",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when it listens.")
@click.pass_context
def command(ctx: click.Context, /, *, as_json: bool, log_level: str, **flags: object) -> None:
    """Route requests to a fleet of engines.

    Binds at once; a worker gets requests from its first proof that it serves. /readiness is 503
    until one does. SIGTERM lets answers under way end, then exits 0.
    """
    from staticfire import readiness
    from staticfire.router import Settings

    statuses = flags.pop("backpressure_status")
    urls = flags["worker_urls"]
    if not urls:
        raise click.UsageError("--worker-urls: expected at least one URL, found none", ctx)
    checks = readiness.Settings(
        listing_deadline=flags.pop("health_check_timeout_secs"),  # type: ignore[arg-type]  # click's types
        leave_after=flags.pop("health_failure_threshold"),  # type: ignore[arg-type]
        **latched(flags.pop("latch")),  # type: ignore[arg-type]
    )
    flags["startup_check_interval_secs"] = flags.pop("worker_startup_check_interval")
    if statuses:
        flags["backpressure_statuses"] = frozenset(statuses)  # type: ignore[call-overload]
    settings = Settings(readiness=checks, **flags)  # type: ignore[arg-type]
    level = {"warn": "WARNING"}.get(log_level, log_level.upper())
    logging.basicConfig(
        level=level, format="%(asctime)s %(levelname)-7s %(message)s", stream=sys.stderr
    )
    for warning in ctx.meta.get("warnings", ()):
        log.warning("%s", warning)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # two sockets for each request
    asyncio.run(_serve(settings, as_json=as_json))


async def _serve(settings: object, *, as_json: bool) -> None:
    from staticfire.router import Router, Settings

    assert isinstance(settings, Settings)
    router = Router(settings)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    await router.start()
    log.info("listening on %s, workers: %d", router.url, len(router.workers))
    for worker in router.workers:
        log.info("%s is %s", worker.id, worker.url)
    if as_json:
        line = {"url": router.url, "port": router.port, "pid": os.getpid()}
        click.echo(json.dumps(line))
        sys.stdout.flush()
    await over.wait()
    log.info("stopping: answers under way have %g s", settings.shutdown_grace_period_secs)
    stopping = asyncio.ensure_future(router.stop(settings.shutdown_grace_period_secs))
    # A second signal hurries.
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await stopping
    await router.stop()
