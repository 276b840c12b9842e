"""The panel on deleting segments: what it says, and the parameters that say the same."""

from casebook.facts.offsets_topic import LostCommit
from casebook.findings.finding import Severity
from casebook.page.context import PanelContext
from casebook.questions.offsets_topic.analysis.deletion import DeletionChoice, Deletions, LostGroup
from casebook.questions.offsets_topic.analysis.deletion_choice import SegmentChoice
from casebook.questions.offsets_topic.analysis.unread import Unread
from casebook.questions.offsets_topic.views import deletion
from casebook.questions.offsets_topic.views.deletion import Subject
from tests.questions.offsets_topic.test_offsets_topic import SEGMENTS

SUBJECT = Subject(broker=5, partition=19, segments=SEGMENTS)


def ask(tried):
    """Everything but the safe set loses."""
    rows = []
    for name, places in tried.items():
        bad = name not in ("nothing", "provably safe")
        rows.append(
            DeletionChoice(
                partition=19, choice=name, segments=len(places), bytes=7 << 20, load_ms=None if bad else 1500, commits_lost=12 * bad,
                fell_back=3 * bad, again=400 * bad, revived=0, groups_emptied=2 * bad, metadata_lost=bad, open_lost=0,
                verdict="commits lost" if bad else "same answers", severity=Severity.CRITICAL if bad else None,
            )
        )  # fmt: skip
    lost = LostGroup(partition=19, group="<etl>", commits_lost=12, fell_back=3, again=400, last=0, then="none left, resets")
    gone = LostCommit("", 19, "<etl>", "orders", 4, "lost", 7001, 0, None, None)
    bad = [row.choice for row in rows if row.severity]
    commits = {name: [gone._replace(choice=name)] for name in bad}
    return Deletions(choices=tuple(rows), groups={name: [lost] for name in bad}, commits=commits)


def shown(choice):
    view = deletion.panel(SUBJECT, choice, ask, PanelContext(source="/cases/a b"))
    return str(view.parts[0]), view


def test_the_safe_set_is_ok():
    """Said in words, with the command that gives the same."""
    html, view = shown(SegmentChoice())
    assert "Every group would get the same answers as before" in html
    assert "casebook run offsets_topic --source &#39;/cases/a b&#39; -p partition=19 -p delete=safe" in html
    assert {row.choice for row in view.tables["deletion"]} == {"nothing", "provably safe", "older", "all but the active"}


def test_a_loss_is_critical_and_named():
    """How many commits, of how many groups, and what becomes of them; names are escaped; an unknown load is not 0."""
    html, _ = shown(SegmentChoice(name="picked", picked=frozenset({10})))
    assert "12 commits of 1 group would be lost; 2 groups left without any" in html
    assert "3 commits would fall back to an older value, and 400 records would be consumed again" in html
    assert "&lt;etl&gt;" in html
    assert "<etl>" not in html
    assert "-p delete=10" in html
    assert "1 picked segment" in html


def test_lost_commits_are_named():
    """Whose, of what, which offset, and that none remains; all of all sets in the table."""
    html, view = shown(SegmentChoice(name="below an offset", below=20))
    assert "below offset 20" in html and "-p delete_below=20" in html
    assert ">orders-4<" in html and ">7\u202f001<" in html and "starts at auto.offset.reset" in html
    assert [row.choice for row in view.tables["lost_commits"]] == ["older", "below an offset", "all but the active"]


def test_the_strip_tells_what_would_go():
    """Hatched: nobody misses it; red: it holds latest values."""
    html, _ = shown(SegmentChoice(name="all but the active"))
    assert html.count("would be deleted</title>") == 2
    assert 'class="alarm"' in html
    assert shown(SegmentChoice(name="nothing"))[0].count("would be deleted</title>") == 0


def test_where_nothing_was_read_it_says_why():
    """In place of a panel that could only guess."""
    unread = Unread(why="There is no log dir.", settle="Give them.")
    said = str(deletion.nothing_read(unread, empty=False).parts[0])
    assert "no log dir. Give them." in said and "COULD NOT CHECK" in said
    said = str(deletion.nothing_read(Unread(why="All is empty.", settle="Give them."), empty=True).parts[0])
    assert "All is empty." in said and "COULD NOT CHECK" not in said and "Give them" not in said
