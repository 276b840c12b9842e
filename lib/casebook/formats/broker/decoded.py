"""What a decoder hands back: the rows that it could read, and in words what it could not."""

from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Decoded(NamedTuple, Generic[Row]):
    """Rows of a file that need not be whole.

    Args:
        rows: In the file's order, as far as they make sense.
        problems: A sentence each, without the file's name; empty when every byte was understood.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
