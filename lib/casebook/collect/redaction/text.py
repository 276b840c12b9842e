"""Redact one line or value of free text with several filters, unless it is obviously plain."""

import re

from casebook.collect.redaction import prefixed, rules, scanner, shapes, words
from casebook.collect.redaction.disguises import undisguised
from casebook.collect.redaction.marks import REDACTED, without
from casebook.collect.redaction.names import is_sensitive, is_sensitive_column

_plain = words.Plain()
_ENDINGS = re.compile(r"((?:\.[a-z]{1,10}\d{0,3}){1,3})$")


def is_plain(text: bytes) -> bool:
    """Return whether a line certainly contains or starts no secret: by its words, much faster than by the rules."""
    return _plain.line(text)


def redact_text(text: bytes, *, of_records: bool = False) -> bytes:
    """Return a line or value without its secrets; the same object without any.

    Args:
        text: Without its line end.
        of_records: Whether it is about records: a key, such as ``record_key``, then identifies a record, and so may random
            strings.
    """
    if is_plain(text):
        return text
    read = undisguised(text)
    clean = _sieved(read, of_records)
    if clean == read and read is not text:
        read, clean = text, _sieved(text, of_records)
    return text if clean == read else clean


def redact_message(text: str) -> str:
    """Redact a message to people, or a record of others' text, line by line."""
    return "".join(_redacted_line(line) for line in text.splitlines(keepends=True))


def redact_name(name: str) -> str:
    """Redact the name of a file or folder; its extension stays."""
    stem, *endings = _ENDINGS.split(name) if name[:1] != "." else [name]
    clean = redact_message(stem)
    return name if clean == stem else clean.replace(REDACTED, "redacted") + "".join(endings)


def _redacted_line(line: str) -> str:
    body = line.rstrip("\r\n")
    raw = body.encode(errors="surrogatepass")
    clean = redact_text(raw)
    return line if clean is raw else clean.decode(errors="surrogatepass") + line[len(body) :]


def _sieved(text: bytes, of_records: bool) -> bytes:
    clean = rules.without_named(text, is_sensitive_column if of_records else is_sensitive)
    found = (*scanner.spans(clean), *prefixed.spans(clean, of_records=of_records))
    return without(clean, found if of_records else (*found, *shapes.random_spans(clean)))
