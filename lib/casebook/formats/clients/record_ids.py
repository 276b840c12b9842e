"""What identifies a record, as a parameter says it: the same words find the id in a ledger and in what is stored."""

import re
from enum import StrEnum
from typing import NamedTuple

from casebook.errors import UsageError

_PATH = re.compile(r"\$(?:\.[^\s.\[\]'\"*]+|\[\d{1,9}\]|\['[^'\[\]*]+'\])+")
_NAMED_GROUP = re.compile(r"(?<!\\)\(\?P?<(?![=!])")
_FORMS = "It is key, header:NAME, value:$.path.to.it, value:/regular expression/, hash or offset."


class IdKind(StrEnum):
    """Where an id is found."""

    KEY = "key"
    HEADER = "header"
    PATH = "path"
    PATTERN = "pattern"
    HASH = "hash"
    OFFSET = "offset"


class RecordId(NamedTuple):
    """Where the id of a record is.

    Args:
        kind: ``key``, its UTF-8 text; ``header``, that of the last one of a name; ``path``, what the value holds there, if it is
            JSON; ``pattern``, what is found first in the value's text; ``hash``, the SHA-256 of the key's bytes, a zero byte and
            the value's bytes, in small hexadecimal digits, where none counts as empty; ``offset``: where it lies is all there is.
        argument: The header's name, the JSON path, or the regular expression as Java writes it.
        group: Of the expression that is the id: its first, or all that was found where it has none.
    """

    kind: IdKind
    argument: str | None = None
    group: int = 0

    @property
    def of_value(self) -> bool:
        """Whether the value must be read to find it."""
        return self.kind in (IdKind.PATH, IdKind.PATTERN, IdKind.HASH)


def parse(text: str) -> RecordId:
    """Read the parameter.

    Args:
        text: ``key``, ``header:NAME``, ``value:$.a.b``, ``value:/regex/``, ``hash`` or ``offset``.

    Raises:
        UsageError: It is none of these, or its path or expression is none.
    """
    text = text.strip()
    if text in (IdKind.KEY, IdKind.HASH, IdKind.OFFSET):
        return RecordId(IdKind(text))
    where, _, what = text.partition(":")
    if where == "header" and what:
        return RecordId(IdKind.HEADER, what)
    if where == "value" and what.startswith("$"):
        return _path(what)
    if where == "value" and len(what) > 2 and what[0] == what[-1] == "/":
        return _pattern(what[1:-1])
    raise UsageError(f"{text!r} does not say where the id of a record is.", try_=_FORMS)


def _path(text: str) -> RecordId:
    """Checked here, as Spark finds nothing at a path that it cannot read (``get_json_object``)."""
    if not _PATH.fullmatch(text):
        raise UsageError(f"{text!r} is not a path into JSON.", try_="Write it as $.order.id, $.items[0].id or $['order id'].")
    return RecordId(IdKind.PATH, text)


def _pattern(text: str) -> RecordId:
    """Named groups may be written as Python or as Java does; otherwise both must be able to read it."""
    try:
        groups = re.compile(_NAMED_GROUP.sub("(?P<", text)).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"/{text}/ is not a regular expression.", cause=f"{error}.") from None
    return RecordId(IdKind.PATTERN, _NAMED_GROUP.sub("(?<", text), min(groups, 1))
