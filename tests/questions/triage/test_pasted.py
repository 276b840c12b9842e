"""The box for pasted evidence, with widgets and without."""

from markupsafe import Markup

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.errors import CollectError
from casebook.kafka import release
from casebook.notebook import opening
from casebook.page.context import PanelContext
from casebook.questions.leadership.analysis import leadership
from casebook.questions.triage.analysis import next_paste
from casebook.questions.triage.views import pasted, triage

ROW = "\tTopic: orders\tPartition: 2\tLeader: none\tReplicas: 3,1\tIsr: 3\n"


def clicked(make, text):
    """What the box says after a text was pasted and the button pressed."""
    remembered = {}
    (panel,) = pasted.box(make, PanelContext(interactive=True, remembered=remembered)).parts
    field, button, answer = panel.children
    field.value = text
    button.click()
    assert remembered == {"pasted": text}
    return answer.value


def test_headless_it_says_the_command():
    (part,) = pasted.box(lambda text: None, PanelContext()).parts
    assert isinstance(part, Markup)
    assert "casebook collect --pasted FILE --out my-case" in part


def test_a_case_is_made_and_named(tmp_path, monkeypatch):
    """The source to open, what was understood, and the next thing to paste; the case can be opened."""
    monkeypatch.setenv("CASEBOOK_CASES", str(tmp_path / "cases"))
    said = clicked(opening.made_of, ROW)
    (folder,) = (tmp_path / "cases").iterdir()
    assert f'source = "{folder}"' in said.replace("&#34;", '"')
    assert "Paste next: echo &#39;ls /brokers/ids&#39; | bin/zookeeper-shell.sh HOST:2181" in said
    assert Case.open(folder).cluster().partitions[0].name == "orders-2"


def test_errors_are_shown(tmp_path, monkeypatch):
    """An exception in a callback would show nowhere."""
    monkeypatch.setenv("CASEBOOK_CASES", str(tmp_path / "cases"))
    assert "Nothing was pasted" in clicked(opening.made_of, "  ")

    def fails(_text):
        raise ZeroDivisionError("oops")

    assert "ZeroDivisionError: oops" in clicked(fails, "x")
    assert not list((tmp_path / "cases").iterdir()) if (tmp_path / "cases").exists() else True


def test_markup_in_a_paste_stays_text():
    """A paste is anybody's."""

    def refuses(text):
        raise CollectError(text)

    assert "<script>" not in clicked(refuses, "<script>alert(1)</script>")


def test_what_could_not_be_checked_leads_to_the_next_paste(tmp_path):
    """A pasted case cannot be collected again, whoever may read what."""
    case = Case.open(collect_case(tmp_path / "case", pasted=ROW.splitlines()))
    cluster = case.cluster()
    version = release.release(cluster)
    findings = leadership.examine(cluster, version).findings
    alone = "".join(map(str, triage.could_not_check(findings).parts))
    assert "Collect the case again" in alone
    both = triage.could_not_check((*findings, *next_paste.checks(case.pasted(), cluster, version)))
    said = "".join(map(str, both.parts))
    assert "Paste next: echo &#39;ls /brokers/ids&#39; | bin/zookeeper-shell.sh HOST:2181" in said
    assert "an account that has access" not in said
