"""Personalities: whose wire dialect a mock engine speaks."""

from __future__ import annotations

from staticfire.engine.personalities import vllm as _vllm
from staticfire.engine.personalities.base import (
    Desk,
    Personality,
    personalities,
    personality,
    register,
)

__all__ = ["Desk", "Personality", "personalities", "personality", "register"]

del _vllm  # imported for its registration
