"""Incidents of the walkthrough: each with its sample, its lessons, its evidence and its questions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from casebook.case.case import Case
from casebook.errors import UsageError, did_you_mean
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.quiz import evidence
from casebook.questions.quiz.analysis import acks1, coordinators, isr_of_one, offsets_incident, past, questions
from casebook.questions.quiz.analysis.quiz import Quiz, QuizQuestion
from casebook.questions.timeline.analysis.timeline import Timeline


class Answers(Protocol):
    """Answers of a case that the questions are judged by: see :class:`casebook.notebook.examination.Examination`."""

    case: Case
    at: int | None
    as_of: str | None

    def leadership(self) -> Leadership:
        """Content of notebook 20."""

    def coordinators(self, *, scan: bool) -> Coordinators:
        """Content of notebook 50."""

    def offsets_topic(self, *, scan: bool) -> OffsetsTopic:
        """Content of notebook 40."""

    def timeline(self) -> Timeline:
        """Content of notebook 60."""

    def message_loss(self) -> tuple[MessageLoss, object]:
        """Content of notebook 70."""

    def durability(self) -> Durability:
        """Content of notebook 80."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkthroughIncident:
    """An incident of the walkthrough.

    Args:
        name: Value of the notebook's parameter ``incident``.
        alarm: What people report, without the cause.
        sample: Its shipped case.
        at: Default moment; ``""`` for the time of collection.
        lessons: Names of its lessons, see :data:`.walkthrough.LESSONS`.
        quiz: Returns its evidence to show and its questions.
        solved_by: Notebooks that answer the questions, in words.
        practice: Name of the incident for ``casebook rehearse NAME --practice``.
    """

    name: str
    alarm: str
    sample: str
    at: str = ""
    lessons: tuple[str, ...]
    quiz: Callable[[Answers], tuple[object, tuple[QuizQuestion, ...]]]
    solved_by: str
    practice: str

    @property
    def source(self) -> str:
        """Its shipped case, as a source."""
        return f"sample:{self.sample}"

    def ask(self, answers: Answers) -> Quiz:
        """Return its questions to a case, with the evidence to show.

        Raises:
            CaseError: Evidence is unusable.
            ScanError: The ledger or a log is unreadable.
        """
        shown, asked = self.quiz(answers)
        return Quiz(incident=self.name, alarm=self.alarm, solved_by=self.solved_by, shown=shown, questions=asked)


def _leaderless(of: Answers) -> tuple[object, tuple[QuizQuestion, ...]]:
    case = evidence.incident(of.case, of.leadership(), at=of.at, as_of=of.as_of)
    return case, questions.questions(case)


def _coordinators(of: Answers) -> tuple[object, tuple[QuizQuestion, ...]]:
    case = offsets_incident.OffsetsIncident(held=of.coordinators(scan=False), topic=of.offsets_topic(scan=False))
    return offsets_incident.exhibits(case), coordinators.questions(case)


def _acks1(of: Answers) -> tuple[object, tuple[QuizQuestion, ...]]:
    case = acks1.ReplacedLeader(past=of.timeline(), loss=of.message_loss()[0])
    return acks1.exhibits(case), acks1.questions(case)


def _isr_of_one(of: Answers) -> tuple[object, tuple[QuizQuestion, ...]]:
    case = isr_of_one.AloneInSync(audit=of.durability(), past=of.timeline(), loss=of.message_loss()[0])
    return isr_of_one.exhibits(case), isr_of_one.questions(case)


INCIDENTS: Mapping[str, WalkthroughIncident] = {
    incident.name: incident
    for incident in (
        WalkthroughIncident(
            name="leaderless",
            alarm="Clients of several topics report errors: no leader for some of their partitions. A partition is offline when "
            "it has had a leader, and its leader is now -1 or not registered. Topics in deletion are left out: no leader is "
            "elected for them.",
            sample="isr_shrunk_loss",
            at=past.HEIGHT,
            lessons=("partition", "isr", "high_watermark"),
            quiz=_leaderless,
            solved_by="Notebook 20_partition_leadership",
            practice="kill-before-drain",
        ),
        WalkthroughIncident(
            name="coordinators",
            alarm="Some consumer groups get no answer from Kafka, and others work. __consumer_offsets takes much room on disk.",
            sample="coordinators_loading",
            lessons=("partition", "coordinator", "cleaner"),
            quiz=_coordinators,
            solved_by="Notebooks 40_offsets_topic and 50_group_coordinators",
            practice="offsets-bloat",
        ),
        WalkthroughIncident(
            name="acks1",
            alarm="A few records of several topics are missing. Their producer uses acks=1, and has an acknowledgement for each.",
            sample="acks1_loss",
            lessons=("partition", "isr_elsewhere", "acks"),
            quiz=_acks1,
            solved_by="Notebooks 60_incident_timeline and 70_message_loss",
            practice="acks1-loss",
        ),
        WalkthroughIncident(
            name="isr_of_one",
            alarm="Records are missing that were acknowledged with acks=all. All brokers are up again.",
            sample="isr_shrunk_loss",
            lessons=("isr", "high_watermark", "min_isr"),
            quiz=_isr_of_one,
            solved_by="Notebooks 70_message_loss and 80_durability_audit",
            practice="isr-shrunk-loss",
        ),
    )
}
"""Incidents by name; the first is the notebook's default."""


def chosen(name: str, *, at: str = "") -> WalkthroughIncident:
    """Return an incident of :data:`INCIDENTS`.

    Args:
        at: The notebook's moment.

    Raises:
        UsageError: It does not exist, or its evidence has no other moment than that of collection.
    """
    if name not in INCIDENTS:
        raise UsageError(f"There is no incident {name!r}.", try_=did_you_mean(name, INCIDENTS))
    incident = INCIDENTS[name]
    if at and not incident.at:
        raise UsageError(
            f"incident={name} cannot be asked as of another moment.",
            cause="Its questions need logs and disks as they were collected.",
            try_="Leave at empty.",
        )
    return incident
