"""Whether evidence that says something false of itself also holds what contradicts it.

Nobody can find out that the logs of broker 1 stand under the id of broker 2 where no line of them names a broker. What is answered
then is right by the evidence, and is counted apart.

* ``swapped``, ``interleaved``: a line says ``[Kafka Server 2]``, ``[Replica Manager on Broker 2]`` and the like, in a file of another.
* a clock that was set forward an hour: a start of the broker that begins behind it, which is dated as below; a log that goes back tells it
  itself.
* clocks: there is something of known time that the log also tells: a start of the broker, which ZooKeeper's history or its registration dates;
  or, without either, another broker's log, and a wrong clock that is more than seconds wide.
"""

import re
from collections.abc import Collection
from datetime import datetime
from itertools import pairwise

from casebook.case.case import Case
from casebook.case.folder import HISTORY
from casebook.facts.proofs import ZNODES
from tests.case_copies import CaseCopy
from tests.degraded.removals import LABELS, Removal

_SPEAKER = re.compile(
    rb"\[(?:Kafka Server |Replica Manager on Broker |Controller |KafkaServer id=|ReplicaManager broker=)(\d+)\b"
)
_TIME = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)
_HOUR = 3500
"""Seconds: an hour less what a quiet log may have waited for its next line."""
_START = re.compile(rb"\], started \(|\] started \(kafka")
_BEGUN = re.compile(rb"\bstarting \(kafka")


def is_told(copy: CaseCopy, taken: Collection[Removal]) -> bool:
    """Whether each false label among the removals is contradicted by something else in the case; so where there is none."""
    return all(_is_contradicted(copy, removal) for removal in taken if removal.way in LABELS)


def _is_contradicted(copy: CaseCopy, removal: Removal) -> bool:
    if removal.kind == "clock":
        broker = removal.of.rpartition(" of ")[2]
        dated = HISTORY in copy.paths or (ZNODES in copy.paths and _is_registered(copy, int(broker)))
        logs = (copy.read(path) for path in _logs(copy, broker))
        started = (_BEGUN.search(_behind_the_jump(log)) if removal.way == "summer" else _START.search(log) for log in logs)
        return dated and any(started)
    return any(_names_another(copy, broker) for broker in removal.of.split())


def _is_registered(copy: CaseCopy, broker: int) -> bool:
    known = Case.open(copy.folder).cluster().brokers.get(broker)
    return known is not None and known.timestamp is not None


def _behind_the_jump(content: bytes) -> bytes:
    """What a log holds behind the place at which its times jump forward by an hour; nothing where they do not."""
    entries = [(datetime.strptime(match[1].decode(), "%Y-%m-%d %H:%M:%S"), match.start()) for match in _TIME.finditer(content)]
    jumps = (at for (before, _), (after, at) in pairwise(entries) if (after - before).total_seconds() >= _HOUR)
    return content[next(jumps, len(content)) :]


def _logs(copy: CaseCopy, broker: str) -> list[str]:
    return [path for path in copy.paths if path.startswith(f"brokers/{broker}/logs/")]


def _names_another(copy: CaseCopy, broker: str) -> bool:
    return any(match[1].decode() != broker for path in _logs(copy, broker) for match in _SPEAKER.finditer(copy.read(path)))


def moment_of(case: Case, removal: Removal) -> int:
    """The moment of which znodes are that were taken from the history, epoch ms."""
    from tests.degraded import taking

    return taking.part_of(list(case.history()), removal.of)
