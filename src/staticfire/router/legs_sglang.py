"""The words of SGLang's bootstrap: where the two legs of a request meet.

Both legs get the same request at once, with the host and bootstrap port of the prefill leg and
one random room; the cache goes from leg to leg by itself. A request of several prompts gets a room
for each.

Pure. A body is read one level deep: every value that is not ours keeps its bytes, and of a key that
comes twice the last one counts, as engines have it.
"""

from __future__ import annotations

import random

import msgspec

__all__ = ["ROOMS", "both_bodies"]

ROOMS = 2**63
"""How many rooms there are: the engine reads a signed integer of 64 bits."""

_Fields = dict[str, msgspec.Raw]
_fields = msgspec.json.Decoder(_Fields).decode
_prompts = msgspec.json.Decoder(list[msgspec.Raw]).decode


def both_bodies(body: bytes, host: str, port: int | None, chance: random.Random) -> bytes:
    """The request for either leg; what a client sent under these names is replaced."""
    fields = _fields(body)
    prompts = _count(fields.get("prompt"))
    rooms = [chance.randrange(ROOMS) for _ in range(prompts or 1)]
    said = (
        {"bootstrap_host": host, "bootstrap_port": port, "bootstrap_room": rooms[0]}
        if prompts is None
        else {
            "bootstrap_host": [host] * prompts,
            "bootstrap_port": [port] * prompts,
            "bootstrap_room": rooms,
        }
    )
    fields |= {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in said.items()}
    return msgspec.json.encode(fields)


def _count(prompt: msgspec.Raw | None) -> int | None:
    """How many prompts a list of prompts has; None for one prompt, be it text or tokens."""
    if prompt is None or not bytes(prompt).lstrip().startswith(b"["):
        return None
    inner = _prompts(prompt)
    first = bytes(inner[0]).lstrip()[:1] if inner else b""
    return len(inner) if first in (b'"', b"[") else None
