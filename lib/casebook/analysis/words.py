"""Numbers, brokers and verbs as sentences need them."""

from collections.abc import Iterable


def number(count: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def agree(count: int, one: str, many: str) -> str:
    """The form of a word that goes with a count: ``is`` or ``are``."""
    return one if count == 1 else many


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
