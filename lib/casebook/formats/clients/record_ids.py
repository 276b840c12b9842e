"""Location of a record's id, from a parameter: the same for a ledger and for stored records."""

import re
from enum import StrEnum
from typing import NamedTuple

from casebook.errors import UsageError

_PATH = re.compile(r"\$(?:\.[^\s.\[\]'\"*]+|\[\d{1,9}\]|\['[^'\[\]*]+'\])+")
_NAMED_GROUP = re.compile(r"(?<!\\)\(\?P?<(?![=!])")
_FORMS = "It is key, header:NAME, value:$.path.to.it, value:/regular expression/, hash or offset."


class IdKind(StrEnum):
    """Kind of location."""

    KEY = "key"
    HEADER = "header"
    PATH = "path"
    PATTERN = "pattern"
    HASH = "hash"
    OFFSET = "offset"


class RecordId(NamedTuple):
    """Location of a record's id.

    Args:
        kind: ``key``, its UTF-8 text; ``header``, the last one of a name; ``path``, in a JSON value; ``pattern``, the first match
            in the value's text; ``hash``, the SHA-256 of the key's bytes, a zero byte and the value's bytes, in lower-case
            hexadecimal, with empty for none; ``offset``: no other id.
        argument: Header name, JSON path, or regular expression in Java's syntax.
        group: Group of the expression with the id: the first, or the whole match without any.
    """

    kind: IdKind
    argument: str | None = None
    group: int = 0

    @property
    def of_value(self) -> bool:
        """Whether the value must be read."""
        return self.kind in (IdKind.PATH, IdKind.PATTERN, IdKind.HASH)


def parse(text: str) -> RecordId:
    """Parse the parameter.

    Args:
        text: ``key``, ``header:NAME``, ``value:$.a.b``, ``value:/regex/``, ``hash`` or ``offset``.

    Raises:
        UsageError: It is none of these, or its path or expression is invalid.
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
    """Checked here, as Spark returns nothing for an invalid path (``get_json_object``)."""
    if not _PATH.fullmatch(text):
        raise UsageError(f"{text!r} is not a path into JSON.", try_="Write it as $.order.id, $.items[0].id or $['order id'].")
    return RecordId(IdKind.PATH, text)


def _pattern(text: str) -> RecordId:
    """Named groups may use Python's or Java's syntax; otherwise both must accept it."""
    try:
        groups = re.compile(_NAMED_GROUP.sub("(?P<", text)).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"/{text}/ is not a regular expression.", cause=f"{error}.") from None
    return RecordId(IdKind.PATTERN, _NAMED_GROUP.sub("(?<", text), min(groups, 1))
