"""What readers of hosts' outputs have in common: whose host it is, and rows of columns.

A host's name, a pod's ordinal and a port are nobody's broker id: whose it is says a heading such as ``broker 3:`` alone, or
what was printed names the broker itself.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.formats.pasted_frame import Frame as Frame
from casebook.formats.pasted_listing import broker_named
from casebook.formats.pasted_text import Line

LONGEST = 4096
"""Longer lines are nobody's row."""
AGE = r"(?:\d{1,6}[ydhms]){1,5}"
"""How long ago, as kubectl prints it: no instant, as nobody knows from when on to count."""
_MARKS = re.compile(r'\\.|["{}\[\]]')
_MOST_LINES, _MOST_CHARACTERS, _DEEPEST = 5000, 4 << 20, 100
_ASKED = re.compile(
    r"\s*(?:&&\s*|\|\s*|;\s*)?(?:sudo\s+)?(?:df|jstack|jcmd|jps|systemctl|dmesg|journalctl|curl|helm|vmstat|iostat|lsblk|uptime|kubectl|oc)"
    r"(?:\s+(?:-\S+|get|describe|exec|status|is-active|start|stop|restart|logs?|top|https?:\S+|/\S*|\d+|list|show)(?:\s[^.!?]*)?|\s*;.*|\s*\|.*)?:?\s*"
)
_PROMPT = re.compile(r"\s*(?:\[?[\w.-]+@[\w.-]+(?:[ :][^\]$#%]*)?\]?\s?|[\w.:/~-]*)[$#%>]\s+\S")


class Placed(NamedTuple):
    """A line, and the broker that a heading above it names."""

    at: int
    line: Line
    broker: int | None


def placed(lines: Sequence[Line]) -> Iterator[Placed]:
    """Every line that is not too long, with whose it is."""
    broker: int | None = None
    for at, line in enumerate(lines):
        if (named := broker_named(line.text)) is not None:
            broker = named
        elif len(line.text) <= LONGEST:
            yield Placed(at, line, broker)


def uncommented(text: str) -> str:
    """A line of an output that stands in a comment of a script."""
    return text[2:] if text.startswith("# ") else text


def is_asked(text: str) -> bool:
    """Whether it is a command of a host's that stands alone, without a prompt."""
    return len(text) < 400 and _ASKED.fullmatch(text) is not None


def is_command(text: str) -> bool:
    """Whether something is typed behind a prompt."""
    return _PROMPT.match(text[:400]) is not None


def json_at(lines: Sequence[Line], at: int) -> tuple[object | None, int]:
    """What stands in JSON from a line on, over several lines or not, and the line behind it; ``None`` for JSON that is cut."""
    whole: list[str] = []
    depth, inside, characters = 0, False, 0
    for index in range(at, min(len(lines), at + _MOST_LINES)):
        text = lines[index].text if inside else lines[index].text.strip()
        if index > at and not text:
            return None, index
        whole.append(text)
        characters += len(text)
        for mark in _MARKS.finditer(text):
            if mark[0] == '"':
                inside = not inside
            elif not inside and mark[0] in "{}[]":
                depth += 1 if mark[0] in "{[" else -1
                if depth > _DEEPEST:
                    return None, index + 1
        if depth <= 0 or characters > _MOST_CHARACTERS:
            break
    else:
        return None, min(len(lines), at + _MOST_LINES)
    try:
        return json.loads("".join(whole)), index + 1
    except (ValueError, RecursionError):
        return None, index + 1
