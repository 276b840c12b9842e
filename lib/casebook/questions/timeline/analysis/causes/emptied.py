"""Emptied log dirs: a broker starts on an empty one that it has used before.

Causes are a deleted folder, a replaced disk, or a container without storage. Data without another replica is lost.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from casebook.facts.quotes import cut
from casebook.findings.words import agree, count
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.words import named

KIND = "log_dir_emptied"
WEIGHT = 100
_NAMES = ("log_dir_unused", "clean_start", "unclean_start")
"""Lines of a start that name a log dir in use."""


class _Emptied(NamedTuple):
    """A start on an emptied log dir.

    Args:
        found: Line of the start.
        start: Start of the process.
        used: Line of the last earlier start that used it.
        left: Last line of the process that used it.
    """

    found: EventRow
    start: int
    used: EventRow
    left: int


def chains(scene: TimelineInputs) -> Iterator[Chain]:
    """Yield one chain per broker, over all its starts on an emptied log dir; ``by`` is set, as the exact time is unknown."""
    for broker in scene.lives:
        if emptied := list(_emptied(scene, broker)):
            dirs, starts = {one.found.fields["dir"] for one in emptied}, {one.start for one in emptied}
            which = f"log dir {next(iter(dirs))}" if len(dirs) == 1 else f"{count(len(dirs))} log dirs"
            often = f", at {count(len(starts))} starts" if len(starts) > 1 else ""
            title = f"{which[0].upper()}{which[1:]} of {named(broker)} {agree(len(dirs), 'was', 'were')} empty{often}"
            first, last = emptied[0].found.at, emptied[-1].found.at
            yield Chain(KIND, title, broker, (), emptied[0].left, last, 0, by=first)


def candidates(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield the root that a person or a program emptied it: no line names either."""
    last = list(_emptied(scene, chain.broker))[-1]
    said = Indication(cut(" ".join(last.found.text.split()), 200), last.found.proof)
    used = Indication("It had used it before", last.used.proof)
    name = f"A log dir of {named(chain.broker)} was emptied before it started: deleted, or on storage that does not last"
    unchecked = ("who emptied it: Kafka does not log that",)
    yield Root(KIND, name, chain.broker, place, (said, used), (), unchecked, WEIGHT)


def _emptied(scene: TimelineInputs, broker: int) -> Iterator[_Emptied]:
    """Rule: a start without ``meta.properties`` in a log dir writes it (``KafkaServer.scala@0.9.0.1..3.6.2``).

    Deleting only that file, as done to change a broker or cluster id, keeps the logs, which are then loaded.
    """
    used: dict[str, tuple[EventRow, int]] = {}
    for life in scene.lives[broker]:
        own = scene.of_broker(broker).between(life.opened, life.closed)
        if not _holds_logs(own):
            unused = _named(own, _NAMES[:1])
            yield from (_Emptied(row, life.opened, *used[path]) for path, row in unused.items() if path in used)
        if any(row.kind == "broker_started" for row in own):
            used |= {path: (row, life.closed) for path, row in _named(own, _NAMES).items()}


def _named(own: Iterable[EventRow], kinds: tuple[str, ...]) -> Mapping[str, EventRow]:
    """Return a start's first line on each log dir: two messages name an unused one, some twice."""
    found: dict[str, EventRow] = {}
    for row in own:
        if row.kind in kinds and row.fields.get("dir"):
            found.setdefault(row.fields["dir"], row)
    return found


def _holds_logs(own: Iterable[EventRow]) -> bool:
    """Return whether a start loads any log: new logs end at offset 0."""
    for row in own:
        if row.kind == "broker_started":
            return False
        if (row.kind == "log_loaded" and row.number("offset")) or (row.kind == "logs_loaded" and row.number("logs")):
            return True
    return False
