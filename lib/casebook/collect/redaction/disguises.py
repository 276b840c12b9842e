"""Remove what disguises names and secrets: colours, zeros, zero-width characters, escapes of URLs, Java and XML."""

import html
import re
from urllib.parse import unquote_to_bytes

_UNSEEN = re.compile(
    rb"(?:\x1b|\\(?:x1b|033|e|u001[bB]))\[[0-9;?]*+[A-Za-z]|\0|\xc2\xad|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf"
)
"""Colours, zeros, the soft hyphen, U+200B to U+200F, U+2060, U+FEFF."""
_WIDE = re.compile(rb"\xef(?:\xbc([\x81-\xbf])|\xbd([\x80-\x9e]))")
"""Full-width letters, U+FF01 to U+FF5E."""
_BLANKS = re.compile(rb"\\[tn]")
"""Tabs and line ends in JSON escapes."""
_ESCAPED = re.compile(rb"(?<!\\)\\++u00([0-7][0-9a-fA-F])")
_OF_URLS = re.compile(rb"%[0-9a-fA-F]{2}")
_OF_XML = re.compile(rb"&(?:lt|gt|quot|apos|amp|#\d{1,4}|#x[0-9a-fA-F]{1,4});")


def undisguised(text: bytes) -> bytes:
    """Return a line as a person would read it; the same object when nothing is disguised."""
    plain = _UNSEEN.sub(b"", text)
    if b"\xef" in plain:
        plain = _WIDE.sub(lambda match: bytes([match[1][0] - 0x60 if match[1] else match[2][0] - 0x20]), plain)
    if b"\\u00" in plain:
        plain = _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), plain)
    if b"\\t" in plain or b"\\n" in plain:
        plain = _BLANKS.sub(b" ", plain)
    if b"%" in plain and _OF_URLS.search(plain):
        plain = unquote_to_bytes(plain)
    if b"&" in plain and _OF_XML.search(plain):
        plain = html.unescape(plain.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return text if plain == text else plain.replace(b"\n", b" ").replace(b"\r", b" ")
