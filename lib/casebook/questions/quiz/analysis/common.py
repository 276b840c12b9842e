"""Judges and questions that several incidents share."""

from collections.abc import Mapping, Sequence
from functools import partial

from casebook.facts.losses import Cause
from casebook.findings.words import brokers
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.quiz.analysis import answers
from casebook.questions.quiz.analysis.gates import gate
from casebook.questions.quiz.analysis.quiz import QuizQuestion

CLOSE = 1000
"""Milliseconds by which an answered time may be off."""
_DAY = 86_400_000
_SETTINGS = (
    ("min-isr", "acks=all in the producer, with min.insync.replicas=2 on the topic"),
    ("retries", "More retries in the producer"),
    ("unclean", "unclean.leader.election.enable=false on the topic"),
    ("flush", "log.flush.interval.messages=1 on the brokers: each record goes to disk at once"),
    ("session", "A longer zookeeper.session.timeout.ms on the brokers"),
)
_NOT: Mapping[str, str] = {
    "min-isr": "",
    "retries": "A producer only repeats what was refused or not answered. These records were acknowledged.",
    "unclean": "That setting decides who may lead. It does not change when a leader acknowledges.",
    "flush": "The records did reach that leader. The next leader has its own log, without them.",
    "session": "It only moves the moment at which a broker counts as dead. It does not change when a leader acknowledges.",
}
_REFUSED = {
    Cause.DEPOSED_LEADER: "With acks=all, the old leader waits for followers that no longer fetch from it. It acknowledges "
    "nothing, so the producer can send the record again.",
    Cause.ISR_OF_ONE: "With min.insync.replicas=2, a leader that is alone in the ISR refuses writes with acks=all. The producer "
    "knows, and can send the record again.",
}
CAUSES = tuple(_REFUSED)


def lost_by(loss: MessageLoss, *causes: Cause) -> int:
    """Return the number of lost records with one of these causes."""
    return sum(row.records for row in loss.counts if row.cause in causes)


def of_lost(loss: MessageLoss) -> dict[str, str]:
    """Return why the number of lost records is unknown, or that none is lost."""
    return gate(loss.findings, "loss.lost", "loss.looked_everywhere")


def refused_by(loss: MessageLoss) -> QuizQuestion:
    """The setting that would have refused the lost records."""
    causes = [cause for cause in CAUSES if lost_by(loss, cause)]
    missing = of_lost(loss) or ({} if causes else {"not_asked": "The lost records have another cause."})
    return QuizQuestion(
        key="setting",
        title="What would have refused them?",
        asks="Which of these settings would have refused the lost records, so that their producer knows?",
        form="its short name",
        options=_SETTINGS,
        hints=(
            "The records were acknowledged: a producer that gets this answer sends nothing again.",
            "Which replicas had these records when the leader acknowledged them?",
            "One setting makes the leader wait for a second copy, and refuse the record without it.",
        ),
        judge=lambda answer: _NOT[answers.choice(answer, _SETTINGS)],
        explanation=" ".join(_REFUSED[cause] for cause in causes),
        **missing,
    )


def fewer_or_more(right: int, answer: str) -> str:
    """Judge a number."""
    given = answers.number(answer)
    return "" if given == right else "Fewer than that." if given > right else "More than that."


def exactly(right: Sequence[int], answer: str) -> str:
    """Judge a set of broker ids."""
    given = answers.brokers(answer)
    if stray := sorted(given - set(right)):
        return f"Not {brokers(stray)}: look at the evidence again."
    return "" if given == set(right) else "A broker is missing." if given else "There is such a broker."


def partitions_of(right: Mapping[int, bool], topic: str, answer: str, *, but: str) -> str:
    """Judge partitions of a topic.

    Args:
        right: All partitions of the topic, and whether each is right.
        but: Sentence on a wrong one, with ``{}`` for its name.
    """
    given = answers.partitions(answer, topic)
    for number in sorted(given):
        if number not in right:
            return f"There is no {topic}-{number}."
        if not right[number]:
            return but.format(f"{topic}-{number}")
    wanted = {number for number, is_right in right.items() if is_right}
    return "" if given == wanted else "There are more." if given else "There is at least one."


def times(right: Sequence[int], answer: str) -> str:
    """Judge times of day in UTC, within :data:`CLOSE`.

    Args:
        right: Epoch ms.
    """
    given = answers.times(answer, len(right))
    names = ("The time",) if len(right) == 1 else ("The first time", "The second time")
    for name, time, wanted in zip(names, given, right, strict=True):
        early = (wanted - time) % _DAY
        if min(early, _DAY - early) > CLOSE:
            return f"{name} is too {'early' if early < _DAY // 2 else 'late'}."
    return ""


def time_question(key: str, title: str, asks: str, right: Sequence[int], **more: object) -> QuizQuestion:
    """Return a question for one time of day, or two."""
    form = "hh:mm:ss in UTC" if len(right) < 2 else "hh:mm:ss to hh:mm:ss, in UTC"
    return QuizQuestion(key=key, title=title, asks=asks, form=form, judge=partial(times, tuple(right)), **more)
