"""Dataclasses as JSON objects and back, what is not understood being kept.

A record outlives the program that wrote it. Fields that are missing get their defaults; fields,
and values of fields, that a newer program wrote stay as they are until this one changes them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

__all__ = ["freeze", "thaw"]

T = TypeVar("T")


class Strange(ValueError):
    """A value that its field does not have."""


def thaw(cls: type[T], doc: object) -> T:
    """The dataclass of a JSON object. A field whose value is strange gets its default.

    Raises ValueError when `doc` is no object, or a field without a default is not there.
    """
    if not isinstance(doc, Mapping):
        raise Strange(f"no JSON object: {doc!r:.40}")
    known: dict[str, Any] = {}
    for name, kind, needed in _shape(cls):
        if name not in doc:
            if needed:
                raise Strange(f"{name} is missing")
            continue
        try:
            known[name] = _thaw(kind, doc[name])
        except ValueError:
            if needed:
                raise
    return cls(**known)


def freeze(value: object, under: object = None) -> dict[str, Any]:
    """The JSON object of a dataclass, laid over the one that is stored.

    What `under` holds besides stays; so does a strange value that reads as this same value.
    """
    old: Mapping[str, Any] = under if isinstance(under, Mapping) else {}
    doc = dict(old)
    for name, kind, _ in _shape(type(value)):
        now = getattr(value, name)
        if is_dataclass(now):
            doc[name] = freeze(now, old.get(name))
        elif name not in old or _read(value, name, kind, old[name]) != now:
            doc[name] = _plain(now)
    return doc


def _read(value: object, name: str, kind: Any, stored: object) -> object:
    """What a stored value reads as, its default where it is strange."""
    try:
        return _thaw(kind, stored)
    except ValueError:
        field = next(f for f in fields(value) if f.name == name)  # type: ignore[arg-type]
        if field.default_factory is not MISSING:
            return field.default_factory()
        return field.default


def _shape(cls: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Each field with its type, and whether it has no default."""
    known = _SHAPES.get(cls)
    if known is not None:
        return known
    hints = typing.get_type_hints(cls)
    _SHAPES[cls] = made = tuple(
        (f.name, hints[f.name], f.default is MISSING and f.default_factory is MISSING)
        for f in fields(cls)
    )
    return made


_SHAPES: dict[Any, tuple[tuple[str, Any, bool], ...]] = {}


def _thaw(kind: Any, value: object) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _thaw_one_of(typing.get_args(kind), value)
    if origin is tuple:
        (of, *_) = typing.get_args(kind)
        if not isinstance(value, list):
            raise Strange(f"no list: {value!r:.40}")
        return tuple(_thaw(of, one) for one in value)
    if is_dataclass(kind):
        return thaw(typing.cast("type[Any]", kind), value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise Strange(f"no {kind}: {value!r:.40}")
    return value


def _thaw_one_of(kinds: tuple[Any, ...], value: object) -> Any:
    if value is None and type(None) in kinds:
        return None
    for kind in kinds:
        if kind is not type(None):
            try:
                return _thaw(kind, value)
            except ValueError:
                continue
    raise Strange(f"none of {kinds}: {value!r:.40}")


def _plain(value: object) -> object:
    if is_dataclass(value):
        return freeze(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value
