"""Headline of a run: what is broken, since when, what to do first, and why; the same in notebook, report, index and terminal.

It is made of ``findings.json``, so that each place says it in the same words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casebook.findings import words
from casebook.findings.finding import UNREADABLE, Completeness, Severity, Status, undecided

Document = Mapping[str, object]
BELOW = ("since", "first", "why")
"""The lines below a headline, by their first word."""
_PASTE = "evidence.next"
_UNCHECKED = Status.COULD_NOT_CHECK.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Headline of a run.

    Args:
        kind: Severity of the finding that it is about; ``ok``; or ``could_not_check`` when no overall conclusion is possible.
        title: One sentence.
        known: Title of the worst finding when no overall conclusion is possible.
        since: ISO-8601 UTC instant since which it is so; ``None`` when unknown, or where the title has it.
        at_latest: It may be so for longer.
        first: The first step, with its price; ``""`` for none.
        command: The first step's command; ``""`` for none.
        why: Its reason, one or a few sentences; ``""`` for none.
        worse: Number of critical findings that do not come first, all on what is still to come.
        unchecked: Number of checks that could not be made.
    """

    kind: str
    title: str
    known: str = ""
    since: str | None = None
    at_latest: bool = False
    first: str = ""
    command: str = ""
    why: str = ""
    worse: int = 0
    unchecked: int = 0

    @property
    def said(self) -> str:
        """Its title, with the worst finding when no overall conclusion is possible."""
        return f"{self.title}; known so far: {self.known}" if self.known else self.title

    @property
    def also(self) -> str:
        """``1 critical finding below``; ``""`` without."""
        return f"{words.plural(self.worse, 'critical finding')} below" if self.worse else ""

    @property
    def beside(self) -> str:
        """:attr:`also`, and ``2 could not be checked``."""
        unchecked = f"{words.count(self.unchecked)} could not be checked" if self.unchecked and self.kind != _UNCHECKED else ""
        return ", ".join(filter(None, (self.also, unchecked)))

    @property
    def line(self) -> str:
        """``CRITICAL: 11 of 29 partitions have no leader (2 could not be checked)``."""
        beside = f" ({self.beside})" if self.beside else ""
        return f"{self.kind.replace('_', ' ').upper()}: {self.said}{beside}"

    @property
    def below(self) -> dict[str, str]:
        """The lines of :data:`BELOW` that are known."""
        since = f"{words.date(self.since)}{' at the latest' if self.at_latest else ''}" if self.since else ""
        return {name: told for name, told in zip(BELOW, (since, self.first, self.why), strict=True) if told}


def headline(found: Document) -> Headline:
    """Return the headline of ``findings.json``."""
    counts, found_ones = Completeness(**found["completeness"]), _found(found)
    worst = Severity(found["worst"]) if found["worst"] else None
    unchecked = counts.could_not_check
    first = next(iter(found_ones), None)
    if undecided(worst, counts):
        known = next((one["title"] for one in found_ones if one["check"] != _PASTE), "")
        paste = next((f"Paste the output of {one['facts']['command']}" for one in found_ones if one["check"] == _PASTE), "")
        return Headline(kind=_UNCHECKED, title=_unanswered(found, counts), known=known, first=paste, unchecked=unchecked)
    if first is None:
        checks = words.plural(counts.ok, "check")
        return Headline(kind=Status.OK.value, title=f"Nothing found in {checks}", unchecked=unchecked)
    step = next((step for step in first["next"] if step["kind"] == "first"), None)
    return Headline(
        kind=first["severity"],
        title=first["title"],
        since=_since(first),
        at_latest=bool(first.get("at_latest")),
        first=step["text"] if step else "",
        command=step["command"] or "" if step else "",
        why=_why(first, found_ones),
        worse=sum(one["severity"] == worst for one in found_ones) if first["severity"] != worst else 0,
        unchecked=unchecked,
    )


def _found(found: Document) -> Sequence[Document]:
    return [finding for finding in found["findings"] if finding["status"] == Status.FINDING]


def _unanswered(found: Document, counts: Completeness) -> str:
    if not counts.asked:
        return "No check applies to this evidence"
    unread = next((one["title"] for one in found["findings"] if one["facts"].get(UNREADABLE)), "")
    if counts.unreadable and not counts.inconclusive and unread:
        return unread
    return f"{words.count(counts.could_not_check)} of {words.plural(counts.asked, 'question')} could not be answered"


def _since(first: Document) -> str | None:
    since = first["since"]
    return since if words.parsed(since) and words.clock(since) not in first["title"] else None


def _why(first: Document, found: Sequence[Document]) -> str:
    """Return its own reason; of what happened, before it the root that the timeline found."""
    area = first["check"].partition(".")[0]
    root = next((one["title"] for one in found if one["check"] == f"{area}.root" and one is not first), "")
    return " ".join(filter(None, (f"{root}." if root else "", first["why"])))
