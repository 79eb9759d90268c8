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
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from staticfire.cli._router_config import (
    PREFIX,
    effective,
    from_environment,
    from_file,
    in_the_environment,
    placed,
)
from staticfire.cli._router_flags import BORROWED, REFUSED, translate
from staticfire.cli._router_options import options, settings_of
from staticfire.errors import WrongInput

if TYPE_CHECKING:
    from staticfire.router import Settings
    from staticfire.router.logs import Which

__all__ = ["command"]

log = logging.getLogger("staticfire.router")

SPARE_FILES = 100
"""For health checks, scrapes and clients that wait in line."""


class _Command(click.Command):
    """Reads command lines that were written for the vLLM and SGLang routers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            args, warnings = translate(args)
        except WrongInput as wrong:
            raise click.UsageError(str(wrong), ctx) from wrong
        ctx.meta["warnings"] = warnings
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            raise in_the_environment(ctx, error) from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Accepted from other routers, with a warning"):
            formatter.write_text(", ".join(sorted(BORROWED)))
        with formatter.section("Known from other routers and refused"):
            formatter.write_text(", ".join(sorted(REFUSED)))


def _load(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Values of the file become defaults, before click looks for any."""
    del param
    if value:
        ctx.meta["config"] = value
        ctx.default_map, warnings = from_file(ctx, value)
        ctx.meta["warnings"] += warnings
    return value


@click.command(cls=_Command, context_settings={"auto_envvar_prefix": PREFIX})
@click.option("--config", metavar="FILE", is_eager=True, callback=_load, help="Settings as TOML.")
@click.option("--check", is_flag=True, help="Print the effective settings and leave.")
@options
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """Route requests to a fleet of engines.

    Binds at once; a worker gets requests from its first proof that it serves. /readiness is 503
    until one does. SIGTERM lets answers under way end, then exits 0.

    Each setting has one name: --queue-size here, queue_size in the TOML of --config,
    STATICFIRE_ROUTER_QUEUE_SIZE in the environment. A flag beats the environment, that beats the
    file.
    """
    from staticfire.router import logs

    try:
        ctx.meta["warnings"] += from_environment(ctx)
        settings = settings_of(flags)
    except WrongInput as wrong:
        raise placed(ctx, wrong) from wrong
    if flags["check"]:
        click.echo(effective(ctx, as_json=flags["as_json"]))
        return
    level = {"warn": "WARNING"}.get(flags["log_level"], flags["log_level"].upper())
    logs.configure(level, flags["log_format"])
    for warning in ctx.meta["warnings"]:
        log.warning("%s", warning)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    settings = _within(settings, most)
    with asyncio.Runner(loop_factory=_loop_of(ctx, flags["loop"])) as runner:
        runner.run(_serve(settings, flags["log_requests"], as_json=flags["as_json"]))


def _loop_of(ctx: click.Context, name: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Who makes the event loop; None is asyncio's own."""
    if name == "asyncio":
        return None
    try:
        import uvloop
    except ImportError as error:
        if name == "auto":
            return None
        message = "--loop uvloop: expected uvloop to be installed; pip install 'staticfire[fast]'"
        raise click.UsageError(message, ctx) from error
    return uvloop.new_event_loop


def _within(settings: Settings, files: int) -> Settings:
    """No more requests at once than there are sockets for: a request takes two of them."""
    most = max(1, (files - SPARE_FILES) // 2)
    if settings.max_concurrent_requests <= most:  # also -1, for who asks for no limit
        return settings
    log.info("%d files may be open: at most %d requests at once", files, most)
    return replace(settings, max_concurrent_requests=most)


async def _serve(settings: Settings, log_requests: Which, *, as_json: bool) -> None:
    from staticfire.router import Router

    router = Router(settings, log_requests=log_requests)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    await router.start()
    log.info("listening on %s, workers: %d", router.url, len(router.workers))
    if not router.workers:
        log.warning("no worker is configured: add one with POST /workers")
    for worker in router.workers:
        log.debug("%s is %s", worker.id, worker.url)
    if as_json:
        line = {"url": router.url, "port": router.port, "pid": os.getpid()}
        click.echo(json.dumps(line))
        sys.stdout.flush()
    await over.wait()
    log.info(
        "stopping: not ready now, closed in %g s, answers under way have %g s more",
        settings.shutdown_delay_secs,
        settings.shutdown_grace_period_secs,
    )
    stopping = asyncio.ensure_future(router.drain())
    # A second signal hurries.
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await stopping
    await router.stop()
