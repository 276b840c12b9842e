"""Outputs that stand as strings in the source of a program: as they are read.

A run of strings is either one object of JSON, its quotes behind backslashes, or one line of an output each; a literal of several
lines is a whole output.
"""

import re

from casebook.formats.pasted.damage import sent

_STRING = re.compile(
    r"\s*(?:[\w.]{1,40} ?= ?|[\w.]{1,40}(?=\()|return |[(+,.]\s*)*\"(?P<body>(?:\\.|[^\"\\])*)(?:\"\s*[+;,)]*\s*|$)"
)
_LINE = re.compile(r"\s*(?P<quote>[\"'`])(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)\s*(?:[+;,)]*|\\)\s*")
_ESCAPED = re.compile(r"\\([\"'\\/`t])")
_END = re.compile(r"(?:\\r)?(?:\\n)?$")
"""A string's own end of its line."""
_LITERAL = re.compile(
    r"(?P<head>\s*(?:(?:export|const|let|var|val|final|public|private|static|String|def)\s+){1,4}\w+(?:: ?[\w&' ]+)? ?:?= ?`"
    r"|\s+\w+ = `(?=[^`]*$)|\s*(?:\w+\s+){0,4}\w+(?:: ?[\w&' ]+)? ?:?= ?(?:[a-z]?\"{3}|[a-z]?'{3}|r#+\")\\?)(?P<text>.*)"
)
"""A literal with its name; the sign that ends it is the last of its head."""
_MOST, _LEAST, _MOST_INSIDE, _LONGEST = 40, 2, 500, 64 << 10


def strings(texts: list[str]) -> list[str]:
    """The lines; a run of strings that is one object stands in its first line, the others are empty."""
    texts = _outputs(texts)
    found, at = list(texts), 0
    while at < len(texts):
        after = at
        while (
            after < min(len(texts), at + _MOST) and '\\"' in texts[after] and (row := _STRING.fullmatch(texts[after])) is not None
        ):
            after += 1
        bodies = [_unescaped(row["body"]) for text in texts[at:after] if (row := _STRING.fullmatch(text))]
        whole = "".join(bodies)
        if whole.lstrip().startswith("{") and whole.count('"') > _LEAST:
            found[at:after] = [whole, *([""] * (after - at - 1))]
        at = max(after, at + 1)
    return found


def _outputs(texts: list[str]) -> list[str]:
    """The lines; strings one below the other, of which a tool surely prints one, without their quotes."""
    found, at = list(texts), 0
    while at < len(texts):
        after = at
        while after < len(texts) and texts[after] and len(texts[after]) < _LONGEST and _LINE.fullmatch(texts[after]):
            after += 1
        bodies = [_unescaped(_END.sub("", row["body"], count=1)) for text in texts[at:after] if (row := _LINE.fullmatch(text))]
        if after - at >= _LEAST and any(map(sent.is_output, bodies)):
            found[at:after] = bodies
        at = max(after, at + 1)
    return found


def _unescaped(body: str) -> str:
    """Return what a string prints."""
    return _ESCAPED.sub(lambda escaped: "\t" if escaped[1] == "t" else escaped[1], body)


def literals(texts: list[str]) -> tuple[list[str], dict[int, str]]:
    """Return the lines without the signs of literals, and what stood before each literal, by the index of its line."""
    found, heads, at = list(texts), {}, 0
    while at < len(texts):
        begun, last = (_LITERAL.fullmatch(texts[at]) if "=" in texts[at][:200] else None), at
        if begun:
            sign = re.search(r"`|\"{3}|'{3}|(?<=r)#+\"", begun["head"])[0]
            ends = re.compile(rf"(?P<text>.*?){re.escape(sign[::-1])}[\w.(),;\s]*")
            rest = [begun["text"], *texts[at + 1 : at + _MOST_INSIDE]]
            last = next((index for index, text in enumerate(rest, at) if ends.fullmatch(text)), len(texts))
            found[at], heads[at] = begun["text"], begun["head"].strip()
            if last < len(texts):
                found[last] = ends.fullmatch(rest[last - at])["text"].rstrip()
        at = last + 1
    return found, heads
