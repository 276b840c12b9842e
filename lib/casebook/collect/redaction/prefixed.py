"""Tokens with an issuer's prefix: a short word or two, a separator, and a long random string.

Issuers prefix their tokens so that leaks are found. No issuer is listed here: only the shape counts. A string is random when
lower-case letters, capitals and digits alternate as by chance; when the prefix means a token or a key, digits with one kind of
letters suffice.
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
"""Ledger words for a record's own ids."""
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
"""Minimum length of a string after any word, after a sensitive one, and in ledgers, whose random ids have up to 28."""
_KAFKA_ID = 22
_LEAST_WITHOUT_DIGITS = 30
_SORTABLE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
"""A ULID, which starts with a time: an id."""
_SAID, _RANDOM = "said", "random"


def spans(text: bytes, *, of_records: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the spans of such tokens."""
    for match in _TOKEN.finditer(text):
        told = _why_token(match[0].decode(), of_records)
        if told is _SAID or (told is _RANDOM and not shapes.is_said_to_be_an_id(text, match.start())):
            yield match.span()


@lru_cache(maxsize=1 << 14)
def _why_token(text: str, of_records: bool) -> str | None:
    """Return why a string is a token: by its prefix, or by randomness alone; ``None`` otherwise."""
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
    """Return whether a hexadecimal number, longer than hashes in file names, follows another random part and a number."""
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
    """Return whether the words before a hexadecimal number are an issuer's prefix, unlike a topic, an index or a process."""
    versioned = len(words) > 1 and len(words[0]) <= 3 and _VERSION.fullmatch(words[-1]) is not None
    return words[0] not in _ABBREVIATED and (versioned or _UNSPEAKABLE.fullmatch(words[0]) is not None)


def _alternates(part: str) -> bool:
    """Return whether it consists of capitals and digits, without lower-case letters."""
    return part.isupper() and len(part) >= _LEAST and re.search(r"\d", part) is not None


def _alternates_in_case(part: str) -> bool:
    """Return whether lower-case letters and capitals alternate: by chance at every second letter."""
    return len(_OF_ONE_CASE.findall(part)) > len(part) / 3


def _goes_on(body: str) -> bool:
    """Return whether the rest is random across its separators, like URL-safe base64; outside of ledgers it goes anyway."""
    return any(end - begin >= _LEAST_OF_RECORDS for begin, end in shapes.random_in(body))
