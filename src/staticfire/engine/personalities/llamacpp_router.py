"""The personality of llama.cpp's router mode (`llama-server --models-dir`), from lab notes.

The real "listed but not loaded" engine: health is 200 and every model is listed at once, with a
status; the first chat loads its model and waits for that, which is what chat does in a loading
phase. A model must be named and known. Answers come from a child process: JSON is chunked too, and
a closing connection is said twice. (The real list tells the child's arguments as well.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from staticfire.engine.actions import CHUNKED, Head
from staticfire.engine.ask import Ask
from staticfire.engine.personalities import httplib
from staticfire.engine.personalities.base import Desk, register
from staticfire.engine.personalities.httplib import JSON
from staticfire.engine.personalities.llamacpp import SERVER, LlamaCpp
from staticfire.engine.personalities.llamacpp_errors import Refusal
from staticfire.engine.personalities.llamacpp_pages import dumped
from staticfire.engine.personalities.talk import Answer
from staticfire.engine.phases import Loading

__all__ = ["LlamaCppRouter"]


@register("llamacpp-router")
class LlamaCppRouter(LlamaCpp):
    """`llama-server` with a folder of models."""

    name = "llamacpp-router"
    lazy = True

    def models(self, _: Ask, desk: Desk) -> Answer:
        first = "loading" if isinstance(desk.phase(), Loading) else "loaded"
        data = [
            {
                "id": name,
                "object": "model",
                "owned_by": "llamacpp",
                "created": desk.wall(),
                "status": {"value": first if name == desk.script.model else "unloaded"},
            }
            for name in (desk.script.served if desk.lists else ())
        ]
        return self.said(desk, 200, dumped({"object": "list", "data": data}))

    def model(self, asked: Mapping[str, Any], desk: Desk) -> str:
        name = asked.get("model")
        if not isinstance(name, str) or not name:
            raise Refusal(400, "model name is missing from the request")
        if name not in desk.script.served:
            raise Refusal(400, f"model '{name}' not found")
        return name

    def head(self, ask: Ask, desk: Desk, length: int) -> Head:
        del length
        fields = httplib.headers(desk, SERVER, JSON, None)
        if ask.headers.get("connection", "").lower() == "close":
            fields = (*fields, (b"Connection", b"close"))
        return Head(200, fields, CHUNKED)
