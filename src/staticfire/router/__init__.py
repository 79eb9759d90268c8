"""The router: requests carried to a fleet of workers, none of whom is asked before it serves."""

from __future__ import annotations

from staticfire.router.app import Router
from staticfire.router.settings import Settings
from staticfire.router.worker import Worker

__all__ = ["Router", "Settings", "Worker"]
