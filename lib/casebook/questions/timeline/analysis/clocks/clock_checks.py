"""Check on clocks: wrong ones, by a zone or otherwise, steps during a log, and the parameter to set."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import NamedTuple

from casebook.facts.cluster import instant
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.finding import Step as Advice
from casebook.findings.proof import SHOWN, proof
from casebook.findings.words import agree, duration, plural
from casebook.kafka.past_rows import Clock, ClockStep, EventRow, Late
from casebook.questions.timeline.analysis.clocks import zones as timeline_zones
from casebook.questions.timeline.analysis.clocks.clocks import NEAR_ZONE, ZOOKEEPER, zone_back, zone_of
from casebook.questions.timeline.analysis.clocks.corrected import OFF
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.silences import COLLECT_HISTORY

_MEND = "Repair the time synchronisation of the hosts."
_SLEW = "Repair the time synchronisation of the hosts: a running clock must be slewed, not set."
_ONE_BY_ONE = "A file assembled from several out of order looks the same: pass them one by one."
_ORDERING = "Corrected times are used for ordering only; every row keeps the time that was printed."
_CALENDAR = 400 * 86_400_000
"""Maximum plausible error of a clock, a year; milliseconds."""
_LOCALE = "Check the broker's locale: the Thai calendar counts 543 years more (-Duser.language=en)."
_DOUBLED = "In the hour that repeats when summer time ends, each line was assigned by events elsewhere."
_APART = Advice(kind="first", text="Give each process its own log, and collect the logs again, each under its owner.")


class _Moved(NamedTuple):
    """A clock step with possible causes.

    Args:
        by: Milliseconds; ``None`` when unknown.
        zone: Multiple of a quarter of an hour, if it equals the step.
    """

    clock: Clock
    before: int | None
    step: ClockStep
    by: int | None
    zone: int | None


def clocks(scene: TimelineInputs) -> Finding:
    """Can times of different logs be compared?"""
    known = [clock for clock in scene.clocks if clock.skew is not None]
    unknown = [clock for clock in scene.clocks if clock.skew is None and clock.broker is not None]
    off = _of_known([clock for clock in known if abs(clock.skew) > OFF + clock.uncertainty])
    every = [one for clock in scene.clocks for one in _moved(clock)]
    moved = [one for one in every if not _doubled(scene, one)]
    mixed = [clock for clock in scene.clocks if clock.mixed is not None]
    zones = {**told(scene).others, **_zones(scene, off, moved)}
    ask = Question(
        check="timeline.clocks",
        question="Can times of different logs be compared?",
        coverage=Coverage.counted(len(known), len(known) + len(unknown), "clock", Source.LOGS, Source.HISTORY),
        threshold="a clock that is off by more than 1 s, or was set while its log was written",
        facts={
            "reference": scene.reference,
            "skew_ms": {clock.owner: clock.skew for clock in scene.clocks},
            "uncertainty_ms": {clock.owner: clock.uncertainty for clock in scene.clocks},
            "off": [clock.owner for clock in off],
            "set": {clock.owner: [step.skew for step in clock.steps] for clock in scene.clocks if clock.steps},
            "mixed": {clock.owner: clock.mixed for clock in mixed},
            "timezone": timeline_zones.typed(scene.timezone, zones) if zones else None,
        },
        caveats=(_ORDERING, *((_DOUBLED,) if len(moved) < len(every) else ())),
    )
    type_it = [Advice(kind="first", text="Run again with the zones that were found.", command=_command(ask))] if zones else []
    if mixed:
        return _mixed(ask, mixed)
    if moved:
        return _changed(ask, moved, type_it)
    if off:
        return _off(ask, off, scene.reference, type_it)
    if unknown or not known:
        whose = ", ".join(clock.owner for clock in unknown[:SHOWN])
        off_by = f"the {agree(len(unknown), 'clock', 'clocks')} of {whose} {agree(len(unknown), 'is', 'are')}"
        return ask.could_not_check(
            f"It is unknown how far {off_by if unknown else 'the clocks of the logs are'} off",
            why=" ".join(f"{clock.owner}: {clock.why}" for clock in unknown[:SHOWN]),
            settle=f"{COLLECT_HISTORY}.",
            next=tuple(type_it),
        )
    others = [clock for clock in known if clock.owner != scene.reference]
    if not others:
        lack = f"All times are those of {known[0].owner}: there is no other clock to compare with"
        names = ", ".join(sorted(set(zones.values())))
        lack += (
            f"; its times were read as {scene.timezone}, but its own lines show that it logged in {names} then" if zones else ""
        )
        return ask.could_not_check(lack, settle=f"{COLLECT_HISTORY}.", next=tuple(type_it))
    most = max(abs(clock.skew) + clock.uncertainty for clock in others)
    whose = f"The clock of {others[0].owner} agrees" if len(others) == 1 else f"All {plural(len(others), 'clock')} agree"
    return ask.ok(f"{whose} with {scene.reference} within {duration(most)}", gaps=_unclocked(scene))


def _of_known(clocks: Sequence[Clock]) -> Sequence[Clock]:
    """Exclude clocks of lines without a broker in brokers' logs: they belong to some broker, unless there is no other clock."""
    return [clock for clock in clocks if not clock.owner.startswith("brokers/")] or clocks


def _command(ask: Question) -> str:
    return f'casebook run incident_timeline -p timezone="{ask.facts["timezone"]}"'


def _zones(scene: TimelineInputs, off: Sequence[Clock], moved: Sequence[_Moved]) -> dict[int, str]:
    """Return the zone of each broker's log that differs from the given one: its name if it changes like a zone."""
    found = {}
    for one in moved:
        broker, before = one.clock.broker, _quarters(one.before)
        if broker is not None and one.zone is not None and before is not None:
            moments = ((one.step.left, before), (one.step.shown, before + one.zone))
            if name := timeline_zones.region(scene.timezone, broker, moments):
                found[broker] = name
    for clock in off:
        by = zone_of(clock.skew)
        if clock.broker is not None and by is not None and not clock.steps:
            rows = scene.of_broker(clock.broker).rows
            found[clock.broker] = timeline_zones.offset(scene.timezone, clock.broker, by, rows[-1].time if rows else 0)
    return found


class ZoneStatements(NamedTuple):
    """Zones that brokers' own lines reveal.

    Args:
        others: Zone of each broker whose log was read with another one.
        as_read: Brokers whose logs were read with their own zone.
    """

    others: Mapping[int, str]
    as_read: Set[int]


def told(scene: TimelineInputs) -> ZoneStatements:
    """Return the zones in brokers' own lines: in GC logs, and in lines with their epoch time.

    Not needed when ZooKeeper's clock shows it. A process has one zone for all its logs.
    """
    if scene.reference == ZOOKEEPER:
        return ZoneStatements({}, frozenset())
    writers: dict[str, set[int]] = defaultdict(set)
    for row in scene.rows:
        writers[row.file] |= {row.broker} - {None}
    moments: dict[int, list[tuple[int, timedelta]]] = defaultdict(list)
    for row in scene.kinds(("gc_pause", "clock_told")):
        for broker in writers[row.file] if row.broker is None else (row.broker,):  # one machine writes a file
            if (by := _printed_zone(scene, broker, row)) is not None:
                moments[broker].append((row.time, by))
    as_read = {broker for broker, own in moments.items() if timeline_zones.is_of(scene.timezone, broker, own)}
    found = {broker: timeline_zones.told(own) for broker, own in moments.items() if broker not in as_read}
    return ZoneStatements({broker: zone for broker, zone in found.items() if zone is not None}, as_read)


def _printed_zone(scene: TimelineInputs, broker: int, row: EventRow) -> timedelta | None:
    if row.time is None:
        return None
    if row.kind == "clock_told":
        ahead = row.time - row.number("epoch_ms")
        quarters = 0 if abs(ahead) <= NEAR_ZONE else zone_of(ahead)
        return None if quarters is None else timeline_zones.of(scene.timezone, broker, quarters, row.time)
    return datetime.strptime(row.fields["zone"], "%z").utcoffset() if "zone" in row.fields else None


def _quarters(skew: int | None) -> int | None:
    if skew is None:
        return None
    return 0 if abs(skew) <= OFF else zone_of(skew)


def _off(ask: Question, off: Sequence[Clock], reference: str, type_it: Sequence[Advice]) -> Finding:
    worst = max(off, key=lambda clock: abs(clock.skew))
    ahead = "ahead of" if worst.skew > 0 else "behind"
    years = abs(worst.skew) >= _CALENDAR
    which = ": it may log in another time zone" if worst.zone else ": it may count its years by another calendar" if years else ""
    wrong = any((not clock.zone or clock.broker is None) and abs(clock.skew) < _CALENDAR for clock in off)
    return ask.found(
        Severity.WARNING,
        f"{plural(len(off), 'clock')} {agree(len(off), 'is', 'are')} off by more than 1 s; {worst.owner} is "
        f"{duration(abs(worst.skew))} {ahead} {reference}{which}",
        why=" ".join(f"{clock.owner}: {clock.skew:+d} ms, give or take {clock.uncertainty}." for clock in off[:SHOWN]),
        next=(
            *type_it,
            *([Advice(kind="then" if type_it else "first", text=_MEND)] if wrong else ()),
            *([Advice(kind="first", text=_LOCALE)] if years else ()),
        ),
    )


def _unclocked(scene: TimelineInputs) -> coverage.Gaps:
    """Return clocks without a reference.

    Of a broker without a log, one with a possible late step, or all when compared only among each other.
    """
    gaps = coverage.logs(scene.files, scene.cluster, scene.brokers)
    gone = coverage.torn_history(scene.cluster) if scene.reference == ZOOKEEPER else coverage.history(scene.past, scene.cluster)
    late = (Gap(why=_late(clock.late), settle=coverage.COLLECT_LOGS) for clock in scene.clocks if clock.late is not None)
    return (*gone, *late, *gaps)


def _late(told: Late) -> str:
    return f"{told.proof} has a time {duration(told.by)} late: the clock was set forward before it, or it was logged late."


def _moved(clock: Clock) -> Iterator[_Moved]:
    for before, step in zip(clock.skews[:-1], clock.steps, strict=True):
        by = None if before is None or step.skew is None else step.skew - before
        yield _Moved(clock, before, step, by, _zone_change(step, by))


def _doubled(scene: TimelineInputs, one: _Moved) -> bool:
    return one.zone is not None and timeline_zones.doubled(
        scene.timezone, one.clock.broker, (one.step.left, one.step.shown), one.zone
    )


def _zone_change(step: ClockStep, by: int | None) -> int | None:
    """Return a multiple of a quarter of an hour, as for zone or daylight saving changes; without skews, from the two lines."""
    return zone_back(step) if by is None else zone_of(by)


def _changed(ask: Question, moved: Sequence[_Moved], type_it: Sequence[Advice]) -> Finding:
    first, others = moved[0], len({one.clock.owner for one in moved}) - 1
    also = f"; {plural(others, 'other clock')} changed as well" if others else ""
    by_zone = all(one.zone is not None for one in moved)
    joined = all(one.step.joined for one in moved)
    texts = [] if by_zone or joined else [_SLEW]
    texts += [_ONE_BY_ONE] if any(one.step.shown < one.step.left for one in moved) else []
    kinds = ("then",) * 2 if type_it else ("first", "then")
    advice = (*type_it, *(Advice(kind=kind, text=text) for kind, text in zip(kinds, texts, strict=False)))
    return ask.found(
        Severity.WARNING,
        f"{_what(first)}{also}",
        why=" ".join(f"{one.clock.owner}: {_described(one)}" for one in moved[:SHOWN]),
        evidence=tuple(proof(text) for one in moved[:SHOWN] for text in (one.step.before, one.step.after)),
        next=advice,
    )


def _what(one: _Moved) -> str:
    whose = one.clock.owner
    if one.step.joined:
        file = one.step.after.rpartition(":")[0]
        return f"{file} was assembled out of order, or the clock of {whose} was set {_by(one)}"
    if one.zone is not None:
        return f"The times of {whose} moved {_by(one)} while its log was written: its time zone changed, or daylight saving time"
    return f"The clock of {whose} was set {_by(one)} while its log was written"


def _by(one: _Moved) -> str:
    """Format the size of a step; a forward step is unknown without skews, as a pause may lie between the lines."""
    known = one.zone if one.zone is not None else one.by
    if known is not None:
        return f"{'forward' if known > 0 else 'back'} by {duration(abs(known))}"
    back = one.step.left - one.step.shown
    return f"back by {duration(back)} or more" if back > 0 else "by an unknown time"


def _described(one: _Moved) -> str:
    step = one.step
    was, then = ("by an unknown amount" if skew is None else f"{skew:+d} ms" for skew in (one.before, step.skew))
    unknown = "" if step.skew is not None else "; after that its lines could not be ordered among those of other logs"
    lines = f"{step.before} has {instant(step.left)}, {step.after} has {instant(step.shown)}"
    return f"{lines}; off by {was}, then {then}{unknown}."


def _mixed(ask: Question, mixed: Sequence[Clock]) -> Finding:
    first, others = mixed[0], len(mixed) - 1
    also = f", and so do {plural(others, 'other log')}" if others else ""
    return ask.found(
        Severity.WARNING,
        f"Two processes write the log of {first.owner}: their times differ by {duration(first.mixed)}{also}",
        why=first.why,
        evidence=tuple(proof(clock.mixed_proof) for clock in mixed[:SHOWN]),
        next=(_APART,),
    )
