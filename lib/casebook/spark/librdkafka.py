"""Functions, structures and error codes of librdkafka, in the library of confluent-kafka."""

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache

PARTITION_EOF = -191
UNKNOWN_PARTITION = -190
UNKNOWN_TOPIC = -188
NO_OFFSET_RESET = -140
LOG_TRUNCATION = -139
UNKNOWN_TOPIC_OR_PART = 3
TOPIC_AUTHORIZATION_FAILED = 29


class ClientError(Exception):
    """An error of librdkafka.

    Args:
        code: Its ``rd_kafka_resp_err_t``; ``None`` for a rejected setting.
        text: Its message.
    """

    def __init__(self, code: int | None, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(text)


class _Partition(ctypes.Structure):
    _fields_ = (("id", c_int32), ("err", c_int), ("leader", c_int32), ("replica_count", c_int), ("replicas", POINTER(c_int32)),
                ("isr_count", c_int), ("isrs", POINTER(c_int32)))  # fmt: skip


class _Topic(ctypes.Structure):
    _fields_ = (("name", c_char_p), ("count", c_int), ("partitions", POINTER(_Partition)), ("err", c_int))


class TopicMetadata(ctypes.Structure):
    """``rd_kafka_metadata_t`` (``src/rdkafka.h@v2.16.0``)."""

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
    "rd_kafka_metadata": (c_int, c_void_p, c_int, c_void_p, POINTER(POINTER(TopicMetadata)), c_int),
    "rd_kafka_metadata_destroy": (None, POINTER(TopicMetadata)),
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
def library() -> ctypes.CDLL:
    """Return the functions of ``_WAITING_CALLS``, which release the interpreter lock."""
    return _declared(ctypes.CDLL, _WAITING_CALLS)


@cache
def quick() -> ctypes.PyDLL:
    """Return the functions that are called per record and keep the interpreter lock.

    Releasing it would cost more than they do.
    """
    return _declared(ctypes.PyDLL, _QUICK_CALLS)


def _declared(kind: type[ctypes.CDLL], calls: Mapping[str, tuple]) -> ctypes.CDLL:
    """Return confluent-kafka's library, wherever its wheel put it: the loader searches the extension's dependencies."""
    from confluent_kafka import cimpl

    library = kind(cimpl.__file__)
    for name, (result, *arguments) in calls.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def error_text(code: int) -> str:
    """Return librdkafka's text for an error code."""
    return library().rd_kafka_err2str(code).decode()
