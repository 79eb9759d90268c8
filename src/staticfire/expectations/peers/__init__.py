"""What is known of other people's routers: rows of theirs, shipped as data, one file a router.

Each row says on which version it was seen, and names a public report where there is one. A run
against another version says so; a row that no longer holds fails that run as any row does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from staticfire.expectations.rows import Row, parse

__all__ = ["peer_rows", "stale"]


@cache
def peer_rows(router: str) -> tuple[Row, ...]:
    """The rows of one router; none for a router that nobody wrote any for."""
    page = files(__package__) / f"{router}.toml"
    if not page.is_file():
        return ()
    return parse(page.read_text(encoding="utf-8"), where=f"peers/{router}.toml")


def stale(router: str, version: str, rows: Iterable[Row]) -> list[str]:
    """A line for each version that rows were seen on and that this router is not of."""
    seen = Counter(row.version for row in rows if row.version not in (None, version))
    return [
        f"{count} rows of {router} were seen on {old}, this is {version}: they may be stale"
        for old, count in sorted(seen.items(), key=str)
    ]
