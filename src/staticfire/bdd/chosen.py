"""Which router a test runs on, where `--router` named several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from staticfire.bdd.session import Session

__all__ = ["example_of", "router_of"]


def router_of(item: pytest.Item, session: Session) -> str:
    """The router of a test by name."""
    callspec = getattr(item, "callspec", None)
    chosen = callspec.params.get("router_name") if callspec else None
    return str(chosen or session.asked.routers[0])


def example_of(item: pytest.Item) -> str:
    """The values of an outline's example, joined by hyphens; empty for any other test."""
    callspec = getattr(item, "callspec", None)
    example = callspec.params.get("_pytest_bdd_example", {}) if callspec else {}
    return "-".join(str(value) for value in example.values())
