"""Questions on records that acks=all did not protect, because the leader was the only member of the ISR.

    shrunk    which partitions had an ISR of one
    since     since when, for one of them
    min_isr   which min.insync.replicas counted
    origin    where that value came from
    lost      how many records, acknowledged with acks=all meanwhile, are lost
    stale     which broker must not be started first
    setting   which setting would have refused them

Times with an ISR of one and settings are those of notebook 80; lost records and elections are those of notebook 70.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial

from casebook.facts.losses import Cause, LeaderChange
from casebook.findings.words import brokers, capitalised, clock_ms, count, plural
from casebook.kafka import settings
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.rows import IsrAlone, SettingRow
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.quiz.analysis import acks1, answers, common
from casebook.questions.quiz.analysis.exhibit import Exhibit
from casebook.questions.quiz.analysis.exhibit import settings as settings_of
from casebook.questions.quiz.analysis.gates import gate, known
from casebook.questions.quiz.analysis.quiz import QuizQuestion
from casebook.questions.timeline.analysis.timeline import Timeline

_KEY = "min.insync.replicas"
_ORIGINS = (
    ("topic", "The topic's own setting"),
    ("dynamic", "A dynamic setting of a broker or of the cluster, in ZooKeeper"),
    ("file", "server.properties of the brokers"),
    ("default", "The built-in default of this Kafka release"),
)
_ORIGIN = {
    settings.TOPIC: "topic",
    settings.DYNAMIC_BROKER: "dynamic",
    settings.DYNAMIC_DEFAULT: "dynamic",
    settings.SERVER_PROPERTIES: "file",
    settings.PRINTED: "file",
    settings.BUILT_IN: "default",
}
"""Origins that the evidence proves; an assumed one is no answer."""


@dataclass(frozen=True, kw_only=True)
class AloneInSync:
    """The case: its settings, its past, and its lost records."""

    audit: Durability
    past: Timeline
    loss: MessageLoss

    @cached_property
    def asked(self) -> IsrAlone | None:
        """The partition to ask about: with most records lost in that time; without any, the longest time."""
        lost = Counter()
        for row in self.loss.counts:
            lost[row.topic, row.partition] += row.records if row.cause == Cause.ISR_OF_ONE else 0
        alone = self.audit.isr_alone
        return min(alone, key=lambda r: (-lost[r.topic, r.partition], -r.milliseconds, r.topic, r.partition), default=None)

    @cached_property
    def setting(self) -> SettingRow | None:
        """min.insync.replicas of its topic; ``None`` when brokers differ, or it is unknown."""
        rows = [row for row in self.audit.settings if self.asked and (row.entity, row.key) == (f"topic {self.asked.topic}", _KEY)]
        return rows[0] if len(rows) == 1 and rows[0].value is not None else None

    @cached_property
    def stale(self) -> tuple[LeaderChange, ...]:
        """Elections of a broker that was out of sync, in the partition to ask about."""
        one = self.asked
        return tuple(
            c for c in self.loss.changes if one and (c.topic, c.partition) == (one.topic, one.partition) and c.unclean and c.isr
        )

    @property
    def name(self) -> str:
        """The partition to ask about."""
        return f"{self.asked.topic}-{self.asked.partition}" if self.asked else "one partition"

    def missing(self) -> dict[str, str]:
        """Return why past ISRs are unknown, or that none had one member."""
        return gate(self.audit.findings, "durability.isr_alone")


def questions(case: AloneInSync) -> tuple[QuizQuestion, ...]:
    """Return the questions on a case, in order."""
    return (_alone(case), _since(case), _min_isr(case), _origin(case), _lost(case), _stale(case), common.refused_by(case.loss))


def _alone(case: AloneInSync) -> QuizQuestion:
    topic = case.asked.topic if case.asked else ""
    hit = {row.partition: row for row in case.audit.isr_alone if row.topic == topic}
    right = {p.partition: p.partition in hit for p in case.past.cluster.partitions if p.topic == topic}
    return QuizQuestion(
        key="shrunk",
        title="Where was one replica alone?",
        asks=f"Which partitions of topic {topic} had an ISR of one broker at some time, with more than one replica?",
        form="names or numbers, separated by commas",
        hints=(
            "The controller removes a dead broker from each ISR. The leader removes a slow one.",
            "Read the ISR in each state, not only in the last one.",
            f"{plural(len(hit), 'partition')} of {len(right)}.",
        ),
        judge=partial(common.partitions_of, right, topic, but="{} always had a second member in its ISR."),
        explanation=f"{', '.join(f'{topic}-{number}' for number in sorted(hit))}. Such a partition has one complete copy.",
        cites=tuple(row.proof for row in hit.values())[:3],
        **case.missing(),
    )


def _since(case: AloneInSync) -> QuizQuestion:
    missing, one = case.missing(), case.asked
    return common.time_question(
        "since",
        "When did it begin?",
        f"Since when did {case.name} have an ISR of one broker, the first time?",
        () if missing else (one.first,),
        hints=(
            "ZooKeeper stores each new ISR in the state of the partition.",
            "Find the first state with one broker in the ISR.",
            "Its time is the time of that state.",
        ),
        explanation=f"{clock_ms(one.first)}: from then on, acks=all waited for no second copy." if one else "",
        cites=(one.proof,) if one else (),
        **missing,
    )


def _min_isr(case: AloneInSync) -> QuizQuestion:
    one = case.asked
    value = int(one.min_isr) if one and one.min_isr is not None and one.min_isr.isdecimal() else None
    missing = case.missing() or known(value, f"The {_KEY} of that time is not in this evidence.")
    topic = one.topic if one else ""
    return QuizQuestion(
        key="min_isr",
        title="How many copies were required?",
        asks=f"How many in-sync replicas did topic {topic} require for a write with acks=all?",
        form="a number",
        hints=(
            f"The setting is {_KEY}.",
            "A topic's own setting comes before those of the brokers.",
            "Without any setting, the default of the release applies: it is 1.",
        ),
        judge=partial(common.fewer_or_more, value or 0),
        explanation=f"{value}: the leader alone was enough, and acks=all protected no more than acks=1.",
        **missing,
    )


def _origin(case: AloneInSync) -> QuizQuestion:
    row = case.setting
    right = _ORIGIN.get(row.origin) if row else None
    missing = case.missing() or known(right, f"Where {_KEY} comes from is not in this evidence.")
    return QuizQuestion(
        key="origin",
        title="Where does that come from?",
        asks=f"Which setting decides this value for topic {case.asked.topic}?" if case.asked else "Which setting decides?",
        form="its short name",
        options=_ORIGINS,
        hints=(
            "Start with the topic, then the brokers, then the release.",
            "The first of these that has a value decides.",
            "See the table of settings.",
        ),
        judge=partial(_judge_origin, right or ""),
        explanation=f"{_KEY} is {row.value}: {row.origin}. A change must be made there." if row else "",
        **missing,
    )


def _judge_origin(right: str, answer: str) -> str:
    given = answers.choice(answer, _ORIGINS)
    order = [key for key, _ in _ORIGINS]
    if given == right:
        return ""
    if order.index(given) < order.index(right):
        return "That is not set."
    return "Another setting comes before that one."


def _lost(case: AloneInSync) -> QuizQuestion:
    lost = common.lost_by(case.loss, Cause.ISR_OF_ONE)
    return QuizQuestion(
        key="lost",
        title="What did acks=all not protect?",
        asks="How many lost records did a leader acknowledge with acks=all while it was alone in the ISR?",
        form="a number",
        hints=(
            "Compare the ledger with the logs, partition by partition.",
            "Not every loss has this cause. With which acks were the records sent?",
            "Compare the times of the lost records with the times of the ISR of one.",
        ),
        judge=partial(common.fewer_or_more, lost),
        explanation=f"{count(lost)} of {plural(case.loss.lost_total or 0, 'lost record')}. The next leader did not have them.",
        **common.of_lost(case.loss),
    )


def _stale(case: AloneInSync) -> QuizQuestion:
    stale = sorted({change.new_leader for change in case.stale if change.new_leader is not None})
    complete = sorted({broker for change in case.stale for broker in change.isr or ()})
    missing = case.missing() or gate(case.loss.findings, "loss.lost")
    missing = missing or ({} if stale else {"not_asked": f"No broker out of sync was elected for {case.name}."})
    return QuizQuestion(
        key="stale",
        title="Which broker must not start first?",
        asks=f"All replicas of {case.name} were down, and unclean election was allowed. Which broker should not have "
        "started first?",
        form="one id",
        hints=(
            "The first replica to start is elected, in sync or not.",
            "Which broker had left the ISR before the leader died?",
            "The last member of the ISR has all records. The other one does not.",
        ),
        judge=partial(common.exactly, stale),
        explanation=f"{capitalised(brokers(stale))}: it was out of sync, and became leader. {capitalised(brokers(complete))} "
        f"had all records, and had to follow. Wait for {brokers(complete)}, or accept this loss.",
        cites=tuple(change.opened_proof for change in case.stale)[:3],
        **missing,
    )


def exhibits(case: AloneInSync) -> tuple[Exhibit, ...]:
    """Return the evidence for the questions: states, settings and the ledger, without interpretation."""
    return (acks1.states(case.past), settings_of(case.past.cluster), *acks1.ledger(case.loss), *_acks(case.loss))


def _acks(loss: MessageLoss) -> tuple[Exhibit, ...]:
    rows = sorted({(f"{row.topic}-{row.partition}", row.producer or "–", f"acks={row.acks}") for row in loss.lost})
    if not rows:
        return ()
    return (
        Exhibit(
            name="quiz-acks",
            takeaway=f"Records of {plural(len(rows), 'partition')} are in no log.",
            reading="As the applications' ledger has it.",
            columns=("Partition", "Producer", "Sent with"),
            rows=tuple(rows),
        ),
    )
