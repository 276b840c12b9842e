"""Secrets without a name or a known format: strings too random to be printed by Kafka."""

import re
from collections.abc import Iterator
from functools import lru_cache

_TOKEN = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{23,}+={0,2}")
LEAST = 23
"""Minimum length; the 22 letters of a Kafka UUID (``Uuid.java@2.8.0``) look random and are evidence."""
_PARTS = re.compile(r"[A-Za-z0-9]+")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{8,}")
_WORD = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{4,}|(?:[A-Z]?[a-z]{2,}){3,}\d{0,6}|\d{4,}")
_KAFKA_ID = re.compile(r"(?:.{0,12}[-_])?[A-Za-z0-9_-]{22}(?:={2})?")
_STRETCH = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MOST_IN_WORDS = 0.8
"""Maximum share of letters in words of three letters and more, exceeded by three of a thousand random strings of 24 letters."""
_NUMBERED = re.compile(r"(?:[-_]\d{1,6})+$")
"""Threads, partitions and clients are numbered; the number does not affect the name."""
_PLACE = re.compile(r"/(?:private/)?(?:var|tmp|home|Users|opt|usr|data\d*|mnt|srv|root|etc|run|app|Volumes|disk\d*|kafka)/")
"""Start of an absolute path: its names count one by one, e.g. ``x7/whbs7htd3213y8m98kl3y4wh0000gn/T`` of macOS."""
_NAME = re.compile(r"[^/]+")
_LEAST_STRETCHES = 0.32
"""Minimum words, abbreviations and numbers per letter.

0.54 in base64 (under 0.33 in one of a hundred strings of 24 letters); at most 0.31 in the 8,383 identifiers of 24 letters and
more in Kafka's source.
"""
_OF_AN_ID = re.compile(
    rb"""(?i)(?:\b(?:cluster|topic|member|session|directory|dir|producer|consumer|transaction(?:al)?|group"""
    rb"""|instance|incarnation|client|broker|node|controller|correlation|segment|process|kafka)[ ._-]?(?:id|uuid|name)s?"""
    rb"""|\b(?:topic|partition|group|uuid))["']?\s{0,3}(?:[:=(\[]|is)?\s{0,3}["']?$"""
)
"""Words before an id: some ids look like secrets."""


def random_spans(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of random strings; not ids, hashes, paths, classes or hosts as Kafka, ZooKeeper and clients print them."""
    for match in _TOKEN.finditer(text):
        found = random_in(match[0].decode())
        at = match.start()
        if found and not is_said_to_be_an_id(text, at):
            yield from ((at + begin, at + end) for begin, end in found)


def is_said_to_be_an_id(text: bytes, at: int) -> bool:
    """Return whether the text before a position announces an id."""
    return _OF_AN_ID.search(text, max(0, at - 60), at) is not None


def is_kafka_id(token: str) -> bool:
    """Return whether it has the length of a Kafka UUID, with at most a short prefix."""
    return _KAFKA_ID.fullmatch(token) is not None


def has_random(text: bytes) -> bool:
    """Return whether anything is random, in any context."""
    return any(random_in(token.decode()) for token in _TOKEN.findall(text))


@lru_cache(maxsize=1 << 14)
def random_in(token: str) -> tuple[tuple[int, int], ...]:
    """Return the random parts of a base64 string: long and mixed, between words and hexadecimal numbers.

    Not random: hexadecimal digits (hashes, UUIDs, sessions), one kind of letters, words in any combination (paths, topics,
    groups, hosts, classes), and the 22 letters of a Kafka UUID with at most a short prefix.
    """
    if is_kafka_id(token):
        return ()
    names = [name.span() for name in _NAME.finditer(token)] if _PLACE.match(token) else [(0, len(token))]
    stretches = (stretch for name in names for stretch in _stretches(token, *name))
    return tuple((begin, end) for begin, end in stretches if end - begin >= LEAST and is_mixed(token[begin:end]))


def _stretches(token: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the parts between words and hexadecimal numbers."""
    begin = end = None
    for part in _PARTS.finditer(token, first, last):
        if _WORD.fullmatch(part[0]) or _HEX.fullmatch(part[0]):
            if begin is not None:
                yield begin, end
            begin = None
        else:
            begin, end = part.start() if begin is None else begin, part.end()
    if begin is not None:
        yield begin, last


def is_mixed(text: str) -> bool:
    """Return whether lower-case letters, capitals and digits alternate as only chance does."""
    text = _NUMBERED.sub("", text)
    if not all(re.search(kind, text) for kind in ("[a-z]", "[A-Z]", r"\d")):
        return False
    stretches = _STRETCH.findall(text)
    letters = sum(map(len, stretches))
    words = sum(len(stretch) for stretch in stretches if len(stretch) >= 3 and stretch.isalpha())
    return len(stretches) > _LEAST_STRETCHES * letters and words < _MOST_IN_WORDS * letters
