"""What the past adds to the quiz: the moment of an incident's height, and who was in sync before an ISR was emptied."""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from casebook.facts.history import Happened, What
from casebook.kafka.past_rows import transaction

Key = tuple[str, int]
HEIGHT = "height"
"""The moment that :func:`height` finds, as it is asked for."""


def height(happened: Iterable[Happened], *, deleting: Container[str] = ()) -> int | None:
    """The last moment of the longest picture of an incident, epoch ms; ``None`` when it is the present one, or there was none.

    Rule: partitions without a leader that is registered, times how long it were the same ones, with the same brokers registered.
    At the end of that the controller has written all that it had to write.

    Args:
        happened: In its order.
        deleting: Topics that are marked for deletion: it leaves them without leader, and nobody misses one.
    """
    past = _Past()
    for event in happened:
        if event.topic not in deleting:
            past.add(event)
    return None if past.offline else past.worst


class LastInSync(NamedTuple):
    """An ISR that named somebody.

    Args:
        isr: Whom.
        proof: The transaction that wrote it.
    """

    isr: tuple[int, ...]
    proof: str


def last_in_sync(happened: Iterable[Happened], at: int) -> Mapping[Key, LastInSync]:
    """The last ISR of each partition that named anybody, up to a moment, epoch ms."""
    return {
        (event.topic, event.partition): LastInSync(event.state.isr, transaction(event.zxid))
        for event in happened
        if event.what is What.STATE and event.time <= at and event.state.isr
    }


class _Past:
    """Who is registered and who leads what, as it goes on."""

    def __init__(self) -> None:
        self.worst: int | None = None
        self.offline: set[Key] = set()
        self._registered: set[int] = set()
        self._led: dict[Key, int | None] = {}
        self._changed = False  # since the picture was taken
        self._most, self._since, self._were_offline = 0, 0, 0

    def add(self, event: Happened) -> None:
        match event.what:
            case What.BEGIN:
                self._registered, self._led, self.offline, self._changed = set(), {}, set(), True
            case What.BROKER_REGISTERED:
                self._register({*self._registered, event.broker})
            case What.BROKER_GONE:
                self._register(self._registered - {event.broker})
            case What.STATE:
                self._lead((event.topic, event.partition), event.state.leader)
            case What.STATE_GONE:
                self._led.pop((event.topic, event.partition), None)
                self._mark((event.topic, event.partition), offline=False)
            case _:
                return
        if self._changed and not event.before:
            self._look(event.time)

    def _register(self, registered: set[int]) -> None:
        if registered != self._registered:
            self._registered, self._changed = registered, True
            self.offline = {partition for partition, leader in self._led.items() if leader not in registered}

    def _lead(self, partition: Key, leader: int | None) -> None:
        self._led[partition] = leader
        self._mark(partition, offline=leader not in self._registered)

    def _mark(self, partition: Key, *, offline: bool) -> None:
        """One state at a time: a history may have millions of them, of as many partitions."""
        if offline != (partition in self.offline):
            (self.offline.add if offline else self.offline.discard)(partition)
            self._changed = True

    def _look(self, now: int) -> None:
        """The picture so far has ended, and the next begins."""
        if (cost := self._were_offline * (now - self._since)) > self._most:
            self.worst, self._most = now - 1, cost
        self._were_offline, self._since, self._changed = len(self.offline), now, False
