"""How a router behaves, named as its flags."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite

from staticfire import readiness, wire
from staticfire.clock import ns
from staticfire.errors import WrongInput, did_you_mean
from staticfire.router import aliases, legs_settings, sessions
from staticfire.router.outcome import BACKPRESSURE
from staticfire.router.policies import POLICIES
from staticfire.router.retry import RetrySettings
from staticfire.router.worker import WorkerSpec

__all__ = ["Settings"]

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'+.^_`|~-]+\*?")


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in bytes, times in float seconds. Raises WrongInput for what cannot be used."""

    worker_urls: tuple[str, ...] = ()
    worker: tuple[WorkerSpec | str, ...] = field(default=(), repr=False)
    """More workers, each with a key and a priority of its own: `URL priority=1 key-env=NAME`."""
    worker_max_requests: int | None = None
    """Requests under way at one worker; None for no limit."""
    model_alias: tuple[str, ...] = ()
    """`ALIAS=MODEL`: another name for a model, replaced by the worker's own before it is asked."""
    pd_disaggregation: str = ""
    """Whose words the legs of a request speak, `vllm` or `sglang`; empty: there are no legs."""
    prefill: tuple[str, ...] = ()
    """Who reads prompts: each a URL, or a URL and its bootstrap port."""
    decode: tuple[str, ...] = ()
    """Who makes the tokens."""
    prefill_policy: str = ""
    """Among prefill legs; empty: as `policy`."""
    decode_policy: str = ""
    """Among decode legs; empty: as `policy`."""
    policy: str = "round_robin"
    host: str = "127.0.0.1"
    port: int = 30000
    """0 lets the kernel choose."""
    session_header: str = "x-session-id"
    """The header that names a session; several with commas between them, the first counts first."""
    session_idle_secs: float = 14400.0
    """A session that asked nothing for so long is forgotten."""
    sticky_rebalance_idle_secs: float | None = None
    """A session that idled so long may move to a late worker; None: never."""
    hash_load_factor: float = 1.25
    """How far over the mean consistent_hash loads a session's worker before it takes the next."""
    cache_threshold: float = 0.3
    """The part of a prompt that a worker must have seen for cache_aware to go by it."""
    balance_abs_threshold: int = 64
    """cache_aware goes by load when a worker has so many more under way than the least loaded,"""
    balance_rel_threshold: float = 1.5
    """and so many times as many."""
    max_tree_size: int = 64 << 20
    """How much text cache_aware remembers for each model, in bytes."""
    wedge_after_secs: float = 60.0
    """How long a worker sheds everything, idle by its own metrics, before it counts as wedged."""
    health_check_interval_secs: float = 10.0
    """Between checks of a worker that serves."""
    startup_check_interval_secs: float = 1.0
    """Between checks of a worker that does not serve yet."""
    cb_failure_threshold: int = 5
    cb_timeout_duration_secs: float = 30.0
    disable_circuit_breaker: bool = False
    backpressure_statuses: frozenset[int] = BACKPRESSURE
    connect_timeout_secs: float = 5.0
    request_timeout_secs: float = 1800.0
    """From the request to the head of the answer."""
    stream_idle_timeout_secs: float = 600.0
    """The longest silence inside an answer."""
    write_stall_timeout_secs: float = 120.0
    """The longest time for which a client may take nothing of its answer."""
    total_timeout_secs: float = 0.0
    """From the request to the end of its answer; 0 for no limit: half an hour is normal."""
    head_timeout_secs: float = 20.0
    """For the head of a client's request, from its first byte."""
    body_timeout_secs: float = 60.0
    """For its body, and a second more for each 500 bytes that have come."""
    upstream_keepalive_secs: float = 4.0
    """How long an idle connection to a worker is kept: less than engines keep it (uvicorn: 5)."""
    abort_path: str | None = None
    """Where workers are told `{"rid": REQUEST ID}` when a client left; None: the close is enough."""
    retry_max_retries: int = 5
    """Attempts in all, the first one too, as other routers count."""
    retry_initial_backoff_ms: float = 50.0
    retry_max_backoff_ms: float = 30000.0
    retry_backoff_multiplier: float = 1.5
    retry_jitter_factor: float = 0.2
    retry_after_cap_secs: float = 2.0
    """The longest `Retry-After` that is waited out while a client waits."""
    retry_begun: bool = False
    """Whether a request is sent again that a worker may have begun: it may run twice."""
    retry_budget_share: float = 0.2
    """The part of the requests under way that may be retrying at once."""
    retry_budget_floor: int = 3
    """So many may always."""
    disable_retries: bool = False
    seed: int | None = None
    """For what is left to chance; None for a new one at each start."""
    max_payload_size: int = 32 << 20
    """The longest request body, which is held in memory until it is answered."""
    max_concurrent_requests: int = 32768
    """Requests under way at once; -1 for no limit."""
    queue_size: int = 100
    """Requests that may wait for one of them to end."""
    queue_timeout_secs: float = 60.0
    """The longest wait in that line."""
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    """Who asks for inference must bring one of them; none is asked for when there are none."""
    admin_api_keys: tuple[str, ...] = field(default=(), repr=False)
    """Who changes the fleet must bring one; without any it is done from this machine only."""
    worker_api_key: str | None = field(default=None, repr=False)
    """What workers of `worker_urls` are asked with, in place of the client's credentials."""
    forward_headers: tuple[str, ...] = ()
    """Names of request headers that pass to workers beside the usual ones; `x-my-*` is many."""
    request_id_headers: tuple[str, ...] = ("x-request-id",)
    """Where a request's id is looked for, the first one first; else it gets a new one."""
    shutdown_delay_secs: float = 1.0
    """How long it says that it is not ready, and still serves, after SIGTERM."""
    shutdown_grace_period_secs: float = 30.0
    """How long answers under way may go on after that."""
    prometheus_port: int | None = None
    """A second port for `/metrics`; the main port has it too."""
    readiness: readiness.Settings = field(default_factory=readiness.Settings)
    """Deadlines and throttles of the checks."""

    @property
    def default_key(self) -> str | None:
        """What configured workers are asked with: a key of theirs, else ours, as elsewhere.

        The routers whose flag `--api-key` is give it to the workers of their command line too.
        Workers that are added at run time never get it.
        """
        return self.worker_api_key or next(iter(self.api_keys), None)

    @property
    def retries(self) -> RetrySettings:
        """The retry rules, in nanoseconds."""
        return RetrySettings(
            tries=1 if self.disable_retries else max(1, self.retry_max_retries),
            initial=ns(self.retry_initial_backoff_ms / 1000),
            longest=ns(self.retry_max_backoff_ms / 1000),
            multiplier=self.retry_backoff_multiplier,
            jitter=self.retry_jitter_factor,
            cap=ns(self.retry_after_cap_secs),
            begun=self.retry_begun,
        )

    def __post_init__(self) -> None:
        for url in self.worker_urls:
            wire.parse_url(url, where="--worker-urls")
        for row in self.worker:
            if isinstance(row, str):
                WorkerSpec.read(row)
        sessions.header_names(self.session_header)
        aliases.read(self.model_alias)
        legs_settings.check(self.pd_disaggregation, self.prefill, self.decode, self.worker_urls)
        for flag, policy in (
            ("--policy", self.policy),
            ("--prefill-policy", self.prefill_policy or self.policy),
            ("--decode-policy", self.decode_policy or self.policy),
        ):
            if policy not in POLICIES:
                raise WrongInput(
                    flag,
                    expected=f"one of {', '.join(sorted(POLICIES))}",
                    found=repr(policy),
                    do=did_you_mean(policy, POLICIES),
                )
        for name, low in _AT_LEAST.items():
            value = getattr(self, name)
            if not isfinite(value) or value < low:
                raise WrongInput(
                    "--" + name.replace("_", "-"),
                    expected=f"{low:g} or more",
                    found=repr(value),
                )
        if self.max_concurrent_requests < 1 and self.max_concurrent_requests != -1:
            raise WrongInput(
                "--max-concurrent-requests",
                expected="1 or more, or -1 for no limit",
                found=repr(self.max_concurrent_requests),
            )
        if self.worker_max_requests is not None and self.worker_max_requests < 1:
            raise WrongInput(
                "--worker-max-requests", expected="1 or more", found=str(self.worker_max_requests)
            )
        rebalance = self.sticky_rebalance_idle_secs
        if rebalance is not None and not (isfinite(rebalance) and rebalance >= 0):
            raise WrongInput(
                "--sticky-rebalance-idle-secs", expected="0 or more", found=repr(rebalance)
            )
        if self.retry_jitter_factor > 1:
            raise WrongInput(
                "--retry-jitter-factor", expected="0 to 1", found=repr(self.retry_jitter_factor)
            )
        if self.abort_path is not None and not self.abort_path.startswith("/"):
            raise WrongInput(
                "--abort-path", expected="a path, such as /abort_request", found=self.abort_path
            )
        for flag, names in (
            ("--forward-headers", self.forward_headers),
            ("--request-id-headers", self.request_id_headers),
        ):
            for name in names:
                if not _HEADER.fullmatch(name):
                    raise WrongInput(flag, expected="names of headers", found=repr(name))
        for flag, keys in (
            ("--api-key", self.api_keys),
            ("--admin-api-key", self.admin_api_keys),
            ("--worker-api-key", (self.worker_api_key,)),
        ):
            for key in keys:  # never shown, not even a wrong one
                if key is not None and not (
                    key.isascii() and key.isprintable() and key.strip() == key != ""
                ):
                    raise WrongInput(flag, expected="one line of printable ASCII", found="another")
        for flag, port in (("--port", self.port), ("--prometheus-port", self.prometheus_port)):
            if port is not None and not 0 <= port <= 65535:
                raise WrongInput(flag, expected="0 to 65535", found=str(port))


_AT_LEAST: dict[str, float] = {
    "session_idle_secs": 0.001,
    "hash_load_factor": 1,
    "cache_threshold": 0,
    "balance_abs_threshold": 0,
    "balance_rel_threshold": 1,
    "max_tree_size": 0,
    "wedge_after_secs": 0,
    "health_check_interval_secs": 0.001,
    "startup_check_interval_secs": 0.001,
    "cb_failure_threshold": 1,
    "cb_timeout_duration_secs": 0.001,
    "connect_timeout_secs": 0.001,
    "request_timeout_secs": 0.001,
    "stream_idle_timeout_secs": 0.001,
    "write_stall_timeout_secs": 0.001,
    "total_timeout_secs": 0,
    "head_timeout_secs": 0.001,
    "body_timeout_secs": 0.001,
    "upstream_keepalive_secs": 0,
    "retry_max_retries": 0,
    "retry_initial_backoff_ms": 0,
    "retry_max_backoff_ms": 0,
    "retry_backoff_multiplier": 1,
    "retry_jitter_factor": 0,
    "retry_after_cap_secs": 0,
    "retry_budget_share": 0,
    "retry_budget_floor": 0,
    "max_payload_size": 1,
    "queue_size": 0,
    "queue_timeout_secs": 0,
    "shutdown_delay_secs": 0,
    "shutdown_grace_period_secs": 0,
}
