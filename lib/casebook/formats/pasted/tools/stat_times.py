"""Dates of a znode's ``stat`` in Java's notation (``StatPrinter.java@release-3.4.6``)."""

import re
from datetime import datetime, timedelta, timezone

_HOURS = {"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9,
          "EST": -5, "EDT": -4, "MST": -7, "MDT": -6, "PDT": -7}  # fmt: skip
"""Zone names that Java prints with a single meaning; CST, IST, BST and the like have several."""
_DATE = re.compile(r"\w{3} (\w{3} [ \d]\d \d\d:\d\d:\d\d) ([A-Z]{2,5}|GMT[+-]\d\d:\d\d|[+-]\d\d:?\d\d) (\d{4})")


def parsed(text: str) -> int | None:
    """Parse a date as epoch milliseconds, of whole seconds: no more is printed; ``None`` for an ambiguous zone."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    hours = _HOURS.get(found[2])
    if hours is None:
        offset = re.fullmatch(r"(?:GMT)?([+-])(\d\d):?(\d\d)", found[2])
        if offset is None:
            return None
        minutes = (60 * int(offset[2]) + int(offset[3])) * (-1 if offset[1] == "-" else 1)
    else:
        minutes = 60 * hours
    try:
        moment = datetime.strptime(f"{found[1]} {found[3]}", "%b %d %H:%M:%S %Y")
        return int(moment.replace(tzinfo=timezone(timedelta(minutes=minutes))).timestamp()) * 1000
    except (ValueError, OverflowError):
        return None
