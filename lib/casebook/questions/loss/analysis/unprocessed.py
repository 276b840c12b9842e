"""Committed but unprocessed records: definitions and finding."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.records import UnsuitedLedger
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, count, moment, plural
from casebook.questions.loss.analysis.unprocessed_rows import (
    NOTHING_TOLD,
    AssignmentLine,
    ConsumerLogs,
    GroupWork,
    Reset,
    SkipKind,
    UnprocessedDoubt,
)


class Missed(NamedTuple):
    """All inputs of the verdict on a record passed by a commit and not processed in the ledger. Spark counts equal ones.

    The commit is the one that finally passed it: later rewinds below it do not count. Its range goes from the previously
    committed offset to the new one. Times are compared as written: by the application's and the brokers' clocks.

    Args:
        matched: Any stored record is in the ledger.
        named: It can be identified in the ledger: by offset when all rows have one, else by id.
        begun: It is after the first known commit or the first processed record.
        open: Its transaction is unfinished.
        untold: The ledger has it without an outcome.
        early: It is below all processed records, and its commit precedes the ledger.
        late: Its commit is later than the ledger; without times: it is above all processed records.
        cleaned: Compaction may have removed earlier commits.
        members: Whether the group had members at the commit; ``None`` without the group's state in the log.
        forgotten: The offset was deleted or expired before this commit.
        head: Nothing before it in the range was processed.
        tail: Nothing after it in the range was processed.
        changed: The next commit beyond the range is from other members; ``None`` without one.
        threads: The same members processed records of the partition out of order; ``None`` when unknown.
        after: Part of the range was processed after the commit; ``None`` when unknown.
    """

    matched: bool = True
    named: bool = True
    begun: bool = True
    open: bool = False
    untold: bool = False
    early: bool = False
    late: bool = False
    cleaned: bool = False
    members: bool | None = True
    forgotten: bool = False
    head: bool = False
    tail: bool = False
    changed: bool | None = False
    threads: bool | None = False
    after: bool | None = False


def verdict(of: Missed) -> UnprocessedDoubt | SkipKind:
    """Return why the outcome is unknown, or how the record was committed without processing."""
    doubts = {
        UnprocessedDoubt.UNMATCHED: not of.matched,
        UnprocessedDoubt.WITHOUT_ID: not of.named,
        UnprocessedDoubt.BEFORE_GROUP: not of.begun,
        UnprocessedDoubt.OPEN: of.open,
        UnprocessedDoubt.UNTOLD: of.untold,
        UnprocessedDoubt.BEFORE_LEDGER: of.early,
        UnprocessedDoubt.AFTER_LEDGER: of.late,
    }
    return next((doubt for doubt, holds in doubts.items() if holds), None) or how(of)


def how(of: Missed) -> SkipKind:
    """Return how an unprocessed record was skipped.

    - A commit of a group without members is that of a tool (``commit_history.kind``); a group whose offset
      is forgotten begins where ``auto.offset.reset`` says.
    - A worker that dies leaves the end of what it had taken, and never commits again: others do.
    - Work out of order is work of several threads, for which the commit did not wait.
    - Work after the commit is a commit before the work.
    - Where all else was done in order before the commit, this one was given up, or not written down.
    """
    if of.cleaned:
        return SkipKind.CANNOT_TELL
    if (of.members is False and of.tail) or (of.forgotten and of.head):
        return SkipKind.SKIPPED
    if of.tail and of.changed:
        return SkipKind.CRASH
    if of.threads:
        return SkipKind.ANOTHER_THREAD
    if of.after:
        return SkipKind.BEFORE_PROCESSING
    return SkipKind.PASSED_OVER if of.threads is False and of.after is False else SkipKind.CANNOT_TELL


_GIVE = "Add a ledger of processed records: casebook collect --processed GROUP=FILE."
_SETTLE = "Add the log dirs of the brokers that hold __consumer_offsets and the topics (--log-dirs BROKER=DIR)."


def unprocessed(
    rows: Sequence[GroupWork],
    unsuited: Sequence[UnsuitedLedger] = (),
    clients: ConsumerLogs = NOTHING_TOLD,
    gaps: Sequence[Gap] = (),
    unread: Mapping[str, int | None] = MappingProxyType({}),
) -> Finding:
    """Were records committed and never processed?

    Args:
        rows: Work of groups.
        unsuited: Unusable ledgers of processed records.
        unread: Number of unusable ledger rows by group; ``None``: whole files.
        clients: Content of consumers' own logs.
        gaps: Why some records or commits were not read.
    """
    looked = [row for row in rows if row.unprocessed is not None and row.committed is not None]
    missing, unsure = Counter[str](), Counter[str]()
    for row in looked:
        missing[row.group] += row.unprocessed
    for group, rows_unread in unread.items():
        unsure[group] = missing[group] if rows_unread is None else min(rows_unread, missing[group])
    missed = (missing - unsure).total()
    by_how = Counter[str]()
    for row in looked:
        by_how.update(row.how if row.group not in unread else {})
    groups = sorted(missing - unsure)
    doubts = _doubts(rows) | ({UnprocessedDoubt.UNREAD: unsure.total()} if unsure.total() else {})
    held = _holders(looked, clients)
    ask = Question(
        check="loss.unprocessed",
        question="Were records committed and never processed?",
        coverage=Coverage.counted(len(looked), len(rows), "partition", Source.LEDGERS, Source.SEGMENTS),
        threshold="a stored record that its group committed and its ledger does not have",
        facts={
            "unprocessed": missed,
            "groups": groups,
            "how": dict(sorted(by_how.items())),
            "twice": sum(row.twice for row in looked),
            "unknown": dict(doubts),
        },
        evidence=(Evidence(file="tables/unprocessed"), *(proof(one.proof) for one in (*clients.resets, *held)[:SHOWN])),
        caveats=_caveats(doubts),
    )
    if missed:
        records = f"{'At least ' if gaps or unsure.total() else ''}{plural(missed, 'record')} of {plural(len(groups), 'group')}"
        title = f"{records} {agree(missed, 'was', 'were')} committed and never"
        own = (_resets_in_logs(clients.resets), _assignments(held))
        why = " ".join(filter(None, (_why(by_how), *own, *(one.told for one in unsuited[:1]))))
        return ask.found(Severity.CRITICAL, f"{title} processed{_beside(doubts)}", why=why)
    if unsuited:
        return ask.could_not_check(
            f"{plural(len(unsuited), 'ledger')} of processed records could not be used{_beside(doubts)}",
            why=" ".join(one.told for one in unsuited[:SHOWN]),
            settle=unsuited[0].try_ or "Check the ledger's columns (processed_id, processed_columns).",
        )
    left = [one for one in clients.resets if one.to != 0]  # there is nothing before the first offset
    if not rows and left:
        return ask.could_not_check(
            "A consumer resumed at another offset; no ledger shows what it skipped",
            why=_resets_in_logs(left),
            settle=_GIVE,
        )
    if not rows:
        return ask.not_applicable("There is no ledger of processed records")
    if UnprocessedDoubt.UNMATCHED in doubts:
        return ask.could_not_check(
            "Nothing matched: no stored record is in the ledger of processed records",
            settle="Set its id, partition and offset (processed_id, processed_columns, processed_id_pattern).",
        )
    if not looked:
        return ask.could_not_check(
            "Processing of committed offsets is unknown: no partition has both commits and records",
            settle=_SETTLE,
        )
    if doubts:
        return ask.could_not_check(
            f"All records that could be judged were processed{_beside(doubts)}",
            why=_resets_in_logs(clients.resets),
            settle="Add the ledger from before the group's start to after its end, and the segments of all its partitions.",
        )
    untold = [row for row in rows if row.unprocessed is None or row.committed is None]
    nothing = tuple(
        Gap(why=f"Nothing could be judged for group {row.group} and topic {row.topic}.", settle=_SETTLE) for row in untold[:1]
    )
    return ask.ok("All committed records were processed", gaps=(*nothing, *gaps))


def _beside(doubts: Mapping[str, int | None]) -> str:
    """Describe the number of undecided records, next to the certain ones."""
    known = sum(records or 0 for records in doubts.values())
    if not doubts:
        return ""
    if not known:
        return "; others could not be judged"
    least = "at least " if None in doubts.values() else ""
    return f"; {least}{count(known)} more could not be judged"


def _resets_in_logs(resets: Sequence[Reset]) -> str:
    """Describe position resets in clients' own logs."""
    if not resets:
        return ""
    first = resets[0]
    more = f", and {count(len(resets) - 1)} more such lines" if len(resets) > 1 else ""
    whose = f"the log of {first.client}" if first.client else "a client's log"
    if first.to is None:
        return f"According to {whose}, the offset of {first.topic}-{first.partition} was out of range{more}."
    return f"According to {whose}, {first.topic}-{first.partition} was reset to offset {first.to}{more}."


def _holders(looked: Sequence[GroupWork], clients: ConsumerLogs) -> list[AssignmentLine]:
    """Return the assignments of the partition with most gaps, from clients' own logs."""
    worst = max(looked, key=lambda row: row.unprocessed, default=None)
    if worst is None or not worst.unprocessed:
        return []
    return [one for one in clients.assigned if (one.topic, one.partition) == (worst.topic, worst.partition)]


def _assignments(held: Sequence[AssignmentLine]) -> str:
    if not held:
        return ""
    when = [f"to {one.client or 'a client'}{f' at {moment(one.at)}' if one.at else ''}" for one in held[-SHOWN:]]
    times = f", {plural(len(held), 'time')}, at last" if len(held) > SHOWN else ""
    return f"According to clients' own logs, {held[0].topic}-{held[0].partition} was assigned{times} {', '.join(when)}."


def _doubts(rows: Iterable[GroupWork]) -> Mapping[str, int | None]:
    """Return undecided records by reason; ``None`` for an unknown number."""
    found: dict[str, int | None] = {}
    for row in rows:
        for doubt, records in row.unknown.items():
            so_far = found.get(doubt, 0)
            found[doubt] = None if None in (so_far, records) else so_far + records
    return found


_WORDS = {
    SkipKind.BEFORE_PROCESSING: "committed before they were processed",
    SkipKind.CRASH: "in progress when their worker ended",
    SkipKind.ANOTHER_THREAD: "left to threads that the commit did not wait for",
    SkipKind.SKIPPED: "skipped when a tool set the group beyond them",
    SkipKind.PASSED_OVER: "skipped while others around them were processed",
    SkipKind.CANNOT_TELL: "unprocessed for an unknown reason",
}
_UNKNOWN = {
    UnprocessedDoubt.NOT_SCANNED: "lie in partitions that were not read",
    UnprocessedDoubt.UNMATCHED: "have nothing to be matched with",
    UnprocessedDoubt.BEFORE_GROUP: "lie below the first known commit of their group",
    UnprocessedDoubt.BEFORE_LEDGER: "were committed before the ledger begins",
    UnprocessedDoubt.AFTER_LEDGER: "were committed after the ledger ends",
    UnprocessedDoubt.OPEN: "belong to transactions that have not ended",
    UnprocessedDoubt.UNTOLD: "are in the ledger without an outcome",
    UnprocessedDoubt.WITHOUT_ID: "have no id",
    UnprocessedDoubt.UNREAD: "may be in a ledger, or in rows of one, that could not be used",
}


def _why(by_how: Mapping[str, int]) -> str:
    if not by_how:
        return ""
    told = [
        f"{count(by_how[kind])} {agree(by_how[kind], 'was', 'were')} {words}."
        for kind, words in _WORDS.items()
        if by_how.get(kind)
    ]
    return f"Of these, {' '.join(told)}"


def _caveats(doubts: Mapping[str, int | None]) -> tuple[str, ...]:
    clocks = "Commit times come from the brokers, processing times from the application: clocks are not corrected."
    counted = {doubt: "Some records" if records is None else plural(records, "record") for doubt, records in doubts.items()}
    return (
        clocks,
        *(f"{records} {_UNKNOWN[UnprocessedDoubt(doubt)]}: they are not judged." for doubt, records in counted.items()),
    )
