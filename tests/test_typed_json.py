"""Values as JSON and back: equal, of the same types, and never half of one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.machine import typed_json


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(NamedTuple):
    at: tuple[str, int]
    colour: Colour | None
    where: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    known: bool | None
    share: float
    rows: tuple[Inner, ...]
    by_place: Mapping[tuple[str, int], Inner]
    by_colour: Mapping[Colour, int]
    names: frozenset[str]
    told: Sequence[str | int] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
INNER = st.builds(
    Inner,
    at=st.tuples(st.text(), st.integers()),
    colour=st.none() | st.sampled_from(Colour),
    where=st.none() | st.just(Path("/a/b")),
)
OUTER = st.builds(
    Outer,
    name=st.text(),
    known=st.none() | st.booleans(),
    share=st.floats(allow_nan=False),
    rows=st.lists(INNER).map(tuple),
    by_place=st.dictionaries(st.tuples(st.text(), st.integers()), INNER),
    by_colour=st.dictionaries(st.sampled_from(Colour), st.integers()),
    names=st.frozensets(st.text()),
    told=st.lists(st.text() | st.integers()).map(tuple),
    facts=st.dictionaries(st.text(), PLAIN | st.lists(PLAIN) | st.dictionaries(st.integers() | st.text(), PLAIN)),
)


def again(value: object, hint: object) -> object:
    return typed_json.loaded(hint, json.loads(json.dumps(typed_json.dumped(value))))


@given(OUTER)
def test_the_same_comes_back(value):
    found = again(value, Outer)
    assert found == value
    assert all(isinstance(row, Inner) and isinstance(row.at, tuple) for row in found.rows)


@pytest.mark.parametrize(
    ("hint", "data"),
    [
        (int, "1"),
        (Inner, [["a", 1]]),
        (Inner, [["a", 1, 2], None, None]),
        (Colour, "green"),
        (tuple[int, ...], ["x"]),
        (Outer, []),
    ],
)
def test_what_does_not_fit_is_an_error(hint, data):
    with pytest.raises((TypeError, ValueError, KeyError)):
        typed_json.loaded(hint, data)


def test_what_has_no_form_is_an_error():
    with pytest.raises(TypeError):
        typed_json.dumped(object())
