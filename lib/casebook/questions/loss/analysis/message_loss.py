"""Message loss: lost acknowledged records, their leader changes and causes, and the price of the next election.

Content of notebook 70.
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
    """Search results; each is empty when not searched.

    Args:
        told: Shape of the ledger; ``None`` without one.
        counted: Records by signature.
        unmatched: Topics with doubtful ids: see :func:`unmatched`.
        lost: First lost records.
        counts: All lost records, counted.
        acks: Producers' settings in the ledger, with ``None`` for missing ones.
        reordered: Records stored after a later sent one of their key, by partition; ``None``: unknown.
        unread: Why nothing stored was read; ``""`` when it was.
        unsuited: Unusable ledger files.
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
    """Content of notebook 70.

    Args:
        acked: Number of acknowledged records in the ledger; ``None`` without ledger.
        lost_total: Number of lost ones, including alarms; ``None`` without ledger.
        classes: Records by partition and verdict; alarms are separate from other losses.
        lost: First lost records, in order of time; alarms first when there are very many.
        counts: All lost records, counted.
        causes: The alarm, then every cause.
        events: Lost records by event, most first.
        estimates: Without ledger: estimated losses by leader change.
        changes: Leader changes of the ledger's topics; without ledger of all.
        ledger: Shape of the ledger; ``None`` without one.
        limits: Read part of each partition.
        gaps: Missing offsets, by label.
        cut_ranges: Disappeared offsets.
        compared: Compared copies.
        divergences: Differences between them.
        prices: Price of electing each candidate unclean.
        start_prices: Price of starting one broker before the others.
        findings: One per check, in a fixed order.
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
    """Determine each record's outcome and causes of losses, and run every check.

    Args:
        changes: Leader changes of the ledger's topics.
        history: Whether all changes are known, from ZooKeeper's history.
        logs: Brokers with logs.
        topics: Topics of the ledger; empty for all.
        partitions: Number of their partitions.
        of_past: Why some leader changes or truncations are unknown.
        of_copies: Why some copies were not compared.
        of_brokers: Why the registered brokers are unknown.
        limits: Read parts of stored records.
        listed: Whether log dirs were given: then they are not requested again.
        estimates: Estimated losses by leader change; used only without a ledger.
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
    """Return topics with records but without a match for any acknowledged one: their ids are doubtful.

    Only then is the mapping in doubt: with a single match, the others are really missing.

    Args:
        counted: Records by signature.
        without_id: Returns the number of visible records without an id; called only if needed.
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
    """Return the signatures of lost records, without topics that do not match."""
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
