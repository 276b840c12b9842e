"""Text of strangers as what it is: UTF-16, a byte order mark, the line ends of old Macs; in a case all is UTF-8 with line feeds.

So secrets are looked for in characters, whatever they were written as, and whoever reads a case knows of one encoding. Line 7 is
line 7 in every editor. Another encoding of single bytes, as Latin-1, goes on as it is: what Kafka itself prints is ASCII.
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
"""What no text holds (``text_chars``, src/encoding.c@FILE5_45); zeros apart, which a log that was truncated begins with."""
_MOST_CONTROL = 0.02
_MOSTLY = 0.4
_ASCII = re.compile(rb"[\t\n\r\x1b-\x7e]")


class NoTextError(OSError):
    """A file is in no encoding that is known here."""

    def __init__(self) -> None:
        super().__init__(0, "it is not text: neither UTF-8 nor UTF-16, nor another text with line ends")


def recoded(content: BinaryIO) -> BinaryIO:
    """The same text as UTF-8, without byte order mark, and with line feeds where it had only carriage returns.

    Raises:
        NoTextError: It is no text.
        OSError: It cannot be read.
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
    """The encoding of more than one byte a character that a text is in, by its mark or by its zeros; ``None`` for any other."""
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
    """Whether bytes are the low and the high ones of letters, most of them ASCII."""
    ascii_letters, zeros = len(_ASCII.findall(low)), high.count(0)
    return zeros > _MOSTLY * len(high) and ascii_letters > _MOSTLY * len(low) and low.count(0) < zeros / 8


def _is_binary(head: bytes) -> bool:
    text = head.replace(b"\0", b"")
    return len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text)


def _read(content: BinaryIO, size: int) -> bytes:
    """The beginning, as far as a pack was not cut there: who reads on is told."""
    found = b""
    try:
        while len(found) < size and (more := content.read1(size - len(found))):
            found += more
    except packs.PackError:
        if not found:
            raise
    return found


class _Continued(io.RawIOBase):
    """What was read already, and then the rest."""

    def __init__(self, head: bytes, content: BinaryIO) -> None:
        self._ready, self._content = head, content

    def readable(self) -> bool:
        """As of a file."""
        return True

    def readinto(self, buffer: memoryview) -> int:
        """As of a file."""
        found = self._ready or self._more(len(buffer))
        taken = found[: len(buffer)]
        self._ready = found[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _more(self, size: int) -> bytes:
        return self._content.read1(size)  # what comes before an error is given out before it is raised


class _Recoded(_Continued):
    """The same, in another encoding; what makes no character is replaced by the sign for it."""

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
