"""History for the quiz: the height of an incident, and the ISR before it was emptied."""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from casebook.facts.history import Happened, What
from casebook.kafka.past_rows import transaction

Key = tuple[str, int]
HEIGHT = "height"
"""Parameter value for the moment that :func:`height` finds."""


def height(happened: Iterable[Happened], *, deleting: Container[str] = ()) -> int | None:
    """Return the last moment of the longest phase of an incident, epoch ms; ``None`` when it is the present, or there was none.

    Rule: number of partitions without a registered leader, times the duration with the same ones and the same registered brokers.
    At the end of it the controller has completed all its writes.

    Args:
        happened: Events, in order.
        deleting: Topics under deletion, which have no leaders by design.
    """
    past = _Past()
    for event in happened:
        if event.topic not in deleting:
            past.add(event)
    return None if past.offline else past.worst


class LastInSync(NamedTuple):
    """A non-empty ISR.

    Args:
        isr: Members.
        proof: Transaction that wrote it.
    """

    isr: tuple[int, ...]
    proof: str


def last_in_sync(happened: Iterable[Happened], at: int) -> Mapping[Key, LastInSync]:
    """Return the last non-empty ISR of each partition, up to a moment, epoch ms."""
    return {
        (event.topic, event.partition): LastInSync(event.state.isr, transaction(event.zxid))
        for event in happened
        if event.what is What.STATE and event.time <= at and event.state.isr
    }


class _Past:
    """Current registrations and leaders during the replay."""

    def __init__(self) -> None:
        self.worst: int | None = None
        self.offline: set[Key] = set()
        self._registered: set[int] = set()
        self._led: dict[Key, int | None] = {}
        self._changed = False  # since the start of the phase
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
        """Update one state at a time: a history may have millions of them, of as many partitions."""
        if offline != (partition in self.offline):
            (self.offline.add if offline else self.offline.discard)(partition)
            self._changed = True

    def _look(self, now: int) -> None:
        """End the current phase and start the next."""
        if (cost := self._were_offline * (now - self._since)) > self._most:
            self.worst, self._most = now - 1, cost
        self._were_offline, self._since, self._changed = len(self.offline), now, False
