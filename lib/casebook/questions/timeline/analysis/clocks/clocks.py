"""Skew of each clock from ZooKeeper's, from lines that are certainly before, or after, their event.

A line that announces a write is printed before the transaction, so its clock is ahead by at least their difference; one that
reports a write is printed after it, so its clock is ahead by at most that. The skew is between the two.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import median
from typing import NamedTuple

from casebook.facts.cluster import Cluster
from casebook.facts.events import Event, LogFile, owner_of
from casebook.findings.words import agree, duration, plural
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, ClockStep, Late
from casebook.questions.timeline.analysis.clocks.owners import FEW as FEW_NAMED
from casebook.questions.timeline.analysis.clocks.pairs import (
    FARTHEST,
    LATE,
    ZONE,
    Grade,
    Pair,
    Side,
    against_controller,
    against_znodes,
)
from casebook.questions.timeline.analysis.clocks.steps import PAUSE, ClockCut, cuts, two_writers
from casebook.questions.timeline.analysis.clocks.steps import stretch as number_of
from casebook.questions.timeline.analysis.clusters import Clusters

ZOOKEEPER = "ZooKeeper"
LEAST = 2
"""Minimum error of a clock, milliseconds: the time to print a line."""
FEW = 3
"""With so few bounds, outliers cannot be identified."""
ONE_SIDED = 20
"""Error with many bounds from one side only, milliseconds."""
STRAYS = 5
"""Number of close bounds below which a single one may be an outlier."""
MANY = 20
"""Number of lines among which some were printed immediately."""
CLOSE = 50
"""Maximum milliseconds between bounds that enclose the skew."""
SEEN = 200
"""Error when only the controller saw a registration, milliseconds: it may process it late."""
LATENESS = 1000
"""Error when a broker is only known to have received something, milliseconds: it may be late."""
USEFUL = 1000
"""Error from which on a skew must be twice as large to be used, milliseconds."""
NEAR_ZONE = 5000
"""Tolerance of a skew by a zone, milliseconds."""


class _Skew(NamedTuple):
    skew: int
    uncertainty: int


def owner(event: Event) -> str:
    """Return the owner of an entry's clock."""
    return owner_of(event.broker, event.file)


def clocks(cluster: Cluster, past: Past, events: Sequence[Event], files: Sequence[LogFile] = ()) -> tuple[str, tuple[Clock, ...]]:
    """Return the reference clock, and the skew of every other.

    Args:
        files: Show other writers of a file, for lines that are also in another one.
    """
    owners = {owner(event): event.broker for event in events if event.time is not None}
    owners |= {f"broker {stamp.broker}": stamp.broker for stamp in past.stamps}
    mixed = _mixed(events)
    events = [event for event in events if owner(event) not in mixed]
    clusters = Clusters(events, cluster.cluster_id)
    current = [event for event in events if clusters.is_current(event)]
    pairs = [pair for pair in against_znodes(cluster, past, current, owner) if pair.owner not in mixed]
    stretches = _Stretches(events, pairs)
    settled = _settled(pairs, stretches)
    vague = {stretch: skew for stretch, skew in settled.items() if _is_vague(skew)}
    found = {stretch: skew for stretch, skew in settled.items() if stretch not in vague}
    reference = ZOOKEEPER if found else _busiest_controller(events)
    if not found and reference:
        found = {Stretch(reference, 0): _Skew(0, 0)}
    lined = {stretches.of_pair(pair) for pair in pairs if pair.grade is not Grade.STAMP}
    anchors = {stretch: skew for stretch, skew in found.items() if stretch in lined} or found

    def ahead(event: Event) -> int | None:
        anchor = anchors.get(stretches.of(event))
        return None if anchor is None else anchor.skew

    torn = _is_torn(files)
    pairs += [pair for pair in against_controller(current, owner, ahead) if not (torn and pair.grade is Grade.LATE)]
    settled = _settled((pair for pair in pairs if stretches.of_pair(pair) not in anchors), stretches)
    late = {stretch: skew for stretch, skew in settled.items() if _is_vague(_applied(skew, reference))}
    vague |= late
    found |= {stretch: skew for stretch, skew in settled.items() if stretch not in late}
    by_owner: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_owner[pair.owner].append(pair)
    known = {stretch.owner for stretch in (*found, *vague)}
    beside = _beside(events, files, found, owners.keys() - known - stretches.cuts.keys())
    rows = []
    for name in sorted(owners, key=_order):
        first = Stretch(name, 0)
        clock = _clock(name, owners[name], found.get(first), reference, by_owner[name])
        if name in beside:
            skew, why = beside[name]
            clock = clock._replace(skew=skew.skew, uncertainty=skew.uncertainty, zone=True, why=why)
        if first in vague and first not in found:
            clock = clock._replace(why=_too_vague(vague[first]))
        if name in mixed:
            by, line = mixed[name]
            why = f"Two processes write {line.file}: their times differ by {duration(by)}. All are taken as printed."
            clock = clock._replace(why=why, mixed=by, mixed_proof=line.proof)
        cut = stretches.cuts.get(name, ())
        last = Stretch(name, len(cut))
        ended = [pair for pair in by_owner[name] if stretches.of_pair(pair) == last]
        rows.append(_with_steps(clock, cut, found)._replace(late=_late(ended, found.get(last))))
    return reference, tuple(rows)


def _beside(
    events: Iterable[Event], files: Iterable[LogFile], found: Mapping["Stretch", "_Skew"], unknown: Set[str]
) -> dict[str, tuple["_Skew", str]]:
    """Return the zone of a writer that shares a file with a writer in a known zone, and why: one machine writes one file."""
    writers: dict[str, set[str]] = defaultdict(set)
    for event in events:
        if event.time is not None:
            writers[event.file].add(owner(event))
    for file in files:
        writers[file.file].update(owner_of(broker, file.file) for broker, lines in file.speakers if lines >= FEW_NAMED)
    told: dict[str, dict[int, str]] = defaultdict(dict)
    for file, names in writers.items():
        for other in sorted(names - unknown):
            skew = found.get(Stretch(other, 0))
            zone = zone_of(skew.skew) if skew is not None else None
            for name in names & unknown if zone is not None else ():
                told[name][zone] = f"It writes {file} together with {other}, and in the same zone."
    return {name: (_Skew(*zones, LATENESS), *zones.values()) for name, zones in told.items() if len(zones) == 1}


def _mixed(events: Iterable[Event]) -> dict[str, tuple[int, Event]]:
    """Return logs of two processes with different times, by how much, and a line of the second: such a log has no clock."""
    lines: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.time is not None:
            lines[owner(event)].append(event)
    found = {name: two_writers(told) for name, told in lines.items()}
    return {name: two for name, two in found.items() if two is not None}


def _late(pairs: Iterable[Pair], skew: "_Skew | None") -> Late | None:
    """Return evidence of a late step forward: no later line shows that it was only late."""
    prompt = [pair for pair in pairs if pair.grade is Grade.PROMPT and pair.event is not None]
    if skew is None or not prompt:
        return None
    last = max(prompt, key=lambda pair: (pair.event.time, pair.event.file, pair.event.line))
    late = last.ahead - skew.skew
    return Late(last.event.time, late, last.event.proof) if late > LATE else None


def _is_vague(skew: "_Skew") -> bool:
    """Return whether a skew is too inexact to be used, except to detect a zone: it then moves no times."""
    return skew.uncertainty > USEFUL and (2 * skew.uncertainty > abs(skew.skew) or 2 * skew.uncertainty > ZONE)


def _too_vague(skew: "_Skew") -> str:
    return (
        f"It is off by {duration(abs(skew.skew))}, give or take {duration(skew.uncertainty)}: too uncertain to be used. "
        "Its times are taken as printed."
    )


class Stretch(NamedTuple):
    """Lines by one clock, between two steps; 0 is the first."""

    owner: str
    number: int


class _Stretches:
    """Finds the stretch of a line."""

    def __init__(self, events: Iterable[Event], pairs: Iterable[Pair]) -> None:
        lines: dict[str, list[Event]] = defaultdict(list)
        paired: dict[str, list[Pair]] = defaultdict(list)
        for event in events:
            if event.time is not None:
                lines[owner(event)].append(event)
        for pair in pairs:
            paired[pair.owner].append(pair)
        found = {name: cuts(told, paired[name]) for name, told in lines.items()}
        self.cuts: dict[str, Sequence[ClockCut]] = {name: cut for name, cut in found.items() if cut}

    def of(self, event: Event) -> Stretch:
        """Return the stretch of a line."""
        name = owner(event)
        return Stretch(name, number_of(self.cuts[name], event.file, event.line) if name in self.cuts else 0)

    def of_pair(self, pair: Pair) -> Stretch | None:
        """Return the stretch of a pair; ``None`` for a stamp by a clock with steps, whose position is unknown."""
        if pair.event is not None:
            return self.of(pair.event)
        return None if pair.owner in self.cuts else Stretch(pair.owner, 0)


def _with_steps(clock: Clock, cut: Sequence[ClockCut], found: Mapping[Stretch, _Skew]) -> Clock:
    """Add the steps of a clock, with the skew after each."""
    steps = []
    for place, one in enumerate(cut, start=1):
        skew = found.get(Stretch(clock.owner, place))
        known = (None, None) if skew is None else _applied(skew, clock.reference)
        if known[0] is not None and clock.skew is not None and not steps and abs(known[0] - clock.skew) <= LATENESS:
            continue  # all lines there have the same skew
        joined = one.joined and known[0] is None
        steps.append(ClockStep(one.before.proof, one.after.proof, one.before.time, one.after.time, *known, one.lines, joined))
    return clock._replace(steps=tuple(steps), why=" ".join((clock.why, *map(_set, steps))))


def _set(step: ClockStep) -> str:
    if step.joined:
        return f"Its lines from {step.after} on are earlier than those above: files assembled out of order, or a clock set back."
    known = "it is off by an unknown amount" if step.skew is None else f"it is ahead by {step.skew:+d} ms"
    return f"It was set between {step.before} and {step.after}; after that {known}."


def _order(name: str) -> tuple[bool, int, str]:
    text = name.removeprefix("broker ")
    return (text == name, int(text) if text.isdecimal() else 0, name)


def _is_torn(files: Iterable[LogFile]) -> bool:
    """Return whether lines of a broker are lost: a later line may be paired in place of a lost one."""
    return any(file.damage for file in files if file.broker is not None)


def _settled(pairs: Iterable[Pair], stretches: _Stretches) -> dict[Stretch, _Skew]:
    by_stretch: dict[Stretch, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if (stretch := stretches.of_pair(pair)) is not None:
            by_stretch[stretch].append(pair)
    settled = {stretch: _skew(found) for stretch, found in by_stretch.items()}
    return {stretch: skew for stretch, skew in settled.items() if skew is not None}


def _skew(pairs: Sequence[Pair]) -> _Skew | None:
    """Compute the skew from immediate lines; without useful ones, from stamps in znodes, which are independent of zones."""
    prompt = [pair for pair in pairs if pair.grade in (Grade.PROMPT, Grade.SEEN)]
    stamps = [pair for pair in pairs if pair.grade is Grade.STAMP]
    if prompt and all(pair.grade is Grade.SEEN for pair in prompt):
        return _seen(prompt)
    if prompt:
        found = _between(prompt)
        both = _between([*prompt, *(pair for pair in stamps if abs(pair.ahead - found.skew) <= CLOSE)])
        return both if both.uncertainty < found.uncertainty else found
    late = _heard(pairs)
    if len(late) >= FEW and ((least := late[0]) < 0 or (least >= ZONE and least % ZONE <= LATENESS)):
        return _Skew(least // ZONE * ZONE if least > 0 else least, LATENESS)
    return _between(stamps) if stamps else None


def _seen(pairs: Sequence[Pair]) -> _Skew:
    """Compute the skew from the controller's view: it may process a registration late, and the broker may print late."""
    values = [pair.ahead for pair in pairs]
    usual = round(median(values))
    farthest = max(abs(value - usual) for value in values)
    return _Skew(usual, farthest + (SEEN if len(values) > 1 else LATENESS))


def _heard(pairs: Iterable[Pair]) -> Sequence[int]:
    """Return upper bounds of a skew from received requests, in order, without outliers.

    A broker may receive late, so the lowest is only a bound, unless it received before anything was sent: then its clock is
    behind. One or two lines may be of another request.
    """
    return _without_strays(sorted(pair.ahead for pair in pairs if pair.grade is Grade.LATE and pair.side is Side.AFTER))


def _between(pairs: Sequence[Pair]) -> _Skew:
    """Rule: the skew is between the largest lower and the smallest upper bound, without those that contradict most others."""
    lowers = sorted(pair.ahead for pair in pairs if pair.side is Side.BEFORE)
    uppers = sorted(pair.ahead for pair in pairs if pair.side is Side.AFTER)
    kept_lowers, kept_uppers = _consistent(lowers, _without_strays(uppers))
    if 2 * (len(kept_lowers) + len(kept_uppers)) < len(pairs):
        return _middle([pair.ahead for pair in pairs])
    if kept_lowers and kept_uppers and kept_uppers[0] - kept_lowers[-1] <= CLOSE:
        lower, upper = kept_lowers[-1], kept_uppers[0]
        return _Skew(round((lower + upper) / 2), max(LEAST, (abs(upper - lower) + 1) // 2))
    if kept_uppers:
        doubt = _one_sided(len(kept_uppers), kept_uppers[len(kept_uppers) // 4] - kept_uppers[0])
        return _Skew(kept_uppers[0], min(doubt, kept_uppers[0] - kept_lowers[-1]) if kept_lowers else doubt)
    return _Skew(kept_lowers[-1], _one_sided(len(kept_lowers), kept_lowers[-1] - kept_lowers[-1 - len(kept_lowers) // 4]))


def _one_sided(bounds: int, spread: int) -> int:
    """Return how far the skew may be beyond the best of one-sided bounds: the fewer, the likelier all are late."""
    least = LATENESS if bounds < 2 else SEEN if bounds < MANY else ONE_SIDED
    return max(least, 2 * spread)


def _without_strays(uppers: Sequence[int]) -> Sequence[int]:
    """Remove bounds of mismatched lines: below most close ones, or isolated by seconds.

    An immediate line is hardly late: when most bounds are within a second, a few far below belong to another topic of that name,
    or to a rewritten state.
    """
    together = [bisect_right(uppers, upper + LATENESS) - place for place, upper in enumerate(uppers)]
    first = together.index(max(together)) if together else 0
    if STRAYS * first <= max(together, default=0):
        return uppers[first:]
    first = 0
    while len(uppers) - first > FEW and uppers[first + 1] - uppers[first] > LATENESS:
        first += 1
    return uppers[first:]


def _consistent(lowers: Sequence[int], uppers: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Remove bounds that contradict more others than contradict them: mismatched lines."""
    first, last = 0, len(lowers)
    while first < len(uppers) and last and lowers[last - 1] - uppers[first] > LEAST:
        above = last - bisect_right(lowers, uppers[first] + LEAST, 0, last)
        below = bisect_left(uppers, lowers[last - 1] - LEAST, first) - first
        if above >= below:
            first += 1
        else:
            last -= 1
    return lowers[:last], uppers[first:]


def _middle(values: Sequence[int]) -> _Skew:
    """Most bounds contradict each other: the clock was set."""
    ordered = sorted(values)
    spread = ordered[len(ordered) * 3 // 4] - ordered[len(ordered) // 4]
    return _Skew(round(median(ordered)), max(CLOSE, spread // 2))


def _busiest_controller(events: Iterable[Event]) -> str:
    counted: dict[int, int] = defaultdict(int)
    for event in events:
        if event.kind in ("broker_change", "broker_failure", "partition_changed", "leader_elected") and event.broker is not None:
            counted[event.broker] += 1
    return f"broker {max(counted, key=lambda broker: (counted[broker], -broker))}" if counted else ""


def _clock(name: str, broker: int | None, found: _Skew | None, reference: str, pairs: Sequence[Pair]) -> Clock:
    if name == reference:
        return Clock(
            name, broker, 0, 0, 0, reference, False, "It is the reference: there is no evidence of ZooKeeper's own clock."
        )
    if found is None:
        return Clock(name, broker, None, None, 0, reference, False, f"{_unknown(_heard(pairs))}; its times are taken as printed.")
    kinds = sorted({pair.what for pair in pairs})
    why = f"{plural(len(pairs), 'pair')}: {', '.join(kinds)}."
    applied = _applied(found, reference)
    if applied != found:
        why += f" The {duration(abs(found.skew))} found are no more than its uncertainty: its times are taken as printed."
    zone = zone_of(applied.skew) is not None
    return Clock(name, broker, applied.skew, applied.uncertainty, len(pairs), reference, zone, why)


def zone_of(skew: int) -> int | None:
    """Return the difference of two zones in milliseconds, a multiple of a quarter of an hour, if the skew equals it."""
    quarters = round(skew / ZONE) * ZONE
    return quarters if 0 < abs(quarters) <= FARTHEST and abs(skew - quarters) <= NEAR_ZONE else None


def zone_back(step: ClockStep) -> int | None:
    """Return the multiple of a quarter of an hour by which lines go back, like a zone change, without a skew; negative."""
    back = step.left - step.shown
    quarters = -(-back // ZONE) * ZONE
    return -quarters if back > 0 and quarters - back <= PAUSE and zone_of(quarters) is not None else None


def _unknown(late: Sequence[int]) -> str:
    if not late:
        return "None of its lines matches an event of known time"
    if late[0] < 0:
        lines = f"{plural(len(late), 'line')} about received messages {agree(len(late), 'shows', 'show')} it"
        return f"It may lag by {duration(-late[0])} or more, but only {lines}"
    return f"It is ahead by {duration(late[0])} at most, according to received messages"


def _applied(found: _Skew, reference: str) -> _Skew:
    """Without ZooKeeper use no skew when zero is possible: it would reorder lines without reason."""
    if reference != ZOOKEEPER and abs(found.skew) <= found.uncertainty:
        return _Skew(0, abs(found.skew) + found.uncertainty)
    return found
