"""Time zones of logs: parsing ``timezone=``, and the value to set when clocks are off by a zone."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from casebook.errors import UsageError

_USUAL = (
    "Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago", "America/Denver",
    "America/Los_Angeles", "America/Halifax", "America/St_Johns", "Australia/Sydney", "Australia/Adelaide", "Pacific/Auckland",
    "Asia/Jerusalem", "America/Santiago",
)  # fmt: skip
"""Zones with daylight saving time, one for each pair of offsets."""

_OFFSET = re.compile(r"[+-](?:0\d|1[0-4]):[0-5]\d")
"""Hours and minutes ahead of UTC, or behind."""


class Zones:
    """Time zones of brokers' lines.

    Args:
        usual: Zone of every log without its own.
        by_broker: Zones of single brokers.
    """

    def __init__(self, usual: str | None = None, by_broker: Mapping[int, str] | None = None) -> None:
        self._usual, self._by_broker = usual or "UTC", by_broker or {}

    @classmethod
    def parse(cls, text: str) -> "Zones":
        """Parse ``Europe/Berlin`` for every log, or with exceptions by broker: ``UTC, 2=Asia/Shanghai, 3=+05:30``.

        Raises:
            UsageError: The zone does not exist, or two are given for every log.
        """
        by_broker: dict[int, str] = {}
        usual: str | None = None
        for part in filter(None, map(str.strip, text.split(","))):
            broker, equals, name = part.partition("=")
            if equals and broker.strip().isdecimal():
                by_broker[int(broker)] = _zone(name.strip())
            elif usual is None:
                usual = _zone(part)
            else:
                raise UsageError(f"timezone={text} names two zones for every log.", try_="Write exceptions as BROKER=ZONE.")
        return cls(usual, by_broker)

    def of(self, broker: int | None) -> str:
        """Return the zone name of a broker's log."""
        return self._by_broker.get(broker, self._usual)

    def clock(self, broker: int) -> tzinfo:
        """Return the same zone for Python."""
        name = self.of(broker)
        return datetime.strptime(name, "%z").tzinfo if _OFFSET.fullmatch(name) else ZoneInfo(name)


def _zone(name: str) -> str:
    if _OFFSET.fullmatch(name):
        return name
    if name not in available_timezones() or ("/" not in name and name != "UTC"):  # Java lacks localtime, EST and ROC
        raise UsageError(
            f"timezone={name} is unknown.",
            try_="Name a zone by area and city, such as Europe/Berlin, an offset, such as +05:30, or UTC.",
        )
    return name


def typed(timezone: str, found: Mapping[int, str]) -> str:
    """Return the parameter value with detected zones of single brokers: ``UTC, 2=+08:00``."""
    usual, by_broker = _parts(timezone)
    return ", ".join([usual, *(f"{broker}={zone}" for broker, zone in sorted((by_broker | found).items()))])


def offset(timezone: str, broker: int, ahead: int, at: int) -> str:
    """Return the zone of a broker's log: ``+05:30``.

    Args:
        timezone: Zone it was read with.
        broker: Broker of the log.
        ahead: Milliseconds by which its times are ahead then.
        at: A moment of it, as read.
    """
    return _spelled(of(timezone, broker, ahead, at))


def is_of(timezone: str, broker: int, moments: Iterable[tuple[int, timedelta]]) -> bool:
    """Return whether a log was read with its own zone.

    Args:
        timezone: Zone it was read with.
        broker: Broker of the log.
        moments: Moments with their printed offset.
    """
    return all(_offset(timezone, broker, at) == by for at, by in moments)


def told(moments: Collection[tuple[int, timedelta]]) -> str | None:
    """Return the zone that a log prints: ``-04:00``, or a usual one with all of several offsets; ``None`` without one.

    Args:
        moments: Moments with their printed offset.
    """
    each = {by for _, by in moments}
    return _spelled(each.pop()) if len(each) == 1 else _usual(moments)


def of(timezone: str, broker: int, ahead: int, at: int) -> timedelta:
    """Return the UTC offset of a broker's log; arguments as in :func:`offset`."""
    return _offset(timezone, broker, at) + timedelta(milliseconds=ahead)


def region(timezone: str, broker: int, moments: Iterable[tuple[int, int]]) -> str | None:
    """Return a zone with these offsets at these moments; ``None`` if none of the usual ones matches.

    Args:
        timezone: Zone it was read with.
        broker: Broker of the log.
        moments: Moments with the milliseconds by which times were ahead.
    """
    wanted = [(at - ahead, _offset(timezone, broker, at) + timedelta(milliseconds=ahead)) for at, ahead in moments]
    return _usual(wanted)


def doubled(timezone: str, broker: int | None, step: tuple[int, int], by: int) -> bool:
    """Return whether a step is the repeated hour at the end of summer time, read as the first both times.

    Args:
        timezone: Zone it was read with.
        broker: Broker of the log.
        step: Moments before and after it, as read.
        by: Size of the step in milliseconds.
    """
    usual, by_broker = _parts(timezone)
    try:
        zone = ZoneInfo(by_broker.get(broker, usual))
    except (ZoneInfoNotFoundError, ValueError):
        return False
    at = datetime.fromtimestamp(step[0 if by > 0 else 1] / 1000, zone)
    twice = at.replace(fold=0).utcoffset() - at.replace(fold=1).utcoffset()
    return twice == timedelta(milliseconds=abs(by)) != timedelta()


def _parts(timezone: str) -> tuple[str, dict[int, str]]:
    usual, by_broker = "UTC", {}
    for part in filter(None, map(str.strip, timezone.split(","))):
        broker, equals, name = part.partition("=")
        if equals:
            by_broker[int(broker)] = name.strip()
        else:
            usual = part
    return usual, by_broker


def _offset(timezone: str, broker: int, at: int) -> timedelta:
    usual, by_broker = _parts(timezone)
    name = by_broker.get(broker, usual)
    if name[:1] in "+-":
        hours, minutes = map(int, name[1:].split(":"))
        return (-1 if name[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes)
    return _of(name, at) or timedelta()


def _usual(offsets: Collection[tuple[int, timedelta]]) -> str | None:
    """Return a usual zone with all these offsets, each at its moment."""
    return next((name for name in _USUAL if all(_of(name, at) == by for at, by in offsets)), None)


def _of(name: str, at: int) -> timedelta | None:
    try:
        return datetime.fromtimestamp(at / 1000, UTC).astimezone(ZoneInfo(name)).utcoffset()
    except ZoneInfoNotFoundError:
        return None


def _spelled(by: timedelta) -> str:
    minutes = round(by.total_seconds() / 60)
    return "UTC" if not minutes else f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
