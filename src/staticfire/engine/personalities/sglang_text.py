"""The JSON and the events of SGLang 0.5.23's inference routes, in its source's key order."""

from __future__ import annotations

import json
from typing import NamedTuple

from staticfire.engine.actions import Send
from staticfire.engine.personalities.talk import DONE, Lines, quote

__all__ = ["Voice"]


class Voice(NamedTuple):
    """What one answer's JSON shares."""

    id: str
    created: int
    model: str

    def chat(self, texts: list[str], reason: str, prompt: int, said: int) -> bytes:
        """A whole chat completion with a choice for each text."""
        choices = ",".join(
            f'{{"index":{index},"message":{{"role":"assistant","content":{quote(text)},'
            f'"reasoning_content":null,"tool_calls":null}},"logprobs":null,{_end(reason)}}}'
            for index, text in enumerate(texts)
        )
        return f"{self._start('chat.completion')}{choices}],{_usage(prompt, said)}".encode()

    def completion(self, text: str, reason: str, prompt: int, said: int) -> bytes:
        """A whole text completion."""
        choice = f'{{"index":0,"text":{quote(text)},"logprobs":null,{_end(reason)}}}'
        return f"{self._start('text_completion')}{choice}],{_usage(prompt, said)}".encode()

    def embeddings(self, vectors: list[list[float]], prompt: int) -> bytes:
        """A list of embeddings."""
        told = {
            "data": [
                {"embedding": vector, "index": index, "object": "embedding"}
                for index, vector in enumerate(vectors)
            ],
            "model": self.model,
            "object": "list",
            "usage": {
                "prompt_tokens": prompt, "total_tokens": prompt, "completion_tokens": 0,
                "prompt_tokens_details": None, "reasoning_tokens": 0,
            },
        }  # fmt: skip
        return json.dumps(told, separators=(",", ":")).encode()

    def chat_lines(self, reason: str, prompt: int, said: int, *, usage: bool) -> Lines:
        """A role, the tokens, an end without one, the usage if it is asked for, `[DONE]`."""
        start = f'data: {self._start("chat.completion.chunk")}{{"index":0,"delta":'
        rest = '"reasoning_content":null,"tool_calls":null},"logprobs":null,'
        role = f'{start}{{"role":"assistant","content":"",{rest}{_OPEN}'
        end = f'{start}{{"role":null,"content":null,{rest}{_end(reason)}}}],"usage":null}}\n\n'
        return Lines(
            (Send(role.encode(), event=True),),
            f'{start}{{"role":null,"content":'.encode(),
            f",{rest}{_OPEN}".encode(),
            self._closing("chat.completion.chunk", end, prompt, said, usage=usage),
        )

    def completion_lines(self, reason: str, prompt: int, said: int, *, usage: bool) -> Lines:
        """The tokens, an end with an empty text."""
        start = f'data: {self._start("text_completion")}{{"index":0,"text":'
        end = f'{start}"","logprobs":null,{_end(reason)}}}],"usage":null}}\n\n'
        return Lines(
            (),
            start.encode(),
            f',"logprobs":null,{_OPEN}'.encode(),
            self._closing("text_completion", end, prompt, said, usage=usage),
        )

    def _closing(
        self, kind: str, end: str, prompt: int, said: int, *, usage: bool
    ) -> tuple[Send, ...]:
        last = Send(end.encode(), event=True)
        if not usage:
            return (last, DONE)
        counted = f"data: {self._start(kind)}],{_count(prompt, said)}}}\n\n"
        return (last, Send(counted.encode(), event=True), DONE)

    def _start(self, kind: str) -> str:
        return (
            f'{{"id":"{self.id}","object":"{kind}","created":{self.created},'
            f'"model":{quote(self.model)},"choices":['
        )


_OPEN = '"finish_reason":null,"matched_stop":null}],"usage":null}\n\n'
END_TOKEN = 2


def _end(reason: str) -> str:
    """The finish reason, and the token that stopped the answer, if one did."""
    return f'"finish_reason":"{reason}","matched_stop":{END_TOKEN if reason == "stop" else "null"}'


def _count(prompt: int, said: int) -> str:
    return (
        f'"usage":{{"prompt_tokens":{prompt},"total_tokens":{prompt + said},'
        f'"completion_tokens":{said},"prompt_tokens_details":null,"reasoning_tokens":0}}'
    )


def _usage(prompt: int, said: int) -> str:
    return f'{_count(prompt, said)},"metadata":{{"weight_version":"default"}}}}'
