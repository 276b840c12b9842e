"""Message loss: which acknowledged records are gone, in which change of leader, why, and what the next election would cost.

What notebook 70 concludes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from casebook.facts.copies import Compared
from casebook.facts.disks import Partition
from casebook.facts.losses import ALARM, CauseRow, ClassCount, CutRange, Estimate, LeaderChange, LostCount, LostRecord
from casebook.facts.records import Counted, LedgerShape, Limits, RecordVerdict, UnsuitedLedger
from casebook.findings import coverage
from casebook.findings.finding import Finding
from casebook.questions.loss.analysis import causes as loss_causes
from casebook.questions.loss.analysis import checks, cut_range_check, divergence, loss
from casebook.questions.loss.analysis.cut_ranges import bounded
from casebook.questions.loss.analysis.divergence import Divergence
from casebook.questions.loss.analysis.gaps import OffsetGap
from casebook.questions.loss.analysis.unclean_price import StartPrice, UncleanPrice
from casebook.questions.timeline.analysis import loss_events
from casebook.questions.timeline.analysis.loss_events import EventCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What was looked for, and what was found of it; each is empty where it was not looked at.

    Args:
        told: What the ledger is like; ``None`` without one.
        counted: Records by signature.
        unmatched: Topics whose ids are not what they seem: see :func:`unmatched`.
        lost: The first lost records.
        counts: All lost records, counted.
        acks: What the ledger says of producers; ``None`` in it where it does not.
        reordered: Records that lie behind one of their key that was sent later, by partition; ``None``: could not be told.
        unread: Why nothing stored was read; ``""`` when it was.
        unsuited: Files of the ledger that could not be used.
    """

    told: LedgerShape | None = None
    counted: Sequence[Counted] = ()
    unmatched: frozenset[str] = frozenset()
    lost: Sequence[LostRecord] = ()
    counts: Sequence[LostCount] = ()
    acks: Collection[str | None] = frozenset()
    reordered: Mapping[Partition, int] | None = None
    unread: str = ""
    unsuited: Sequence[UnsuitedLedger] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLoss:
    """Everything notebook 70 shows.

    Args:
        acked: Acknowledged records in the ledger; ``None`` without ledger.
        lost_total: Lost ones, alarms among them; ``None`` without ledger.
        classes: Records by partition and verdict; alarms are apart from the other lost ones.
        lost: The first lost records, in order of time; of very many the alarms before the others.
        counts: All lost records, counted.
        causes: The alarm, then every cause.
        events: Lost records by what took them, the most first.
        estimates: Without ledger: how many records each change of leader may have taken.
        changes: Every change of leader of the ledger's topics; without ledger of all.
        ledger: What the ledger is like; ``None`` without one.
        limits: What of which partition was read.
        gaps: Missing offsets, by label.
        cut_ranges: Offsets that disappeared.
        compared: Copies held against each other.
        divergences: Where they differ.
        prices: What each candidate of an unclean election would cost.
        start_prices: What starting one broker before the others would cost.
        findings: One for every check, in a fixed order.
    """

    acked: int | None
    lost_total: int | None
    classes: tuple[ClassCount, ...]
    lost: tuple[LostRecord, ...]
    counts: tuple[LostCount, ...]
    causes: tuple[CauseRow, ...]
    changes: tuple[LeaderChange, ...]
    ledger: LedgerShape | None
    limits: tuple[Limits, ...]
    gaps: tuple[OffsetGap, ...]
    cut_ranges: tuple[CutRange, ...]
    compared: Compared
    divergences: tuple[Divergence, ...]
    prices: tuple[UncleanPrice, ...]
    start_prices: tuple[StartPrice, ...]
    findings: tuple[Finding, ...]
    events: tuple[EventCount, ...] = ()
    estimates: tuple[Estimate, ...] = ()


def examine(
    sought: Sought,
    *,
    changes: Sequence[LeaderChange] = (),
    history: bool = False,
    logs: Collection[int] = (),
    topics: Collection[str] = (),
    partitions: int = 0,
    of_past: coverage.Gaps = (),
    of_copies: coverage.Gaps = (),
    of_brokers: coverage.Gaps = (),
    limits: Sequence[Limits] = (),
    gaps: Sequence[OffsetGap] = (),
    cut_ranges: Sequence[CutRange] = (),
    compared: Compared | None = None,
    prices: Sequence[UncleanPrice] = (),
    start_prices: Sequence[StartPrice] = (),
    listed: bool = False,
    estimates: Sequence[Estimate] = (),
) -> MessageLoss:
    """Name what became of each record, why lost ones are gone, and answer every check.

    Args:
        changes: Of the ledger's topics.
        history: Whether all changes are known, from ZooKeeper's history.
        logs: Brokers whose logs are there.
        topics: The ledger's; empty for all.
        partitions: How many these have.
        of_past: Why not every change of leader, or not every cut of a log, is known.
        of_copies: Why not every copy was compared.
        of_brokers: Why it is not known who is registered.
        limits: What was read of stored records.
        listed: Whether log dirs were given: nobody is then told to give them.
        estimates: How many records each change of leader may have taken; of use without a ledger only.
    """
    alarms = Counter()
    for row in sought.counts:
        alarms[row.topic, row.partition] += row.records if row.cause is None else 0
    classes = _classes(sought, alarms)
    compared = compared or Compared()
    causes = ()
    if sought.told is not None and not sought.unread:
        causes = loss_causes.causes(sought.counts, changes, acks=sought.acks, history=history, disks=logs)
    events = loss_events.counted(sought.counts, changes)
    estimates = tuple(estimates) if sought.told is None else ()
    cut_ranges = bounded(cut_ranges, changes, sought.lost)
    return MessageLoss(
        acked=sum(row.records for row in sought.counted if row.signature.acked) if sought.told else None,
        lost_total=_total(classes, RecordVerdict.LOST, ALARM) if sought.told and not sought.unread else None,
        classes=classes,
        lost=tuple(sought.lost),
        counts=tuple(sought.counts),
        causes=causes,
        events=events,
        estimates=estimates,
        changes=tuple(changes),
        ledger=sought.told,
        limits=tuple(limits),
        gaps=tuple(gaps),
        cut_ranges=cut_ranges,
        compared=compared,
        divergences=divergence.divergences(compared),
        prices=tuple(prices),
        start_prices=tuple(start_prices),
        findings=tuple(
            replace(one, settle=checks.OPEN_SEGMENTS) if listed and one.settle == checks.GIVE_SEGMENTS else one
            for one in (
                *checks.checks(
                    sought.told,
                    classes,
                    causes,
                    sought.counts,
                    sought.unmatched,
                    unread=sought.unread,
                    unsuited=sought.unsuited,
                    events=events,
                    estimates=estimates,
                    of_changes=of_past,
                    foreign=frozenset((of.topic, of.partition) for of in limits if of.foreign),
                ),
                cut_range_check.check(cut_ranges, changes, partitions=partitions, gaps=of_past, topics=topics),
                divergence.agreement(compared, of_copies),
                checks.price(prices, of_brokers),
            )
        ),
    )


def unmatched(counted: Iterable[Counted], without_id: Callable[[], Mapping[Partition, int]]) -> frozenset[str]:
    """Topics of which nothing that was acknowledged was found, though there are records: their ids are not what they seem.

    Only then is it the mapping that is in doubt: with a single record that matches, the others are really missing.

    Args:
        counted: Records by signature.
        without_id: Gives how many visible records have no id; asked only where it matters.
    """
    acked, found, others = set(), set(), set()
    for row in counted:
        of = row.signature
        if of.acked:
            acked.add(row.topic)
        if of.acked and (of.stored or of.aborted or of.open):
            found.add(row.topic)
        if of.stored and not (of.acked or of.failed or of.unknown):
            others.add(row.topic)
    doubtful = acked - found
    if doubtful - others:
        others |= {topic for topic, _ in without_id()}
    return frozenset(doubtful & others)


def lost_signatures(sought: Sought) -> tuple:
    """The signatures of lost records; none of topics that do not match is among the rows that go with them."""
    return tuple({row.signature for row in sought.counted if loss.verdict(row.signature) is RecordVerdict.LOST})


def _classes(sought: Sought, alarms: Mapping[Partition, int]) -> tuple[ClassCount, ...]:
    found: Counter = Counter()
    for row in sought.counted:
        verdict = loss.verdict(row.signature)
        if verdict is RecordVerdict.LOST and row.topic in sought.unmatched:
            verdict = RecordVerdict.CANNOT_TELL
        found[row.topic, row.partition, verdict] += row.records
    for (topic, partition), records in alarms.items():
        if records:
            found[topic, partition, RecordVerdict.LOST] -= records
            found[topic, partition, ALARM] += records
    for (topic, partition), records in (sought.reordered or {}).items():
        found[topic, partition, "reordered"] += records
    rows = (ClassCount(topic, partition, str(name), records) for (topic, partition, name), records in found.items() if records)
    return tuple(sorted(rows, key=lambda row: (row.topic, -1 if row.partition is None else row.partition, row.verdict)))


def _total(classes: Iterable[ClassCount], *verdicts: str) -> int:
    return sum(row.records for row in classes if row.verdict in verdicts)
