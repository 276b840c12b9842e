"""What a broker was sent that is not Kafka's protocol: its first four bytes stand where the size of a request should.

Rule: a request begins with its size, and one over ``socket.request.max.bytes`` or below 0 is refused with that number
(``NetworkReceive.java@0.9.0.1, 3.9.0``).
"""

_METHODS = ("GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "PATC", "CONN", "TRAC")
"""How requests of HTTP/1 begin (RFC 9110)."""
_WHOLE = {"DELE": "DELETE", "OPTI": "OPTIONS", "PATC": "PATCH", "CONN": "CONNECT", "TRAC": "TRACE"}
_NAMED = {"PRI ": "HTTP/2", "HTTP": "HTTP (an answer)", "SSH-": "SSH", "JRMI": "Java RMI"}
_TLS = range(0x14, 0x18)
"""Types of records of TLS (RFC 8446): change of cipher, alert, handshake, data."""


def protocol(size: int) -> str:
    """The protocol that so begins, e.g. ``HTTP (POST)``, ``TLS``; ``""`` when it is none that is known.

    Args:
        size: What was read as a size: a signed number of four bytes.
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
