"""Flags that other routers have, translated, refused with a reason or accepted with a warning."""

from __future__ import annotations

from staticfire.errors import WrongInput

__all__ = ["BORROWED", "REFUSED", "translate"]

_MANY = ("--worker-urls",)

REFUSED: dict[str, str] = {
    "--api-key": "keys are not checked yet, and a router that ignores one would stand open",
    "--prefill": "prefill and decode legs are not served yet",
    "--decode": "prefill and decode legs are not served yet",
    "--pd-disaggregation": "prefill and decode legs are not served yet",
    "--vllm-pd-disaggregation": "prefill and decode legs are not served yet",
    "--prefill-policy": "prefill and decode legs are not served yet",
    "--decode-policy": "prefill and decode legs are not served yet",
    "--max-concurrent-requests": "admission is not built yet, so the limit would not hold",
    "--queue-size": "admission is not built yet, so there is no queue",
    "--queue-timeout-secs": "admission is not built yet, so there is no queue",
    "--rate-limit-tokens-per-second": "admission is not built yet, so the limit would not hold",
    "--disable-health-check": "a worker enters rotation on evidence only",
    "--service-discovery": "workers are named with --worker-urls",
    "--selector": "workers are named with --worker-urls",
    "--dp-aware": "data-parallel ranks are not told apart",
    "--cors-allowed-origins": "CORS is not answered, browsers would be turned away",
}
"""Names whose meaning we do not have, with why."""

BORROWED: dict[str, tuple[int, str]] = {
    "--worker-startup-timeout-secs": (1, "no worker is ever given up"),
    "--request-id-headers": (1, "all request headers pass unchanged; no id is minted"),
    "--health-success-threshold": (1, "one serving evidence is enough"),
    "--health-check-endpoint": (1, "readiness asks the model list, then one chat"),
    "--cb-success-threshold": (1, "one success closes a half-open breaker"),
    "--cb-window-duration-secs": (1, "errors in a row are counted, without a window"),
    "--disable-retries": (0, "nothing is retried anyway"),
    "--retry-max-retries": (1, "nothing is retried yet"),
    "--retry-initial-backoff-ms": (1, "nothing is retried yet"),
    "--retry-max-backoff-ms": (1, "nothing is retried yet"),
    "--retry-backoff-multiplier": (1, "nothing is retried yet"),
    "--retry-jitter-factor": (1, "nothing is retried yet"),
    "--prometheus-host": (1, "metrics bind to --host"),
    "--log-dir": (1, "the log goes to stderr"),
    "--model-path": (1, "the router does not tokenize"),
    "--tokenizer-path": (1, "the router does not tokenize"),
    "--reasoning-parser": (1, "answers pass unchanged"),
    "--tool-call-parser": (1, "answers pass unchanged"),
    "--cache-threshold": (1, "there is no cache_aware policy yet"),
    "--balance-abs-threshold": (1, "there is no cache_aware policy yet"),
    "--balance-rel-threshold": (1, "there is no cache_aware policy yet"),
    "--eviction-interval-secs": (1, "there is no cache_aware policy yet"),
    "--max-tree-size": (1, "there is no cache_aware policy yet"),
}
"""Harmless names: how many values they take, why they change nothing."""


def translate(args: list[str]) -> tuple[list[str], list[str]]:
    """Arguments that click understands, with the warnings to show.

    `--worker-urls A B C` becomes one flag for each value. Raises WrongInput for a refused flag.
    """
    out: list[str] = []
    warnings: list[str] = []
    rest = list(args)
    while rest:
        token = rest.pop(0)
        name, equals, value = token.partition("=")
        if name in REFUSED:
            raise WrongInput(name, expected="to be left out", found=token, do=REFUSED[name])
        if name in BORROWED:
            count, why = BORROWED[name]
            warnings.append(f"{name} has no effect here: {why}")
            if count and not equals:
                while rest and not rest[0].startswith("--"):
                    rest.pop(0)
        elif name in _MANY:
            values = [value] if equals else []
            while rest and not rest[0].startswith("-"):
                values.append(rest.pop(0))
            for one in values:
                out += [name, one]
            if not values:
                out.append(name)
        else:
            out.append(token)
    return out, warnings
