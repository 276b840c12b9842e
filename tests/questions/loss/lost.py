"""What a ledger and a topic tell of one morning, made by hand: 11 records went when broker 57 was deposed, one has no explanation."""

from dataclasses import replace

from casebook.facts.copies import Absent, Compared, Copy, CopyContent, RecordRun
from casebook.facts.losses import ALARM, Cause, CauseRow, ClassCount, CutRange, LeaderChange, LostCount, LostRecord
from casebook.facts.records import LedgerShape, Limits, RecordVerdict, SendOutcome, Word
from casebook.kafka.past_rows import transaction
from casebook.questions.loss.analysis import checks, cut_range_check, divergence
from casebook.questions.loss.analysis.gaps import GapKind, OffsetGap
from casebook.questions.loss.analysis.message_loss import MessageLoss
from casebook.questions.loss.analysis.unclean_price import Beyond, StartPrice, UncleanPrice

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
SIX = 1_570_860_000_000  # 2019-10-12T06:00:00Z
HOUR, MINUTE = 3_600_000, 60_000
WINDOW = SIX + 5 * HOUR + 3 * MINUTE + 42_861  # 11:03:42.861
LINE = "brokers/57/logs/server.log:5561"
TOLD = LedgerShape(
    rows=41_236_340, outcomes={SendOutcome.ACKED: 41_236_118, SendOutcome.FAILED: 214, SendOutcome.UNKNOWN: 8},
    words=(Word("acked", SendOutcome.ACKED, 41_236_118),), unusable=(), odd_times=None, assumed=0, zone="UTC",
    first=SIX, last=SIX + 6 * HOUR,
)  # fmt: skip


def change(number: int, topic: str, partition: int, **more: object) -> LeaderChange:
    """Broker 57 is followed by 55."""
    common = {
        "opened": WINDOW, "closed": WINDOW + 1270, "since": WINDOW, "old_leader": 57, "new_leader": 55, "epoch": 13, "cut": 88120417,
        "isr": (57, 55), "alone": None, "unclean": False, "cut_at_start": False, "disk": False, "planned": False,
        "opened_proof": transaction(0x2F0001A81), "closed_proof": LINE,
    }  # fmt: skip
    return LeaderChange(number=number, topic=topic, partition=partition, **(common | more))


CHANGES = (
    *(change(n, "users", n, opened=SIX + 135 * MINUTE + n, closed=SIX + 135 * MINUTE + 90 + n, since=SIX + 135 * MINUTE + n,
             old_leader=55, planned=True) for n in range(12)),
    change(12, "orders", 3),
    change(13, "orders", 9, opened=WINDOW + 5, since=WINDOW + 5, closed=WINDOW + 1272),
    change(14, "payments", 1, opened=WINDOW + 20, since=WINDOW + 20, new_leader=58, closed=WINDOW + 1278),
    change(15, "clicks", 22, opened=WINDOW + 43, since=WINDOW + 43, new_leader=59, closed=WINDOW + 1283),
)  # fmt: skip
SPOTS = {12: (759, 1019, 1209), 13: (689, 1050, 1110, 1230), 14: (940, 1160, 1250), 15: (1190,)}
"""Milliseconds behind the window's begin at which a lost record was acknowledged, by change."""


def record(name: str, row: LeaderChange | None, acked_at: int | None, **more: object) -> LostRecord:
    """A lost record; without change an alarm of orders-3."""
    common = {
        "id": name, "topic": row.topic if row else "orders", "partition": row.partition if row else 3, "offset": 88120417,
        "acked_at": acked_at, "acks": "1", "key": None, "producer": "shop-1", "cause": str(Cause.DEPOSED_LEADER) if row else None,
        "change": row.number if row else None, "window": "57 → 55 at 11:03:42.861" if row else "",
        "evidence": "acked offset ≥ truncation offset, epoch 12 → 13" if row else "acked by 57; that offset holds another key",
        "there_id": None if row else "o-5519411", "there_epoch": 13 if row else None, "nearest": None if row else 16 * MINUTE + 30_000,
    }  # fmt: skip
    return LostRecord(**(common | more))


def counted(lost: tuple[LostRecord, ...]) -> tuple[LostCount, ...]:
    """Each lost record, counted by itself."""
    return tuple(
        LostCount(one.topic, one.partition, one.producer, one.cause, one.change, None if one.acked_at is None else one.acked_at // 50 * 50, 1)
        for one in lost
    )  # fmt: skip


OUTSIDE = record("o-5519203", None, WINDOW - 16 * MINUTE - 30_000, offset=88071902)
LOST = (
    OUTSIDE,
    *(
        record(f"o-55{number}{at}", row, WINDOW + at, offset=88120417 + turn)
        for row in CHANGES[12:]
        for number in [row.number]
        for turn, at in enumerate(SPOTS[number])
    ),
)


def causes(alarms: int | None, deposed: int | None) -> tuple[CauseRow, ...]:
    """Every cause, of which two took records."""
    return (
        CauseRow(None, alarms, "orders-3" if alarms else "", "none" if alarms else "", "that offset holds another key today" if alarms else "", "tables/lost"),
        CauseRow(Cause.DEPOSED_LEADER, deposed, "4 partitions", "11:03:42.861 to 44.144", "acked offset ≥ truncation offset, epoch 12 → 13", LINE),
        CauseRow(Cause.ISR_OF_ONE, 0, "", "", "the producer used acks=1", "", applies=False),
        CauseRow(Cause.UNCLEAN_ELECTION, 0, "16 elections", "", "each new leader was in the previous ISR", transaction(0x2F0001A81)),
        CauseRow(Cause.CUT_AT_START, 0, "5 starts", "", "no follower cut its log before an election", ""),
        CauseRow(Cause.DISK_LOST, None, "broker 59", "", "its log dirs were not given", ""),
        CauseRow(Cause.NEVER_RECEIVED, 0, "", "", "every lost record has an offset", ""),
        CauseRow(Cause.ACKS_0, 0, "", "", "no producer used acks=0", "", applies=False),
    )  # fmt: skip


def classes(counts: tuple[LostCount, ...]) -> tuple[ClassCount, ...]:
    """What became of all records."""
    others = {
        RecordVerdict.STORED: 40_031_775, RecordVerdict.EXPIRED: 1_204_331, RecordVerdict.UNKNOWN_NOT_STORED: 8, RecordVerdict.STORED_THOUGH_FAILED: 214,
    }  # fmt: skip
    rows = [ClassCount("orders", 3, str(name), records) for name, records in others.items()]
    for row in counts:
        rows.append(ClassCount(row.topic, row.partition, ALARM if row.cause is None else "lost", row.records))
    return tuple(rows)


COMPARED = Compared(
    copies=(Copy(57, "orders", 3, 0, 120, 12), Copy(55, "orders", 3, 0, 120, 13)),
    runs=(RecordRun("orders", 3, 110, 119, (CopyContent(57, 57, None, 10, 900, first_epoch=12, last_epoch=12), CopyContent(55, 55, None, 10, 880, first_epoch=13, last_epoch=13))),
          RecordRun("orders", 4, 90, 95, (CopyContent(57, 57, None, 6, 600), CopyContent(55, None, Absent.BEHIND)))),
)  # fmt: skip
COMPARED = COMPARED._replace(copies=(*COMPARED.copies, Copy(57, "orders", 4, 0, 96), Copy(55, "orders", 4, 0, 90)))
PRICES = (
    UncleanPrice(topic="orders", partition=3, candidate=59, records=26_635, bytes=30 << 20, from_time=WINDOW, to_time=WINDOW + MINUTE,
                 best=57, end=88_093_782, from_offset=88_093_782, keys=("customer-1",), groups=(Beyond(group="billing", offset=88_120_000, by=26_218),)),
    UncleanPrice(topic="orders", partition=3, candidate=55, records=0, bytes=0, best=57, end=88_120_417, groups=()),
    UncleanPrice(topic="orders", partition=4, candidate=59, why="The copy of broker 57, the last leader, is not in the evidence."),
)  # fmt: skip
STARTS = (
    StartPrice(broker=59, partitions=2, records=26_635, bytes=30 << 20, unknown=0),
    StartPrice(broker=55, partitions=1, records=0, bytes=0, unknown=0),
    StartPrice(broker=58, partitions=2, records=None, bytes=None, unknown=2),
)
CUTS = (
    CutRange("orders", 3, 57, 88120417, 88120420, WINDOW + 1257, 12, 13, "the returning leader truncated", LINE),
    CutRange("payments", 1, 57, 4711, None, None, 12, 13, "the epoch of the next leader begins before its end", "/brokers/topics/payments/partitions/1/state"),
)  # fmt: skip
GAPS = (
    OffsetGap("orders", 3, GapKind.CONTROL, 12, 12, 100, 900),
    OffsetGap("orders", 3, GapKind.UNEXPLAINED, 1, 3, 88120417, 88120420),
    OffsetGap("orders", 4, GapKind.CANNOT_TELL, 1, None, 7, None),
)


def morning(lost: tuple[LostRecord, ...] = LOST, **changed: object) -> MessageLoss:
    """What was found.

    Args:
        lost: The lost records, counted unless ``counts`` are given.
        changed: Fields that are otherwise.
    """
    counts = changed.pop("counts", counted(lost))
    told, unread = changed.pop("ledger", TOLD), changed.pop("unread", "")
    known = told is not None and not unread
    alarms, total = (sum(row.records for row in counts if row.cause is None or every) for every in (False, True))
    rows = changed.pop("classes", classes(counts) if known else ())
    why = changed.pop("causes", causes(alarms, total - alarms) if known else ())
    compared = changed.get("compared", COMPARED)
    ranges, prices = changed.get("cut_ranges", CUTS), changed.get("prices", PRICES)
    findings = (
        *checks.checks(told, rows, why, counts, changed.pop("unmatched", frozenset()), unread=unread),
        cut_range_check.check(ranges, CHANGES, partitions=16, gaps=()),
        divergence.agreement(compared, ()),
        checks.price(prices),
    )
    limits = (
        Limits("orders", 3, "broker 55", 100, 88_130_000, unreadable=((500, 600),)),
        Limits("orders", 9, "live", 0, 88_140_000),
        *(Limits(c.topic, c.partition, "broker 55", 0, 1000) for c in CHANGES if c.topic not in ("orders",)),
    )
    found = MessageLoss(
        acked=41_236_118 if known else None, lost_total=total if known else None, classes=rows, lost=lost, counts=counts, causes=why,
        changes=CHANGES, ledger=told, limits=limits if not unread else (), gaps=GAPS, cut_ranges=CUTS, compared=COMPARED,
        divergences=divergence.divergences(compared), prices=PRICES, start_prices=STARTS, findings=findings,
    )  # fmt: skip
    return replace(found, **changed)
