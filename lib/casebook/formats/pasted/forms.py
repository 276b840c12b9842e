"""Outputs of unknown tools, recognised by form: JSON, YAML, tables with a header, names with values.

Their meaning is unknown, and no check uses them; their content is reported, each value with its name as printed.
"""

import json
import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import ToolStatement
from casebook.formats.pasted import cut_json, pairs, prose
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, is_gap, is_remark, spanned

_TOKENS = re.compile(r'\s*(?:[{}\[\],:]\s*|"(?:\\.|[^"\\])*+"\s*|-?\d[\d.eE+-]*+\s*|true\s*|false\s*|null\s*)++')
_MEMBER = re.compile(r'"[^"]{1,100}"\s*:')
_KEY = re.compile(r"(?P<indent>\s*)(?P<item>- +)?(?P<key>[\"']?[A-Za-z_][\w./-]{0,80}[\"']?):(?:\s+(?P<value>\S.*))?")
_ITEM = re.compile(r"(?P<indent>\s*)- +(?P<value>\S.*)")
_CELL = re.compile(r"\t+ *| {2,}")
_HEAD = re.compile(r"(?:[^\W\d]|[%#])[\w%/().:# -]{0,40}|\.{3}")
_CELL_AT = re.compile(r"\S+(?: \S+)*")
_DOTS = "..."
_NAME = re.compile(r"(?=.*[a-zA-Z])[a-zA-Z0-9._-]{1,249}")
_TELLING = re.compile(r"[\w][-_.]\w|__|[a-z]\d")
_ALIGNED = re.compile(r"\s*(?P<name>[A-Z][\w-]{1,30}(?: [A-Z(][\w-]{1,30}\)?){0,3}):(?: {3,}|\t+)(?P<value>\S.{0,600})")
_SETTING = re.compile(r"\s*(?:# ?)?(?:export )?(?P<name>(?=\w*[A-Z_.])[A-Za-z_][\w.-]{2,60}) ?= ?(?P<value>[^\s=].{0,300})")
_STATED = re.compile(r"\s*(?P<name>[A-Z][\w.-]{1,30}(?: [\w.-]{2,30}){0,2}):\s+(?P<value>(?=.*\d)\S.{0,200})")
"""One name with its value alone on a line: as a shell prints a variable; as a heading of a report, with a figure."""
_PROSE = re.compile(r"(?:[a-z']+[,;]? ){4}")
_SAID = re.compile(r"(?:[a-z']+[,;]? ){2}.*(?:\.\Z|\b(?:to|is|was|be|for)\b)")
_LONGEST, _MOST, _LEAST_CELLS, _MOST_SAID = 4096, 400, 3, 4000
NO_TOOL = "an output of no tool that is known"
_OF_LOGS = frozenset({"@timestamp", "log", "message", "msg", "_source", "hits", "textPayload", "jsonPayload"})
"""Members of a log entry as JSON."""
_PARTS_OF = {
    "kafka-log-dirs": re.compile(r'"(?:offsetLag|isFuture)"\s*:'),
    "kafka-dump-log": re.compile(r"\bbaseOffset: \d+ lastOffset: \d"),
}
"""Names that only one tool prints."""


def outputs(lines: Sequence[PastedLine]) -> Iterator[ToolStatement | CutOutput]:
    """Yield every run of lines in such a form; other runs are not examined again line by line."""
    at, tried = 0, dict.fromkeys(_READERS, 0)
    while at < len(lines):
        after = at + 1
        if lines[at].text and len(lines[at].text) <= _LONGEST:
            for read in _READERS:
                if tried[read] > at:
                    continue
                rows, end, more = read(lines, at)
                if rows:
                    yield ToolStatement(_whose(lines[at:end]), spanned(lines, at, end), _shown(rows))
                    yield from more
                    after = end
                    break
                tried[read] = end
        at = max(after, at + 1)


def objects(lines: Sequence[PastedLine]) -> Iterator[ToolStatement]:
    """Yield every whole object of JSON over several lines: a line of it that names an exception is no log line."""
    at = 0
    while at < len(lines):
        after = at + 1
        if lines[at].text.strip() == "{":
            value, whole, end = cut_json.read(lines, at)
            if whole and isinstance(value, dict) and value and not _OF_LOGS & value.keys():
                yield ToolStatement(_whose(lines[at:end]), spanned(lines, at, end), _shown(list(flat(value))))
                after = end
        at = after


def _whose(lines: Sequence[PastedLine]) -> str:
    """Return the tool that prints these names, in part of its output; else that none is known."""
    found = (tool for line in lines for tool, names in _PARTS_OF.items() if names.search(line.text[:_LONGEST]))
    return next(found, NO_TOOL)


_Told = tuple[list[str], int, Sequence[CutOutput]]


def is_level(text: str) -> bool:
    """Return whether it is only the name of a YAML level."""
    found = _KEY.fullmatch(text[:_LONGEST])
    return found is not None and not found["value"]


def tree(lines: Sequence[PastedLine]) -> str:
    """Return the values of YAML, each after the names that lead to it."""
    found, at = [], 0
    while at < len(lines):
        rows, after, _ = _yaml(lines, at) if lines[at].text else ([], at, ())
        found += rows
        at = max(after, at + 1)
    return _shown(found)


def flat(value: object, name: str = "") -> Iterator[str]:
    """Yield the leaves of a JSON value, each after the names that lead to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for index, inner in enumerate(value):
            yield from flat(inner, f"{name}[{index}]")
    else:
        told = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
        yield f"{name} {told}".strip()


def _shown(rows: Sequence[str]) -> str:
    kept = []
    for row in rows:
        if sum(map(len, kept)) + len(row) > _MOST_SAID:
            break
        kept.append(row)
    more = f"; and {len(rows) - len(kept)} more" if len(kept) < len(rows) else ""
    return "; ".join(kept) + more


def _json(lines: Sequence[PastedLine], at: int) -> _Told:
    if not lines[at].text.lstrip().startswith(("{", "[{", '["')):
        return [], at, ()
    value, whole, after = cut_json.read(lines, at)
    rows = list(flat(value)) if value else []
    if not rows or not any(_MEMBER.search(line.text) for line in lines[at:after]):
        return [], at, ()
    return rows, after, () if whole else (cut_json.cut_output(lines, at, after),)


def _part_of_json(lines: Sequence[PastedLine], at: int) -> _Told:
    """Return the complete members of an object without its pasted start."""
    after = at
    while after < min(len(lines), at + _MOST) and _TOKENS.fullmatch(lines[after].text[:_LONGEST]):
        after += 1
    text = "".join(line.text.strip() for line in lines[at:after]).strip(", ")
    for begun in (
        (f"{{{text}", cut_json.closed(f"{{{text}"), cut_json.closed(f"{{{text.rstrip('}')}")) if _MEMBER.search(text) else ()
    ):
        try:
            return list(flat(json.loads(begun))), after, ()
        except (ValueError, RecursionError):
            continue
    return [], after, ()


def _cells(text: str) -> list[str]:
    if "|" in text:
        return [cell.strip() or "(empty)" for cell in text.split("|")]
    return [cell for cell in _CELL.split(text.strip()) if cell]


def _is_rule(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line between a header and its rows has no words."""
    return at + 1 < len(lines) and not lines[at].text.strip(" -=+|\t") and "|" in lines[at + 1].text


def _table(lines: Sequence[PastedLine], at: int) -> _Told:
    """Parse a header of names, and at least one row with as many cells."""
    names = _cells(lines[at].text)
    has_bars = "|" in lines[at].text and _is_rule(lines, at + 1)
    least = 2 if has_bars else _LEAST_CELLS
    if len(names) < least or not all(_HEAD.fullmatch(name) for name in names):
        return [], at, ()
    is_ruled = "\t" in lines[at].text and at + 1 < len(lines) and not lines[at + 1].text
    rows, after = [], at + 1 + (has_bars or is_ruled)
    while after < min(len(lines), at + _MOST):
        text = lines[after].text
        cells = _cells(text[:_LONGEST])
        if not text.strip(" -=+|\t") and text:
            after += 1
            continue
        if len(cells) != len(names) and not (cells := _placed(lines[at].text, text, names)):
            break
        rows.append(
            ", ".join(f"{name} {cell}" for name, cell in zip(names, cells, strict=True) if (name, cell) != (_DOTS, _DOTS))
        )
        after += 1
    return rows, after if rows else at, ()


def _placed(head: str, text: str, names: Sequence[str]) -> list[str]:
    """Return the cells of a row of which some are empty, each below the start of its name; none where one is not."""
    starts = [found.start() for found in _CELL_AT.finditer(head)]
    cells = {found.start(): found[0] for found in _CELL_AT.finditer(text)}
    is_placed = len(starts) == len(names) and 1 < len(cells) < len(names) and cells.keys() <= {*starts}
    return [cells.get(start, "(empty)") for start in starts] if is_placed and "|" not in head else []


def _yaml(lines: Sequence[PastedLine], at: int) -> _Told:
    """Parse nested keys by indent: at least one of them has children."""
    path: list[tuple[int, str]] = []
    rows, after, nested = [], at, False
    while after < min(len(lines), at + _MOST):
        text = lines[after].text
        if not text or is_gap(text) or (is_remark(text) and after > at):
            if not text:
                break
            after += 1
            continue
        found = _KEY.fullmatch(text[:_LONGEST]) or _ITEM.fullmatch(text[:_LONGEST])
        if found is None:
            break
        indent = len(found["indent"].expandtabs())
        row = found.groupdict()
        while path and path[-1][0] >= indent + bool(row.get("item")):
            path.pop()
        nested = nested or bool(path)
        key = (row.get("key") or "").strip("\"'")
        names = [name for _, name in path] + ([key] if key else [])
        if row["value"]:
            rows.append(f"{'.'.join(names)} {row['value'].strip()}")
        elif key:
            path.append((indent + len(row.get("item") or ""), key))
        after += 1
    return rows if nested and not any(map(_PROSE.search, rows)) else [], after, ()


def _pairs(lines: Sequence[PastedLine], at: int) -> _Told:
    """Parse names with values: several per line, or one, which stands alone where its form is a tool's."""
    rows, after = [], at
    while after < min(len(lines), at + _MOST) and (found := pairs.alone(lines[after].text[:_LONGEST])):
        rows += found
        after += 1
    if len(rows) < 2:
        return _one_pair(lines[at].text), at + 1, ()
    has_figures = any(re.search(r"\d|\btrue\b|\bfalse\b", row) for row in rows)
    return rows if has_figures else [], after, ()


def _one_pair(text: str) -> list[str]:
    found = _ALIGNED.fullmatch(text)
    if found is None and (found := _SETTING.fullmatch(text) or _STATED.fullmatch(text)):
        is_said = prose.is_of_person(text) or _PROSE.search(found["value"]) or _SAID.search(found["value"])
        found = None if is_said else found
    return [f"{found['name']} {found['value'].strip()}"] if found else []


def _two_columns(lines: Sequence[PastedLine], at: int) -> _Told:
    """Parse a table of a page that has names in its first column, and no header: at least two rows, one with a figure."""
    after, rows = at, []
    while after < min(len(lines), at + _MOST) and len(cells := [*filter(None, lines[after].text[:_LONGEST].split("\t"))]) == 2:
        rows.append(": ".join(cell.strip() for cell in cells))
        after += 1
    return rows if len(rows) > 1 and any(re.search(r"\d", row) for row in rows) else [], after, ()


def _names(lines: Sequence[PastedLine], at: int) -> _Told:
    """Parse names of topics, groups or the like alone on their lines, at least two of them of a form that no word has."""
    after = at
    while after < min(len(lines), at + _MOST) and _NAME.fullmatch(lines[after].text.strip()[:_LONGEST]):
        after += 1
    rows = [line.text.strip() for line in lines[at:after]]
    is_block = (at == 0 or not lines[at - 1].text) and (after == len(lines) or not lines[after].text)
    return rows if is_block and len([row for row in rows if _TELLING.search(row)]) > 1 else [], after, ()


_READERS = (_json, _part_of_json, _table, _yaml, _pairs, _two_columns, _names)
