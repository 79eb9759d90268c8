"""Which worker of a model's pool gets a request."""

from __future__ import annotations

from collections.abc import Callable

from staticfire.router.policies.base import Candidate, Policy
from staticfire.router.policies.round_robin import RoundRobin
from staticfire.router.policies.sticky import Sticky

__all__ = ["POLICIES", "Candidate", "Policy", "RoundRobin", "Sticky"]

POLICIES: dict[str, Callable[[int], Policy]] = {
    "round_robin": lambda _idle: RoundRobin(),
    "sticky": Sticky,
}
"""By name: a maker that takes how long a session may idle, in nanoseconds. One for each pool."""
