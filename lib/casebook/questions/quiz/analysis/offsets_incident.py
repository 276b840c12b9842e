"""The offsets topic and its coordinators, for the quiz: what the questions need, and the evidence to show."""

from dataclasses import dataclass
from functools import cached_property

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.words import brokers, clock_ms, count, listed, plural
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.rows import LookUp
from casebook.questions.coordinators.analysis.states import UNSERVED, JudgedPartition
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.quiz.analysis.exhibit import Exhibit
from casebook.questions.quiz.analysis.gates import known

_GROUPS = ("search", "metrics", "recommender", "checkout", "loyalty")
"""Groups to ask about when no log and no segment names one: the partition of a group depends only on its name."""
_MOST_GROUPS = 5


@dataclass(frozen=True, kw_only=True)
class OffsetsIncident:
    """The case: its coordinators, and the copies of the offsets topic."""

    held: Coordinators
    topic: OffsetsTopic

    @cached_property
    def groups(self) -> tuple[LookUp, ...]:
        """Some groups, those that are not served first."""
        found = [self.held.look_up(name) for name in self.held.groups or _GROUPS]
        return tuple(sorted(found, key=lambda one: (not _waits(one), one.group)))[:_MOST_GROUPS]

    @cached_property
    def judged(self) -> tuple[JudgedPartition, ...]:
        """Every known partition of the offsets topic."""
        return tuple(one.judged for one in self.held.partitions)

    @cached_property
    def unlisted(self) -> tuple[int, ...]:
        """Brokers with a replica whose copy is not listed."""
        seen = {(row.broker, row.partition) for row in self.topic.partitions}
        return tuple(sorted({b for one in self.judged for b in one.replicas if (b, one.partition) not in seen}))

    @property
    def largest(self) -> OffsetsPartition | None:
        """The largest copy; ``None`` when none is listed, or not all of them."""
        return max(self.topic.partitions, key=lambda row: row.bytes, default=None) if not self.unlisted else None

    @cached_property
    def least(self) -> frozenset[frozenset[int]]:
        """The smallest sets of brokers that are a whole ISR."""
        sets = {frozenset(one.isr) for one in self.judged if one.isr}
        smallest = min(map(len, sets), default=0)
        return frozenset(one for one in sets if len(one) == smallest)

    def missing_copies(self) -> dict[str, str]:
        """Return why the largest copy is unknown."""
        where = (
            f"The log dirs of {brokers(self.unlisted)} are not in this evidence." if self.unlisted else "No log dir is listed."
        )
        return known(self.largest, where)


def _waits(group: LookUp) -> bool:
    return group.waiting is not None and group.waiting.judged.state in UNSERVED


def exhibits(case: OffsetsIncident) -> tuple[Exhibit, ...]:
    """Return the evidence for the questions: groups, partitions, loads, copies and cleaners, without interpretation."""
    return (_groups(case), _partitions(case), _loads(case), _copies(case), _cleaners(case))


def _groups(case: OffsetsIncident) -> Exhibit:
    return Exhibit(
        name="quiz-groups",
        takeaway=f"The owners of {plural(len(case.groups), 'group')} ask for help.",
        reading="The hash is that of Kafka: String.hashCode in Java.",
        columns=("Group", "Hash of its name"),
        rows=tuple((one.group, one.hash) for one in case.groups),
    )


def _partitions(case: OffsetsIncident) -> Exhibit:
    return Exhibit(
        name="quiz-offsets",
        takeaway=f"{OFFSETS_TOPIC} has {plural(len(case.judged), 'partition')}.",
        reading="Leader and ISR as ZooKeeper stores them.",
        columns=("Partition", "Replicas", "Leader", "ISR"),
        rows=tuple(
            (f"{OFFSETS_TOPIC}-{one.partition}", listed(one.replicas), _or_none(one.coordinator), listed(one.isr or ()))
            for one in case.judged
        ),
    )


def _loads(case: OffsetsIncident) -> Exhibit:
    said = [(queue.broker, one) for queue in case.held.queues for one in queue.log.said.values()]
    return Exhibit(
        name="quiz-loads",
        takeaway=f"{plural(len(said), 'partition')} with a log line about a load since the last start of the broker.",
        reading="The last line on each partition; times are UTC.",
        columns=("Broker", "Time", "Line"),
        rows=tuple((broker, clock_ms(one.since), one.text.splitlines()[0]) for broker, one in said) or (("none", "–", "–"),),
    )


def _copies(case: OffsetsIncident) -> Exhibit:
    rows = sorted(case.topic.partitions, key=lambda row: (row.partition, row.broker))
    return Exhibit(
        name="quiz-copies",
        takeaway=f"{plural(len(rows), 'copy', 'copies')} of these partitions are listed.",
        reading="The last segment of a copy is active. The cleaner has compacted everything below its checkpoint.",
        columns=("Partition", "Broker", "Segments", "Bytes", "Cleaner checkpoint"),
        rows=tuple(
            (f"{OFFSETS_TOPIC}-{row.partition}", row.broker, row.segments, count(row.bytes), _or_none(row.cleaner_point))
            for row in rows
        )
        or (("none", "–", "–", "–", "–"),),
    )


def _cleaners(case: OffsetsIncident) -> Exhibit:
    rows = [
        (cleaner.broker, f"log.cleaner.enable={cleaner.settings.enabled.value}", cleaner.died.text if cleaner.died else "–")
        for cleaner in case.topic.cleaners
    ]
    return Exhibit(
        name="quiz-cleaners",
        takeaway=f"{plural(len(rows), 'broker')} with a log cleaner.",
        reading="The setting that applies, and the error with which the cleaner thread ended, if it did.",
        columns=("Broker", "Setting", "Error in its log"),
        rows=tuple(rows) or (("none", "–", "–"),),
    )


def _or_none(value: int | None) -> str | int:
    return "–" if value is None else value
