"""A quiz on an incident: checking an answer, and the overall result.

Answers are computed from the evidence (``analysis.questions``); nothing here contains one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Severity, Step
from casebook.findings.finding import Question as Check
from casebook.findings.proof import proof
from casebook.findings.words import plural
from casebook.questions.quiz.analysis.answers import GIVEN_UP, Unclear


class AnswerOutcome(StrEnum):
    """Outcome of a question."""

    RIGHT = "right"
    WRONG = "wrong"
    GIVEN_UP = "given_up"
    NOT_ANSWERED = "not_answered"
    NOT_ASKED = "not_asked"  # it does not apply to this case
    CANNOT_TELL = "cannot_tell"  # the evidence does not contain the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizQuestion:
    """A quiz question with its check.

    Args:
        key: Name of its check, ``walkthrough.<key>``.
        title: A few words.
        asks: The question.
        form: Form of the answer, by an example with another value.
        options: (key, words) to choose one from; empty for a typed answer.
        hints: From a small to a large hint; none is the answer.
        judge: Returns why an answer is wrong, in one sentence; ``""`` when right. Raises :class:`Unclear`.
        explanation: Reason for the answer, shown only after an answer or on request.
        later: (key, words): further explanation that would reveal another question's answer, shown once that is revealed.
        cites: Paths of znodes, log lines and transactions with the proof.
        not_asked: Why the question does not apply; ``""`` when it does.
        cannot_tell: Why the evidence does not contain the answer; ``""`` when it does.
    """

    key: str
    title: str
    asks: str
    form: str = ""
    options: tuple[tuple[str, str], ...] = ()
    hints: tuple[str, ...] = ()
    judge: Callable[[str], str] = lambda _: ""
    explanation: str = ""
    later: tuple[str, str] = ("", "")
    cites: tuple[str, ...] = ()
    not_asked: str = ""
    cannot_tell: str = ""

    @property
    def arises(self) -> bool:
        """Whether it can be answered."""
        return not (self.not_asked or self.cannot_tell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiz:
    """An incident of a case, to be solved.

    Args:
        incident: Name of the incident.
        alarm: What people report.
        solved_by: Notebooks that answer the questions, in words.
        shown: Evidence to show: tables, or a case with a view of its own.
        questions: In order; the notebook's parameter ``answer_1`` answers the first.
    """

    incident: str
    alarm: str
    solved_by: str
    shown: object
    questions: tuple[QuizQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """A question with its given answer.

    Args:
        answer: As given; ``""`` for none.
        why: Error in it, reason why the question is not asked, or the explanation.
    """

    question: QuizQuestion
    outcome: AnswerOutcome
    answer: str
    why: str

    @property
    def told(self) -> bool:
        """Whether its answer is revealed."""
        return self.outcome not in (AnswerOutcome.WRONG, AnswerOutcome.NOT_ANSWERED)

    def said(self, told: Collection[str]) -> str:
        """Return the response to the answer.

        Args:
            told: Keys of the revealed questions.
        """
        key, words = self.question.later
        return f"{self.why} {words}" if words and key in told and _explained(self) else self.why


def judged(question: QuizQuestion, answer: str) -> JudgedAnswer:
    """Judge an answer in any valid form."""
    answer = answer.strip()
    outcome, why = _outcome(question, answer)
    return JudgedAnswer(question=question, outcome=outcome, answer=answer, why=why)


def _outcome(question: QuizQuestion, answer: str) -> tuple[AnswerOutcome, str]:
    if question.not_asked:
        return AnswerOutcome.NOT_ASKED, question.not_asked
    if question.cannot_tell:
        return AnswerOutcome.CANNOT_TELL, question.cannot_tell
    if not answer:
        return AnswerOutcome.NOT_ANSWERED, ""
    if answer == GIVEN_UP:
        return AnswerOutcome.GIVEN_UP, question.explanation
    try:
        wrong = question.judge(answer)
    except Unclear as unclear:
        wrong = str(unclear)
    return (AnswerOutcome.WRONG, wrong) if wrong else (AnswerOutcome.RIGHT, question.explanation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Overall result.

    Args:
        asked: Number of questions that apply to this case.
        counts: Number of questions by outcome.
    """

    asked: int
    counts: Mapping[AnswerOutcome, int]

    @property
    def title(self) -> str:
        """Result in one sentence."""
        if not self.asked:
            return "There is nothing to solve in this case"
        if self.counts[AnswerOutcome.NOT_ANSWERED] == self.asked:
            return f"0 of {plural(self.asked, 'question')} answered"
        right = self.counts[AnswerOutcome.RIGHT]
        if right == self.asked:
            return f"All {plural(self.asked, 'question')} answered right" if self.asked > 1 else "The question is answered right"
        rest = [f"{n} {words}" for outcome, words in _WORDS.items() if (n := self.counts[outcome])]
        return f"{right} of {plural(self.asked, 'question')} answered right{''.join(f', {said}' for said in rest)}"


_WORDS = {AnswerOutcome.WRONG: "wrong", AnswerOutcome.GIVEN_UP: "given up", AnswerOutcome.NOT_ANSWERED: "not answered yet"}


def score(answers: Sequence[JudgedAnswer]) -> Score:
    """Count the outcomes."""
    counts = dict.fromkeys(AnswerOutcome, 0)
    for each in answers:
        counts[each.outcome] += 1
    return Score(asked=sum(each.question.arises for each in answers), counts=counts)


def findings(answers: Sequence[JudgedAnswer]) -> tuple[Finding, ...]:
    """Return one finding per question, and one for all.

    A wrong answer is informational: learning is no problem of the cluster. So is an unfinished quiz: a run without answers must
    not look like a healthy case. A single unanswered question says nothing, and one whose answer is not in the evidence could not
    be checked.
    """
    return (*map(_finding, answers), _of_all(answers))


def _finding(each: JudgedAnswer) -> Finding:
    question = each.question
    check = Check(
        check=f"walkthrough.{question.key}",
        question=question.asks,
        coverage=Coverage(seen=int(each.outcome is not AnswerOutcome.CANNOT_TELL), of=1, what="question", by=(Source.CASE,)),
        threshold="an answer that the evidence contradicts",
        facts={"outcome": each.outcome.value, "answer": each.answer or None},
        evidence=tuple(map(proof, question.cites)) if _explained(each) else (),
    )
    match each.outcome:
        case AnswerOutcome.RIGHT:
            return check.ok(f"{question.title} Answered right", gaps=())
        case AnswerOutcome.WRONG:
            again = Step(kind="first", text=f"Try again: {question.hints[0]}" if question.hints else "Try again.")
            return check.found(Severity.INFO, f"{question.title} The answer is wrong", why=each.why, next=(again,))
        case AnswerOutcome.GIVEN_UP:
            return check.found(Severity.INFO, f"{question.title} Given up", why=each.why)
        case AnswerOutcome.CANNOT_TELL:
            return check.could_not_check(f"{question.title} {each.why}", settle="Use a complete case.")
        case AnswerOutcome.NOT_ASKED:
            return check.not_applicable(f"{question.title} {each.why}")
    return check.not_applicable(f"{question.title} Not answered")


def _of_all(answers: Sequence[JudgedAnswer]) -> Finding:
    total = score(answers)
    check = Check(
        check="walkthrough.answers",
        question="Was the incident understood?",
        coverage=Coverage.every(total.asked, "question", Source.CASE),
        threshold="an answer that is wrong, was given up, or is missing",
        facts={"asked": total.asked} | {outcome.value: n for outcome, n in total.counts.items()},
    )
    if not total.asked:
        return check.not_applicable(total.title)
    if total.counts[AnswerOutcome.RIGHT] == total.asked:
        return check.ok(total.title, gaps=())
    return check.found(Severity.INFO, total.title)


def _explained(each: JudgedAnswer) -> bool:
    return each.outcome in (AnswerOutcome.RIGHT, AnswerOutcome.GIVEN_UP)
