"""What if other brokers were alive: held against a simple reading of the rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.errors import UsageError
from casebook.findings.finding import Severity
from casebook.kafka.partitions import verdicts
from casebook.questions.leadership.analysis import what_if
from tests.evidence import K09, K28, made, override, state, znode

OFF = override("t", unclean_leader_election_enable="false")
KNOWN = (1, 2, 3, 4, 5)


def replayed(partitions, *, version=K28, live=(1, 2, 3), extra=(OFF,), **supposed):
    found = made(live=live, topics={"t": partitions}, extra=extra)
    return what_if.replay(found, version, verdicts(found, version), what_if.suppose(found, KNOWN, **supposed))


class TestReplay:
    def test_nothing_supposed(self):
        """The brokers of the evidence, and nothing due: nothing changes, and each count equals itself."""
        answer = replayed(
            {0: ([1, 2], state(1, [1, 2])), 1: ([5, 2], state(-1, [5])), 2: ([4], None), 3: ([2, 4], state(2, [2, 4]))}
        )
        assert [(c.partition, c.leader_after, c.healed) for c in answer.changes] == [(1, None, False), (2, None, False)]
        assert all(before == after for _, before, after, _ in answer.counts)
        assert answer.counts[0] == ("Without leader", 2, 2, "1 of them never had a state; 0 healed")

    def test_who_has_no_leader_is_counted_apart(self):
        """Triage counts the partitions with a leader alone: how many of each count have none is told beside it."""
        short = {0: ([5], state(-1, [5])), 1: ([2, 5], state(2, [2])), 2: ([5], state(-1, [5]))}
        two = override("t", unclean_leader_election_enable="false", min_insync_replicas="2")
        notes = {label: (before, after, note) for label, before, after, note in replayed(short, extra=(two,)).counts}
        assert notes["Under min ISR"] == (3, 3, "2 of them without leader")
        started = {
            label: (before, after, note) for label, before, after, note in replayed(short, extra=(two,), alive="1,2,3,5").counts
        }
        assert started["Under min ISR"] == (3, 2, "without leader: 2 of 3, then 0 of 2; once caught up")
        well = replayed({0: ([1, 2], state(1, [1, 2]))}).counts
        assert [note for label, *_, note in well if label.startswith("Under")] == ["", ""]

    def test_start(self):
        """The broker that holds the last ISR returns, and leads."""
        answer = replayed({0: ([5, 2], state(-1, [5]))}, alive="1,2,3,5")
        assert [(c.leader_after, c.isr_after, c.healed, c.dropped) for c in answer.changes] == [(5, (5,), True, 0)]
        assert (answer.severity, answer.title) == (None, "Every partition has a leader; 1 healed, 0 records dropped")

    def test_start_of_an_empty_broker(self):
        """It is in the ISR, so it leads; the others cut their logs to its empty one."""
        found = made(live=(1, 2, 3), topics={"t": {0: ([5, 2], state(-1, [5])), 1: ([5], state(5, [5]))}}, extra=(OFF,))
        supposed = what_if.suppose(found, KNOWN, alive="1,2,3,5")
        answer = what_if.replay(found, K28, verdicts(found, K28), supposed, lacking={(5, "t", 0), (5, "t", 1)})
        assert [(c.leader_after, c.healed, c.dropped) for c in answer.changes] == [(5, False, None)] * 2
        assert answer.changes[0].why == "5 leads, but its log dirs hold no segment of the partition"
        assert (answer.severity, answer.counts[-1][2:]) == (Severity.WARNING, (None, "2 leaders with an empty log"))
        assert "0 healed, records are dropped in 2" in answer.title

    def test_stop(self):
        """The leader goes: the next in assignment that is in sync leads; without one the partition is lost."""
        answer = replayed({0: ([1, 3, 2], state(1, [1, 2])), 1: ([1], state(1, [1]))}, alive="2,3")
        assert [(c.partition, c.leader_after, c.offline) for c in answer.changes] == [(1, None, True), (0, 2, False)]
        assert answer.severity is Severity.CRITICAL

    def test_unclean(self):
        """An unclean election drops an unknown number, unless the winner is supposed to be ahead."""
        one = {0: ([5, 2], state(-1, [5]))}
        assert [(c.leader_after, c.unclean, c.dropped) for c in replayed(one, unclean="on").changes] == [(2, True, None)]
        assert [(c.leader_after, c.unclean, c.dropped) for c in replayed(one, unclean="on", ahead="2").changes] == [(2, True, 0)]

    def test_nobody_left(self):
        """Where nobody is alive nobody writes: the ISR stays as it is."""
        (change,) = replayed({0: ([1, 2], state(1, [1, 2]))}, alive="none").changes
        assert (change.leader_after, change.isr_after) == (None, (1, 2))

    def test_unknown_is_not_good(self):
        """Nothing known gives no all-clear."""
        answer = replayed({0: ([1], b"?")})
        assert (answer.severity, answer.title) == (Severity.WARNING, "No answer: no partition can be judged")
        assert {before for _, before, _, _ in answer.counts} == {None}

    def test_deleting(self):
        """A topic being deleted is left out."""
        answer = replayed({0: ([5], state(-1, [5]))}, extra=(OFF, znode("/admin/delete_topics/t")), alive="5")
        assert answer.changes == ()


class TestSuppose:
    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"alive": "9"}, "alive: '9' is not a broker of this case."),
            ({"alive": ""}, "alive: '' is not a broker of this case."),
            ({"alive": "1,٣"}, "alive: '٣' is not a broker of this case."),
            ({"alive": "9" * 5000}, f"alive: '{'9' * 5000}' is not a broker of this case."),
            ({"ahead": "007"}, "ahead: '007' is not a broker of this case."),
            ({"unclean": "maybe"}, "unclean=maybe is unknown."),
        ],
    )
    def test_refused(self, given, text):
        """A text that stands for nothing is refused, with what is known."""
        with pytest.raises(UsageError) as caught:
            what_if.suppose(made(), KNOWN, **given)
        assert text == caught.value.what

    @settings(deadline=None)
    @given(
        alive=st.sets(st.sampled_from(KNOWN)), unclean=st.sampled_from(what_if.UNCLEAN), ahead=st.none() | st.sampled_from(KNOWN)
    )
    def test_parameters_give_the_same(self, alive, unclean, ahead):
        """The parameters that are printed stand for the same supposition."""
        supposed = what_if.Supposition(alive=frozenset(alive), unclean=unclean, ahead=ahead)
        assert supposed == what_if.suppose(made(), KNOWN, **supposed.parameters())


PARTITIONS = st.lists(st.sampled_from(KNOWN), min_size=1, max_size=3, unique=True).flatmap(
    lambda replicas: st.tuples(st.just(replicas), st.lists(st.sampled_from(replicas), min_size=1, unique=True))
)


@settings(deadline=None)
@given(st.lists(PARTITIONS, min_size=1, max_size=5), st.sets(st.sampled_from(KNOWN)), st.booleans())
def test_against_a_simple_reading(partitions, alive, unclean):
    """From five healthy brokers: whoever remains keeps or takes the lead by assignment order within the ISR, else unclean, else nobody."""
    topics = {n: (replicas, state(next(r for r in replicas if r in isr), isr)) for n, (replicas, isr) in enumerate(partitions)}
    alive_text = ",".join(map(str, sorted(alive))) or "none"
    answer = replayed(topics, live=KNOWN, alive=alive_text, unclean="on" if unclean else "off", version=K09)
    after = {change.partition: change.leader_after for change in answer.changes}
    for n, (replicas, isr) in enumerate(partitions):
        leader = next(r for r in replicas if r in isr)
        expected = next((r for r in replicas if r in isr and r in alive), None)
        if expected is None and unclean:
            expected = next((r for r in replicas if r in alive), None)
        assert expected == after.get(n, leader)
