"""What the past adds to the quiz: the moment of an incident's height, and who was in sync before an ISR was emptied."""

from collections.abc import Iterable, Mapping

from casebook.history import Happened, What

Key = tuple[str, int]
HEIGHT = "height"
"""The moment that :func:`height` finds, as it is asked for."""


def height(happened: Iterable[Happened]) -> int | None:
    """The last moment of the longest picture of an incident, epoch ms; ``None`` when it is the present one, or there was none.

    Rule: partitions without a leader that is registered, times how long it were the same ones, with the same brokers registered.
    At the end of that the controller has written all that it had to write.
    """
    past = _Past()
    for event in happened:
        past.add(event)
    return None if past.offline else past.worst


def last_in_sync(happened: Iterable[Happened], at: int) -> Mapping[Key, tuple[int, ...]]:
    """The last ISR of each partition that named anybody, up to a moment, epoch ms."""
    return {
        (event.topic, event.partition): event.state.isr
        for event in happened
        if event.what is What.STATE and event.time <= at and event.state.isr
    }


class _Past:
    """Who is registered and who leads what, as it goes on."""

    def __init__(self) -> None:
        self.worst: int | None = None
        self.offline: frozenset[Key] = frozenset()
        self._most, self._since = 0, 0
        self._alive: frozenset[int] = frozenset()
        self._registered: set[int] = set()
        self._led: dict[Key, int | None] = {}

    def add(self, event: Happened) -> None:
        match event.what:
            case What.BEGIN:
                self._registered, self._led = set(), {}
            case What.BROKER_REGISTERED:
                self._registered.add(event.broker)
            case What.BROKER_GONE:
                self._registered.discard(event.broker)
            case What.STATE:
                self._led[event.topic, event.partition] = event.state.leader
            case What.STATE_GONE:
                self._led.pop((event.topic, event.partition), None)
            case _:
                return
        if not event.before:
            self._look(event.time)

    def _look(self, now: int) -> None:
        offline = frozenset(partition for partition, leader in self._led.items() if leader not in self._registered)
        if (offline, self._registered) == (self.offline, self._alive):
            return
        if (cost := len(self.offline) * (now - self._since)) > self._most:
            self.worst, self._most = now - 1, cost
        self.offline, self._alive, self._since = offline, frozenset(self._registered), now
