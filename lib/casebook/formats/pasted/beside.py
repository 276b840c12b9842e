"""Parts of a paste besides outputs: commands and headings.

Nothing is silent: a command names servers, a namespace, a chroot or a folder; a heading names the owner of the next lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from casebook.facts.pasted import Beside
from casebook.facts.quotes import cut
from casebook.formats.pasted.damage import loops
from casebook.formats.pasted.text import PastedLine, one

_HEADING = re.compile(
    r"\s*(?:#\s+)?(?:(?:#+|-{2,}|={2,}>?|>{2,}|\*{2,}|\+{2,})\s*(?P<marked>[\w.-]{1,60}(?::\d{1,5})?)\s*(?:#+|-{2,}|={2,}|<{2,}|\*{2,})?:?"
    r"|\[(?P<boxed>[A-Za-z][\w.-]{1,60})\]|(?P<named>[A-Za-z][\w-]*[\d.][\w.-]*(?::\d{1,5})?):"
    r"|(?:#{2,}|-{2,}|={2,}|>{2,})(?=.*\d|.*(?i:broker|node|host|server|kafka|zoo))\s*"
    r"(?P<framed>[\w./:-]{1,60}(?: [\w./:-]{1,60}){1,4})\s*(?:#{2,}|-{2,}|={2,}|<{2,}):?"
    r"|(?P<resource>(?:pods?|po|node|container)/[a-z0-9][a-z0-9.-]*):?"
    r"|(?:[Hh]ost|[Ss]erver|[Nn]ode|[Pp]od|[Oo]n) (?P<called>[A-Za-z][\w.-]*):"
    r"|(?P<ansible>[\w.-]{1,60})\s*\|\s*(?i:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!?)\s*(?:\|\s*(?:rc=-?\d+|\(stdout\)|\(stderr\)).*|=>\s*\{?)"
    r"|\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<pssh>[\w.@-]+).*)\s*",
    re.ASCII,
)
"""Headings above the output of one host, by shell loops, ansible, pssh and people."""
_SECTION = re.compile(r"\s*#{20,}\s*[A-Za-z]+(?: [A-Za-z]+)*\s*#{20,}\s*")
"""A section of a broker's file, as in those that Kafka comes with (``config/server.properties@3.9.0``): it names no host."""
_AT = re.compile(
    r".*\b(?:(?:kubectl|oc|k)\s(?:(?:-\S+(?:\s+|=)[\w.-]+)\s+)*(?:exec|logs)"
    r"|docker(?:-compose| compose)?\s(?:exec|logs)|podman\s(?:exec|logs))"
    r"\s+(?:-(?:n|c|-namespace|-container|u|e|w|-env|-user|-tail|-workdir)[ =]\S+\s+|-\S+\s+)*"
    r"(?P<place>[\w./@-]+)(?![\w$.{/=:-]).*"
    r"|.*\bssh\s+(?:-[ipoFJ]\s*\S+\s+|-\S+\s+)*(?:\w+@)?(?P<host>[\w.-]+)\s+\S.*"
)
"""A command that runs in a pod, a container or on another host; one that a variable of a shell names is not known."""
_CHAINED = re.compile(r"&&|;|\|\|")
_LEAD_IN = re.compile(r"(?=.*[a-zA-Z])(?=.*\d).{2,200}:\s*")
_NO_PLACES = re.compile(
    r"(?i:answer|command|df|dmesg|du|free|iostat|jmap|journalctl|jps|jstack|jstat|kubectl|logs?|ls|lsof|mntr|netstat|output|ps|results?"
    r"|sar|ss|stat|systemctl|top|vmstat)"
)
"""Headings by people that name the output below, not its place."""
_LONGEST = 4096


def is_heading(text: str) -> bool:
    """Return whether it announces a host, like a shell loop prints it."""
    return len(text) < 200 and _heading(text) is not None


def _heading(text: str) -> re.Match[str] | None:
    return None if _SECTION.fullmatch(text) else _HEADING.fullmatch(text)


def lead_ins(left: Sequence[PastedLine], whole: Sequence[PastedLine]) -> Iterator[PastedLine]:
    """Yield lines that announce what a reader has taken right below, with a number and a colon at the end: they name its place.

    Args:
        left: The paste without what readers have taken.
        whole: All of the paste.
    """
    for at, line in enumerate(left[:-1]):
        if _LEAD_IN.fullmatch(line.text[:_LONGEST]) and whole[at + 1].text and not left[at + 1].text:
            yield line


def beside(lines: Iterable[PastedLine], whole: Sequence[PastedLine], is_typed: Callable[[str], bool]) -> list[Beside]:
    """Return lines with words that are no output: commands, headings, remarks, decoration of tools.

    Args:
        lines: Those lines.
        whole: All of the paste.
        is_typed: Whether a line is a command.
    """
    found = []
    for line in lines:
        if any(map(str.isalnum, line.text)):
            heading = _heading(line.text[:200])
            name = next(filter(None, heading.groups()), "") if heading else ""
            name = "" if _NO_PLACES.fullmatch(name) else name
            typed = not name and is_typed(line.text[:_LONGEST].lstrip("# "))
            name = _place(line.text[:_LONGEST]) if typed else name
            found.append(Beside(one(line), cut(loops.printed(line.text.strip()), _LONGEST), name, typed))
    return list(_placed(found, whole))


def _placed(found: Sequence[Beside], whole: Sequence[PastedLine]) -> Iterable[Beside]:
    """Commands one right below the other name no place: no answer has a certain command."""

    def is_next(first: int, second: int) -> bool:
        one_, other = found[first], found[second]
        between = whole[one_.span.last : other.span.first - 1]
        return one_.typed and other.typed and not any(line.text for line in between)

    for at, each in enumerate(found):
        is_one_of_several = (at > 0 and is_next(at - 1, at)) or (at + 1 < len(found) and is_next(at, at + 1))
        yield each._replace(heading="") if each.typed and is_one_of_several else each


def _place(command: str) -> str:
    """Where a command runs, as far as it says so; nothing for several in one line: their answers look the same."""
    found = _AT.fullmatch(command)
    if found is None or sum(_AT.fullmatch(part) is not None for part in _CHAINED.split(command)) > 1:
        return ""
    return (found["place"] or found["host"]).rpartition("@")[2].rstrip("-")
