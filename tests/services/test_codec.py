"""Dataclasses as JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import get_args, get_type_hints

import pytest

from staticfire.readiness import Record, Status
from staticfire.readiness.evidence import Evidence
from staticfire.services.codec import freeze, thaw
from staticfire.services.service import Lease, Life, Patience, Service


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    count: int = 0
    at: int | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    colour: Colour = Colour.RED
    ratio: float = 1.0
    inner: Inner = field(default_factory=Inner)
    maybe: Inner | None = None
    words: tuple[str, ...] = ()
    yes: bool = False


WHOLE = Outer("a", Colour.BLUE, 0.5, Inner(3, 7), Inner(1), ("x", "y"), yes=True)


def test_a_value_comes_back():
    """Through JSON text and back, every kind of field is what it was."""
    doc = json.loads(json.dumps(freeze(WHOLE)))
    assert thaw(Outer, doc) == WHOLE
    assert thaw(Outer, freeze(Outer("b"))) == Outer("b")


def test_missing_fields_get_their_defaults():
    """A record of an older program is read."""
    assert thaw(Outer, {"name": "a", "inner": {"count": 2}}) == Outer("a", inner=Inner(2))


@pytest.mark.parametrize("doc", [[], "x", None, {}, {"name": 3}, {"name": None}])
def test_what_is_no_record_is_refused(doc):
    """A field without a default must be there, and be of its type."""
    with pytest.raises(ValueError, match=r"."):
        thaw(Outer, doc)


def test_unknown_fields_stay():
    """What a newer program wrote is still there after this one wrote, nested ones too."""
    doc = freeze(WHOLE) | {"new": [1, {"deep": 2}]}
    doc["inner"]["newer"] = "kept"
    doc["maybe"]["newest"] = None
    changed = replace(thaw(Outer, doc), name="b", inner=Inner(9))
    written = freeze(changed, doc)
    assert written["new"] == [1, {"deep": 2}]
    assert written["inner"] == {"count": 9, "at": None, "newer": "kept"}
    assert written["maybe"]["newest"] is None
    assert thaw(Outer, written) == changed


@pytest.mark.parametrize(
    ("name", "strange", "reads"),
    [
        ("colour", "green", Colour.RED),
        ("ratio", "fast", 1.0),
        ("yes", 1, False),
        ("words", "x", ()),
        ("words", ["x", 3], ()),
        ("maybe", 5, None),
        ("inner", 5, Inner()),
    ],
)
def test_strange_values_read_as_the_default_and_stay(name, strange, reads):
    """A value that only a newer program knows is not written over until it is changed here."""
    doc = freeze(WHOLE) | {name: strange}
    read = thaw(Outer, doc)
    assert getattr(read, name) == reads
    written = freeze(replace(read, name="b"), doc)
    if name != "inner":  # an object is merged key by key
        assert written[name] == strange
    assert written["name"] == "b"


def test_a_strange_value_gives_way_to_a_change():
    """Once this program knows better, its own value is written."""
    doc = freeze(WHOLE) | {"colour": "green"}
    written = freeze(replace(thaw(Outer, doc), colour=Colour.BLUE), doc)
    assert written["colour"] == "blue"


def test_an_integer_is_a_float():
    """JSON of other programs writes 1.0 as 1."""
    assert thaw(Outer, {"name": "a", "ratio": 2}).ratio == 2.0


def sample(cls, depth=0):
    """A value of a dataclass in which no field has its default."""
    made = {}
    for one in fields(cls):
        kind = get_type_hints(cls)[one.name]
        made[one.name] = value_of(kind, depth)
    return cls(**made)


def value_of(kind, depth):
    args = [a for a in get_args(kind) if a is not type(None)]
    if args and kind.__class__.__name__ != "GenericAlias":
        return value_of(args[0], depth)
    if kind.__class__.__name__ == "GenericAlias":
        return (value_of(args[0], depth),)
    if is_dataclass(kind):
        return sample(kind, depth + 1)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return list(kind)[-1]
    return {str: "word", int: 7, float: 2.5, bool: True}[kind]


@pytest.mark.parametrize("cls", [Service, Life, Lease, Patience, Record, Evidence])
def test_every_field_of_what_is_stored_comes_back(cls):
    """A field whose type the codec cannot carry is found here, whoever adds it."""
    value = sample(cls)
    assert thaw(cls, json.loads(json.dumps(freeze(value)))) == value


def test_a_status_of_a_newer_program_reads_as_starting():
    """It is not an error, and a list by this program leaves it as it is."""
    record = thaw(Record, {"status": "hibernating"})
    assert record.status is Status.STARTING
    assert freeze(replace(record, passes=1), {"status": "hibernating"})["status"] == "hibernating"
