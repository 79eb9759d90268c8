"""The flags of `staticfire router`, by subject, and the settings that they make.

A flag carries the name of its field in `router.Settings`, and its default; a test holds both. Where
the routers whose flag it is have another name, FIELDS tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from staticfire.cli._latch import latch_option, latched

if TYPE_CHECKING:
    from staticfire.router import Settings

__all__ = ["FIELDS", "NOT_SETTINGS", "READINESS", "SECRET", "options", "settings_of"]

F = TypeVar("F", bound=Callable[..., Any])

FIELDS = {
    "admin_api_key": "admin_api_keys",
    "api_key": "api_keys",
    "backpressure_status": "backpressure_statuses",
    "worker_startup_check_interval": "startup_check_interval_secs",
}
"""Flags whose field has another name."""

READINESS = {
    "health_check_timeout_secs": "listing_deadline",
    "health_failure_threshold": "leave_after",
    "latch": "fresh_for",
}
"""Flags that set `readiness.Settings`."""

NOT_SETTINGS = frozenset(
    ("as_json", "check", "config", "log_format", "log_level", "log_requests", "loop")
)
"""What is about the process."""

SECRET = frozenset(("admin_api_key", "api_key", "worker_api_key"))
"""What `--check` does not show."""


def _flag(name: str, default: Any = None, help_: str = "", **more: Any) -> Callable[[F], F]:
    if default is not None and not more.get("multiple"):
        more = {"show_default": True, **more}
    if default is not None:
        more["default"] = default
    return click.option(name, help=help_ or None, **more)


def _on(name: str, help_: str = "") -> Callable[[F], F]:
    return click.option(name, is_flag=True, help=help_ or None)


FLEET = (
    _flag("--worker-urls", help_="The engines, in one flag.", multiple=True, metavar="URL…"),
    _flag("--worker-api-key", help_="The key of those engines.", metavar="KEY"),
    _flag(
        "--worker",
        help_="An engine with a priority or a key of its own.",
        multiple=True,
        metavar="'URL priority=N key-env=NAME'",
    ),
    _flag("--worker-max-requests", help_="Under way at one engine. [default: no limit]", type=int),
)
LEGS = (
    _flag(
        "--pd-disaggregation",
        help_="Prefill and decode legs, and whose words they speak.",
        type=click.Choice(["sglang", "vllm"]),
    ),
    _flag("--prefill", help_="Who reads prompts.", multiple=True, metavar="URL [PORT]…"),
    _flag("--decode", help_="Who makes the tokens.", multiple=True, metavar="URL…"),
    _flag("--prefill-policy", help_="Among prefill legs. [default: as --policy]"),
    _flag("--decode-policy", help_="Among decode legs. [default: as --policy]"),
)
ROUTING = (
    _flag("--policy", "round_robin", "Who gets a request."),
    _flag("--session-header", "x-session-id", "Names a session; several with commas."),
    _flag("--session-idle-secs", 14400.0, "When sticky forgets a session."),
    _flag(
        "--sticky-rebalance-idle-secs",
        help_="When sticky may move an idle one. [default: never]",
        type=float,
    ),
    _flag("--hash-load-factor", 1.25, "How far over the mean consistent_hash loads a home."),
    _flag("--cache-threshold", 0.3, "The part of a prompt that must be cached for cache_aware."),
    _flag("--balance-abs-threshold", 64, "So many more than the least loaded is too many,"),
    _flag("--balance-rel-threshold", 1.5, "when it is so many times as many, too."),
    _flag("--max-tree-size", 64 << 20, "Text that cache_aware remembers for a model, in bytes."),
    _flag(
        "--model-alias",
        help_="Another name for a model.",
        multiple=True,
        metavar="ALIAS=MODEL",
    ),
)
HEALTH = (
    _flag("--health-check-interval-secs", 10.0, "For workers that serve."),
    _flag("--worker-startup-check-interval", 1.0, "For workers that do not serve yet."),
    _flag("--health-check-timeout-secs", 2.0, "Deadline of a listing."),
    latch_option,
    _flag(
        "--health-failure-threshold",
        2,
        "Failed listings in a row before a worker leaves.",
        type=click.IntRange(1),
    ),
    _flag("--wedge-after-secs", 60.0, "Of nothing but sheds, before a worker counts as wedged."),
    _flag("--cb-failure-threshold", 5, "Errors in a row that open a breaker."),
    _flag("--cb-timeout-duration-secs", 30.0, "How long an open breaker rests."),
    _on("--disable-circuit-breaker"),
    _flag(
        "--backpressure-status",
        help_="A status by which engines shed load. [default: 429, 503, 529]",
        multiple=True,
        type=click.IntRange(400, 599),
    ),
)
RETRIES = (
    _flag("--retry-max-retries", 5, "Attempts in all, the first one too."),
    _flag("--retry-initial-backoff-ms", 50.0, "Before the second retry; the first goes at once."),
    _flag("--retry-max-backoff-ms", 30000.0, "The longest pause."),
    _flag("--retry-backoff-multiplier", 1.5, "By which pauses grow."),
    _flag("--retry-jitter-factor", 0.2, "The part of a pause that is left to chance."),
    _flag("--retry-after-cap-secs", 2.0, "The longest Retry-After that is waited out."),
    _on("--retry-begun", "Send again what a worker may have begun: it may run twice."),
    _flag("--retry-budget-share", 0.2, "The part of live requests that may retry at once."),
    _flag("--retry-budget-floor", 3, "So many may always."),
    _on("--disable-retries"),
)
TIMES = (
    _flag("--connect-timeout-secs", 5.0, "For a connection to a worker."),
    _flag("--request-timeout-secs", 1800.0, "To the head of an answer."),
    _flag("--stream-idle-timeout-secs", 600.0, "Longest silence inside an answer."),
    _flag("--write-stall-timeout-secs", 120.0, "Longest time a client may take nothing."),
    _flag("--total-timeout-secs", 0.0, "To the end of an answer; 0 for no limit."),
    _flag("--head-timeout-secs", 20.0, "For the head of a client's request."),
    _flag("--body-timeout-secs", 60.0, "For its body, and a second for each 500 bytes."),
    _flag("--upstream-keepalive-secs", 4.0, "For idle connections to workers."),
    _flag("--abort-path", help_="Where workers are told that a client left.", metavar="PATH"),
    _flag("--shutdown-delay-secs", 1.0, "Not ready and still serving, at SIGTERM."),
    _flag("--shutdown-grace-period-secs", 30.0, "For answers under way, after that."),
)
ADMISSION = (
    _flag("--max-concurrent-requests", 32768, "Under way at once; -1 for no limit."),
    _flag("--queue-size", 100, "How many may wait for one of them to end."),
    _flag("--queue-timeout-secs", 60.0, "The longest wait in that line."),
    _flag("--max-payload-size", 32 << 20, "The longest request body, in bytes."),
)
KEYS = (
    _flag("--api-key", help_="Who asks for inference brings one.", multiple=True, metavar="KEY"),
    _flag(
        "--admin-api-key", help_="Who changes the fleet brings one.", multiple=True, metavar="KEY"
    ),
)
HEADERS = (
    _flag(
        "--forward-headers",
        help_="Request headers that pass beside the usual ones.",
        multiple=True,
        metavar="NAME…",
    ),
    _flag(
        "--request-id-headers",
        help_="Where a request's id is looked for. [default: x-request-id]",
        multiple=True,
        metavar="NAME…",
    ),
)
PROCESS = (
    _flag("--host", "127.0.0.1"),
    _flag("--port", 30000, "0 takes any free port."),
    _flag("--prometheus-port", help_="Serve /metrics here too.", type=int),
    _flag("--log-level", "info", type=click.Choice(["debug", "info", "warning", "warn", "error"])),
    _flag(
        "--log-format", "text", "The log on standard error.", type=click.Choice(["text", "json"])
    ),
    _flag(
        "--log-requests",
        "failed",
        "Which requests get a line each.",
        type=click.Choice(["none", "failed", "all"]),
    ),
    _flag(
        "--loop",
        "auto",
        "The event loop; auto is uvloop where it is installed.",
        type=click.Choice(["auto", "asyncio", "uvloop"]),
    ),
    _flag("--seed", help_="For what is left to chance.", type=int),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON line when it listens."),
)


def options(command: F) -> F:
    """Add every flag to a command, in the order of its help."""
    groups = (
        FLEET, LEGS, ROUTING, HEALTH, RETRIES, TIMES, ADMISSION, KEYS, HEADERS, PROCESS,
    )  # fmt: skip
    for add in reversed([one for group in groups for one in group]):
        command = add(command)
    return command


def settings_of(flags: Mapping[str, Any]) -> Settings:
    """The settings that flags make; raises WrongInput. An absent flag leaves the default."""
    from staticfire import readiness
    from staticfire.router import Settings

    checks: dict[str, Any] = {}
    chosen: dict[str, Any] = {}
    for name, value in flags.items():
        if name in NOT_SETTINGS or value is None or value == ():
            continue
        if name == "latch":
            checks |= latched(value)
        elif name in READINESS:
            checks[READINESS[name]] = value
        elif name == "backpressure_status":
            chosen[FIELDS[name]] = frozenset(value)
        else:
            chosen[FIELDS.get(name, name)] = value
    return Settings(readiness=readiness.Settings(**checks), **chosen)
