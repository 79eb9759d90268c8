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


def test_an_embeddings_model_says_so_in_its_labels():
    """Lemonade labels its models; only a label makes one an embeddings model."""
    models = parse(b'{"data":[{"id":"e","labels":["embeddings"]},{"id":"embeddings"}]}')
    assert models is not None
    assert [m.embeds for m in models] == [True, False]
