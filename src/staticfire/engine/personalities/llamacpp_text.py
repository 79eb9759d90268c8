"""The JSON and the events of llama.cpp's inference routes, in its key order."""

from __future__ import annotations

import json
from typing import NamedTuple

from staticfire.engine.actions import Send
from staticfire.engine.personalities.talk import DONE, Lines, quote

__all__ = ["Voice"]


class Voice(NamedTuple):
    """What one answer's JSON shares; `prefill` and `gap` are milliseconds, for its timings."""

    id: str
    created: int
    model: str
    fingerprint: str
    prefill: float = 0.0
    gap: float = 0.0

    # --- whole answers

    def chat(self, texts: list[str], reason: str, prompt: int, said: int) -> bytes:
        """A whole chat completion with a choice for each text; usage counts one of them."""
        choices = ",".join(
            f'{{"finish_reason":"{reason}","index":{index},"message":{{"role":"assistant",'
            f'"content":{quote(text)}}}}}'
            for index, text in enumerate(texts)
        )
        return (
            f'{{"choices":[{choices}],{self._who("chat.completion")},{_usage(prompt, said)},'
            f'"id":"chatcmpl-{self.id}",{self._timings(prompt, said)}}}'
        ).encode()

    def completion(self, text: str, reason: str, prompt: int, said: int) -> bytes:
        """A whole text completion."""
        return (
            f'{{"choices":[{{"text":{quote(text)},"index":0,"logprobs":null,'
            f'"finish_reason":"{reason}"}}],{self._who("text_completion")},{_usage(prompt, said)},'
            f'"id":"chatcmpl-{self.id}",{self._timings(prompt, said)}}}'
        ).encode()

    def response(self, text: str, prompt: int, said: int) -> bytes:
        """A whole answer of the responses API."""
        return (
            f'{{"completed_at":{self.created},"created_at":{self.created},"id":"resp_{self.id}",'
            f'"model":{quote(self.model)},"object":"response","output":[{{"content":[{{"type":'
            f'"output_text","annotations":[],"logprobs":[],"text":{quote(text)}}}],'
            f'"id":"msg_{self.id[::-1]}","role":"assistant","status":"completed",'
            '"type":"message"}],"status":"completed",'
            f'"usage":{{"input_tokens":{prompt},"output_tokens":{said},'
            f'"total_tokens":{prompt + said},"input_tokens_details":{{"cached_tokens":0}}}}}}'
        ).encode()

    def embeddings(self, vectors: list[list[float]], prompt: int) -> bytes:
        """A list of embeddings."""
        told = {
            "model": self.model,
            "object": "list",
            "usage": {"prompt_tokens": prompt, "total_tokens": prompt},
            "data": [
                {"embedding": vector, "index": index, "object": "embedding"}
                for index, vector in enumerate(vectors)
            ],
        }
        return json.dumps(told, separators=(",", ":")).encode()

    # --- streams

    def chat_lines(self, reason: str, prompt: int, said: int, *, usage: bool) -> Lines:
        """The role shares a chunk with the first token; the end is an event without a token.

        Timings are in the last event, which is the usage's, if that is asked for.
        """
        who = self._chunk("chat.completion.chunk")
        end = f'data: {{"choices":[{{"finish_reason":"{reason}","index":0,"delta":{{}}}}],{who}'
        timed = self._timings(prompt, said)
        if usage:
            counted = f'data: {{"choices":[],{who},{_usage(prompt, said)},{timed}}}\n\n'
            closing: tuple[Send, ...] = (
                Send(f"{end}}}\n\n".encode(), event=True, joins=True),
                Send(counted.encode(), event=True),
            )
        else:
            closing = (Send(f"{end},{timed}}}\n\n".encode(), event=True),)
        role = (
            'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant",'
            f'"content":null}}}}],{who}}}\n\n'
        )
        return Lines(
            (Send(role.encode(), event=True, joins=True),),
            b'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":',
            f"}}}}],{who}}}\n\n".encode(),
            (*closing, DONE),
        )

    def completion_lines(self, reason: str, prompt: int, said: int) -> Lines:
        """The last event has an empty text, the usage and the timings."""
        who, name = self._who("text_completion"), f'"id":"chatcmpl-{self.id}"'
        end = (
            f'data: {{"choices":[{{"text":"","index":0,"logprobs":null,"finish_reason":"{reason}"'
            f"}}],{who},{_usage(prompt, said)},{name},{self._timings(prompt, said)}}}\n\n"
        )
        return Lines(
            (),
            b'data: {"choices":[{"text":',
            f',"index":0,"logprobs":null,"finish_reason":null}}],{who},{name}}}\n\n'.encode(),
            (Send(end.encode(), event=True), DONE),
        )

    # --- inside

    def _who(self, kind: str) -> str:
        return (
            f'"created":{self.created},"model":{quote(self.model)},'
            f'"system_fingerprint":"{self.fingerprint}","object":"{kind}"'
        )

    def _chunk(self, kind: str) -> str:
        return (
            f'"created":{self.created},"id":"chatcmpl-{self.id}","model":{quote(self.model)},'
            f'"system_fingerprint":"{self.fingerprint}","object":"{kind}"'
        )

    def _timings(self, prompt: int, said: int) -> str:
        took = self.gap * max(0, said - 1)
        return '"timings":' + json.dumps(
            {
                "cache_n": 0,
                "prompt_n": prompt,
                "prompt_ms": self.prefill,
                "prompt_per_token_ms": self.prefill / max(1, prompt),
                "prompt_per_second": prompt * 1000 / self.prefill if self.prefill else 0.0,
                "predicted_n": said,
                "predicted_ms": took,
                "predicted_per_token_ms": self.gap,
                "predicted_per_second": 1000 / self.gap if self.gap else 0.0,
            },
            separators=(",", ":"),
        )


def _usage(prompt: int, said: int) -> str:
    return (
        f'"usage":{{"completion_tokens":{said},"prompt_tokens":{prompt},'
        f'"total_tokens":{prompt + said},"prompt_tokens_details":{{"cached_tokens":0}}}}'
    )
