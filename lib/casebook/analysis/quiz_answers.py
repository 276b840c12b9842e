"""What somebody typed as an answer: lenient in form, strict in content.

``orders-3``, ``orders 3``, ``[orders,3]`` and ``3`` are one partition; ``1, 5``, ``5 and 1``, ``broker 5, broker 1`` are two
brokers. What cannot be understood is never guessed: it is :class:`Unclear`, with the form that is wanted.
"""

import re
from collections.abc import Sequence

GIVEN_UP = "?"
"""The answer of somebody who wants the explanation instead."""

_NOBODY = frozenset({"none", "nobody", "nothing", "no", "zero", "-", "–"})
_NOISE = re.compile(r"\b(?:brokers?|partitions?|and|ids?)\b|[\[\](){}#&+,;]", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)(?:-|–|\.\.)(\d+)")
_LONGEST_RANGE = 1000
_FULL_STOP = re.compile(r"(?<!\.)\.\s*$")


class Unclear(ValueError):
    """An answer that cannot be understood; the text says which form is wanted."""


def brokers(text: str) -> frozenset[int]:
    """Broker ids, in any order and with whatever stands between them.

    Raises:
        Unclear: Something in it is no broker id.
    """
    words = _words(_said(text))
    if not all(re.fullmatch(r"[0-9]{1,10}", word) for word in words):
        raise Unclear("Give ids of brokers, with commas between.")
    return frozenset(map(int, words))


def partitions(text: str, topic: str) -> frozenset[int]:
    """Numbers of partitions of a topic, which may be named, in any of Kafka's spellings, or left out; ``0-3`` is a range.

    Raises:
        Unclear: Something in it is no partition of that topic.
    """
    named = re.escape(topic)
    between = r"\s*[-:/]\s*" if topic.isdecimal() else r"\s*(?:[-:/,]\s*|\s)(?:partition\s+)?"
    bare = re.sub(rf"(?<![\w.-])\[?{named}{between}(?=\d)", " ", _said(text), flags=re.IGNORECASE)
    bare = re.sub(rf"\[{named},(?=\d)", " ", bare, flags=re.IGNORECASE)
    bare = re.sub(r"(\d)\s*(-|–|\.\.|\bto\b)\s*(?=\d)", r"\1-", bare)
    found: set[int] = set()
    for word in _words(bare):
        if spread := _RANGE.fullmatch(word):
            first, last = int(spread[1]), int(spread[2])
            if not 0 <= last - first <= _LONGEST_RANGE:
                raise Unclear(f"{word} is no range of partitions.")
            found |= set(range(first, last + 1))
        elif re.fullmatch(r"[0-9]{1,10}", word):
            found.add(int(word))
        else:
            raise Unclear(f"Give partitions of {topic}, by name or by number.")
    return frozenset(found)


def number(text: str) -> int:
    """One number; ``none`` is 0.

    Raises:
        Unclear: It is none, or more than one.
    """
    text = _said(text)
    if text.strip().casefold() in _NOBODY:
        return 0
    found = re.findall(r"[0-9]+", text)
    if len(found) != 1 or len(found[0]) > 10 or re.search(r"[-–]\s*[0-9]|[0-9]\s*[.]", text):
        raise Unclear("Give one number.")
    return int(found[0])


def choice(text: str, options: Sequence[tuple[str, str]]) -> str:
    """The key of an option: by the key, or by its words.

    Args:
        options: (key, words).

    Raises:
        Unclear: It is none of them.
    """
    given = _plain(text)
    short = given.removeprefix("rule ").replace(" ", "")  # R3, r 3, rule 3, 3
    for key, words in options:
        named = _plain(key)
        if given in (_plain(words), _plain(f"{key} {words}")) or short in (named, named.removeprefix("r")):
            return key
    raise Unclear(f"Choose one of {', '.join(key for key, _ in options)}.")


def _said(text: str) -> str:
    """Without the full stop that ends a sentence."""
    return _FULL_STOP.sub("", text)


def _words(text: str) -> list[str]:
    """The words that count, none of them for nobody.

    Raises:
        Unclear: There is nothing.
    """
    words = _NOISE.sub(" ", text).split()
    if not words:
        raise Unclear("There is nothing in it.")
    return [] if len(words) == 1 and words[0].casefold() in _NOBODY else words


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
