"""Replay of the election rules with other live brokers. Nothing is sent to the cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

from casebook.errors import UsageError
from casebook.facts.cluster import Cluster, PartitionState
from casebook.findings.finding import Severity
from casebook.findings.words import count, plural
from casebook.kafka import controller
from casebook.kafka.election_rules import ElectionRules
from casebook.kafka.partitions import ids
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.verdict import OFFLINE, PartitionCondition, Verdict
from casebook.questions.leadership.analysis.empty_copies import Lacking

UNCLEAN = ("as_configured", "on", "off")
EVIDENCE = "evidence"
NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposition:
    """Assumptions of a replay.

    Args:
        alive: Brokers assumed alive.
        unclean: ``as_configured``, ``on`` or ``off``.
        ahead: Broker assumed to have every record; ``None`` for no assumption.
    """

    alive: frozenset[int]
    unclean: str = "as_configured"
    ahead: int | None = None

    def parameters(self) -> dict[str, str]:
        """Return the equivalent notebook parameters."""
        return {
            "alive": ",".join(map(str, sorted(self.alive))) or NONE,
            "unclean": self.unclean,
            "ahead": NONE if self.ahead is None else str(self.ahead),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """A row of ``tables/what_if``: a partition that changes, or that stays without a leader.

    A leader that stays named though dead counts as none.

    Columns:
        topic: Topic name.
        partition: Partition number.
        leader_before: Leader in the evidence; null for none.
        leader_before_dead: That leader is not registered.
        leader_after: Leader after; null for none.
        isr_before: In-sync replicas in the evidence.
        isr_after: In-sync replicas after.
        healed: Had no living leader and gets one whose log dirs hold it, as far as they were listed.
        offline: Has no living leader after.
        unclean: Its leader comes from an unclean election.
        dropped: Records that are dropped; null for an unknown number.
        why: One short sentence.
    """

    topic: str
    partition: int
    leader_before: int | None
    leader_before_dead: bool
    leader_after: int | None
    isr_before: tuple[int, ...] | None
    isr_after: tuple[int, ...] | None
    healed: bool
    offline: bool
    unclean: bool
    dropped: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Result of a replay.

    Args:
        alive: Brokers assumed alive.
        evidence_alive: Registered brokers in the evidence.
        unclean: ``as_configured``, ``on`` or ``off``.
        ahead: Broker assumed to have every record; ``None`` for no assumption.
        severity: Severity after; ``None`` for ok.
        title: Result in one sentence.
        counts: (label, in the evidence, in the replay, note); a count of ``None`` is unknown.
        changes: Partitions that change or stay without a leader, offline ones first.
        parameters: Equivalent notebook parameters.
    """

    alive: tuple[int, ...]
    evidence_alive: tuple[int, ...]
    unclean: str
    ahead: int | None
    severity: Severity | None
    title: str
    counts: tuple[tuple[str, int | None, int | None, str], ...]
    changes: tuple[PartitionChange, ...]
    parameters: Mapping[str, str]


def suppose(
    cluster: Cluster, known: Iterable[int], *, alive: str = EVIDENCE, unclean: str = "as_configured", ahead: str = NONE
) -> Supposition:
    """Parse the parameters of a replay.

    Args:
        known: Brokers that are registered or in an assignment.
        alive: ``evidence``, ``none``, or comma-separated broker ids.
        unclean: ``as_configured``, ``on`` or ``off``.
        ahead: ``none`` or a broker id.

    Raises:
        UsageError: A text is invalid, or names an unknown broker.
    """
    known = sorted(set(known))
    if unclean not in UNCLEAN:
        raise UsageError(f"unclean={unclean} is unknown.", try_=f"Known: {', '.join(UNCLEAN)}.")
    if alive == EVIDENCE:
        chosen = cluster.live
    else:
        chosen = frozenset(_broker(text, "alive", known) for text in alive.split(",")) if alive != NONE else frozenset()
    return Supposition(alive=chosen, unclean=unclean, ahead=None if ahead == NONE else _broker(ahead, "ahead", known))


def _broker(text: str, name: str, known: list[int]) -> int:
    for broker in known:
        if text.strip() == str(broker):
            return broker
    raise UsageError(f"{name}: {text.strip()!r} is not a broker of this case.", try_=f"Brokers: {ids(known)}.")


def replay(
    cluster: Cluster, version: KafkaVersion, verdicts: Iterable[Verdict], supposed: Supposition, lacking: Lacking = frozenset()
) -> WhatIf:
    """Replay the election rules with other brokers alive.

    First the removed brokers fail, together; then the added ones register. When the order of events decides the outcome, the
    first by ISR is used. A leader elected with an empty log heals nothing: the others truncate to it.

    Args:
        lacking: Result of :func:`casebook.questions.leadership.analysis.empty_copies.lacking`.
    """
    verdicts = tuple(verdicts)
    events = _Events(cluster, version, verdicts, supposed)
    replayed = [events.replay(verdict) for verdict in verdicts]
    changes = sorted(
        (
            change
            for verdict, after in zip(verdicts, replayed, strict=True)
            if (change := _change(verdict, after, supposed, lacking))
        ),
        key=lambda change: (not change.offline, not change.unclean, not change.healed, change.topic, change.partition),
    )
    counts = _counts(cluster, verdicts, replayed, changes, supposed)
    return WhatIf(
        alive=tuple(sorted(supposed.alive)),
        evidence_alive=tuple(sorted(cluster.live)),
        unclean=supposed.unclean,
        ahead=supposed.ahead,
        severity=_severity(changes, counts, verdicts),
        title=_title(changes, verdicts),
        counts=counts,
        changes=tuple(changes),
        parameters=supposed.parameters(),
    )


class _After(NamedTuple):
    """A partition after the events; ``leader`` is ``None`` also when a dead one stays named."""

    leader: int | None
    isr: tuple[int, ...] | None
    caught_up: int | None
    unclean: bool = False


class _Events:
    """Brokers that fail and start between the evidence and the assumption."""

    def __init__(self, cluster: Cluster, version: KafkaVersion, verdicts: Iterable[Verdict], supposed: Supposition) -> None:
        self._supposed = supposed
        self._rules = cache(partial(ElectionRules, cluster, version))
        self._gone = cluster.live - supposed.alive
        self._come = supposed.alive - cluster.live
        self._left = cluster.live - self._gone
        elects = cluster.controller
        self._controller_died = not cluster.is_kraft and elects.readable and elects.broker not in self._left
        touched = {(v.topic, v.partition) for v in verdicts if self._touches(v)}
        self._states = {key: p.state for p in cluster.partitions if (key := (p.topic, p.partition)) in touched}

    def replay(self, verdict: Verdict) -> _After | None:
        """Return the partition after the events; ``None`` when unknown."""
        isr_unknown = verdict.isr is None and verdict.rule == "R11"
        if isr_unknown or verdict.state in (PartitionCondition.UNKNOWN, PartitionCondition.DELETING):
            return None
        key = verdict.topic, verdict.partition
        if key not in self._states:
            return _After(leader=verdict.leader, isr=verdict.isr, caught_up=self._caught_up(verdict, verdict.isr))
        after = self._elections(verdict, self._states[key])
        if after is None:
            return _After(leader=None, isr=None, caught_up=None)
        leader = after.leader if after.leader in self._supposed.alive else None
        elected = leader is not None and leader != verdict.leader
        unclean = elected and verdict.isr is not None and leader not in verdict.complete
        return _After(leader=leader, isr=after.isr, caught_up=self._caught_up(verdict, after.isr), unclean=unclean)

    def _touches(self, verdict: Verdict) -> bool:
        if verdict.state in OFFLINE or verdict.state is PartitionCondition.UNINITIALISED:
            return True
        return not self._gone.isdisjoint(verdict.isr or ()) or verdict.leader in self._gone

    def _elections(self, verdict: Verdict, state: PartitionState | None) -> controller.ElectionOutcome | None:
        unclean = {"on": True, "off": False}.get(self._supposed.unclean, bool(verdict.unclean_allowed))
        rules = self._rules(unclean=unclean, min_isr=verdict.min_isr)
        current: controller.State = state
        if self._gone and self._left:  # without live brokers nothing is written
            outcomes = rules.after_deaths(
                state, verdict.replicas, live=self._left, dead=self._gone, controller_died=self._controller_died
            )
            current = min(outcomes, key=lambda outcome: (outcome is None, outcome and (outcome.leader is None, outcome.isr)))
        if verdict.rule == "R5" and not self._controller_died:
            return controller.ElectionOutcome.of(current) if isinstance(current, PartitionState) else current
        return rules.after_start(current, verdict.replicas, live=self._supposed.alive, started=self._come, cleanly=False)

    def _caught_up(self, verdict: Verdict, isr: tuple[int, ...] | None) -> int | None:
        """Return the number of in-sync replicas after the started brokers have caught up."""
        if isr is None:
            return None
        return len(self._come.intersection(verdict.replicas).union(isr) - self._gone) or len(isr)


def _change(verdict: Verdict, after: _After | None, supposed: Supposition, lacking: Lacking) -> PartitionChange | None:
    if after is None:
        return None
    was_offline = verdict.state in OFFLINE or verdict.state is PartitionCondition.UNINITIALISED
    offline = after.leader is None
    if not offline and not was_offline and after.leader == verdict.leader and after.isr == verdict.isr:
        return None
    empty = (after.leader, verdict.topic, verdict.partition) in lacking
    return PartitionChange(
        topic=verdict.topic,
        partition=verdict.partition,
        leader_before=verdict.leader,
        leader_before_dead=verdict.state is PartitionCondition.LEADER_DEAD,
        leader_after=after.leader,
        isr_before=verdict.isr,
        isr_after=after.isr,
        healed=was_offline and not offline and not empty,
        offline=offline,
        unclean=after.unclean,
        dropped=0 if not (after.unclean or empty) or after.leader == supposed.ahead else None,
        why=f"{after.leader} leads, but its log dirs hold no segment of the partition"
        if empty
        else _why(verdict, after, supposed),
    )


def _why(verdict: Verdict, after: _After, supposed: Supposition) -> str:
    if after.leader is None:
        blocking = [r for r in (verdict.isr or verdict.replicas) if r not in supposed.alive]
        return f"blocked by {ids(blocking)}" if blocking else "no election is held"
    if after.unclean:
        return f"{after.leader} is alive, but was not in sync: unclean"
    if after.leader == verdict.leader:
        left = [r for r in verdict.isr or () if r not in (after.isr or ())]
        return (
            f"{ids(left)} {'leaves' if len(left) == 1 else 'leave'} the ISR" if left else f"{after.leader} is back and in the ISR"
        )
    skipped = (
        [r for r in verdict.replicas[: verdict.replicas.index(after.leader)] if r not in supposed.alive]
        if after.leader in verdict.replicas
        else []
    )
    if len(verdict.replicas) == 1:
        return "only replica"
    return (
        f"{ids(skipped)} dead, {after.leader} is next in the ISR"
        if skipped
        else f"{after.leader} is first in assignment, alive, in the ISR"
    )


def _counts(
    cluster: Cluster,
    verdicts: tuple[Verdict, ...],
    replayed: list[_After | None],
    changes: list[PartitionChange],
    supposed: Supposition,
) -> tuple[tuple[str, int | None, int | None, str], ...]:
    known = [(v, a) for v, a in zip(verdicts, replayed, strict=True) if a is not None]
    if not known:
        return tuple(
            (label, None, None, "") for label in ("Without leader", "Under min ISR", "Under-replicated", "Records dropped")
        )
    healed = sum(change.healed for change in changes)
    caught_up = "once caught up" if supposed.alive - cluster.live else ""
    dropped = None if any(change.dropped is None for change in changes) else 0
    unclean = sum(change.unclean for change in changes)
    empty = sum(change.dropped is None and not change.unclean for change in changes)
    new = sum(verdict.state is PartitionCondition.UNINITIALISED for verdict, _ in known)  # the checks count these separately
    note = f"{count(new)} of them never had a state; {count(healed)} healed" if new else f"{count(healed)} healed"
    rows: list[tuple[str, int | None, int | None, str]] = [
        ("Without leader", sum(_was_offline(v) for v, _ in known), sum(a.leader is None for _, a in known), note),
    ]
    for label, was, becomes in (
        ("Under min ISR", lambda v: bool(v.under_min_isr), _under_min_isr),
        ("Under-replicated", lambda v: bool(v.under_replicated), _short),
    ):
        before, after = [v for v, _ in known if was(v)], [a for v, a in known if becomes(v, a)]
        among = _leaderless_among(before, after)
        rows.append((label, len(before), len(after), "; ".join(filter(None, (among, caught_up)))))
    for broker in sorted(supposed.alive ^ cluster.live):
        before, after = (
            sum(x == broker for x in leaders) for leaders in zip(*((_led_by(v), a.leader) for v, a in known), strict=True)
        )
        rows.append((f"Led by broker {broker}", before, after, ""))
    elections = (
        plural(unclean, "unclean election") if unclean else "",
        f"{plural(empty, 'leader')} with an empty log" if empty else "",
    )
    rows.append(("Records dropped", 0, dropped, ", ".join(filter(None, elections)) or "clean elections only"))
    return tuple(rows)


def _leaderless_among(before: Sequence[Verdict], after: Sequence[_After]) -> str:
    """Return how many of those counted have no leader: the checks on in-sync replicas count only the others."""
    was, becomes = sum(_was_offline(verdict) for verdict in before), sum(one.leader is None for one in after)
    if not was and not becomes:
        return ""
    if (was, len(before)) == (becomes, len(after)):
        return f"{count(was)} of them without leader"
    return f"without leader: {count(was)} of {count(len(before))}, then {count(becomes)} of {count(len(after))}"


def _was_offline(verdict: Verdict) -> bool:
    return verdict.state in OFFLINE or verdict.state is PartitionCondition.UNINITIALISED


def _led_by(verdict: Verdict) -> int | None:
    return None if verdict.state in OFFLINE else verdict.leader


def _under_min_isr(verdict: Verdict, after: _After) -> bool:
    if after.leader is None:
        return True
    return verdict.min_isr is not None and after.caught_up is not None and after.caught_up < verdict.min_isr


def _short(verdict: Verdict, after: _After) -> bool:
    if after.leader == verdict.leader and after.isr == verdict.isr and not verdict.under_replicated:
        return False
    return after.caught_up is not None and after.caught_up < len(verdict.replicas)


def _severity(
    changes: list[PartitionChange], counts: Iterable[tuple[str, int | None, int | None, str]], verdicts: tuple[Verdict, ...]
) -> Severity | None:
    if any(change.offline for change in changes):
        return Severity.CRITICAL
    if not verdicts or _unjudged(verdicts) or any(change.dropped is None for change in changes):
        return Severity.WARNING
    return Severity.WARNING if any(label == "Under min ISR" and after for label, _, after, _ in counts) else None


def _unjudged(verdicts: tuple[Verdict, ...]) -> int:
    return sum(verdict.state is PartitionCondition.UNKNOWN for verdict in verdicts)


def _title(changes: list[PartitionChange], verdicts: tuple[Verdict, ...]) -> str:
    unjudged = _unjudged(verdicts)
    if unjudged == len(verdicts):
        return "No answer: no partition can be judged"
    offline, healed = sum(c.offline for c in changes), sum(c.healed for c in changes)
    lost = sum(c.offline and not (c.leader_before is None or c.leader_before_dead) for c in changes)
    unknown = sum(c.dropped is None for c in changes)
    partitions = "partition" if offline == 1 else "partitions"
    head = f"{offline} {partitions} still without leader" if offline and not lost else f"{offline} {partitions} without leader"
    if not offline:
        head = "Every partition that can be judged has a leader" if unjudged else "Every partition has a leader"
    records = f"records are dropped in {unknown}; how many is unknown" if unknown else "0 records dropped"
    return f"{head}; {healed} healed, {f'{lost} lost, ' if lost else ''}{records}"
