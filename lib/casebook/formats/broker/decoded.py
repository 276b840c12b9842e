"""Result of a decoder: decoded rows, and problems in words."""

from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Decoded(NamedTuple, Generic[Row]):
    """Rows of a possibly incomplete file.

    Args:
        rows: Valid rows, in file order.
        problems: One sentence each, without the file's name; empty when every byte was decoded.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
