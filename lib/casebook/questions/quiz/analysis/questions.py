"""The questions on an incident with leaderless partitions, each with its answer worked out from the evidence.

    brokers      which brokers are dead
    leaderless   which partitions of a topic have no leader that lives
    why          which rule keeps one of them so
    first        which broker to start first
    healed       how many are still without leader after that
    unclean      how many an unclean election would give a leader, and at what price
    never        what loses records for good

Verdicts, the order of starts and the replay of elections are those of notebook 20.
"""

from collections.abc import Mapping

from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.quiz.analysis import causes, steps
from casebook.questions.quiz.analysis.incident import QuizIncident
from casebook.questions.quiz.analysis.past import LastInSync
from casebook.questions.quiz.analysis.quiz import QuizQuestion


def questions(lead: Leadership, *, last_in_sync: Mapping[tuple[str, int], LastInSync] | None = None) -> tuple[QuizQuestion, ...]:
    """The questions on a case, in the order in which they are asked.

    Args:
        last_in_sync: See :class:`casebook.questions.quiz.analysis.incident.QuizIncident`.
    """
    incident = QuizIncident(lead=lead, last_in_sync=last_in_sync or {})
    return (
        causes.who_is_dead(incident),
        causes.which_partitions(incident),
        causes.why(incident),
        steps.whom_first(incident),
        steps.is_it_healed(incident),
        steps.what_if_unclean(incident),
        steps.what_never(incident),
    )
