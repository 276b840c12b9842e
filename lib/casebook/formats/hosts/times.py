"""Times in sysstat's output: dates in the locale's order, clocks of 12 and 24 hours, mostly without a zone.

Source: ``print_gal_header``, ``set_record_timestamp_string`` in ``common.c`` and ``sa_common.c`` (sysstat 12.6.1).
"""

import re
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_MOMENT = re.compile(
    r"(?P<date>\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[T ]+(?P<clock>\d{1,2}:\d\d:\d\d)(?: ?(?P<half>[AP]M))?"
    r" ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)


class PrintedTime(NamedTuple):
    """A printed moment.

    Args:
        at: Epoch milliseconds.
        zoned: Whether it has a zone.
    """

    at: int
    zoned: bool


def day(text: str, *, halves: bool = False) -> date | None:
    """Parse a date; ``None`` when invalid.

    In ``03/04/26`` the month comes first, as in the C and American locales, unless impossible; never between dots.

    Args:
        halves: The clock next to it has 12 hours: the locale is American.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    first, mark, second, third = int(match[1]), match[2], int(match[3]), int(match[4])
    if len(match[1]) == 4:
        order = (first, second, third)
    else:
        year = third if third > 99 else 2000 + third
        is_day_first = mark == "." or (first > 12 and not halves)
        order = (year, second, first) if is_day_first else (year, first, second)
    try:
        return date(*order)
    except ValueError:
        return None


def seconds(clock: str, half: str | None) -> int | None:
    """Return the second of the day of ``07:21:24`` with ``PM`` or ``None``; ``None`` when invalid."""
    hours, minutes, second = map(int, clock.split(":"))
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half == "PM" else 0)
    return hours * 3600 + minutes * 60 + second if hours < 24 and minutes < 60 and second < 61 else None


def at(of: date, second: int, zone: tzinfo) -> int | None:
    """Return epoch milliseconds of a second of a day; ``None`` outside the calendar's range."""
    try:
        local = datetime(of.year, of.month, of.day) + timedelta(seconds=second)
        return round(local.replace(tzinfo=zone).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def stamp(text: str, zone: tzinfo) -> PrintedTime | None:
    """Parse a line with only a moment: ``11/26/26 19:21:26``, ``2026-11-26T19:21:58+0000``; else ``None``."""
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        return None
    of, second = day(match["date"], halves=match["half"] is not None), seconds(match["clock"], match["half"])
    if of is None or second is None:
        return None
    told = match["zone"]
    if told:
        zone = datetime.strptime("+0000" if told in ("Z", "UTC") else told, "%z").tzinfo
    moment = at(of, second, zone)
    return None if moment is None else PrintedTime(moment, bool(told))
