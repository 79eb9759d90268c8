"""Which worker of a model's pool gets a request."""

from __future__ import annotations

from typing import Any

from staticfire.router.policies.base import Asking, Candidate, Lineup, Policy, PolicySettings
from staticfire.router.policies.cache_aware import CacheAware
from staticfire.router.policies.consistent_hash import ConsistentHash
from staticfire.router.policies.least_load import LeastLoad
from staticfire.router.policies.power_of_two import PowerOfTwo
from staticfire.router.policies.random_choice import RandomChoice
from staticfire.router.policies.round_robin import RoundRobin
from staticfire.router.policies.sticky import Sticky

__all__ = [
    "POLICIES",
    "Asking",
    "CacheAware",
    "Candidate",
    "ConsistentHash",
    "LeastLoad",
    "Lineup",
    "Policy",
    "PolicySettings",
    "PowerOfTwo",
    "RandomChoice",
    "RoundRobin",
    "Sticky",
]

POLICIES: dict[str, type[Policy[Any]]] = {
    policy.name: policy
    for policy in (
        RoundRobin, RandomChoice, PowerOfTwo, LeastLoad, ConsistentHash, Sticky, CacheAware,
    )
}  # fmt: skip
"""By name. One is made for each pool."""
