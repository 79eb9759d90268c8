"""Engine processes that are started, watched, restarted and stopped."""

from __future__ import annotations
