"""Which workers are legs, as a launch says it: `--prefill URL [PORT]`, `--decode URL`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from staticfire import wire
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["DIALECTS", "Leg", "check", "leg"]

DIALECTS = ("sglang", "vllm")


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg: its URL in the one normal form, and the port where SGLang's legs meet."""

    url: str
    port: int | None = None


def leg(text: str, flag: str) -> Leg:
    """The leg in `URL` or `URL PORT`; raises WrongInput. `none` for a port is no port."""
    url, _, port = text.strip().partition(" ")
    address = wire.parse_url(url, where=flag)
    port = port.strip()
    if not port or port.lower() == "none":
        return Leg(address.url)
    if flag == "--decode":
        raise WrongInput(flag, expected="a URL", found=repr(text), do="a decode leg has no port")
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= 65535):
        raise WrongInput(flag, expected="a URL and a port from 1 to 65535", found=repr(text))
    return Leg(address.url, int(port))


def check(
    dialect: str, prefill: Iterable[str], decode: Iterable[str], plain: Iterable[str]
) -> None:
    """Raises WrongInput for legs that make no pairs."""
    legs = {"--prefill": tuple(prefill), "--decode": tuple(decode)}
    if dialect and dialect not in DIALECTS:
        raise WrongInput(
            "--pd-disaggregation",
            expected=f"one of {', '.join(DIALECTS)}",
            found=repr(dialect),
            do=did_you_mean(dialect, DIALECTS),
        )
    seen: dict[str, str] = {}
    for flag, texts in legs.items():
        if texts and not dialect:
            raise WrongInput(
                flag,
                expected="--pd-disaggregation sglang or vllm with it",
                found="neither",
                do="say whose words the legs speak",
            )
        if dialect and not texts:
            raise WrongInput(
                flag, expected="at least one URL: a pair needs both legs", found="none"
            )
        for text in texts:
            url = leg(text, flag).url
            if seen.setdefault(url, flag) != flag:
                raise WrongInput(flag, expected="one role for a worker", found=f"{url} twice")
    if dialect and tuple(plain):
        raise WrongInput(
            "--worker-urls",
            expected="to be left out where there are legs",
            found=repr(tuple(plain)),
            do="run another router for workers without a role",
        )
