"""What readers of hosts' outputs have in common: whose host it is, and rows of columns.

A host's name, a pod's ordinal and a port are nobody's broker id: whose it is says a heading such as ``broker 3:`` alone, or
what was printed names the broker itself.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.formats.pasted.frame import Frame as Frame
from casebook.formats.pasted.hosts.listing import broker_named
from casebook.formats.pasted.text import PastedLine

LONGEST = 4096
"""Longer lines are nobody's row."""
AGE = r"(?:\d{1,6}[ydhms]){1,5}"
"""How long ago, as kubectl prints it: no instant, as nobody knows from when on to count."""
_ASKED = re.compile(
    r"\s*(?:&&\s*|\|\s*|;\s*)?(?:sudo\s+)?(?:df|jstack|jcmd|jps|systemctl|dmesg|journalctl|curl|helm|vmstat|iostat|lsblk|uptime|kubectl|oc)"
    r"(?:\s+(?:-\S+|get|describe|exec|status|is-active|start|stop|restart|logs?|top|https?:\S+|/\S*|\d+|list|show)(?:\s[^.!?]*)?|\s*;.*|\s*\|.*)?:?\s*"
)
_COMMENT = re.compile(r"(?:#|//|;|--) ")
_PROMPT = re.compile(r"\s*(?:\[?[\w.-]+@[\w.-]+(?:[ :][^\]$#%]*)?\]?\s?|[\w.:/~-]*)[$#%>]\s+\S")


class Placed(NamedTuple):
    """A line, and the broker that a heading above it names."""

    at: int
    line: PastedLine
    broker: int | None


def placed(lines: Sequence[PastedLine]) -> Iterator[Placed]:
    """Every line that is not too long, with whose it is."""
    broker: int | None = None
    for at, line in enumerate(lines):
        if (named := broker_named(line.text)) is not None:
            broker = named
        elif len(line.text) <= LONGEST:
            yield Placed(at, line, broker)


def uncommented(text: str) -> str:
    """A line of an output that stands in a comment of a script."""
    return text[mark.end() :] if (mark := _COMMENT.match(text)) else text


def is_asked(text: str) -> bool:
    """Whether it is a command of a host's that stands alone, without a prompt."""
    return len(text) < 400 and _ASKED.fullmatch(text) is not None


def is_command(text: str) -> bool:
    """Whether something is typed behind a prompt."""
    return _PROMPT.match(text[:400]) is not None
