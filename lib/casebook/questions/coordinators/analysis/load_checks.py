"""Checks on loads: waiting groups, endless loads, predicted ends."""

from collections.abc import Mapping, Sequence

from casebook.facts.cluster import instant
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import SHOWN, assumed
from casebook.findings.words import agree, brokers, clock, count, moment, plural
from casebook.kafka.load_rate import TimeRange
from casebook.kafka.releases import LOAD_TAKES_ANY_BATCH, LOADING_ANSWER
from casebook.kafka.settings import BUILT_IN_ASSUMED, Settings
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue
from casebook.questions.coordinators.analysis.rows import Waiting
from casebook.questions.coordinators.analysis.scene import (
    COLLECT_LOGS,
    COLLECT_SIZES,
    CoordinatorInputs,
    facts_of,
    known_groups,
    proofs,
    whom,
    within,
)
from casebook.questions.coordinators.analysis.served_at import served_at
from casebook.questions.coordinators.analysis.states import WAITING, CoordinatorState, load_buffer
from casebook.questions.timeline.analysis.scene import QUIET

SOON = 30_000
"""A wait that ends within this many ms after the evidence needs no action."""


def gaps(scene: CoordinatorInputs) -> coverage.Gaps:
    """Return why some loads may be unknown: unread coordinator logs, and partitions with an undecided state."""
    coordinating = {one.judged.coordinator for one in scene.partitions if one.judged.coordinator is not None} | scene.cluster.live
    unknown = within(scene.partitions, CoordinatorState.UNKNOWN, CoordinatorState.MOVED)
    untold = ()
    if unknown:
        why = f"The state of {count(len(unknown))} of {plural(len(scene.partitions), 'offsets partition')} is unknown."
        untold = (Gap(why=why, settle=COLLECT_LOGS),)
    return (*coverage.server_logs(scene.files, scene.cluster, coordinating), *untold, *coverage.partitions(scene.cluster))


def waiting(scene: CoordinatorInputs) -> Finding:
    """Which groups wait for their coordinator to load, and until when."""
    queues, version = scene.queues, scene.version.version
    hit, untold = loads(scene)
    logs = [queue for queue in queues if queue.log is not None and queue.log.ends is not None]
    busy = [queue for queue in queues if queue.loading is not None]
    partly = bool(untold or gaps(scene))
    ask = Question(
        check="coordinators.waiting",
        question="Which groups wait for their coordinator to load, and until when?",
        coverage=Coverage.counted(len(logs), len(queues), "broker", Source.LOGS),
        threshold="any partition that its coordinator has not loaded",
        facts=facts_of(hit) | _ends(hit, of_all=not partly) | {
            "unknown_partitions": [one.judged.partition for one in untold],
            "as_of": _as_of(scene),
        },
        evidence=proofs([*hit, *untold]),
        caveats=_ended_before(logs, scene.at),
    )  # fmt: skip
    if untold and not hit:
        return _in_a_hole(ask, untold)
    if not hit:
        if not logs:
            none = "Running loads are unknown: no log is of one broker alone"
            return ask.could_not_check(none, settle=COLLECT_LOGS)
        return ask.ok("No coordinator is loading, according to the logs", gaps=gaps(scene))
    if old := _not_known_since(hit, busy, scene.at):
        return _waited(ask, hit, old)
    waits = sum(len(one.groups) for one in hit)
    of_all = known_groups(hit) if scene.named else f"{count(waits)} of {plural(len(scene.groups), 'group')}"
    of = f"{of_all} cannot consume" if waits else f"{whom(hit)} not served yet"
    least = "At least " if partly else ""
    return ask.found(
        Severity.CRITICAL if _for_long(hit, scene.at) else Severity.WARNING,
        f"{least}{of}; {_until(hit, scene.at, of_all=not partly)}",
        why=f"{' '.join(_of_broker(queue) for queue in busy)} Clients are answered {LOADING_ANSWER.at(version)} meanwhile.",
        since=_since(hit),
        at_latest=partly,
    )


def _as_of(scene: CoordinatorInputs) -> dict[str, str]:
    """Return the time of each broker's last available line."""
    last: dict[int, int] = {}
    for file in scene.files:
        if file.broker is not None and file.last is not None and coverage.is_server_log(file):
            last[file.broker] = max(file.last, last.get(file.broker, file.last))
    return {str(broker): instant(at) for broker, at in sorted(last.items())}


def loads(scene: CoordinatorInputs) -> tuple[list[Waiting], list[Waiting]]:
    """Return waits for a load, and those that may be over: the end of their load may be in an unread log."""
    holed = {file.broker for file in scene.files if file.damage and coverage.is_server_log(file)}
    hit, untold = [], []
    for one in within(scene.partitions, *WAITING):
        ended = one.judged.coordinator in holed and one.judged.state is not CoordinatorState.LOADING_FOR_EVER
        (untold if ended else hit).append(one)
    return hit, untold


def _in_a_hole(ask: Question, untold: Sequence[Waiting]) -> Finding:
    whose = brokers(sorted({one.judged.coordinator for one in untold}))
    return ask.could_not_check(
        f"{whom(untold)} waited for a load; whether they still wait is unknown",
        why=f"Not all of the log of {whose} could be read: it may record the end of the load.",
        settle=COLLECT_LOGS,
        since=_since(untold),
    )


def is_outdated(scene: CoordinatorInputs) -> bool:
    """Return whether all loads in logs may be over: the logs end long before the evidence, or have holes."""
    busy = [queue for queue in scene.queues if queue.loading is not None]
    hit, untold = loads(scene)
    return bool(_not_known_since(hit, busy, scene.at) if hit else untold)


def _not_known_since(hit: Sequence[Waiting], busy: Sequence[BrokerQueue], at: int | None) -> list[BrokerQueue]:
    """Return loading brokers when all logs end so long before the evidence that every load may be over."""
    open_ = [one for one in hit if one.judged.state is CoordinatorState.LOADING_FOR_EVER]
    old = [queue for queue in busy if at and _is_silent(queue, at)]
    due = all(one.eta is None or one.eta.mid is None or one.eta.low <= at for one in hit) if at else False
    return old if busy and len(old) == len(busy) and due and not open_ else []


def _is_silent(queue: BrokerQueue, at: int) -> bool:
    """Return whether a loading broker's log ends before the evidence, or is silent for longer than its known loads."""
    if queue.log is None or queue.log.ends is None:
        return False
    seen = queue.log.last - (queue.loading.since or queue.log.last)
    return queue.log.ends < at or at - queue.log.last > max(seen, QUIET)


def _waited(ask: Question, hit: Sequence[Waiting], old: Sequence[BrokerQueue]) -> Finding:
    """Return the finding on the state at the end of the logs, which may be over."""
    ends = max(queue.log.last for queue in old)
    ended = f"when the log of {brokers(queue.broker for queue in old)} ended, at {moment(ends)}"
    return ask.could_not_check(
        f"{whom(hit)} waited for a load {ended}; whether they still wait is unknown",
        why=" ".join(_of_broker(queue) for queue in old),
        settle=COLLECT_LOGS,
        since=_since(hit),
    )


def _since(hit: Sequence[Waiting]) -> str | None:
    """Return the start of the first wait."""
    return instant(min((one.judged.since for one in hit if one.judged.since), default=None))


def last_end(hit: Sequence[Waiting]) -> TimeRange | None:
    """Return the end of the last wait with an estimate; ``None`` without any."""
    spans = [one.eta for one in hit if one.eta is not None and one.eta.mid is not None]
    highs = [span.high for span in spans]
    if not spans:
        return None
    return TimeRange(max(s.low for s in spans), max(s.mid for s in spans), None if None in highs else max(highs))


def _ends(hit: Sequence[Waiting], *, of_all: bool) -> dict[str, object]:
    """Return when the last one is served: for some, only a lower bound."""
    last = last_end(hit) or TimeRange(0, None, None)
    low = None if last.mid is None else last.low
    mid, high = (last.mid, last.high) if of_all and not _untimed(hit) else (None, None)
    bounds = {"eta_low": low, "eta": mid, "eta_high": high}
    return {name: None if value is None else instant(round(value)) for name, value in bounds.items()}


def _for_long(hit: Sequence[Waiting], at: int | None) -> bool:
    """Return whether any wait is too long to sit out: by its estimate, or without one by its duration so far."""
    return any(_long(one, at) for one in hit)


def _long(one: Waiting, at: int | None) -> bool:
    high, since = one.eta.high if one.eta else None, one.judged.since
    if one.judged.state is CoordinatorState.LOADING_FOR_EVER or at is None:
        return True
    if high is not None:
        return high > at + SOON
    return since is None or since < at - SOON


def _until(hit: Sequence[Waiting], at: int | None, *, of_all: bool) -> str:
    """Describe when the last of them is served."""
    endless = within(hit, CoordinatorState.LOADING_FOR_EVER)
    if endless:
        return f"partition {endless[0].judged.partition} never will be: its load does not end"
    last = last_end(hit)
    if last is None:
        return "the end is unknown"
    without = _untimed(hit)
    more = f"; {count(without)} without estimate" if without else ""
    which = "the last" if of_all else "of these, the last"
    return f"{which} {agree(len(hit), 'is', 'are')} served at {served_at(last, at)} UTC{more}"


def _untimed(hit: Sequence[Waiting]) -> int:
    return sum(one.eta is None or one.eta.mid is None for one in hit)


def _of_broker(queue: BrokerQueue) -> str:
    held = len(queue.queued)
    behind = f", {plural(held, 'other')} queued" if held else ""
    since = clock(instant(queue.loading.since))
    return f"Broker {queue.broker} loads partition {queue.loading.partition} since {since}{behind}."


def _ended_before(logs: Sequence[BrokerQueue], at: int | None) -> tuple[str, ...]:
    """List logs that end well before the rest of the evidence, and may have continued."""
    old = [queue for queue in logs if at is not None and queue.log.ends < at]
    said = [
        f"The log of broker {queue.broker} ends at {clock(instant(queue.log.ends))}, before the rest of the evidence."
        for queue in old
    ]
    return (*said, *(["Logs are assumed to reach to the end of the evidence."] if len(old) < len(logs) else ()))


def endless(scene: CoordinatorInputs) -> Finding:
    """Whether every load can end."""
    version = scene.version.version
    hit, loading = within(scene.partitions, CoordinatorState.LOADING_FOR_EVER), within(scene.partitions, CoordinatorState.LOADING)
    settings = Settings(scene.cluster, version)
    largest = scene.largest
    ask = Question(
        check="coordinators.loading_for_ever",
        question="Can every load come to an end?",
        coverage=Coverage.every(len(scene.partitions), "offsets partition", Source.LOGS),
        threshold="a batch larger than offsets.load.buffer.size, before 0.10.1",
        facts=facts_of(hit)
        | {
            "largest_batch": max(largest.values(), default=None) if hit or loading else None,
            "as_of": _as_of(scene),
        },
        evidence=proofs(hit),
        caveats=assumed(load_buffer(settings, one.judged.coordinator).origin for one in (*hit, *loading)),
    )
    if LOAD_TAKES_ANY_BATCH.at(version):
        return ask.not_applicable(
            f"Kafka {version} loads batches of any size", gaps=coverage.release(scene.version, LOAD_TAKES_ANY_BATCH)
        )
    if hit:
        one = hit[0].judged
        return ask.found(
            Severity.CRITICAL,
            f"The load of partition {one.partition} on broker {one.coordinator} never ends: {whom(hit)} wait in vain",
            why=one.why,
            since=instant(one.since),
        )
    if unread := [one for one in loading if load_buffer(settings, one.judged.coordinator).assumed]:
        return _buffer_unread(ask, unread, settings, largest)
    if open_ := unproven(scene):
        named = ", ".join(str(one.judged.partition) for one in open_[:SHOWN])
        return ask.could_not_check(
            f"Whether the load of partition {named} can end is unknown: its batches were not read",
            settle="Run notebook 40, or add the segments of the partition: its largest batch must fit the load buffer.",
        )
    well = "No load meets a batch larger than its buffer" if loading else "Nothing is being loaded"
    return ask.ok(well, gaps=gaps(scene))


def _buffer_unread(ask: Question, unread: Sequence[Waiting], settings: Settings, largest: Mapping[int, int]) -> Finding:
    """Return the finding on loads with unread batch sizes; with the worst case, when a batch is known."""
    named = ", ".join(str(one.judged.partition) for one in unread[:SHOWN])
    possible = [
        f"The largest batch of partition {one.judged.partition} has {count(batch)} bytes; the release's default buffer "
        f"is {count(buffer)}. With the default, the load never ends."
        for one in unread
        if (batch := largest.get(one.judged.partition)) is not None
        if (buffer := load_buffer(settings, one.judged.coordinator).number) is not None and batch > buffer
    ]
    whose = brokers(sorted({one.judged.coordinator for one in unread}))
    return ask.could_not_check(
        f"Whether the load of partition {named} can end is unknown: offsets.load.buffer.size of {whose} was not collected",
        why=" ".join(possible[:SHOWN]),
        settle=coverage.COLLECT_PROPERTIES,
    )


def unproven(scene: CoordinatorInputs) -> list[Waiting]:
    """Return running loads that may never end: batches or the buffer are unknown, and some release retries forever."""
    if LOAD_TAKES_ANY_BATCH.at(scene.version.version):
        return []
    settings = Settings(scene.cluster, scene.version.version)

    def will_end(one: Waiting) -> bool:
        is_read = load_buffer(settings, one.judged.coordinator).origin != BUILT_IN_ASSUMED
        return is_read and _fits(one, settings, scene.largest)

    return [one for one in within(scene.partitions, CoordinatorState.LOADING) if not will_end(one)]


def _fits(one: Waiting, settings: Settings, largest: Mapping[int, int]) -> bool:
    """Return whether no batch of the partition can exceed the load buffer."""
    buffer = load_buffer(settings, one.judged.coordinator).number
    work = one.judged.work
    known = largest.get(one.judged.partition, work.bytes if work else None)
    return buffer is not None and known is not None and known <= buffer


def foretold(scene: CoordinatorInputs) -> Finding:
    """Whether every wait has an estimate."""
    waits = within(scene.partitions, CoordinatorState.LOADING, CoordinatorState.QUEUED)
    without = [one for one in waits if one.eta is None or one.eta.mid is None]
    ask = Question(
        check="coordinators.foretold",
        question="When will every waiting group be served?",
        coverage=Coverage.counted(len(waits) - len(without), len(waits), "waiting partition", Source.LOGS),
        threshold="any wait without estimate",
        facts=facts_of(without),
        evidence=proofs(without),
    )
    if not waits:
        return ask.not_applicable("Nothing waits", gaps=gaps(scene))
    if not without:
        return ask.ok(f"There is an estimate for {plural(len(waits), 'waiting partition')}", gaps=gaps(scene))
    whys = list(dict.fromkeys(one.rests_on for one in without))
    return ask.could_not_check(
        f"{count(len(without))} of {plural(len(waits), 'waiting partition')} {agree(len(without), 'has', 'have')} no estimate",
        why=f"{'; '.join(whys[:3])}.".capitalize(),
        settle=COLLECT_SIZES,
    )
