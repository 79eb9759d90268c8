"""Routers for tests that show a promise broken: the naive one, and ours with bugs planted in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticfire.stand.routers.bundled import BundledRouter
from staticfire.stand.routers.naive import NaiveRouter

__all__ = ["Counts503", "LooksRarely", "NaiveRouter", "NeverOpens"]


class Counts503(BundledRouter):
    """Ours with a planted bug: backpressure counts as a fault."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "backpressure_statuses": frozenset()})


class NeverOpens(BundledRouter):
    """Ours with a planted bug: the breaker never opens."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "disable_circuit_breaker": True})


class LooksRarely(BundledRouter):
    """Ours with a planted bug: workers that do not serve yet are looked at once a minute."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "startup_check_interval_secs": 60.0})
