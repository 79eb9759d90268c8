"""The personality of llama.cpp's own server, true to two builds that were captured.

Build 10434 answers 500 to bytes that are no JSON, the later one (`xllamacpp` 2026.10.11549) 400 and
lists an `architecture` for each model; `build=` of the script chooses, the later one is the default.
While it loads, everything is 503. Nothing is ever shed. A JSON answer is made to its end although
its client has left, and holds its slot for that long. SIGTERM closes the port at once and leaves
open answers mute until their clients hang up.

A mock engine always has `/metrics`, which the real one has with `--metrics` only. The flag
`--api-key KEY` locks everything but health and listing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from staticfire.engine.actions import CHUNKED, LENGTH, Head, Headers
from staticfire.engine.ask import Ask
from staticfire.engine.framing import HTTPLIB
from staticfire.engine.personalities import httplib, llamacpp_pages
from staticfire.engine.personalities.base import Desk, Dialect, Sigterm, register
from staticfire.engine.personalities.httplib import JSON
from staticfire.engine.personalities.llamacpp_errors import (
    LOADING,
    NOT_FOUND,
    Refusal,
    error,
    integer,
    parse,
    standard,
    wrong_type,
)
from staticfire.engine.personalities.llamacpp_text import Voice
from staticfire.engine.personalities.prompts import letters, text_of
from staticfire.engine.personalities.talk import (
    Answer,
    embedded,
    refused,
    speech,
    streamed,
    vectors,
    whole,
)
from staticfire.engine.phases import Dead, Draining, Loading

__all__ = ["SERVER", "LlamaCpp", "fingerprint"]

OLD, NEW = "10434", "2026.10.11549"
SERVER = ((b"Server", b"llama.cpp"), (b"Access-Control-Allow-Origin", b""))
SSE = b"text/event-stream"
OPENED, PER_MESSAGE = 11, 8
"""What the captured template adds to a chat, and to each of its messages."""
FIRST_TOKEN = 279
"""The captured model's token for the letter h; others are in the alphabet's order."""


@register("llamacpp")
class LlamaCpp(Dialect):
    """`llama-server` with one model."""

    name = "llamacpp"
    manner = HTTPLIB
    flags: ClassVar[Mapping[str, str]] = {
        "--api-key": "the key that everything but health and listing asks for",
    }
    builds: ClassVar[Sequence[str]] = (NEW, OLD)

    def endpoint(self, method: str, path: str) -> str:
        return ENDPOINT.get((method, path), "other")

    def answer(self, ask: Ask, desk: Desk) -> Answer:
        if not self.lazy and isinstance(desk.phase(), Loading):
            return self.said(desk, 503, LOADING)
        if ask.method == "OPTIONS":
            return httplib.preflight(desk, SERVER)
        method = "GET" if ask.method == "HEAD" else ask.method
        route = self.route(method, ask.path)
        if route is None:
            return self.said(desk, 404, self.unknown(ask))
        key = desk.script.flag("--api-key") if desk.script.flags else None
        if key and ask.path not in OPEN and not httplib.has_key(ask, key):
            return self.said(desk, 401, standard(401, None))
        try:
            answer: Answer = getattr(self, route)(ask, desk)
        except Refusal as no:
            return self.said(desk, no.status, error(no.status, no.message, no.kind, **no.more))
        return answer

    def complain(
        self, status: int, message: str | None, endpoint: str, desk: Desk
    ) -> tuple[Headers, bytes]:
        del endpoint
        body = standard(status, message)
        return httplib.headers(desk, SERVER, JSON, len(body)), body

    def not_http(self, desk: Desk) -> tuple[Head, bytes]:
        del desk
        return httplib.not_http(SERVER[0])

    def sigterm(self, desk: Desk) -> Sigterm:
        if isinstance(desk.phase(), Loading):  # no handler is installed yet
            return Sigterm("mute", Dead())
        return Sigterm("mute", Draining(refuses=True), at_idle=True)

    def said(self, desk: Desk, status: int, body: bytes, *own: tuple[bytes, bytes]) -> Answer:
        """A JSON answer."""
        return httplib.answered(status, httplib.headers(desk, SERVER, JSON, len(body), *own), body)

    # --- plain routes

    def health(self, _: Ask, desk: Desk) -> Answer:
        return self.said(desk, 200, b'{"status":"ok"}')

    def models(self, _: Ask, desk: Desk) -> Answer:
        new = desk.script.build != OLD
        return self.said(desk, 200, llamacpp_pages.models(desk, architecture=new))

    def props(self, _: Ask, desk: Desk) -> Answer:
        return self.said(desk, 200, llamacpp_pages.props(desk, fingerprint(desk)))

    def slots(self, _: Ask, desk: Desk) -> Answer:
        return self.said(desk, 200, llamacpp_pages.slots(desk))

    def metrics(self, _: Ask, desk: Desk) -> Answer:
        body = llamacpp_pages.metrics(desk)
        started = (b"Process-Start-Time-Unix", b"%d" % desk.born)
        kind = b"text/plain; version=0.0.4"
        fields = httplib.headers(desk, SERVER, kind, len(body), started)
        return httplib.answered(200, fields, body)

    def tokenize(self, ask: Ask, desk: Desk) -> Answer:
        text = text_of(self.parsed(ask, desk).get("content", ""))
        tokens = [FIRST_TOKEN - 8, *(ord(letter) - ord("h") + FIRST_TOKEN for letter in text)]
        return self.said(desk, 200, b'{"tokens":%s}' % str(tokens).replace(" ", "").encode())

    # --- inference

    def chat(self, ask: Ask, desk: Desk) -> Answer:
        asked = self.parsed(ask, desk)
        if "messages" not in asked:
            raise Refusal(400, "'messages' is required")
        messages = asked["messages"]
        if not isinstance(messages, list):
            raise Refusal(400, "Expected 'messages' to be an array")
        prompt = OPENED + sum(PER_MESSAGE + letters(message) for message in messages)
        return self.generate(ask, desk, asked, prompt, messages, "chat")

    def completions(self, ask: Ask, desk: Desk) -> Answer:
        asked = self.parsed(ask, desk)
        if "prompt" not in asked:
            raise Refusal(400, "[json.exception.out_of_range.403] key 'prompt' not found")
        prompt = 2 + letters(asked["prompt"])
        return self.generate(ask, desk, asked, prompt, asked["prompt"], "completion")

    def responses(self, ask: Ask, desk: Desk) -> Answer:
        asked = self.parsed(ask, desk)
        if "input" not in asked:
            raise Refusal(400, "'input' is required")
        asked = {**asked, "max_tokens": asked.get("max_output_tokens"), "stream": False}
        prompt = OPENED + PER_MESSAGE + letters(asked["input"])
        return self.generate(ask, desk, asked, prompt, asked["input"], "response")

    def embeddings(self, ask: Ask, desk: Desk) -> Answer:
        asked = self.parsed(ask, desk)
        if not desk.script.embeddings:
            text = "This server does not support embeddings. Start it with `--embeddings`"
            raise Refusal(501, text)
        given = asked.get("input", asked.get("content"))
        if given is None:
            raise Refusal(400, '"input" or "content" must be provided')
        body = self.voice(ask, desk).embeddings(vectors(desk, given), letters(given))
        return embedded(desk, given, self.said(desk, 200, body))

    def generate(
        self, ask: Ask, desk: Desk, asked: dict[str, Any], prompt: int, text: Any, kind: str
    ) -> Answer:
        """An answer in tokens; raises `Refusal` before anything is sent."""
        if desk.script.embeddings:
            raise Refusal(501, "This server does not support completions.")
        limit = integer(asked, "max_tokens")
        if limit is None:
            limit = integer(asked, "max_completion_tokens")
        stream = asked.get("stream")
        if stream is not None and not isinstance(stream, bool):
            raise wrong_type("stream", "boolean", stream)
        most = desk.script.max_model_len
        if prompt > most:
            raise Refusal(
                400,
                f"request ({prompt} tokens) exceeds the available context size ({most} tokens), "
                "try increasing it",
                "exceed_context_size_error",
                n_prompt_tokens=prompt,
                n_ctx=most,
            )
        if refused(desk, prompt) is not None:  # the real one has no such limit
            raise Refusal(503, "The queue of this engine is full")
        if desk.asleep:
            desk.wake()
        said = speech(ask, desk, None if limit is None else max(1, limit), prompt, text)
        voice, count = self.voice(ask, desk, asked), len(said.tokens)
        if stream:
            if kind == "chat":
                options = asked.get("stream_options")
                usage = isinstance(options, dict) and options.get("include_usage") is True
                lines = voice.chat_lines(said.reason, prompt, count, usage=usage)
            else:
                lines = voice.completion_lines(said.reason, prompt, count)
            fields = httplib.headers(desk, SERVER, SSE, None, (b"X-Accel-Buffering", b"no"))
            return streamed(desk, Head(200, fields, CHUNKED), said, lines, head_first=False)
        choices = asked.get("n") if isinstance(asked.get("n"), int) else 1

        def made(text: str, count: int, reason: str) -> tuple[Head, bytes]:
            if kind == "chat":
                body = voice.chat([text] * (choices or 1), reason, prompt, count)
            elif kind == "completion":
                body = voice.completion(text, reason, prompt, count)
            else:
                body = voice.response(text, prompt, count)
            return self.head(ask, desk, len(body)), body

        return httplib.to_its_end(whole(desk, said, made))

    # --- what the router mode and Lemonade do otherwise

    def route(self, method: str, path: str) -> str | None:
        """The name of the method that answers a request."""
        return ROUTES.get((method, path))

    def unknown(self, ask: Ask) -> bytes:
        """The body for a path that is not there."""
        del ask
        return NOT_FOUND

    def head(self, ask: Ask, desk: Desk, length: int) -> Head:
        """The head of a JSON answer."""
        del ask
        return Head(200, httplib.headers(desk, SERVER, JSON, length), LENGTH)

    def model(self, asked: Mapping[str, Any], desk: Desk) -> str:
        """The model that answers: the loaded one, whatever is asked for."""
        del asked
        return desk.script.model

    def parsed(self, ask: Ask, desk: Desk) -> dict[str, Any]:
        """The request's JSON."""
        return parse(ask.body, 500 if desk.script.build == OLD else 400)

    def voice(self, ask: Ask, desk: Desk, asked: Mapping[str, Any] | None = None) -> Voice:
        """Who answers, and how fast."""
        speed, own = desk.script.capacity, desk.identity
        return Voice(
            own.id(ask.number) + own.id(-ask.number),
            desk.wall(),
            self.model(asked or {}, desk),
            fingerprint(desk),
            speed.first_token * 1000,
            speed.per_token * 1000,
        )


def fingerprint(desk: Desk) -> str:
    """Its build in the real one's form, with the run token of this engine."""
    return f"b{'1' if desk.script.build == OLD else '0'}-{desk.identity.run}"


OPEN = frozenset({"/health", "/v1/health", "/models", "/v1/models"})
ENDPOINT = {
    ("GET", "/health"): "health",
    ("GET", "/v1/health"): "health",
    ("GET", "/v1/models"): "models",
    ("GET", "/models"): "models",
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/completions"): "completions",
    ("POST", "/v1/embeddings"): "embeddings",
}
ROUTES: dict[tuple[str, str], str] = {
    ("GET", "/health"): "health",
    ("GET", "/v1/health"): "health",
    ("GET", "/v1/models"): "models",
    ("GET", "/models"): "models",
    ("GET", "/props"): "props",
    ("GET", "/slots"): "slots",
    ("GET", "/metrics"): "metrics",
    ("POST", "/tokenize"): "tokenize",
    ("POST", "/v1/chat/completions"): "chat",
    ("POST", "/v1/completions"): "completions",
    ("POST", "/v1/responses"): "responses",
    ("POST", "/v1/embeddings"): "embeddings",
}
