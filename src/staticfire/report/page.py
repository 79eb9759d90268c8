"""The page of a report: one HTML file with its data, its style and its script in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files

from staticfire.report.joined import mixed
from staticfire.report.packing import pack
from staticfire.report.results import Run

__all__ = ["page"]

SCRIPTS = ("data.js", "axis.js", "timeline.js", "detail.js", "matrix.js")
"""One program in the order of its parts."""


def page(runs: Sequence[Run]) -> str:
    """The whole page; it asks for nothing from elsewhere."""
    parts = files(__package__) / "page"
    style = (parts / "page.css").read_text(encoding="utf-8")
    script = "\n".join((parts / name).read_text(encoding="utf-8") for name in SCRIPTS)
    html = (parts / "page.html").read_text(encoding="utf-8")
    data = as_script(pack(runs, mixed(runs)))
    before, middle, rest = _split(html, "/* style */", "{data}")
    middle_, after = rest.split("/* script */")
    return f"{before}{style}{middle}{data}{middle_}{script}{after}"


def _split(text: str, first: str, second: str) -> tuple[str, str, str]:
    """A text around two marks. Not `replace`: what is put in may hold a mark itself."""
    before, rest = text.split(first)
    middle, after = rest.split(second)
    return before, middle, after


def as_script(value: object) -> str:
    """JSON that cannot end the script element in which it stands, whatever a log line says."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
