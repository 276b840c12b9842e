"""Build chains: effects are searched after their cause, and thousands of equal effects are one link."""

from collections.abc import Callable, Iterable, Sequence

from casebook.kafka.past import Key
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import CausalLink, Chain
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

EXAMPLES = 5


class Chainer:
    """Links of one chain under construction.

    Args:
        scene: Inputs with possible effects.
        until: Latest effect; ``None`` for no limit.
    """

    def __init__(self, scene: TimelineInputs, until: int | None = None) -> None:
        self.scene, self.until = scene, until
        self.links: list[CausalLink] = []

    def effects(
        self,
        cause: EventRow | None,
        kinds: Iterable[str],
        rule: str,
        *,
        which: Callable[[EventRow], bool] | None = None,
        seconds: float = 0,
    ) -> EventRow | None:
        """Link a cause to all its effects; return the first, or ``None``.

        Args:
            seconds: Maximum delay of an effect; 0 for the chain's own limit.
        """
        if cause is None or cause.at is None:
            return None
        until = cause.at + int(1000 * seconds) if seconds else self.until
        if self.until is not None:
            until = min(until, self.until)
        found = [
            row for row in self.scene.kinds(kinds, cause.at - SLACK, until) if row is not cause and (which is None or which(row))
        ]
        return self.link(cause, found, rule)

    def link(self, cause: EventRow, found: Sequence[EventRow], rule: str) -> EventRow | None:
        """Link a cause to known effects."""
        if not found:
            return None
        found = sorted(found, key=lambda row: row.at)
        seconds = (found[0].at - cause.at) / 1000
        self.links.append(CausalLink(cause, found[0], rule, seconds, len(found), tuple(found[:EXAMPLES]), found[-1]))
        return found[0]

    def chain(self, kind: str, title: str, broker: int | None, partitions: int = 0) -> Chain | None:
        """Return the chain; ``None`` without a link."""
        if not self.links:
            return None
        links = tuple(sorted(self.links, key=lambda link: (max(link.effect.at, link.cause.at), link.effect.at)))
        opened = min(link.cause.at for link in links)
        closed = max(link.last.at for link in links)
        return Chain(kind, title, broker, links, opened, closed, partitions)


def places(rows: Iterable[EventRow]) -> set[Key]:
    """Return the partitions of rows."""
    return {(row.topic, row.partition) for row in rows if row.partition is not None}


def once_each(rows: Iterable[EventRow]) -> list[EventRow]:
    """Return the first row of each partition."""
    found: dict[Key, EventRow] = {}
    for row in rows:
        place = row.topic, row.partition
        if place not in found or row.at < found[place].at:
            found[place] = row
    return sorted(found.values(), key=lambda row: row.at)
