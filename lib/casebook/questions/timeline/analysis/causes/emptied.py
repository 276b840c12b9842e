"""Log dirs that came back empty: a broker starts on one that holds nothing, and has used it before.

So it is where a folder was deleted, a disk was exchanged, or a container keeps none. What no other replica has is lost.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from casebook.findings.words import agree, count
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.words import named

KIND = "log_dir_emptied"
WEIGHT = 100
_NAMES = ("log_dir_unused", "clean_start", "unclean_start")
"""Lines of a start that name a log dir which it uses."""


class _Emptied(NamedTuple):
    """A start on a log dir that holds nothing any more.

    Args:
        found: Its line.
        start: When its process began.
        used: Of the last start before that used it.
        left: When the process that used it printed its last line.
    """

    found: EventRow
    start: int
    used: EventRow
    left: int


def chains(scene: TimelineInputs) -> Iterator[Chain]:
    """One for each broker, of all its starts on an empty log dir; ``by`` is told, as nobody knows when it was emptied."""
    for broker in scene.lives:
        if emptied := list(_emptied(scene, broker)):
            dirs, starts = {one.found.fields["dir"] for one in emptied}, {one.start for one in emptied}
            which = f"log dir {next(iter(dirs))}" if len(dirs) == 1 else f"{count(len(dirs))} log dirs"
            often = f", at {count(len(starts))} starts" if len(starts) > 1 else ""
            title = f"{which[0].upper()}{which[1:]} of {named(broker)} {agree(len(dirs), 'was', 'were')} empty{often}"
            first, last = emptied[0].found.at, emptied[-1].found.at
            yield Chain(KIND, title, broker, (), emptied[0].left, last, 0, by=first)


def candidates(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """That somebody, or something, emptied it: no line tells who."""
    last = list(_emptied(scene, chain.broker))[-1]
    said = Indication(" ".join(last.found.text.split())[:200], last.found.proof)
    used = Indication("It had used it before", last.used.proof)
    name = f"A log dir of {named(chain.broker)} was emptied before it started: deleted, or on storage that does not last"
    unchecked = ("who emptied it: Kafka does not log that",)
    yield Root(KIND, name, chain.broker, place, (said, used), (), unchecked, WEIGHT)


def _emptied(scene: TimelineInputs, broker: int) -> Iterator[_Emptied]:
    """Rule: a start that finds no ``meta.properties`` in a log dir writes it (``KafkaServer.scala@0.9.0.1..3.6.2``).

    Who deletes that file alone, as is done to change the id of a broker or a cluster, leaves the logs, which are loaded then.
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
    """The first line of a start on each log dir: two wordings tell of one that is not used, some twice."""
    found: dict[str, EventRow] = {}
    for row in own:
        if row.kind in kinds and row.fields.get("dir"):
            found.setdefault(row.fields["dir"], row)
    return found


def _holds_logs(own: Iterable[EventRow]) -> bool:
    """Whether a start loads anything: logs that are made anew end at offset 0."""
    for row in own:
        if row.kind == "broker_started":
            return False
        if (row.kind == "log_loaded" and row.number("offset")) or (row.kind == "logs_loaded" and row.number("logs")):
            return True
    return False
