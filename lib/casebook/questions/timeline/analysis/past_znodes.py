"""Outdated znodes from ZooKeeper's own files, when a log or a log dir has something newer."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from casebook.facts.cluster import Cluster, Partition, instant
from casebook.facts.disks import LogDir
from casebook.facts.evidence import Evidence
from casebook.facts.logged import Logged, LoggedEpoch, LoggedExpiry, LoggedRegistration
from casebook.facts.proofs import state_path
from casebook.facts.znodes import Znode, ZnodeChange
from casebook.findings.proof import proof
from casebook.findings.words import moment
from casebook.kafka.past_rows import transaction
from casebook.questions.timeline.analysis.clocks.pairs import FARTHEST
from casebook.questions.timeline.analysis.one_collection import ONE_COLLECTION, UNCHANGED, Apart, unknown_to_znodes
from casebook.questions.timeline.analysis.other_cluster import OtherCluster

_STATE = "/state"
_NO_LEADER = -1


class Ends(NamedTuple):
    """End of the znodes.

    Args:
        zxid: Last transaction in them.
        time: Its time, epoch ms.
        later: A state with another leader in the history, after the one in the znodes, with its transaction.
    """

    zxid: int
    time: int
    later: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """Znodes from ZooKeeper's own files that are proven to be outdated.

    Args:
        words: ``The znodes are older than the last start of broker 3``.
        why: Newer facts that they lack.
        evidence: Proofs.
    """

    words: str
    why: str
    evidence: tuple[Evidence, ...]
    settle: ClassVar[str] = "Add ZooKeeper's later transaction logs, or walk it: casebook collect --zookeeper HOST:2181."
    unless: ClassVar[str] = UNCHANGED


def outdated(
    found: Apart | OtherCluster | None,
    ends: Ends | None,
    told: Iterable[Logged],
    cluster: Cluster,
    log_dirs: Iterable[LogDir] = (),
) -> Outdated | None:
    """Return the proof that znodes from ZooKeeper's files are outdated; ``None`` without one.

    Args:
        found: Result of :func:`one_collection.apart`.
        ends: Result of :func:`last_transaction`.
        told: Facts from the brokers' logs.
        log_dirs: Listed log dirs.
    """
    told = tuple(told) if ends is not None else ()
    if ends is not None and ends.later is not None:
        path, zxid = ends.later
        why = f"Transaction 0x{zxid:x} wrote {path}; the znodes hold its earlier state."
        return Outdated(words="The znodes are older than ZooKeeper's history", why=why, evidence=(proof(transaction(zxid)),))
    starts = [one for one in told if isinstance(one, LoggedRegistration) and _is_behind(one, ends)]
    if starts:
        one = starts[-1]
        by = f"transaction 0x{one.zxid:x}" if one.zxid is not None else f"a line from {moment(one.printed)[:-4]}"
        why = f"{_last(ends)}; its log shows its registration with {by}."
        words = f"The znodes are older than the last start of broker {one.broker}"
        return Outdated(words=words, why=why, evidence=(proof(one.proof),))
    if later := _led_later(told, ends, cluster) or _ended_later(told, cluster) or _started_later(log_dirs, ends):
        return later
    if isinstance(found, Apart) and found.znodes_older and found.witness is not None:
        words = f"The znodes are older than the log dir of broker {found.witness.broker}"
        return Outdated(words=words, why=unknown_to_znodes(found.witness), evidence=(Evidence(file=found.witness.item),))
    return None


def _last(ends: Ends) -> str:
    return f"They end with transaction 0x{ends.zxid:x}, and their last dated write is from {moment(ends.time)}"


def _led_later(told: Iterable[Logged], ends: Ends | None, cluster: Cluster) -> Outdated | None:
    """Compare with controller epochs in logs, unless they are of a deleted ZooKeeper."""
    known = cluster.controller.epoch
    epochs = [one for one in told if isinstance(one, LoggedEpoch) and known is not None and one.epoch > known]
    if one := next((one for one in epochs if one.printed is not None and one.printed > ends.time - FARTHEST), None):
        why = f"They know controller epoch {known}; a log names epoch {one.epoch}."
        return Outdated(words=f"The znodes are older than controller epoch {one.epoch}", why=why, evidence=(proof(one.proof),))
    return None


def _ended_later(told: Iterable[Logged], cluster: Cluster) -> Outdated | None:
    """Compare with ended sessions whose registration is still in the znodes."""
    owners = {broker.stamp.session: broker.id for broker in cluster.brokers.values() if broker.stamp is not None}
    for one in told:
        if isinstance(one, LoggedExpiry) and one.session in owners:
            broker = owners[one.session]
            why = f"They hold broker {broker}'s registration of session 0x{one.session:x}, which ZooKeeper has ended since."
            words = f"The znodes are older than the end of broker {broker}'s session"
            return Outdated(words=words, why=why, evidence=(proof(one.proof),))
    return None


def _started_later(log_dirs: Iterable[LogDir], ends: Ends | None) -> Outdated | None:
    """Compare with ``meta.properties``, which a broker writes after its registration (``KafkaServer.scala@0.9.0.1..3.6.0``)."""
    limit = None if ends is None else instant(ends.time + ONE_COLLECTION)
    for log_dir in log_dirs if limit is not None else ():
        written = (log_dir.meta or {}).get("written", "")
        if written > limit:
            return Outdated(
                words=f"The znodes are older than the last start of broker {log_dir.broker}",
                why=f"{_last(ends)}; its meta.properties is of {moment(written)}.",
                evidence=(Evidence(file=f"brokers/{log_dir.broker}/log_dirs.json"),),
            )
    return None


def _is_behind(one: LoggedRegistration, ends: Ends) -> bool:
    """Return whether a broker registered after the last transaction in the znodes.

    Rule: by its transaction, unless the line is so old that it is of a deleted ZooKeeper; before 2.2, by a time that is later in
    any zone.
    """
    if one.zxid is not None:
        return one.zxid > ends.zxid and (one.printed is None or one.printed > ends.time - FARTHEST)
    return one.printed is not None and one.printed > ends.time + FARTHEST


def last_transaction(cluster: Cluster, changes: Iterable[ZnodeChange]) -> Ends | None:
    """Return the last known state of znodes and ZooKeeper's files; ``None`` without these files.

    Args:
        changes: History.
    """
    last, written = None, {}
    for change in changes:
        last = max(last or (0, 0), (change.zxid, change.time))
        written.update((one.path, one) for one in change.znodes if one.path.endswith(_STATE))
    if last is None:
        return None
    states = ((p, written.get(state_path(p.topic, p.partition))) for p in cluster.partitions)
    later = (known for partition, held in states if (known := _led_anew(partition, held)))
    stamps = (*(broker.stamp for broker in cluster.brokers.values()), *(p.state.stamp for p in cluster.partitions if p.state))
    known = (zxid for stamp in stamps if stamp is not None for zxid in (stamp.created_in, stamp.changed_in) if zxid is not None)
    return Ends(max((last[0], *known)), max(last[1], cluster.read_to or 0), next(later, None))


def _led_anew(partition: Partition, written: Znode | None) -> tuple[str, int] | None:
    """Return a partition's state in the history, with its transaction, if later and with another leader."""
    held = None if partition.state is None or partition.state.stamp is None else partition.state.stamp.changed_in
    zxid = None if written is None or written.stat is None else written.stat.mzxid
    if held is None or zxid is None or zxid <= held or not written.data:
        return None
    try:
        leader = json.loads(written.data)["leader"]
    except (ValueError, KeyError, TypeError):
        return None
    named = _NO_LEADER if partition.state.leader is None else partition.state.leader
    return None if leader == named else (written.path, zxid)
