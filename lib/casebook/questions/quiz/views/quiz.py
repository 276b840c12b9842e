"""Quiz of the walkthrough: a question, answer fields, hints, and the result; or its static twin.

Answers are computed in the kernel on submission. No text or widget state contains them before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from casebook.findings import words
from casebook.findings.finding import Finding
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import boxed, button, line, show
from casebook.page.render import render
from casebook.page.verdict_card import verdict_card
from casebook.page.view import View, html
from casebook.questions.quiz.analysis import quiz
from casebook.questions.quiz.analysis.answers import GIVEN_UP
from casebook.questions.quiz.analysis.quiz import AnswerOutcome, JudgedAnswer, Quiz, QuizQuestion
from casebook.questions.quiz.views import walkthrough

NOTEBOOK = "walkthrough"
_LOOKS = {
    AnswerOutcome.RIGHT: ("ok", "RIGHT"),
    AnswerOutcome.WRONG: ("warning", "NOT RIGHT"),
    AnswerOutcome.GIVEN_UP: ("info", "GIVEN UP"),
    AnswerOutcome.NOT_ANSWERED: ("not_applicable", "NOT ANSWERED"),
    AnswerOutcome.NOT_ASKED: ("not_applicable", "DOES NOT ARISE"),
    AnswerOutcome.CANNOT_TELL: ("could_not_check", "COULD NOT CHECK"),
}
"""Symbol and word of an outcome."""
_EXPLAINED = (AnswerOutcome.RIGHT, AnswerOutcome.GIVEN_UP)
_NEXT = "All of this at once: {}. The next steps are below."
_NEXT_UNDONE = "Answer the rest in any order; hints cost nothing. Then run the last cell: it stores your result."
_NEXT_OTHER = "Leave source empty, or use another case of this kind."


@dataclass(slots=True)
class QuestionProgress:
    """A person's progress on a question.

    Args:
        answer: Last typed answer; ``""`` for none.
        right: Last right answer, which counts whatever was typed later; ``""`` for none.
        hints: Number of shown hints.
    """

    answer: str = ""
    right: str = ""
    hints: int = 0

    def take(self, question: QuizQuestion, answer: str) -> None:
        """Store an answer: a right one stays right, and cannot be given up."""
        self.answer = self.right if answer == GIVEN_UP and self.right else answer
        if quiz.judged(question, self.answer).outcome is AnswerOutcome.RIGHT:
            self.right = self.answer

    @property
    def in_force(self) -> str:
        """Best answer so far."""
        return self.right or self.answer


def page(asked: Quiz, context: PanelContext, *answers: str) -> "QuizPage":
    """Create the questions on a case with answers; headless those of the parameters, ``?`` for only the explanation.

    Args:
        answers: Answers to the questions, in order.
    """
    keys = [question.key for question in asked.questions]
    return QuizPage(
        quiz=asked, answers=dict(zip(keys, answers, strict=False)), incident=walkthrough.shown(asked), context=context
    )


@dataclass(slots=True, kw_only=True)
class QuizPage:
    """All questions on a case, with answers.

    Args:
        quiz: The questions.
        answers: Answers of the notebook's parameters, by key.
        incident: Evidence with the answers.
        context: Context in the notebook.
    """

    quiz: Quiz
    answers: Mapping[str, str]
    incident: View
    context: PanelContext
    _scores: list[object] = field(default_factory=list)
    _panels: dict[str, "_QuestionPanel"] = field(default_factory=dict)

    @property
    def questions(self) -> Sequence[QuizQuestion]:
        """Questions in order."""
        return self.quiz.questions

    @property
    def keys(self) -> tuple[str, ...]:
        """Their keys, in order."""
        return tuple(question.key for question in self.questions)

    def evidence(self) -> View:
        """Show the evidence with the answers: as stored, without interpretation."""
        return self.incident

    def ask(self, *keys: str) -> View:
        """Show some of the questions."""
        shown = [(number, question) for number, question in enumerate(self.questions, start=1) if question.key in keys]
        if not self.context.interactive:
            return html(*(self._twin(number, question) for number, question in shown))
        panels = {question.key: _QuestionPanel(self, number, question) for number, question in shown}
        self._panels |= panels
        return View(parts=tuple(panel.box for panel in panels.values()))

    def score(self) -> View:
        """Show the score so far, and what to read next."""
        if not self.context.interactive:
            return html(self._score())
        import ipywidgets as widgets

        shown = widgets.HTML(str(self._score()))
        self._scores[:] = [shown]
        return View(parts=(shown,))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings on the current answers."""
        return quiz.findings(self.judged)

    @property
    def judged(self) -> tuple[JudgedAnswer, ...]:
        """Return every question with its current answer."""
        return tuple(quiz.judged(question, self.given(question).in_force) for question in self.questions)

    def given(self, question: QuizQuestion) -> QuestionProgress:
        """Return the progress on a question; initially the parameter."""
        remembered = self.context.remembered if self.context.interactive else {}
        name = f"answer_{self.quiz.incident}_{question.key}"
        if name not in remembered:
            remembered[name] = QuestionProgress()
            remembered[name].take(question, self.answers.get(question.key, "").strip())
        given = remembered[name]
        if given.right and quiz.judged(question, given.right).outcome is not AnswerOutcome.RIGHT:
            given.right = ""  # the notebook was opened at another moment of the same case
        return given

    def answered(self) -> None:
        """Update the score after an answer, and explanations that depend on it."""
        for panel in self._panels.values():
            panel.refresh()
        for shown in self._scores:
            shown.value = str(self._score())

    def answer(self, question: QuizQuestion) -> Markup:
        """Show taken hints, and the result of the answer."""
        given = self.given(question)
        one = quiz.judged(question, given.answer)
        told = {each.question.key for each in self.judged if each.told}
        kind, word = _LOOKS[one.outcome]
        quiet = one.outcome is AnswerOutcome.NOT_ANSWERED and self.context.interactive
        return render(
            "quiz_answer",
            hints=question.hints[: given.hints],
            kind=kind,
            word="" if quiet else word,
            said=_given_answer(one),
            why=one.said(told),
            counts=given.right if one.outcome is not AnswerOutcome.RIGHT else "",
            evidence=self.context.shown(question.cites) if one.outcome in _EXPLAINED and question.cites else "",
        )

    def _twin(self, number: int, question: QuizQuestion) -> Markup:
        return render("quiz", number=number, total=len(self.questions), question=question, answer=self.answer(question))

    def _score(self) -> Markup:
        judged = self.judged
        total = quiz.score(judged)
        done = total.asked == total.counts[AnswerOutcome.RIGHT] + total.counts[AnswerOutcome.GIVEN_UP]
        return render(
            "quiz_score",
            kind="ok" if total.asked and total.counts[AnswerOutcome.RIGHT] == total.asked else "not_applicable",
            title=total.title,
            rows=[(*_LOOKS[one.outcome], one.question.title) for one in judged],
            next=_NEXT_OTHER if not total.asked else _NEXT.format(self.quiz.solved_by) if done else _NEXT_UNDONE,
            command_line=_command(self.context, self.quiz.incident, [one.answer for one in judged]),
        )


def summary(desk: QuizPage, evidence: Sequence[Finding]) -> View:
    """Show the notebook's summary: the score, and not the dead brokers.

    Args:
        evidence: Findings on the case itself.
    """
    total = quiz.score(desk.judged)
    right = total.asked and total.counts[AnswerOutcome.RIGHT] == total.asked
    doubts = [finding.title for finding in evidence if finding.severity]
    notes = [f"The evidence itself: {words.some(doubts, 2)}."] if doubts else []
    kind = "ok" if right else "info" if total.asked else "could_not_check" if _unanswered(total) else "not_applicable"
    return html(verdict_card(kind, total.title, notes=notes))


def _command(context: PanelContext, incident: str, answers: Sequence[str]) -> str:
    """Return the headless command with these answers."""
    given = {f"answer_{number}": answer for number, answer in enumerate(answers, start=1) if answer}
    return text.command(NOTEBOOK, context.source, {"incident": incident} | ({"at": context.at} if context.at else {}) | given)


def _unanswered(total: quiz.Score) -> bool:
    return bool(total.counts[AnswerOutcome.CANNOT_TELL])


def _given_answer(one: JudgedAnswer) -> str:
    """Show the given answer next to its result."""
    return "" if one.answer == GIVEN_UP or not one.question.arises else one.answer


class _QuestionPanel:
    """Widgets of one question."""

    def __init__(self, desk: QuizPage, number: int, question: QuizQuestion) -> None:
        import ipywidgets as widgets

        self._desk, self._question = desk, question
        self._given = desk.given(question)
        asked = widgets.HTML(str(render("quiz_question", number=number, total=len(desk.questions), question=question)))
        self._answer = widgets.HTML()
        self.box = boxed(asked, *(self._controls() if question.arises else ()), self._answer)
        self.refresh()

    def _controls(self) -> tuple[object, ...]:
        self._field = self._entry()
        check = button("Check", lambda: self._take(self._field.value), "check the answer against the evidence")
        self._hint = button("Hint", self._take_hint, "one step further")
        give_up = button("Give up", lambda: self._take(GIVEN_UP), "show the explanation")
        return (line(self._field, check, self._hint, give_up),)

    def _entry(self) -> object:
        """Create a text field: in JupyterLab the arrow keys of a list or of radio buttons belong to the notebook."""
        import ipywidgets as widgets

        options = self._question.options
        entry = (widgets.Combobox if options else widgets.Text)(
            value="" if self._given.answer == GIVEN_UP else self._given.answer,
            description="Answer",
            placeholder=f"{self._question.form}, then Enter",
            continuous_update=False,
            layout={"width": "430px", "max_width": "100%"},
            **({"options": [key for key, _ in options]} if options else {}),
        )
        entry.observe(lambda change: self._take(change["new"]), "value")  # on Enter, or on leaving the field
        return entry

    def _take(self, answer: str) -> None:
        self._given.take(self._question, answer)
        self._desk.answered()

    def _take_hint(self) -> None:
        self._given.hints = min(self._given.hints + 1, len(self._question.hints))
        self.refresh()

    def refresh(self) -> None:
        """Show the result of the answer."""
        show(self._answer, lambda: self._desk.answer(self._question))
        self._update_buttons()

    def _update_buttons(self) -> None:
        """Update the enabled buttons."""
        if not self._question.arises:
            return
        taken, there = self._given.hints, len(self._question.hints)
        self._hint.description = f"Hint {taken + 1} of {there}" if taken < there else "No more hints"
