"""What a case tells of the incident that the quiz is about."""

from contextlib import suppress

from casebook.case.case import Case
from casebook.errors import CaseError
from casebook.facts.cluster import epoch_ms
from casebook.formats.zookeeper import history_facts
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.quiz.analysis import past
from casebook.questions.quiz.analysis.incident import QuizIncident


def incident(case: Case, lead: Leadership, *, at: int | None, as_of: str | None) -> QuizIncident:
    """The incident, with what is stored of it and who was in sync before.

    Args:
        lead: The cluster as notebook 20 sees it.
        at: The moment of the past that is looked at, epoch ms; ``None`` for that of collecting.
        as_of: Of when the evidence is, ISO-8601.
    """
    last, stored = {}, {}
    if case.has_history and as_of is not None:
        with suppress(CaseError):  # a torn history: it is not known then
            last = past.last_in_sync(history_facts.read(case.history()), epoch_ms(as_of))
    with suppress(CaseError):  # a torn file ends early; what is missing then is shown as unknown
        for znode in case.znodes(at=at):
            if znode.path.endswith("/state"):
                stored[znode.path] = znode.data
    return QuizIncident(lead=lead, last_in_sync=last, stored=stored)
