"""Convert librdkafka's messages to Arrow, without a Python object per message.

Arrow gathers the words of the messages by address, then the keys and values that they point to. Requires 64-bit pointers.
"""

import ctypes
from collections.abc import Iterator
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from functools import cached_property, lru_cache
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from casebook.spark.librdkafka import ClientError, quick

# 8-byte words in an rd_kafka_message_t (src/rdkafka.h@v2.16.0).
_MESSAGE_WORDS = 9
_ERR, _PAYLOAD, _LEN, _KEY, _KEY_LEN, _OFFSET = 0, 3, 4, 5, 6, 7
_LOW_HALF = 0xFFFFFFFF

_TIMESTAMP_TYPES = pa.array([None, "create", "append"])  # rd_kafka_timestamp_type_t

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_NO_HEADERS = pa.scalar([], _HEADERS)


class Messages:
    """Messages in librdkafka's memory, until the ``with`` block ends; all results are copies.

    Args:
        addresses: Addresses of ``rd_kafka_message_t``.
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
        for _ in map(quick().rd_kafka_message_destroy, self._each):
            pass

    @property
    def size(self) -> int:
        """Total bytes of keys and values."""
        return pc.sum(pc.add(self._words(_LEN), self._words(_KEY_LEN))).as_py() or 0

    def part(self, start: int, end: int) -> "Messages":
        """Return some of the messages; they are freed with all of them."""
        return Messages(self._addresses[start:end])

    def errors(self) -> Iterator[tuple[int, ClientError]]:
        """Index and error of each failed message; end-of-partition events are skipped."""
        codes = pc.bit_wise_and(self._words(_ERR), _LOW_HALF)
        texts = None
        for index in pc.indices_nonzero(codes).to_pylist():
            texts = texts or self._bytes(_PAYLOAD, _LEN)
            text = (texts[index].as_py() or b"").decode(errors="replace")
            yield index, ClientError(ctypes.c_int32(codes[index].as_py()).value, text)

    def offsets(self) -> pa.Int64Array:
        """Offset of each message; for an error, its offset."""
        return self._words(_OFFSET)

    def keys(self) -> pa.BinaryArray:
        """Key of each."""
        return self._bytes(_KEY, _KEY_LEN)

    def values(self) -> pa.BinaryArray:
        """Value of each."""
        return self._bytes(_PAYLOAD, _LEN)

    def times(self) -> tuple[pa.TimestampArray, pa.StringArray]:
        """Time of each, with its kind (create, append); null for a message format without time."""
        kinds = (c_int * len(self))()
        place = ctypes.addressof(kinds)
        slots = range(place, place + 4 * len(self), 4)
        times = pa.array(map(quick().rd_kafka_message_timestamp, self._each, slots), pa.int64(), size=len(self))
        names = _TIMESTAMP_TYPES.take(pa.Array.from_buffers(pa.int32(), len(self), [None, pa.py_buffer(kinds)]))
        known = pc.if_else(names.is_valid(), pc.multiply(times, 1000), None)
        return known.cast(pa.timestamp("us", tz="UTC")), names

    def leader_epochs(self) -> pa.Int32Array:
        """Leader epoch of each batch; null when the broker does not send it. It never decreases along a log."""
        tell = quick().rd_kafka_message_leader_epoch
        ends = {tell(address) for address in (*self._each[:1], *self._each[-1:])}
        epochs = pa.array(list(map(tell, self._each)) if len(ends) > 1 else list(ends) * len(self), pa.int32())
        return pc.if_else(pc.greater_equal(epochs, 0), epochs, None)

    def headers(self) -> pa.ListArray:
        """Headers of each."""
        found = (c_void_p * len(self))()
        place = ctypes.addressof(found)
        codes = list(map(quick().rd_kafka_message_headers, self._each, range(place, place + 8 * len(self), 8)))
        count = quick().rd_kafka_header_cnt
        counts = [0 if code else count(handle) for code, handle in zip(codes, found, strict=True)]
        if not any(counts):
            return pa.repeat(_NO_HEADERS, len(self))
        return pa.array([_headers(handle, count) for handle, count in zip(found, counts, strict=True)], _HEADERS)

    def _words(self, number: int) -> pa.Int64Array:
        """Return the same word of every message."""
        return _gather(pc.add(self._addresses, 8 * number))

    def _bytes(self, address: int, size: int) -> pa.BinaryArray:
        return _copy(self._words(address), self._words(size))


def _headers(handle: int, count: int) -> list[dict]:
    return [_header(handle, index) for index in range(count)]


def _header(handle: int, index: int) -> dict:
    name, value, size = c_char_p(), c_void_p(), c_size_t()
    quick().rd_kafka_header_get_all(handle, index, ctypes.byref(name), ctypes.byref(value), ctypes.byref(size))
    there = value.value is not None
    return {"key": name.value.decode(errors="replace"), "value": ctypes.string_at(value.value, size.value) if there else None}


def _gather(addresses: pa.Int64Array) -> pa.Int64Array:
    """Return the 8-byte words at some addresses.

    Arrow gets all memory from the lowest to the highest address and reads only the given ones.
    """
    if not len(addresses):
        return addresses
    span = pc.min_max(addresses).as_py()
    count = (span["max"] - span["min"]) // 8 + 1
    memory = pa.Array.from_buffers(pa.int64(), count, [None, pa.foreign_buffer(span["min"], 8 * count)])
    return memory.take(pc.shift_right(pc.subtract(addresses, span["min"]), 3))


def _copy(addresses: pa.Int64Array, sizes: pa.Int64Array) -> pa.BinaryArray:
    """Return the bytes at some addresses, null for a null address.

    Arrow gets all memory between as one binary array: only every second element is used, and the others are never read, so their
    length may be negative.
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
    """Return 0, 1, ..., ``end`` - 1."""
    return _count_to_power(end.bit_length())[:end]


@lru_cache
def _count_to_power(bits: int) -> pa.Int64Array:
    return pa.array(range(2**bits), pa.int64())
