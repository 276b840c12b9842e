"""Tables in text with a sensitive column: with bars, commas, semicolons or tabs between cells, or aligned by position."""

import re
from typing import NamedTuple, Self

from casebook.collect.redaction.marks import MARK, without
from casebook.collect.redaction.names import is_id, is_sensitive_column

_LONGEST_HEAD = 2000
_DELIMITERS = (b"|", b"\t", b";", b",")
_WORD = re.compile(rb"[A-Za-z_][\w.-]{0,60}")
_WORDS = re.compile(rb"[A-Za-z_][\w.#/-]{0,60}(?: [\w.#/-]{1,60}){0,2}")
_SET = re.compile(rb"\S+(?: \S+)*")
_SINGLE = re.compile(rb"\S+")
_CAPITALS = re.compile(rb"[A-Z][A-Z\d_-]{0,60}(?: [A-Z][A-Z\d_-]{0,60})+")
_RULE = re.compile(rb"[-+=|: \t]+")
_OTHER = re.compile(rb"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d{1,2}:\d\d:\d\d|\[|(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b|\S{0,60}[$#>] )")
"""Lines of logs and shells, which end a table."""
_QUOTED = re.compile(rb'"')


class SecretTable(NamedTuple):
    """A table with a sensitive column.

    Args:
        delimiter: Between cells; empty for columns aligned by position.
        starts: Start of each column aligned by position.
        columns: Number of columns.
        secret: Sensitive columns.
    """

    delimiter: bytes
    starts: tuple[int, ...]
    columns: int
    secret: frozenset[int]

    @classmethod
    def begun(cls, line: bytes) -> Self | None:
        """Return the table with this header line; ``None`` for another line."""
        if len(line) > _LONGEST_HEAD:
            return None
        for delimiter in _DELIMITERS:
            if delimiter in line:
                spans = _cells(line, delimiter)
                kind = _WORDS if delimiter in b"|\t" else _WORD
                if table := cls._of(delimiter, line, spans, kind):
                    return table
        set_ = [match.span() for match in _SET.finditer(line)]
        if len(set_) == 1 and _CAPITALS.fullmatch(line.strip()):
            set_ = [match.span() for match in _SINGLE.finditer(line)]
        return cls._of(b"", line, set_, _WORDS)

    @classmethod
    def _of(cls, delimiter: bytes, line: bytes, spans: list[tuple[int, int]], kind: re.Pattern[bytes]) -> Self | None:
        names = [line[slice(*span)] for span in spans]
        if len(names) < 2 or not all(map(kind.fullmatch, names)):
            return None
        secret = frozenset(at for at, name in enumerate(names) if _is_secret(name.decode(errors="replace")))
        return cls(delimiter, tuple(begin for begin, _ in spans), len(names), secret) if secret else None

    def row(self, line: bytes) -> bytes | None:
        """Return a row without its secrets; ``None`` for a line that is no row, which ends the table."""
        if _RULE.fullmatch(line):
            return line
        if not line.strip() or _OTHER.match(line):
            return None
        if not self.delimiter:
            return self._set_row(line)
        cells = _cells(line, self.delimiter)
        if len(cells) < self.columns:
            return None
        if len(cells) > self.columns or (_QUOTED.search(line) and self.delimiter in b",;"):
            return MARK  # the cells cannot be distinguished
        return without(line, (cells[at] for at in self.secret))

    def _set_row(self, line: bytes) -> bytes | None:
        for kind in (_SET, _SINGLE):
            cells = [match.span() for match in kind.finditer(line)]
            if len(cells) == self.columns:
                return without(line, (cells[at] for at in self.secret))
        words = [match.span() for match in _SINGLE.finditer(line)]
        ends = (*self.starts[1:], len(line) + 1)
        below = [(begin, end) for at in self.secret for begin, end in words if end > self.starts[at] and begin < ends[at]]
        return without(line, below) if below and len(words) > 1 else None


def _cells(line: bytes, delimiter: bytes) -> list[tuple[int, int]]:
    """Return the spans of a line's cells, without surrounding blanks; bars around all of them separate nothing."""
    first, last = 0, len(line)
    if delimiter == b"|":
        body = line.strip()
        line = line.replace(b"||", b"| ")
        first = line.find(b"|") + 1 if body.startswith(b"|") else 0
        first += line[first : first + 1] == b" "
        last = len(line.rstrip().rstrip(b"|").rstrip()) if body.endswith(b"|") else last
    found, begin = [], first
    while begin <= last:
        end = line.find(delimiter, begin, last)
        end = last if end < 0 else end
        cell = line[begin:end]
        found.append((begin + len(cell) - len(cell.lstrip()), begin + len(cell.rstrip()) if cell.strip() else end))
        begin = end + 1
    return found


def _is_secret(name: str) -> bool:
    return is_sensitive_column(name) and not is_id(name)
