"""Static Fire proves LLM fleets before launch.

Mock engines that misbehave on purpose, in virtual time; a router and a readiness library that
pass what the harness asks; a pytest plugin that runs the promises. `docs/architecture.md` draws
the rooms.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
