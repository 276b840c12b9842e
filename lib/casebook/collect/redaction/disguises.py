"""What keeps names and secrets from being seen: colours, zeros, letters that take no room, escapes of URLs, Java and XML."""

import html
import re
from urllib.parse import unquote_to_bytes

_UNSEEN = re.compile(rb"\x1b\[[0-9;?]*+[A-Za-z]|\0|\xc2\xad|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf")
"""Colours, zeros, the soft hyphen, U+200B to U+200F, U+2060, U+FEFF."""
_WIDE_COLON = b"\xef\xbc\x9a"
_ESCAPED = re.compile(rb"\\++u00([0-7][0-9a-fA-F])")
_OF_URLS = re.compile(rb"%[0-9a-fA-F]{2}")
_OF_XML = re.compile(rb"&(?:lt|gt|quot|apos|amp|#\d{1,4}|#x[0-9a-fA-F]{1,4});")


def undisguised(text: bytes) -> bytes:
    """A line as a person would read it; the same object where nothing is disguised."""
    plain = _UNSEEN.sub(b"", text)
    if _WIDE_COLON in plain:
        plain = plain.replace(_WIDE_COLON, b":")
    if b"\\u00" in plain:
        plain = _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), plain)
    if b"%" in plain and _OF_URLS.search(plain):
        plain = unquote_to_bytes(plain)
    if b"&" in plain and _OF_XML.search(plain):
        plain = html.unescape(plain.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return text if plain == text else plain.replace(b"\n", b" ").replace(b"\r", b" ")
