"""Host tables, reported as printed: each row's values by column name.

No check uses ``free``, ``vmstat``, ``iostat``, ``sar``, ``top`` and ``docker ps``; their content is reported anyway.
"""

import re
from collections.abc import Sequence

from casebook.facts.quotes import cut

_NAME = re.compile(r"%?[A-Za-z_#/%][\w%/().:#+-]*")
_FIGURE = re.compile(r"[^A-Za-z%#_]")
_CELLS = re.compile(r"\t+ *| {2,}")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d|[AP]M")
_DOCKER = re.compile(r"CONTAINER ID\s.*")
_LEAST, _MOST_ROWS, _MOST_SHOWN = 3, 30, 4000


def told(texts: Sequence[str]) -> str:
    """Return the first rows; ``""`` without a table."""
    return _first(_docker(texts) if _DOCKER.match(texts[0]) else _by_cells(texts) or list(_rows(texts)))


def printed(texts: Sequence[str]) -> str:
    """Return the first rows of an output without a header, as they stand."""
    return _first([" ".join(text.split()) for text in texts])


def _first(rows: Sequence[str]) -> str:
    more = f"; {len(rows) - _MOST_ROWS} more rows" if len(rows) > _MOST_ROWS else ""
    return cut("; ".join(rows[:_MOST_ROWS]), _MOST_SHOWN) + more


def _by_cells(texts: Sequence[str]) -> list[str]:
    """Return rows with as many cells as the header, with blanks within names and values; none of another form."""
    names, *rows = ([cell for cell in _CELLS.split(text.strip()) if cell] for text in texts)
    if len(names) < _LEAST or not rows or any(len(row) != len(names) for row in rows) or any(map(_FIGURE.match, names)):
        return []
    return [", ".join(f"{name} {cell}" for name, cell in zip(names, row, strict=True)) for row in rows]


def _rows(texts: Sequence[str]) -> Sequence[str]:
    names: list[str] = []
    told = True
    found = []
    for text in texts:
        words = text.replace("[ ]", "[]").split()
        if len(words) >= _LEAST and all(_NAME.fullmatch(word) or _CLOCK.fullmatch(word) for word in words):
            names, told = words, False
        elif names and (row := _row(names, words)):
            found.append(row)
            told = True
        elif words and not re.fullmatch(r"[\s-]*(?:procs -.*)?", text):
            found += [" ".join(words)] if told else [" ".join(names), " ".join(words)]
            told = True
    return found


def _row(names: Sequence[str], words: Sequence[str]) -> str:
    """Return a row with as many words as names, with a label before them, or with the label in the names."""
    if len(words) == len(names):
        pairs = zip(names, words, strict=True)
    elif len(words) == len(names) + 1 or (words[:1] and words[0].endswith(":") and 1 < len(words) <= len(names)):
        label, pairs = words[0], zip((name for name in names if not _CLOCK.fullmatch(name)), words[1:], strict=False)
        return f"{label} " + ", ".join(f"{name} {word}" for name, word in pairs)
    elif len(words) + 1 == len(names) and names[0].endswith(":"):
        pairs = zip(names[1:], words, strict=True)
    else:
        return ""
    return ", ".join(word if _CLOCK.fullmatch(name) else f"{name} {word}" for name, word in pairs)


def _docker(texts: Sequence[str]) -> list[str]:
    """Return containers: name, image and status, then the rest as printed; the columns of ports may be empty."""
    found = []
    for text in texts[1:]:
        cells = re.split(r"\s{2,}", text.strip())
        if len(cells) > _LEAST:
            status = next((cell for cell in cells[2:] if re.match(r"Up |Exited|Created|Restarting|Dead|Paused", cell)), "")
            ports = next((cell for cell in cells[2:-1] if re.search(r"\d/(?:tcp|udp)", cell)), "")
            rest = [cell for cell in (cells[0], *cells[2:-1]) if cell not in (status, ports)]
            shown = [f"ports {ports}"] * bool(ports) + rest
            found.append(f"{cells[-1]} ({cells[1]}): {', '.join(filter(None, (status, *shown)))}")
    return found
