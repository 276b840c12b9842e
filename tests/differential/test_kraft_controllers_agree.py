"""The rules in ``kafka.kraft_election`` and ``kafka.kraft_controller`` against Kafka's own code, over random partitions and clusters.

``CASEBOOK_SEED`` chooses other cases; the seed in use is printed.
"""

import os
import random
from collections import Counter

import pytest

from casebook.kafka.kraft import controller, election
from casebook.kafka.kraft.controller import BrokerEvent
from casebook.kafka.kraft.election import KraftChange, KraftElection, KraftNoLeaderReason, KraftPartition, KraftSettings
from casebook.kafka.releases import KafkaVersion
from tests.differential.kraft_controllers import LEADER_EPOCH, PARTITION_EPOCH, RELEASES, KraftAnswer, KraftCase, ask

SEED = int(os.environ.get("CASEBOOK_SEED", "20"))
CHANGES, CLUSTERS = 6000, 2500
IDS = range(1, 21)
SHOWN = 5  # differences that a failure prints


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request):
    """A release whose jars are asked."""
    return request.param


@pytest.fixture(scope="module")
def answered(kafka, tmp_path_factory):
    """Every case with Kafka's answers and ours, from one JVM."""
    print(f"seed {SEED}")
    dice = random.Random(f"{SEED}-{kafka}")
    cases = [_change(dice) for _ in range(CHANGES)] + [_cluster(dice) for _ in range(CLUSTERS)]
    answers = ask(kafka, cases, tmp_path_factory.mktemp(kafka))
    assert len(answers) == len(cases)
    return [(case, answer, _ours(case, kafka)) for case, answer in zip(cases, answers, strict=True)]


class TestKraftControllersAgree:
    def test_changes_end_as_in_kafka(self, answered):
        """Every field of the partition after one change is the one that Kafka's own builder writes."""
        assert _differences(answered, of_events=False) == []

    def test_events_end_as_in_kafka(self, answered):
        """So is every field after each event of a sequence that Kafka's own managers handle."""
        assert _differences(answered, of_events=True) == []

    def test_a_reason_is_given_if_there_is_no_leader(self, answered):
        """A partition has a leader, or the reason why not; a preferred election has its own reasons for another leader."""
        changes = [(case, one) for case, _, ours in answered for one in ours]
        wrong = [
            (case, one)
            for case, one in changes
            if case.election is not KraftElection.PREFERRED and (one.after.leader is None) != (one.reason is not None)
        ]
        assert wrong[:SHOWN] == []

    def test_the_cases_reach_every_end(self, answered):
        """The cases are worth something: each reason, each origin of a leader and each event occurs many times."""
        changes = [one for _, _, ours in answered for one in ours]
        reasons = Counter(one.reason for one in changes)
        assert min(reasons[reason] for reason in KraftNoLeaderReason) > 20
        origins = Counter(one.elected for one in changes)
        assert min(origins[origin] for origin in election.ElectedFrom) > 20
        for event in BrokerEvent:
            written = [
                answer.written
                for case, answers, _ in answered
                for (kind, _), answer in zip(case.events, answers, strict=False)
                if kind is event
            ]
            assert len(written) > 200
            assert sum(written) > 5

    def test_reassignments_end_and_continue(self, answered):
        """Reassignments are among them, those that end in a change and those that do not."""
        ended = [
            not (answers[0].after.adding or answers[0].after.removing)
            for case, answers, _ in answered
            if case.partition.adding or case.partition.removing
        ]
        assert sum(ended) > 100
        assert len(ended) - sum(ended) > 100


def _differences(answered, *, of_events: bool) -> list[tuple[KraftCase, KraftAnswer, KraftChange]]:
    return [
        (case, answer, one)
        for case, answers, ours in answered
        for answer, one in zip(answers, ours, strict=True)
        if bool(case.events) is of_events and (answer.after, answer.written) != (one.after, one.written)
    ][:SHOWN]


def _ours(case: KraftCase, kafka: str) -> tuple[KraftChange, ...]:
    version = KafkaVersion.parse(kafka)
    if case.events:
        return controller.after_all(
            case.partition, events=case.events, eligible=case.active, settings=case.settings, version=version
        )
    one = election.change(
        case.partition,
        eligible=case.active,
        settings=case.settings,
        version=version,
        election=case.election,
        isr=case.isr,
        lost=case.lost,
    )
    return (one,)


def _change(dice: random.Random) -> KraftCase:
    """One change of a partition, malformed ones among them."""
    partition = _partition(dice, tuple(dice.sample(IDS, 5)))
    if dice.random() < 0.1:
        partition = partition._replace(elr=_some(dice, IDS)[:4], leader=dice.choice(IDS))
    if dice.random() < 0.03:
        partition = partition._replace(last_known_elr=(-1,))
    shrunk = tuple(broker for broker in partition.isr if dice.random() < 0.6)
    grown = tuple(dict.fromkeys((*partition.isr, *_some(dice, partition.replicas))))
    return KraftCase(
        partition=partition,
        active=_active(dice, partition),
        settings=_settings(dice),
        election=dice.choice(tuple(KraftElection)),
        isr=dice.choice((None, shrunk, shrunk, grown)),
        lost=frozenset(_some(dice, partition.replicas)) if dice.random() < 0.15 else frozenset(),
    )


def _cluster(dice: random.Random) -> KraftCase:
    """A partition whose brokers go and come back."""
    brokers = tuple(dice.sample(IDS, 5))
    partition = _partition(dice, brokers)
    kinds = (*BrokerEvent, *[BrokerEvent.FENCED, BrokerEvent.UNFENCED] * 3)
    events, stopping, gone = [], set(), set()
    for _ in range(dice.randint(1, 8)):
        kind, broker = dice.choice(kinds), dice.choice(brokers)
        restarts = kind in (BrokerEvent.RESTARTED, BrokerEvent.RESTARTED_CLEANLY)
        # Only a new registration brings back a broker that asked to stop, or that was unregistered.
        if not restarts and (broker in gone or (broker in stopping and kind is BrokerEvent.UNFENCED)):
            continue
        stopping = (
            stopping - {broker} if restarts else stopping | ({broker} if kind is BrokerEvent.CONTROLLED_SHUTDOWN else set())
        )
        gone = gone | {broker} if kind is BrokerEvent.UNREGISTERED else gone - {broker}
        events.append((kind, broker))
    return KraftCase(
        partition=partition,
        active=_active(dice, partition),
        settings=_settings(dice),
        events=tuple(events) or ((BrokerEvent.FENCED, brokers[0]),),
    )


def _partition(dice: random.Random, brokers: tuple[int, ...]) -> KraftPartition:
    replicas = brokers[: dice.randint(1, 5)]
    isr = tuple(dice.sample(replicas, dice.randint(0 if dice.random() < 0.5 else 1, len(replicas))))
    outside = [broker for broker in replicas if broker not in isr]
    reassigned = dice.random() < 0.25
    adding = tuple(broker for broker in replicas if reassigned and dice.random() < 0.4)
    return KraftPartition(
        replicas=replicas,
        isr=isr,
        leader=None if not isr or dice.random() < 0.3 else dice.choice(isr),
        elr=_some(dice, outside) if dice.random() < 0.6 else (),
        last_known_elr=tuple(dice.sample(replicas, min(len(replicas), dice.choice((0, 1, 1, 1, 2))))),
        recovering=dice.random() < 0.1,
        adding=adding,
        removing=tuple(broker for broker in replicas if reassigned and broker not in adding and dice.random() < 0.4),
        leader_epoch=LEADER_EPOCH,
        partition_epoch=PARTITION_EPOCH,
    )


def _active(dice: random.Random, partition: KraftPartition) -> frozenset[int]:
    return frozenset(broker for broker in IDS if broker not in partition.replicas or dice.random() < dice.choice((0.1, 0.5, 0.9)))


def _settings(dice: random.Random) -> KraftSettings:
    return KraftSettings(elr=dice.random() < 0.7, min_isr=dice.randint(1, 4), unclean=dice.random() < 0.4)


def _some(dice: random.Random, ids) -> tuple[int, ...]:
    return tuple(dice.sample(ids, dice.randint(0, len(ids))))
