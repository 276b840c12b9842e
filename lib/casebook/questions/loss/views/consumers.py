"""Committed but unprocessed records of a group, and irregular commits."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings import words
from casebook.findings.finding import Finding
from casebook.page.render import look, render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown
from casebook.questions.loss.analysis.unprocessed import unprocessed as answered
from casebook.questions.loss.analysis.unprocessed_rows import (
    CommitStep,
    GroupWork,
    SkipKind,
    StepKind,
    Unprocessed,
    UnprocessedDoubt,
)
from casebook.questions.loss.views.choice import named
from casebook.questions.loss.views.words import moments

_MOST_ROWS = 200
_HOW = {
    SkipKind.BEFORE_PROCESSING: "committed before it was processed",
    SkipKind.CRASH: "in progress when its worker ended",
    SkipKind.ANOTHER_THREAD: "left to a thread that the commit did not wait for",
    SkipKind.SKIPPED: "skipped when a tool set the group beyond it",
    SkipKind.PASSED_OVER: "skipped while others around it were processed",
    SkipKind.CANNOT_TELL: "? unknown reason",
}
_DOUBTS = {
    UnprocessedDoubt.NOT_SCANNED: "its partition was not read",
    UnprocessedDoubt.UNMATCHED: "nothing matched: check the ids",
    UnprocessedDoubt.BEFORE_GROUP: "below the first known commit",
    UnprocessedDoubt.BEFORE_LEDGER: "committed before the ledger begins",
    UnprocessedDoubt.AFTER_LEDGER: "committed after the ledger ends",
    UnprocessedDoubt.OPEN: "in an open transaction",
    UnprocessedDoubt.WITHOUT_ID: "without id",
    UnprocessedDoubt.UNREAD: "may be in a ledger, or a row of one, that could not be used",
    UnprocessedDoubt.UNTOLD: "in the ledger, without an outcome",
}
_STEPS = {
    StepKind.RESET: "set while the group had no member, as tools do",
    StepKind.AGAIN: "after its offset had been deleted or had expired",
    StepKind.TO_START: "back to where the log begins",
    StepKind.STALE: "back to an earlier offset, after the coordinator changed or with an older time",
    StepKind.BACK: "back, by a member",
    StepKind.LATE: "forward, with an older time than the previous one",
}


def consumers(
    work: Sequence[GroupWork], rows: Sequence[Unprocessed], steps: Sequence[CommitStep], answer: Finding | None = None
) -> Markup:
    """Show what each group committed without processing, the records, and its irregular commits.

    Args:
        work: Work by group and partition; empty without a ledger of processed records.
        rows: First unprocessed records.
        steps: Irregular commits.
        answer: Finding of the notebook; without one, the rows speak alone.
    """
    asked = answer or answered(work)
    tables = [_groups(work, asked.title)] if work else []
    tables += [_records(work, rows)] if rows else []
    tables += [_commits(steps)] if steps else []
    shown = render("loss_tables", tables=tables, beside=False) if tables else Markup()
    return shown if work else _not_given(asked) + shown


def _not_given(asked: Finding) -> Markup:
    return render(
        "loss_empty",
        kind=look(asked),
        title=f"{asked.title}.",
        why=asked.why or "A group's commits show its position, not what it has processed.",
        settle=asked.settle or "Set the parameter processed to the processed records, and group to their consumer group.",
        looked_at="",
        threshold=asked.threshold,
        nearest="",
        command_line="",
    )


def _groups(work: Sequence[GroupWork], title: str) -> Table:
    ranked = sorted(work, key=lambda row: (-(row.unprocessed or 0), row.group, row.topic, row.partition))
    return Table(
        name="group-work",
        columns=(
            ("Group", CODE),
            ("Partition", CODE),
            ("Never processed", NUMBER),
            ("Kind", TEXT),
            ("Processed", NUMBER),
            ("Twice", NUMBER),
            ("Committed offset", CODE),
            ("Not judged", TEXT),
        ),
        rows=[(ALARM if row.unprocessed else PLAIN, _work(row)) for row in ranked[:_MOST_ROWS]],
        takeaway=f"{title}.",
        total=len(ranked) if len(ranked) > _MOST_ROWS else None,
        search=True,
        wide=True,
    )


def _work(row: GroupWork) -> tuple[object, ...]:
    return (
        row.group,
        named(row.topic, row.partition),
        _count(row.unprocessed),
        _each(row.how, _HOW) or "–",
        _count(row.processed),
        _count(row.twice),
        or_unknown(row.committed),
        _each(row.unknown, _DOUBTS) or "–",
    )


def _count(number: int | None) -> object:
    return or_unknown(number, words.count)


def _each(counts: Mapping[str, int | None], names: Mapping[str, str]) -> str:
    """List several items with their numbers, in words."""
    return "; ".join(f"{words.count(counts[of])} {said}" for of, said in names.items() if of in counts)


def _records(work: Sequence[GroupWork], rows: Sequence[Unprocessed]) -> Table:
    shown = rows[:_MOST_ROWS]
    every = max(len(rows), sum(row.unprocessed or 0 for row in work))
    head, at = moments(row.committed_at for row in shown)
    return Table(
        name="unprocessed",
        columns=(
            ("Id", CODE),
            ("Partition, offset", CODE),
            ("Group", CODE),
            ("Kind", TEXT),
            (f"Passed by the commit of, {head}", UNBROKEN),
            ("Which went", CODE),
            ("Location", CODE),
        ),
        rows=[
            (
                PLAIN,
                (
                    or_unknown(row.id),
                    f"{named(row.topic, row.partition)} {row.offset}",
                    row.group,
                    _HOW[SkipKind(row.how)],
                    or_unknown(row.committed_at, at),
                    f"{row.since} → {row.until}",
                    _lies(row),
                ),
            )
            for row in shown
        ],
        takeaway=f"{words.plural(every, 'record')} never processed.",
        total=every if every > len(shown) else None,
        rest="unprocessed",
        search=True,
        wide=True,
        tall=True,
    )


def _commits(steps: Sequence[CommitStep]) -> Table:
    shown = steps[:_MOST_ROWS]
    head, at = moments(row.at for row in shown)
    back = sum(row.offset < row.before for row in steps)
    return Table(
        name="commit-steps",
        columns=(
            ("Group", CODE),
            ("Partition", CODE),
            (f"When, {head}", UNBROKEN),
            ("From, to", CODE),
            ("Anomaly", TEXT),
            ("Location", CODE),
        ),
        rows=[
            (
                PLAIN,
                (
                    row.group,
                    named(row.topic, row.partition),
                    or_unknown(row.at, at),
                    f"{row.before} → {row.offset}",
                    _STEPS[row.kind],
                    _lies(row),
                ),
            )
            for row in shown
        ],
        takeaway=f"{words.plural(len(steps), 'commit')} did not advance normally; {words.count(back)} went back.",
        total=len(steps) if len(steps) > len(shown) else None,
        rest="commit_steps",
        search=True,
        wide=True,
        tall=True,
    )


def _lies(row: Unprocessed | CommitStep) -> str:
    """Describe the location of the commit."""
    return f"{OFFSETS_TOPIC}-{row.log_partition} {row.source_offset}"
