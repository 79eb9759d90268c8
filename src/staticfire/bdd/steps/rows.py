"""Steps of expectation rows: what a known bug excuses, and what it does not."""

from __future__ import annotations
