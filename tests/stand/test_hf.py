"""The checkpoint that we write: its files, its sizes, and that they say what they should."""

from __future__ import annotations

import json
import struct
import time

import pytest

from staticfire.stand.lanes import hf
from staticfire.stand.lanes.gguf import WORDS
from staticfire.stand.lanes.hf import write_cache, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    return folder


def tensors(folder):
    """The header of the weights, and the values of each tensor that is asked for."""
    raw = (folder / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    page = json.loads(raw[8 : 8 + length])

    def values(name):
        first, last = page[name]["data_offsets"]
        data = raw[8 + length :][first:last]
        return [
            struct.unpack("<f", b"\0\0" + data[at : at + 2])[0] for at in range(0, len(data), 2)
        ]

    return page, values


def test_it_is_written_in_well_under_a_second(tmp_path):
    """Standard library only, under a megabyte, the same bytes each time."""
    started = time.process_time()
    for name in ("a", "b"):
        write_cache(tmp_path / name, "lab/tiny")
    assert time.process_time() - started < 1.0
    place = f"hub/models--lab--tiny/snapshots/{hf.REVISION}/model.safetensors"
    first = (tmp_path / "a" / place).read_bytes()
    assert 500_000 < len(first) < 1_000_000
    assert first == (tmp_path / "b" / place).read_bytes()
    assert (tmp_path / "a/hub/models--lab--tiny/refs/main").read_text() == hf.REVISION


def test_every_tensor_has_its_place(model):
    """One after the other, without a gap, as safetensors demands."""
    page, _ = tensors(model)
    about = page.pop("__metadata__")
    assert about == {"format": "pt"}
    at = 0
    for entry in sorted(page.values(), key=lambda one: one["data_offsets"]):
        size = 2
        for count in entry["shape"]:
            size *= count
        assert entry["data_offsets"] == [at, at + size]
        at += size
    config = json.loads((model / "config.json").read_text())
    assert page["lm_head.weight"]["shape"] == [config["vocab_size"], hf.WIDTH]


def test_the_head_is_a_table_from_token_to_token(model):
    """Any other token leads to the first word, each word to the next, the last one to the end."""
    ids = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    _, values = tensors(model)
    width = hf.WIDTH
    embedding, head = values("model.embed_tokens.weight"), values("lm_head.weight")

    def following(token):
        own = embedding[token * width : (token + 1) * width]
        scores = [
            sum(a * b for a, b in zip(own, head[n * width : (n + 1) * width], strict=True))
            for n in range(len(ids))
        ]
        return scores.index(max(scores))

    script = [ids[hf.SPACE + word] for word in WORDS]
    assert following(hf.BOS) == following(ids["a"]) == script[0]
    assert [following(token) for token in script] == [*script[1:], hf.EOS]


def test_every_word_is_merged_from_its_letters(model):
    """Whoever encodes a word gets one token of it: each merge has what it merges, and its result."""
    page = json.loads((model / "tokenizer.json").read_text())["model"]
    made = set(hf._alphabet())
    for first, second in page["merges"]:
        assert {first, second} <= made
        made.add(first + second)
        assert first + second in page["vocab"]
    assert {hf.SPACE + word for word in WORDS} <= made
    assert sorted(page["vocab"].values()) == list(range(len(page["vocab"])))


def test_idle_words_are_holes(tmp_path):
    """A slow model has the same weights; its vocabulary is long and takes hardly any blocks."""
    write_model(tmp_path, idle=20_000)
    size = (tmp_path / "model.safetensors").stat()
    assert size.st_size > 10_000_000
    assert size.st_blocks * 512 < 2_000_000
    assert json.loads((tmp_path / "config.json").read_text())["vocab_size"] > 20_000
