"""Why a broker does or does not compact the offsets topic: a verdict for each copy, by rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from casebook.facts.disks import CLEANER_CHECKPOINT, OFFSETS_TOPIC, LogDir, Replica
from casebook.facts.events import Event, LogFile
from casebook.facts.offsets_topic import OffsetsLog
from casebook.facts.pasted_hosts import ThreadDump
from casebook.findings.words import count, moment, plural
from casebook.kafka import cleaner_map
from casebook.kafka.cleaner_map import Dirt, Obstacle
from casebook.kafka.releases import CLEANER_BOUND, CLEANER_FAILURE, COMPACTION_LAG, KafkaVersion
from casebook.kafka.retention import CleanerSettings
from casebook.kafka.settings import Setting
from casebook.questions.offsets_topic.analysis import cleaner_lives, cleaner_threads

RULES = {
    "C1": "The topic is not compacted: its cleanup.policy says so.",
    "C2": "The cleaner is switched off on this broker.",
    "C3": "A cleaner thread died; no topic is cleaned until the broker is restarted.",
    "C4": "The cleaner gave this partition up after an error, until the broker is restarted.",
    "C10": ("The cleaner fails with an IOException: the log dir goes offline and is not cleaned until the broker is restarted."),
    "C5": "The cleaner will fail at a segment that does not fit its offset map.",
    "C6": "It was due for cleaning and was not cleaned; no log shows why.",
    "C7": "The cleaner works, but does not keep up.",
    "C8": (
        "Nothing can be cleaned yet: all dirty records are in the active segment, above an open transaction, or within "
        "the compaction lag."
    ),
    "C9": "The dirty ratio has not reached its limit.",
    "C0": "Unknown.",
}
"""Meaning of each verdict, worst first."""

BLOCKED = ("C1", "C2", "C3", "C4", "C10", "C5", "C6")
"""Verdicts with growth until someone acts."""

_OF_DUE = ("C6", "C7")
"""Sentence on a copy that could be cleaned now, which is uncertain when bounding transactions were not looked for."""

_DAY = 86_400_000
_SILENT, _AT_ONCE = 60_000, 1000
"""Milliseconds by which logs may end before the log dirs were listed; and between a checkpoint and its log line."""
_UNDATED = "its start time is unknown: the log dir listing has no date."
_TORN = "Not all of its logs could be read: they may record a thread's death."


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCleaner:
    """A broker's cleaner, as far as known.

    Args:
        settings: Effective settings, with origins.
        holds: Number of keys that fit in a thread's map; ``None`` when a setting is unknown.
        deaths: Last death in each of its consecutive last lives that ended in one; empty unless it is dead.
        marked: Partitions marked uncleanable since its last start.
        failed: Cleans that failed with an IOException, without a later clean of the partition, in its consecutive last lives.
        failed_before: The last one of an earlier life, when none failed since its last start.
        last_cleaned: Last line of a completed clean.
        doubt: Why the logs do not show whether its threads live, one sentence; ``""`` when they do.
        log_ends: End of its logs, epoch ms, when its log dirs are newer: events in between are unknown.
        obstacles: Segments it would fail on, in all compacted partitions of its log dirs.
        checkpoint_written: Last write of ``cleaner-offset-checkpoint``.
        dump: Thread dump, when its logs have no information on its threads.
    """

    broker: int
    settings: CleanerSettings
    holds: int | None
    deaths: tuple[Event, ...] = ()
    marked: tuple[Event, ...] = ()
    failed: tuple[Event, ...] = ()
    failed_before: Event | None = None
    last_cleaned: Event | None = None
    doubt: str = ""
    log_ends: int | None = None
    obstacles: tuple[Obstacle, ...] = ()
    checkpoint_written: int | None = None
    dump: ThreadDump | None = None

    @property
    def died(self) -> Event | None:
        """Log line of its death, without a later start."""
        return self.deaths[-1] if self.deaths else None

    @property
    def dead_since(self) -> int | None:
        """Since when it has cleaned nothing, epoch ms: for a cleaner that dies at each start, its first death."""
        return self.deaths[0].time if self.deaths else None

    @property
    def may_be_dead(self) -> bool:
        """Whether a predicted failure may have happened unseen."""
        return bool(self.doubt) or self.log_ends is not None

    @property
    def need(self) -> int | None:
        """Keys that the map would have to hold: from the line of its death, or the largest obstacle."""
        needs = [o.need for o in self.obstacles if o.need is not None]
        if self.died and (messages := self.died.number("messages")) is not None:
            needs.append(messages)
        return max(needs, default=None)

    @property
    def last_at_work(self) -> int | None:
        """Time of its last completed clean, by its log or its checkpoint file; epoch ms."""
        return max((when for when in (self.checkpoint_written, self.last_cleaned_at) if when is not None), default=None)

    @property
    def last_cleaned_at(self) -> int | None:
        """Time of its last completed clean by its log, epoch ms."""
        return self.last_cleaned.time if self.last_cleaned else None

    @property
    def least_buffer(self) -> int | None:
        """The least sufficient ``log.cleaner.dedupe.buffer.size``."""
        threads, load = self.settings.threads.whole, self.settings.load_factor.real
        return cleaner_map.buffer_for(self.need, threads, load) if self.need and threads and load else None

    @property
    def buffer_to_set(self) -> int | None:
        """A round value to set."""
        least, threads = self.least_buffer, self.settings.threads.whole
        return cleaner_map.buffer_to_set(least, threads) if least and threads else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerVerdict:
    """Verdict on a copy of a partition of the offsets topic.

    Args:
        rule: A rule of :data:`RULES`.
        why: Reason in one sentence.
        dirt: ``None`` when its log dir is unknown.
        since: Start of the condition, epoch ms.
        proof: ``path:line``, if a line proves it.
    """

    broker: int
    partition: int
    rule: str
    why: str
    dirt: Dirt | None = None
    since: int | None = None
    proof: str | None = None


def broker_cleaner(
    broker: int,
    version: KafkaVersion,
    settings: CleanerSettings,
    *,
    log_dirs: Iterable[LogDir],
    events: Iterable[Event],
    compacted: Iterable[str],
    files: Iterable[LogFile] = (),
    dumps: Iterable[ThreadDump] = (),
) -> BrokerCleaner:
    """Return what is known of a broker's cleaner.

    Args:
        log_dirs: Log dirs of all brokers.
        events: Events of all brokers.
        files: Coverage of these logs.
        dumps: Thread dumps of all brokers, in pasted order.
        compacted: Topics with the policy compact.
    """
    events = list(events)
    own = [log_dir for log_dir in log_dirs if log_dir.broker == broker]
    dated = (e for e in events if e.broker == broker and e.time is not None and e.kind in cleaner_lives.KINDS)
    told = sorted(dated, key=lambda event: (event.time, event.kind != "broker_starting"))  # a start precedes its consequences
    lives = cleaner_lives.lives(told)
    deaths = cleaner_lives.deaths(lives)
    outlived = _outlived(deaths, files)
    dump = cleaner_threads.of_broker(dumps, broker, told)
    holds, topics = settings.holds, set(compacted)
    found = [
        obstacle
        for log_dir in own
        for replica in log_dir.replicas
        if (replica.topic in topics or replica.cleaner_point is not None) and holds is not None
        if (weighed := cleaner_map.dirt(replica, version, now=log_dir.listed_at)) is not None
        for obstacle in cleaner_map.obstacles(replica, weighed, version, holds, pointed=log_dir.knows_cleaned)
    ]
    failed = cleaner_lives.failures(lives)
    before = next((one for life in reversed(lives) for one in reversed(life.failed)), None) or _failed_somewhere(events, own)
    written = [when for log_dir in own if (when := log_dir.checkpoints.get(CLEANER_CHECKPOINT)) is not None]
    return BrokerCleaner(
        broker=broker,
        settings=settings,
        holds=holds,
        deaths=() if outlived else deaths,
        marked=lives[-1].marked,
        failed=failed,
        failed_before=None if failed else before,
        last_cleaned=next((event for event in reversed(told) if event.kind == "cleaned"), None),
        doubt=outlived
        or " ".join(filter(None, (cleaner_lives.doubt(lives), cleaner_threads.doubt(dump, settings.enabled))))
        or (_TORN if any(file.damage for file in files if file.broker == broker) else ""),
        log_ends=_log_ends(broker, files, own, max(written, default=None)),
        obstacles=tuple(found),
        checkpoint_written=max(written, default=None),
        dump=dump,
    )


def _outlived(deaths: Sequence[Event], files: Iterable[LogFile]) -> str:
    """Return why a death may be outdated, one sentence: its log was not read completely; ``""`` when it was."""
    if not deaths or not any(file.damage for file in files if file.file == deaths[-1].file):
        return ""
    died = moment(deaths[-1].time)
    return f"A thread died at {died}. A later start of the broker is not excluded: not all of that log could be read."


def _failed_somewhere(events: Iterable[Event], log_dirs: Sequence[LogDir]) -> Event | None:
    """Return the last failed clean of a partition in these log dirs, from a line of an unknown broker."""
    failed = (e for e in events if e.broker is None and e.kind == cleaner_lives.FAILED and e.time is not None)
    own = (event for event in failed if any(_is_within(event, log_dir) for log_dir in log_dirs))
    return max(own, key=lambda event: event.time, default=None)


def _log_ends(broker: int, files: Iterable[LogFile], log_dirs: Sequence[LogDir], written: int | None) -> int | None:
    """Return the end of its logs, if its log dirs or cleaner checkpoint are newer than silence explains."""
    last = max((file.last for file in files if file.broker == broker and file.last is not None), default=None)
    bounds = [log_dir.listed_at - _SILENT for log_dir in log_dirs if log_dir.listed_at is not None]
    bounds += [written - _AT_ONCE] if written is not None else []
    return last if last is not None and last < max(bounds, default=last) else None


def judge(
    replica: Replica,
    cleaner: BrokerCleaner,
    version: KafkaVersion,
    *,
    log_dir: LogDir,
    logs: Mapping[tuple[int, int], OffsetsLog] | None = None,
) -> CleanerVerdict:
    """Return the verdict on a copy of a partition: the first matching rule.

    Args:
        log_dir: Log dir of the copy.
        logs: Scanned logs by broker and partition, with the start of their open transactions.
    """
    settings = cleaner.settings
    scanned = _scanned(replica, logs or {})
    unstable = scanned.first_open if scanned else None
    weighed = cleaner_map.dirt(replica, version, now=log_dir.listed_at, lag=settings.lag.whole or 0, unstable=unstable)
    rule, why, since, proof = _rule(replica, cleaner, version, weighed, log_dir)
    if rule in _OF_DUE and scanned is None and CLEANER_BOUND.at(version) == "last stable offset":
        ratio, limit = f"{weighed.ratio:.2f}", f"{settings.ratio.real:.2f}"
        why = f"Its dirty ratio is {ratio}, above {limit}: it is due, unless a transaction is open. Segments were not read."
        rule, since, proof = "C0", None, None
    return CleanerVerdict(
        broker=replica.broker, partition=replica.partition, rule=rule, why=why, dirt=weighed, since=since, proof=proof
    )


def _scanned(replica: Replica, logs: Mapping[tuple[int, int], OffsetsLog]) -> OffsetsLog | None:
    """Return the scan of a copy, else of another one of its partition: transactions have the same offsets in all."""
    alike = (log for (_, partition), log in sorted(logs.items()) if partition == replica.partition)
    return logs.get((replica.broker, replica.partition)) or next(alike, None)


def without_log_dir(cleaner: BrokerCleaner) -> tuple[str, str, int | None, str | None]:
    """Return rule, reason, start and proof from settings and log alone."""
    told = _of_broker(cleaner)
    return _failure(cleaner.failed) if told[0] == "C0" and cleaner.failed else told


def _of_broker(cleaner: BrokerCleaner) -> tuple[str, str, int | None, str | None]:
    """Return the rule for all copies of a broker."""
    told = ("C0", f"Neither its log dir nor its log shows it. {cleaner.doubt or _failed_before(cleaner)}".strip(), None, None)
    policy, enabled = cleaner.settings.policy, cleaner.settings.enabled
    if policy.value and "compact" not in policy.value:
        told = _if_read("C1", f"cleanup.policy is {policy.value} ({policy.origin}).", policy)
    elif enabled.flag is False:
        told = _if_read("C2", f"log.cleaner.enable is false ({enabled.origin}).", enabled)
    if cleaner.died and told[0] == "C0":
        return "C3", death_in_words(cleaner), cleaner.dead_since, cleaner.died.proof
    if cleaner_threads.lacks_cleaner(cleaner.dump) and not enabled.assumed and told[0] == "C0":
        return "C3", cleaner_threads.absence(cleaner.dump), None, cleaner_threads.proof(cleaner.dump)
    return told


def _failed_before(cleaner: BrokerCleaner) -> str:
    last = cleaner.failed_before
    if last is None:
        return ""
    where = f"on {cleaner_lives.names([last])} at {moment(last.time)}"
    if last.broker is None:
        return f"A cleaner failed with an IOException {where}; the broker is not logged."
    return f"It failed with an IOException before its last start, last {where}."


def _failure(some: Sequence[Event]) -> tuple[str, str, int | None, str | None]:
    """Return the verdict on a cleaner that fails with an IOException, by the lines of these partitions."""
    first, last = some[0], some[-1]
    when = f"at {moment(last.time)}"
    if len(some) > 1:
        when = f"{plural(len(some), 'time')}, from {moment(first.time)} to {moment(last.time)}"
    return "C10", f"It failed on {cleaner_lives.names(some)} {when}. The log says: {last.summary}", first.time, last.proof


def _if_read(rule: str, why: str, *values: Setting, since: int | None = None) -> tuple[str, str, int | None, str | None]:
    """Return a rule that depends on settings; only a possible one when a setting is an assumed default."""
    if unread := [value.name for value in values if value.assumed]:
        return "C0", f"{why} That depends on {', '.join(unread)}, which was not collected. If so: {RULES[rule]}", None, None
    return rule, why, since, None


def death_in_words(cleaner: BrokerCleaner) -> str:
    """Describe the cause and the number of the cleaner's deaths, from its log lines."""
    died = cleaner.died
    other = died.topic is not None and died.topic != OFFSETS_TOPIC
    whose = f"by a segment of another topic, {died.topic}-{died.partition}" if other else f"by {died.topic}-{died.partition}"
    whose = whose if died.topic is not None else "by an error"
    messages, slots = died.number("messages"), died.number("slots")
    spans = f": its offsets span {count(messages)}, the map holds {count(slots)}" if None not in (messages, slots) else ""
    if len(cleaner.deaths) == 1:
        return f"Killed {whose}{spans}."
    return (
        f"Killed {whose}{spans}. It has died {plural(len(cleaner.deaths), 'time')} in a row without completing a clean, "
        f"from {moment(cleaner.dead_since)} to {moment(died.time)}: at {cleaner_lives.names(cleaner.deaths)}."
    )


KINDS = cleaner_lives.KINDS
"""Kinds of events about the cleaner."""


def _rule(
    replica: Replica,
    cleaner: BrokerCleaner,
    version: KafkaVersion,
    weighed: Dirt | None,
    log_dir: LogDir,
) -> tuple[str, str, int | None, str | None]:
    settings, now = cleaner.settings, log_dir.listed_at
    told = _of_broker(cleaner)
    if told[0] != "C0":
        return told
    if given_up := [mark for mark in cleaner.marked if _is_of(mark, replica)]:
        return "C4", "The log says it was marked as uncleanable.", given_up[-1].time, given_up[-1].proof
    if failed := [one for one in cleaner.failed if _is_of(one, replica)]:
        return _failure(failed)
    if settings.enabled.flag is False or (settings.policy.value and "compact" not in settings.policy.value):
        return told
    if weighed is None:
        return "C0", "Its log dir lists no segment.", None, None
    if ahead := _ahead(replica, cleaner, version):
        of_map = (settings.buffer, settings.threads, settings.load_factor) if ahead.need is not None else ()
        rule, why, since, _ = _if_read("C5", _obstacle(ahead, cleaner), *of_map)
        return rule, why, since, ahead.replica.item
    ratio, limit = weighed.ratio, settings.ratio.real
    if not weighed.cleanable_bytes:
        return "C8", "All dirty records are where nothing can be cleaned yet.", None, None
    if not log_dir.knows_cleaned:
        return "C0", f"The cleaner's progress is unknown: {CLEANER_CHECKPOINT} was not read.", None, None
    if limit is None:
        return "C0", f"Its dirty ratio is {ratio:.2f}; the limit is unknown.", None, None
    if ratio <= limit:
        return "C9", f"Its dirty ratio is {ratio:.2f}, the limit {limit:.2f}.", None, None
    if failed := [one for one in cleaner.failed if _is_within(one, log_dir) and one.time > (cleaner.last_cleaned_at or 0)]:
        return _failure(failed)
    last = cleaner.failed_before
    if last is not None and _is_within(last, log_dir) and (_is_of(last, replica) or last.time > (cleaner.last_cleaned_at or 0)):
        return "C0", f"Its dirty ratio is {ratio:.2f}, above {limit:.2f}. {_failed_before(cleaner)}", None, None
    bounds = (settings.ratio, settings.lag) if COMPACTION_LAG.at(version) else (settings.ratio,)
    cleaned = cleaner.last_at_work
    if now is None:
        return "C0", f"Its dirty ratio is {ratio:.2f}, above {limit:.2f}; {_UNDATED}", None, None
    if cleaned is not None and now - cleaned < _DAY:
        last = moment(cleaned)
        return _if_read("C7", f"Its dirty ratio is {ratio:.2f}, above {limit:.2f}; the cleaner last ran at {last}.", *bounds)
    why = f"Its dirty ratio is {ratio:.2f}, above {limit:.2f}: a working cleaner would clean it."
    return _if_read("C6", why, *bounds, since=cleaned)


def _is_of(event: Event, replica: Replica) -> bool:
    return (event.topic, event.partition) == (replica.topic, replica.partition)


def _is_within(event: Event, log_dir: LogDir) -> bool:
    """Return whether a line is about a partition of a log dir."""
    return any(_is_of(event, replica) for replica in log_dir.replicas)


def _ahead(replica: Replica, cleaner: BrokerCleaner, version: KafkaVersion) -> Obstacle | None:
    """Return what will stop this partition's cleaning: an obstacle in any partition when it kills the thread, else its own."""
    whole_thread = CLEANER_FAILURE.at(version) == "thread dies"
    certain = [o for o in cleaner.obstacles if o.certain and (whole_thread or o.replica == replica)]
    return max(certain, key=lambda o: (o.replica == replica, o.need or 0), default=None)


def _obstacle(obstacle: Obstacle, cleaner: BrokerCleaner) -> str:
    name = f"{obstacle.replica.topic}-{obstacle.replica.partition}/{obstacle.segment:020}.log"
    if obstacle.need is None:
        return f"The checkpoint of {obstacle.replica.topic}-{obstacle.replica.partition} is not at the start of a segment."
    return f"The offsets of {name} span {count(obstacle.need)}; the map holds {count(cleaner.holds)}."
