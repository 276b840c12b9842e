"""Dataclasses and named tuples as JSON, and back by their annotations.

Unlike a pickle, it runs nothing when it is read, and data that do not fit raise an error. A value without an annotation
(``object``) comes back as plain JSON: a tuple as a list.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_PLAIN = (str, int, float, bool, NoneType)
_PAIRS = "pairs"
"""Name of the only member of an object of JSON: a mapping, whose keys may be of any type."""
_Reader = Callable[[Any], Any]


def dumped(value: object) -> object:
    """Return the value as :func:`json.dumps` takes it.

    Raises:
        TypeError: A part of it has no form here.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value):
        return [dumped(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {_PAIRS: [[dumped(key), dumped(part)] for key, part in value.items()]}
    if isinstance(value, set | frozenset):
        return sorted(map(dumped, value), key=repr)
    if isinstance(value, tuple | list):
        return [dumped(part) for part in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON.")


def loaded(hint: Any, data: object) -> Any:
    """Return a value of a type from :func:`dumped` data.

    Raises:
        TypeError, ValueError, KeyError: The data do not fit the type.
    """
    return _reader(hint)(data)


@cache
def _reader(hint: Any) -> _Reader:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _any_of([part for part in parts if part is not NoneType])
    if origin is tuple and parts[-1:] != (...,):
        return lambda data: tuple(_reader(part)(one) for part, one in zip(parts, data, strict=True))
    if origin in (tuple, Sequence, Iterable, Collection, list):
        return lambda data: tuple(map(_reader(parts[0]), data))
    if origin in (frozenset, set):
        return lambda data: frozenset(map(_reader(parts[0]), data))
    if origin in (Mapping, dict):
        return lambda data: {_reader(parts[0])(key): _reader(parts[1])(part) for key, part in data[_PAIRS]}
    if hint in _PLAIN:
        return lambda data: _plain(hint, data)
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return _of_class(hint)
    return hint if isinstance(hint, type) and issubclass(hint, Enum | Path) else _untyped


def _any_of(hints: Sequence[Any]) -> _Reader:
    def read(data: Any) -> Any:
        if data is None:
            return None
        for hint in hints[:-1]:
            try:
                return _reader(hint)(data)
            except (TypeError, ValueError, KeyError):
                continue
        return _reader(hints[-1])(data)

    return read


def _of_class(kind: type) -> _Reader:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields

    def read(data: Any) -> Any:
        values = zip(names, data, strict=True)
        return kind(**{name: _reader(hints[name])(value) for name, value in values})

    return read


def _plain(kind: type, data: Any) -> Any:
    if isinstance(data, kind) or (kind is float and isinstance(data, int)):
        return data
    raise TypeError(f"{data!a} is no {kind.__name__}.")


def _untyped(data: Any) -> Any:
    if isinstance(data, dict):
        return {_untyped(key): _untyped(part) for key, part in data[_PAIRS]}
    return [_untyped(part) for part in data] if isinstance(data, list) else data
