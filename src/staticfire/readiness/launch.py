"""What a launch needs: the workers that a router's own command line names, and how many of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from staticfire import wire
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["FLAGS", "Named", "Need", "named", "none_found", "pids_of", "workers_of"]

FLAGS = {
    "--worker-urls": "worker",
    "--prefill": "prefill",
    "--decode": "decode",
    "--static-backends": "worker",
}
"""The flags of vllm-router, sglang-router, smg and ours; the last one of the production stack's."""

DISCOVERY = ("--service-discovery", "--vllm-discovery-address")
"""With these a router learns its workers while it runs."""

SLIP = 0.75
"""How alike a slip of the pen is: --worker-url is one, --prefill-policy a flag of its own."""

COMMA = re.compile(r",(?=\w+://)")
"""Between two URLs of one value; inside a URL a comma may stand for itself."""


@dataclass(frozen=True, slots=True)
class Named:
    """One worker of a launch: `role` is worker, prefill or decode."""

    url: str
    role: str = "worker"


@dataclass(frozen=True, slots=True)
class Need:
    """Which workers are enough: `count` of them, and of each role at least one."""

    workers: tuple[Named, ...]
    count: int

    @classmethod
    def of(cls, workers: Sequence[Named], at_least: int | None = None) -> Need:
        """All of `workers`, or `at_least` so many; raises WrongInput for a number that cannot be."""
        total = len(workers)
        count = total if at_least is None else at_least
        least = len({worker.role for worker in workers})
        if not least <= count <= total:
            roles = "" if least == 1 else f", {least} roles have one each"
            raise WrongInput(
                "--at-least",
                expected=f"a number from {least} to {total} (that many workers are named{roles})",
                found=count,
            )
        return cls(tuple(workers), count)

    def met(self, there: Collection[str]) -> bool:
        """Whether the workers at these URLs are enough: a prefill leg alone serves nobody."""
        found = [worker for worker in self.workers if worker.url in there]
        roles = {worker.role for worker in self.workers}
        return len(found) >= self.count and {worker.role for worker in found} == roles

    def hopeless(self, gone: Collection[str]) -> bool:
        """Whether it can never be met without the workers at these URLs."""
        return not self.met([w.url for w in self.workers if w.url not in gone])


def named(urls: Iterable[str]) -> tuple[Named, ...]:
    """Workers that are named one by one; a URL that comes twice counts once. Raises WrongInput."""
    found = dict.fromkeys(wire.parse_url(url, where="--worker").url for url in urls)
    return tuple(Named(url) for url in found)


def workers_of(command: Sequence[str]) -> tuple[Named, ...]:
    """The workers in `--worker-urls A B …`, `--prefill URL [PORT] …` and `--decode URL …`.

    Each flag may come again, or as `--flag=URL`, or with a list with commas. A URL that comes twice
    counts once, in its first role. Raises WrongInput for a value that is no URL: which flag, and
    which of its values.
    """
    values = list(_values(command))
    seen: dict[str, Named] = {}
    for place, (flag, value) in enumerate(values):
        of = [i for i, (other, _) in enumerate(values) if other == flag]
        where = flag if len(of) == 1 else f"{flag}, {of.index(place) + 1} of {len(of)}"
        if value.startswith(("grpc://", "grpcs://")):
            raise WrongInput(
                where,
                expected="an http URL, which can be asked",
                found=repr(value),
                do="name the worker's HTTP address with --worker",
            )
        url = wire.parse_url(value, where=where).url
        seen.setdefault(url, Named(url, FLAGS[flag]))
    return tuple(seen.values())


def none_found(command: Sequence[str]) -> WrongInput:
    """The error for a command that names no worker: which flags were looked for, what may be meant."""
    found, hint = "none", ""
    for token in command:
        name, equals, value = token.partition("=")
        if name in FLAGS and not (equals and value):
            found = f"{name} without a URL"
        elif name in DISCOVERY:
            hint = f"with {name} it learns them while it runs"
        elif name not in FLAGS and (near := difflib.get_close_matches(name, FLAGS, 1, SLIP)):
            hint = f"did you mean {near[0]} where it says {name}?"
        elif any(f"{flag} " in token for flag in FLAGS):
            hint = "they stand inside one argument, which is not read"
    flags = "--worker-urls, --prefill, --decode or --static-backends"
    do = f"give --worker URL, or a command with {flags}"
    return WrongInput("gate", expected="workers", found=found, do=f"{hint}; {do}" if hint else do)


def pids_of(texts: Iterable[str], urls: Sequence[str]) -> dict[str, int]:
    """The processes in `URL=PID …`, by the URL of their worker; raises WrongInput."""
    found: dict[str, int] = {}
    for text in texts:
        address, equals, number = text.rpartition("=")
        if not equals or not (number.isascii() and number.isdigit()) or int(number) == 0:
            raise WrongInput("--pid", expected="URL=PID", found=repr(text))
        url = wire.parse_url(address, where="--pid").url
        if url not in urls:
            raise WrongInput(
                "--pid",
                expected="the URL of a worker that is waited for",
                found=repr(url),
                do=did_you_mean(url, urls),
            )
        if found.setdefault(url, int(number)) != int(number):
            raise WrongInput("--pid", expected=f"one process of {url}", found=f"a second, {number}")
    return found


def _values(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    open_flag: str | None = None
    for token in command:
        if token.startswith("-"):
            name, equals, value = token.partition("=")
            open_flag = name if name in FLAGS and not equals else None
            if name in FLAGS and equals:
                yield from _split(name, value)
        elif open_flag is not None:
            yield from _split(open_flag, token)


def _split(flag: str, value: str) -> Iterator[tuple[str, str]]:
    if flag == "--prefill" and (value.isdigit() or value.lower() == "none"):
        return  # the bootstrap port of the URL before it
    for one in COMMA.split(value):
        if one:
            yield flag, one
