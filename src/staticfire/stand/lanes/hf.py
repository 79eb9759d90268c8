"""Writes a tiny checkpoint for transformers and vLLM whose answers are known: a scripted Llama.

The same network as in `gguf`: output projections are zero, so the residual stream is the embedding of
the last token, and the head is a table "last token → next token". Every prompt gets the same words,
then the end. Standard library only: configuration, a byte-level BPE tokenizer, safetensors in bfloat16,
0.8 MB. Where weights are zero the file has holes; idle words make the model slow to load.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterable
from pathlib import Path

from staticfire.stand.lanes.gguf import WORDS

__all__ = ["link_cache", "write_cache", "write_model"]

REVISION = "0123456789abcdef0123456789abcdef01234567"
SPECIAL = ("<unk>", "<s>", "</s>")
BOS, EOS = 1, 2
WIDTH, LAYERS, HEADS, INNER = 128, 2, 4, 256
CONTEXT = 2048
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
SPACE = "\u0120"
"""How a byte-level vocabulary writes a space."""

Row = list[float]


def write_cache(home: Path, name: str, idle: int = 0) -> None:
    """Write the model `name` into the cache below `home`, as Hugging Face's programs lay it out.

    Raises OSError.
    """
    write_model(_snapshot(home, name), idle)


def link_cache(home: Path, name: str, model: Path) -> None:
    """Put the model that lies in a folder into the cache below `home`, under `name`."""
    snapshot = _snapshot(home, name)
    for file in model.iterdir():
        (snapshot / file.name).symlink_to(file.resolve())


def _snapshot(home: Path, name: str) -> Path:
    """The empty folder where the files of a model belong."""
    folder = home / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "blobs").mkdir()
    (folder / "refs" / "main").write_text(REVISION, encoding="ascii")
    return snapshot


def write_model(folder: Path, idle: int = 0) -> None:
    """Write configuration, tokenizer and weights; `idle` words more, which it never says."""
    ids, merges = _vocabulary(idle)
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS, "head_dim": WIDTH // HEADS, "vocab_size": len(ids),
        "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "bos_token_id": BOS, "eos_token_id": EOS,
        "hidden_act": "silu", "dtype": "bfloat16", "initializer_range": 0.02,
    }  # fmt: skip
    generation = {"bos_token_id": BOS, "eos_token_id": EOS, "do_sample": False}
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "model_max_length": CONTEXT, "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }  # fmt: skip
    for name, page in (
        ("config.json", config),
        ("generation_config.json", generation),
        ("tokenizer_config.json", about),
        ("tokenizer.json", _tokenizer(ids, merges)),
    ):
        (folder / name).write_text(json.dumps(page), encoding="ascii")
    _write_weights(folder / "model.safetensors", ids)


def _alphabet() -> list[str]:
    """The 256 letters that stand for bytes: printable ones for themselves, others above 255."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return sorted([*map(chr, shown), *(chr(256 + n) for n in range(len(hidden)))])


def _vocabulary(idle: int) -> tuple[dict[str, int], list[list[str]]]:
    """Ids of all tokens, and the merges that make the words, each built from left to right."""
    letters = _alphabet()
    tokens = [*SPECIAL, *letters, *(SPACE + word for word in WORDS)]
    merges, made = [], set(letters)
    for word in WORDS:
        symbol = SPACE
        for letter in word:
            longer = symbol + letter
            if longer not in made:
                merges.append([symbol, letter])
                made.add(longer)
                if longer not in tokens:
                    tokens.append(longer)
            symbol = longer
    tokens += [f"{SPACE}idle{n:x}" for n in range(idle)]
    return {token: number for number, token in enumerate(tokens)}, merges


def _tokenizer(ids: dict[str, int], merges: list[list[str]]) -> dict[str, object]:
    kind = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": n, "content": text, **plain, "special": True} for n, text in enumerate(SPECIAL)
        ],
        "normalizer": None, "pre_tokenizer": {**kind, "add_prefix_space": False},
        "post_processor": None, "decoder": {**kind, "add_prefix_space": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "ignore_merges": False, "vocab": ids, "merges": merges,
        },
    }  # fmt: skip


def _table(ids: dict[str, int]) -> tuple[list[Row], dict[int, Row]]:
    """The embedding of each token, and those rows of the head that are not zero."""
    chance = random.Random(7)

    def signs() -> Row:
        return [chance.choice((-1.0, 1.0)) for _ in range(WIDTH)]

    script = [ids[SPACE + word] for word in WORDS]
    towards = signs()  # the first word follows every token that is none of the words
    known = len(ids) - sum(token.startswith(f"{SPACE}idle") for token in ids)
    embedding = [signs() for _ in range(known)]
    for token in set(range(known)) - set(script):
        embedding[token] = [
            0.25 * own + all_of for own, all_of in zip(embedding[token], towards, strict=True)
        ]
    head = {token: [0.0] * WIDTH for token in (*script, EOS)}
    head[script[0]] = list(towards)
    for token, following in zip(script, [*script[1:], EOS], strict=True):
        head[following] = [
            row + own for row, own in zip(head[following], embedding[token], strict=True)
        ]
    return embedding, head


def _write_weights(path: Path, ids: dict[str, int]) -> None:
    shapes = _shapes(len(ids))
    places, at = {}, 0
    page: dict[str, object] = {"__metadata__": {"format": "pt"}}
    for name, shape in sorted(shapes.items()):
        size = 2
        for count in shape:
            size *= count
        page[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        places[name] = at
        at += size
    text = json.dumps(page).encode()
    text += b" " * (-len(text) % 8)
    embedding, head = _table(ids)
    with path.open("wb") as file:
        start = file.write(struct.pack("<Q", len(text)) + text)
        for name in shapes:
            if name.endswith("norm.weight"):
                file.seek(start + places[name])
                file.write(_packed([1.0] * WIDTH))
        file.seek(start + places["model.embed_tokens.weight"])
        for row in embedding:
            file.write(_packed(row))
        for token, row in head.items():
            file.seek(start + places["lm_head.weight"] + 2 * WIDTH * token)
            file.write(_packed(row))
        file.truncate(start + at)


def _packed(values: Iterable[float]) -> bytes:
    """In bfloat16: the upper half of a float; all our values are exact in it."""
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def _shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (vocabulary, WIDTH),
        "lm_head.weight": (vocabulary, WIDTH),
        "model.norm.weight": (WIDTH,),
    }
    for layer in range(LAYERS):
        name = f"model.layers.{layer}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{name}{norm}.weight"] = (WIDTH,)
        for part in "qkvo":
            shapes[f"{name}self_attn.{part}_proj.weight"] = (WIDTH, WIDTH)
        for part, shape in (
            ("gate", (INNER, WIDTH)),
            ("up", (INNER, WIDTH)),
            ("down", (WIDTH, INNER)),
        ):
            shapes[f"{name}mlp.{part}_proj.weight"] = shape
    return shapes
