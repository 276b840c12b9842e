"""Steps on coordinators and the cleaner: loads to await or fix, commits to read, brokers to restart."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.proof import START
from casebook.findings.words import agree, brokers, count, one_by_one, plural, size
from casebook.kafka.commands import Commands
from casebook.kafka.settings import Settings
from casebook.kafka.verdict import Verdict, online
from casebook.questions.coordinators.analysis import load_checks
from casebook.questions.coordinators.analysis.load_checks import is_outdated, last_end, unproven
from casebook.questions.coordinators.analysis.rows import Waiting
from casebook.questions.coordinators.analysis.scene import CoordinatorInputs, whom, within
from casebook.questions.coordinators.analysis.served_at import clock
from casebook.questions.coordinators.analysis.states import WAITING, CoordinatorState, load_buffer
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.maintenance.analysis.leftovers import LeftoverKind, leftovers
from casebook.questions.offsets_topic.analysis.cleaner import BLOCKED, BrokerCleaner, without_log_dir
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.triage.analysis.plan_rows import Act, PlanStep

_WAITING, _ENDLESS, _FAILED = "coordinators.waiting", "coordinators.loading_for_ever", "coordinators.failed"
_COMPACTED, _MAP = "offsets_topic.compacted", "offsets_topic.cleaner_map"
_LEFTOVER = "maintenance.unfinished_reassignments"
CHECKS = (_WAITING, _ENDLESS, _FAILED, _COMPACTED, _MAP, _LEFTOVER)
_NO_DELETION = (
    "Do not delete segments of __consumer_offsets by hand: commits disappear without an error. Try the deletion in "
    "notebook 40 first."
)


def failed(held: CoordinatorInputs) -> Iterator[PlanStep]:
    """Groups served from a failed load skip or repeat records until it is fixed."""
    if hit := within(held.partitions, CoordinatorState.FAILED):
        yield PlanStep(
            act=Act.STOP_CONSUMERS,
            text=f"Stop the consumers of {whom(hit)}: each new commit hides one that was not loaded.",
            checks=(_FAILED,),
            never=("Do not let consumers fall back to auto.offset.reset: they skip or repeat records.",),
        )


def loads_again(held: CoordinatorInputs) -> Iterator[PlanStep]:
    """Describe what follows a failed load."""
    if within(held.partitions, CoordinatorState.FAILED):
        text = "Read the true commits of these groups from the segments (notebook 40) before you change anything."
        yield PlanStep(act=Act.READ_COMMITS, text=text, checks=(_FAILED,))
        text = "Fix the cause that the load error names. Then move the leadership away and back: the partition is loaded again."
        yield PlanStep(act=Act.LOAD_AGAIN, text=text, checks=(_FAILED,))


def loads(held: CoordinatorInputs) -> Iterator[PlanStep]:
    """Fix an endless load; wait for a finite one; find out which it is."""
    sure, untold = load_checks.loads(held)
    hit, endless = sure or untold, within(held.partitions, CoordinatorState.LOADING_FOR_EVER)
    if endless:
        yield from _endless(held, endless)
        hit = [one for one in hit if one.judged.coordinator not in {e.judged.coordinator for e in endless}]
    if not hit:
        return
    busy = sorted({one.judged.coordinator for one in hit if one.judged.coordinator is not None})
    whose, last = brokers(busy), last_end(hit)
    is_timed = all(one.eta is not None and one.eta.high for one in hit)
    until = f"until {clock(last.high, held.at)} UTC" if is_timed and last and last.high else ""
    loading = f"{whose} {agree(len(busy), 'is', 'are')} still loading {whom(hit)}"
    never = (
        f"Do not restart {whose} meanwhile: the load starts again from zero, and all queued partitions wait again.",
        _NO_DELETION,
    )
    if is_outdated(held):
        text = (
            f"Collect the logs of {whose} again: {agree(len(busy), 'it was', 'they were')} loading {whom(hit)} when they ended."
        )
        yield PlanStep(act=Act.FIND_OUT, text=text, brokers=tuple(busy), checks=(_WAITING,), never=never)
        return
    if open_ := unproven(held):
        one = open_[0].judged
        known = f" If it ends, all groups are served by {clock(last.high, held.at)} UTC." if until else ""
        text = (
            f"Read the segments of {OFFSETS_TOPIC}-{one.partition} in notebook 50 before you wait for broker "
            f"{one.coordinator}. Kafka {held.version.version} never finishes a load with a batch larger than "
            f"offsets.load.buffer.size.{known}"
        )
        command = "casebook run group_coordinators"
        yield PlanStep(act=Act.FIND_OUT, text=text, brokers=tuple(busy), command=command, checks=(_WAITING,), never=never)
        return
    past = "If that time has passed, collect the logs again."
    text = f"Wait {until}: {loading}. {past}" if until else f"Wait for the loads to end, and collect the logs again: {loading}."
    yield PlanStep(act=Act.WAIT, text=text, brokers=tuple(busy), checks=(_WAITING,), never=never)


def _endless(held: CoordinatorInputs, hit: Sequence[Waiting]) -> Iterator[PlanStep]:
    largest, settings = held.largest, Settings(held.cluster, held.version.version)
    for one in hit:
        partition, broker = one.judged.partition, one.judged.coordinator
        batch, limit = largest.get(partition, 0), load_buffer(settings, broker).number or 0
        text = (
            f"Raise offsets.load.buffer.size in server.properties of every replica of {OFFSETS_TOPIC}-{partition}, then "
            f"restart broker {broker}. Its load never ends: a batch of {size(batch)} exceeds the buffer of "
            f"{size(limit)}."
        )
        yield PlanStep(
            act=Act.RESTART,
            text=text,
            brokers=() if broker is None else (broker,),
            command=f"offsets.load.buffer.size={1 << batch.bit_length()}",
            checks=(_ENDLESS, _WAITING, "offsets_topic.load_buffer"),
            never=(f"Do not restart broker {broker} unchanged: its load would stop at the same batch.", _NO_DELETION),
        )


def cleaner(lead: Leadership, held: CoordinatorInputs | None, topic: OffsetsTopic) -> Iterator[PlanStep]:
    """Make the cleaner work again; brokers restart last, and one by one."""
    rules = {copy.rule for copy in topic.partitions} or {without_log_dir(one)[0] for one in topic.cleaners}
    rule = next((rule for rule in BLOCKED if rule in rules), None)
    fits = [one for one in topic.cleaners if one.obstacles or one.died]
    if rule is None:
        yield from _buffers(fits, (_MAP,))
        return
    hit = _affected(rule, topic)
    never = () if held and within(held.partitions, *WAITING) else (_NO_DELETION,)
    checks = (_COMPACTED, _MAP) if rule in ("C3", "C5") else (_COMPACTED,)
    order = {
        "C1": ("Set cleanup.policy=compact for __consumer_offsets: without it, nothing cleans the topic.",
               Commands(lead.version.version, lead.cluster.connect).set("topics", OFFSETS_TOPIC, "cleanup.policy=compact")),
        "C2": (f"Set log.cleaner.enable=true in server.properties of {brokers(hit)}: their copies are not compacted.",
               "log.cleaner.enable=true"),
        "C4": (f"Search log-cleaner.log of {brokers(hit)} for the error before the partition was given up: on a damaged segment, "
               "the cleaner fails again after a restart, and the copy must be replaced from an in-sync replica.", None),
        "C10": ("Fix the cause of the exceptions in the cleaner's log (disk, file or another process): each clean "
                "fails on them.", None),
        "C6": ("Search log-cleaner.log for the reason why nothing was cleaned: server.log does not contain it.", None),
    }.get(rule)  # fmt: skip
    if order is not None:
        text, command = order
        yield PlanStep(act=Act.CONFIGURE, text=text, brokers=hit, command=command, checks=checks, never=never)
        never = ()
    for step in _buffers(fits, checks):
        yield replace(step, never=never)
        never = ()
    living = [broker for broker in hit if broker in lead.cluster.live or not lead.cluster.brokers_known]
    if rule in ("C2", "C3", "C4", "C5", "C10") and living:
        yield _restart(lead, living, checks, never)


def leftover(lead: Leadership) -> Iterator[PlanStep]:
    """Mention a leftover reassignment, which the next controller removes."""
    controller = lead.cluster.controller.broker
    ended = (LeftoverKind.NOTHING_TO_MOVE, LeftoverKind.UNKNOWN_PARTITION)
    if controller is not None and any(one.kind in ended for one in leftovers(lead.cluster)):
        text = (
            f"Restart broker {controller}, the controller, after all loads have ended: the next controller reads the "
            "reassignments again and drops the finished ones."
        )
        yield PlanStep(act=Act.RESTART, text=text, brokers=(controller,), command=START, checks=(_LEFTOVER,))


def _affected(rule: str, topic: OffsetsTopic) -> tuple[int, ...]:
    """Return the affected brokers: those with groups to serve and large copies come last."""
    copies = sorted((c for c in topic.partitions if c.rule == rule), key=lambda c: (bool(c.coordinator), c.bytes), reverse=True)
    of_copies = dict.fromkeys(copy.broker for copy in copies)
    return tuple(of_copies) or tuple(one.broker for one in topic.cleaners if without_log_dir(one)[0] == rule)


def _buffers(small: Sequence[BrokerCleaner], checks: tuple[str, ...]) -> Iterator[PlanStep]:
    """Set the size of too small maps, to the largest need of all."""
    known = [one for one in small if one.buffer_to_set is not None and one.least_buffer is not None]
    if known:
        most = max(known, key=lambda one: one.buffer_to_set)
        least = size(most.least_buffer)
        need = f"the map must hold {count(most.need)} offsets, that is {least}; the memory comes from the heap"
        whose = tuple(one.broker for one in known)
        yield PlanStep(
            act=Act.CONFIGURE,
            text=f"Raise log.cleaner.dedupe.buffer.size in server.properties of {brokers(whose)}: {need}.",
            brokers=whose,
            command=f"log.cleaner.dedupe.buffer.size={most.buffer_to_set}",
            checks=tuple(dict.fromkeys((*checks, _MAP))),
        )


def _restart(lead: Leadership, hit: Sequence[int], checks: tuple[str, ...], never: tuple[str, ...]) -> PlanStep:
    """Restart brokers, with the price: partitions that only they can serve are offline meanwhile."""
    alone = sum(_is_alone(verdict, hit, lead.cluster.live) for verdict in online(lead.verdicts))
    cost = f" {plural(alone, 'partition')} {agree(alone, 'is', 'are')} offline meanwhile: no other replica is in sync."
    text = (
        f"Restart {one_by_one(hit)} in a quiet hour, {'each ' if len(hit) > 1 else ''}after all loads have ended: the "
        f"new coordinators must load its offsets partitions first.{cost if alone else ''}"
    )
    return PlanStep(act=Act.RESTART, text=text, brokers=tuple(hit), command=START, checks=checks, never=never)


def _is_alone(verdict: Verdict, hit: Sequence[int], live: frozenset[int]) -> bool:
    return verdict.leader in hit and set(verdict.isr or ()) & live == {verdict.leader}
