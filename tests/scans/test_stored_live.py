"""What brokers have now against what lies on their disk: two ways to the same rows."""

import pytest

from casebook.errors import ScanError
from casebook.formats.broker import checkpoints
from casebook.formats.clients.record_ids import parse
from casebook.questions.loss.analysis.gaps import GapKind
from casebook.questions.loss.scans import stored
from casebook.questions.loss.scans.stored_live import from_topic
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import client_settings, produce
from casebook.spark.copies import CopyChoice
from tests.scans.test_stored import replica
from tests.transactions import transactional

SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.cleaner.backoff.ms": "200",
}


@pytest.fixture(scope="module")
def cluster():
    """A broker with a topic of transactions, the last of them open, and one that was compacted."""
    with PlayedCluster(kafka="2.8.2", brokers=1, settings=SETTINGS) as cluster:
        cluster.create_topic("payments", {0: (1,), 1: (1,)})
        _transactions(cluster)
        tight = {"cleanup.policy": "compact", "segment.bytes": "150000", "min.cleanable.dirty.ratio": "0.01"}
        tight |= {"max.message.bytes": "140000"}
        cluster.create_topic("latest", {0: (1,)}, tight)
        _compacted(cluster)
        yield cluster


def _transactions(cluster):
    """Two producers at once, so that markers of one lie between the records of the other."""
    from confluent_kafka import Producer

    settings = client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka)
    one, two = (Producer(settings | transactional(name)) for name in ("one", "two"))
    for producer in (one, two):
        producer.init_transactions(30)
        producer.begin_transaction()
    _send(two, "two, committed")
    for what, end in (("one, committed", one.commit_transaction), ("one, aborted", one.abort_transaction)):
        _send(one, what)
        _send(two, f"two, beside {what}")
        end(30)
        one.begin_transaction()
    two.commit_transaction(30)
    _send(one, "one, open")


def _send(producer, what):
    for number in range(3):
        producer.produce("payments", b"", f"{what} {number}", partition=0)
    assert producer.flush(30) == 0


def _compacted(cluster):
    from confluent_kafka import Producer

    for _ in range(3):
        produce({("latest", 0): 2}, bootstrap=cluster.bootstrap, kafka=cluster.kafka)
    producer = Producer(client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka))
    for _ in range(2):
        producer.produce("latest", bytes(100_000), b"pad", partition=0)
        assert producer.flush(30) == 0
    cluster.wait_until(lambda: _cleaner_point(cluster) is not None, what="the cleaner")


def _cleaner_point(cluster):
    found = checkpoints.offsets((cluster.log_dir(1) / checkpoints.CLEANER).read_text()).rows
    return next((line.offset for line in found if line.topic == "latest"), None)


def on_disk(scanning, cluster, folder, kept, **known):
    copy = replica(cluster.log_dir(1) / folder, **known)
    choices = [CopyChoice(copy, "")]
    return stored.from_segments(
        scanning,
        choices,
        parse("key"),
        folder=kept,
        compacted={"payments": False},
        listed_at={},
        own={(copy.topic, copy.partition): (1,)},
    )


def rows(found):
    return {
        (row.partition, row.offset): (row.id, row.state, row.key, row.at, row.leader_epoch) for row in found.records.collect()
    }


def live(scanning, cluster, topic, kept, compacted):
    options = {"bootstrap": cluster.bootstrap, "kafka": cluster.kafka, "patience": "10"}
    return from_topic(scanning, topic, parse("key"), folder=kept, compacted=compacted, **options)


def test_transactions(scanning, cluster, tmp_path):
    """Both ways tell committed, aborted and open alike, as they were produced; a second look takes up the first."""
    there = live(scanning, cluster, "payments", tmp_path / "live", compacted=False)
    here = on_disk(scanning, cluster, "payments-0", tmp_path / "disk")
    assert rows(there) == rows(here)
    states = {id_: state for id_, state, *_ in rows(there).values()}
    expected = {"one, committed": "data", "one, aborted": "aborted", "one, open": "open", "two, committed": "data"}
    expected |= {"two, beside one, committed": "data", "two, beside one, aborted": "data"}
    assert states == {f"{what} {number}": state for what, state in expected.items() for number in range(3)}
    ours = next(limits for limits in there.limits if limits.partition == 0)
    (theirs,) = here.limits
    assert ours[3:6] == theirs[3:6] and ours.unreadable == theirs.unreadable == ()
    assert ours.copy == "live" and ours.scanned_at > ours.first_time
    assert [(limits.log_start, limits.end) for limits in there.limits if limits.partition == 1] == [(0, 0)]
    again = live(scanning, cluster, "payments", tmp_path / "live", compacted=False)
    assert again.limits == there.limits and rows(again) == rows(there)


def test_compacted(scanning, cluster, tmp_path):
    """What the cleaner took is told as that, and how far it went; nothing is unreadable."""
    there = live(scanning, cluster, "latest", tmp_path / "live", compacted=True)
    here = on_disk(scanning, cluster, "latest-0", tmp_path / "disk", cleaner_point=_cleaner_point(cluster))
    for found in (there, here):
        assert sorted(at for _, at in rows(found))[:2] == [4, 5]
        assert [(gap.kind, gap.offsets, gap.first, gap.end) for gap in found.gaps] == [(GapKind.COMPACTION, 4, 0, 4)]
        assert found.limits[0].compacted and found.limits[0].unreadable == ()
    assert (there.limits[0].clean_end, here.limits[0].clean_end) == (4, _cleaner_point(cluster))


def test_no_such_topic(scanning, cluster, tmp_path):
    """It is said, and not created by asking."""
    with pytest.raises(ScanError, match="no topic nowhere"):
        live(scanning, cluster, "nowhere", tmp_path, compacted=None)
    assert "nowhere" not in cluster.topic_names()
