"""Cited evidence of a notebook, as read: the target of every proof link."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from casebook.facts.cluster import instant
from casebook.facts.znodes import ReadOutcome, Znode, ZnodeChange
from casebook.findings import words
from casebook.findings.proof import proof as evidence_of
from casebook.page.render import render
from casebook.page.view import View, html

_MOST_CHARACTERS = 2000
_ABSENT = (ReadOutcome.MISSING, ReadOutcome.VANISHED)


_HISTORY = "zookeeper/history.jsonl.zst txn "
_MOST_CHANGED = 6


class ProofLine(NamedTuple):
    """A log line.

    Args:
        label: ``file:line``.
        text: The line.
        before: Lines above it.
        after: Lines below it.
    """

    label: str
    text: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cited:
    """One piece of evidence.

    Args:
        label: Path of the znode, file and line, or the history and its transaction.
        said: Content.
        note: Version and times, or why there is no content.
        before: Lines above it.
        after: Lines below it.
    """

    label: str
    said: str
    note: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def cited(znodes: Sequence[Znode], lines: Sequence[tuple[str, str] | ProofLine], changes: Sequence[ZnodeChange] = ()) -> View:
    """Return a view of znodes, lines, and transactions of ZooKeeper's history.

    Args:
        znodes: As read.
        lines: (``file:line``, text), or with surrounding lines.
        changes: Changes of the history.
    """
    return html(render("proof", rows=_rows(znodes, lines, changes), folded=True))


def quoted(znodes: Sequence[Znode], lines: Sequence[tuple[str, str] | ProofLine], changes: Sequence[ZnodeChange] = ()) -> View:
    """Return the same, unfolded, on a person's request."""
    return html(render("proof", rows=_rows(znodes, lines, changes), folded=False))


def shown(
    znodes: Sequence[Znode], lines: Sequence[tuple[str, str] | ProofLine], changes: Sequence[ZnodeChange] = (), *, of: str = ""
) -> Markup:
    """Return the same as part of a text: as read, and no link target.

    Args:
        of: Case of the evidence, if another.
    """
    return render("evidence", rows=_rows(znodes, lines, changes), of=of)


def cited_as(proof: str) -> str:
    """Return the label of a proof: a znode by its path alone, whatever its file."""
    return evidence_of(proof).label


def short(proof: str) -> str:
    """Shorten a proof: ``57/server.log:5521``, ``txn 0x2f0001a7c``, or a znode's path."""
    label = cited_as(proof)
    if label.startswith(_HISTORY):
        return label.removeprefix(_HISTORY.removesuffix("txn "))
    parts = label.split("/")
    return label if label.startswith("/") or len(parts) < 3 else f"{parts[1 if parts[1] != 'logs' else 2]}/{parts[-1]}"


def _rows(znodes: Sequence[Znode], lines: Sequence[tuple[str, str] | ProofLine], changes: Sequence[ZnodeChange]) -> list[_Cited]:
    return [*map(_of_znode, znodes), *(_of_line(ProofLine(*line)) for line in lines), *map(_of_change, changes)]


def _of_line(line: ProofLine) -> _Cited:
    before, after = (tuple(_cut(text) for text in around) for around in (line.before, line.after))
    return _Cited(label=line.label, said=_cut(line.text), note="", before=before, after=after)


def _of_change(change: ZnodeChange) -> _Cited:
    first = sorted(change.znodes, key=lambda znode: (znode.data is None, znode.path))[:_MOST_CHANGED]
    said = "\n".join(f"{z.path} {_absence(z)}".rstrip() for z in first)
    more = len(change.znodes) - len(first)
    session = "" if change.session is None else f", session {change.session & (1 << 64) - 1:#x}"
    rest = f", and {words.plural(more, 'more znode')}" if more else ""
    note = f"{change.operation} at {instant(change.time)}{session}{rest}"
    return _Cited(label=f"{_HISTORY}{change.zxid:#x}", said=_cut(said), note=note)


def _absence(znode: Znode) -> str:
    if znode.outcome in _ABSENT:
        return "is gone"
    return "" if znode.data is None else znode.data.decode(errors="backslashreplace")


def _of_znode(znode: Znode) -> _Cited:
    if znode.outcome in _ABSENT:
        return _Cited(label=znode.path, said="not there", note=_note(znode))
    data = "null" if znode.data is None else znode.data.decode(errors="backslashreplace")
    return _Cited(label=znode.path, said=_cut(data), note=_note(znode))


def _note(znode: Znode) -> str:
    stat = znode.stat
    said = [] if znode.outcome is ReadOutcome.READ else [znode.outcome.value]
    if stat is not None:
        numbers = {"version": stat.version, "mzxid": None if stat.mzxid is None else hex(stat.mzxid)}
        said += [f"{name} {value}" for name, value in numbers.items() if value is not None]
        said += [f"written {words.date(stat.mtime)}"] if stat.mtime else []
        said += [f"session {stat.ephemeralOwner:#x}"] if stat.ephemeralOwner else []
    return ", ".join(said)


def _cut(said: str) -> str:
    return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]}… ({words.count(len(said))} characters)"
