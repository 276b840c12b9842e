"""Why offsets are missing: the label of each kind of range."""

import pytest

from casebook.facts.cluster import Cluster
from casebook.kafka.releases import KafkaVersion
from casebook.questions.loss.analysis.gaps import MOST_RANGES, GapKind, GapPlace, GapSignature, bounded, compacted, hides, kind

BETWEEN = GapSignature(GapPlace.BETWEEN, compacted=False)


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (GapSignature(GapPlace.START), GapKind.LOG_START),
        (GapSignature(GapPlace.INSIDE, compacted=False), GapKind.COMPACTION),
        (BETWEEN, GapKind.UNEXPLAINED),
        (BETWEEN._replace(compacted=None), GapKind.CANNOT_TELL),
        (BETWEEN._replace(compacted=True, cleaned=False), GapKind.COMPACTION),
        (BETWEEN._replace(compacted=None, cleaned=True), GapKind.COMPACTION),
        (BETWEEN._replace(compacted=True, damaged=True), GapKind.DAMAGE),
        (BETWEEN._replace(epoch_rises=True), GapKind.TRUNCATION),
        (BETWEEN._replace(epoch_rises=True, epoch_begins=True), GapKind.TRUNCATION),
        (BETWEEN._replace(epoch_rises=True, epoch_begins=False), GapKind.UNEXPLAINED),
        (BETWEEN._replace(single=True), GapKind.UNEXPLAINED),
        (BETWEEN._replace(single=True, control_seen=False), GapKind.CONTROL),
        (BETWEEN._replace(control_seen=False), GapKind.UNEXPLAINED),
        (BETWEEN._replace(single=True, control_seen=False, aborted_seen=False), GapKind.CANNOT_TELL),
    ],
)
def test_labels(signature, expected):
    """Damage before all, what is certain before what is likely, and unexplained only where nothing else can be."""
    assert kind(signature) is expected


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (BETWEEN, True),
        (BETWEEN._replace(compacted=True), False),
        (BETWEEN._replace(control_seen=False), False),
        (BETWEEN._replace(control_seen=False, aborted_seen=False), True),
        (GapSignature(GapPlace.UNREAD, control_seen=False), True),
    ],
)
def test_hides(signature, expected):
    """A hole in segments may be filled elsewhere; what a live leader does not show it does not have, unless it was not read."""
    assert hides(signature) is expected


def test_bounded():
    """However many ranges there are, those kept cover them all."""
    many = [(10 * number, 10 * number + 3) for number in range(3 * MOST_RANGES)]
    kept = bounded(many)
    assert len(kept) == MOST_RANGES
    assert all(any(first <= start and end <= stop for first, stop in kept) for start, end in many)
    assert bounded([*many, (10**6, None)])[-1][1] is None
    assert bounded(many[:5]) == tuple(many[:5])


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        (Cluster(), None),
        (Cluster(topic_configs={"other": {}}), False),
        (Cluster(there=frozenset({"/config/topics"})), False),
        (Cluster(topic_configs={"orders": {"cleanup.policy": "compact,delete"}}), True),
        (Cluster(topic_configs={"other": {}}, unreadable_configs=frozenset({"topics/orders"})), None),
        (Cluster(topic_configs={"other": {}}, server_properties={1: {"log.cleanup.policy": "compact"}}), True),
    ],
)
def test_compacted(cluster, expected):
    """The topic's own setting, else the brokers', else unknown: no collected setting is no setting."""
    assert compacted("orders", cluster, KafkaVersion.parse("2.8.2")) is expected
