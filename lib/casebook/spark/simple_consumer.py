"""librdkafka's simple consumer: a read-only client, without a consumer group.

confluent-kafka's own ``Consumer`` requires a ``group.id`` and then looks up that group's coordinator although nothing is ever
committed (``src/rdkafka_cgrp.c@v2.16.0``, ``rd_kafka_cgrp_serve``). That request makes a broker create ``__consumer_offsets`` if
missing: a write to the cluster. The simple consumer requests only metadata, offsets and records.
"""

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, c_int64, c_void_p
from types import TracebackType
from typing import Self

import pyarrow as pa

from casebook.spark.librdkafka import UNKNOWN_TOPIC_OR_PART, ClientError, TopicMetadata, error_text, library
from casebook.spark.messages import Messages

_CONSUMER = 1
_EVENT_ERROR = 0x8
_NO_CONSUMER_CLOSE = 0x8
_ERRSTR = 512
_OFFSET_END = -1


class ReadOnlyClient:
    """A read-only connection to a cluster.

    Args:
        settings: librdkafka settings; an error names a setting and never quotes its value.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._lib = library()
        configuration = _configuration(self._lib, settings)
        self._lib.rd_kafka_conf_set_events(configuration, _EVENT_ERROR)
        why = ctypes.create_string_buffer(_ERRSTR)
        self._handle = self._lib.rd_kafka_new(_CONSUMER, configuration, why, _ERRSTR)
        if not self._handle:
            self._lib.rd_kafka_conf_destroy(configuration)
            raise ClientError(None, f"The client's settings contradict each other: {why.value.decode(errors='replace')}")
        self._events = self._lib.rd_kafka_queue_get_main(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lib.rd_kafka_queue_destroy(self._events)
        self._lib.rd_kafka_destroy_flags(self._handle, _NO_CONSUMER_CLOSE)

    def errors(self) -> list[ClientError]:
        """Return connection errors since the last call, oldest first."""
        found = []
        while event := self._lib.rd_kafka_queue_poll(self._events, 0):
            text = (self._lib.rd_kafka_event_error_string(event) or b"").decode(errors="replace")
            found.append(ClientError(self._lib.rd_kafka_event_error(event), text))
            self._lib.rd_kafka_event_destroy(event)
        return found

    def topics(self, seconds: float) -> dict[str, dict[int, int]]:
        """Return the leader of every partition of every topic, -1 for none.

        All topics are requested, never one by name: brokers before 0.11 create a requested topic.
        """
        answer = POINTER(TopicMetadata)()
        self._check(self._lib.rd_kafka_metadata(self._handle, 1, None, ctypes.byref(answer), _milliseconds(seconds)))
        try:
            return {
                topic.name.decode(): {partition.id: partition.leader for partition in topic.partitions[: topic.count]}
                for topic in answer.contents.topics[: answer.contents.count]
                if topic.err != UNKNOWN_TOPIC_OR_PART
            }
        finally:
            self._lib.rd_kafka_metadata_destroy(answer)

    def watermarks(self, topic: str, partition: int, seconds: float) -> tuple[int, int]:
        """Return the log start offset and the high watermark; under ``read_committed`` the last stable offset in its place."""
        low, high = c_int64(), c_int64()
        self._check(
            self._lib.rd_kafka_query_watermark_offsets(
                self._handle, topic.encode(), partition, ctypes.byref(low), ctypes.byref(high), _milliseconds(seconds)
            )
        )
        return low.value, high.value

    def offset_at(self, topic: str, partition: int, timestamp: int, seconds: float) -> int | None:
        """Return the first offset with a record not older than a time in epoch milliseconds; ``None`` when all are older."""
        wanted = self._lib.rd_kafka_topic_partition_list_new(1)
        try:
            self._lib.rd_kafka_topic_partition_list_add(wanted, topic.encode(), partition).contents.offset = timestamp
            self._check(self._lib.rd_kafka_offsets_for_times(self._handle, wanted, _milliseconds(seconds)))
            found = wanted.contents.elements[0]
            self._check(found.err)
            return None if found.offset == _OFFSET_END else found.offset
        finally:
            self._lib.rd_kafka_topic_partition_list_destroy(wanted)

    def open(self, topic: str, partition: int) -> "Fetching":
        """Return a fetcher for a partition's records."""
        return Fetching(self._lib, self._handle, topic, partition)

    def _check(self, code: int) -> None:
        if code:
            raise ClientError(code, error_text(code))


def _configuration(lib: ctypes.CDLL, settings: Mapping[str, object]) -> int:
    configuration = lib.rd_kafka_conf_new()
    why = ctypes.create_string_buffer(_ERRSTR)
    for name, value in settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if lib.rd_kafka_conf_set(configuration, name.encode(), text.encode(), why, _ERRSTR):
            lib.rd_kafka_conf_destroy(configuration)
            raise ClientError(None, f"The client does not accept the setting {name}, or not the value it was given.")
    return configuration


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


class Fetching:
    """Fetcher of one partition; created by :meth:`ReadOnlyClient.open`."""

    def __init__(self, lib: ctypes.CDLL, handle: int, topic: str, partition: int) -> None:
        self._lib, self._partition, self._started = lib, partition, False
        self._topic = lib.rd_kafka_topic_new(handle, topic.encode(), None)
        self._queue = lib.rd_kafka_queue_new(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()
        self._lib.rd_kafka_queue_destroy(self._queue)
        self._lib.rd_kafka_topic_destroy(self._topic)

    def start(self, offset: int) -> None:
        """Fetch from an offset on, and drop the previous position."""
        self._stop()
        if self._lib.rd_kafka_consume_start_queue(self._topic, self._partition, offset, self._queue):
            code = self._lib.rd_kafka_last_error()
            raise ClientError(code, error_text(code))
        self._started = True

    def messages(self, most: int, seconds: float) -> "Messages":
        """Return fetched messages: as soon as there are ``most``, or after that many seconds."""
        addresses = (c_void_p * most)()
        count = self._lib.rd_kafka_consume_batch_queue(self._queue, _milliseconds(seconds), addresses, most)
        return Messages(pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(addresses)]))

    def _stop(self) -> None:
        if self._started:
            self._lib.rd_kafka_consume_stop(self._topic, self._partition)
            self._started = False
