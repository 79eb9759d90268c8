"""The model list of an engine, read in each dialect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Listed", "find", "parse", "same_model"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One model that an engine lists, with every other name it goes by."""

    id: str
    aliases: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """What the list says that it is: Lemonade's labels, Ollama's and llama.cpp's capabilities, the
    `type` or `task` of others."""

    @property
    def kind(self) -> str:
        """Which route it is asked on: embeddings when all that it says is that, completion when
        it says that it is a base model, else chat.
        """
        words = {label.lower() for label in self.labels}
        if words & CHATS:
            return "chat"
        if any(word.startswith(("embed", "feature-extraction")) for word in words):
            return "embeddings"
        return "completion" if words & BASE else "chat"


CHATS = frozenset(("chat", "completion", "llm", "vlm", "text-generation", "generate"))
"""Words of models that have a chat route; llama.cpp and Ollama call it `completion`."""
BASE = frozenset(("base", "language", "text-completion", "completions"))
"""Words of models that have none."""


def parse(body: bytes) -> tuple[Listed, ...] | None:
    """The models of a `/v1/models` body, in order; None when it is no model list.

    `data[]` is OpenAI's; a `models[]` beside or instead of it is Ollama's (llama.cpp sends both).
    """
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(page, dict):
        return None
    data, other = page.get("data"), page.get("models")
    rows = data if isinstance(data, list) else other
    if not isinstance(rows, list):
        return None
    models = tuple(model for row in rows if (model := _listed(row)) is not None)
    if rows is other or not isinstance(other, list):
        return models
    beside = [model for row in other if (model := _listed(row)) is not None]
    return tuple(_with_labels(model, beside) for model in models)


def _listed(row: Any) -> Listed | None:
    if not isinstance(row, dict):
        return None
    names = [row[key] for key in ("id", "model", "name") if _is_name(row.get(key))]
    if not names:
        return None
    said = [*_names(row.get("labels")), *_names(row.get("capabilities"))]
    said += [row[key] for key in ("type", "task") if _is_name(row.get(key))]
    return Listed(names[0], (*names[1:], *_names(row.get("aliases"))), tuple(said))


def _with_labels(model: Listed, beside: Iterable[Listed]) -> Listed:
    """The model with what the second list says of it: llama.cpp tells capabilities only there."""
    said = (label for other in beside if other.id == model.id for label in other.labels)
    return replace(model, labels=tuple(dict.fromkeys((*model.labels, *said))))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(name for name in value if _is_name(name)) if isinstance(value, list) else ()


def same_model(asked: str, name: str) -> bool:
    """True when two names are one model: equal, or equal but for a revision that one leaves out.

    Never generous: another organization's model of the same name is another model.
    """
    if asked == name:
        return True
    asked_id, _, asked_revision = asked.partition("@")
    name_id, _, name_revision = name.partition("@")
    return asked_id == name_id and not (asked_revision and name_revision)


def find(models: Iterable[Listed], asked: str) -> Listed | None:
    """The listed model that `asked` names: an exact id first, then an alias or a revision."""
    listed = tuple(models)
    for model in listed:
        if model.id == asked:
            return model
    for model in listed:
        if any(same_model(asked, name) for name in (model.id, *model.aliases)):
            return model
    return None
