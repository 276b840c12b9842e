"""Numbers, brokers and verbs as sentences need them."""

from collections.abc import Callable, Iterable

_TWO_DAYS = 2880
"""Minutes."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the begin of a formula, or skips in search of one; the last are the first four in full width."""


def count(value: int) -> str:
    """``29``, ``100\u202f000``: a narrow space at each thousand."""
    return f"{value:,}".replace(",", "\u202f")


def number(value: int, noun: str, many: str = "") -> str:
    """``1 partition``, ``2 partitions``; ``2 copies`` where ``many`` says so."""
    return f"{count(value)} {noun if value == 1 else many or f'{noun}s'}"


def size(value: int) -> str:
    """Bytes as ``812 B``, ``1.1 MiB``, ``205 GiB``: three digits that count."""
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


def agree(value: int, one: str, many: str) -> str:
    """The form of a word that goes with a count: ``is`` or ``are``."""
    return one if value == 1 else many


def moment(instant: str) -> str:
    """``2026-11-21 13:27:31 UTC`` of an ISO-8601 instant."""
    return f"{instant[:19].replace('T', ' ')} UTC"


def brokers(ids: Iterable[int]) -> str:
    """``broker 1``, ``brokers 1 and 5``, ``brokers 1, 2 and 5``; ``no broker`` for none."""
    texts = [str(broker) for broker in ids]
    if len(texts) < 2:
        return f"broker {texts[0]}" if texts else "no broker"
    return f"brokers {', '.join(texts[:-1])} and {texts[-1]}"


def one_by_one(ids: Iterable[int]) -> str:
    """``broker 5``, ``broker 5, then broker 1``: in this order."""
    return ", then ".join(f"broker {broker}" for broker in ids) or "no broker"


def capitalised(sentence: str) -> str:
    """With a large first letter."""
    return sentence[:1].upper() + sentence[1:]


def uncapitalised(sentence: str) -> str:
    """With a small first letter."""
    return sentence[:1].lower() + sentence[1:]


def as_cell(text: str) -> str:
    """A text for a cell of a spreadsheet: one that it would compute is kept text."""
    return f"'{text}" if text.startswith(_FORMULA) else text
