"""Logs of the offsets topic in miniature, the rows a reader makes of them, and a loader to compare with."""

from dataclasses import dataclass, field, replace
from random import Random

HOUR = 3_600_000
MEMBERS = "array<struct<member_id string, instance_id string, client_id string, client_host string, rebalance_timeout int, " \
    "session_timeout int, subscription array<string>, assignment array<struct<topic string, partitions array<int>>>>>"  # fmt: skip
SCHEMA = (
    "broker int, kind string, file string, log_topic string, log_partition int, segment bigint, position bigint, reason string, "
    "damaged_bytes bigint, tail boolean, log_offset bigint, timestamp timestamp, size int, batch_bytes int, magic int, codec string, "
    "producer_id bigint, producer_epoch int, transactional boolean, control_type string, key_version int, value_version int, "
    "tombstone boolean, `group` string, topic string, partition int, committed bigint, committed_epoch int, metadata string, "
    "commit_time timestamp, expire_time timestamp, protocol_type string, generation int, protocol string, leader string, "
    f"state_time timestamp, members {MEMBERS}, records bigint, bytes bigint, first_offset bigint, first_time timestamp, "
    "last_time timestamp, tombstones bigint, max_batch_bytes int"
)
NAMES = [part.strip().split(" ")[0].strip("`") for part in SCHEMA.replace(MEMBERS, "x").split(",")]


@dataclass(frozen=True)
class Record:
    """A record of the log; ``value`` is the committed offset, ``None`` a tombstone."""

    offset: int
    segment: int
    kind: str = "commit"
    group: str | None = "g"
    topic: str | None = "t"
    partition: int | None = 0
    value: int | None = None
    producer: int | None = None
    control: str | None = None
    time: int = 0
    size: int = 10
    more: dict = field(default_factory=dict)

    @property
    def key(self):
        return (self.kind, self.group, self.topic, self.partition)

    @property
    def transactional(self):
        return self.producer is not None and self.control is None


def moment(ms):
    """As Spark takes it: aware, so that no zone of the session matters."""
    from datetime import UTC, datetime

    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def rows(log, *, partition=0, broker=1, flush=None):
    """What the reader emits: a row for each key, segment and hour, at times more than one; some rows alone."""
    found, parts = {}, 0
    for record in log:
        if flush and flush.random() < 0.2:
            parts += 1
        alone = record.offset if record.producer is not None or record.kind in ("control", "damage") else None
        found.setdefault((record.segment, record.key, record.time // HOUR, alone, parts), []).append(record)
    return [_row(records, partition, broker) for records in found.values()]


def _row(records, log_partition, broker):
    last = records[-1]
    value = last.kind in ("commit", "group") and last.value is not None
    row = dict.fromkeys(NAMES) | {
        "broker": broker, "kind": last.kind, "file": f"{last.segment:020}.log", "log_topic": "__consumer_offsets",
        "log_partition": log_partition, "segment": last.segment, "position": last.offset, "log_offset": last.offset,
        "size": last.size, "batch_bytes": last.size, "producer_id": last.producer if last.producer is not None else -1,
        "transactional": last.transactional, "control_type": last.control, "key_version": {"commit": 1, "group": 2}.get(last.kind),
        "tombstone": last.kind in ("commit", "group") and last.value is None, "group": last.group, "topic": last.topic,
        "partition": last.partition, "committed": last.value if last.kind == "commit" else None,
        "commit_time": moment(last.time) if value and last.kind == "commit" else None, "timestamp": moment(last.time),
        "records": len(records), "bytes": sum(r.size for r in records), "first_offset": records[0].offset,
        "first_time": moment(records[0].time), "last_time": moment(last.time), "max_batch_bytes": max(r.size for r in records),
        "tombstones": sum(r.kind in ("commit", "group") and r.value is None for r in records),
    }  # fmt: skip
    if last.kind == "damage":
        row |= {"records": None, "bytes": None, "damaged_bytes": last.size, "reason": "a length that makes no sense", "tail": False,
                "log_offset": None, "transactional": None, "tombstones": None}  # fmt: skip
    return tuple((row | last.more)[name] for name in NAMES)


def written(spark, folder, raw):
    """The aggregate of what the reader emits."""
    from casebook.questions.offsets_topic.scans import group_records

    group_records.write(spark, spark.createDataFrame(raw, SCHEMA), f"file:{folder}")
    return folder


def load(log):
    """Kafka's loader, line for line: visible commits, open transactions, group metadata, each by key the record's offset."""
    loaded, pending, groups = {}, {}, {}
    for r in log:
        if r.kind == "control":
            for key, offset in pending.pop(r.producer, {}).items():
                if r.control == "commit" and (key not in loaded or loaded[key] < offset):
                    loaded[key] = offset
        elif r.kind == "commit":
            target = pending.setdefault(r.producer, {}) if r.transactional else loaded
            if r.value is None:
                target.pop(r.key, None)
            else:
                target[r.key] = r.offset
        elif r.kind == "group":
            groups.pop(r.group, None)
            if r.value is not None:
                groups[r.group] = r.offset
    return loaded, {p: keys for p, keys in pending.items() if keys}, groups


def without(log, segments):
    return [record for record in log if record.segment not in segments]


def random_log(random: Random, *, transactions=True, tombstones=True, most=24):
    """Records of a few groups, topics and producers over a few segments; an hour passes now and then."""
    log, segment, time, offset = [], 0, 0, 0
    for _ in range(random.randint(1, most)):
        offset += random.randint(1, 3)
        if log and random.random() < 0.25:
            segment = offset
        time += random.choice([0, 0, 1000, HOUR])
        record = Record(offset=offset, segment=segment, group=random.choice("gh"), partition=random.randint(0, 1),
                        value=random.randint(0, 99), time=time, size=random.randint(5, 50))  # fmt: skip
        chance = random.random()
        if transactions and chance < 0.25:
            record = replace(record, producer=random.randint(0, 1), value=random.choice([1, 2, None]) if chance < 0.03 else 7)
        elif transactions and chance < 0.4:
            control = random.choice(["commit", "abort"])
            record = Record(offset=offset, segment=segment, kind="control", group=None, topic=None, partition=None,
                            producer=random.randint(0, 1), control=control, time=time)  # fmt: skip
        elif chance < 0.55:
            record = replace(
                record, kind="group", topic=None, partition=None, value=random.choice([1, None]) if tombstones else 1
            )
        elif tombstones and chance < 0.75:
            record = replace(record, value=None)
        log.append(record)
    return log
