"""How a router behaves, named as its flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from staticfire import readiness, wire
from staticfire.errors import WrongInput, did_you_mean
from staticfire.router.outcome import BACKPRESSURE
from staticfire.router.policies import POLICIES

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Sizes in bytes, times in float seconds. Raises WrongInput for what cannot be used."""

    worker_urls: tuple[str, ...] = ()
    policy: str = "round_robin"
    host: str = "127.0.0.1"
    port: int = 30000
    """0 lets the kernel choose."""
    session_header: str = "x-session-id"
    """The header that names a session for the sticky policy."""
    session_idle_secs: float = 14400.0
    """A session that asked nothing for so long is forgotten."""
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
    max_payload_size: int = 512 << 20
    shutdown_grace_period_secs: float = 5.0
    """How long answers under way may go on after SIGTERM."""
    prometheus_port: int | None = None
    """A second port for `/metrics`; the main port has it too."""
    readiness: readiness.Settings = field(default_factory=readiness.Settings)
    """Deadlines and throttles of the checks."""

    def __post_init__(self) -> None:
        for url in self.worker_urls:
            wire.parse_url(url, where="--worker-urls")
        if self.policy not in POLICIES:
            raise WrongInput(
                "--policy",
                expected=f"one of {', '.join(sorted(POLICIES))}",
                found=repr(self.policy),
                do=did_you_mean(self.policy, POLICIES),
            )
        for name, low in _AT_LEAST.items():
            value = getattr(self, name)
            if not isfinite(value) or value < low:
                raise WrongInput(
                    "--" + name.replace("_", "-"),
                    expected=f"{low:g} or more",
                    found=repr(value),
                )
        for flag, port in (("--port", self.port), ("--prometheus-port", self.prometheus_port)):
            if port is not None and not 0 <= port <= 65535:
                raise WrongInput(flag, expected="0 to 65535", found=str(port))


_AT_LEAST: dict[str, float] = {
    "session_idle_secs": 0.001,
    "health_check_interval_secs": 0.001,
    "startup_check_interval_secs": 0.001,
    "cb_failure_threshold": 1,
    "cb_timeout_duration_secs": 0.001,
    "connect_timeout_secs": 0.001,
    "request_timeout_secs": 0.001,
    "stream_idle_timeout_secs": 0.001,
    "max_payload_size": 1,
    "shutdown_grace_period_secs": 0,
}
