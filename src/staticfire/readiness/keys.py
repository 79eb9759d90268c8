"""The key of a protected engine: read from the environment or a file, shown nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from staticfire import wire
from staticfire.errors import WrongInput

__all__ = ["key_headers", "redacted", "secrets_of"]

CARRIERS = (b"authorization", b"proxy-authorization", b"x-api-key", b"api-key", b"cookie")
"""Headers whose values are secrets."""

SHORTEST = 4
"""A shorter secret is no secret; hiding it would only garble reasons."""


def key_headers(
    *,
    env: str | None = None,
    file: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[wire.Header, ...]:
    """The header `Authorization: Bearer KEY`, from a variable of that name or a file; none of
    neither.

    Raises WrongInput, without the key in it, for both at once, an unset or empty one, and a key
    that is not one line of printable ASCII.
    """
    if env is not None and file is not None:
        raise WrongInput(
            "key", expected="--api-key-env or --api-key-file", found="both", do="leave one out"
        )
    if env is not None:
        where, text = f"--api-key-env {env}", environ.get(env)
        if text is None:
            raise WrongInput(where, expected="a variable that is set", found="none of that name")
    elif file is not None:
        where = f"--api-key-file {file}"
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "no text"
            raise WrongInput(where, expected="a file with the key", found=why.lower()) from None
    else:
        return ()
    key = text.strip()
    if not key:
        raise WrongInput(where, expected="a key", found="nothing")
    if not (key.isascii() and key.isprintable() and " " not in key):
        found = "a key with line ends, spaces or other characters"
        raise WrongInput(where, expected="one line of printable ASCII", found=found)
    return ((b"authorization", b"Bearer " + key.encode()),)


def secrets_of(headers: Iterable[wire.Header]) -> tuple[str, ...]:
    """What must not be shown of these headers."""
    found = []
    for name, value in headers:
        if name.lower() in CARRIERS:
            text = value.decode("latin-1").strip()
            scheme, space, rest = text.partition(" ")
            found += [text, rest.strip()] if space else [scheme]
    return tuple(secret for secret in found if len(secret) >= SHORTEST)


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret left out."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text
