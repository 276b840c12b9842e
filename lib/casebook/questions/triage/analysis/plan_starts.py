"""Steps on dead brokers: start order, what to save before, and which not to start."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.finding import Finding, Status
from casebook.findings.proof import SHOWN, START
from casebook.findings.words import agree, brokers, count, one_by_one, plural, some
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.verdict import PartitionCondition, Verdict, is_rule_unknown
from casebook.kafka.verdict import offline as offline_of
from casebook.kafka.verdict import online as online_of
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.analysis.start_first import StartChoice, elected_unclean, order
from casebook.questions.timeline.analysis.windows.unclean import CHECK as UNCLEAN
from casebook.questions.timeline.analysis.windows.unclean import is_led
from casebook.questions.triage.analysis.plan_rows import Act, PlanStep

_UNDER_MIN_ISR = "leadership.under_min_isr"
_HEALED = ("leadership.offline", "timeline.leaderless")
_SHORT = (
    "leadership.brokers",
    _UNDER_MIN_ISR,
    "leadership.under_replicated",
    "leadership.uninitialised",
    "maintenance.unregistered_replicas",
    "maintenance.unfinished_reassignments",
)
_ROOT = "timeline.root"
_NO_CONTROLLER = "leadership.controller"
_NO_COORDINATOR = "coordinators.leaderless"
CHECKS = (*_HEALED, *_SHORT, _NO_CONTROLLER, _NO_COORDINATOR, UNCLEAN)


def starts(lead: Leadership, past: Mapping[str, Finding]) -> Iterator[PlanStep]:
    """Start every dead broker that may be started, those that heal most first.

    Args:
        past: Findings from logs and history, by check.
    """
    if lead.outdated:
        return
    offline = offline_of(lead.verdicts)
    chosen = order(lead.start_first)
    never = list(_never(lead, offline, [choice.broker for choice in chosen]))
    danger = _Danger(lead, past.get(UNCLEAN), past.get(_ROOT))
    useless = {broker for broker, _ in lead.empty if not any(c.broker == broker for c in chosen)}
    yield from _find_data(lead)
    for place, choice in enumerate(chosen[:SHOWN]):
        yield from danger.save((choice.broker,))
        price = _price(offline, [one.broker for one in chosen[: place + 1]])
        yield _start_one(lead, choice, danger, price, never)
        never = []
    rest = tuple(choice.broker for choice in chosen[SHOWN:])
    others = tuple(sorted(set(lead.dead) - {choice.broker for choice in chosen} - useless))
    if rest:
        heals = sum(choice.heals for choice in chosen[SHOWN:])
        text = f"Start {one_by_one(rest)}: {plural(heals, 'more partition')} {agree(heals, 'elects', 'elect')} a leader."
        yield from danger.save(rest)
        yield PlanStep(
            act=Act.START,
            text=text + danger.price(rest),
            brokers=rest,
            command=START,
            checks=(*_HEALED, *_SHORT, *danger.asked(rest)),
        )
    unseen = sum(v.state is PartitionCondition.UNKNOWN and not set(others).isdisjoint(v.replicas) for v in lead.verdicts)
    unsure = sum(_may_elect_unclean(v, others) for v in offline)
    if unseen:
        text = (
            f"Collect the states of {plural(unseen, 'partition')} before you start {brokers(others)}: without them, the "
            "right order and its cost are unknown."
        )
        yield PlanStep(act=Act.FIND_OUT, text=text, brokers=others, checks=_SHORT, never=tuple(never))
        never = []
    elif unsure:
        text = (
            f"Find out whether unclean election is allowed for {plural(unsure, 'partition')} before you start "
            f"{brokers(others)}: an out-of-sync broker may be elected there and drop records."
        )
        yield PlanStep(act=Act.FIND_OUT, text=text, brokers=others, checks=(*_HEALED, *_SHORT), never=tuple(never))
        never = []
    elif others:
        yield from danger.save(others)
        text = f"Start {one_by_one(others)}: {agree(len(others), 'its', 'their')} replicas catch up by themselves."
        checks = (*_SHORT, *(_NO_CONTROLLER,) * (not chosen and _has_no_controller(lead)), *danger.asked(others))
        yield PlanStep(
            act=Act.START, text=text + danger.price(others), brokers=others, command=START, checks=checks, never=tuple(never)
        )
        never = []
    yield from _undecided(lead, offline, chosen, () if unseen else others, never)


def impossible(lead: Leadership) -> Iterator[PlanStep]:
    """Name topics that no start makes writable."""
    hit = {v.topic for v in online_of(lead.verdicts) if v.min_isr is not None and len(v.replicas) < v.min_isr}
    if hit:
        text = (
            f"Lower min.insync.replicas of {', '.join(sorted(hit)[:SHOWN])}, or add replicas: it exceeds the "
            "replication factor, so acks=all is refused."
        )
        yield PlanStep(act=Act.CONFIGURE, text=text, checks=(_UNDER_MIN_ISR,))


def _may_elect_unclean(verdict: Verdict, whom: Collection[int]) -> bool:
    """Return whether a partition may elect an out-of-sync one of these: the setting is unknown."""
    return verdict.unclean_allowed is None and any(broker in verdict.replicas for broker in whom)


def _price(offline: Sequence[Verdict], steps: Sequence[int]) -> str:
    """Describe what the last of these starts loses for good, or may: it is elected for partitions while lacking records."""
    said, broker = "", steps[-1]
    if unclean := set(elected_unclean(offline, steps)) - set(elected_unclean(offline, steps[:-1])):
        drops = agree(len(unclean), "elects it out of sync and drops", "elect it out of sync and drop")
        said += f" {count(len(unclean))} of these {drops} an unknown number of records."
    if unsure := sum(_may_elect_unclean(v, (broker,)) and broker not in (v.isr or ()) for v in offline):
        elect, drop = agree(unsure, "elects", "elect"), agree(unsure, "drops", "drop")
        said += f" It is unknown whether {plural(unsure, 'other')} {elect} it out of sync and {drop} records."
    return said


def _start_one(lead: Leadership, choice: StartChoice, danger: "_Danger", price: str, never: Sequence[str]) -> PlanStep:
    whom, more = (choice.broker,), "" if choice.step == 1 else "more "
    least = "at least " if any(map(is_rule_unknown, offline_of(lead.verdicts))) else ""
    heals = f"{least}{plural(choice.heals, f'{more}partition')} {agree(choice.heals, 'elects', 'elect')} a leader at once"
    checks = [*_HEALED, *_SHORT]
    checks += [_NO_CONTROLLER] * _has_no_controller(lead)
    checks += danger.asked(whom)
    checks += [_NO_COORDINATOR] * any(choice.broker in v.waits_for for v in lead.verdicts if v.topic == OFFSETS_TOPIC)
    return PlanStep(
        act=Act.START,
        text=f"Start broker {choice.broker}: {heals}.{price}{danger.price(whom)}",
        brokers=whom,
        command=START,
        checks=tuple(checks),
        never=tuple(never),
    )


def _has_no_controller(lead: Leadership) -> bool:
    controller, cluster = lead.cluster.controller, lead.cluster
    return controller.readable and (
        controller.broker is None or (cluster.brokers_known and controller.broker not in cluster.live)
    )


def _never(lead: Leadership, offline: Sequence[Verdict], steps: Sequence[int]) -> Iterator[str]:
    yield from _too_early(offline, steps)
    if could := sum(verdict.unclean_winner is not None for verdict in offline):
        price = f"it elects {count(could)} of {count(len(offline))} and drops an unknown number of records"
        yield f"Do not turn on unclean election: {price}.{_halts(lead.version.version)}"


def _too_early(offline: Sequence[Verdict], steps: Sequence[int]) -> Iterator[str]:
    """Yield brokers that must not start before others: they would be elected while lacking records of those."""
    unavoidable = set(elected_unclean(offline, steps))
    for broker in sorted({broker for verdict in offline for broker in verdict.waits_for}):
        others = [other for other in steps if other != broker]
        lost = [v for v in elected_unclean(offline, [broker, *others]) if v not in unavoidable]
        if lost:
            first = sorted({other for v in lost for other in v.waits_for if other in (v.isr or ())})
            named = f"{lost[0].topic}-{lost[0].partition}" + (f" and {count(len(lost) - 1)} more" if lost[1:] else "")
            price = f"{named} would elect it unclean, and acknowledged records that it lacks would be lost"
            yield f"Do not start broker {broker} before {brokers(first)}: {price}."


def _halts(version: KafkaVersion) -> str:
    """Up to 1.1 a returning leader with a longer log halts: ReplicaFetcherThread.scala@0.9.0.1, 1.1.1."""
    if version < KafkaVersion.parse("2.0.0"):
        return " On this release, old leaders can also halt when they return (log truncation is not allowed)."
    return ""


def _find_data(lead: Leadership) -> Iterator[PlanStep]:
    """An ISR member is elected as in sync, whatever its log contains."""
    for broker, missing in lead.empty:
        partitions = plural(missing, "offline partition")
        text = (
            f"Find the data of broker {broker} before you start it: its listed log dirs hold no segment of "
            f"{partitions}. If it starts like this, it leads {agree(missing, 'it', 'them')} with an empty log, and "
            "other replicas truncate theirs."
        )
        yield PlanStep(act=Act.FIND_DATA, text=text, brokers=(broker,), checks=(*_HEALED, *_SHORT))


def _undecided(
    lead: Leadership, offline: Sequence[Verdict], chosen: Sequence[StartChoice], asked: Collection[int], never: Sequence[str]
) -> Iterator[PlanStep]:
    """Yield steps when no start is known to heal: with unknown registrations, any ISR member may be the missing one.

    Args:
        asked: Brokers with an existing step to find out the effect of their start.
    """
    untold = [v for v in offline if is_rule_unknown(v) and not v.waits_for]
    by_isr = Counter(v.isr for v in untold if v.isr and not lead.cluster.brokers_known)
    for isr, partitions in by_isr.most_common(SHOWN):
        whose, are = agree(len(isr), "the in-sync replica", "the in-sync replicas"), agree(len(isr), "is", "are")
        start = agree(len(isr), "start it", "start any of them")
        price = f"{plural(partitions, 'partition')} {agree(partitions, 'elects', 'elect')} a leader then, and no record is lost"
        text = f"Check whether {brokers(isr)} ({whose}) {are} down; if so, {start}. {price}."
        yield PlanStep(act=Act.FIND_OUT, text=text, command=START, checks=_HEALED, never=tuple(never))
        never = ()
    if rest := sum(not _may_elect_unclean(v, asked) for v in untold) - sum(by_isr.values()):
        them = agree(rest, "it", "them")
        text = f"See the rule of {plural(rest, 'partition')} in notebook 20: what heals {them} is not known yet."
        yield PlanStep(act=Act.FIND_OUT, text=text, checks=_HEALED, never=tuple(never))
        never = ()
    lacking = sum(missing for _, missing in lead.empty)
    stuck = len(offline) - len(untold) - sum(choice.heals for choice in chosen) - lacking
    if stuck > 0:
        text = (
            f"See the rule of {plural(stuck, 'partition')} in notebook 20: starting a broker does not heal "
            f"{agree(stuck, 'it', 'them')}."
        )
        yield PlanStep(act=Act.FIND_OUT, text=text, checks=_HEALED, never=tuple(never))
        never = ()
    if _has_no_controller(lead) and not lead.dead:
        alive = lead.cluster.live or not lead.cluster.brokers_known
        first = "Wait one session timeout: a living broker becomes controller. Then collect again."
        first = first if alive else "Start the brokers: none is registered."
        text = f"{first} Without a controller no leader is elected."
        yield PlanStep(act=Act.WAIT if alive else Act.START, text=text, checks=(_NO_CONTROLLER,), never=tuple(never))


class _Danger:
    """Price of a start: the broker dies as before, or truncates unique records that a live leader lacks."""

    def __init__(self, lead: Leadership, unclean: Finding | None, root: Finding | None) -> None:
        self._ends_again: Mapping[str, str] = root.facts.get("ends_again", {}) if root is not None else {}
        known = unclean is not None and unclean.status is Status.FINDING
        self._copies: Mapping[str, Sequence[str]] = unclean.facts["copies"] if known else {}
        self._behind: Counter[int] = Counter()
        self._deleting = [v for v in lead.verdicts if v.state is PartitionCondition.DELETING]
        if unclean is None or unclean.status is Status.COULD_NOT_CHECK:
            self._behind = _behind(lead)

    def save(self, whom: Iterable[int]) -> Iterator[PlanStep]:
        """Yield what to save before brokers start."""
        for broker in whom:
            if copies := self._copies.get(str(broker)):
                named = some(copies, SHOWN, ", ", " and")
                follows = agree(
                    len(copies),
                    "its leader, it truncates its log, and the records",
                    "their leaders, it truncates its logs, and the records",
                )
                text = (
                    f"Back up {named} from broker {broker} before you start it: once it follows {follows} that only it "
                    "holds are lost."
                )
                yield PlanStep(act=Act.BACK_UP, text=text, brokers=(broker,), checks=(UNCLEAN, *_HEALED, *_SHORT))

    def asked(self, whom: Iterable[int]) -> list[str]:
        """Return the check with the data to save, if it concerns any of them."""
        return [UNCLEAN] if any(str(broker) in self._copies for broker in whom) else []

    def price(self, whom: Collection[int]) -> str:
        """Describe the price, or the possible price, of a start."""
        return f"{self._again(whom)}{self._deletions(whom)}{self._cuts(whom)}"

    def _again(self, whom: Collection[int]) -> str:
        causes = [self._ends_again[str(broker)] for broker in whom if str(broker) in self._ends_again]
        ends = agree(len(causes), "it ends", "they end")
        return (
            f" Before that, fix what ended {agree(len(causes), 'it', 'them')}, or {ends} again: {'; '.join(causes)}."
            if causes
            else ""
        )

    def _deletions(self, whom: Collection[int]) -> str:
        topics = sorted({v.topic for v in self._deleting if not set(whom).isdisjoint(set(v.replicas) - set(v.live_replicas))})
        return f" The deletion of {', '.join(topics[:SHOWN])} then completes and cannot be undone." if topics else ""

    def _cuts(self, whom: Collection[int]) -> str:
        copies = sum(self._behind[broker] for broker in whom)
        if not copies:
            return ""
        cuts = agree(len(whom), "It then truncates", "They then truncate")
        return (
            f" {cuts} {plural(copies, 'copy', 'copies')} to the logs of living leaders; whether records are lost by "
            "that is unknown."
        )


def _behind(lead: Leadership) -> "Counter[int]":
    """Count by broker its copies of partitions that a live broker leads without it."""
    found, dead = Counter[int](), frozenset(lead.dead)
    for partition in lead.cluster.partitions:
        if not dead.isdisjoint(partition.replicas) and is_led(lead.cluster, partition):
            found.update(dead.intersection(partition.replicas).difference(partition.state.isr))
    return found
