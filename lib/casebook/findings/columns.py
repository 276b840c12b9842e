"""Columns of tables: what a table's contract is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Args:
        name: As in the file, and as the attribute of the row, but where that name is a word of Python.
        type: ``int``, ``ints``, ``real``, ``text``, ``texts``, ``flag``, ``json``: a mapping of texts in the row, a JSON
            object in the file, or ``time``: epoch milliseconds in the row, ISO-8601 UTC in the file. Each may be null: unknown,
            unless ``meaning`` says otherwise.
        meaning: One sentence.
    """

    name: str
    type: str
    meaning: str


def columns(*declared: tuple[str, str, str]) -> tuple[Column, ...]:
    """The columns of a table, each as name, type and meaning."""
    return tuple(Column(name=name, type=type_, meaning=meaning) for name, type_, meaning in declared)
