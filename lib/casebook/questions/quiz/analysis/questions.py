"""Questions on an incident with leaderless partitions, with answers computed from the evidence.

    brokers      which brokers are dead
    leaderless   which partitions of a topic have no live leader
    why          which rule keeps one of them so
    first        which broker to start first
    healed       how many are still without a leader after that
    unclean      how many an unclean election would give a leader, and at what price
    never        what loses records for good

Verdicts, start order and replayed elections are those of notebook 20.
"""

from casebook.questions.quiz.analysis import causes, steps
from casebook.questions.quiz.analysis.incident import QuizIncident
from casebook.questions.quiz.analysis.quiz import QuizQuestion


def questions(incident: QuizIncident) -> tuple[QuizQuestion, ...]:
    """Return the questions on a case, in order."""
    return (
        causes.who_is_dead(incident),
        causes.which_partitions(incident),
        causes.why(incident),
        steps.whom_first(incident),
        steps.is_it_healed(incident),
        steps.what_if_unclean(incident),
        steps.what_never(incident),
    )
