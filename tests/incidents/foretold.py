"""What was foretold of loads in plays, and what became of them."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from casebook.kafka.load_rate import TimeRange
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue
from casebook.questions.coordinators.analysis.states import WAITING, CoordinatorState
from casebook.rehearsal.plays import coordinators_loading as script
from tests.rehearsal import plays

_LINE = re.compile(
    r"^\[(?P<at>[\d :,-]+)\].* (?P<what>Loading|Finished loading) offsets .*\[__consumer_offsets,(?P<partition>\d+)\]"
)


class Foretold(NamedTuple):
    """What was said of a load that had not ended.

    Args:
        broker: Who loads.
        partition: Of the offsets topic.
        state: Loading or queued.
        since: Since when it has been loading, epoch ms; ``None`` for one that waits.
        takes: Milliseconds.
        served: Epoch ms.
        loads: On how many finished loads of its broker it rests.
    """

    broker: int
    partition: int
    state: CoordinatorState
    since: int | None
    takes: TimeRange
    served: TimeRange
    loads: int


def foretold(out: Path) -> list[Foretold]:
    """From the case alone that was captured while they loaded, each broker's in the order of its queue."""
    held = plays.evidence(out / "during").coordinators
    served = {one.judged.partition: one.eta for one in held.partitions if one.judged.state in WAITING}
    return [one for queue in held.queues if queue.broker in script.HOLDERS for one in _of_broker(queue, served)]


def _of_broker(queue: BrokerQueue, served: Mapping[int, TimeRange]) -> Iterator[Foretold]:
    assert queue.rate.own
    for one in (queue.loading, *queue.queued):
        begun = one.since if one.state is CoordinatorState.LOADING else None
        law, _ = queue.rate.of(one.work)
        takes = queue.rate.takes(one.work, 0 if begun is None else queue.log.ends - begun)
        yield Foretold(queue.broker, one.partition, one.state, begun, takes, served[one.partition], law.loads)


def logged(out: Path) -> dict[int, int]:
    """By partition the "in N milliseconds" that its broker logged in the end, less what it spent in the queue."""
    queues = plays.evidence(out / "after").coordinators.queues
    return {load.partition: load.milliseconds for queue in queues for load, _ in queue.loads if queue.broker in script.HOLDERS}


def taken_over(truth: Mapping) -> dict[int, tuple[set[int], float]]:
    """By broker that took something over when one was restarted: the partitions, and the seconds from the first line to the last.

    Args:
        truth: Of ``restart-all-coordinators``, as its script wrote it down.
    """
    told = {}
    for broker, lines in truth["one"]["loads"].items():
        seen = [match for match in map(_LINE.match, lines) if match]
        times = [datetime.strptime(match["at"], "%Y-%m-%d %H:%M:%S,%f") for match in seen]
        if seen:
            told[int(broker)] = {int(match["partition"]) for match in seen}, (max(times) - min(times)).total_seconds()
    return told
