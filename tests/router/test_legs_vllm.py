"""vLLM's KV-transfer words."""

from __future__ import annotations

import json

import pytest

from staticfire.router import legs_vllm

PARAMS = b'{"do_remote_prefill":true,"remote_block_ids":[[1,2]],"big":9223372036854775808}'


def test_the_prefill_leg_makes_one_token_in_one_piece():
    """Limits become 1, the stream is off, what vLLM refuses beside that is left out."""
    asked = {
        "model": "q",
        "max_tokens": 50,
        "max_completion_tokens": 60,
        "min_tokens": 5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    said = json.loads(legs_vllm.prefill_body(json.dumps(asked).encode()))
    assert said.pop("kv_transfer_params") == {
        "do_remote_decode": True,
        "do_remote_prefill": False,
        "remote_engine_id": None,
        "remote_block_ids": None,
        "remote_host": None,
        "remote_port": None,
    }
    assert said == {"model": "q", "max_tokens": 1, "max_completion_tokens": 1, "stream": False}


def test_a_limit_that_was_not_asked_for_stays_out():
    """The engine refuses nobody for a second limit, but the client sent one name only."""
    said = json.loads(legs_vllm.prefill_body(b'{"model": "q"}'))
    assert "max_completion_tokens" not in said
    assert said["max_tokens"] == 1


def test_the_decode_leg_gets_the_clients_request_with_the_prefill_legs_words():
    """Nothing else changes, and a client's own transfer words never get through."""
    body = b'{"model":"q","stream":true,"seed":18446744073709551616,"kv_transfer_params":{"remote_host":"evil"}}'
    params = legs_vllm.told(b'{"id":"x","kv_transfer_params":%s}' % PARAMS)
    assert legs_vllm.decode_body(body, params) == (
        b'{"model":"q","stream":true,"seed":18446744073709551616,"kv_transfer_params":%s}' % PARAMS
    )


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no",
        b"[]",
        b"{}",
        b'{"kv_transfer_params":null}',
        b'{"kv_transfer_params":7}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_an_answer_that_does_not_say_where_the_cache_lies(answer):
    """It is None, and never an exception: a prefill leg may answer anything."""
    assert legs_vllm.told(answer) is None


def test_values_keep_their_bytes():
    """Vendor fields, spaces inside values and big numbers reach both legs as they came."""
    value = b'{ "a" : [1,  2], "n": 123456789012345678901234567890 }'
    body = b'{"model":"q","vendor":%s}' % value
    assert value in legs_vllm.prefill_body(body)
    assert value in legs_vllm.decode_body(body, legs_vllm.told(b'{"kv_transfer_params":{}}'))


def test_of_a_key_that_comes_twice_the_last_counts():
    """As engines read it; it goes out once."""
    said = legs_vllm.decode_body(
        b'{"seed":1,"seed":2}', legs_vllm.told(b'{"kv_transfer_params":{}}')
    )
    assert said == b'{"seed":2,"kv_transfer_params":{}}'


def test_without_the_prefill_legs_words_the_request_is_the_clients_own():
    """The decode leg computes the prompt again; a client's transfer words are taken out."""
    assert legs_vllm.decode_body(b'{"seed":1,"kv_transfer_params":{"x":1}}', None) == b'{"seed":1}'
