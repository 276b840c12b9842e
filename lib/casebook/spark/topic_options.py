"""Options of ``kafka_topic``, and the client built from them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from casebook.errors import CasebookError, ScanError
from casebook.facts.cluster import epoch_ms
from casebook.formats import properties
from casebook.kafka.releases import KafkaVersion
from casebook.spark.librdkafka import ClientError
from casebook.spark.simple_consumer import ReadOnlyClient

_PREFETCH_BYTES = 32 * 2**20
_CREDENTIALS = ("security.", "sasl.", "ssl.")
_API_VERSIONS = KafkaVersion.parse("0.10.0.0")
EARLIEST, LATEST = "earliest", "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of ``kafka_topic``; every option is text, with these names.

    Args:
        topic: Or the path given to ``load``.
        bootstrap: ``host:port`` of some brokers, comma-separated.
        kafka: Version of the oldest broker: one before 0.10 must never get a version request.
        start: ``earliest`` (default), or JSON of first offsets by partition, ``{"0": 17}``; other partitions are read completely.
        end: ``latest`` (default: the high watermark at planning), or JSON of the offsets after the last.
        start_time: ISO 8601 with a zone; in place of ``start``. By the brokers' time index: a record with an older time than its
            neighbours is included with them. From 0.10.1.
        end_time: The same for ``end``: up to the first record that is not older, excluded.
        partitions: Comma-separated numbers; all by default.
        slices: Number of offset ranges to read in parallel, at least one per partition; by default this machine's cores.
        bytes_per_second: Limit for keys and values of the whole scan: each slice gets an equal share. By default there is no such
            limit, only one on fetched data that a slice has not passed on: 32 MiB.
        isolation: ``read_uncommitted`` (default) or ``read_committed``.
        patience: Seconds without a response or a record after which the rest of a partition is abandoned; 30 by default.
        credentials: Properties file with librdkafka's settings ``security.*``, ``sasl.*`` and ``ssl.*``.
    """

    topic: str
    bootstrap: str
    kafka: KafkaVersion
    start: str = EARLIEST
    end: str = LATEST
    start_time: int | None = None
    end_time: int | None = None
    partitions: tuple[int, ...] | None = None
    slices: int
    bytes_per_second: float | None = None
    isolation: str = "read_uncommitted"
    patience: float = 30.0
    credentials: str | None = None

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> "Options":
        """Parse options from Spark.

        Raises:
            ScanError: One is missing, unknown or invalid.
        """
        given = {"topic" if name == "path" else name: value for name, value in given.items()}
        known = {"slices": str(os.cpu_count() or 1)} | {name.lower(): value for name, value in given.items()}
        for name in ("topic", "bootstrap", "kafka"):
            if not known.get(name):
                raise ScanError(f"kafka_topic needs the option {name}.")
        if unknown := known.keys() - cls.__slots__:
            raise ScanError(
                f"kafka_topic has no option {', '.join(sorted(unknown))}.", try_=f"It has {', '.join(cls.__slots__)}."
            )
        return cls(**{name: _parse(name, text) for name, text in known.items()})

    def client(self, isolation: str | None = None) -> ReadOnlyClient:
        """Create a client for these options.

        Raises:
            ScanError: librdkafka rejects a setting.
        """
        settings = {
            "bootstrap.servers": self.bootstrap,
            "client.id": "kafka-casebook",
            "isolation.level": isolation or self.isolation,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "allow.auto.create.topics": False,
            "check.crcs": True,
            "fetch.wait.max.ms": 100,
            "queued.max.messages.kbytes": _PREFETCH_BYTES // 1024,
            "fetch.queue.backoff.ms": 10,  # by default a full queue pauses for a second, and is empty long before
            "log_level": 0,
        }
        if self.bytes_per_second:
            second = max(2**16, int(self.bytes_per_second / self.slices))
            settings |= {"fetch.message.max.bytes": min(2**20, second), "queued.max.messages.kbytes": max(1, second // 1024)}
        if self.kafka < _API_VERSIONS:
            settings |= {"api.version.request": False, "broker.version.fallback": str(self.kafka)}
        try:
            return ReadOnlyClient(settings | _credentials(self.credentials))
        except ClientError as error:
            raise ScanError(error.text, try_="Check the file of credentials; the values are not shown here.") from None


def _parse(name: str, text: str) -> object:
    try:
        return _PARSERS.get(name, str)(text)
    except (ValueError, CasebookError):
        raise ScanError(f"kafka_topic cannot read its option {name}.", cause=f"It was given {text!r}.") from None


def _one_of(*words: str) -> object:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return parse


def _positive(kind: type) -> object:
    def parse(text: str) -> float:
        if kind(text) <= 0:
            raise ValueError(text)
        return kind(text)

    return parse


def _offsets(text: str) -> str:
    """Return the text after checking that it is an edge or offsets by partition."""
    if text not in (EARLIEST, LATEST):
        by_partition(text)
    return text


def by_partition(text: str) -> dict[int, int]:
    """Parse offsets by partition from JSON."""
    return {int(partition): int(offset) for partition, offset in dict(json.loads(text)).items()}


_PARSERS = {
    "kafka": KafkaVersion.parse,
    "start": _offsets,
    "end": _offsets,
    "start_time": epoch_ms,
    "end_time": epoch_ms,
    "partitions": lambda text: tuple(map(int, text.split(","))),
    "slices": _positive(int),
    "bytes_per_second": _positive(float),
    "isolation": _one_of("read_uncommitted", "read_committed"),
    "patience": _positive(float),
}


def _credentials(path: str | None) -> dict[str, str]:
    """Read settings from a properties file; no message ever quotes a value.

    Raises:
        ScanError: It is unreadable, or contains other settings.
    """
    if not path:
        return {}
    try:
        settings = properties.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ScanError(f"The credentials in {path} cannot be read: {reason}.") from None
    foreign = sorted(name for name in settings if not name.startswith(_CREDENTIALS) or name == "sasl.jaas.config")
    if foreign:
        raise ScanError(
            f"{path} sets {', '.join(foreign)}, which is not one of librdkafka's security settings.",
            try_=("Use security.protocol, sasl.mechanism, sasl.username, sasl.password, ssl.ca.location and similar settings."),
        )
    return settings
