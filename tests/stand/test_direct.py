"""The router that is none."""

from __future__ import annotations

import pytest

from staticfire.stand.routers import Unsupported, routers


def test_its_address_is_the_only_engines():
    """A client that asks it asks the engine."""
    assert routers({})["direct"].make(["http://127.0.0.1:1"], {}).url == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("workers", "settings"), [([], {}), (["http://a", "http://b"], {}), (["http://a"], {"a": "b"})]
)
def test_what_needs_a_router_is_unsupported(workers, settings):
    """More engines than one, or a setting: there is nobody who could choose or be set."""
    with pytest.raises(Unsupported):
        routers({})["direct"].make(workers, settings)


def test_what_a_router_has_it_has_not():
    """Scenarios that need a breaker, sessions or a router's own readiness are left out."""
    assert routers({})["direct"].capabilities == {"request-ids"}
