"""Rows of hosts: a broker's sessions with ZooKeeper, registrations and processes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from casebook.kafka.past_rows import Span
from casebook.page.lanes import DASHED, HATCHED, LINE, Label, Strip


def session(spans: Sequence[Span]) -> Iterator[Strip]:
    """Yield sessions: solid while ZooKeeper was heard, then hatched until the end."""
    for span in spans:
        name = f"session {span.name} of broker {span.broker}"
        heard = span.closed if span.silent is None else span.silent
        yield Strip(start=span.opened, end=heard, token="live", words=name, proof=span.opened_proof)
        if span.silent is not None:
            silent = f"{name}, silent"
            yield Strip(start=heard, end=span.closed, token="edge", how=HATCHED, words=silent, proof=span.closed_proof)


def session_labels(spans: Sequence[Span], broker: int, *, alone: bool) -> Iterator[Label]:
    """Yield their labels.

    Args:
        alone: There are no other sessions.
    """
    for number, span in enumerate(spans):
        short = f"{span.name[:6]}…" if len(span.name) > 8 else span.name
        name = "new session" if number else short
        if span.silent is not None:
            since = f"silent since {second(span.silent)}"
            label = Label(text=f"{short} {since}".strip(), start=span.silent, end=span.closed, side="center")
            yield label
            yield from (replace(label, text=words, instead=True) for words in (since, "silent"))
        end = span.closed if span.silent is None else span.silent
        yield Label(text=name if alone else f"{broker}: {name}", start=span.opened, end=end)


def host(broker: int, registered: Sequence[Span], lives: Sequence[Span]) -> tuple[list[Strip], list[Label]]:
    """Return a broker's row: registered, unregistered but alive, down, or unknown after the end of its log.

    Args:
        registered: Registrations.
        lives: Processes, if logged.
    """
    words = f"broker {broker} is registered"
    strips = [
        Strip(start=span.opened, end=span.closed, token="edge", where=LINE, words=words, proof=span.opened_proof)
        for span in registered
    ]
    labels = []
    silent = _gaps([(span.opened, span.closed) for span in lives])
    for opened, closed in silent:
        said = "down" if closed is not None else "? its log ends"
        strips.append(Strip(start=opened, end=closed, token="edge", how=DASHED, words=f"broker {broker}: {said}"))
        token = "unknown" if closed is None else "text"
        labels.append(Label(text=said, start=opened, end=closed, token=token))
        if closed is None:
            labels.append(replace(labels[-1], text="? ends", loose=True, instead=True))
    for opened, closed in _gaps([(span.opened, span.closed) for span in registered]):
        if not any(_covers(gap, opened, closed) for gap in silent):
            gone = f"broker {broker} is not registered"
            strips.append(Strip(start=opened, end=closed, token="dead", where=LINE, words=gone))
            labels.append(Label(text="not registered", start=opened, end=closed, side="center"))
    return strips, labels


def _gaps(stretches: Sequence[tuple[int | None, int | None]]) -> list[tuple[int, int | None]]:
    """Return the gaps between periods, and after the last one that ends."""
    ordered = sorted(stretches, key=lambda s: float("-inf") if s[0] is None else s[0])
    ends = [(closed, begins) for (_, closed), (begins, _) in pairwise([*ordered, (None, None)]) if closed is not None]
    return [(closed, begins) for closed, begins in ends if begins is None or begins > closed]


def _covers(gap: tuple[int, int | None], opened: int, closed: int | None) -> bool:
    """Return whether a gap covers most of a period."""
    begin, end = gap
    if end is None or closed is None:
        return end is None and (closed is None or begin < closed)
    return min(end, closed) - max(begin, opened) > (closed - opened) / 2


def second(time: float) -> str:
    """Format second and millisecond, ``42.861``: the axis shows the minute."""
    return f"{time / 1000 % 60:06.3f}"
