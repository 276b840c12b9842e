"""Restarts of brokers together: held against the what-if, which replays the controller's rules partition by partition."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from casebook.kafka.partitions import verdicts
from casebook.kafka.restart_sets import Harm, RestartSets
from casebook.questions.leadership.analysis import what_if
from tests.evidence import K09, K28, made, override, state

LIVE = (1, 2, 3, 4)
KNOWN = (1, 2, 3, 4, 5)


def sets(partitions, *, min_isr=1, unclean=False, live=LIVE):
    settings = override("t", unclean_leader_election_enable=str(unclean).lower(), min_insync_replicas=str(min_isr))
    found = made(live=live, topics={"t": partitions}, extra=(settings,))
    return found, RestartSets(verdicts(found, K28), found.live)


def test_alone_and_together():
    """A sole replica, two of three that must be in sync, and one that is out of sync."""
    _, asked = sets({0: ([1], state(1, [1])), 1: ([1, 2, 3], state(1, [1, 2, 3])), 2: ([4, 3], state(4, [4]))}, min_isr=1)
    assert asked.harmed([1]) == {Harm.OFFLINE: [("t", 0)]}
    assert asked.harmed([2, 3]) == {}
    assert asked.harmed([1, 2, 3]) == {Harm.OFFLINE: [("t", 0), ("t", 1)]}
    assert asked.harmed([4]) == {Harm.OFFLINE: [("t", 2)]}
    assert asked.of([2]).safe is True


def test_min_isr():
    """Who would refuse acks=all; who refuses it already is not held against anybody."""
    _, asked = sets({0: ([1, 2], state(1, [1, 2])), 1: ([2, 3], state(2, [2]))}, min_isr=2)
    assert asked.harmed([1]) == {Harm.UNDER_MIN_ISR: [("t", 0)]}
    assert asked.of([3]) == ((3,), 0, 0, 0, 1, 0)
    assert asked.of([3]).safe is True


def test_unclean():
    """Where it is allowed, the partition goes on, and records are gone."""
    _, asked = sets({0: ([1, 2], state(1, [1]))}, unclean=True)
    assert asked.harmed([1]) == {Harm.UNCLEAN: [("t", 0)]}
    assert asked.harmed([1, 2]) == {Harm.OFFLINE: [("t", 0)]}


def test_unknown_is_not_safe():
    """A partition that cannot be read makes no set safe, and none unsafe."""
    _, asked = sets({0: ([1, 2], b"?")})
    assert asked.of([3]).safe is None


def test_offline_already():
    """A gate must not wait for what is broken anyway."""
    _, asked = sets({0: ([5, 1], state(-1, [5]))})
    assert asked.of([1]) == ((1,), 0, 0, 0, 1, 0)


def test_rolling():
    """As many at once as is safe, the controller last; who harms by itself alone."""
    partitions = {0: ([1, 2], state(1, [1, 2])), 1: ([3, 4], state(3, [3, 4])), 2: ([4], state(4, [4]))}
    _, asked = sets(partitions)
    assert [step.brokers for step in asked.rolling(LIVE, last=1)] == [(2, 3), (4,), (1,)]
    assert [step.safe for step in asked.rolling(LIVE, last=1)] == [True, False, True]
    assert asked.rolling([9]) == []


@st.composite
def clusters(draw):
    partitions = {}
    for number in range(draw(st.integers(1, 6))):
        replicas = draw(st.lists(st.sampled_from(KNOWN), min_size=1, max_size=4, unique=True))
        isr = draw(st.lists(st.sampled_from(replicas), min_size=1, unique=True))
        leader = draw(st.sampled_from([-1, *(broker for broker in isr if broker in LIVE)]))
        partitions[number] = (replicas, state(leader, isr if leader != -1 else [5] if 5 in replicas else isr))
    return partitions


@given(clusters(), st.integers(1, 3), st.booleans())
def test_pairs_are_what_they_are_together(partitions, min_isr, unclean):
    """Summed up from each broker and from what two share, or looked at as a set: the same."""
    _, asked = sets(partitions, min_isr=min_isr, unclean=unclean)
    wanted = [(broker,) for broker in LIVE] + list(combinations(LIVE, 2))
    assert list(asked.singles_and_pairs()) == [asked.of(brokers) for brokers in wanted]


@given(
    clusters(),
    st.integers(1, 3),
    st.booleans(),
    st.sets(st.sampled_from(LIVE), min_size=1, max_size=3),
    st.sampled_from([K09, K28]),
)
def test_as_replayed(partitions, min_isr, unclean, stopped, version):
    """The partitions that lose their leader, or get one out of sync, are those of the replay."""
    cluster, asked = sets(partitions, min_isr=min_isr, unclean=unclean)
    judged = verdicts(cluster, version)
    alive = ",".join(str(broker) for broker in LIVE if broker not in stopped)
    replayed = what_if.replay(cluster, version, judged, what_if.suppose(cluster, KNOWN, alive=alive))
    online = {verdict.partition for verdict in judged if verdict.leader in LIVE}
    offline = {("t", change.partition) for change in replayed.changes if change.offline and change.partition in online}
    lost = {("t", change.partition) for change in replayed.changes if change.unclean and change.partition in online}
    harmed = asked.harmed(stopped)
    assert set(harmed.get(Harm.OFFLINE, ())) == offline
    assert set(harmed.get(Harm.UNCLEAN, ())) == lost
    left = {change.partition: change.isr_after for change in replayed.changes}
    still = [verdict for verdict in judged if verdict.partition in online and ("t", verdict.partition) not in offline | lost]
    short = {
        ("t", verdict.partition)
        for verdict in still
        if len(set(verdict.isr).intersection(LIVE))
        >= min_isr
        > len(set(left.get(verdict.partition, verdict.isr)).intersection(LIVE) - stopped)
    }
    assert set(harmed.get(Harm.UNDER_MIN_ISR, ())) == short
