"""Flags that other routers have, translated, refused with a reason or accepted with a warning."""

from __future__ import annotations

from staticfire.errors import WrongInput

__all__ = ["BORROWED", "REFUSED", "translate"]

_MANY = ("--worker-urls", "--request-id-headers", "--forward-headers", "--prefill", "--decode")

REFUSED: dict[str, str] = {
    "--rate-limit-tokens-per-second": "requests are limited by how many are under way, not by rate",
    "--disable-health-check": "a worker enters rotation on evidence only",
    "--service-discovery": "workers are named with --worker-urls",
    "--selector": "workers are named with --worker-urls",
    "--dp-aware": "data-parallel ranks are not told apart",
    "--cors-allowed-origins": "CORS is not answered, browsers would be turned away",
}
"""Names whose meaning we do not have, with why."""

BORROWED: dict[str, tuple[int, str]] = {
    "--worker-startup-timeout-secs": (1, "no worker is ever given up"),
    "--health-success-threshold": (1, "one serving evidence is enough"),
    "--health-check-endpoint": (1, "readiness asks the model list, then one chat"),
    "--cb-success-threshold": (1, "one success closes a half-open breaker"),
    "--cb-window-duration-secs": (1, "errors in a row are counted, without a window"),
    "--prometheus-host": (1, "metrics bind to --host"),
    "--log-dir": (1, "the log goes to stderr"),
    "--model-path": (1, "the router does not tokenize"),
    "--tokenizer-path": (1, "the router does not tokenize"),
    "--reasoning-parser": (1, "answers pass unchanged"),
    "--tool-call-parser": (1, "answers pass unchanged"),
    "--eviction-interval-secs": (1, "cache_aware forgets what is used least, as it learns"),
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
            for one in _with_ports(values) if name == "--prefill" else values:
                out += [name, one]
            if not values:
                out.append(name)
        elif name == "--vllm-pd-disaggregation":
            out += ["--pd-disaggregation", "vllm"]
        elif name == "--pd-disaggregation" and not equals and not _dialect(rest):
            out += [name, "sglang"]  # there it is a switch, and means SGLang's words
        else:
            out.append(token)
    return out, warnings


def _with_ports(values: list[str]) -> list[str]:
    """`URL PORT URL` as one value for each URL: a port belongs to the URL before it."""
    legs: list[str] = []
    for value in values:
        if legs and (value.isdigit() or value.lower() == "none"):
            legs[-1] += f" {value}"
        else:
            legs.append(value)
    return legs


def _dialect(rest: list[str]) -> bool:
    return bool(rest) and not rest[0].startswith("-")
