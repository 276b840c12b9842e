"""Whom to start first, held against the election rules themselves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.kafka import controller
from casebook.kafka.partitions import dead_brokers, verdicts
from casebook.kafka.release import release
from casebook.kafka.verdict import OFFLINE
from casebook.questions.leadership.analysis import leadership, what_if
from casebook.questions.leadership.analysis.start_first import StartChoice, elected_unclean, order, start_first
from casebook.questions.triage.analysis import plan
from tests.evidence import K09, K28, made, override, state

OFF = override("t", unclean_leader_election_enable="false")
LIVE = frozenset({1, 2})


def ranked(topics, *, live=(1,)):
    found = made(live=live, topics={"t": topics}, extra=[OFF])
    return start_first(verdicts(found, K09), dead_brokers(found))


class TestSteps:
    def test_each_step_after_the_last(self):
        """Step 1 has every dead broker; the next begins where the chosen one is up; it ends when nothing more heals."""
        rows = ranked({0: ([5], state(-1, [5])), 1: ([5], state(5, [5])), 2: ([6], state(-1, [6])), 3: ([7, 1], state(1, [1]))})
        assert [(r.step, r.broker, r.heals, r.chosen, r.still_offline_after) for r in rows] == [
            (1, 5, 2, True, 1), (1, 6, 1, False, 2), (1, 7, 0, False, 3),
            (2, 6, 1, True, 0), (2, 7, 0, False, 1),
        ]  # fmt: skip
        assert [choice.broker for choice in order(rows)] == [5, 6]

    def test_tie(self):
        """Of equals the lowest id is chosen."""
        rows = ranked({0: ([6], state(-1, [6])), 1: ([5], state(-1, [5]))})
        assert [r.broker for r in rows if r.chosen] == [5, 6]

    def test_nothing_heals(self):
        """Where no start heals anything, every dead broker is shown and none chosen."""
        assert ranked({0: ([5, 1], state(1, [1]))}) == (
            StartChoice(step=1, broker=5, heals=0, chosen=False, still_offline_after=0),
        )

    def test_nobody_dead(self):
        """No row without a dead broker."""
        assert ranked({0: ([1], state(1, [1]))}) == ()


BROKERS = st.integers(1, 5)
REPLICAS = st.lists(BROKERS, min_size=1, max_size=3, unique=True)
STATES = REPLICAS.flatmap(
    lambda replicas: st.tuples(st.just(replicas), st.lists(st.sampled_from(replicas), unique=True))
).flatmap(lambda both: st.tuples(st.just(both[0]), st.sampled_from([-1, *both[1]]), st.just(both[1])))
"""Replicas, leader and ISR, as Kafka writes them."""


@settings(deadline=None)
@given(st.lists(STATES, min_size=1, max_size=6), st.booleans(), st.sampled_from([K09, K28]))
def test_against_the_election_rules(partitions, unclean, version):
    """At every step, heals is the number of offline partitions that really get a leader when that broker registers; who is chosen
    leads nothing for which another would have all records."""
    topics = {"t": {n: (replicas, state(leader, isr)) for n, (replicas, leader, isr) in enumerate(partitions)}}
    found = made(live=LIVE, topics=topics, extra=[override("t", unclean_leader_election_enable=str(unclean).lower())])
    judged = verdicts(found, version)
    offline = [v.partition for v in judged if v.state in OFFLINE]
    now = {p.partition: p.state for p in found.partitions}
    replicas = {p.partition: p.replicas for p in found.partitions}

    def healed(broker, left, live, states):
        after = {
            n: controller.after_start(
                state=states[n],
                replicas=replicas[n],
                live=live | {broker},
                started=frozenset({broker}),
                unclean=unclean,
                version=version,
            )
            for n in left
        }
        return {n for n, outcome in after.items() if outcome.leader in live | {broker}}, after

    left, live = set(offline), LIVE
    choices = start_first(judged, dead_brokers(found))
    for step in sorted({c.step for c in choices}):
        of_step = [c for c in choices if c.step == step]
        for choice in of_step:
            assert choice.heals == len(healed(choice.broker, left, live, now)[0])
            assert choice.still_offline_after == len(left) - choice.heals
        tried = {c.broker: healed(c.broker, left, live, now) for c in of_step}
        clean = {b: {n for n in led if after[n].leader in now[n].isr} for b, (led, after) in tried.items()}
        spoilt = {b: len((led & set().union(*clean.values())) - clean[b]) for b, (led, _) in tried.items()}
        best = max(of_step, key=lambda c: (c.heals > 0, -spoilt[c.broker], c.heals, -c.broker))
        assert [c for c in of_step if c.chosen] == ([best] if best.heals else [])
        gone, after = healed(best.broker, left, live, now)
        left, live, now = left - gone, live | {best.broker}, now | after


class TestElectedUnclean:
    """What an order of starts loses."""

    TOPICS = {
        "t": {0: ([1, 5], state(-1, [5])), 1: ([5], state(-1, [5])), 2: ([1], state(-1, [1])), 3: ([3, 1], state(-1, []))},
    }

    def judged(self):
        """Verdicts: broker 5 has all of t-0, broker 1 a part; unclean election is allowed."""
        found = made(topics=self.TOPICS, extra=[override("t", unclean_leader_election_enable="true")], live=(2,))
        return found, release(found), leadership.examine(found, release(found))

    def test_the_order_decides(self):
        """Whoever starts first of those with t-0 leads it, whatever it lacks; t-3 has nobody in its ISR: it is unclean anyway."""
        _, _, lead = self.judged()
        lost = {steps: [v.partition for v in elected_unclean(lead.verdicts, steps)] for steps in ((5, 1), (1, 5), (5,), ())}
        assert lost == {(5, 1): [3], (1, 5): [0, 3], (5,): [], (): []}

    @pytest.mark.parametrize("broker", [1, 3, 5])
    def test_as_the_what_if_replays_it(self, broker):
        """Both follow the controller's election."""
        cluster, version, lead = self.judged()
        supposed = what_if.suppose(cluster, {2, *lead.dead}, alive=f"2,{broker}")
        replayed = what_if.replay(cluster, version.version, lead.verdicts, supposed)
        told = {(change.topic, change.partition) for change in replayed.changes if change.unclean}
        assert told == {(v.topic, v.partition) for v in elected_unclean(lead.verdicts, [broker])}

    def test_who_must_not_start_before_whom_is_said(self):
        """With its price, under the finding that says whom to start."""
        *_, lead = self.judged()
        warned = [step.text for step in plan.make(lead).of("leadership.offline") if step.text.startswith("Do not start")]
        assert warned == [
            "Do not start broker 1 before broker 5: t-0 would elect it unclean, and acknowledged records that it lacks"
            " would be lost."
        ]
