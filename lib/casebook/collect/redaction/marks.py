"""What stands in the place of a secret."""

from collections.abc import Iterable

REDACTED = "[redacted]"
MARK = REDACTED.encode()


def without(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """A text with one mark in the place of each span, and of spans that overlap; the same object where there are none."""
    pieces, at = list[bytes](), -1
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if begin >= at:
            pieces += (text[max(at, 0) : begin], MARK)
        at = max(at, end)
    return b"".join([*pieces, text[at:]]) if pieces else text
