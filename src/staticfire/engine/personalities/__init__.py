"""Personalities: whose wire dialect a mock engine speaks."""

from __future__ import annotations

from staticfire.engine.personalities import lemonade as _lemonade
from staticfire.engine.personalities import llamacpp as _llamacpp
from staticfire.engine.personalities import llamacpp_router as _llamacpp_router
from staticfire.engine.personalities import sglang as _sglang
from staticfire.engine.personalities import transformers as _transformers
from staticfire.engine.personalities import vllm as _vllm
from staticfire.engine.personalities.base import (
    Desk,
    Dialect,
    Personality,
    Sigterm,
    personalities,
    personality,
    register,
)

__all__ = [
    "Desk",
    "Dialect",
    "Personality",
    "Sigterm",
    "personalities",
    "personality",
    "register",
]

del (
    _lemonade,
    _llamacpp,
    _llamacpp_router,
    _sglang,
    _transformers,
    _vllm,
)  # imported for their registration
