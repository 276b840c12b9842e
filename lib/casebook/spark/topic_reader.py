"""Read a range of offsets of a live partition: every record, or the reason for a gap.

A jump in the offsets is normal: from compaction, transaction markers and aborted records. Unread offsets become an
:class:`UnreadOffsets`, so that partial data never look complete.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow.compute as pc

from casebook.spark import librdkafka
from casebook.spark.librdkafka import ClientError
from casebook.spark.messages import Messages
from casebook.spark.simple_consumer import Fetching, ReadOnlyClient

_BATCH = 10_000
_POLL = 0.2
_ASKING = 5.0

_DENIED = "the brokers do not let this user read the topic"
_GONE = "the topic is deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadOffsets:
    """Requested offsets that were not read.

    Args:
        partition: Partition number.
        start: First offset; ``None`` when unknown.
        end: Offset after the last; ``None`` when unknown.
        reason: Reason.
    """

    partition: int
    start: int | None
    end: int | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Range:
    """A range of offsets to read; iterate over :meth:`read`.

    Args:
        client: Connected with ``enable.partition.eof`` and ``auto.offset.reset=error``.
        topic: Topic name.
        partition: Partition number.
        start: First offset.
        end: Offset after the last.
        patience: Seconds without any record after which the rest is abandoned.
        bytes_per_second: Limit for keys and values; ``None`` for no limit.
    """

    client: ReadOnlyClient
    topic: str
    partition: int
    start: int
    end: int
    patience: float
    bytes_per_second: float | None
    _position: int = field(init=False, default=0)
    _trouble: str | None = field(init=False, default=None)
    _lot: int = field(init=False, default=_BATCH)

    def read(self) -> Iterator[Messages | UnreadOffsets]:
        """Yield messages, each batch to be used before the next is requested, and gaps."""
        self._position, self._lot = self.start, 1 if self.bytes_per_second else _BATCH
        with self.client.open(self.topic, self.partition) as fetching:
            fetching.start(self.start)
            deadline = time.monotonic() + self.patience
            while self._position < self.end:
                before = self._position
                with fetching.messages(self._lot, _POLL) as messages:
                    started, size = time.monotonic(), messages.size if self.bytes_per_second else 0
                    yield from self._sort(messages, fetching)
                if self._position > before:
                    self._slow_down(size, self._position - before, since=started)
                    deadline = time.monotonic() + self.patience
                elif time.monotonic() > deadline:
                    yield self._give_up(self._why_nothing_comes())

    def _sort(self, messages: Messages, fetching: Fetching) -> Iterator[Messages | UnreadOffsets]:
        """Yield records and errors of one batch, in order."""
        done = 0
        for index, error in messages.errors():
            yield from self._records(messages.part(done, index))
            yield from self._error(error, messages.offsets()[index].as_py(), fetching)
            done = index + 1
        yield from self._records(messages.part(done, len(messages)))

    def _records(self, messages: Messages) -> Iterator[Messages | UnreadOffsets]:
        offsets = messages.offsets()
        first, wanted = _count_below(offsets, self._position), _count_below(offsets, self.end)
        if len(offsets) and self._trouble and offsets[0].as_py() > self._position:
            yield self._skip(min(offsets[0].as_py(), self.end), self._trouble)
        if first < wanted:
            self._position = offsets[wanted - 1].as_py() + 1
            self._trouble = None
            yield messages.part(first, wanted)
        if wanted < len(offsets):
            self._position = self.end

    def _error(self, error: ClientError, offset: int, fetching: Fetching) -> Iterator[UnreadOffsets]:
        """Yield the unread offsets after an error between the records."""
        if self._position >= self.end:
            return
        match error.code:
            case librdkafka.PARTITION_EOF:
                if offset >= self.end:
                    self._position = self.end
            case librdkafka.NO_OFFSET_RESET:
                yield from self._go_on_where_the_log_begins(fetching)
            case librdkafka.TOPIC_AUTHORIZATION_FAILED:
                yield self._give_up(_DENIED)
            case librdkafka.UNKNOWN_TOPIC | librdkafka.UNKNOWN_TOPIC_OR_PART | librdkafka.UNKNOWN_PARTITION:
                if self._leader() is None:
                    yield self._give_up(_GONE)
            case librdkafka.LOG_TRUNCATION:
                yield self._give_up("the log was truncated: records read before may no longer be in it")
            case _:
                self._trouble = error.text

    def _go_on_where_the_log_begins(self, fetching: Fetching) -> Iterator[UnreadOffsets]:
        """Handle an out-of-range position: retention overtook the scan, or the log was truncated."""
        try:
            low, high = self.client.watermarks(self.topic, self.partition, _ASKING)
        except ClientError as error:
            yield self._give_up(f"the offset is outside the log, and the start of the log is unknown: {error.text}")
            return
        if self._position < low:
            yield self._skip(min(low, self.end), f"removed before it was read: the log now begins at offset {low}")
        else:
            yield self._give_up(f"the log now ends at offset {high}: it was truncated, or the topic was created again")
        if self._position < self.end:
            fetching.start(self._position)

    def _skip(self, to: int, reason: str) -> UnreadOffsets:
        gap = UnreadOffsets(partition=self.partition, start=self._position, end=to, reason=reason)
        self._position, self._trouble = to, None
        return gap

    def _give_up(self, reason: str) -> UnreadOffsets:
        return self._skip(self.end, reason)

    def _why_nothing_comes(self) -> str:
        said = [error.text for error in self.client.errors()]
        last = self._trouble or (said[-1] if said else None)
        waited = f"no data arrived for {self.patience:g} s"
        try:
            leader = self._leader()
        except ClientError as error:
            return f"{waited}, and no broker answers: {last or error.text}"
        if leader is None:
            return _GONE
        whom = "the partition has no leader" if leader < 0 else f"its leader is broker {leader}"
        return f"{waited}; {whom}" + (f"; the client's last words: {last}" if last else "")

    def _leader(self) -> int | None:
        """Return the partition's leader, -1 for none; ``None`` when the partition does not exist."""
        return self.client.topics(_ASKING).get(self.topic, {}).get(self.partition)

    def _slow_down(self, size: int, count: int, *, since: float) -> None:
        """Wait as long as that many bytes may take, and then request what may arrive between two polls."""
        if self.bytes_per_second:
            self._lot = max(1, min(_BATCH, int(count * self.bytes_per_second * _POLL / max(size, 1))))
            time.sleep(max(0.0, since + size / self.bytes_per_second - time.monotonic()))


def _count_below(offsets: object, offset: int) -> int:
    return pc.sum(pc.less(offsets, offset)).as_py() or 0
