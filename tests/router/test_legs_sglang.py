"""SGLang's bootstrap words."""

from __future__ import annotations

import json
import random

import pytest

from staticfire.router import legs_sglang


def both(body, seed=1):
    return json.loads(legs_sglang.both_bodies(body, "10.0.0.7", 8998, random.Random(seed)))


def test_one_prompt_gets_one_room():
    """Host, port and a room below 2**63 join the client's request."""
    said = both(b'{"model":"q","messages":[{"role":"user","content":"hi"}]}')
    assert (said["bootstrap_host"], said["bootstrap_port"]) == ("10.0.0.7", 8998)
    assert 0 <= said["bootstrap_room"] < 2**63
    assert said["model"] == "q"


@pytest.mark.parametrize("prompt", ['"hi"', "[1, 2, 3]", "[]"])
def test_text_or_tokens_are_one_prompt(prompt):
    """A list of numbers is one prompt in tokens, not several prompts."""
    assert isinstance(both(b'{"prompt":%s}' % prompt.encode())["bootstrap_room"], int)


@pytest.mark.parametrize("prompt", ['["a", "b"]', "[[1], [2, 3]]"])
def test_each_prompt_of_a_list_gets_a_room_of_its_own(prompt):
    """Rooms, hosts and ports are lists of the prompts' number."""
    said = both(b'{"prompt":%s}' % prompt.encode())
    assert said["bootstrap_host"] == ["10.0.0.7"] * 2
    assert said["bootstrap_port"] == [8998] * 2
    assert len(set(said["bootstrap_room"])) == 2


def test_a_clients_own_words_never_get_through():
    """Nobody outside says whom a decode leg connects to."""
    said = both(b'{"bootstrap_host":"evil","bootstrap_port":1,"bootstrap_room":7,"seed":2}')
    assert said["bootstrap_host"] == "10.0.0.7"
    assert said["bootstrap_room"] != 7
    assert said["seed"] == 2


def test_rooms_come_from_the_given_chance():
    """One seed, one room: a scenario replays."""
    assert both(b"{}", 3) == both(b"{}", 3) != both(b"{}", 4)


def test_values_keep_their_bytes():
    """Spaces inside values and big numbers reach both legs as they came."""
    value = b'{ "n" : 123456789012345678901234567890 }'
    body = b'{"vendor":%s}' % value
    assert value in legs_sglang.both_bodies(body, "h", None, random.Random(1))
