"""Limits of the logs: missing files, late starts or early ends, disabled levels, unknown times."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from casebook.facts import events
from casebook.facts.cluster import instant
from casebook.facts.events import FileExtent, LogFile, source_of
from casebook.findings import coverage
from casebook.findings.words import brokers, plural
from casebook.kafka.past import Past
from casebook.kafka.past_rows import Clock, ClockStep, Silence
from casebook.kafka.releases import KafkaVersion
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.windows.two_leaders import OldLeaderDoubt

COLLECT_LOGS = "casebook collect --logs BROKER=GLOB"
COLLECT_HISTORY = "casebook collect --zookeeper-data DIR"

_TRACE = KafkaVersion.parse("2.6.0")
"""Up to 2.5 ``state.change.logger`` is at TRACE, later at INFO (``config/log4j.properties@2.5.1, 2.6.0``)."""

_FILES = {
    "controller": (
        "controller.log",
        ("broker_change", "broker_failure", "controller_elected", "controller_ready", "controller_epoch", "broker_startup"),
        "when the controller saw a broker leave, and how it reacted",
    ),
    "state-change": (
        "state-change.log",
        ("partition_changed", "leader_request_received", "become_leader", "become_follower", "controller_request_sent"),
        "when each broker received each leader change",
    ),
}
"""For each file: name, kinds of lines that prove its logger enabled, and its content."""


def silences(scene: TimelineInputs, chains: Iterable[Chain], doubts: Iterable[OldLeaderDoubt]) -> list[Silence]:
    """Return everything that is missing, most important first."""
    worst = next(iter(chains), None)
    return [
        *_history(scene.past),
        *_brokers(scene),
        *_files(scene),
        *_jvm_and_zookeeper(scene),
        *_reach(scene, worst),
        *_levels(scene),
        *_doubts(doubts),
        *_times(scene),
        *_damage(scene.files),
    ]


def _history(past: Past) -> Iterator[Silence]:
    if past.observed:
        told = "Between two snapshots, each leader, ISR and session may have changed and changed back."
        yield Silence("no_history", None, coverage.observed(past), told, coverage.OTHER_LOGS)
    elif not past.there:
        yield Silence(
            "no_history",
            None,
            "ZooKeeper's history was not collected.",
            "When each leader, ISR and session changed, to the millisecond; logs record it later, or not at all.",
            COLLECT_HISTORY,
        )
    elif past.breaks:
        told = "Changes in ZooKeeper during that time."
        yield Silence("no_history", None, coverage.missing(past.breaks), told, coverage.OTHER_LOGS)


def _unlogged(scene: TimelineInputs) -> tuple[list[int], list[int]]:
    """Return brokers without any decoded log, and brokers with logs unknown to ZooKeeper."""
    told = {file.broker for file in scene.files if file.broker is not None and file.typed} | set(scene.lives)
    return sorted(scene.brokers - told), sorted(told - scene.brokers) if scene.brokers else []


def _brokers(scene: TimelineInputs) -> Iterator[Silence]:
    missing, strange = _unlogged(scene)
    if missing:
        yield Silence(
            "no_log",
            None,
            f"There is no log of {brokers(missing)}.",
            "Whether they stayed alive, what they believed to lead, and what they truncated.",
            COLLECT_LOGS,
        )
    if strange:
        yield Silence(
            "unknown_broker",
            None,
            f"There are logs of {brokers(strange)}, which ZooKeeper does not know.",
            "Whether they belong to this cluster.",
            "Check the ids given with --logs.",
        )


def _files(scene: TimelineInputs) -> Iterator[Silence]:
    if not scene.files:
        return
    for name, (file, kinds, tells) in _FILES.items():
        if any(name in one.file.rpartition("/")[2] for one in scene.files if one.typed) or any(
            len(scene.kind(kind)) for kind in kinds
        ):
            continue
        yield Silence("no_file", None, f"No broker has a usable {file}.", f"In the logs, {tells}.", COLLECT_LOGS)


def _jvm_and_zookeeper(scene: TimelineInputs) -> Iterator[Silence]:
    names = [file.file.lower() for file in scene.files]
    if not len(scene.kind("gc_pause")) and not any("gc" in name.rpartition("/")[2] for name in names):
        yield Silence(
            "no_file",
            None,
            "There is no GC log of any broker.",
            "Whether a silent broker was in a GC pause.",
            f"{COLLECT_LOGS}, with kafkaServer-gc.log.",
        )
    if not any(source_of(name) == "zookeeper" for name in names) and not any(row.source == "zookeeper" for row in scene.rows):
        yield Silence(
            "no_file",
            None,
            "There is no log of ZooKeeper's servers.",
            "Whether ZooKeeper itself was slow, and from which address a session came.",
            f"{COLLECT_LOGS}, with zookeeper=GLOB.",
        )
    if not any(source_of(name) == "client" for name in names):
        yield Silence("no_file", None, "No client log was given.", "The view of producers and consumers.", "Add their logs.")


def _reach(scene: TimelineInputs, worst: Chain | None) -> Iterator[Silence]:
    """Yield logs that do not cover the whole worst chain, including shared ones, whose lines name their broker."""
    if worst is None:
        return
    skews = {clock.broker: clock.skew or 0 for clock in scene.clocks if clock.broker is not None}
    was_set = {clock.broker for clock in scene.clocks if clock.steps}
    reach: dict[int, list[LogFile]] = defaultdict(list)
    for file in scene.files:
        if file.broker is not None and file.first is not None and file.broker not in was_set:
            reach[file.broker].append(file)
    for broker, files in sorted(reach.items()):
        skew, lives = skews.get(broker, 0), scene.lives.get(broker, ())
        firsts = [(file.first - skew, f"{file.file}:1") for file in files]
        lasts = [(file.last - skew, f"{file.file}:{file.lines}") for file in files]
        begins, begin = min(firsts + [(life.opened, life.opened_proof) for life in lives])
        ends, end = max(lasts + [(life.closed, life.closed_proof) for life in lives])
        if begins > worst.opened:
            yield Silence(
                "begins_late",
                broker,
                f"The logs of broker {broker} begin at {instant(begins)}, within the incident.",
                "Its earlier events.",
                "Add its rolled files as well.",
                begin,
            )
        if ends < worst.opened:
            yield Silence(
                "ends_early",
                broker,
                f"The logs of broker {broker} end at {instant(ends)}, before the incident.",
                "Its events at that time.",
                "Add its newest files as well.",
                end,
            )


def _levels(scene: TimelineInputs) -> Iterator[Silence]:
    logs = any(file.broker is not None for file in scene.files)
    traced = len(scene.kind("leader_request_received")) or any(row.level == "TRACE" for row in scene.rows)
    if logs and scene.version.version < _TRACE and not traced:
        yield Silence(
            "level_off",
            None,
            "No line records leader changes sent to brokers: state.change.logger may not be at TRACE.",
            "When each broker received each leader change.",
            "log4j.logger.state.change.logger=TRACE, which is the default up to 2.5.",
        )
    if logs and scene.version.version >= _TRACE and not _says_offline(scene):
        yield Silence(
            "level_off",
            None,
            "A default log of 2.6 or later has no line for a partition that goes offline.",
            "When a partition lost its leader, by the logs: only the following election is logged.",
            "ZooKeeper's history records it."
            if not scene.past.there
            else "ZooKeeper's history, which is in the case, records it.",
        )
    if len(scene.kind("unknown_api_key")) and not len(scene.kind("connection_opened")):
        yield Silence(
            "level_off",
            None,
            "kafka.network is not at DEBUG.",
            "Which client sent the requests that the broker does not support.",
            "log4j.logger.kafka.network=DEBUG on that broker, for a minute.",
        )


def _says_offline(scene: TimelineInputs) -> bool:
    return any(row.fields.get("to") == "OfflinePartition" for row in scene.kind("partition_changed").rows)


def _doubts(doubts: Iterable[OldLeaderDoubt]) -> Iterator[Silence]:
    by_why: dict[tuple[int, str, str], int] = defaultdict(int)
    for doubt in doubts:
        by_why[doubt.broker, doubt.kind, doubt.why] += 1
    for (broker, kind, why), count in sorted(by_why.items()):
        if kind == "no_log":
            continue  # already reported for the broker
        yield Silence(
            kind,
            broker,
            why,
            f"Whether it took writes after {plural(count, 'partition')} got another leader.",
            COLLECT_LOGS,
        )


def _times(scene: TimelineInputs) -> Iterator[Silence]:
    undated = [row for row in scene.rows if row.at is None]
    if undated:
        yield Silence(
            "undated",
            None,
            f"{plural(len(undated), 'line')} of known meaning {'has' if len(undated) == 1 else 'have'} no date.",
            "Their times; they are at the end of the timeline.",
            "Add the log files themselves.",
            undated[0].proof,
        )
    unknown = [clock for clock in scene.clocks if clock.skew is None]
    if unknown:
        yield _clocks_unknown(unknown)
    for clock in scene.clocks:
        for step in clock.steps:
            if step.skew is None:
                yield _unknown_from(clock, step)


def _clocks_unknown(unknown: list[Clock]) -> Silence:
    names = ", ".join(clock.owner for clock in unknown[:5]) + (" and others" if len(unknown) > 5 else "")
    one = len(unknown) == 1
    return Silence(
        "clock",
        None,
        f"It is unknown how far the {'clock' if one else 'clocks'} of {names} {'is' if one else 'are'} off.",
        f"The order of {'its' if one else 'their'} lines among those of other logs.",
        COLLECT_HISTORY,
    )


def _unknown_from(clock: Clock, step: ClockStep) -> Silence:
    return Silence(
        "clock",
        clock.broker,
        f"The clock of {clock.owner} was set after {step.before}, and its error after that is unknown.",
        "The order of those lines among those of other logs.",
        COLLECT_HISTORY,
        step.after,
    )


def _damage(files: Iterable[LogFile]) -> Iterator[Silence]:
    for file in events.unread(files):
        yield Silence(
            "damaged",
            file.broker,
            f"{coverage.not_read(file)}.",
            "Its content." if file.extent is FileExtent.NOT else "The rest of its content.",
            coverage.read_again((file,)),
            file.file,
        )
