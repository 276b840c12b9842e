"""Checks on the log cleaner: is the offsets topic compacted, why not, and what to do, safest first."""

from collections.abc import Iterable, Iterator, Sequence

from casebook.facts.cluster import instant
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings import coverage
from casebook.findings.coverage import Gaps
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity, Step
from casebook.findings.proof import lines
from casebook.findings.words import agree, brokers, capitalised, count, moment, plural, size
from casebook.kafka.cleaner_map import Obstacle
from casebook.kafka.releases import CLEANER_FAILURE, CLEANER_MAP_RULE, VersionInUse
from casebook.questions.offsets_topic.analysis import cleaner_threads
from casebook.questions.offsets_topic.analysis.cleaner import BLOCKED, RULES, BrokerCleaner, death_in_words, without_log_dir
from casebook.questions.offsets_topic.analysis.cleaner_lives import names
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition

CLEANER_MAP = "offsets_topic.cleaner_map"
"""The only check here on every compacted topic."""

_UNKNOWN = "Whether the offsets topic is compacted is unknown"
_SHOWN = 5
_SEVERE = ("C2", "C3", "C5")
_SETTLE = (
    "Add the brokers' log-cleaner.log (--logs BROKER=GLOB), log dirs (--log-dirs BROKER=DIR) and server.properties "
    "(--properties BROKER=FILE)."
)


def compacted(
    version: VersionInUse,
    partitions: Sequence[OffsetsPartition],
    cleaners: Sequence[BrokerCleaner],
    unlisted: Gaps,
) -> Finding:
    """Is the offsets topic compacted?

    Args:
        unlisted: Why some copies, or cleaner logs, are unknown.
    """
    rules = {p.rule for p in partitions} or {without_log_dir(cleaner)[0] for cleaner in cleaners}
    blocked = [rule for rule in BLOCKED if rule in rules]
    ask = Question(
        check="offsets_topic.compacted",
        question="Is the offsets topic compacted, and if not, why?",
        coverage=Coverage.every(len(partitions), "copy", Source.LOG_DIRS, Source.LOGS, Source.ZNODES, many="copies"),
        threshold="a cleaner that is off, dead, or does not clean what is due",
        facts=_facts(partitions, cleaners, blocked),
        evidence=(*_lines(cleaners), Evidence(file="tables/offsets_partitions")),
        caveats=_caveats(cleaners),
    )
    if not rules or rules == {"C0"}:
        whys = [copy.why for copy in partitions] or [without_log_dir(cleaner)[1] for cleaner in cleaners]
        why = " ".join(list(dict.fromkeys(whys))[:1])
        return ask.could_not_check(_UNKNOWN, why=why, settle=_SETTLE)
    if not blocked:
        if "C7" in rules:
            behind = sum(p.rule == "C7" for p in partitions)
            title = f"The cleaner does not keep up with {plural(behind, 'copy', 'copies')}"
            return ask.found(Severity.WARNING, title, why=RULES["C7"])
        gaps = (*unlisted, *_unjudged(partitions, cleaners))
        if gaps and (not partitions or "C0" in rules or _failing(partitions, cleaners)):
            return ask.could_not_check(
                _unknown_of(partitions), why=" ".join(dict.fromkeys(gap.why for gap in gaps)), settle=gaps[0].settle
            )
        return ask.ok("The offsets topic is compacted as configured", gaps=gaps)
    rule = blocked[0]
    hit = [p for p in partitions if p.rule == rule]
    who = _responsible(rule, hit, cleaners)
    return ask.found(
        Severity.CRITICAL if rule in _SEVERE or any(p.bytes > 1 << 30 for p in hit) else Severity.WARNING,
        _title(rule, who, hit),
        why=f"{_why(rule, who, hit)} {RULES[rule]}",
        since=instant(_since(rule, who)),
        at_latest=bool(ask.facts["unknown_brokers"]),
        subject={"kind": "broker", "broker": who.broker} if who else {"kind": "cluster"},
        next=tuple(_steps(rule, version)),
    )


def _unknown_of(partitions: Sequence[OffsetsPartition]) -> str:
    unknown = sum(copy.rule == "C0" for copy in partitions)
    if not 0 < unknown < len(partitions):
        return _UNKNOWN
    which = f"{count(unknown)} of {plural(len(partitions), 'copy', 'copies')}"
    return f"Whether {which} of the offsets topic {agree(unknown, 'is', 'are')} compacted is unknown"


def _unjudged(partitions: Sequence[OffsetsPartition], cleaners: Sequence[BrokerCleaner]) -> Iterator[Gap]:
    """Yield copies without information on their cleaning, cleaners that may be dead, and those with assumed settings."""
    unknown = [copy for copy in partitions if copy.rule == "C0"]
    if unknown:
        first = unknown[0]
        why = f"For {plural(len(unknown), 'copy', 'copies')}, compaction could not be checked. {first.why}"
        yield Gap(why=why, settle=_SETTLE)
    own = {copy.broker for copy in partitions}
    for why, whose in _doubts([cleaner for cleaner in cleaners if cleaner.broker in own]).items():
        yield Gap(why=f"{capitalised(brokers(whose))}: {why}", settle=_SETTLE)
    if failing := _failing(partitions, cleaners):
        yield Gap(why=f"Broker {failing[0].broker}: {without_log_dir(failing[0])[1]}", settle=_SETTLE)
    used = [cleaner.settings for cleaner in cleaners if cleaner.broker in own]
    yield from coverage.settings(value.origin for one in used for value in (one.policy, one.enabled, one.ratio))


def _failing(partitions: Iterable[OffsetsPartition], cleaners: Iterable[BrokerCleaner]) -> list[BrokerCleaner]:
    """Return cleaners with failed cleans: whether they can clean by now is unknown."""
    own = {copy.broker for copy in partitions}
    return [cleaner for cleaner in cleaners if cleaner.broker in own and cleaner.failed]


def would_die(version: VersionInUse, cleaners: Sequence[BrokerCleaner], unlisted: Gaps) -> Finding:
    """Is there a segment that is too large for the cleaner?

    Args:
        unlisted: Why some copies of a compacted topic are unknown.
    """
    found = [(cleaner, obstacle) for cleaner in cleaners for obstacle in cleaner.obstacles]
    certain = [pair for pair in found if pair[1].certain]
    ask = Question(
        check=CLEANER_MAP,
        question="Does every segment, of any compacted topic, fit into the cleaner's offset map?",
        coverage=Coverage.every(len(cleaners), "broker", Source.LOG_DIRS, Source.SETTINGS),
        threshold=f"rule of {version.version}: {CLEANER_MAP_RULE.at(version.version)}",
        facts={
            "rule": CLEANER_MAP_RULE.at(version.version),
            "holds": {str(c.broker): None if c.settings.holds_assumed else c.holds for c in cleaners},
            "segments": [_name(obstacle) for _, obstacle in found[:_SHOWN]],
            "need": max((o.need for _, o in found if o.need), default=None),
        },
        evidence=lines([o.replica.item for _, o in found[:_SHOWN]]),
    )
    if not found:
        if CLEANER_MAP_RULE.at(version.version) == "partial":
            well = f"The cleaner of {version.version} cleans as far as its map reaches"
            return ask.not_applicable(well, gaps=coverage.release(version, CLEANER_MAP_RULE))
        return ask.ok("Every segment fits into the cleaner's map", gaps=(*unlisted, *_unmapped(cleaners)))
    founded = [pair for pair in found if pair[1].need is None or not pair[0].settings.holds_assumed]
    if not founded:
        return _may_not_fit(ask, found, unlisted)
    found, certain = founded, [pair for pair in certain if pair in founded]
    cleaner, obstacle = max(certain or found, key=lambda pair: pair[1].need or 0)
    failure = CLEANER_FAILURE.at(version.version)
    return ask.found(
        Severity.CRITICAL if certain and not (cleaner.died or cleaner.may_be_dead) else Severity.WARNING,
        _stops(found, cleaner, obstacle, certain=bool(certain)),
        since=instant(cleaner.dead_since) if _killed_by(cleaner, obstacle) else None,
        why=f"{_span(obstacle, cleaner)} In {version.version}, a cleaning error has this effect: {failure}.",
        subject={"kind": "broker", "broker": cleaner.broker},
    )


def _stops(found: Sequence[tuple[BrokerCleaner, Obstacle]], cleaner: BrokerCleaner, obstacle: Obstacle, *, certain: bool) -> str:
    """Describe the obstacle; one that has already stopped the cleaner is not announced."""
    segments = plural(len(found), "segment")
    if _killed_by(cleaner, obstacle):
        return (
            f"The cleaner of broker {cleaner.broker} {_death(cleaner)}, because of {segments} larger than its map: "
            f"{_name(obstacle)}"
        )
    ahead = "will stop, or has stopped," if cleaner.may_be_dead else "will stop"
    return f"{segments} {ahead if certain else 'may stop'} the cleaner of broker {cleaner.broker}, first {_name(obstacle)}"


def _killed_by(cleaner: BrokerCleaner, obstacle: Obstacle) -> bool:
    died = cleaner.died
    return died is not None and (died.topic, died.partition) == (obstacle.replica.topic, obstacle.replica.partition)


def _may_not_fit(ask: Question, found: Sequence[tuple[BrokerCleaner, Obstacle]], unlisted: Gaps) -> Finding:
    """Return segments that do not fit in a map of the default size, when its real size is unknown."""
    cleaner, obstacle = max(found, key=lambda pair: pair[1].need or 0)
    gaps = (*_unmapped([cleaner for cleaner, _ in found]), *unlisted)
    return ask.could_not_check(
        f"{plural(len(found), 'segment')} may stop the cleaner of broker {cleaner.broker}, first {_name(obstacle)}: the "
        "size of its map is unknown",
        why=" ".join((_span(obstacle, cleaner), *dict.fromkeys(gap.why for gap in gaps))),
        settle=gaps[0].settle,
    )


def _unmapped(cleaners: Sequence[BrokerCleaner]) -> Iterator[Gap]:
    """Yield cleaners with an unknown map size."""
    unknown = [cleaner.broker for cleaner in cleaners if cleaner.holds is None]
    if unknown:
        yield Gap(why=f"The capacity of the cleaner's map on {brokers(unknown)} is unknown.", settle=_SETTLE)
    sized = [cleaner.settings for cleaner in cleaners]
    yield from coverage.settings(value.origin for one in sized for value in (one.buffer, one.threads, one.load_factor))


_NOT_WELL = (*BLOCKED, "C7")


def _facts(
    partitions: Sequence[OffsetsPartition], cleaners: Sequence[BrokerCleaner], blocked: Sequence[str]
) -> dict[str, object]:
    dead = next((cleaner for cleaner in cleaners if cleaner.died), None)
    died = dead.died if dead else None
    ill = {p.broker for p in partitions if p.rule in _NOT_WELL}
    ill |= {cleaner.broker for cleaner in cleaners if without_log_dir(cleaner)[0] in _NOT_WELL}
    judged = {p.broker for p in partitions} - {p.broker for p in partitions if p.rule == "C0"}
    return {
        "rules_of_copies": sorted({p.rule for p in partitions}),
        "brokers": sorted(ill),
        "unknown_brokers": sorted({cleaner.broker for cleaner in cleaners} - ill - judged),
        "verdict": blocked[0] if blocked and not _may_be_dead(blocked[0], partitions, cleaners) else None,
        "died": instant(died.time) if died else None,
        "died_on": f"{died.topic}-{died.partition}" if died and died.topic is not None else None,
        "deaths": len(dead.deaths) if dead else None,
        "dead_since": instant(dead.dead_since) if dead else None,
        "failed_cleans": sum(len(cleaner.failed) for cleaner in cleaners) or None,
        "died_on_segment": died.number("segment") if died else None,
        "span": died.number("messages") if died else None,
        "slots": died.number("slots") if died else None,
        "least_buffer": dead.least_buffer if dead else None,
        "buffer_to_set": dead.buffer_to_set if dead else None,
    }


def _may_be_dead(rule: str, partitions: Sequence[OffsetsPartition], cleaners: Iterable[BrokerCleaner]) -> bool:
    """Return whether a predicted failure may have happened, as its log was not read, or not for that moment."""
    hit = {p.broker for p in partitions if p.rule == rule}
    return rule == "C5" and any(cleaner.may_be_dead for cleaner in cleaners if cleaner.broker in hit)


def _responsible(rule: str, hit: Sequence[OffsetsPartition], cleaners: Sequence[BrokerCleaner]) -> BrokerCleaner | None:
    by_id = {cleaner.broker: cleaner for cleaner in cleaners}
    if hit:
        return by_id.get(max(hit, key=lambda p: (bool(p.coordinator), p.bytes)).broker)
    return next((cleaner for cleaner in cleaners if without_log_dir(cleaner)[0] == rule), None)


def _title(rule: str, who: BrokerCleaner | None, hit: Sequence[OffsetsPartition]) -> str:
    largest = max(hit, key=lambda p: p.bytes, default=None)
    kept = ""
    if largest is not None:
        live = f" for {size(largest.live_bytes)} of live commits" if largest.live_bytes is not None else ""
        kept = f": {size(largest.bytes)} kept in {OFFSETS_TOPIC}-{largest.partition}{live}"
    broker = f" of broker {who.broker}" if who else ""
    said = {
        "C1": "The offsets topic is not compacted",
        "C2": f"The cleaner{broker} is switched off",
        "C3": f"The cleaner{broker} {_death(who)}",
        "C4": f"The cleaner{broker} has given up {plural(len(hit), 'partition')}",
        "C10": f"The cleaner{broker} fails with an IOException{_failed_on(who)}",
        "C5": f"The cleaner{broker} will fail{', or has' if who and who.may_be_dead else ''}",
        "C6": f"{plural(len(hit), 'partition')} {agree(len(hit), 'was', 'were')} due for cleaning and not cleaned",
    }
    return f"{said[rule]}{kept}"


def _death(who: BrokerCleaner | None) -> str:
    """Describe since when it is dead; for repeated deaths, how often."""
    if who is None or who.died is None:
        return "is dead"
    since = moment(who.dead_since)
    return (
        f"died at {since} and has not run since"
        if len(who.deaths) == 1
        else f"dies at each start: {len(who.deaths)} times since {since}"
    )


def _failed_on(who: BrokerCleaner | None) -> str:
    return f": {len(who.failed)} times, on {names(who.failed)}" if who and len(who.failed) > 1 else ""


def _why(rule: str, who: BrokerCleaner | None, hit: Sequence[OffsetsPartition]) -> str:
    if rule == "C3" and who and who.died:
        return death_in_words(who)
    return hit[0].why if hit else without_log_dir(who)[1] if who else ""


def _since(rule: str, who: BrokerCleaner | None) -> int | None:
    if who is None:
        return None
    told = {"C3": who.dead_since, "C10": who.failed[0].time if who.failed else None, "C6": who.last_at_work}
    return told.get(rule)


def _steps(rule: str, version: VersionInUse) -> Iterator[Step]:
    if rule != "C1" and CLEANER_FAILURE.at(version.version) == "thread dies":
        yield Step(kind="first", text="Watch log-cleaner.log: only this file records the death of a cleaner thread.")


def _lines(cleaners: Iterable[BrokerCleaner]) -> tuple[Evidence, ...]:
    last = [cleaner.died.proof for cleaner in cleaners if cleaner.died]
    last += [cleaner_threads.proof(cleaner.dump) for cleaner in cleaners if cleaner.dump is not None]
    before = [death.proof for cleaner in cleaners for death in cleaner.deaths[:-1]]
    return lines([*last, *before, *(line.proof for cleaner in cleaners for line in cleaner.failed)][:_SHOWN])


def _caveats(cleaners: Sequence[BrokerCleaner]) -> tuple[str, ...]:
    told = tuple(f"{capitalised(brokers(whose))}: {why}" for why, whose in _doubts(cleaners).items())
    told += tuple(
        f"The logs of broker {cleaner.broker} end at {moment(cleaner.log_ends)}, before its log dirs were listed."
        for cleaner in cleaners
        if cleaner.log_ends is not None and cleaner.obstacles
    )
    assumed = any(cleaner.settings.enabled.assumed for cleaner in cleaners)
    default = "Built-in defaults are assumed where server.properties was not collected." if assumed else ""
    return (*told, *([default] if default else []))


def _doubts(cleaners: Iterable[BrokerCleaner]) -> dict[str, list[int]]:
    """Return why it is unknown whether threads live, with the brokers by reason."""
    found: dict[str, list[int]] = {}
    for cleaner in cleaners:
        if cleaner.doubt:
            found.setdefault(cleaner.doubt, []).append(cleaner.broker)
    return found


def _name(obstacle: Obstacle) -> str:
    return f"{obstacle.replica.topic}-{obstacle.replica.partition}/{obstacle.segment:020}.log"


def _span(obstacle: Obstacle, cleaner: BrokerCleaner) -> str:
    if obstacle.need is None:
        return "The cleaner's checkpoint is not at the start of a segment."
    return f"Its offsets span {count(obstacle.need)}; the map holds {count(cleaner.holds)}."
