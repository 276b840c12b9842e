"""Marks that a page puts around an output: cells of an HTML table, character references, bold type, Markdown's backslashes.

A page that was copied from its source has them in place of what the terminal showed.
"""

import html
import re

_TABLE_BEGINS = re.compile(r"\s*<table\b", re.IGNORECASE)
_TABLE_ENDS = re.compile(r"</table\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:table|thead|tbody|tr|th|td|br|p|b|i|strong|em|code|pre|span|div)(?:\s[^<>]{0,200})?/?>", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*<(?:p|pre|div|br|blockquote)(?:\s[^<>]{0,200})?/?>|</(?:p|pre|div|blockquote)\s*>\s*$", re.IGNORECASE)
"""Where a paragraph or a listing of a page begins and ends."""
_CELLS = re.compile(r"</t[dh]\s*>\s*<t[dh](?:\s[^<>]{0,200})?>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:quot|lt|gt|amp|apos|nbsp|#\d{2,4}|#[xX][0-9a-fA-F]{2,4});")
_ESCAPED = re.compile(r"(?<![\\\w:])((?:\\_)+)|(?<=\w)((?:\\_)+)(?=\w)")
_STAR = re.compile(r"(?<!\\)\\(?=[*>`])")
_BRACKETS = re.compile(r"(?<!\\)\\(?=[\[\]()])")
_IN_BRACKETS = re.compile(r"(?<!\\)\\\[.*\\\]|(?<!\\)\\\(.*\\\)")
_BOLD = re.compile(r"(?<![^\s\[({\"',:|])\*\*(?=[^\s*])(?P<bold>[^*]{1,1000}?)(?<!\s)\*\*(?![^\s\])}\"',:;.|])")
"""Markdown's bold type: a glob, a comment of Java and a masked value have nothing between their stars."""
_BOLD_LINE = re.compile(r"(?P<indent>\s*)\*\*(?P<bold>\s*[^*\s][^*]*)\*\*\s*")
"""A line in bold type; one word alone is a heading, as of a host."""
_TYPE = re.compile(
    r"<(?P<tag>b|i|u|em|strong|mark|code|tt|font)(?:\s[^<>]{0,200})?>(?P<inside>.{0,4096}?)</(?P=tag)\s*>|<br\s*/?>\s*$",
    re.IGNORECASE,
)
"""Type of a part of a line; a nick or a placeholder in such brackets has no end."""
_LONGEST = 16 << 10
_OF_WINDOWS = re.compile(r"\b[A-Za-z]:\\")


def without(texts: list[str]) -> list[str]:
    """Return the lines without such marks, each in its place."""
    found, inside = [], False
    for text in texts:
        inside = inside or ("<" in text and _TABLE_BEGINS.match(text) is not None)
        bare = _TAG.sub(" ", _CELLS.sub("\t", text)).strip() if inside and "<" in text else _without_blocks(text)
        inside = inside and _TABLE_ENDS.search(text) is None
        found.append(_plain(_without_type(bare)))
    return found


def _without_blocks(text: str) -> str:
    """Return a line without the tags that begin and end a paragraph or a listing."""
    while "<" in text and len(text) < _LONGEST and (bare := _BLOCK.sub("", text)) != text:
        text = bare
    return text


def _without_type(text: str) -> str:
    """Return a line without the marks of its bold or otherwise distinguished parts."""
    if "<" in text and len(text) < _LONGEST:
        text = _TYPE.sub(lambda type_: type_["inside"] or "", text)
    if "**" in text and (line := _BOLD_LINE.fullmatch(text)):
        return f"{line['indent']}{line['bold']}" if len(line["bold"].split()) > 1 else text
    return _BOLD.sub(lambda bold: bold["bold"], text) if "**" in text else text


def _plain(text: str) -> str:
    if "&" in text and _REFERENCE.search(text):
        text = html.unescape(text).replace("\xa0", " ")
    if "\\" in text and '\\"' not in text and not _OF_WINDOWS.search(text) and _IN_BRACKETS.search(text):
        text = _BRACKETS.sub("", text)
    if "\\" in text and '\\"' not in text and not _OF_WINDOWS.search(text):
        text = _STAR.sub("", text)
    if "\\_" in text and '\\"' not in text and not _OF_WINDOWS.search(text):
        text = _ESCAPED.sub(lambda escaped: escaped[0].replace("\\", ""), text)
    return text
