"""Checks over several runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from casebook.facts.cluster import instant
from casebook.facts.disks import OFFSETS_TOPIC, Partition
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.proofs import Proofs
from casebook.findings.finding import Coverage, Finding, Question, Severity, Step
from casebook.findings.past_runs import RUN_BEFORE, Measure, read_off
from casebook.findings.words import agree, count, duration, moment, plural, size
from casebook.questions.morning.analysis.measures import StateWrites
from casebook.questions.morning.analysis.run_line import RunLine

_DAY = 86_400_000
_GROWN, _DOUBLED, _GROWN_BYTES = 1.2, 2.0, 1 << 20
_FLAPS = 4
_SHOWN = 3
_MEASURES = (Evidence(file="tables/measures"),)
_PARTITIONS = (Evidence(file="tables/partitions"),)
_FIRST = "There is no earlier run to compare with"

Copy = tuple[int, int]
"""Partition of the offsets topic, and broker."""


def checks(
    line: RunLine, at: int | None, measures: Sequence[Measure], moves: Mapping[Partition, StateWrites] | None, proofs: Proofs
) -> tuple[Finding, ...]:
    """Return one finding per check.

    Args:
        line: Earlier runs.
        at: Time of the evidence, epoch ms; ``None`` when unknown.
        measures: Measures of this run.
        moves: Writes of each partition's state since the last run; ``None`` when unknown.
        proofs: Where this run's facts stand.
    """
    return (
        _run_before(line, at),
        _same_cluster(line, proofs),
        _growth(line, measures),
        _standing_still(line, measures),
        _flapping(line, at, moves),
        _controller(line, measures, proofs),
    )


def _run_before(line: RunLine, at: int | None) -> Finding:
    last = line.last
    ask = Question(
        check=RUN_BEFORE,
        question="With which run is this one compared?",
        coverage=Coverage.every(len(line.kept), "earlier run", Source.RUNS),
        threshold="runs missing or failed since then",
        facts={
            "run": last and last.name,
            "at": last and instant(last.at),
            "late": line.late,
            "failed": len(line.failed),
            "missing": list(line.missing),
        },
    )
    if at is None:
        settle = "Collect it again: case.json then says when."
        return ask.could_not_check("The case has no date, so nothing is compared", settle=settle)
    if last is None:
        return ask.not_applicable("This is the first kept run of this cluster: there is no earlier run")
    ago = _long(at - last.at)
    compared = f"Compared with the evidence of {moment(last.at)}, {ago} before"
    lacking = [*_lacking(line)]
    if not lacking:
        return ask.ok(compared, gaps=())
    return ask.found(
        Severity.INFO,
        f"{compared}: {'; '.join(lacking)}",
        why="Changes in between are not seen, and what is new may be older than it looks.",
        next=_look_at_scheduler(line),
    )


def _lacking(line: RunLine) -> Iterator[str]:
    if line.late:
        usual = f"they came every {_long(line.interval)}"
        yield f"{plural(line.late, 'run')} {agree(line.late, 'is', 'are')} missing since ({usual}), not made or removed"
    if line.failed:
        yield f"{plural(len(line.failed), 'run')} since did not complete"
    if line.missing:
        yield f"{plural(len(line.missing), 'earlier run')} {agree(len(line.missing), 'was', 'were')} removed"


def _look_at_scheduler(line: RunLine) -> tuple[Step, ...]:
    if line.failed:
        return (Step(kind="first", text=f"Check why {line.failed[-1].name} failed: {line.failed[-1].failed}"),)
    if line.late:
        return (Step(kind="first", text="Check whether the scheduler ran, and what it logged."),)
    return ()


def _same_cluster(line: RunLine, proofs: Proofs) -> Finding:
    ask = Question(
        check="since.same_cluster",
        question="Is it still the same cluster?",
        coverage=Coverage.every(len(line.kept), "earlier run", Source.RUNS, Source.ZNODES),
        threshold="another cluster id at the same address, or a controller epoch that went back",
        evidence=(proofs.controller_epoch,),
    )
    consequence = "Earlier runs are neither compared nor part of the trends."
    if line.another is not None:
        was = line.another.cluster
        known = f"id {was.id}" if was.id else f"ZooKeeper {was.address}"
        title = f"Another cluster answers at this address: until {moment(line.another.at)} it was one with {known}"
        return ask.found(Severity.WARNING, title, why=consequence, next=_made_anew())
    if line.made_anew is not None:
        epoch = line.made_anew.measured("controller_epoch")
        title = f"The cluster was set up again: its controller epoch was {count(int(epoch))} at {moment(line.made_anew.at)}"
        return ask.found(Severity.WARNING, title, why=consequence, next=_made_anew())
    if line.last is None:
        return ask.not_applicable(_FIRST)
    return ask.ok("It is the same cluster as in the previous run", gaps=())


def _made_anew() -> tuple[Step, ...]:
    text = (
        "Ask whether the cluster was set up again, or the name now points to another one. If neither is true, its "
        "ZooKeeper lost its data."
    )
    return (Step(kind="first", text=text),)


def _growth(line: RunLine, measures: Sequence[Measure]) -> Finding:
    now, before = _of_copies(measures, "bytes"), [_of_copies(run.measures, "bytes") for run in line.kept]
    hit = {copy: (_least(copy, before), size_) for copy, size_ in now.items() if _has_grown(copy, size_, before)}
    ask = Question(
        check="since.offsets_growth",
        question=f"Does a partition of {OFFSETS_TOPIC} grow?",
        coverage=Coverage.every(len(now), "copy", Source.LOG_DIRS, Source.RUNS, many="copies"),
        threshold="20 % and 1 MiB more than in any run before, or larger than ever and twice the size of the older half",
        facts={"brokers": sorted({broker for _, broker in hit}), "copies": _named(hit)},
        evidence=_MEASURES,
    )
    if hit:
        (partition, broker), (was, grown) = max(hit.items(), key=lambda found: found[1][1] - found[1][0])
        copies = f"{plural(len(hit), 'copy', 'copies')} of {OFFSETS_TOPIC} {agree(len(hit), 'has', 'have')}"
        return ask.found(
            Severity.WARNING,
            f"{copies} grown, most of all partition {partition} of broker {broker}: {size(int(was))} to {size(int(grown))}",
            why="The next load by a coordinator grows with it.",
            next=(
                Step(
                    kind="first",
                    text="Find what writes it, and whether it is still compacted.",
                    command=f"casebook run offsets_topic -p partition={partition}",
                ),
            ),
        )
    return _not_compared(ask, line, now) or ask.ok("No copy has grown that much", gaps=())


def _has_grown(copy: Copy, size_: float, before: Sequence[Mapping[Copy, float]]) -> bool:
    """Return whether it is larger than ever, which excludes a working cleaner's sawtooth; suddenly or gradually."""
    known = [run[copy] for run in before if copy in run]
    if not known or size_ <= max(known):
        return False
    older = max(known[: (len(known) + 1) // 2])
    at_once = size_ >= _GROWN * max(known) and size_ >= max(known) + _GROWN_BYTES
    return at_once or (size_ >= _DOUBLED * older and size_ >= older + _GROWN_BYTES)


def _least(copy: Copy, before: Sequence[Mapping[Copy, float]]) -> float:
    return min(run[copy] for run in before if copy in run)


def _not_compared(ask: Question, line: RunLine, now: Mapping[Copy, float]) -> Finding | None:
    """Return why copies could not be compared, all or some; ``None`` when they could."""
    if line.last is None:
        return ask.not_applicable(_FIRST)
    lacking = sorted(_of_copies(line.last.measures, "bytes").keys() - now.keys())
    if lacking:
        title = f"Of {plural(len(lacking), 'copy', 'copies')} in the previous run, no log dir is listed now"
        return ask.could_not_check(
            title, why=f"{_named(lacking)[0]}.", settle="Add the log dirs of every broker: --log-dirs BROKER=DIR."
        )
    return None if now else ask.not_applicable("No run has a copy")


def _standing_still(line: RunLine, measures: Sequence[Measure]) -> Finding:
    copies, now = _of_copies(measures, "bytes"), _dirty(measures)
    before = _dirty(line.last.measures) if line.last else {}
    due = {copy: point for copy, point in before.items() if copy in copies}
    hit = sorted(copy for copy, point in due.items() if copy in now and now[copy] == point)
    unknown = sorted(due.keys() - _of_copies(measures, "dirty_ratio").keys())
    ask = Question(
        check="since.cleaner_point",
        question=f"Does the cleaner checkpoint advance in {OFFSETS_TOPIC}?",
        coverage=Coverage.every(len(copies), "copy", Source.LOG_DIRS, Source.RUNS, many="copies"),
        threshold="dirtier than min.cleanable.dirty.ratio in both runs, and cleaned up to the same offset",
        facts={"brokers": sorted({broker for _, broker in hit}), "copies": _named(hit)},
        evidence=_MEASURES,
    )
    if not hit:
        if unknown:
            title = f"The dirty ratio of {plural(len(unknown), 'copy', 'copies')} is unknown now"
            settle = "Collect with --log-dirs BROKER=DIR and --properties BROKER=FILE."
            return ask.could_not_check(title, why=f"{_named(unknown)[0]} was due in the previous run.", settle=settle)
        return _not_compared(ask, line, copies) or ask.ok("Every copy that was due has been cleaned since", gaps=())
    first = ", ".join(f"{partition} of broker {broker}" for partition, broker in hit[:_SHOWN])
    return ask.found(
        Severity.WARNING,
        f"{plural(len(hit), 'copy', 'copies')} of {OFFSETS_TOPIC} {agree(len(hit), 'has', 'have')} been due and not "
        "compacted since the previous run",
        why=f"Partition {first}{' and others' if len(hit) > _SHOWN else ''}.",
        next=(Step(kind="first", text="Find why the cleaner does not advance.", command="casebook run offsets_topic"),),
    )


def _dirty(measures: Sequence[Measure]) -> dict[Copy, float | None]:
    """Return the cleaner point of each copy over its dirty ratio limit."""
    ratio, limit, point = (_of_copies(measures, name) for name in ("dirty_ratio", "limit", "cleaner_point"))
    return {copy: point.get(copy) for copy, dirty in ratio.items() if copy in limit and dirty > limit[copy]}


def _named(copies: Iterable[Copy]) -> list[str]:
    return [f"{OFFSETS_TOPIC}-{partition} of broker {broker}" for partition, broker in sorted(copies)]


def _of_copies(measures: Sequence[Measure], name: str) -> dict[Copy, float]:
    return {
        (one.partition, one.broker): one.value
        for one in measures
        if one.name == name and one.partition is not None and one.broker is not None and one.value is not None
    }


def _flapping(line: RunLine, at: int | None, moves: Mapping[Partition, StateWrites] | None) -> Finding:
    days = max(1.0, (at - line.last.at) / _DAY) if line.last and at is not None else 1.0
    hit = {partition: move.isr for partition, move in (moves or {}).items() if move.isr >= _FLAPS * days}
    worst = sorted(hit, key=lambda partition: (-hit[partition], partition))
    ask = Question(
        check="since.isr_flapping",
        question="Do replicas leave the ISR and return?",
        coverage=Coverage.every(len(moves or {}), "partition", Source.ZNODES, Source.RUNS),
        threshold=f"a leader changed its ISR {_FLAPS} times, and {_FLAPS} times a day",
        facts={"isr_flapping": len(hit), "changes": sum(hit.values()), "topics": sorted({topic for topic, _ in hit})},
        evidence=_PARTITIONS,
    )
    if line.last is None:
        return ask.not_applicable(_FIRST)
    if not moves:
        title = "The previous run did not keep its partitions" if moves is None else "No partition is in both runs"
        return ask.could_not_check(title, settle="Wait for the next run.")
    if not hit:
        most = plural(max(move.isr for move in moves.values()), "time")
        return ask.ok(f"No ISR changed {_FLAPS} times a day: at most {most} since", gaps=())
    (topic, partition), *_ = worst
    return ask.found(
        Severity.WARNING,
        f"The ISR of {plural(len(hit), 'partition')} changed {plural(sum(hit.values()), 'time')}, most often that of "
        f"{topic}-{partition}: {plural(hit[worst[0]], 'time')}",
        why=(
            "A follower that leaves and returns is slow, far away, or starved of resources. While it is out, new "
            "records have one copy fewer."
        ),
        next=(
            Step(
                kind="first",
                text="Find which replicas lag, and when.",
                command=f"casebook run incident_timeline -p topic={topic}",
            ),
        ),
    )


def _controller(line: RunLine, measures: Sequence[Measure], proofs: Proofs) -> Finding:
    now, before = (
        read_off(measures, ("controller_epoch", None, None)),
        line.last.measured("controller_epoch") if line.last else None,
    )
    changes = None if now is None or before is None else int(now - before)
    ask = Question(
        check="since.controller",
        question="Has the controller moved since the previous run?",
        coverage=Coverage(seen=int(now is not None), of=1, what="controller epoch", by=(Source.ZNODES, Source.RUNS)),
        threshold="a new epoch",
        facts={"changes": changes, "epoch": None if now is None else int(now)},
        evidence=(proofs.controller_epoch,),
    )
    if line.last is None:
        return ask.not_applicable(_FIRST)
    if changes is None:
        return ask.could_not_check("The controller epoch is unknown in one of the runs", settle="Collect with --zookeeper.")
    if not changes:
        return ask.ok(f"Epoch {count(int(now))}, as before", gaps=())
    return ask.found(
        Severity.INFO,
        f"{plural(changes, 'controller election')} since the previous run: epoch {count(int(before))} to {count(int(now))}",
        next=(Step(kind="first", text="Find why it moved.", command="casebook run incident_timeline"),),
    )


def _long(milliseconds: int) -> str:
    """Format days and hours."""
    hours = round(milliseconds / 3_600_000)
    return plural(round(hours / 24), "day") if hours >= 48 else plural(hours, "hour") if hours >= 2 else duration(milliseconds)
