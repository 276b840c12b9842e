"""Objects of JSON that stand as strings in the source of a program, their quotes behind backslashes: as they are read."""

import re

_STRING = re.compile(
    r"\s*(?:[\w.]{1,40} ?= ?|[\w.]{1,40}(?=\()|return |[(+,.]\s*)*\"(?P<body>(?:\\.|[^\"\\])*)(?:\"\s*[+;,)]*\s*|$)"
)
_ESCAPED = re.compile(r"\\([\"\\/])")
_MOST, _LEAST = 40, 2


def strings(texts: list[str]) -> list[str]:
    """The lines; a run of strings that is one object stands in its first line, the others are empty."""
    found, at = list(texts), 0
    while at < len(texts):
        after = at
        while (
            after < min(len(texts), at + _MOST) and '\\"' in texts[after] and (row := _STRING.fullmatch(texts[after])) is not None
        ):
            after += 1
        bodies = [_ESCAPED.sub(r"\1", row["body"]) for text in texts[at:after] if (row := _STRING.fullmatch(text))]
        whole = "".join(bodies)
        if whole.lstrip().startswith("{") and whole.count('"') > _LEAST:
            found[at:after] = [whole, *([""] * (after - at - 1))]
        at = max(after, at + 1)
    return found
