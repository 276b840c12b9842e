"""The columns of a table, as the class of its rows describes them.

The section ``Columns:`` of its docstring is the contract with scripts: a column per line, in file order, each with its meaning in
the file, where ``None`` is null. ``verdict as class: ...`` names a column that is a Python keyword. Other attributes of a row are
in ``Args:``.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc, getsource
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from casebook.facts.times import EpochMs

_SECTION = re.compile(r"^Columns:\n((?: {4}.*\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+)(?: as (\w+))?: (.*(?:\n {8}.*)*)", re.MULTILINE)
_TYPES = {int: "int", float: "real", bool: "flag", tuple[int, ...]: "ints", tuple[str, ...]: "texts", EpochMs: "time"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Args:
        name: As in the file.
        attribute: Of the row.
        type: ``int``, ``ints``, ``real``, ``text``, ``texts``, ``flag``, ``json``: a mapping of texts in the row, a JSON
            object in the file, or ``time``: epoch milliseconds in the row, ISO-8601 UTC in the file. Each may be null: unknown,
            unless ``meaning`` says otherwise.
        meaning: One sentence.
    """

    name: str
    attribute: str
    type: str
    meaning: str


@cache
def columns(row: type) -> tuple[Column, ...]:
    """The columns of a table whose rows are of this class."""
    entries = _ENTRY.findall((_SECTION.search(cleandoc(row.__doc__)) or _SECTION.search(_written(row)))[1])
    return tuple(
        Column(name=name or attribute, attribute=attribute, type=_type(row, attribute), meaning=re.sub(r"\s+", " ", meaning))
        for attribute, name, meaning in entries
    )


def _written(row: type) -> str:
    """Its docstring as the source has it: ``python -OO`` drops them."""
    return ast.get_docstring(ast.parse(getsource(row)).body[0])


def _type(row: type, attribute: str) -> str:
    """Return the type by the annotation of the row's attribute; ``None`` in it is ignored, as each column may be null."""
    told = get_type_hints(row, include_extras=True)
    hint = told[attribute] if attribute in told else get_type_hints(getattr(row, attribute).fget)["return"]
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
    if get_origin(hint) is Mapping:
        return "json"
    return "text" if isinstance(hint, type) and issubclass(hint, str) else _TYPES[hint]
