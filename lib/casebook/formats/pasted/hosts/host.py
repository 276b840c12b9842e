"""Common parts of readers of host output: owner, and rows of columns.

A host name, a pod's ordinal and a port are no broker ids: only a heading such as ``broker 3:``, or the output itself, names the
broker.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.formats.pasted.frame import Frame as Frame
from casebook.formats.pasted.hosts.listing import broker_named
from casebook.formats.pasted.text import PastedLine

LONGEST = 4096
"""Longer lines are no rows."""
AGE = r"(?:\d{1,6}[ydhms]){1,5}"
"""Age in kubectl's notation: no instant, as its reference time is unknown."""
_ASKED = re.compile(
    r"\s*(?:&&\s*|\|\s*|;\s*)?(?:sudo\s+)?(?:df|jstack|jcmd|jps|systemctl|dmesg|journalctl|curl|helm|vmstat|iostat|lsblk|uptime|kubectl|oc)"
    r"(?:\s+(?:-\S+|get|describe|exec|status|is-active|start|stop|restart|logs?|top|https?:\S+|/\S*|\d+|list|show)(?:\s[^.!?]*)?|\s*;.*|\s*\|.*)?:?\s*"
)
_COMMENT = re.compile(r"(?:#|//|;|--) ")
_PROMPT = re.compile(r"\s*(?:\[?[\w.-]+@[\w.-]+(?:[ :][^\]$#%]*)?\]?\s?|[\w.:/~-]*)[$#%>]\s+\S")


class Placed(NamedTuple):
    """A line, and the broker in a heading above it."""

    at: int
    line: PastedLine
    broker: int | None


def placed(lines: Sequence[PastedLine]) -> Iterator[Placed]:
    """Yield every line of at most that length, with its broker."""
    broker: int | None = None
    for at, line in enumerate(lines):
        if (named := broker_named(line.text)) is not None:
            broker = named
        elif len(line.text) <= LONGEST:
            yield Placed(at, line, broker)


def uncommented(text: str) -> str:
    """Return a line of output inside a script's comment."""
    return text[mark.end() :] if (mark := _COMMENT.match(text)) else text


def is_asked(text: str) -> bool:
    """Return whether it is a lone host command, without a prompt."""
    return len(text) < 400 and _ASKED.fullmatch(text) is not None


def is_command(text: str) -> bool:
    """Return whether text follows a prompt."""
    return _PROMPT.match(text[:400]) is not None
