"""Checks on message loss."""

from collections import Counter
from collections.abc import Collection, Sequence

from casebook.facts.cluster import instant
from casebook.facts.disks import Partition
from casebook.facts.evidence import Evidence
from casebook.facts.losses import ALARM, Cause, CauseRow, ClassCount, Estimate, LostCount
from casebook.facts.observed import Source
from casebook.facts.records import LedgerShape, RecordVerdict, UnsuitedLedger
from casebook.findings.finding import NOTHING, Coverage, Finding, Gap, Question, Severity, Step
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, capitalised, count, plural
from casebook.questions.loss.analysis import estimate
from casebook.questions.loss.analysis.unclean_price import UncleanPrice
from casebook.questions.timeline.analysis import loss_events
from casebook.questions.timeline.analysis.loss_events import EventCount

GIVE_LEDGER = "Set the parameter ledger to the produced records: CSV, JSON lines, Parquet, or a log with ledger_pattern."
GIVE_SEGMENTS = "Add log dirs (--log-dirs BROKER=DIR), an extract, or bootstrap to read the topic live."
OPEN_SEGMENTS = (
    "Run where the listed log dirs can be read, or collect with --copy-segments. Or set an extract, or bootstrap to "
    "read the topic live."
)
"""Evidence that would settle it when log dirs were given without their segments in the case."""
_LOST = Evidence(file="tables/lost")
_CLASSES = Evidence(file="tables/reconciliation")
_UNTOLD = (RecordVerdict.NOT_SCANNED, RecordVerdict.UNREADABLE, RecordVerdict.CANNOT_TELL)
_AGAIN = (RecordVerdict.STORED_THOUGH_FAILED, RecordVerdict.UNKNOWN_STORED, RecordVerdict.DUPLICATED)
_HINDRANCES = {
    RecordVerdict.NOT_SCANNED: "lie in partitions that were not read",
    RecordVerdict.UNREADABLE: "lie where something could not be read",
    RecordVerdict.CANNOT_TELL: "may have expired, been compacted away, or not arrived yet",
}
_PREVENTED = {
    Cause.DEPOSED_LEADER: "acks=all with min.insync.replicas of 2 would have refused them.",
    Cause.ISR_OF_ONE: (
        "min.insync.replicas of 2 would have refused them: acks=all waits for all in-sync replicas, and there was only one."
    ),
    Cause.UNCLEAN_ELECTION: "unclean.leader.election.enable=false keeps such a partition offline instead.",
    Cause.CUT_AT_START: "Up to 0.10.2, never stop all replicas of a partition together; 0.11 and later use leader epochs.",
    Cause.DISK_LOST: "Replication factor 3, on different disks and hosts, survives it.",
    Cause.ACKS_0: "acks=0 is never answered: it cannot be known what arrived.",
    Cause.EITHER_WINDOW: "acks=all with min.insync.replicas of 2 and no unclean election refuses them in either window.",
    Cause.NEVER_RECEIVED: "Count a record as sent only in the producer's callback, when it has an offset.",
}


def checks(
    told: LedgerShape | None,
    classes: Sequence[ClassCount],
    causes: Sequence[CauseRow],
    counts: Sequence[LostCount],
    unmatched: Collection[str],
    *,
    unread: str = "",
    unsuited: Sequence[UnsuitedLedger] = (),
    events: Sequence[EventCount] = (),
    estimates: Sequence[Estimate] = (),
    of_changes: Sequence[Gap] = (),
    foreign: Collection[Partition] = (),
) -> tuple[Finding, ...]:
    """Run every check that requires a ledger, in a fixed order.

    Args:
        unsuited: Unusable ledger files.
        events: Lost records by cause.
        estimates: Without a ledger: estimated losses by leader change.
        of_changes: Why some leader changes are unknown, or not to their end.
        foreign: Partitions read from another copy than the leader's.
    """
    looked = _LossFacts(told, classes, unread, unsuited, foreign)
    return (
        _lost(looked, causes, counts, unmatched, events, estimates, of_changes),
        _outside(looked, counts, of_changes),
        _complete(looked),
        _ledger(told, unsuited),
        _again(looked),
    )


class _LossFacts:
    """Compared records."""

    def __init__(
        self,
        told: LedgerShape | None,
        classes: Sequence[ClassCount],
        unread: str,
        unsuited: Sequence[UnsuitedLedger],
        foreign: Collection[Partition],
    ) -> None:
        self.told, self.unread, self.unsuited = told, unread, unsuited
        self.foreign = sorted({(row.topic, row.partition) for row in classes} & set(foreign))
        self.by_verdict: Counter[str] = Counter()
        for row in classes:
            if row.verdict not in _AGAIN or (row.topic, row.partition) not in self.foreign:
                self.by_verdict[row.verdict] += row.records
        self.partitions = len({(row.topic, row.partition) for row in classes})

    def of(self, *verdicts: str) -> int:
        """Return the number of records with one of these verdicts."""
        return sum(self.by_verdict[verdict] for verdict in verdicts)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return why some acknowledged records were not compared with stored ones."""
        gaps = (*_gaps(self.told), *(Gap(why=one.told, settle=one.try_ or GIVE_LEDGER) for one in self.unsuited))
        if self.foreign:
            topic, partition = self.foreign[0]
            of = plural(len(self.foreign), "partition")
            why = f"For {of}, only a follower's copy was read, e.g. of {topic}-{partition}."
            gaps = (*gaps, Gap(why=why, settle=GIVE_SEGMENTS))
        if not (untold := self.of(*_UNTOLD)):
            return gaps
        why = f"{plural(untold, 'acknowledged record')} could not be looked for everywhere."
        return (*gaps, Gap(why=why, settle=GIVE_SEGMENTS))

    @property
    def coverage(self) -> Coverage:
        """Return the coverage of acknowledged records: those that could be searched for everywhere."""
        told = sum(self.by_verdict.values())
        return Coverage.counted(told - self.of(*_UNTOLD), told, "record", Source.LEDGERS, Source.SEGMENTS)

    def hindrance(self, ask: Question) -> Finding | None:
        """Return why there is no result; ``None`` when there is one."""
        if self.told is None and self.unsuited:
            one = self.unsuited[0]
            return ask.could_not_check(
                "Produced records are unknown: the ledger cannot be used", why=one.told, settle=one.try_ or GIVE_LEDGER
            )
        if self.told is None:
            return ask.could_not_check("Produced records are unknown: there is no ledger", settle=GIVE_LEDGER)
        if self.unread:
            return ask.could_not_check("The stored records were not read", why=self.unread, settle=GIVE_SEGMENTS)
        return None


def _gaps(told: LedgerShape) -> tuple[Gap, ...]:
    left_out = sum(row.rows for row in told.unusable)
    gaps = []
    if not told.outcomes.get("acked"):
        gaps.append(Gap(why="No row of the ledger has an acknowledged record.", settle=GIVE_LEDGER))
    if left_out:
        why = f"{plural(left_out, 'row')} of the ledger could not be used, e.g. as {told.unusable[0].reason}."
        gaps.append(Gap(why=why, settle=GIVE_LEDGER))
    return tuple(gaps)


def _lost(
    looked: _LossFacts,
    causes: Sequence[CauseRow],
    counts: Sequence[LostCount],
    unmatched: Collection[str],
    events: Sequence[EventCount],
    estimates: Sequence[Estimate],
    of_changes: Sequence[Gap],
) -> Finding:
    lost, alarms = looked.of(RecordVerdict.LOST), looked.of(ALARM)
    acked = looked.told.outcomes.get("acked", 0) if looked.told else 0
    is_partly_told = bool(alarms and of_changes)
    first = min((row.at for row in counts if row.at is not None), default=None)
    ask = Question(
        check="loss.lost",
        question="Is every record that was acknowledged still there?",
        coverage=looked.coverage,
        threshold="an acknowledged record whose absence only loss explains",
        facts={
            "acked": acked,
            "lost": lost + alarms,
            "unexplained": None if is_partly_told else alarms,
            "causes": None if is_partly_told else {str(row.cause): row.records for row in causes if row.cause and row.records},
            "unmatched": sorted(unmatched),
            "events": None if is_partly_told else {row.event: row.records for row in events},
            "either_window": sum(row.records for row in counts if row.either),
        }
        | estimate.facts(estimates),
        evidence=(_LOST, _CLASSES, *(proof(row.proof) for row in causes if row.cause and row.records and ":" in row.proof)),
    )
    if estimates and looked.told is None and not looked.unsuited:
        return ask.could_not_check(
            "Produced records are unknown: there is no ledger", why=estimate.sentence(estimates), settle=GIVE_LEDGER
        )
    if (finding := looked.hindrance(ask)) is not None:
        return finding
    if unmatched and not lost + alarms:
        which = " and ".join(sorted(unmatched)[:SHOWN])
        return ask.could_not_check(
            f"Nothing matched: no acknowledged record of {which} has the id of a stored one",
            settle="Check the id mapping: ledger_id, id_pattern and record_id must give the same text on both sides.",
        )
    if not lost + alarms:
        if looked.of(*_UNTOLD):
            return ask.could_not_check(
                f"No loss among the records that could be checked; {plural(looked.of(*_UNTOLD), 'record')} could not",
                settle=GIVE_SEGMENTS,
            )
        return ask.ok(f"No acknowledged record is lost: {count(acked)} checked", gaps=looked.gaps)
    unexplained = f"; {count(alarms)} {agree(alarms, 'has', 'have')} no explanation" if alarms else ""
    if is_partly_told:
        unexplained = f"; the cause of {count(alarms)} of them is unknown"
    lost_of = f"{count(lost + alarms)} of {plural(acked, 'acknowledged record')} {agree(lost + alarms, 'is', 'are')} lost"
    least = "At least " if looked.gaps else ""
    took = sorted((row for row in causes if row.cause and row.records), key=lambda row: -row.records)
    why = (loss_events.sentence(events, counts), *(f"{plural(row.records, 'record')}: {row.proves}." for row in took))
    advice = tuple(Step(kind="then", text=_PREVENTED[row.cause]) for row in took)
    return ask.found(
        Severity.CRITICAL,
        f"{least}{lost_of}{unexplained}",
        why=" ".join(filter(None, why)),
        next=(*advice,),
        since=None if first is None else instant(first),
        at_latest=first is not None and bool(looked.gaps),
    )


def _outside(looked: _LossFacts, counts: Sequence[LostCount], of_changes: Sequence[Gap]) -> Finding:
    alarms = looked.of(ALARM)
    own = [row for row in counts if row.cause is None]
    where = sorted({f"{row.topic}-{row.partition}" for row in own})
    ask = Question(
        check="loss.outside_every_window",
        question="Is every loss explained by an event?",
        coverage=looked.coverage,
        threshold="a lost record that no change of leader, no disk failure and no producer setting explains",
        facts={"records": alarms, "partitions": where[:SHOWN]},
        evidence=(_LOST,),
    )
    if (finding := looked.hindrance(ask)) is not None:
        return finding
    if not alarms:
        return ask.nothing_in(range(looked.of(RecordVerdict.LOST)), "Every lost record has a cause", gaps=looked.gaps)
    if of_changes:
        title = f"{plural(alarms, 'lost record')} {agree(alarms, 'is', 'are')} outside the known windows"
        return ask.could_not_check(title, why=f"A window may be missing. {of_changes[0].why}", settle=of_changes[0].settle)
    first = min((row.at for row in own if row.at is not None), default=None)
    return ask.found(
        Severity.CRITICAL,
        f"{plural(alarms, 'lost record')} {agree(alarms, 'is', 'are')} outside every window",
        why=f"{', '.join(where[:SHOWN])}: treat this as a separate incident that is still open.",
        since=None if first is None else instant(first),
        next=(
            Step(
                kind="first",
                text="Check what is stored at its offset today (tables/lost), and which other clients write to the topic.",
            ),
            Step(kind="then", text="Collect all logs and ZooKeeper's data of that time: a window may be missing."),
        ),
    )


def _complete(looked: _LossFacts) -> Finding:
    untold = {verdict: looked.of(verdict) for verdict in _UNTOLD if looked.of(verdict)}
    ask = Question(
        check="loss.looked_everywhere",
        question="Could every acknowledged record be looked for?",
        coverage=looked.coverage,
        threshold="a record whose partition was not read, or only in part",
        facts={str(verdict): records for verdict, records in untold.items()},
        evidence=(_CLASSES,),
    )
    if (finding := looked.hindrance(ask)) is not None:
        return finding
    if not untold:
        return ask.ok("Every acknowledged record was looked for where it must be stored", gaps=looked.gaps)
    why = "; ".join(f"{count(records)} {_HINDRANCES[verdict]}" for verdict, records in untold.items())
    total = sum(untold.values())
    return ask.could_not_check(
        f"Loss of {plural(total, 'acknowledged record')} is neither confirmed nor excluded",
        why=f"{why}.",
        settle=GIVE_SEGMENTS,
    )


def _untimed(told: LedgerShape | None) -> str:
    """State that no column is used as a time, and which could be."""
    if told is None or told.timed:
        return ""
    columns = f": {', '.join(told.unused[:SHOWN])} {agree(len(told.unused), 'is', 'are')} not used" if told.unused else ""
    return f'No column was recognised as a time{columns}. Set ledger_columns="time=COLUMN".'


def _ledger(told: LedgerShape | None, unsuited: Sequence[UnsuitedLedger]) -> Finding:
    ask = Question(
        check="loss.ledger",
        question="Could the whole ledger be used?",
        coverage=Coverage.counted(told.rows - sum(row.rows for row in told.unusable), told.rows, "row", Source.LEDGERS)
        if told
        else NOTHING,
        threshold="rows that cannot be used, or times without zone",
        facts=({} if told is None else {row.reason: row.rows for row in told.unusable} | {"zone_assumed": told.assumed})
        | ({"unsuited": [one.name for one in unsuited]} if unsuited else {}),
        caveats=tuple(
            filter(None, (f"Times without zone were read as {told.zone}." if told and told.assumed else "", _untimed(told)))
        ),
    )
    if unsuited:
        why, settle = " ".join(one.told for one in unsuited[:SHOWN]), unsuited[0].try_ or GIVE_LEDGER
        if told is None:
            return ask.could_not_check("The ledger cannot be used", why=why, settle=settle)
        title = f"{plural(len(unsuited), 'file')} of the ledger could not be used"
        return ask.found(Severity.WARNING, title, why=why, next=(Step(kind="first", text=settle),))
    if told is None:
        return ask.could_not_check("There is no ledger", settle=GIVE_LEDGER)
    if not told.unusable and told.odd_times is None:
        return ask.ok("Every row of the ledger could be used", gaps=_gaps(told))
    left_out = sum(row.rows for row in told.unusable)
    told_why = [f"{plural(row.rows, 'row')}: {row.reason}, e.g. {row.example}" for row in (*told.unusable, told.odd_times) if row]
    title = f"{plural(left_out, 'row')} of the ledger could not be used" if left_out else "Times of the ledger could not be read"
    return ask.found(Severity.WARNING, title, why="; ".join(told_why) + ".")


def _again(looked: _LossFacts) -> Finding:
    kept, twice = looked.of(RecordVerdict.STORED_THOUGH_FAILED, RecordVerdict.UNKNOWN_STORED), looked.of(RecordVerdict.DUPLICATED)
    ask = Question(
        check="loss.stored_though_failed",
        question="Is anything stored that was reported as failed, or stored twice?",
        coverage=looked.coverage,
        threshold="a failed or unknown record that is stored, or one that is stored more than once",
        facts={str(one): looked.of(one) for one in _AGAIN},
        evidence=(_CLASSES,),
    )
    if (finding := looked.hindrance(ask)) is not None:
        return finding
    if not kept and not twice:
        return ask.ok("No failed record is stored, and none is stored twice", gaps=looked.gaps)
    least = "at least " if looked.gaps else ""
    parts = [f"{least}{plural(kept, 'record')} reported failed or unknown {agree(kept, 'is', 'are')} stored"] if kept else []
    parts += [f"{least}{count(twice)} {agree(twice, 'is', 'are')} stored more than once"] if twice else []
    return ask.found(
        Severity.INFO,
        capitalised(", and ".join(parts)),
        why=(
            "A timeout means that no answer came, not that nothing was stored. If the producer retries, the record is "
            "stored twice."
        ),
    )


def price(prices: Sequence[UncleanPrice], of_brokers: Sequence[Gap] = ()) -> Finding:
    """What would the next unclean election cost?

    Args:
        of_brokers: Why the registered brokers, and so possible candidates, are unknown.
    """
    known = [row for row in prices if row.records is not None]
    dear = max(known, key=lambda row: row.records, default=None)
    ask = Question(
        check="loss.price_of_election",
        question="What would the next unclean election cost?",
        coverage=Coverage.counted(len(known), len(prices), "candidate", Source.SEGMENTS, Source.ZNODES),
        threshold="a candidate that lacks records",
        facts={
            "candidates": len(prices),
            "without_price": len(prices) - len(known),
            "most_records": dear.records if dear else None,
        },
        evidence=(Evidence(file="tables/unclean_price"),),
    )
    if not prices:
        return ask.not_applicable("No partition has a replica out of sync that could be elected", gaps=of_brokers)
    if not known:
        return ask.could_not_check("The cost of an unclean election is unknown", why=prices[0].why, settle=GIVE_SEGMENTS)
    if not dear.records:
        priceless = [row for row in prices if row.records is None]
        gaps = tuple(Gap(why=f"{row.why.rstrip('.')}.", settle=GIVE_SEGMENTS) for row in priceless[:1])
        return ask.ok("No candidate lacks a record", gaps=(*of_brokers, *gaps))
    return ask.found(
        Severity.WARNING,
        f"Electing broker {dear.candidate} for {dear.topic}-{dear.partition} would cost {plural(dear.records, 'record')}",
        why="The table lists the candidates of every partition, cheapest first.",
        next=(
            Step(
                kind="not",
                text=(
                    "Do not allow an unclean election before the cheapest candidate is known: each wrong choice loses more "
                    "records."
                ),
            ),
        ),
    )
