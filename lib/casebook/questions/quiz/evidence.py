"""Evidence of a case for the quiz."""

from contextlib import suppress

from casebook.case.case import Case
from casebook.errors import CaseError
from casebook.facts.cluster import epoch_ms
from casebook.formats.zookeeper import history_facts
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.quiz.analysis import past
from casebook.questions.quiz.analysis.incident import QuizIncident


def incident(case: Case, lead: Leadership, *, at: int | None, as_of: str | None) -> QuizIncident:
    """Return the incident, with stored states and last ISRs.

    Args:
        lead: Result of notebook 20.
        at: Past moment, epoch ms; ``None`` for the time of collection.
        as_of: Time of the evidence, ISO-8601.
    """
    last, stored = {}, {}
    if case.has_history and as_of is not None:
        with suppress(CaseError):  # a torn history: unknown then
            last = past.last_in_sync(history_facts.read(case.history()), epoch_ms(as_of))
    with suppress(CaseError):  # a torn file ends early; the rest is shown as unknown
        for znode in case.znodes(at=at):
            if znode.path.endswith("/state"):
                stored[znode.path] = znode.data
    return QuizIncident(lead=lead, last_in_sync=last, stored=stored)
