"""The evidence that a notebook cites, as it was read: every proof link leads here."""

from collections.abc import Sequence
from dataclasses import dataclass

from casebook.facts import ReadOutcome, Znode
from casebook.views import text
from casebook.views.render import render
from casebook.views.view import View, html

_MOST_CHARACTERS = 2000
_ABSENT = (ReadOutcome.MISSING, ReadOutcome.VANISHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cited:
    """One piece of evidence.

    Args:
        label: Path of the znode, or file and line.
        said: What it holds.
        note: Its version and times, or why it holds nothing.
    """

    label: str
    said: str
    note: str


def cited(znodes: Sequence[Znode], lines: Sequence[tuple[str, str]]) -> View:
    """Quote znodes and lines.

    Args:
        znodes: As read.
        lines: (``file:line``, text).
    """
    rows = [_of_znode(znode) for znode in znodes] + [_Cited(label=label, said=_cut(said), note="") for label, said in lines]
    return html(render("proof", rows=rows))


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
        said += [f"written {text.moment(stat.mtime)}"] if stat.mtime else []
        said += [f"session {stat.ephemeralOwner:#x}"] if stat.ephemeralOwner else []
    return ", ".join(said)


def _cut(said: str) -> str:
    return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]}… ({text.count(len(said))} characters)"
