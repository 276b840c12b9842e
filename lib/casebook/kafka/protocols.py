"""Protocol of data that is not Kafka's, by its first four bytes in place of the request size.

Rule: a request starts with its size; a size over ``socket.request.max.bytes`` or below 0 is refused with that number
(``NetworkReceive.java@0.9.0.1, 3.9.0``).
"""

_METHODS = ("GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC")
"""First bytes of HTTP/1 requests (RFC 9110)."""
_WHOLE = {"DELE": "DELETE", "OPTI": "OPTIONS", "PATC": "PATCH", "CONN": "CONNECT", "TRAC": "TRACE"}
_NAMED = {"PRI ": "HTTP/2", "HTTP": "HTTP (an answer)", "SSH-": "SSH", "JRMI": "Java RMI"}
_TLS = range(0x14, 0x18)
"""TLS record types (RFC 8446): change of cipher, alert, handshake, data."""


def protocol(size: int) -> str:
    """Return the protocol with these first bytes, e.g. ``HTTP (POST)``, ``TLS``; ``""`` when unknown.

    Args:
        size: Value read as the size: a signed 4-byte integer.
    """
    data = (size & 0xFFFFFFFF).to_bytes(4, "big")
    if data[0] in _TLS and data[1] == 3 and data[2] <= 4:
        return "TLS"
    text = data.decode("latin-1")
    if text in _METHODS:
        return f"HTTP ({_WHOLE.get(text, text).strip()})"
    if text in _NAMED:
        return _NAMED[text]
    return f"text that begins with {text.strip()!r}" if data.isascii() and text.strip().isprintable() and text.strip() else ""
