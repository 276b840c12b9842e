"""Marks in place of secrets."""

from collections.abc import Iterable

REDACTED = "[redacted]"
MARK = REDACTED.encode()


def without(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Replace each span, or group of overlapping spans, by a mark; the same object without any."""
    pieces, at = list[bytes](), -1
    for begin, end in sorted(span for span in spans if span[0] < span[1]):
        if begin >= at:
            pieces += (text[max(at, 0) : begin], MARK)
        at = max(at, end)
    return b"".join([*pieces, text[at:]]) if pieces else text
