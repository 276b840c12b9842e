"""Losses from deleting segments: sets of segments side by side, one of them in detail. Nothing is ever deleted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from casebook.facts.offsets_topic import LostCommit, Segment
from casebook.findings import words
from casebook.findings.finding import Status
from casebook.page import text
from casebook.page.context import PanelContext
from casebook.page.panel import Panel, label, line
from casebook.page.render import render
from casebook.page.table import ALARM, CHOSEN, CODE, NUMBER, PLAIN, TEXT, Row, Table
from casebook.page.view import View
from casebook.questions.offsets_topic.analysis import deletion_choice
from casebook.questions.offsets_topic.analysis.deletion import (
    ALL_BUT_ACTIVE,
    BELOW,
    NOTHING,
    OLDER,
    PICKED,
    SAFE,
    DeletionChoice,
    Deletions,
    LostGroup,
    Place,
)
from casebook.questions.offsets_topic.analysis.deletion_choice import SegmentChoice, as_text, instant, middle, offset
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.analysis.unread import Unread

MOST_LOSSES, MOST_LOST_COMMITS = 12, 50
_STRIP, _TALL, _LOW = 760, 26, 12


Ask = Callable[[Mapping[str, Sequence[Place]]], Deletions]


def tried(
    topic: OffsetsTopic,
    copy: OffsetsPartition | None,
    deletions: Callable[[OffsetsPartition], "Ask"],
    context: PanelContext,
    *,
    delete: str,
    delete_before: str,
    delete_below: str = "",
) -> View:
    """Show the panel, or its static twin, for a notebook's parameters; or why no segment was read.

    Args:
        copy: Copy to delete segments from.
        deletions: Returns a function for sets of a copy's segments.
        context: Context in the notebook.

    Raises:
        UsageError: A parameter names an unknown segment, or is not a time or offset.
    """
    segments = topic.segments(copy.broker, copy.partition) if copy else ()
    if not segments:
        return nothing_read(topic.unread, empty=topic.empty)
    subject = Subject(broker=copy.broker, partition=copy.partition, segments=segments)
    choice = deletion_choice.parse(delete, delete_before, segments, delete_below=delete_below)
    return panel(subject, choice, deletions(copy), context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The copy of the panel.

    Args:
        broker: Broker of the copy.
        partition: Partition of ``__consumer_offsets``.
        segments: By base offset; the last is the active one.
    """

    broker: int
    partition: int
    segments: Sequence[Segment]


def panel(subject: Subject, choice: SegmentChoice, ask: Ask, context: PanelContext) -> View:
    """Show the panel, or its static twin.

    Args:
        subject: Copy to delete segments from.
        choice: Initial choice, from the parameters.
        ask: Returns the effect of sets of segments.
        context: Context in the notebook.
    """
    if context.interactive:
        return View(parts=(_widgets(subject, choice, ask, context),))
    answer = ask(choice.tried(subject.segments))
    return View(parts=(_answer(subject, choice, answer, context.source, framed=True),), tables=_tables(answer))


def nothing_read(unread: Unread, *, empty: bool) -> View:
    """Show why no segment was read; for an empty topic none was needed."""
    if empty:
        return View(parts=(render("unread", kind=Status.NOT_APPLICABLE.value, why=unread.why),))
    return View(parts=(render("unread", kind=Status.COULD_NOT_CHECK.value, why=f"{unread.why} {unread.settle}"),))


def _tables(answer: Deletions) -> dict[str, Sequence[object]]:
    commits = [commit for some in answer.commits.values() for commit in some]
    return {"deletion": answer.choices, "lost_commits": commits}


def _answer(subject: Subject, choice: SegmentChoice, answer: Deletions, source: str, *, framed: bool = False) -> Markup:
    choices = answer.choices
    chosen = next(one for one in choices if one.choice == choice.name)
    lost = answer.groups.get(choice.name, ())
    gone = frozenset(base for _, _, base in choice.tried(subject.segments)[choice.name])
    return render(
        "deletion",
        framed=framed,
        partition=subject.partition,
        broker=subject.broker,
        presets=[(_label(one.choice, choice, subject), one is chosen) for one in choices],
        strip=_strip(subject.segments, gone),
        width=_STRIP,
        tall=_TALL,
        kind=_look(chosen),
        title=_title(chosen, lost),
        chosen=chosen,
        sets=_sets(subject, choices, choice),
        losses=_losses(lost) if lost else None,
        commits=_commits(commits, chosen) if (commits := answer.commits.get(choice.name)) else None,
        command_line=text.command("offsets_topic", source, {"partition": str(subject.partition)} | choice.parameters()),
    )


def _label(name: str, choice: SegmentChoice, subject: Subject) -> str:
    if name == OLDER:
        before = middle(subject.segments) if choice.before is None else choice.before
        return f"older than {words.date(before)}"
    if name == BELOW:
        return f"below offset {choice.below}"
    return words.plural(len(choice.picked), "picked segment") if name == PICKED else name


def _look(one: DeletionChoice) -> str:
    return one.severity.value if one.severity else "ok"


def _title(one: DeletionChoice, lost: Sequence[LostGroup]) -> str:
    if not one.segments:
        return "No segment would be deleted"
    said = []
    if one.commits_lost:
        groups = sum(loss.commits_lost > 0 for loss in lost)
        said.append(f"{words.plural(one.commits_lost, 'commit')} of {words.plural(groups, 'group')} would be lost")
    if one.groups_emptied:
        said.append(f"{words.plural(one.groups_emptied, 'group')} left without any")
    if one.fell_back:
        again = f", and {words.plural(one.again, 'record')} would be consumed again" if one.again else ""
        said.append(f"{words.plural(one.fell_back, 'commit')} would fall back to an older value{again}")
    if one.revived:
        said.append(f"{words.plural(one.revived, 'removed commit')} would return")
    same = "Every group would get the same answers from what was read; not all of it could be read"
    return "; ".join(said) or (same if one.severity else "Every group would get the same answers as before")


def _sets(subject: Subject, choices: Sequence[DeletionChoice], chosen: SegmentChoice) -> Table:
    return Table(
        name="deletion-sets",
        columns=(
            ("Delete", TEXT),
            ("Segments", NUMBER),
            ("Bytes", NUMBER),
            ("Load then", NUMBER),
            ("Commits lost", NUMBER),
            ("Fall back", NUMBER),
            ("Groups emptied", NUMBER),
            ("Verdict", TEXT),
        ),
        rows=[_set_row(one, _label(one.choice, chosen, subject), one.choice == chosen.name) for one in choices],
        label="Cost of each set",
    )


def _set_row(one: DeletionChoice, label: str, chosen: bool) -> Row:
    load = "?" if one.load_ms is None else text.duration(one.load_ms)
    counts = map(words.count, (one.commits_lost, one.fell_back, one.groups_emptied))
    verdict = render("deletion_verdict", kind=_look(one), said=one.verdict)
    return CHOSEN if chosen else PLAIN, (label, words.count(one.segments), text.size(one.bytes), load, *counts, verdict)


def _losses(lost: Sequence[LostGroup]) -> Table:
    return Table(
        name="deletion-losses",
        columns=(("Group", CODE), ("Lost", NUMBER), ("Fall back", NUMBER), ("Last, UTC", TEXT), ("Effect on the consumer", TEXT)),
        rows=[
            (
                ALARM if loss.commits_lost else PLAIN,
                (loss.group, words.count(loss.commits_lost), words.count(loss.fell_back), words.when(loss.last), loss.then),
            )
            for loss in lost[:MOST_LOSSES]
        ],
        takeaway=f"{words.plural(len(lost), 'group')} would be affected.",
        total=len(lost),
    )


def _commits(commits: Sequence[LostCommit], chosen: DeletionChoice) -> Table:
    changed = chosen.commits_lost + chosen.fell_back + chosen.revived
    return Table(
        name="deletion-commits",
        columns=(
            ("Group", CODE),
            ("Committed partition", CODE),
            ("Now", NUMBER),
            ("Committed, UTC", TEXT),
            ("Remains", NUMBER),
            ("Of, UTC", TEXT),
            ("It", TEXT),
        ),
        rows=[
            (
                PLAIN if one.offset is None else ALARM,
                (
                    one.group,
                    f"{one.topic}-{one.partition}",
                    _offset(one.offset),
                    words.when(one.commit_time),
                    _offset(one.remains),
                    words.when(one.remains_time),
                    one.change,
                ),
            )
            for one in commits[:MOST_LOST_COMMITS]
        ],
        takeaway=f"{words.plural(changed, 'commit')} would change.",
        reading="No commit remains: the consumer starts at auto.offset.reset.",
        total=changed,
        rest="lost_commits",
    )


def _offset(value: int | None) -> str:
    return "none" if value is None else words.count(value)


def _strip(segments: Sequence[Segment], gone: frozenset[int]) -> list[dict[str, object]]:
    """Return the segments in order, merged to fit a strip: each cell has what would go, and what keeps it."""
    cells = min(len(segments), _STRIP // 4)
    folded: list[list[Segment]] = [[] for _ in range(cells)]
    for place, segment in enumerate(segments):
        folded[place * cells // len(segments)].append(segment)
    width = _STRIP / max(cells, 1)
    return [
        {
            "x": round(place * width, 1),
            "width": round(max(width - 1, 1), 1),
            "keeps": sum(s.keepers for s in group),
            "gone": any(s.base_offset in gone for s in group),
            "alarm": any(s.base_offset in gone and not s.safe_to_do_without for s in group),
            "height": _TALL if any(s.keepers for s in group) else _LOW,
            "name": group[0].base_offset,
        }
        for place, group in enumerate(folded)
    ]


def _widgets(subject: Subject, choice: SegmentChoice, ask: Ask, context: PanelContext) -> object:
    import ipywidgets as widgets

    before = middle(subject.segments) if choice.before is None else choice.before
    dated = [OLDER] if before is not None else []
    name = widgets.ToggleButtons(
        options=[NOTHING, SAFE, *dated, BELOW, ALL_BUT_ACTIVE, PICKED], value=choice.name, style={"button_width": "auto"}
    )
    below = subject.segments[-1].base_offset if choice.below is None else choice.below
    of = {
        OLDER: widgets.Text("" if before is None else as_text(before), description="older than", continuous_update=False),
        BELOW: widgets.Text(str(below), description="below offset", continuous_update=False),
        PICKED: widgets.SelectMultiple(
            options=[(_option(segment), segment.base_offset) for segment in subject.segments],
            value=sorted(choice.picked),
            description="segments",
            rows=8,
            layout={"width": "520px"},
        ),
    }

    def answer(values: Mapping[str, object]) -> Markup:
        for what, field in of.items():
            field.layout.display = None if what == name.value else "none"
        chosen = _chosen(values)
        if chosen.name == PICKED and not chosen.picked:
            return render("working", what="Choose one or more segments")
        return _answer(subject, chosen, ask(chosen.tried(subject.segments)), context.source)

    return Panel(
        (line(label("Delete"), name), *of.values()),
        {"delete": name, **of},
        answer,
        context.remembered,
        working="Counting the answers for every group",
    ).box


def _chosen(values: Mapping[str, object]) -> SegmentChoice:
    name = values["delete"]
    if name == OLDER:
        return SegmentChoice(name=OLDER, before=instant(values[OLDER]))
    if name == BELOW:
        return SegmentChoice(name=BELOW, below=offset(values[BELOW]))
    return SegmentChoice(name=name, picked=frozenset(values[PICKED] if name == PICKED else ()))


def _option(segment: Segment) -> str:
    safe = "safe" if segment.safe_to_do_without else f"{segment.keepers} latest"
    return f"{segment.base_offset}  {words.when(segment.first_time)}  {text.size(segment.bytes)}  {safe}"
