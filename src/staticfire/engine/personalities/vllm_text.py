"""The JSON and the events of vLLM 0.32.0's inference routes, in its key order.

Written as templates: an answer is formatted, not serialised, which costs a tenth.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from staticfire.engine.personalities.talk import quote

__all__ = ["Voice"]


class Voice(NamedTuple):
    """What one answer's JSON shares: its id, time, model and fingerprint."""

    id: str
    created: int
    model: str
    fingerprint: str
    transfer: str = "null"
    """What a prefill leg tells the decode leg, as JSON."""

    # --- chat

    def chat(self, texts: list[str], reason: str, prompt: int, said: int) -> bytes:
        """A whole chat completion with a choice for each text."""
        choices = ",".join(
            [
                f'{{"index":{index},"message":{{"role":"assistant","content":{quote(text)},'
                '"refusal":null,"annotations":null,"audio":null,"function_call":null,'
                f'"reasoning":null}},"logprobs":null,"finish_reason":"{reason}","stop_reason":null,'
                '"token_ids":null,"routed_experts":null}'
                for index, text in enumerate(texts)
            ]
        )
        return (
            f'{{"id":"chatcmpl-{self.id}","object":"chat.completion","created":{self.created},'
            f'"model":{quote(self.model)},"choices":[{choices}],"service_tier":null,'
            f'"system_fingerprint":{quote(self.fingerprint)},{_usage(prompt, said)},'
            f'"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,'
            f'"kv_transfer_params":{self.transfer},"ec_transfer_params":null,"metrics":null}}'
        ).encode()

    def chat_start(self) -> bytes:
        """The text of a chat event up to its choices."""
        return (
            f'data: {{"id":"chatcmpl-{self.id}","object":"chat.completion.chunk",'
            f'"created":{self.created},"model":{quote(self.model)},"choices":['
        ).encode()

    # --- completions

    def completion(self, text: str, reason: str, prompt: int, said: int) -> bytes:
        """A whole text completion."""
        return (
            f'{{"id":"cmpl-{self.id}","object":"text_completion","created":{self.created},'
            f'"model":{quote(self.model)},"choices":[{{"index":0,"text":{quote(text)},'
            f'"logprobs":null,"finish_reason":"{reason}","stop_reason":null,"token_ids":null,'
            '"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null}],'
            f'"service_tier":null,"system_fingerprint":{quote(self.fingerprint)},'
            f'{_usage(prompt, said)},"kv_transfer_params":{self.transfer},'
            '"ec_transfer_params":null,"metrics":null}'
        ).encode()

    def completion_start(self) -> bytes:
        """The text of a completion event up to its choices."""
        return (
            f'data: {{"id":"cmpl-{self.id}","object":"text_completion","created":{self.created},'
            f'"model":{quote(self.model)},"choices":['
        ).encode()

    # --- ends of events

    def last(self) -> bytes:
        """The end of the event that carries the finish reason."""
        return f'}}],"system_fingerprint":{quote(self.fingerprint)}}}\n\n'.encode()

    def usage_event(self, start: bytes, prompt: int, said: int) -> bytes:
        """The event that `stream_options.include_usage` asks for."""
        return (
            start
            + (
                f'],"usage":{{"prompt_tokens":{prompt},"total_tokens":{prompt + said},'
                f'"completion_tokens":{said}}},"system_fingerprint":{quote(self.fingerprint)}}}\n\n'
            ).encode()
        )

    # --- embeddings

    def embeddings(self, vectors: list[list[float]], prompt: int) -> bytes:
        """A list of embeddings."""
        data = [
            {"index": index, "object": "embedding", "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        listed = json.dumps(data, separators=(",", ":"))
        return (
            f'{{"id":"embd-{self.id}","object":"list","created":{self.created},'
            f'"model":{quote(self.model)},"data":{listed},"usage":{{"prompt_tokens":{prompt},'
            f'"total_tokens":{prompt},"completion_tokens":0,"prompt_tokens_details":null}}}}'
        ).encode()


def _usage(prompt: int, said: int) -> str:
    return (
        f'"usage":{{"prompt_tokens":{prompt},"total_tokens":{prompt + said},'
        f'"completion_tokens":{said},"prompt_tokens_details":null,'
        '"completion_tokens_details":null}'
    )
