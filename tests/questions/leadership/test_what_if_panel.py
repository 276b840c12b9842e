"""The what-if panel: the same answer with widgets and without, choices that last, errors that show."""

import pytest

from tests.page.incident import HOSTILE, Page, html_of, lead, panel, words_of


def controls(view) -> dict[str, object]:
    """The panel's widgets by what they say."""
    brokers, unclean, choices, answer = view.parts[0].children
    return {
        "brokers": {int(button.description.split()[1]): button for button in brokers.children[1:]},
        "unclean": unclean.children[1],
        "ahead": choices.children[0],
        "show": choices.children[1],
        "back": choices.children[2],
        "answer": answer,
    }


class TestStaticTwin:
    def test_it_stands_at_the_parameters(self):
        """Without widgets the answer, what was supposed and the parameters are all there."""
        said = words_of(html_of(panel(lead(), alive="2,3,4,5", source="sample:x")))
        assert "✕ 1 ✓ 2 ✓ 3 ✓ 4 ✓ 5 (changed)" in said
        assert "1 change from the evidence: broker 5 alive." in said
        assert "CRITICAL 1 partition still without leader; 3 healed" in said
        assert (
            "casebook run partition_leadership --source sample:x -p alive=2,3,4,5 -p unclean=as_configured -p ahead=none" in said
        )

    def test_nobody_takes_it_for_controls(self):
        """It says where it can be changed; with widgets it need not."""
        hint = "use the command below, or open JupyterLab"
        assert hint in words_of(html_of(panel(lead())))
        assert hint not in panel(lead(), interactive=True, remembered={}).parts[0].children[-1].value

    def test_a_source_is_safe_to_paste(self):
        """Whatever the case folder is called, the shell gets one word."""
        assert "--source '" in words_of(html_of(panel(lead(), source=HOSTILE)))

    def test_nothing_supposed(self):
        assert "Same as the evidence: no changes." in words_of(html_of(panel(lead())))

    def test_many_changes_are_folded(self):
        """Twelve are shown, the next are one click away, and the number is told."""
        from tests.evidence import state

        found = lead(topics={"t": {n: ([5, 2], state(-1, [5])) for n in range(300)}})
        html = html_of(panel(found, alive="2,3,4,5"))
        assert "12 of 300 shown; 188 more" in words_of(html)


@pytest.fixture
def remembered() -> dict[str, object]:
    return {}


class TestPanel:
    def test_first_values_are_the_parameters(self, remembered):
        """It opens where the static twin stands."""
        shown = controls(panel(lead(), alive="2,3,4,5", unclean="on", interactive=True, remembered=remembered))
        assert {broker: button.description[0] for broker, button in shown["brokers"].items()} == {
            1: "✕",
            2: "✓",
            3: "✓",
            4: "✓",
            5: "✓",
        }
        assert shown["unclean"].value == "on"
        assert shown["ahead"].label == "do not assume"

    def test_a_click_is_answered(self, remembered):
        """Result, table and parameters follow; the changed control is marked."""
        shown = controls(panel(lead(), interactive=True, remembered=remembered))
        before = shown["answer"].value
        shown["brokers"][5].value = True
        assert shown["answer"].value != before
        assert "alive=2,3,4,5" in shown["answer"].value
        assert "cb-changed" in shown["brokers"][5]._dom_classes
        assert not Page.read(shown["answer"].value).all("script")

    def test_a_rerun_keeps_the_choice(self, remembered):
        """The cell is run again: the person's values win over the parameters."""
        shown = controls(panel(lead(), interactive=True, remembered=remembered))
        shown["brokers"][1].value = True
        shown["ahead"].value = 2
        again = controls(panel(lead(), interactive=True, remembered=remembered))
        assert again["brokers"][1].value is True
        assert again["ahead"].value == 2

    def test_back_to_the_evidence(self, remembered):
        """One click undoes all, with one answer."""
        asked = []

        def replay(supposed):
            asked.append(supposed)
            from functools import partial

            from casebook.questions.leadership.analysis import what_if

            found = lead()
            return partial(what_if.replay, found.cluster, found.version.version, found.verdicts)(supposed)

        shown = controls(panel(lead(), alive="1,5", unclean="on", interactive=True, remembered=remembered, replay=replay))
        asked.clear()
        shown["back"].click()
        assert len(asked) == 1
        assert asked[0].alive == {2, 3, 4}
        assert shown["unclean"].value == "as_configured"
        assert "no changes" in shown["answer"].value

    def test_an_error_shows_in_the_panel(self, remembered):
        """A callback's exception shows nowhere else; its words are text."""

        def replay(supposed):
            if 5 in supposed.alive:
                raise ValueError(HOSTILE)
            return what_was(supposed)

        from functools import partial

        from casebook.questions.leadership.analysis import what_if

        found = lead()
        what_was = partial(what_if.replay, found.cluster, found.version.version, found.verdicts)
        shown = controls(panel(found, interactive=True, remembered=remembered, replay=replay))
        shown["brokers"][5].value = True
        assert "The panel failed: ValueError" in words_of(shown["answer"].value)
        assert not Page.read(shown["answer"].value).all("script")
