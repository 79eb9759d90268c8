"""Ports that nobody has, for processes that bind them themselves."""

from __future__ import annotations

import socket

__all__ = ["free_ports"]


def free_ports(count: int) -> list[int]:
    """So many different ports of 127.0.0.1, each proven free.

    They are bound without SO_REUSEPORT: haproxy binds with it, and would share a port with another
    program that does, and with its traffic. All are held until the last was found.
    """
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()
