"""Numbers, brokers and verbs as sentences need them."""

from collections.abc import Iterable


def count(value: int) -> str:
    """``29``, ``100\u202f000``: a narrow space at each thousand."""
    return f"{value:,}".replace(",", "\u202f")


def number(value: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


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


def capitalised(sentence: str) -> str:
    """With a large first letter."""
    return sentence[:1].upper() + sentence[1:]


def uncapitalised(sentence: str) -> str:
    """With a small first letter."""
    return sentence[:1].lower() + sentence[1:]
