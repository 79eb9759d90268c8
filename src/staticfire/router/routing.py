"""How the settings shape routing."""

from __future__ import annotations

from collections.abc import Callable

from staticfire.clock import ns
from staticfire.router import aliases, sessions
from staticfire.router.asked import Reader
from staticfire.router.ledger import Ledger
from staticfire.router.policies import POLICIES, Policy, PolicySettings
from staticfire.router.registry import Registry
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["policy_maker", "reader_of", "registry_of"]


def registry_of(settings: Settings) -> Registry:
    """An empty registry that routes as the settings say."""
    ledger = Ledger(ns(settings.wedge_after_secs), ns(settings.health_check_interval_secs))
    named = aliases.read(settings.model_alias)
    return Registry(policy_maker(settings), ledger=ledger, aliases=named)


def reader_of(settings: Settings) -> Reader:
    """A reader of what the policies in use go by."""
    policies = [POLICIES[name] for name in _names(settings)]
    return Reader(
        headers=sessions.header_names(settings.session_header),
        session=any(policy.wants_session for policy in policies),
        prompt=any(policy.wants_prompt for policy in policies),
    )


def policy_maker(settings: Settings) -> Callable[[str], Policy[Worker]]:
    """Makes the policy of a pool, by the role of its workers."""
    rebalance = settings.sticky_rebalance_idle_secs
    made_with = PolicySettings(
        session_idle=ns(settings.session_idle_secs),
        rebalance_idle=None if rebalance is None else ns(rebalance),
        load_factor=settings.hash_load_factor,
        cache_threshold=settings.cache_threshold,
        balance_abs=settings.balance_abs_threshold,
        balance_rel=settings.balance_rel_threshold,
        max_tree_size=settings.max_tree_size,
        seed=settings.seed,
    )
    return lambda role: POLICIES[_name(settings, role)](made_with)


def _name(settings: Settings, role: str) -> str:
    return getattr(settings, f"{role}_policy", None) or settings.policy


def _names(settings: Settings) -> set[str]:
    return {_name(settings, role) for role in ("worker", "prefill", "decode")}
