"""librdkafka's simple consumer, out of the library that confluent-kafka brings, without a consumer group.

confluent-kafka's own ``Consumer`` wants a ``group.id`` and then looks for that group's coordinator although nothing is ever
committed (``src/rdkafka_cgrp.c@v2.16.0``, ``rd_kafka_cgrp_serve``). That question makes a broker create ``__consumer_offsets``
where there is none: a write to somebody's cluster. The simple consumer asks for metadata, offsets and records only.

Records reach Arrow without a Python object each: Arrow gathers the words of librdkafka's messages by their addresses, and
then the keys and values they point to. Needs a machine with 64-bit pointers.
"""

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache, cached_property, lru_cache
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

PARTITION_EOF = -191
UNKNOWN_PARTITION = -190
UNKNOWN_TOPIC = -188
NO_OFFSET_RESET = -140
LOG_TRUNCATION = -139
UNKNOWN_TOPIC_OR_PART = 3
TOPIC_AUTHORIZATION_FAILED = 29

_CONSUMER = 1
_EVENT_ERROR = 0x8
_NO_CONSUMER_CLOSE = 0x8
_ERRSTR = 512
_OFFSET_END = -1

# Words of 8 bytes in an rd_kafka_message_t (src/rdkafka.h@v2.16.0).
_MESSAGE_WORDS = 9
_ERR, _PAYLOAD, _LEN, _KEY, _KEY_LEN, _OFFSET = 0, 3, 4, 5, 6, 7
_LOW_HALF = 0xFFFFFFFF

_TIMESTAMP_TYPES = pa.array([None, "create", "append"])  # rd_kafka_timestamp_type_t

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_NO_HEADERS = pa.scalar([], _HEADERS)


class ClientError(Exception):
    """What librdkafka says went wrong.

    Args:
        code: Its ``rd_kafka_resp_err_t``; ``None`` for a setting that it refuses.
        text: Its words.
    """

    def __init__(self, code: int | None, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(text)


class _Partition(ctypes.Structure):
    _fields_ = (("id", c_int32), ("err", c_int), ("leader", c_int32), ("replica_count", c_int), ("replicas", POINTER(c_int32)),
                ("isr_count", c_int), ("isrs", POINTER(c_int32)))  # fmt: skip


class _Topic(ctypes.Structure):
    _fields_ = (("name", c_char_p), ("count", c_int), ("partitions", POINTER(_Partition)), ("err", c_int))


class _Metadata(ctypes.Structure):
    _fields_ = (("broker_count", c_int), ("brokers", c_void_p), ("count", c_int), ("topics", POINTER(_Topic)))


class _TopicPartition(ctypes.Structure):
    _fields_ = (("topic", c_char_p), ("partition", c_int32), ("offset", c_int64), ("metadata", c_void_p),
                ("metadata_size", c_size_t), ("opaque", c_void_p), ("err", c_int), ("private", c_void_p))  # fmt: skip


class _TopicPartitions(ctypes.Structure):
    _fields_ = (("count", c_int), ("size", c_int), ("elements", POINTER(_TopicPartition)))


_WAITING_CALLS = {
    "rd_kafka_conf_new": (c_void_p,),
    "rd_kafka_conf_set": (c_int, c_void_p, c_char_p, c_char_p, c_char_p, c_size_t),
    "rd_kafka_conf_set_events": (None, c_void_p, c_int),
    "rd_kafka_conf_destroy": (None, c_void_p),
    "rd_kafka_new": (c_void_p, c_int, c_void_p, c_char_p, c_size_t),
    "rd_kafka_destroy_flags": (None, c_void_p, c_int),
    "rd_kafka_err2str": (c_char_p, c_int),
    "rd_kafka_last_error": (c_int,),
    "rd_kafka_queue_get_main": (c_void_p, c_void_p),
    "rd_kafka_queue_poll": (c_void_p, c_void_p, c_int),
    "rd_kafka_queue_new": (c_void_p, c_void_p),
    "rd_kafka_queue_destroy": (None, c_void_p),
    "rd_kafka_event_error": (c_int, c_void_p),
    "rd_kafka_event_error_string": (c_char_p, c_void_p),
    "rd_kafka_event_destroy": (None, c_void_p),
    "rd_kafka_metadata": (c_int, c_void_p, c_int, c_void_p, POINTER(POINTER(_Metadata)), c_int),
    "rd_kafka_metadata_destroy": (None, POINTER(_Metadata)),
    "rd_kafka_query_watermark_offsets": (c_int, c_void_p, c_char_p, c_int32, POINTER(c_int64), POINTER(c_int64), c_int),
    "rd_kafka_topic_partition_list_new": (POINTER(_TopicPartitions), c_int),
    "rd_kafka_topic_partition_list_add": (POINTER(_TopicPartition), POINTER(_TopicPartitions), c_char_p, c_int32),
    "rd_kafka_topic_partition_list_destroy": (None, POINTER(_TopicPartitions)),
    "rd_kafka_offsets_for_times": (c_int, c_void_p, POINTER(_TopicPartitions), c_int),
    "rd_kafka_topic_new": (c_void_p, c_void_p, c_char_p, c_void_p),
    "rd_kafka_topic_destroy": (None, c_void_p),
    "rd_kafka_consume_start_queue": (c_int, c_void_p, c_int32, c_int64, c_void_p),
    "rd_kafka_consume_stop": (c_int, c_void_p, c_int32),
    "rd_kafka_consume_batch_queue": (c_size_t, c_void_p, c_int, c_void_p, c_size_t),
}
_QUICK_CALLS = {
    "rd_kafka_message_destroy": (None, c_void_p),
    "rd_kafka_message_timestamp": (c_int64, c_void_p, c_void_p),
    "rd_kafka_message_leader_epoch": (c_int32, c_void_p),
    "rd_kafka_message_headers": (c_int, c_void_p, c_void_p),
    "rd_kafka_header_cnt": (c_size_t, c_void_p),
    "rd_kafka_header_get_all": (c_int, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p),
}


@cache
def _library() -> ctypes.CDLL:
    """The functions of ``_WAITING_CALLS``, which let other threads run meanwhile."""
    return _declared(ctypes.CDLL, _WAITING_CALLS)


@cache
def _quick() -> ctypes.PyDLL:
    """The functions called once a record, which do not: letting go of the interpreter would cost more than they do."""
    return _declared(ctypes.PyDLL, _QUICK_CALLS)


def _declared(kind: type[ctypes.CDLL], calls: Mapping[str, tuple]) -> ctypes.CDLL:
    """The library behind confluent-kafka, wherever its wheel put it: the loader looks in what the extension depends on."""
    from confluent_kafka import cimpl

    library = kind(cimpl.__file__)
    for name, (result, *arguments) in calls.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def error_text(code: int) -> str:
    """librdkafka's words for an error code."""
    return _library().rd_kafka_err2str(code).decode()


class ReadOnlyClient:
    """A connection to a cluster that can only look.

    Args:
        settings: librdkafka's; an error names a setting and never quotes its value.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._lib = _library()
        configuration = _configuration(self._lib, settings)
        self._lib.rd_kafka_conf_set_events(configuration, _EVENT_ERROR)
        why = ctypes.create_string_buffer(_ERRSTR)
        self._handle = self._lib.rd_kafka_new(_CONSUMER, configuration, why, _ERRSTR)
        if not self._handle:
            self._lib.rd_kafka_conf_destroy(configuration)
            raise ClientError(None, f"The client's settings do not fit together: {why.value.decode(errors='replace')}")
        self._events = self._lib.rd_kafka_queue_get_main(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lib.rd_kafka_queue_destroy(self._events)
        self._lib.rd_kafka_destroy_flags(self._handle, _NO_CONSUMER_CLOSE)

    def errors(self) -> list[ClientError]:
        """What connections complained of since the last call, oldest first."""
        found = []
        while event := self._lib.rd_kafka_queue_poll(self._events, 0):
            text = (self._lib.rd_kafka_event_error_string(event) or b"").decode(errors="replace")
            found.append(ClientError(self._lib.rd_kafka_event_error(event), text))
            self._lib.rd_kafka_event_destroy(event)
        return found

    def topics(self, seconds: float) -> dict[str, dict[int, int]]:
        """The leader of every partition of every topic, -1 for none.

        All topics are asked for, never one by name: brokers before 0.11 create a topic that a client asks for.
        """
        answer = POINTER(_Metadata)()
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
        """First offset, and high watermark; under ``read_committed`` the last stable offset in its place."""
        low, high = c_int64(), c_int64()
        self._check(
            self._lib.rd_kafka_query_watermark_offsets(
                self._handle, topic.encode(), partition, ctypes.byref(low), ctypes.byref(high), _milliseconds(seconds)
            )
        )
        return low.value, high.value

    def offset_at(self, topic: str, partition: int, timestamp: int, seconds: float) -> int | None:
        """First offset whose record is not older than a time in epoch milliseconds; ``None`` when all are."""
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
        """Something that can fetch a partition's records."""
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
    """One partition being fetched; made by :meth:`ReadOnlyClient.open`."""

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
        """Fetch from an offset on, in place of where it was."""
        self._stop()
        if self._lib.rd_kafka_consume_start_queue(self._topic, self._partition, offset, self._queue):
            code = self._lib.rd_kafka_last_error()
            raise ClientError(code, error_text(code))
        self._started = True

    def messages(self, most: int, seconds: float) -> "Messages":
        """What was fetched: as soon as there are ``most``, or after that many seconds what there is."""
        addresses = (c_void_p * most)()
        count = self._lib.rd_kafka_consume_batch_queue(self._queue, _milliseconds(seconds), addresses, most)
        return Messages(pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(addresses)]))

    def _stop(self) -> None:
        if self._started:
            self._lib.rd_kafka_consume_stop(self._topic, self._partition)
            self._started = False


class Messages:
    """Messages in librdkafka's memory, until the ``with`` block ends; what is taken out of them are copies.

    Args:
        addresses: Of ``rd_kafka_message_t`` each.
    """

    def __init__(self, addresses: pa.Int64Array) -> None:
        self._addresses = addresses

    @cached_property
    def _each(self) -> list[int]:
        return self._addresses.to_pylist()

    def __len__(self) -> int:
        return len(self._addresses)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for _ in map(_quick().rd_kafka_message_destroy, self._each):
            pass

    @property
    def size(self) -> int:
        """Bytes of all keys and values."""
        return pc.sum(pc.add(self._words(_LEN), self._words(_KEY_LEN))).as_py() or 0

    def part(self, start: int, end: int) -> "Messages":
        """Some of the messages; they are given back with all of them."""
        return Messages(self._addresses[start:end])

    def errors(self) -> Iterator[tuple[int, ClientError]]:
        """Index and error of each message that is none but the news of one."""
        codes = pc.bit_wise_and(self._words(_ERR), _LOW_HALF)
        texts = None
        for index in pc.indices_nonzero(codes).to_pylist():
            texts = texts or self._bytes(_PAYLOAD, _LEN)
            text = (texts[index].as_py() or b"").decode(errors="replace")
            yield index, ClientError(ctypes.c_int32(codes[index].as_py()).value, text)

    def offsets(self) -> pa.Int64Array:
        """Offset of each; of an error the offset it is about."""
        return self._words(_OFFSET)

    def keys(self) -> pa.BinaryArray:
        """Key of each."""
        return self._bytes(_KEY, _KEY_LEN)

    def values(self) -> pa.BinaryArray:
        """Value of each."""
        return self._bytes(_PAYLOAD, _LEN)

    def times(self) -> tuple[pa.TimestampArray, pa.StringArray]:
        """Time of each, and what kind of time (create, append); null for a message format that has none."""
        kinds = (c_int * len(self))()
        place = ctypes.addressof(kinds)
        slots = range(place, place + 4 * len(self), 4)
        times = pa.array(map(_quick().rd_kafka_message_timestamp, self._each, slots), pa.int64(), size=len(self))
        names = _TIMESTAMP_TYPES.take(pa.Array.from_buffers(pa.int32(), len(self), [None, pa.py_buffer(kinds)]))
        known = pc.if_else(names.is_valid(), pc.multiply(times, 1000), None)
        return known.cast(pa.timestamp("us", tz="UTC")), names

    def leader_epochs(self) -> pa.Int32Array:
        """Leader epoch of each batch; null where the broker does not tell it. Along a log it only grows."""
        tell = _quick().rd_kafka_message_leader_epoch
        ends = {tell(address) for address in (*self._each[:1], *self._each[-1:])}
        epochs = pa.array(list(map(tell, self._each)) if len(ends) > 1 else list(ends) * len(self), pa.int32())
        return pc.if_else(pc.greater_equal(epochs, 0), epochs, None)

    def headers(self) -> pa.ListArray:
        """Headers of each."""
        found = (c_void_p * len(self))()
        place = ctypes.addressof(found)
        codes = list(map(_quick().rd_kafka_message_headers, self._each, range(place, place + 8 * len(self), 8)))
        count = _quick().rd_kafka_header_cnt
        counts = [0 if code else count(handle) for code, handle in zip(codes, found, strict=True)]
        if not any(counts):
            return pa.repeat(_NO_HEADERS, len(self))
        return pa.array([_headers(handle, count) for handle, count in zip(found, counts, strict=True)], _HEADERS)

    def _words(self, number: int) -> pa.Int64Array:
        """The same word of every message."""
        return _gather(pc.add(self._addresses, 8 * number))

    def _bytes(self, address: int, size: int) -> pa.BinaryArray:
        return _copy(self._words(address), self._words(size))


def _headers(handle: int, count: int) -> list[dict]:
    return [_header(handle, index) for index in range(count)]


def _header(handle: int, index: int) -> dict:
    name, value, size = c_char_p(), c_void_p(), c_size_t()
    _quick().rd_kafka_header_get_all(handle, index, ctypes.byref(name), ctypes.byref(value), ctypes.byref(size))
    there = value.value is not None
    return {"key": name.value.decode(errors="replace"), "value": ctypes.string_at(value.value, size.value) if there else None}


def _gather(addresses: pa.Int64Array) -> pa.Int64Array:
    """The words of 8 bytes at some addresses.

    Arrow is shown all memory from the lowest address to the highest and looks only where it is told.
    """
    if not len(addresses):
        return addresses
    span = pc.min_max(addresses).as_py()
    count = (span["max"] - span["min"]) // 8 + 1
    memory = pa.Array.from_buffers(pa.int64(), count, [None, pa.foreign_buffer(span["min"], 8 * count)])
    return memory.take(pc.shift_right(pc.subtract(addresses, span["min"]), 3))


def _copy(addresses: pa.Int64Array, sizes: pa.Int64Array) -> pa.BinaryArray:
    """The bytes at some addresses, null where the address is.

    Arrow is shown all memory between as one binary array: every second element is wanted, and those between are never
    looked at, so that they may well be of negative length.
    """
    count = len(addresses)
    there = pc.not_equal(addresses, 0)
    span = pc.min_max(addresses.filter(there)).as_py()
    if span["min"] is None:
        return pa.nulls(count, pa.binary())
    starts = pc.if_else(there, pc.subtract(addresses, span["min"]), 0)
    ends = pc.add(starts, pc.if_else(there, sizes, 0))
    total = pc.sum(pc.subtract(ends, starts)).as_py()
    numbers = _count_to(2 * count)
    turns = pc.add(pc.shift_right(numbers, 1), pc.multiply(pc.bit_wise_and(numbers, 1), count))
    edges = pa.concat_arrays([pa.array([0]), pa.concat_arrays([starts, ends]).take(turns), pa.array([2 * total])])
    memory = pa.foreign_buffer(span["min"], max(pc.max(ends).as_py(), 2 * total))
    everything = pa.Array.from_buffers(pa.large_binary(), 2 * count + 1, [None, edges.buffers()[1], memory])
    wanted = pc.add(pc.multiply(_count_to(count), 2), 1)
    return everything.take(pc.if_else(there, wanted, None)).cast(pa.binary())


def _count_to(end: int) -> pa.Int64Array:
    """0, 1, ... until before ``end``."""
    return _count_to_power(end.bit_length())[:end]


@lru_cache
def _count_to_power(bits: int) -> pa.Int64Array:
    return pa.array(range(2**bits), pa.int64())
