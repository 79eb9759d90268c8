"""Writes a tiny llama.cpp model whose answers are known: a scripted transformer.

With zero attention and feed-forward outputs the residual stream is the embedding of the last
token, so the logits are `W_out · rmsnorm(E[last])`. `W_out[next(t)] += E[t]` then makes a table
"last token → next token" of a real transformer graph: every prompt gets the same words, then the
end. Standard library only; 1.6 MB, in well under a second.

Idle words make the same model slow to load: llama.cpp takes about 8 µs for each entry of a
vocabulary, on one core. A large file of holes would not do: how fast it is read depends on what the
kernel has at hand (2 GiB took 0.4 to 2.2 s).
"""

from __future__ import annotations

import array
import random
import struct
from pathlib import Path

__all__ = ["WORDS", "write_scripted"]

WORDS = ("ready", "steady", "the", "quick", "mock", "engine", "answers", "from", "a", "real",
         "transformer", "graph")  # fmt: skip
"""What the model says to every prompt."""

TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
ALIGNMENT = 32
WIDTH, LAYERS, HEADS, CONTEXT = 128, 2, 4, 4096
F32 = 0

# Types of metadata values in a GGUF file.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
FORMATS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}

# Kinds of tokens.
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
BOS, EOS = 1, 2

Matrix = list[list[float]]


def write_scripted(path: Path, idle: int = 0) -> None:
    """Write the model; raises OSError.

    `idle` words more are in the vocabulary, which it never says; their rows are holes in the file.
    """
    tokens = _tokens()
    embedding, output = _table(len(tokens))
    tokens += [(f"\u2581idle{n:x}", -2000.0 - n, NORMAL) for n in range(idle)]
    ones = array.array("f", [1.0]) * WIDTH
    data = {
        "token_embd.weight": _flat(embedding),
        "output.weight": _flat(output),
        "output_norm.weight": ones,
    }
    for layer in range(LAYERS):
        data[f"blk.{layer}.attn_norm.weight"] = ones
        data[f"blk.{layer}.ffn_norm.weight"] = ones
    shapes = _shapes(len(tokens))
    metadata = _metadata(tokens)
    offset, infos, places = 0, [], {}
    for name, shape in shapes.items():
        dimensions = struct.pack(f"<{len(shape)}Q", *shape)
        infos.append(
            _string(name)
            + struct.pack("<I", len(shape))
            + dimensions
            + struct.pack("<IQ", F32, offset)
        )
        places[name] = offset
        size = 4
        for dimension in shape:
            size *= dimension
        offset += -(-size // ALIGNMENT) * ALIGNMENT
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(metadata))
    head += b"".join(metadata) + b"".join(infos)
    head += b"\0" * (-len(head) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(head)
        for name, values in data.items():
            file.seek(len(head) + places[name])
            file.write(values.tobytes())
        file.truncate(len(head) + offset)


def _tokens() -> list[tuple[str, float, int]]:
    """The vocabulary: text, score and kind of each token; the words stand after the bytes."""
    tokens = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    tokens += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    tokens += [(f"\u2581{word}", -float(n), NORMAL) for n, word in enumerate(WORDS, 1)]
    tokens += [(letter, -1000.0, NORMAL) for letter in "\u2581abcdefghijklmnopqrstuvwxyz:.,!?"]
    return tokens


def _table(count: int) -> tuple[Matrix, Matrix]:
    """Embedding and output matrices that map each token to the one that follows it."""
    rng = random.Random(7)

    def signs() -> list[float]:
        return [rng.choice((-1.0, 1.0)) for _ in range(WIDTH)]

    embedding = [signs() for _ in range(count)]
    output = [[0.0] * WIDTH for _ in range(count)]
    first = 3 + 256
    words = range(first, first + len(WORDS))
    # Every token that is no word shares one direction, which leads to the first word.
    direction = signs()
    for token in range(count):
        if token not in words:
            embedding[token] = [
                0.25 * own + shared for own, shared in zip(embedding[token], direction, strict=True)
            ]
    _add(output[first], direction)
    for token in words:
        _add(output[token + 1 if token + 1 in words else EOS], embedding[token])
    return embedding, output


def _add(row: list[float], values: list[float]) -> None:
    for column, value in enumerate(values):
        row[column] += value


def _flat(matrix: Matrix) -> array.array[float]:
    return array.array("f", [value for row in matrix for value in row])


def _shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    """Every tensor of a small llama, in the order of the file."""
    wide = 2 * WIDTH
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (WIDTH, vocabulary),
        "output_norm.weight": (WIDTH,),
        "output.weight": (WIDTH, vocabulary),
    }
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        shapes[f"{block}.attn_norm.weight"] = (WIDTH,)
        shapes[f"{block}.ffn_norm.weight"] = (WIDTH,)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"{block}.{name}.weight"] = (WIDTH, WIDTH)
        shapes[f"{block}.ffn_gate.weight"] = (WIDTH, wide)
        shapes[f"{block}.ffn_up.weight"] = (WIDTH, wide)
        shapes[f"{block}.ffn_down.weight"] = (wide, WIDTH)
    return shapes


def _metadata(tokens: list[tuple[str, float, int]]) -> list[bytes]:
    texts, scores, kinds = (list(column) for column in zip(*tokens, strict=True))
    return [
        _value("general.architecture", STRING, "llama"),
        _value("general.name", STRING, "scripted"),
        _value("general.file_type", UINT32, 0),
        _value("llama.context_length", UINT32, CONTEXT),
        _value("llama.embedding_length", UINT32, WIDTH),
        _value("llama.block_count", UINT32, LAYERS),
        _value("llama.feed_forward_length", UINT32, 2 * WIDTH),
        _value("llama.attention.head_count", UINT32, HEADS),
        _value("llama.attention.head_count_kv", UINT32, HEADS),
        _value("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        _value("llama.rope.dimension_count", UINT32, WIDTH // HEADS),
        _value("llama.vocab_size", UINT32, len(tokens)),
        _value("tokenizer.ggml.model", STRING, "llama"),
        _values("tokenizer.ggml.tokens", STRING, texts),
        _values("tokenizer.ggml.scores", FLOAT32, scores),
        _values("tokenizer.ggml.token_type", INT32, kinds),
        _value("tokenizer.ggml.bos_token_id", UINT32, BOS),
        _value("tokenizer.ggml.eos_token_id", UINT32, EOS),
        _value("tokenizer.ggml.unknown_token_id", UINT32, 0),
        _value("tokenizer.ggml.add_bos_token", BOOL, True),
        _value("tokenizer.ggml.add_space_prefix", BOOL, True),
        _value("tokenizer.chat_template", STRING, TEMPLATE),
    ]


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _packed(kind: int, value: object) -> bytes:
    return _string(str(value)) if kind == STRING else struct.pack(FORMATS[kind], value)


def _value(key: str, kind: int, value: object) -> bytes:
    return _string(key) + struct.pack("<I", kind) + _packed(kind, value)


def _values(key: str, kind: int, values: list[object]) -> bytes:
    head = _string(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(_packed(kind, value) for value in values)
