"""Text that a person copied out of a terminal, a mail or a chat: its lines as they were before they were sent.

What mail and chat do to a line is taken back where nothing else can have been meant: quote marks, typographic quotes and
dashes, no-break spaces, colours, carriage returns. Lines keep their numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MOST_LINES = 20_000
"""Of a longer paste only so many lines are read."""

_QUOTED = re.compile(r"\s{0,4}(?:>\s?)+")
_UNSEEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\u200b-\u200f\u2060\ufeff\u00ad]")
_PROMPT = re.compile(
    r"\s*(?:\[?[\w.-]+@\S+(?: \S+\])?\s?|\S*)[$#%>] .*|\s*\[zk:.*|\s*(?:\S*/)?(?:kafka-[a-z-]+(?:\.sh|\.bat)?|echo) .*"
)
_FENCE = re.compile(
    r"\s*(?:(?:```|~~~)[\w+-]*|</?(?:pre|code|details|summary)>(?:</?(?:pre|code)>)?|\{(?:code|noformat)(?::\w+)?\})\s*"
)
_COMPOSE = re.compile(r"(?P<name>[a-zA-Z][\w.-]{0,60})\s{0,40}\| ?")
_CHAT = re.compile(r"\s{0,4}\[\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]M)?\] ?(?:<[\w .@-]{1,30}>|[\w.@-]{1,30}:)(?: |$)")
_OFTEN = 2
"""So many lines of one name before a bar are of docker compose, not of a table."""
_TABLE = re.compile(r"\s*\|(?P<cells>.*)\|\s*")
_RULE = re.compile(r"[\s|:+=-]*")
_CELL = re.compile(r"\s*\|+\s*")
_SENT_AS = {
    **dict.fromkeys(map(ord, "“”„‟«»"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    0x2014: "--",  # what an editor makes of the two dashes of an option
    0x2026: "...",
    **dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
}


_REMARK = re.compile(
    r"\s*(?:#+|//+|<!--|--(?=\s)|;)(?!.*\b(?:kafka-|kcat|kafkacat|zk|zookeeper-|zkServer|echo|nc|telnet|ls2?|get|stat|cat|du|df|docker"
    r"|kubectl|bin/|sudo|broker[- ]?\d+)).*"
)


class Line(NamedTuple):
    """A line of a paste.

    Args:
        number: In the paste, from 1.
        text: As it stood in the terminal, as far as that can be told; without line end.
    """

    number: int
    text: str


def quote_mark(text: str) -> str:
    """What a mail put before a line: ``> `` once or more; ``""`` for a line of one's own."""
    found = _QUOTED.match(text)
    return found[0] if found else ""


def is_remark(text: str) -> bool:
    """Whether a line is what a person wrote on an output: a comment, neither a prompt nor a heading of a broker's."""
    return len(text) < 300 and _REMARK.fullmatch(text) is not None


def is_fence(text: str) -> bool:
    """Whether it begins or ends a block of Markdown."""
    return _FENCE.fullmatch(text) is not None


def is_end(lines: Sequence[Line], at: int) -> bool:
    """Whether an output surely ends before a line: at an empty one or at the next command, not at the end of the paste."""
    return at < len(lines) and (not lines[at].text or _PROMPT.fullmatch(lines[at].text[:4096]) is not None)


def cleaned(texts: Iterable[str]) -> list[Line]:
    """The lines of a paste, at most :data:`MOST_LINES`; fences are empty lines."""
    lines: list[Line] = []
    for number, text in enumerate(texts, start=1):
        if number > MOST_LINES:
            break
        body = text[len(quote_mark(text)) :].rstrip("\r\n")
        plain = _UNSEEN.sub("", body).translate(_SENT_AS).rstrip() if not body.isascii() or "\x1b" in body else body.rstrip()
        plain = plain[len(chat[0]) :] if "[" in plain[:6] and (chat := _CHAT.match(plain)) else plain
        lines.append(Line(number, "" if is_fence(plain) else _without_frame(plain)))
    return _without_services(lines)


def _without_services(lines: list[Line]) -> list[Line]:
    """The lines without the names that docker compose puts before each."""
    found = {line.number: mark for line in lines if "|" in line.text[:110] and (mark := _COMPOSE.match(line.text))}
    often = Counter(mark["name"] for mark in found.values() if "|" not in mark.string[mark.end() :])
    return [
        Line(line.number, line.text[len(mark[0]) :])
        if (mark := found.get(line.number)) and often[mark["name"]] >= _OFTEN
        else line
        for line in lines
    ]


def _without_frame(text: str) -> str:
    """A row of a table of Markdown, Jira or a chat without its bars, which nothing of Kafka's prints at both ends of a line."""
    if "|" not in text[:8] or not text.endswith("|") or (row := _TABLE.fullmatch(text)) is None:
        return text
    cells = _CELL.split(row["cells"].strip().strip("|"))
    return "" if _RULE.fullmatch(row["cells"]) else "\t".join(cell.strip() or "-" for cell in cells)
