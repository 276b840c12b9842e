"""Convert foreign text to UTF-8 with line feeds: UTF-16, byte order marks, line ends of old Macs.

So redaction works on characters in any encoding, and readers of a case handle one encoding. Line 7 is line 7 in every editor.
Other single-byte encodings, such as Latin-1, pass unchanged: Kafka's own output is ASCII.
"""

import codecs
import io
import re
from typing import BinaryIO

from casebook.machine import packs

_HEAD = 1 << 16
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_CONTROL = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]")
"""Bytes that no text contains (``text_chars``, src/encoding.c@FILE5_45); except zeros, which precede a truncated log."""
_MOST_CONTROL = 0.02
_MOSTLY = 0.4
_ASCII = re.compile(rb"[\t\n\r\x1b-\x7e]")


class NoTextError(OSError):
    """The encoding of a file is unknown."""

    def __init__(self) -> None:
        super().__init__(0, "it is not text: neither UTF-8 nor UTF-16, nor another text with line ends")


def recoded(content: BinaryIO) -> BinaryIO:
    """Return the text as UTF-8, without a byte order mark, and with line feeds in place of lone carriage returns.

    Raises:
        NoTextError: It is not text.
        OSError: It is unreadable.
    """
    head = _read(content, _HEAD)
    encoding = encoding_of(head)
    if encoding is not None:
        return io.BufferedReader(_Recoded(head, content, encoding), 1 << 17)
    if _is_binary(head):
        raise NoTextError
    head = head.removeprefix(codecs.BOM_UTF8)
    if b"\r" in head[:-1] and b"\n" not in head:
        return io.BufferedReader(_Recoded(head, content, "latin-1", into="latin-1"), 1 << 17)
    return io.BufferedReader(_Continued(head, content), 1 << 17)


def encoding_of(head: bytes) -> str | None:
    """Detect a multi-byte encoding by its mark or its zeros; ``None`` for any other."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    pairs = len(head) // 2
    if pairs < 2 or not head.strip(b"\0"):
        return None
    evens, odds = head[: 2 * pairs : 2], head[1 : 2 * pairs : 2]
    if _are_letters(evens, odds):
        return "utf-16-le"
    return "utf-16-be" if _are_letters(odds, evens) else None


def _are_letters(low: bytes, high: bytes) -> bool:
    """Whether bytes are the low and the high bytes of letters, mostly ASCII."""
    ascii_letters, zeros = len(_ASCII.findall(low)), high.count(0)
    return zeros > _MOSTLY * len(high) and ascii_letters > _MOSTLY * len(low) and low.count(0) < zeros / 8


def _is_binary(head: bytes) -> bool:
    text = head.replace(b"\0", b"")
    return len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text)


def _read(content: BinaryIO, size: int) -> bytes:
    """Return the start, up to a damage in a pack: later reads report it."""
    found = b""
    try:
        while len(found) < size and (more := content.read1(size - len(found))):
            found += more
    except packs.PackError:
        if not found:
            raise
    return found


class _Continued(io.RawIOBase):
    """Bytes already read, then the rest."""

    def __init__(self, head: bytes, content: BinaryIO) -> None:
        self._ready, self._content = head, content

    def readable(self) -> bool:
        """As for a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As for a file."""
        found = self._ready or self._more(len(buffer))
        taken = found[: len(buffer)]
        self._ready = found[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _more(self, size: int) -> bytes:
        return self._content.read1(size)  # return the bytes before an error, then raise it


class _Recoded(_Continued):
    """The same in another encoding; invalid bytes become the replacement character."""

    def __init__(self, head: bytes, content: BinaryIO, encoding: str, *, into: str = "utf-8") -> None:
        super().__init__(b"", content)
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._decoder, self._into, self._head = io.IncrementalNewlineDecoder(decoder, translate=True), into, head

    def _more(self, size: int) -> bytes:
        while True:
            raw, self._head = self._head or super()._more(size), b""
            text = self._decoder.decode(raw, final=not raw).removeprefix("\ufeff")
            if text or not raw:
                return text.encode(self._into, errors="replace")
