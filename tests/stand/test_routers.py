"""Routers under test, by name."""

from __future__ import annotations

import pytest

from staticfire.errors import WrongInput
from staticfire.stand.routers import routers
from staticfire.stand.routers.bundled import BundledRouter


def test_the_bundled_router_is_always_there():
    """Without any table."""
    assert next(iter(routers({}))) == "bundled"
    assert isinstance(routers({})["bundled"].make([], {}), BundledRouter)


@pytest.mark.parametrize("table", [{}, {"python": "no_colon"}, "text"])
def test_a_table_must_name_a_class(table):
    """What is expected stands in the message."""
    with pytest.raises(WrongInput, match=r'routers.mine\].*python = "module:Class"'):
        routers({"mine": table})


@pytest.mark.parametrize("target", ["no.such.module:Router", "staticfire.errors:Router"])
def test_a_class_that_is_not_there_is_one_clear_error(target):
    """When a scenario starts it."""
    with pytest.raises(WrongInput, match="a class that can be imported"):
        routers({"mine": {"python": target}})["mine"].make([], {})


def test_settings_from_a_table_are_read_as_what_they_are():
    """Gherkin tables hold words; the router's settings are numbers and choices."""
    made = BundledRouter(
        ["http://127.0.0.1:1"],
        {"policy": "sticky", "cb_failure_threshold": "3", "disable_circuit_breaker": "yes",
         "health_check_interval_secs": "2.5", "backpressure_statuses": "503, 429",
         "prometheus_port": "0"},
    )  # fmt: skip
    settings = made.router.settings
    assert (settings.policy, settings.cb_failure_threshold) == ("sticky", 3)
    assert (settings.backpressure_statuses, settings.prometheus_port) == ({429, 503}, 0)
    assert (settings.disable_circuit_breaker, settings.health_check_interval_secs) == (True, 2.5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"readiness": "fast"}, "that words can say"),
        ({"backpressure_statuses": "busy"}, "expected a value of type frozenset[int]"),
        ({"polcy": "sticky"}, 'did you mean "policy"?'),
        ({"cb_failure_threshold": "many"}, "expected a value of type int"),
        ({"disable_circuit_breaker": "maybe"}, "expected a value of type bool"),
    ],
)
def test_a_wrong_setting_names_the_nearest(setting, message):
    """Key, value, what was expected."""
    with pytest.raises(WrongInput) as caught:
        BundledRouter([], setting)
    assert message in str(caught.value)
