"""Incident B, second act, the cause: the offsets topic grows forever, because its broker's cleaner died on another topic.

Both brokers have every partition of ``__consumer_offsets``. In 0.9 one segment with more offsets than the cleaner's map holds
kills its only thread (KAFKA-3587); the compacted topic with that segment is on broker 1 only, so broker 2 continues to compact
its copies of the same partitions. Later releases clean such a segment in parts (KAFKA-3894); there a damaged segment makes a
single partition uncleanable (KIP-346).
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.kafka.releases import KafkaVersion
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.members import member
from casebook.rehearsal.servers.records import produce
from casebook.rehearsal.servers.topics import Partition
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Expected, Phase, after, well

BROKERS = (1, 2)
CONTROLLER = 2
BLOATED = 1
"""Broker whose cleaner dies."""
OFFSETS = tuple((OFFSETS_TOPIC, number) for number in range(6))
KILLER: Partition = ("sessions-by-user", 0)
BROKER_SETTINGS = {
    "offsets.topic.num.partitions": str(len(OFFSETS)),
    "offsets.topic.replication.factor": "2",
    "offsets.retention.check.interval.ms": "2000",
    "log.cleaner.dedupe.buffer.size": "1100000",  # 41,249 slots
    "log.cleaner.backoff.ms": "500",
}
ROOMY = {"log.cleaner.dedupe.buffer.size": "16777216"}
SETTINGS = {
    OFFSETS_TOPIC: {"cleanup.policy": "compact", "segment.bytes": "20000"},
    KILLER[0]: {"cleanup.policy": "compact", "segment.bytes": "1500000"},
}
TOO_MANY = 60_000
"""Records in the killing topic: at 32 bytes each its first segment has 46,875 of them."""

DEAD = ("legacy-billing", "report-2014", "stock-sync")
"""Groups that commit while the cleaner lives, and never again."""
RATES = {"invoice-writer": 1, "search-indexer": 4, "fraud-check": 6, "audit-trail": 15, "price-feed": 20, "mail-digest": 100}
"""Number of steps between commits of a group."""
STEPS = 2_000
STOPPED = "mail-digest"
"""Group that stops half-way: its latest commits are in the middle of its partition's log."""
SHORT_LIVED = "nightly-batch"
MEMBERS = "orders-service"
VISITOR = "console-consumer-41234"
COMMITTED = dict.fromkeys(RATES, ("orders", 2)) | dict.fromkeys((*DEAD, SHORT_LIVED), ("orders", 3))
"""Topic and number of committed partitions of a group."""

_WRITTEN = 1.0
"""Seconds for which all segments must keep their size."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    dies = KafkaVersion.parse(stage.truth.kafka) < KafkaVersion.parse("0.10.0.0")
    rows = _rows()
    with stage.cluster(brokers=len(BROKERS), controller=CONTROLLER, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows, SETTINGS)
        with Groups(cluster.bootstrap) as groups:
            _commit(stage, groups, "All is well: every group commits, and both cleaners work.", _in_good_days())
            _wait_cleaned(cluster)
            (kill_cleaner if dies else _damage_segment)(stage, cluster)
            _commit(stage, groups, "Commit on and on.", _on_and_on())
            _join_and_leave(stage, cluster)
            _capture_height(stage, cluster, groups, rows, dies=dies)
        if stage.visited(cluster):
            return
        if dies:
            stage.remember(cluster)
            _mend(stage, cluster)
            stage.expect("after", cluster, Phase(live=BROKERS, partitions=after(rows)), disks=BROKERS)
    if dies and stage.verify:
        _verify_deletion(stage)


def _rows() -> tuple[Expected, ...]:
    healthy = "Both replicas are in sync; only the cleaner of broker 1 has stopped."
    offsets = [well(f"{OFFSETS_TOPIC}-{number}", ((1, 2), (2, 1))[number % 2], why=healthy) for _, number in OFFSETS]
    orders = [well(f"orders-{number}", (2, 1)) for number in range(3)]
    return (*offsets, *orders, well("-".join(map(str, KILLER)), (BLOATED,), why="Compacted, on broker 1 alone."))


def _commit(stage: Stage, groups: Groups, what: str, commits: Iterable[CommitRequest]) -> None:
    """Commit, and count the writes of each group for the truth."""
    written: dict[str, int] = stage.truth.facts.setdefault("commits_written", {})

    def counted() -> Iterator[CommitRequest]:
        for commit in commits:
            written[commit.group] = written.get(commit.group, 0) + sum(map(len, commit.offsets.values()))
            yield commit

    stage.act(what, lambda: groups.commit(counted()))


def _in_good_days() -> Iterator[CommitRequest]:
    for step in range(150):
        for group in (*RATES, *DEAD):
            yield _next(group, step)


def _on_and_on() -> Iterator[CommitRequest]:
    for step in range(STEPS):
        active = RATES if step < STEPS / 2 else RATES.keys() - {STOPPED}
        yield from (_next(group, 1_000 + step) for group in RATES if group in active and step % RATES[group] == 0)
        if step % 100 == 0:
            yield _next(SHORT_LIVED, step, retention_ms=1_000)


def _next(group: str, offset: int, *, retention_ms: int | None = None) -> CommitRequest:
    topic, count = COMMITTED[group]
    metadata = f"checked by {group} at {offset}" if group == "fraud-check" else ""
    offsets = {topic: {partition: offset + partition for partition in range(count)}}
    return CommitRequest(group=group, offsets=offsets, metadata=metadata, retention_ms=retention_ms)


def kill_cleaner(stage: Stage, cluster: PlayedCluster) -> None:
    """Kill the cleaner of the bloated broker with a segment that is too much for its map; only before 0.10."""
    what = f"Produce {TOO_MANY} small records to {'-'.join(map(str, KILLER))}: its first segment is too much for the cleaner."
    stage.act(what, lambda: produce({KILLER: TOO_MANY}, bootstrap=cluster.bootstrap, kafka=cluster.kafka, value="1"))
    cluster.wait_until(lambda: _last_words(cluster) is not None, what="the death of the cleaner")
    stage.act("The cleaner of broker 1 is dead.")


def _last_words(cluster: PlayedCluster) -> tuple[str, str] | None:
    """Return the line of the cleaner's death, and the one with its cause."""
    lines = disks.log_lines(cluster, BLOATED, "log-cleaner.log")
    return next((pair for pair in pairwise(lines) if "Error due to" in pair[0]), None)


def _damage_segment(stage: Stage, cluster: PlayedCluster) -> None:
    """Overwrite the length of the first batch after the cleaned part, like a bad disk."""
    segment = disks.segments(cluster.log_dir(BLOATED), OFFSETS[5])[0]

    def overwrite() -> None:
        with segment.open("r+b") as file:
            os.pwrite(file.fileno(), (5).to_bytes(4), 8)

    stage.act(f"Overwrite four bytes of {segment.parent.name}/{segment.name} on broker {BLOATED}.", overwrite)


def _join_and_leave(stage: Stage, cluster: PlayedCluster) -> None:
    def come_and_go() -> None:
        with member(
            bootstrap=cluster.bootstrap, kafka=cluster.kafka, group=VISITOR, topics=["orders"], client="console-consumer"
        ) as consumer:
            consumer.poll(0)

    stage.act(f"A member joins group {VISITOR} and leaves it again.", come_and_go)


def _capture_height(stage: Stage, cluster: PlayedCluster, groups: Groups, rows: tuple[Expected, ...], *, dies: bool) -> None:
    """Capture the case while one group has a member."""
    with member(bootstrap=cluster.bootstrap, kafka=cluster.kafka, group=MEMBERS, topics=["orders"], client="orders-service-1"):
        _wait_expired(cluster, groups)
        _wait_compacted(cluster, dies=dies)
        _wait_written(cluster)
        stage.truth.facts["offsets_topic"] = _facts(cluster, groups, dies=dies)
        now = Phase(live=BROKERS, controller=CONTROLLER, partitions=rows)
        stage.expect("during", cluster, now, disks=BROKERS, copy_segments=[OFFSETS_TOPIC])


def _wait_cleaned(cluster: PlayedCluster) -> None:
    def cleaned() -> bool:
        return all(disks.cleaned(cluster.log_dir(broker)).get(OFFSETS[5]) for broker in BROKERS)

    cluster.wait_until(cleaned, what="both cleaners to have cleaned")


def _wait_expired(cluster: PlayedCluster, groups: Groups) -> None:
    partitions = _partitions(SHORT_LIVED)
    cluster.wait_until(
        lambda: set(groups.fetch(SHORT_LIVED, partitions).values()) == {None}, what=f"the commits of {SHORT_LIVED} to expire"
    )


def _wait_compacted(cluster: PlayedCluster, *, dies: bool) -> None:
    """Wait until broker 2 has compacted more than broker 1."""

    def compacted() -> bool:
        bloated, clean = (disks.size(cluster.log_dir(broker), OFFSETS if dies else OFFSETS[5:]) for broker in BROKERS)
        return clean * 3 < bloated

    cluster.wait_until(compacted, what="the cleaner of broker 2")


def _wait_written(cluster: PlayedCluster) -> None:
    """Wait until writes end: the last tombstones follow a moment after their commits are no longer returned."""
    found: dict[str, dict[str, int]] = {}

    def as_before() -> bool:
        nonlocal found
        before, found = found, _sizes(cluster)
        return found == before

    cluster.wait_until(as_before, what="segments that nobody writes to", steady=_WRITTEN)


def _mend(stage: Stage, cluster: PlayedCluster) -> None:
    before = disks.size(cluster.log_dir(BLOATED), OFFSETS)
    cluster.configure(ROOMY)
    stage.act(f"Restart broker {BLOATED} with a buffer that is large enough.", lambda: cluster.stop(BLOATED))
    cluster.start(BLOATED)
    cluster.wait_until(
        lambda: disks.size(cluster.log_dir(BLOATED), OFFSETS) * 3 < before, what=f"the cleaner of broker {BLOATED}", steady=2
    )
    with Groups(cluster.bootstrap) as groups:
        stage.truth.facts["after_cleaning"] = {"sizes": _sizes(cluster), "answers": _answers(groups)}


def _verify_deletion(stage: Stage) -> None:
    """Delete a set of segments chosen by position alone, and record the losses."""
    stage.progress(f"Delete segments in a copy of all data, start broker {BLOATED} on it, and ask for every commit.")
    log_dir = stage.memory / f"broker-{BLOATED}" / "data"
    deleted = [
        f"{file.parent.name}/{file.name}"
        for number, partition in enumerate(OFFSETS)
        for file in _chosen(disks.segments(log_dir, partition), number)
    ]
    answers = answers_without(deleted, memory=stage.memory)
    stage.truth.facts["after_deleting"] = {"broker": BLOATED, "deleted": deleted, "answers": answers}


def answers_without(deleted: Iterable[str], *, memory: Path) -> dict[str, dict[str, int | None]]:
    """Return OffsetFetch's responses when the bloated broker starts alone, without some of its segments.

    Args:
        deleted: Segments, as ``__consumer_offsets-0/00000000000000000000.log``, removed from a copy.
        memory: Remembered stage of a play on 0.9.0.1.
    """
    with PlayedCluster(kafka="0.9.0.1", brokers=BROKERS, settings=BROKER_SETTINGS, running=(), data=memory) as copy:
        for segment in map(copy.log_dir(BLOATED).joinpath, deleted):
            for beside in segment.parent.glob(f"{segment.stem}.*"):
                beside.unlink()
        copy.start(BLOATED)

        def leads_alone() -> bool:
            states = copy.states()
            return all(states[partition]["leader"] == BLOATED for partition in OFFSETS)

        copy.wait_until(leads_alone, what=f"broker {BLOATED} to lead alone", steady=1)
        with Groups(copy.bootstrap) as groups:
            _wait_expired(copy, groups)  # an expired commit returns without its tombstone's segment, and expires again
            return _answers(groups)


def _chosen(segments: Sequence[Path], number: int) -> Sequence[Path]:
    """Return all but the last two segments of odd partitions, and the later half of those of even ones."""
    return segments[0 if number % 2 else len(segments) // 2 : -2]


def _facts(cluster: PlayedCluster, groups: Groups, *, dies: bool) -> Mapping[str, object]:
    facts: dict[str, object] = {"sizes": _sizes(cluster), "answers": _answers(groups), "dead_groups": DEAD}
    if dies:
        line, cause = _last_words(cluster)
        facts["cleaner"] = {"broker": BLOATED, "died": line, "cause": cause, "killed_by": "-".join(map(str, KILLER))}
    return facts


def _sizes(cluster: PlayedCluster) -> dict[str, dict[str, int]]:
    """Return the size of each partition of the offsets topic, by broker."""
    return {
        str(broker): {f"{topic}-{number}": disks.size(cluster.log_dir(broker), [(topic, number)]) for topic, number in OFFSETS}
        for broker in BROKERS
    }


def _answers(groups: Groups) -> dict[str, dict[str, int | None]]:
    """Return OffsetFetch's responses for every commit of every group."""
    return {
        group: {f"{topic}-{number}": offset for (topic, number), offset in groups.fetch(group, _partitions(group)).items()}
        for group in COMMITTED
    }


def _partitions(group: str) -> list[Partition]:
    topic, count = COMMITTED[group]
    return [(topic, number) for number in range(count)]
