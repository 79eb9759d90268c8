"""The words of vLLM's KV transfer: what a prefill leg is asked, what its answer tells a decode leg.

The legs are asked one after the other. The prefill leg makes one token and says under
`kv_transfer_params` where the cache lies; the decode leg gets those words with the client's own
request. So NIXL and the other pull connectors have it; P2P NCCL, which hides addresses in the
request id, is not spoken.

Pure. A body is read one level deep: every value that is not ours keeps its bytes, big integers and
vendor fields included, and of a key that comes twice the last one counts, as engines have it.
"""

from __future__ import annotations

import msgspec

__all__ = ["decode_body", "prefill_body", "told"]

_Fields = dict[str, msgspec.Raw]
_fields = msgspec.json.Decoder(_Fields).decode

_ASK = msgspec.Raw(
    b'{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,'
    b'"remote_block_ids":null,"remote_host":null,"remote_port":null}'
)
_ONE = msgspec.Raw(b"1")
_FALSE = msgspec.Raw(b"false")
_SENSELESS = ("stream_options", "min_tokens")
"""What vLLM refuses beside one token in one piece."""


def prefill_body(body: bytes) -> bytes:
    """The request for the prefill leg: one token, no stream, and its cache kept for another."""
    fields = _fields(body)
    for name in _SENSELESS:
        fields.pop(name, None)
    fields["max_tokens"] = _ONE
    if "max_completion_tokens" in fields:
        fields["max_completion_tokens"] = _ONE
    fields["stream"] = _FALSE
    fields["kv_transfer_params"] = _ASK
    return msgspec.json.encode(fields)


def told(answer: bytes) -> msgspec.Raw | None:
    """Where the cache lies, in the prefill leg's own words; None where its answer does not say."""
    try:
        found = _fields(answer).get("kv_transfer_params")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if found is None or not bytes(found).lstrip().startswith(b"{"):
        return None
    return found.copy()


def decode_body(body: bytes, params: msgspec.Raw | None) -> bytes:
    """The request for the decode leg: the client's own, with the prefill leg's words.

    They replace what a client sent under that name: nobody outside says where caches lie. Without
    any the decode leg computes the prompt again.
    """
    fields = _fields(body)
    fields.pop("kv_transfer_params", None)
    if params is not None:
        fields["kv_transfer_params"] = params
    return msgspec.json.encode(fields)
