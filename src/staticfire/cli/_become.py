"""Becoming another command: signals, open files and exit codes as a shell would have them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from staticfire.readiness.running import leave

__all__ = ["become", "check_startable", "end_on_signals", "own_signals", "room_for"]

ENDING = (signal.SIGTERM, signal.SIGINT)


def end_on_signals(told: Callable[[int], None]) -> None:
    """SIGTERM and SIGINT end us at once; one that we were started with as ignored stays so."""
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        told(number)
        sys.stderr.flush()
        os._exit(128 + number)

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)


@contextlib.contextmanager
def own_signals() -> Iterator[None]:
    """Whatever is done to the ending signals inside is undone."""
    handlers = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def room_for(sockets: int) -> Iterator[None]:
    """Room for so many open sockets inside; the command gets the limits that we were given."""
    soft, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * sockets + 64
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def check_startable(name: str) -> None:
    """Say now what would fail after an hour of waiting."""
    if shutil.which(name) is not None:
        return
    if os.sep in name and os.path.exists(name):  # noqa: PTH110 - a name, as exec takes it
        _cannot(name, "it cannot be run", 126)
    _cannot(name, "there is no such command", 127)


def become(command_line: Sequence[str]) -> NoReturn:
    """Exec. Python ignores two signals for itself, which a shell would not hand on."""
    sys.stdout.flush()
    sys.stderr.flush()
    for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(command_line[0], list(command_line))  # noqa: S606 - this is what it is for
    except FileNotFoundError:
        _cannot(command_line[0], "there is no such command, or its interpreter is missing", 127)
    except OSError as error:
        _cannot(command_line[0], (error.strerror or str(error)).lower(), 126)


def _cannot(name: str, why: str, code: int) -> NoReturn:
    print(f"{name}: expected a command that can be run, found: {why}", file=sys.stderr, flush=True)
    leave(code)
