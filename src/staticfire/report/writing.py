"""Writes a report in the form that the file's name asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from staticfire.errors import WrongInput
from staticfire.report.joined import Joined
from staticfire.report.results import Run

__all__ = ["check_ending", "write_report"]


def _html(runs: Sequence[Run]) -> bytes:
    from staticfire.report.page import page

    return page(runs).encode()


def _markdown(runs: Sequence[Run]) -> bytes:
    from staticfire.report.markdown import markdown

    return markdown(runs).encode()


def _json(runs: Sequence[Run]) -> bytes:
    """One run as it is; several each as it came out."""
    return msgspec.json.encode(runs[0] if len(runs) == 1 else Joined(tuple(runs)))


FORMS: Mapping[str, Callable[[Sequence[Run]], bytes]] = {
    ".html": _html,
    ".json": _json,
    ".md": _markdown,
}


def check_ending(path: Path, where: str) -> None:
    """Raises `WrongInput` for a file whose form its name does not tell."""
    if path.suffix not in FORMS:
        raise WrongInput(where, expected=f"a file that ends in {', '.join(FORMS)}", found=str(path))


def write_report(runs: Sequence[Run], path: Path) -> None:
    """Write the page, the results or the Markdown; folders on the way are made."""
    check_ending(path, "report")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FORMS[path.suffix](runs))
