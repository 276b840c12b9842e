"""First questions of the quiz: dead brokers, offline partitions, and the reason."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from casebook.findings.words import agree, brokers, capitalised, plural
from casebook.kafka.verdict import OFFLINE, PartitionCondition, Verdict
from casebook.questions.quiz.analysis import answers
from casebook.questions.quiz.analysis.incident import CITED, HANDY, QuizIncident
from casebook.questions.quiz.analysis.quiz import QuizQuestion
from casebook.questions.quiz.analysis.rules import RULES_ASKED, why_not


def who_is_dead(incident: QuizIncident) -> QuizQuestion:
    """Assignments name brokers; live ones are registered."""
    dead = frozenset(incident.lead.dead)
    missing = incident.missing() or ({} if dead else {"not_asked": "Every broker that an assignment names is registered."})
    gone = capitalised(brokers(sorted(dead)))
    return QuizQuestion(
        key="brokers",
        title="Which brokers are dead?",
        asks="Which brokers are dead that hold replicas or are in an ISR?",
        form="ids, separated by commas",
        hints=(
            "A broker is alive as long as its ephemeral znode below /brokers/ids exists.",
            "Write down every id in the column Assignment. Then strike out the registered ones.",
            f"{plural(len(dead), 'id')} {agree(len(dead), 'remains', 'remain')}.",
        ),
        judge=partial(_judge_dead, incident, dead),
        explanation=f"{gone} {agree(len(dead), 'is', 'are')} assigned and not registered: ZooKeeper has ended "
        f"{agree(len(dead), 'its session', 'their sessions')} and removed the znode. To the controller, a "
        "living broker that is cut off from ZooKeeper looks the same.",
        cites=tuple(incident.cluster.proofs.broker(broker).label for broker in sorted(dead)[:CITED]),
        **missing,
    )


def _judge_dead(incident: QuizIncident, dead: frozenset[int], answer: str) -> str:
    given = answers.brokers(answer)
    if alive := sorted(given & incident.cluster.live):
        return f"{capitalised(brokers(alive))} {agree(len(alive), 'is', 'are')} registered, and therefore alive."
    if stray := sorted(given - dead):
        return f"No assignment and no ISR names {brokers(stray)}."
    return "" if given == dead else "A broker is missing." if given else "A broker is dead."


def which_partitions(incident: QuizIncident) -> QuizQuestion:
    """Leader -1, or a leader that is not registered."""
    missing = incident.missing()
    topic = "" if missing else _topic(incident)
    mine = [verdict for verdict in incident.lead.verdicts if verdict.topic == topic]
    offline = [verdict for verdict in mine if verdict.state in OFFLINE]
    names = ", ".join(f"{topic}-{verdict.partition}" for verdict in offline)
    return QuizQuestion(
        key="leaderless",
        title="What is offline?",
        asks=f"Which partitions of topic {topic} have no living leader?{incident.leaves_out}"
        if topic
        else "Which partitions are offline?",
        form="names or numbers, separated by commas",
        hints=(
            "Check the leader in the state of each partition, not the ISR.",
            "Leader -1 means no leader. Any other leader must be a registered broker. If in 0.9 the controller dies "
            "together with the leader, the state still names the dead one.",
            f"{plural(len(offline), 'partition')} of {len(mine)}.",
        ),
        judge=partial(_judge_offline, mine),
        explanation=f"{names}: {agree(len(offline), 'its state names', 'their states name')} no living leader. "
        f"Producers and consumers of {agree(len(offline), 'this partition', 'these partitions')} wait; the "
        "other partitions are not affected.",
        cites=incident.states(offline),
        **missing,
    )


def _topic(incident: QuizIncident) -> str:
    """Return the topic of the question: with some offline and some online partitions, and not too many."""
    of_topic = Counter(verdict.topic for verdict in incident.lead.verdicts)
    offline = Counter(verdict.topic for verdict in incident.offline)

    def worth(topic: str) -> tuple[bool, bool, int, str]:
        total = of_topic[topic]
        return offline[topic] == total, total > HANDY, -total if total <= HANDY else total, topic

    return min(offline, key=worth)


def _judge_offline(mine: Sequence[Verdict], answer: str) -> str:
    given = answers.partitions(answer, mine[0].topic)
    by_number = {verdict.partition: verdict for verdict in mine}
    for partition in sorted(given):
        verdict = by_number.get(partition)
        if verdict is None:
            return f"There is no {mine[0].topic}-{partition}."
        if verdict.state not in (*OFFLINE, PartitionCondition.UNKNOWN, PartitionCondition.UNINITIALISED):
            led = f"led by {brokers([verdict.leader])}, which is alive" if verdict.leader is not None else verdict.state.value
            return f"{mine[0].topic}-{partition} is {led}."
    right = {verdict.partition for verdict in mine if verdict.state in OFFLINE}
    return "" if right <= given else "There are more." if given else "There is at least one."


def why(incident: QuizIncident) -> QuizQuestion:
    """One partition and the rule that blocks its election."""
    asked = [verdict for verdict in incident.offline if verdict.rule in RULES_ASKED]
    missing = incident.missing() or ({} if asked else {"cannot_tell": "This evidence does not show which rule blocks them."})
    if missing:
        return QuizQuestion(
            key="why", title="Why does it have no leader?", asks="Why does an offline partition have no leader?", **missing
        )
    verdict = min(asked, key=lambda v: (not v.live_replicas, v.rule != "R3", -len(v.replicas), v.topic, v.partition))
    return QuizQuestion(
        key="why",
        title="Why does it have no leader?",
        asks=f"Why does {verdict.topic}-{verdict.partition} have no leader?",
        form="its short name",
        options=tuple(RULES_ASKED.items()),
        hints=(
            "Compare its assignment, its ISR, and the registered brokers: which ids are in all three?",
            "The controller takes the first living replica of the assignment that is in the ISR. If no ISR member is "
            "alive and unclean election is allowed, it takes a living replica that is out of sync.",
            f"Find unclean.leader.election.enable for topic {verdict.topic}, and check whether there is a controller.",
        ),
        judge=partial(_judge_rule, incident, verdict),
        explanation=f"{verdict.rule}: {verdict.why} {_setting(incident, verdict)}",
        cites=(*incident.states([verdict]), incident.cluster.proofs.topic(verdict.topic).label),
    )


def _judge_rule(incident: QuizIncident, verdict: Verdict, answer: str) -> str:
    given = answers.choice(answer, tuple(RULES_ASKED.items()))
    return why_not(given, verdict, incident.cluster)


def _setting(incident: QuizIncident, verdict: Verdict) -> str:
    if verdict.unclean_allowed is None:
        return "Whether unclean election is allowed is unknown."
    allowed = "allowed" if verdict.unclean_allowed else "not allowed"
    return f"Unclean election is {allowed} for it ({verdict.unclean_origin}, Kafka {incident.lead.version.version})."
