"""Format numbers, moments, brokers and verbs for people, in findings and on pages; unknown values are a question mark."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from casebook.facts.cluster import instant

THIN = "\u202f"
"""The narrow space that no line breaks at: between thousands, and on a page before a unit."""
UNKNOWN = "?"

_TWO_DAYS = 2880
"""In minutes."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in a spreadsheet, or that it skips before one; the last four are full-width forms of the
first."""

Instant = str | int | None
"""ISO-8601 text or epoch milliseconds; ``None`` when unknown."""


def count(value: int | None) -> str:
    """``29``, ``100\u202f000``: a narrow space at each thousand."""
    return UNKNOWN if value is None else f"{value:,}".replace(",", THIN)


def plural(value: int, noun: str, many: str = "") -> str:
    """``1 partition``, ``2 partitions``; ``2 copies`` where ``many`` says so."""
    return f"{count(value)} {noun if value == 1 else many or f'{noun}s'}"


def size(value: int | None) -> str:
    """Bytes as ``812 B``, ``1.1 MiB``, ``205 GiB``: three significant digits."""
    if value is None:
        return UNKNOWN
    amount, unit = float(value), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1000:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def duration(milliseconds: int, rounded: Callable[[float], int] = round) -> str:
    """``350 ms``, ``42 s``, ``1 min 42 s``, ``57 min``, ``2 h 5 min``, ``12 days 2 h``; bounds are rounded outward."""
    seconds = rounded(milliseconds / 1000)
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if seconds < 600:
        return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    minutes = rounded(seconds / 60)
    if minutes < _TWO_DAYS:
        return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
    hours = rounded(minutes / 60)
    return f"{hours // 24} days {hours % 24} h" if hours % 24 else f"{hours // 24} days"


def moment(at: Instant) -> str:
    """``2026-11-21 13:27:31 UTC``."""
    told = instant(at) if isinstance(at, int) else at
    return f"{told[:19].replace('T', ' ')} UTC" if told else UNKNOWN


def date(at: Instant) -> str:
    """Day and time of day, ``20 Nov 2026, 03:06:58 UTC``; ``unknown`` without one."""
    return _as(at, "%b %Y, %H:%M:%S UTC", "unknown")


def when(at: Instant, *, year: bool = False) -> str:
    """Day and minute, ``20 Nov, 03:06``, with the year where it is not plain."""
    return _as(at, "%b %Y, %H:%M" if year else "%b, %H:%M")


def day(at: Instant) -> str:
    """``20 Nov 2026``."""
    return _as(at, "%b %Y")


def clock(at: Instant) -> str:
    """Time of day, ``03:06:58``."""
    known = parsed(at)
    return f"{known:%H:%M:%S}" if known else UNKNOWN


def clock_ms(at: int | None) -> str:
    """The time of day of epoch milliseconds, ``03:06:58.123``."""
    return UNKNOWN if at is None else f"{clock(at)}.{at % 1000:03d}"


def parsed(at: Instant) -> datetime | None:
    """An instant in UTC; ``None`` when unknown, or beyond what can be written."""
    try:
        if isinstance(at, int):
            return datetime.fromtimestamp(at / 1000, UTC)
        known = datetime.fromisoformat(at) if at else None
    except (ValueError, OverflowError, OSError):
        return None
    return known and known.astimezone(UTC)


def _as(at: Instant, form: str, unknown: str = UNKNOWN) -> str:
    known = parsed(at)
    return f"{known.day} {known:{form}}" if known else unknown


def agree(value: int, one: str, many: str) -> str:
    """Return the form of a word that agrees with a count: ``is`` or ``are``."""
    return one if value == 1 else many


def brokers(ids: Iterable[int]) -> str:
    """``broker 1``, ``brokers 1 and 5``, ``brokers 1, 2 and 5``; ``no broker`` for none."""
    texts = [str(broker) for broker in ids]
    if len(texts) < 2:
        return f"broker {texts[0]}" if texts else "no broker"
    return f"brokers {', '.join(texts[:-1])} and {texts[-1]}"


def one_by_one(ids: Iterable[int]) -> str:
    """``broker 5``, ``broker 5, then broker 1``: in this order."""
    return ", then ".join(f"broker {broker}" for broker in ids) or "no broker"


def listed(ids: Iterable[int]) -> str:
    """Broker ids without spaces, as in an ISR; a dash for none."""
    return ",".join(map(str, ids)) or "–"


def some(items: Sequence[str], most: int, between: str = "; ", last: str = "; and") -> str:
    """The first of many, and how many more there are: ``a; b; and 3 more``."""
    more = len(items) - most
    return between.join(items[:most]) + (f"{last} {count(more)} more" if more > 0 else "")


def capitalised(sentence: str) -> str:
    """Capitalise the first letter."""
    return sentence[:1].upper() + sentence[1:]


def uncapitalised(sentence: str) -> str:
    """Lower the first letter."""
    return sentence[:1].lower() + sentence[1:]


def as_cell(text: str) -> str:
    """Escape a text for a spreadsheet cell, so that it is not evaluated."""
    return f"'{text}" if text.startswith(_FORMULA) else text
