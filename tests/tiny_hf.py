"""A tiny Llama checkpoint whose words are known, laid out as a cache of Hugging Face's.

Output projections are zero, so the network is a table from the last token to the next: any prompt is
answered with the scripted words and an end. It needs torch, safetensors and tokenizers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from staticfire.stand.lanes.gguf import WORDS

REVISION = "0123456789abcdef0123456789abcdef01234567"
SPECIAL = ("<unk>", "<s>", "</s>")
WIDTH, LAYERS, HEADS, INNER = 128, 2, 4, 256
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def write_cache(home: Path, name: str) -> None:
    """Write the model `name` into the cache below `home`."""
    folder = home / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "blobs").mkdir()
    (folder / "refs" / "main").write_text(REVISION)
    write_model(snapshot)


def write_model(folder: Path) -> None:
    """Write configuration, tokenizer and weights."""
    ids = _write_tokenizer(folder)
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS, "head_dim": WIDTH // HEADS, "vocab_size": len(ids),
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
        "dtype": "bfloat16", "initializer_range": 0.02,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    generation = {"bos_token_id": 1, "eos_token_id": 2, "do_sample": False}
    (folder / "generation_config.json").write_text(json.dumps(generation))
    _write_weights(folder, ids)


def _write_tokenizer(folder: Path) -> dict[str, int]:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = [*SPECIAL, *letters, *(f"\u0120{word}" for word in WORDS)]
    merges, made = [], set(letters)
    for word in WORDS:  # each word is built from left to right
        symbol = "\u0120"
        for letter in word:
            longer = symbol + letter
            if longer not in made:
                merges.append((symbol, letter))
                made.add(longer)
                if longer not in vocabulary:
                    vocabulary.append(longer)
            symbol = longer
    ids = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges, unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "model_max_length": 2048, "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return ids


def _write_weights(folder: Path, ids: dict[str, int]) -> None:
    import torch
    from safetensors.torch import save_file

    chance = torch.Generator().manual_seed(7)

    def signs(*shape: int) -> Any:
        return torch.randint(0, 2, shape, generator=chance).float() * 2 - 1

    embedding, head = signs(len(ids), WIDTH), torch.zeros(len(ids), WIDTH)
    bias = signs(WIDTH)
    script = [ids[f"\u0120{word}"] for word in WORDS]
    for token in range(len(ids)):
        if token not in script:
            embedding[token] = 0.25 * embedding[token] + bias
    head[script[0]] += bias
    for place, token in enumerate(script):
        head[script[place + 1] if place + 1 < len(script) else 2] += embedding[token]
    kind = torch.bfloat16
    weights = {
        "model.embed_tokens.weight": embedding.to(kind),
        "lm_head.weight": head.to(kind),
        "model.norm.weight": torch.ones(WIDTH, dtype=kind),
    }
    for layer in range(LAYERS):
        name = f"model.layers.{layer}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{name}{norm}.weight"] = torch.ones(WIDTH, dtype=kind)
        for part in "qkvo":
            weights[f"{name}self_attn.{part}_proj.weight"] = torch.zeros(WIDTH, WIDTH, dtype=kind)
        for part, shape in (("gate", (INNER, WIDTH)), ("up", (INNER, WIDTH)),
                            ("down", (WIDTH, INNER))):  # fmt: skip
            weights[f"{name}mlp.{part}_proj.weight"] = torch.zeros(*shape, dtype=kind)
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
