"""Which fields of a request's body are read; msgspec skips all others.

In a file of its own because msgspec makes these classes: nothing else may compile them.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Named", "only_named", "with_prompt", "with_session"]


class Named(msgspec.Struct):
    model: str | None = None
    stream: bool | None = None


class WithSession(Named):
    session_params: Any = None
    session_id: Any = None
    conversation: Any = None
    prompt_cache_key: Any = None
    safety_identifier: Any = None
    user: Any = None


class WithPrompt(Named):
    messages: msgspec.Raw = msgspec.Raw()
    prompt: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    instructions: msgspec.Raw = msgspec.Raw()
    system: msgspec.Raw = msgspec.Raw()


only_named = msgspec.json.Decoder(Named).decode
with_session = msgspec.json.Decoder(WithSession).decode
with_prompt = msgspec.json.Decoder(WithPrompt).decode
