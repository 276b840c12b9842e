"""The quiz on the page: nothing is told before it is answered, wrong may become right, and a re-run forgets nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from markupsafe import Markup

from casebook.page.context import PanelContext
from casebook.page.view import html
from casebook.questions.quiz.analysis import questions
from casebook.questions.quiz.analysis.incident import QuizIncident
from casebook.questions.quiz.analysis.quiz import Quiz
from casebook.questions.quiz.views import quiz
from tests.page.incident import HOSTILE, Page, html_of, lead, words_of

ASKED = {question.key: question for question in questions.questions(QuizIncident(lead=lead()))}
EXPLAINED = "Brokers 1 and 5 are assigned and not registered"


def desk(*, interactive: bool = False, remembered: dict[str, object] | None = None, **answers: str) -> quiz.QuizPage:
    """All questions on the small incident, in which brokers 1 and 5 are dead."""
    return quiz.QuizPage(
        quiz=Quiz(incident="leaderless", alarm="", solved_by="", shown=(), questions=tuple(ASKED.values())),
        answers=answers,
        incident=html(Markup()),
        context=PanelContext(
            source="sample:x",
            shown=lambda cites: Markup("<p>seen in {}</p>").format(", ".join(cites)),
            interactive=interactive,
            remembered={} if remembered is None else remembered,
        ),
    )


def widgets_in(box) -> Iterator[object]:
    yield box
    for child in getattr(box, "children", ()):
        yield from widgets_in(child)


def parts(view) -> dict[str, object]:
    """A panel's widgets by what they are."""
    found = list(widgets_in(view.parts[0]))
    named = {type(widget).__name__: widget for widget in found}
    buttons = {widget.description.split()[0]: widget for widget in found if type(widget).__name__ == "Button"}
    return {"field": named.get("Text") or named.get("Combobox"), "answer": found[-1], **buttons}


class TestStaticTwin:
    def test_right(self):
        """The answer, the explanation, and where it is seen."""
        said = words_of(html_of(desk(brokers="5, 1").ask("brokers")))
        assert "Question 1 of 7 Which brokers are dead?" in said
        assert "RIGHT 5, 1" in said
        assert EXPLAINED in said
        assert "seen in /brokers/ids/1, /brokers/ids/5" in said

    def test_wrong(self):
        """Why, and not what would be right."""
        said = words_of(html_of(desk(brokers="3").ask("brokers")))
        assert "NOT RIGHT 3 Broker 3 is registered, and therefore alive." in said
        assert EXPLAINED not in said

    def test_unanswered(self):
        """That is no wrong answer, and the options of a choice are there to be read."""
        said = words_of(html_of(desk().ask("why")))
        assert "NOT ANSWERED" in said
        assert "R3 No member of the ISR is alive" in said

    def test_given_up(self):
        assert EXPLAINED in words_of(html_of(desk(brokers="?").ask("brokers")))

    def test_the_score_gives_the_command(self):
        """With every answer, safe for a shell; whoever has nothing wrong is told what to read next."""
        said = words_of(html_of(desk(brokers="5 and 1", first=HOSTILE).score()))
        assert "-p answer_1='5 and 1' -p answer_4='</script>" in said
        assert "1 of 7 questions answered right, 1 wrong, 5 not answered yet" in said

    def test_hostile_names_stay_text(self):
        """A topic, or an answer, may contain anything."""
        answers = dict.fromkeys(ASKED, "?") | {"first": HOSTILE}
        page = Page.read(html_of(desk(**answers).ask(*ASKED)) + html_of(desk(**answers).score()))
        assert not page.all("script") and not page.all("img")


@pytest.fixture
def remembered() -> dict[str, object]:
    return {}


class TestPanel:
    @pytest.mark.parametrize("key", ASKED)
    def test_nothing_is_told_before(self, key, remembered):
        """No widget's state holds explanation or proof until somebody has answered, hints taken or not."""
        view = desk(interactive=True, remembered=remembered).ask(key)
        parts(view)["Hint"].click()
        held = json.dumps([widget.get_state() for widget in widgets_in(view.parts[0])], default=str)
        assert ASKED[key].explanation not in held
        assert not any(f"seen in {path}" in held for path in ASKED[key].cites)

    def test_wrong_then_right(self, remembered):
        """The last answer counts."""
        shown = parts(desk(interactive=True, remembered=remembered).ask("brokers"))
        shown["field"].value = "3"
        assert "Broker 3 is registered" in words_of(shown["answer"].value)
        shown["field"].value = "1 5"
        assert "RIGHT" in words_of(shown["answer"].value)
        assert EXPLAINED in words_of(shown["answer"].value)
        assert "NOT RIGHT" not in words_of(shown["answer"].value)

    def test_a_choice(self, remembered):
        """By its short name; all that can be chosen is offered, and what it means stands beside."""
        view = desk(interactive=True, remembered=remembered).ask("why")
        shown = parts(view)
        assert shown["field"].options == tuple(key for key, _ in ASKED["why"].options)
        assert "R3 No member of the ISR is alive" in words_of(view.parts[0].children[0].value)
        shown["field"].value = "R4"
        assert "NOT RIGHT R4" in words_of(shown["answer"].value)

    def test_hints_come_one_by_one(self, remembered):
        """And there is an end of them."""
        shown = parts(desk(interactive=True, remembered=remembered).ask("first"))
        for taken in (1, 2, 3, 3):
            shown["Hint"].click()
            assert words_of(shown["answer"].value).count("Hint") == taken
        assert shown["Hint"].description == "No more hints"

    def test_a_rerun_keeps_answer_and_hints(self, remembered):
        """The cell runs again with its parameter: what the person did goes before it."""
        shown = parts(desk(interactive=True, remembered=remembered, brokers="2").ask("brokers"))
        assert shown["field"].value == "2"
        shown["field"].value = "1,5"
        shown["Hint"].click()
        again = parts(desk(interactive=True, remembered=remembered, brokers="2").ask("brokers"))
        assert again["field"].value == "1,5"
        assert "RIGHT" in words_of(again["answer"].value) and "Hint 1." in words_of(again["answer"].value)

    def test_the_score_follows(self, remembered):
        """Without a cell being run; and what is concluded in the end is what was answered."""
        everything = desk(interactive=True, remembered=remembered)
        score = everything.score().parts[0]
        assert "0 of 7" in words_of(score.value)
        parts(everything.ask("brokers"))["field"].value = "1,5"
        assert "1 of 7 questions answered right" in words_of(score.value)
        assert next(f for f in everything.findings if f.check == "walkthrough.brokers").status == "ok"

    def test_giving_up(self, remembered):
        shown = parts(desk(interactive=True, remembered=remembered).ask("brokers"))
        shown["Give"].click()
        assert "GIVEN UP" in words_of(shown["answer"].value)
        assert EXPLAINED in words_of(shown["answer"].value)

    def test_giving_up_takes_nothing_back(self, remembered):
        """Whoever has it right has nothing to give up, and a wrong answer afterwards is told, and does not count."""
        everything = desk(interactive=True, remembered=remembered)
        shown = parts(everything.ask("brokers"))
        shown["field"].value = "1,5"
        shown["Give"].click()
        assert "RIGHT 1,5" in words_of(shown["answer"].value)
        shown["field"].value = "3"
        said = words_of(shown["answer"].value)
        assert "RIGHT 1,5 That counts. 3 , tried later, is not right." in said and "NOT RIGHT" not in said
        assert [one.outcome for one in everything.judged if one.question.key == "brokers"] == ["right"]
        again = parts(desk(interactive=True, remembered=remembered).ask("brokers"))
        assert "RIGHT 1,5 That counts." in words_of(again["answer"].value)

    def test_what_was_right_at_another_moment(self, remembered):
        """The same case, later: brokers 1 and 5 are alive by then, and what was right is judged anew."""
        parts(desk(interactive=True, remembered=remembered).ask("brokers"))["field"].value = "1,5"
        later = replace(ASKED["brokers"], judge=lambda _: "Broker 1 is registered, and therefore alive.")
        everything = desk(interactive=True, remembered=remembered)
        everything.quiz = replace(everything.quiz, questions=(later,))
        assert [one.outcome for one in everything.judged] == ["wrong"]
        assert "was right" not in words_of(parts(everything.ask("brokers"))["answer"].value)

    def test_what_would_tell_another_answer_waits_for_it(self, remembered):
        """How many each start heals says how many are left: shown once that is answered, in a panel that stands there already."""
        everything = desk(interactive=True, remembered=remembered)
        first, healed = (parts(everything.ask(key)) for key in ("first", "healed"))
        first["Give"].click()
        assert "GIVEN UP" in words_of(first["answer"].value) and "would heal" not in words_of(first["answer"].value)
        healed["Give"].click()
        assert "By number: broker 1 would heal" in words_of(first["answer"].value)
