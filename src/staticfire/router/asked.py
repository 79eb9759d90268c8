"""What a request asks for, read from its body once."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from staticfire import wire
from staticfire.router import sessions
from staticfire.router.errors import Failure
from staticfire.router.fields import Named, only_named, with_prompt, with_session

__all__ = ["DEEPEST", "Asked", "Reader"]

DEEPEST = 512
"""Objects and arrays within one another; engines' own parsers give up at about twice that."""


@dataclass(slots=True)
class Asked:
    """What choosing needs to know of a request; `model` is None where it names none."""

    path: bytes
    body: bytes = b""
    model: str | None = None
    stream: bool = False
    session: str | None = None
    prompt: bytes = b""
    """The text by whose beginning engines cache; read only where a policy goes by it."""

    def body_for(self, name: str | None) -> bytes:
        """The body as it came; with a name, the same but for the model's."""
        return self.body if name is None else renamed(self.body, name)


class Reader:
    """Reads of each request what the policies in use go by, and not one field more."""

    def __init__(
        self, *, headers: tuple[bytes, ...] = (), session: bool = False, prompt: bool = False
    ) -> None:
        self._headers = headers
        self._session = session
        self._prompt = prompt

    def read(self, request: wire.Request, path: bytes) -> Asked | Failure:
        """What a request asks for, or what is wrong with it.

        msgspec passes bad UTF-8 in fields that it skips, so that is looked at apart; so is depth.
        """
        body = request.body
        session: str | None = None
        prompt = b""
        named: Named
        try:
            if not body.isascii():
                body.decode()
            if self._session:
                session = sessions.of_headers(request.headers, self._headers)
            if self._prompt:
                named = found = with_prompt(body)
                prompt = bytes(found.system) + bytes(found.instructions)
                prompt += bytes(found.messages or found.prompt or found.input)
            elif self._session and session is None:
                named = asks = with_session(body)
                session = sessions.of_body(
                    asks.session_params, asks.session_id, asks.conversation,
                    asks.prompt_cache_key, asks.safety_identifier, asks.user,
                )  # fmt: skip
            else:
                named = only_named(body)
        except msgspec.ValidationError as error:
            return Failure(400, "invalid_request", f"the body is not a request: {error}", "model")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return Failure(400, "invalid_json", f"the body is not JSON: {error}")
        except RecursionError:
            return _too_deep()
        if body.count(b"{") + body.count(b"[") > DEEPEST and _deeper(body):
            return _too_deep()
        return Asked(path, body, named.model, bool(named.stream), session, prompt)


def _too_deep() -> Failure:
    message = f"the body is nested more than {DEEPEST} deep"
    return Failure(400, "invalid_json", message)


_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def _deeper(body: bytes) -> bool:
    """Whether JSON is nested more than DEEPEST deep: pairs are taken out, from the inside."""
    left = _TEXT.sub(b"", body).translate(None, _BRACKETS)
    for _ in range(DEEPEST):
        shorter = left.replace(b"{}", b"").replace(b"[]", b"")
        if len(shorter) == len(left):
            return bool(left)
        left = shorter
    return bool(left)


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_COLON = re.compile(rb"\s*:\s*")


def renamed(body: bytes, name: str) -> bytes:
    """A JSON object with another model: the bytes of the value change, and no others."""
    value = msgspec.json.encode(name)
    parts: list[bytes] = []
    done = depth = 0
    tokens = _TOKEN.finditer(body)
    for token in tokens:
        text = token[0]
        if text in b"{[":
            depth += 1
        elif text in b"}]":
            depth -= 1
        elif depth == 1 and (colon := _COLON.match(body, token.end())):
            if msgspec.json.decode(text) != "model":
                continue
            old = next(tokens)  # the model is a text, as the reader has seen
            parts += (body[done : colon.end()], value)
            done = old.end()
    return b"".join((*parts, body[done:]))
