"""Options for the key of protected engines: a name of it, never the key itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["key_options"]

F = TypeVar("F", bound=Callable[..., Any])


def key_options(command: F) -> F:
    """Add `--api-key-env` and `--api-key-file` (`api_key_env`, `api_key_file`) to a command.

    A key on the command line would stand in the list of processes for everybody.
    """
    of_file = click.option(
        "--api-key-file",
        metavar="FILE",
        help="The file with the key; sent with the list and the request, never shown.",
    )
    of_env = click.option(
        "--api-key-env", metavar="NAME", help="The environment variable with the key."
    )
    return of_env(of_file(command))
