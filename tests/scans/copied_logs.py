"""Copies of partitions in miniature: random histories of leaders and followers, written as segments, and what they hold."""

from dataclasses import dataclass, replace
from random import Random

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

from casebook.facts.copies import Absent

GZIP = 1


@dataclass(frozen=True)
class Record:
    offset: int
    key: bytes | None
    value: bytes | None
    at: int
    epoch: int


@dataclass(frozen=True)
class Log:
    """A copy: batches of records; ``magic`` and ``codec`` are how it is written down."""

    batches: tuple[tuple[Record, ...], ...] = ()
    magic: int = 2
    codec: int = 0
    start: int = 0
    cleaned_to: int = 0

    @property
    def end(self):
        return self.batches[-1][-1].offset + 1 if self.batches else self.start

    @property
    def records(self):
        return {record.offset: record for batch in self.batches for record in batch}


def random_copies(random: Random, brokers: int) -> dict[int, Log]:
    """Copies that a history of appends, lagging followers and unclean elections leaves behind.

    In format 2 followers cut their logs where the histories part (KIP-101); in older ones at a high watermark that may lie beyond
    that point, and then fetch on from their own end: so come different records at the same offsets.
    """
    magic = random.choice((0, 1, 2))
    logs = {broker: Log(magic=magic) for broker in range(1, brokers + 1)}
    leader, epoch = 1, 0
    for _ in range(random.randint(1, 10)):
        if random.random() < 0.35:
            leader, epoch = random.choice(list(logs)), epoch + 1
            for broker in logs:
                if broker != leader and random.random() < 0.7:
                    logs[broker] = _cut(random, logs[broker], logs[leader])
        if random.random() < 0.8:
            logs[leader] = _appended(random, logs[leader], epoch)
        for broker in logs:
            if broker != leader and random.random() < 0.6:
                logs[broker] = _fetched(random, logs[broker], logs[leader])
    return {broker: _later(random, log) for broker, log in logs.items()}


def _appended(random, log, epoch):
    batches, offset = list(log.batches), log.end
    for _ in range(random.randint(1, 4)):
        count = random.randint(1, 3) if log.magic == 2 else 1
        batches.append(tuple(_record(random, offset + number, epoch) for number in range(count)))
        offset += count
    return replace(log, batches=tuple(batches))


def _record(random, offset, epoch):
    """One of few, so that those of another history may be the same by chance."""
    key = random.choice((None, b"", b"k"))
    value = random.choice((None, b"", b"v"))
    return Record(offset=offset, key=key, value=value, at=1_700_000_000_000 + random.randint(0, 1), epoch=epoch)


def _cut(random, log, leader):
    if log.magic == 2:
        same = [mine == its for mine, its in zip(log.batches, leader.batches, strict=False)]
        agreed = [*same, False].index(False)
    else:
        agreed = random.randint(0, min(len(log.batches), len(leader.batches)))
    return replace(log, batches=log.batches[:agreed])


def _fetched(random, log, leader):
    ahead = [batch for batch in leader.batches if batch[0].offset >= log.end]
    if not ahead or ahead[0][0].offset != log.end:
        return log
    return replace(log, batches=log.batches + tuple(ahead[: random.randint(0, len(ahead))]))


def _later(random, log):
    """What time does to a copy: retention, compaction, other borders of batches, another codec or an older format."""
    chance = random.random()
    if chance < 0.1 and len(log.batches) > 1:
        kept = log.batches[random.randint(1, len(log.batches) - 1) :]
        return replace(log, batches=kept, start=kept[0][0].offset)
    if chance < 0.25 and len(log.batches) > 1:
        to = random.choice(log.batches)[0].offset
        kept = (tuple(r for r in b if r.offset >= to or random.random() < 0.5) for b in log.batches)
        return replace(log, batches=tuple(filter(None, kept)), cleaned_to=to)
    if chance < 0.45 and log.batches:
        one = tuple(record for batch in log.batches for record in batch)
        if log.magic == 2 and len({record.epoch for record in one}) > 1:
            return log
        at = random.randint(0, len(one))
        return replace(log, batches=tuple(filter(None, (one[:at], one[at:]))), codec=GZIP)
    if chance < 0.55 and log.magic == 1:
        return replace(log, magic=0)
    return log


def write(random: Random, folder, log: Log) -> None:
    """Write a partition's folder, in one segment or several, named as Kafka names them."""
    folder.mkdir(parents=True)
    base, written = log.start, bytearray()
    for batch in log.batches:
        if written and random.random() < 0.3:
            (folder / f"{base:020}.log").write_bytes(written)
            base, written = batch[0].offset, bytearray()
        written += encoded(batch, log.magic, log.codec)
    (folder / f"{base:020}.log").write_bytes(written)


def encoded(batch, magic: int, codec: int = 0) -> bytes:
    """A batch as it lies on disk. Offsets in front, and epochs, stand outside of its checksum."""
    first, last = batch[0].offset, batch[-1].offset
    if magic == 2:
        builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 16)
        for record in batch:
            builder.append(record.offset - first, record.at, record.key, record.value, [])
        built = bytearray(builder.build())
        built[:8], built[12:16] = first.to_bytes(8, "big"), batch[0].epoch.to_bytes(4, "big")
        return bytes(built)
    builder = LegacyRecordBatchBuilder(magic, codec, 1 << 16)
    for record in batch:
        inner = record.offset - (first if magic == 1 and codec else 0)
        builder.append(inner, record.at, record.key, record.value)
    built = bytearray(builder.build())
    if codec:
        built[:8] = last.to_bytes(8, "big")
    return bytes(built)


def states(logs, offset):
    """By definition: of each broker the lowest one with the same record at an offset, or why it has none."""
    held = {broker: log.records[offset] for broker, log in logs.items() if offset in log.records}
    least = min(logs[broker].magic for broker in held)
    said = {b: (r.key, r.value, r.at if least else None) for b, r in held.items()}
    found = {}
    for broker, log in logs.items():
        if broker in held:
            found[broker] = min(other for other in said if said[other] == said[broker])
        elif offset < log.start:
            found[broker] = Absent.BEFORE
        elif offset >= log.end:
            found[broker] = Absent.BEHIND
        else:
            found[broker] = Absent.CLEANED if offset < log.cleaned_to else Absent.MISSING
    epochs = {r.epoch for b, r in held.items() if logs[b].magic == 2}
    return found, len(epochs) > 1


def all_agree(found, other_epochs):
    return len(set(found.values()) - {Absent.CLEANED}) == 1 and not other_epochs


def gone(logs: dict[int, Log], leader: int, candidate: int) -> set[int]:
    """By definition: offsets of the leader's records that the candidate does not have, retention and compaction aside."""
    mine = logs[candidate]
    excused = lambda offset: offset not in mine.records and offset < max(mine.start, mine.cleaned_to)  # noqa: E731
    return {
        offset
        for offset in logs[leader].records
        if not excused(offset) and states(logs, offset)[0][candidate] != states(logs, offset)[0][leader]
    }
