"""A panel: each change is answered and kept, many at once are answered once, and what goes wrong is said in it."""

import pytest
from ipywidgets import Button, Dropdown, Text
from markupsafe import Markup

from casebook.errors import CaseError, UsageError
from casebook.page.panel import Panel


def made(answer, remembered, **more):
    """A panel of a text and a choice, with the fields by name."""
    fields = {"topic": Text("orders"), "broker": Dropdown(options=[1, 2], value=1)}
    return Panel(tuple(fields.values()), fields, answer, remembered, **more), fields


def said(values) -> Markup:
    return Markup("{} of {}").format(values["topic"], values["broker"])


def test_a_choice_outlives_a_rerun_and_a_parameter_does_not():
    """As long as nobody has chosen, the notebook's parameter counts."""
    remembered = {}
    panel, fields = made(said, remembered)
    assert (panel.html.value, remembered) == ("orders of 1", {})
    fields["broker"].value = 2
    assert panel.html.value == "orders of 2"
    assert made(said, remembered)[0].html.value == "orders of 2"


def test_what_a_field_does_not_take_any_more_is_passed_over():
    """The broker chosen before is not offered now."""
    assert made(said, {"topic": "clicks", "broker": 9})[0].html.value == "clicks of 1"


def test_several_fields_are_answered_once():
    asked = []
    panel, _ = made(lambda values: asked.append(values) or said(values), {})
    panel.put({"topic": "clicks", "broker": 2})
    assert asked == [{"topic": "orders", "broker": 1}, {"topic": "clicks", "broker": 2}]


def test_an_answer_may_wait_until_it_is_asked_for():
    button, remembered = Button(), {}
    panel, fields = made(said, remembered, asked=button)
    fields["topic"].value = "clicks"
    assert (panel.html.value, remembered) == ("", {})
    button.click()
    assert panel.html.value == "clicks of 1"
    assert remembered == {"topic": "clicks", "broker": 1}


@pytest.mark.parametrize(
    ("error", "words", "failed"),
    [
        (UsageError("There is no <b>."), "There is no &lt;b&gt;.", False),
        (CaseError("It cannot be read."), "The panel failed: It cannot be read.", True),
        (ZeroDivisionError("oops"), "The panel failed: ZeroDivisionError: oops", True),
    ],
)
def test_what_goes_wrong_is_said(error, words, failed):
    """A field that says what cannot be meant is no failure; an exception in a callback would show nowhere."""

    def fails(_):
        raise error

    shown = made(fails, {})[0].html.value
    assert words in shown
    assert ("The panel failed" in shown) == failed
