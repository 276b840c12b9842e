"""Names with values on a line: ``name: value``, ``name=value``, ``"name":value``."""

import re
from collections.abc import Iterator

_PAIR = re.compile(
    r"(?P<quote>\"?)(?<![\w/.-])(?P<name>(?:[A-Z][a-z]+ )?[A-Za-z#%][\w.#%-]{1,40})(?P=quote) ?[:=] ?"
    r"(?P<value>\"[^\"]*\"|\[[^\[\]{}]*\]|(?!//|[A-Z][A-Za-z]+:(?!/))(?:[^\s,;{}\[\]\"()]|,(?![\w.-]+[=:])(?=[^\s\"\[{,]))+)(?=[\s,;}\])]|$)"
)
"""A list continues after a comma without a blank."""
_ALONE = re.compile(
    r"\s*(?P<name>[\"']?[A-Za-z][\w.()/%#-]*(?: [\w()/%#.-]+){0,4}[\"']?)\s*(?:[:=]|\t+)\s*(?P<value>\S.{0,300}?),?\s*"
)
_PROSE = re.compile(r"(?:[a-z']+[,.;]? ){3}|[?!]$|^//")
_WHOSE = re.compile(r"(?=.*\d)[A-Za-z][\w.-]*(?: [\w.-]+){0,3}|[A-Za-z]\w*(?:[-_.]\w+)+")
"""Words with a number, or a name of parts, in front of a row's names."""
_MARKS = " \t-:,|*>"
_CODE = (".java", ".scala")


def found(text: str) -> Iterator[tuple[str, str]]:
    """Yield every name with its value; files in stack frames are none."""
    for pair in _PAIR.finditer(text):
        if not pair["name"].lower().endswith(_CODE):
            yield pair["name"], pair["value"].strip('"')


def alone(text: str) -> list[str]:
    """Return the content of a line that consists only of names with values, without prose: together behind what numbers them."""
    several = [f"{name} {value}" for name, value in found(text)]
    rest = _PAIR.sub("", text)
    if len(several) > 1 and len(re.findall(r"[A-Za-z]{2,}", rest)) <= len(several):
        whose = text[: _PAIR.search(text).start()].strip(_MARKS)
        return [f"{whose}: {', '.join(several)}"] if _WHOSE.fullmatch(whose) else several
    if (one := _ALONE.fullmatch(text)) and not _PROSE.search(one["value"]) and len(one["name"]) < 60:
        return [f"{one['name']} {one['value']}"]
    return []
