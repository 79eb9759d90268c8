"""The personality of Lemonade's server (`lemond`), true to its documentation (it was not captured).

Health always says "ok"; which models are loaded is in its body. The listing names every downloaded
model, loaded or not, and the first chat loads its model: in a loading phase chat waits. Every path
exists under `/v1`, `/api/v1`, `/v0` and `/api/v0`. Answers come from a llama.cpp server behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from staticfire.engine.actions import Asleep, Head, Headers
from staticfire.engine.ask import Ask
from staticfire.engine.personalities import httplib
from staticfire.engine.personalities.base import Desk, Sigterm, register
from staticfire.engine.personalities.httplib import JSON
from staticfire.engine.personalities.llamacpp import LlamaCpp
from staticfire.engine.personalities.llamacpp_errors import Refusal
from staticfire.engine.personalities.llamacpp_pages import dumped, metrics
from staticfire.engine.personalities.talk import Answer
from staticfire.engine.phases import Dead, Loading

__all__ = ["Lemonade"]

VERSION = "9.0.0"
CORS = ((b"Access-Control-Allow-Origin", b"*"),)
PREFIXES = ("/api/v1", "/api/v0", "/v1", "/v0")


class Unknown(Refusal):
    """A model that is not there, in this server's own words."""


@register("lemonade")
class Lemonade(LlamaCpp):
    """`lemond` with the models of the script downloaded, the first of them loaded."""

    name = "lemonade"
    lazy = True
    builds: ClassVar[Sequence[str]] = ()

    def endpoint(self, method: str, path: str) -> str:
        return ENDPOINT.get((method, _short(path)), "other")

    def answer(self, ask: Ask, desk: Desk) -> Answer:
        short = _short(ask.path)
        if ask.method in ("GET", "HEAD") and short.startswith("/models/"):
            return self.card(short.removeprefix("/models/"), desk)
        try:
            return super().answer(ask, desk)
        except Unknown as no:
            told = {"message": no.message, "type": "not_found", "code": "model_not_found"}
            return self.said(desk, 404, dumped({"error": told}))

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        del endpoint
        known = {500: "Failed to load model", 503: "Service unavailable"}
        text = message if message is not None else known.get(status, "Request failed")
        body = dumped({"error": {"message": text, "type": "server_error"}})
        return httplib.headers(desk, CORS, JSON, len(body)), body

    def sigterm(self, desk: Desk) -> Sigterm:
        del desk  # not documented: gone at once
        return Sigterm("finish", Dead())

    def said(self, desk: Desk, status: int, body: bytes, *own: tuple[bytes, bytes]) -> Answer:
        fields = httplib.headers(desk, CORS, JSON, len(body), *own)
        return httplib.answered(status, fields, body)

    def route(self, method: str, path: str) -> str | None:
        if path in ("/live", "/metrics"):
            return ROOT.get((method, path))
        if not path.startswith(PREFIXES):
            return None
        return ROUTES.get((method, _short(path)))

    def unknown(self, ask: Ask) -> bytes:
        told = {
            "message": "The requested endpoint does not exist",
            "path": ask.path,
            "type": "not_found",
        }
        return dumped({"error": told})

    # --- plain routes

    def live(self, _: Ask, desk: Desk) -> Answer:
        return self.said(desk, 200, b'{"status":"ok"}')

    def health(self, _: Ask, desk: Desk) -> Answer:
        loaded = not isinstance(desk.phase(), Loading)
        name = desk.script.model
        about = {
            "model_name": name,
            "checkpoint": f"{name}.gguf",
            "last_use": desk.wall(),
            "type": "embedding" if desk.script.embeddings else "llm",
            "device": "gpu",
            "recipe": "llamacpp",
            "pid": 1,
            "backend_url": "http://127.0.0.1:8001/v1",
            "is_busy": desk.slots.running > 0,
            "is_streaming": False,
        }
        told = {
            "status": "ok",
            "version": VERSION,
            "model_loaded": name if loaded else None,
            "all_models_loaded": [about] if loaded else [],
            "max_models": {"llm": 1, "embedding": 1},
            "pinned_models": [],
        }
        return self.said(desk, 200, dumped(told))

    def models(self, _: Ask, desk: Desk) -> Answer:
        cards = [_card(desk, name) for name in (desk.script.served if desk.lists else ())]
        return self.said(desk, 200, dumped({"object": "list", "data": cards}))

    def card(self, name: str, desk: Desk) -> Answer:
        """One model."""
        if name in desk.script.served:
            return self.said(desk, 200, dumped(_card(desk, name)))
        told = {"message": f"Model {name} has not been found", "type": "not_found"}
        return self.said(desk, 404, dumped({"error": told}))

    def metrics(self, _: Ask, desk: Desk) -> Answer:
        body = metrics(desk).replace(b"llamacpp:", b"lemonade_")
        fields = httplib.headers(desk, CORS, b"text/plain; version=0.0.4", len(body))
        return httplib.answered(200, fields, body)

    def load(self, ask: Ask, desk: Desk) -> Answer:
        """Load a model: answered once it is loaded."""
        name = self.model({"model": self.parsed(ask, desk).get("model_name")}, desk)
        return self._loaded(name, desk)

    def _loaded(self, name: str, desk: Desk) -> Answer:
        yield Asleep()
        told = {"status": "success", "message": f"Loaded model: {name}"}
        yield from self.said(desk, 200, dumped(told))

    def unload(self, _: Ask, desk: Desk) -> Answer:
        told = {"status": "success", "message": "Unloaded all models successfully"}
        return self.said(desk, 200, dumped(told))

    # --- inference

    def model(self, asked: Mapping[str, Any], desk: Desk) -> str:
        name = asked.get("model")
        if name not in desk.script.served:
            raise Unknown(404, f"Model '{name}' was not found; it is neither loaded nor downloaded")
        return str(name)

    def head(self, ask: Ask, desk: Desk, length: int) -> Head:
        del ask
        return Head(200, httplib.headers(desk, CORS, JSON, length))


def _short(path: str) -> str:
    """A path without its prefix."""
    return next((path[len(p) :] for p in PREFIXES if path.startswith(f"{p}/")), path)


def _card(desk: Desk, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "created": desk.wall(),
        "object": "model",
        "owned_by": "lemonade",
        "checkpoint": f"{name}.gguf",
        "recipe": "llamacpp",
        "size": 1.0,
        "downloaded": True,
        "labels": ["embeddings"] if desk.script.embeddings else [],
    }


ENDPOINT = {
    ("GET", "/health"): "health",
    ("GET", "/models"): "models",
    ("POST", "/chat/completions"): "chat",
    ("POST", "/completions"): "completions",
    ("POST", "/embeddings"): "embeddings",
}
ROOT: dict[tuple[str, str], str] = {
    ("GET", "/live"): "live",
    ("GET", "/metrics"): "metrics",
}
ROUTES: dict[tuple[str, str], str] = {
    ("GET", "/health"): "health",
    ("GET", "/models"): "models",
    ("POST", "/load"): "load",
    ("POST", "/unload"): "unload",
    ("POST", "/chat/completions"): "chat",
    ("POST", "/completions"): "completions",
    ("POST", "/responses"): "responses",
    ("POST", "/embeddings"): "embeddings",
}
