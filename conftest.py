"""The test run of this repository: nothing but pytest's own tester for plugins."""

from __future__ import annotations

pytest_plugins = ["pytester"]
