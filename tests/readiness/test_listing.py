"""Model lists in each dialect."""

from __future__ import annotations

import json

import pytest

from staticfire.readiness.listing import find, parse, same_model


def ids(page: object) -> list[str] | None:
    models = parse(json.dumps(page).encode())
    return None if models is None else [m.id for m in models]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({"object": "list", "data": [{"id": "qwen"}, {"id": "phi"}]}, ["qwen", "phi"]),
        ({"models": [{"name": "tiny", "model": "tiny"}], "data": [{"id": "tiny"}]}, ["tiny"]),
        ({"models": [{"name": "tiny", "model": "tiny:1"}]}, ["tiny:1"]),
        ({"data": []}, []),
        ({"data": [{"id": ""}, {"id": 4}, "qwen", None]}, []),
        ({"data": {"id": "qwen"}}, None),
        ({"error": "no"}, None),
        (["qwen"], None),
    ],
)
def test_lists_are_read_in_each_dialect(page, expected):
    """OpenAI's `data`, else Ollama's `models`; rows without a name are passed over."""
    assert ids(page) == expected


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[" * 5000])
def test_garbage_is_no_list(body):
    """A page that is no JSON is None, never an error."""
    assert parse(body) is None


@pytest.mark.parametrize(
    ("asked", "name", "same"),
    [
        ("qwen", "qwen", True),
        ("lab/tiny", "lab/tiny@main", True),
        ("lab/tiny@main", "lab/tiny", True),
        ("lab/tiny@main", "lab/tiny@dev", False),
        ("lab/tiny", "other/tiny", False),
        ("tiny", "lab/tiny", False),
        ("Qwen", "qwen", False),
        ("qwen", "qwen-2", False),
    ],
)
def test_a_name_is_never_guessed(asked, name, same):
    """Equal, or equal but for a revision that one side leaves out; nothing more generous."""
    assert same_model(asked, name) is same


def test_a_model_is_found_by_alias():
    """An alias is a name; an exact id comes before it."""
    models = parse(
        json.dumps({"data": [{"id": "a", "aliases": ["b"]}, {"id": "b"}, {"id": "c@1"}]}).encode()
    )
    assert models is not None
    assert find(models, "b").id == "b"
    assert find(models[:1], "b").id == "a"
    assert find(models, "c").id == "c@1"
    assert find(models, "d") is None


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"labels": ["embeddings"]}, "embeddings"),  # Lemonade
        ({"capabilities": ["embedding"]}, "embeddings"),  # Ollama
        ({"capabilities": ["completion", "embedding"]}, "chat"),
        ({"capabilities": ["completion"]}, "chat"),  # llama.cpp: it generates
        ({"type": "embedding"}, "embeddings"),
        ({"type": "language"}, "completion"),
        ({"type": "model"}, "chat"),
        ({"task": "text-generation"}, "chat"),
        ({"labels": "embeddings"}, "chat"),  # no list: nothing said
        ({}, "chat"),
    ],
)
def test_the_list_says_which_route_a_model_has(said, kind):
    """Its labels, capabilities, type or task; a name says nothing."""
    models = parse(json.dumps({"data": [{"id": "embeddings"} | said]}).encode())
    assert models is not None
    assert models[0].kind == kind


def test_what_the_second_list_says_counts_too():
    """llama.cpp lists twice, and tells capabilities in the Ollama list only."""
    page = {"data": [{"id": "e"}], "models": [{"name": "e", "capabilities": ["embedding"]}]}
    models = parse(json.dumps(page).encode())
    assert models is not None
    assert [(m.id, m.kind) for m in models] == [("e", "embeddings")]
