"""The model list of an engine, read in each dialect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Listed", "find", "parse", "same_model"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One model that an engine lists, with every other name it goes by."""

    id: str
    aliases: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def embeds(self) -> bool:
        """True for a model that has no chat route, as its labels say (Lemonade has them)."""
        return any(label.startswith("embedding") for label in self.labels)


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
    rows = page.get("data") if isinstance(page.get("data"), list) else page.get("models")
    if not isinstance(rows, list):
        return None
    return tuple(model for row in rows if (model := _listed(row)) is not None)


def _listed(row: Any) -> Listed | None:
    if not isinstance(row, dict):
        return None
    names = [row[key] for key in ("id", "model", "name") if _is_name(row.get(key))]
    if not names:
        return None
    return Listed(names[0], (*names[1:], *_names(row.get("aliases"))), _names(row.get("labels")))


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
