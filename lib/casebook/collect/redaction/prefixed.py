"""Tokens that say whose they are: a short word or two, a separator, and a long run that only chance writes.

Issuers put such prefixes before their tokens so that these are found where they do not belong. None of them is listed here:
what counts is the shape. A run is random when small letters, capitals and digits alternate as by chance; where the prefix says
that it is a token or a key, digits with one kind of letters are enough.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from casebook.collect.redaction import shapes

_TOKEN = re.compile(rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]{0,11}[_.-][A-Za-z0-9_.-]{16,}+={0,2}|\b[A-Za-z]{3,8}[0-9a-f]{32}\b")
_APART = re.compile(r"[_.-]+")
_WORD = re.compile(r"(?:[a-z]{1,10}|[A-Z]{1,10}|[A-Z][a-z]{1,9})\d{0,3}")
_MOST_WORDS = 4
_SAYS_SO = re.compile(r"(?i)(?:pat|tok|key|token|secret|sec|auth)$|^(?:api|sk|pk|rk|pw|pass|wh)$|^[A-Z]{2,4}(?-i:AK)$")
_SAYS_SO_GLUED = re.compile(r"(?i)[a-z]{0,5}(?:api|key|pat|tok)[0-9a-f]{32}")
_OF_RECORDS = re.compile(r"(?i)^key$")
"""What ledgers call a record's own."""
_HEX = re.compile(r"[0-9a-f]{32,}")
_LONG_HEX, _SHORT_MARK = re.compile(r"[0-9a-f]{48,}"), re.compile(r"[A-Z0-9]{10,}")
_UNSPEAKABLE = re.compile(r"[b-df-hj-np-tv-xz]{2,5}")
_ABBREVIATED = frozenset({
    "cfg", "ctx", "db", "dst", "fs", "grp", "ks", "md", "mm", "msg", "ns", "prd", "pvc", "rs", "src", "stg", "svc", "tbl", "tmp",
    "ts", "tx", "txn", "vm",
})  # fmt: skip
_OF_ONE_CASE = re.compile(r"[a-z]+|[A-Z]+")
_VERSION = re.compile(r"v\d")
_LEAST, _LEAST_SAID, _LEAST_OF_RECORDS = 20, 16, 30
"""Letters of a run after any word, after one that says what it is, and in ledgers, whose ids are random and have up to 28."""
_KAFKA_ID = 22
_LEAST_WITHOUT_DIGITS = 30
_SORTABLE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
"""A ULID, which begins with a time: an id."""
_SAID, _RANDOM = "said", "random"


def spans(text: bytes, *, of_records: bool = False) -> Iterator[tuple[int, int]]:
    """Where such tokens stand."""
    for match in _TOKEN.finditer(text):
        told = _told(match[0].decode(), of_records)
        if told is _SAID or (told is _RANDOM and not shapes.is_said_to_be_an_id(text, match.start())):
            yield match.span()


@lru_cache(maxsize=1 << 14)
def _told(text: str, of_records: bool) -> str | None:
    """What tells that a run is a token: its prefix says so, or it is only random; ``None`` where it is none."""
    if _SAYS_SO_GLUED.fullmatch(text):
        return _SAID
    first, *rest = _APART.split(text.rstrip("="))
    if len(text) <= _KAFKA_ID or not _WORD.fullmatch(first):
        return None
    words = [first]
    while rest and len(words) < _MOST_WORDS and _WORD.fullmatch(rest[0]):
        words.append(rest.pop(0))
    said = any(_SAYS_SO.search(word) and not (of_records and _OF_RECORDS.search(word)) for word in words)
    if _is_long_mark(rest):
        return _SAID
    if any(_is_run(part, words, text, said, of_records) for part in rest) or (of_records and _goes_on("-".join(rest))):
        return _SAID if said else _RANDOM
    return None


def _is_long_mark(parts: list[str]) -> bool:
    """Whether a hexadecimal number, longer than hashes of files in names, stands after another random part and a number."""
    return len(parts) >= 3 and _LONG_HEX.fullmatch(parts[-1]) is not None and any(map(_SHORT_MARK.fullmatch, parts[:-1]))


def _is_run(part: str, words: list[str], text: str, said: bool, of_records: bool) -> bool:
    if len(part) < _LEAST_SAID or _SORTABLE.fullmatch(part):
        return False
    if _HEX.fullmatch(part):
        return said or (f"{words[-1]}_{part}" in text and _is_issuer(words))
    if said and _alternates(part):
        return True
    if len(part) >= _LEAST_WITHOUT_DIGITS and (said or _is_issuer(words)) and _alternates_in_case(part):
        return True
    least = _LEAST_SAID if said else _LEAST_OF_RECORDS if of_records else _LEAST
    return len(part) >= least and (said or not shapes.is_kafka_id(text)) and shapes.is_mixed(part)


def _is_issuer(words: list[str]) -> bool:
    """Whether words before a hexadecimal number are an issuer's mark, which nobody calls a topic, an index or a process."""
    versioned = len(words) > 1 and len(words[0]) <= 3 and _VERSION.fullmatch(words[-1]) is not None
    return words[0] not in _ABBREVIATED and (versioned or _UNSPEAKABLE.fullmatch(words[0]) is not None)


def _alternates(part: str) -> bool:
    """Whether it is of capitals and digits, without small letters."""
    return part.isupper() and len(part) >= _LEAST and re.search(r"\d", part) is not None


def _alternates_in_case(part: str) -> bool:
    """Whether small letters and capitals alternate: by chance at every second letter."""
    return len(_OF_ONE_CASE.findall(part)) > len(part) / 3


def _goes_on(body: str) -> bool:
    """Whether what follows the words is random over its separators, as base64 for URLs is; it goes anyway outside of ledgers."""
    return any(end - begin >= _LEAST_OF_RECORDS for begin, end in shapes.random_in(body))
