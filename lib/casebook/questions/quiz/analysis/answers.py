"""Parse a typed answer: lenient in form, strict in content.

``orders-3``, ``orders 3``, ``[orders,3]``, ``3`` and ``three`` are one partition; ``1, 5``, ``5 and 1``, ``broker 5, broker 1``
are two brokers, ``1-5`` is five. Invalid text is never guessed: it raises :class:`Unclear`, with the expected form.

Every answer is parsed the same way: number words become digits, filler words are dropped, and the rest must be valid to the last
word.
"""

import re
from collections.abc import Sequence

GIVEN_UP = "?"
"""Answer that requests the explanation instead."""

_NOBODY = frozenset({"none", "nobody", "nothing", "no", "zero", "-", "–"})
_NOISE = re.compile(
    r"\b(?:brokers?|partitions?|and|ids?|the|both|only|just|it|its|is|are|of|them|a|an|rule|option)\b|[\[\](){}#&+,;]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"([0-9]+)(?:-|–|\.\.)([0-9]+)")
_LONGEST_RANGE = 1000
_TIME = re.compile(r"(?:\b\d{4}-\d\d-\d\d[ T])?(?<![\d:.])(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,3}))?(?![\d:])")
_BETWEEN_TIMES = re.compile(r"\b(?:UTC|from|to|until|till|and|at|since)\b|(?<=[\s])Z|^Z|[-–,;]", re.IGNORECASE)
_FULL_STOP = re.compile(r"(?<!\.)\.\s*$")
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_BELOW_TWENTY = ("zero", *_ONES, *_TEENS)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = re.compile(rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(_ONES)}))?|({'|'.join(_BELOW_TWENTY)}))\b", re.IGNORECASE)
_NO_ONE = re.compile(r"\bno[ -]one\b", re.IGNORECASE)
_ONE_THAT = re.compile(r"\b(?:the )?ones? (?:is|are)\b", re.IGNORECASE)
"""Pronoun for the noun after it, not a number."""
_DENIES = frozenset({"no", "not", "nobody"})
_COUNTED = re.compile(
    r"\b(?:records?|left|remain|remains|remaining|still|offline|leaderless|without (?:a )?leaders?|in total)\b", re.IGNORECASE
)
"""Counted nouns, allowed next to a number."""


class Unclear(ValueError):
    """An invalid answer; the message has the expected form."""


def brokers(text: str) -> frozenset[int]:
    """Parse broker ids, in any order and with any separators; ``1-3`` is a range.

    Raises:
        Unclear: Part of it is not a broker id.
    """
    return _numbers(_without_full_stop(text), wanted="Give ids of brokers, with commas between.")


def partitions(text: str, topic: str) -> frozenset[int]:
    """Parse partitions of a topic, which may be named in any of Kafka's spellings, or left out; ``0-3`` is a range.

    Raises:
        Unclear: Part of it is not a partition of that topic.
    """
    named = re.escape(topic)
    between = r"\s*[-:/]\s*" if topic.isdecimal() else r"\s*(?:[-:/,]\s*|\s)(?:partitions?\s+)?"
    number = rf"(?=[0-9]|{_SPELLED.pattern})"
    bare = re.sub(rf"(?<![\w.-])\[?{named}{between}{number}", " ", _without_full_stop(text), flags=re.IGNORECASE)
    bare = re.sub(rf"\[{named},(?=[0-9])", " ", bare, flags=re.IGNORECASE)
    return _numbers(bare, wanted=f"Give partitions of {topic}, by name or by number.")


def number(text: str) -> int:
    """Parse one number; ``none`` is 0.

    Raises:
        Unclear: It is not exactly one number.
    """
    said = _COUNTED.sub(" ", _without_full_stop(text))
    if _is_nobody(said):
        return 0
    words = _NOISE.sub(" ", _digits(said)).split()
    if len(words) != 1 or not re.fullmatch(r"[0-9]{1,10}", words[0]) or "+" in said:
        raise Unclear("Give one number.")
    return int(words[0])


def times(text: str, wanted: int) -> tuple[int, ...]:
    """Parse times of day, ``11:03:42`` or ``11:03:42.861``, with or without the date before: milliseconds since midnight.

    Args:
        wanted: How many.

    Raises:
        Unclear: There are more or fewer, or something else.
    """
    found = [tuple(map(int, (*part.groups()[:3], (part[4] or "0").ljust(3, "0")))) for part in _TIME.finditer(text)]
    rest = _BETWEEN_TIMES.sub(" ", _TIME.sub(" ", _without_full_stop(text)))
    if rest.strip() or len(found) != wanted or any(hour > 23 or minute > 59 or second > 59 for hour, minute, second, _ in found):
        raise Unclear("Give a time such as 11:03:42." if wanted == 1 else "Give two times, such as 11:03:42 to 11:03:44.")
    return tuple(((hour * 60 + minute) * 60 + second) * 1000 + thousandth for hour, minute, second, thousandth in found)


def choice(text: str, options: Sequence[tuple[str, str]]) -> str:
    """Return the key of an option: given by its key, its words, or the key within other words.

    ``wipe it``, ``wipe the log dirs``.

    Args:
        options: (key, words).

    Raises:
        Unclear: It is not an option.
    """
    given = _plain(text)
    short = _plain(_NOISE.sub(" ", _digits(given)))  # R3, r 3, rule three, 3
    for key, words in options:
        named, own = _plain(key), set(_plain(words).split()) - _DENIES
        named_in_full = (named, _plain(words), _plain(f"{key} {words}"))
        if given in named_in_full or short.replace(" ", "") in (named, named.removeprefix("r")):
            return key
        if named in short.split() and set(short.split()) <= {named} | own:
            return key
    raise Unclear(f"Choose one of {', '.join(key for key, _ in options)}.")


def _without_full_stop(text: str) -> str:
    """Remove the full stop at the end of a sentence."""
    return _FULL_STOP.sub("", text)


def _is_nobody(text: str) -> bool:
    words = _NOISE.sub(" ", _NO_ONE.sub("none", text)).split()
    return len(words) == 1 and words[0].casefold() in _NOBODY


def _digits(text: str) -> str:
    """Replace number words up to 99 by digits."""
    return _SPELLED.sub(lambda found: str(_value(*found.groups())), _ONE_THAT.sub(" ", text))


def _value(tens: str | None, ones: str | None, below_twenty: str | None) -> int:
    if tens is None:
        return _BELOW_TWENTY.index(below_twenty.casefold())
    return 20 + 10 * _TENS.index(tens.casefold()) + (_BELOW_TWENTY.index(ones.casefold()) if ones else 0)


def _numbers(text: str, *, wanted: str) -> frozenset[int]:
    """Return every number, including ranges; none for an answer such as ``nobody``.

    Raises:
        Unclear: There is nothing, or something that is not a number.
    """
    if _is_nobody(text):
        return frozenset()
    close = re.sub(r"([0-9])\s*(?:-|–|\.\.|\b(?:to|through)\b)\s*(?=[0-9])", r"\1-", _digits(text))
    words = _NOISE.sub(" ", close).split()
    if not words:
        raise Unclear("There is nothing in it.")
    found: set[int] = set()
    for word in words:
        if spread := _RANGE.fullmatch(word):
            first, last = int(spread[1]), int(spread[2])
            if not 0 <= last - first <= _LONGEST_RANGE:
                raise Unclear(f"{word} is no range.")
            found |= set(range(first, last + 1))
        elif re.fullmatch(r"[0-9]{1,10}", word):
            found.add(int(word))
        else:
            raise Unclear(wanted)
    return frozenset(found)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
