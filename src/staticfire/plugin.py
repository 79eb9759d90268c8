"""The pytest plugin: wiring only."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("staticfire_features", "where the features live", type="paths", default=[])
    parser.addini("staticfire_expectations", "known bugs", default="expectations.toml")
