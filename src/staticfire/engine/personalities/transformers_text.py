"""The JSON and the events of `transformers serve`, in its key order."""

from __future__ import annotations

import json
from typing import NamedTuple

from staticfire.engine.actions import Send
from staticfire.engine.personalities.talk import Lines, quote

__all__ = ["Voice"]


class Voice(NamedTuple):
    """What one answer's JSON shares: the request's id, the time, the model with its revision."""

    id: str
    created: int
    model: str

    def chat(self, text: str, reason: str, prompt: int, said: int) -> bytes:
        """A whole chat completion: one choice, whatever was asked for."""
        return (
            f'{{"id":"{self.id}","choices":[{{"finish_reason":"{reason}","index":0,"message":'
            f'{{"content":{quote(text)},"role":"assistant"}}}}],{self._who("chat.completion")},'
            f"{_usage(prompt, said)}}}"
        ).encode()

    def completion(self, text: str, reason: str, prompt: int, said: int) -> bytes:
        """A whole text completion."""
        return (
            f'{{"id":"{self.id}","choices":[{{"finish_reason":"{reason}","index":0,'
            f'"text":{quote(text)}}}],{self._who("text_completion")},{_usage(prompt, said)}}}'
        ).encode()

    def chat_lines(self, reason: str, prompt: int, said: int) -> Lines:
        """A role, the tokens, an end with the usage, and no `[DONE]`."""
        start = f'data: {{"id":"{self.id}","choices":[{{"delta":'
        who = f'{self._who("chat.completion.chunk")},"system_fingerprint":""'
        role = f'{start}{{"role":"assistant"}},"index":0}}],{who}}}\n\n'
        end = f'{start}{{}},"index":0,"finish_reason":"{reason}"}}],{who},{_usage(prompt, said)}}}\n\n'
        return Lines(
            (Send(role.encode(), event=True),),
            f'{start}{{"content":'.encode(),
            f'}},"index":0}}],{who}}}\n\n'.encode(),
            (Send(end.encode(), event=True),),
        )

    def completion_lines(self, reason: str, prompt: int, said: int) -> Lines:
        """The tokens and an end with an empty text."""
        start = f'data: {{"id":"{self.id}","choices":[{{'
        who = self._who("text_completion")
        end = (
            f'{start}"finish_reason":"{reason}","index":0,"text":""}}],{who},'
            f"{_usage(prompt, said)}}}\n\n"
        )
        return Lines(
            (),
            f'{start}"index":0,"text":'.encode(),
            f"}}],{who}}}\n\n".encode(),
            (Send(end.encode(), event=True),),
        )

    def progress(self, stage: str, current: int, total: int) -> bytes:
        """An event of the loading of a model."""
        told = {
            "status": "loading", "model": self.model, "stage": stage,
            "progress": {"current": current, "total": total},
        }  # fmt: skip
        return b"data: %s\n\n" % json.dumps(told).encode()

    def _who(self, kind: str) -> str:
        return f'"created":{self.created},"model":{quote(self.model)},"object":"{kind}"'


def _usage(prompt: int, said: int) -> str:
    return (
        f'"usage":{{"completion_tokens":{said},"prompt_tokens":{prompt},'
        f'"total_tokens":{prompt + said}}}'
    )
