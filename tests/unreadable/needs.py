"""What each question cannot be answered ``ok`` without: written from what it asks, not from how a check is made.

``ok`` to *Does every partition have a living leader?* says that states and registrations were read: of all brokers, for a cluster's
question is about all of them. What may only confirm an answer stands not here: without ZooKeeper's history the states still tell.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from casebook.case.case import Case
from casebook.findings.finding import Finding, Status
from casebook.questions.durability.analysis.rules import CLUSTER, CONSUMER, PAIR, PRODUCER, RULES, TOPIC
from tests.unreadable.lesser import CHECKPOINTS, ONE

_BROKERS = frozenset({"server logs", "state-change logs", "controller logs", "cleaner logs"})
_ZNODES = frozenset({"broker ids", "assignments", "states", "topic settings", "other znodes"})
_LOST: Mapping[str, frozenset[str]] = {
    "all logs": _BROKERS | {"logs of ZooKeeper", "logs of clients"},
    "logs of brokers": _BROKERS,
    "znodes": _ZNODES,
    "log dirs": frozenset({"log dirs", "segments", CHECKPOINTS}),
}


def lost(kind: str) -> frozenset[str]:
    """What cannot be read where a kind cannot: of all brokers or of one. Segments are read by a Spark that runs already."""
    plain = kind.removesuffix(ONE)
    return _LOST.get(plain, frozenset({plain}))


_LEADERS = frozenset({"broker ids", "assignments", "states"})
_COPIES = frozenset({"assignments", "states"})
_DISKS = frozenset({"log dirs"})
_OFFSETS = frozenset({"log dirs", "segments"})
_SETTINGS = frozenset({"server.properties", "topic settings"})
_DEFAULTS = frozenset({"server.properties"})
_LOGS = frozenset({"server logs"})
_PAST = frozenset({"history"})
_RECORDS = frozenset({"ledgers", "segments", "log dirs"})
_CLIENTS = frozenset({"client files"})

_OF_RULES = {
    TOPIC: frozenset({"assignments"}) | _SETTINGS, CLUSTER: _DEFAULTS, PAIR: _CLIENTS, PRODUCER: _CLIENTS, CONSUMER: _CLIENTS,
}  # fmt: skip
"""By whose settings a rule of notebook 80 asks for; a rule that needs other evidence has its own row below."""

NEEDS: Mapping[str, frozenset[str]] = {f"durability.{rule.name}": _OF_RULES[rule.scope] for rule in RULES.values()} | {
    "evidence.decoded": frozenset({"broker ids", "assignments", "states", "topic settings"}),
    "leadership.offline": _LEADERS,
    "leadership.under_min_isr": _LEADERS | _SETTINGS,
    "leadership.at_min_isr": _LEADERS | _SETTINGS,
    "leadership.under_replicated": _LEADERS,
    "leadership.uninitialised": _COPIES,
    "leadership.deleting": frozenset({"assignments", "other znodes"}),
    "leadership.reassigning": frozenset({"other znodes"}),
    "leadership.isr_in_assignment": _COPIES,
    "leadership.unclean_allowed": frozenset({"assignments"}) | _SETTINGS,
    "leadership.unclean_price": _LEADERS,
    "leadership.brokers": frozenset({"broker ids", "assignments"}),
    "leadership.controller_epoch": frozenset({"states", "other znodes"}),
    "leadership.controller": frozenset({"other znodes"}),
    "maintenance.restart_one": _LEADERS | _SETTINGS,
    "maintenance.restart_pairs": _LEADERS | _SETTINGS,
    "maintenance.coordinators": _LEADERS | {"log dirs"},
    "maintenance.unfinished_reassignments": frozenset({"other znodes"}),
    "maintenance.unremoved_throttles": frozenset({"topic settings", "other znodes"}),
    "maintenance.unpreferred_leaders": _COPIES,
    "maintenance.unregistered_replicas": frozenset({"broker ids", "assignments"}),
    "offsets_topic.compacted": frozenset({"assignments", "log dirs", "cleaner logs"}) | _SETTINGS,
    "offsets_topic.cleaner_map": frozenset({"log dirs", "server.properties"}),
    "offsets_topic.dead_weight": _OFFSETS,
    "offsets_topic.safe_segments": _OFFSETS,
    "offsets_topic.writers": _OFFSETS,
    "offsets_topic.load_buffer": _OFFSETS | _DEFAULTS,
    "offsets_topic.open_transactions": _OFFSETS,
    "offsets_topic.decoded": _OFFSETS,
    "offsets_topic.damage": _OFFSETS,
    "offsets_topic.expiring": _OFFSETS | _DEFAULTS,
    "offsets_topic.missing_topics": _OFFSETS | {"assignments"},
    "offsets_topic.replicated": frozenset({"assignments"}),
    "log_dirs.held": _DISKS,
    "log_dirs.stopped": _DISKS,
    "log_dirs.left": _DISKS,
    "log_dirs.reach": _DISKS | {CHECKPOINTS},
    "log_dirs.copies": _DISKS | {CHECKPOINTS},
    "log_dirs.without_folder": _DISKS | {CHECKPOINTS},
    "coordinators.leaderless": _LEADERS,
    "coordinators.waiting": _LOGS,
    "coordinators.loading_for_ever": _LOGS,
    "coordinators.failed": _LOGS,
    "coordinators.known": _LOGS,
    "coordinators.foretold": _LOGS,
    "coordinators.alone": _LEADERS,
    "coordinators.partition_count": frozenset({"assignments"}),
    "coordinators.log_lines": _LOGS | {"cleaner logs"},
    "timeline.two_leaders": _PAST,
    "timeline.leaderless": _PAST,
    "timeline.under_min_isr": _PAST | _SETTINGS,
    "timeline.unclean_elections": _PAST,
    "timeline.root": _PAST | _LOGS,
    "timeline.unknown_requests": _LOGS,
    "timeline.owners": _BROKERS,
    "timeline.clocks": _PAST | _LOGS,
    "timeline.silences": _BROKERS | _PAST | {"logs of ZooKeeper"},
    "timeline.untyped": _BROKERS | {"logs of ZooKeeper", "logs of clients"},
    "loss.cut_ranges": _LOGS,
    "loss.replicas_agree": frozenset({"segments", "log dirs"}),
    "loss.price_of_election": _LEADERS,
    "loss.unprocessed": frozenset({"ledgers"}),
    "loss.ledger": frozenset({"ledgers"}),
    "loss.lost": _RECORDS,
    "loss.outside_every_window": frozenset({"ledgers", "segments"}),
    "loss.looked_everywhere": _RECORDS,
    "loss.stored_though_failed": _RECORDS,
    "durability.acknowledged": frozenset({"assignments"}) | _SETTINGS | _CLIENTS,
    "durability.single_copy": frozenset({"assignments"}),
    "durability.cut_to_high_watermark": frozenset({"assignments"}) | _DEFAULTS,
    "durability.in_short": frozenset({"assignments"}) | _SETTINGS,
    "durability.offsets_copies": frozenset({"assignments"}),
    "durability.transaction_copies": frozenset({"assignments"}),
    "durability.one_rack": frozenset({"broker ids", "assignments"}),
    "durability.exposure": frozenset({"assignments", "states"}),
    "durability.brokers_agree": _DEFAULTS,
    "durability.isr_alone": _PAST,
    "durability.clients": _CLIENTS,
}
"""By check. What is no key of it may be ``ok`` without: ``evidence.kafka_version`` is said with where it is known from."""

_OF_WHAT_WAS_GIVEN = frozenset(
    {"evidence.decoded", "coordinators.log_lines", "timeline.owners", "timeline.clocks", "timeline.untyped"}
)
"""Checks that ask about the evidence itself: what nobody gave is not asked about, unless nothing else is left."""
_ALL_OF_IT = ("all logs", "logs of brokers", "znodes")
_SILENT = ("cleaner logs", "empty")
"""A cleaner with nothing to do says nothing."""
_EMPTY = "The offsets topic is empty"
_OF_TITLES = {
    _EMPTY: frozenset({"log dirs"}),
    "D23: Every producer has acks=all": _CLIENTS,
}
"""What an answer rests on that says so itself: of an empty topic no byte is read, and with acks=all any leader may go."""


def is_reported(kind: str, way: str, whole: Iterable[Finding]) -> bool:
    """Whether a run of a notebook must not end in exit code 0: it was given what it asks for, and could not read it.

    Args:
        whole: What the notebook says to the whole case: what it does not answer there, it does not ask.
    """
    if way == "left out" or (kind.removesuffix(ONE), way) == _SILENT:
        return False
    arising = (finding.check for finding in whole if finding.status in (Status.OK, Status.FINDING))
    asked = frozenset().union(*(NEEDS.get(check, frozenset()) for check in arising))
    return way in ("denied", "torn") or bool(asked & lost(kind))


def prints_settings(folder: Path) -> bool:
    """Whether the logs of a case tell what its brokers were started with, of all whose files it lacks."""
    case = Case.open(folder)
    brokers = {path.split("/")[1] for path in case.items if path.startswith("brokers/")}
    return brokers <= {str(broker) for broker in (*case.server_properties(), *case.printed_settings())}


def lacks(finding: Finding, kind: str, way: str, *, printed: bool) -> bool:
    """Whether an ``ok`` rests on what a lesser case lacks.

    Args:
        printed: Of :func:`prints_settings`.
    """
    if finding.check in _OF_WHAT_WAS_GIVEN and way == "left out" and kind not in _ALL_OF_IT:
        return False
    if (kind.removesuffix(ONE), way) == _SILENT:
        return False
    if (finding.check, kind, way) == ("timeline.two_leaders", "history", "left out"):
        return False  # where nobody gave one, the logs of all brokers tell of every election
    if (kind, way) == ("client files", "left out") and finding.coverage.seen:
        return False  # it is said of those clients, with their number, whose own logs print their settings
    if finding.title.startswith(_EMPTY) and kind.endswith(ONE):
        return False  # it is said where the copy of every coordinator is listed, with how many are
    of_title = (needed for title, needed in _OF_TITLES.items() if finding.title.startswith(title))
    needed = next(of_title, NEEDS.get(finding.check, frozenset()))
    return bool(needed & lost(kind) - (_DEFAULTS if printed else frozenset()))
