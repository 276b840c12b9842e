"""Settings of entities below ``/config`` by an allow-list: Kafka's own names with values of their type."""

import re

from casebook.collect.redaction.broker_settings import is_of_its_kind
from casebook.kafka.defaults import DEFAULTS

_NUMBER = re.compile(r"-?\d{1,19}(?:\.\d{1,19})?")
_TRUTH = re.compile(r"(?i)true|false")
_TIMES = re.compile(r"CreateTime|LogAppendTime")
_REPLICAS = re.compile(r"\*|none|(?:\d{1,9}:\d{1,9}(?:,\d{1,9}:\d{1,9})*)?")
_RATES = frozenset({"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
                    "connection_creation_rate"})  # fmt: skip
_SPECIAL = {
    "message.timestamp.type": _TIMES, "log.message.timestamp.type": _TIMES,
    "leader.replication.throttled.replicas": _REPLICAS, "follower.replication.throttled.replicas": _REPLICAS,
}  # fmt: skip
_MEASURE = re.compile(
    r"[a-z.\d-]{1,60}\.(?:ms|minutes|hours|bytes|messages|replicas|ratio|rate|percentage|threads|partitions|factor|size|level|records"
    r"|per\.ip|connections|backoff|isr|max|load\.factor)"
)
_SWITCH = re.compile(r"preallocate|(?:log\.)?preallocate|[a-z.\d-]{1,60}\.(?:enable|enabled|disable)")


def may_stay(kind: str, key: str, value: object) -> bool:
    """Whether a setting of an entity may stay: its name is known, and its value fits its type.

    Args:
        kind: Kind of the entity, e.g. ``topics``.
    """
    if not isinstance(value, str):
        return False
    if kind not in ("topics", "brokers"):
        return key in _RATES and _NUMBER.fullmatch(value) is not None
    if key in _SPECIAL:
        return _SPECIAL[key].fullmatch(value) is not None
    if key != "broker.rack" and (key in DEFAULTS or f"log.{key}" in DEFAULTS):
        return is_of_its_kind(key if key in DEFAULTS else f"log.{key}", value)
    if _MEASURE.fullmatch(key):
        return _NUMBER.fullmatch(value) is not None
    return _SWITCH.fullmatch(key) is not None and _TRUTH.fullmatch(value) is not None
