"""Coverage gaps: evidence that an answer depends on and that was not collected, read or decoded.

Each function examines one kind of evidence and returns its gaps, the widest first; none when complete. A check without a finding
passes them to :meth:`casebook.findings.finding.Question.ok`, which may turn it into could_not_check.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from casebook.facts import events
from casebook.facts.cluster import Cluster, Problem, instant
from casebook.facts.events import FileExtent, LogFile
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.evidence import GIVE_RELEASE
from casebook.findings.finding import Gap
from casebook.findings.proof import COLLECT_AGAIN, SHOWN
from casebook.findings.words import agree, brokers, plural
from casebook.kafka.past import Break, Past
from casebook.kafka.releases import Changed, KafkaVersion, VersionInUse, VersionOrigin
from casebook.kafka.settings import ANSWERED, BUILT_IN, BUILT_IN_ASSUMED, PRINTED, SERVER_PROPERTIES, UNREADABLE
from casebook.kafka.verdict import PartitionCondition, Verdict

Gaps = tuple[Gap, ...]

COLLECT_LOGS = "Collect the logs of every broker: casebook collect --logs BROKER=GLOB."
_COLLECT_LOGS_AGAIN = "Collect these logs again, unmodified."
_GIVE_LAYOUT = "Give their layout in log4j's notation: log_layout=%d{dd/MM/yyyy HH:mm:ss} %p [%t] %c - %m"
COLLECT_PROPERTIES = "Collect server.properties of every broker: casebook collect --properties BROKER=FILE."
COLLECT_HISTORY = "Collect ZooKeeper's own files: casebook collect --zookeeper-data DIR."

_KRAFT_HISTORY = "KRaft keeps it in the metadata log, which the workbook does not read yet. Logs of brokers show a part of it."

OTHER_LOGS = "Collect the transaction logs, also those of other servers of the ensemble: casebook collect --zookeeper-data DIR."

_HISTORY = "zookeeper/history"
_OF_STATES = ("state-change", "controller")
"""Name parts of the logs in which a controller logs elections and broker failures (same place)."""
_SIDE_LOGS = ("state-change", "controller", "log-cleaner", "authorizer", "kafka-request", "gc")
"""Name parts of a broker's logs other than ``server.log`` (``config/log4j.properties@3.9.0``)."""


def partitions(cluster: Cluster) -> Gaps:
    """Return why partitions may be unseen."""
    return tuple(_unlisted(cluster))


def _unlisted(cluster: Cluster) -> Iterator[Gap]:
    for problem in cluster.unlisted[:1]:
        yield Gap(why=f"Some partitions may be missing. {said(problem)}", settle=COLLECT_AGAIN)
    for topic in sorted(cluster.maybe_deleted)[:1]:
        yield Gap(why=f"{topic} may be in deletion: requests to delete topics could not be read.", settle=COLLECT_AGAIN)


def registrations(cluster: Cluster) -> Gaps:
    """Return why the registered brokers are unknown."""
    if not cluster.brokers_known:
        settle = "Collect the children of /brokers/ids." if cluster.source is Source.ZNODES else COLLECT_AGAIN
        return (Gap(why="The registered brokers are unknown.", settle=settle),)
    silent = [problem for problem in cluster.missing_parts if problem.path.startswith("wire/brokers/")]
    if silent:
        why = f"A broker that others list as alive does not answer. {said(silent[0])}"
        return (Gap(why=why, settle="Look at that broker, and collect again."),)
    garbled = [problem for problem in cluster.problems if _is_within(problem.path, cluster.proofs.brokers.label)]
    return tuple(Gap(why=said(problem), settle=COLLECT_AGAIN) for problem in garbled[:1])


def unanswered(cluster: Cluster, content: str) -> Gaps:
    """Return that brokers with ZooKeeper do not answer some content."""
    if cluster.deletions_known:
        return ()
    return (Gap(why=f"Brokers do not answer {content}.", settle="Collect ZooKeeper: casebook collect --zookeeper HOST:2181."),)


def verdicts(cluster: Cluster, judged: Sequence[Verdict]) -> Gaps:
    """Return why some partitions of the cluster have no verdict."""
    unknown = [verdict for verdict in judged if verdict.state is PartitionCondition.UNKNOWN]
    if not unknown:
        return partitions(cluster)
    first = unknown[0]
    why = f"{plural(len(unknown), 'partition')} could not be judged. {first.topic}-{first.partition}: {first.why}"
    return (Gap(why=why, settle=COLLECT_AGAIN), *partitions(cluster))


def states(cluster: Cluster, topic: str | None = None) -> Gaps:
    """Return why the state of some partition is unknown.

    Args:
        topic: Only this topic; ``None`` for all.
    """
    wanted = [p for p in cluster.partitions if topic in (None, p.topic)]
    unread = [partition for partition in wanted if partition.problem or partition.state is None]
    if not unread:
        return partitions(cluster)
    reason = f"it {unread[0].problem}" if unread[0].problem else "there is none"
    why = f"The state of {plural(len(unread), 'partition')} is unknown. {unread[0].name}: {reason}."
    return (Gap(why=why, settle=COLLECT_AGAIN), *partitions(cluster))


def unread(cluster: Cluster, place: Evidence) -> Gaps:
    """Return why the content at or below a place is unknown."""
    path = place.label
    return _first_gap(cluster, lambda part: _is_within(part.path, path) or _is_within(path, part.path))


def below(cluster: Cluster, path: str) -> Gaps:
    """Return why some content at or below a znode is unknown; nothing when no znode is known at all."""
    return _first_gap(cluster, lambda part: _is_within(part.path, path))


def _first_gap(cluster: Cluster, concerns: Callable[[Problem], bool]) -> Gaps:
    hit = (part for part in (*cluster.problems, *cluster.missing_parts) if concerns(part))
    return tuple(Gap(why=said(part), settle=COLLECT_AGAIN) for part in islice(hit, 1))


def _is_within(path: str, parent: str) -> bool:
    return path == parent or (parent.startswith("/") and path.startswith(f"{parent.rstrip('/')}/"))


def overrides(cluster: Cluster, *kinds: str) -> Gaps:
    """Return why settings in ZooKeeper are unknown.

    Args:
        kinds: ``topics``, ``brokers``.
    """
    unread = sorted(entity for entity in cluster.unreadable_configs if entity.partition("/")[0] in kinds)
    if not unread:
        return ()
    which = ", ".join(unread[:SHOWN])
    return (Gap(why=f"The settings of {which} could not be read.", settle=COLLECT_AGAIN),)


def settings(origins: Iterable[str | None]) -> Gaps:
    """Return why some settings with these origins are unknown."""
    found = set(origins)
    gaps = []
    if UNREADABLE in found:
        gaps.append(Gap(why="Settings that are kept in the cluster could not be read.", settle=COLLECT_AGAIN))
    if BUILT_IN_ASSUMED in found:
        why = "Built-in defaults are assumed: server.properties was not collected."
        gaps.append(Gap(why=why, settle=COLLECT_PROPERTIES))
    return tuple(gaps)


def settings_of_all(cluster: Cluster, origins: Collection[str | None]) -> Gaps:
    """As :func:`settings`, when each broker's own settings may apply: those of the next leader or controller."""
    missing = sorted(known_brokers(cluster) - cluster.known_in_full)
    if not missing or {SERVER_PROPERTIES, PRINTED, ANSWERED, BUILT_IN}.isdisjoint(origins):
        return settings(origins)
    why = f"The server.properties of {brokers(missing)} {agree(len(missing), 'was', 'were')} not collected."
    return (*settings(origins), Gap(why=why, settle=COLLECT_PROPERTIES))


def history(past: Past, cluster: Cluster) -> Gaps:
    """Return why ZooKeeper's history has gaps, or does not exist."""
    if torn := torn_history(cluster):
        return torn
    if past.observed:
        return (Gap(why=observed(past), settle=OTHER_LOGS),)
    if not past.there:
        why = "The history of the cluster was not collected." if cluster.is_kraft else "ZooKeeper's history was not collected."
        return (Gap(why=why, settle=history_from(cluster)),)
    return tuple(Gap(why=missing(past.breaks), settle=OTHER_LOGS) for _ in past.breaks[:1])


def history_from(cluster: Cluster) -> str:
    """Return where the history of a cluster can be had."""
    return _KRAFT_HISTORY if cluster.is_kraft else COLLECT_HISTORY


def observed(past: Past) -> str:
    """Return what snapshots without transactions show, and what they do not."""
    if not past.breaks:
        return f"ZooKeeper's transaction logs are missing: its snapshot covers only {instant(past.first)}."
    moments = f"{plural(len(past.breaks) + 1, 'snapshot')} from {instant(past.first)} to {instant(past.breaks[-1].until)}"
    return f"ZooKeeper's transaction logs are missing: events between {moments} are unknown."


def missing(breaks: Sequence[Break]) -> str:
    """Return the periods without information."""
    first = f"Transactions between {instant(breaks[0].since)} and {instant(breaks[0].until)} are missing"
    more = len(breaks) - 1
    return f"{first}, and in {plural(more, 'later period', 'later periods')}." if more else f"{first}."


def release(version: VersionInUse, rule: Changed) -> Gaps:
    """Return why it is unknown whether a question applies to the release in use.

    Args:
        rule: The deciding rule, by release.
    """
    if version.origin is VersionOrigin.ASSUMED:
        return (Gap(why=f"The Kafka release is unknown; {version.version} is assumed.", settle=GIVE_RELEASE),)
    if not any(version.may_be_before(KafkaVersion.parse(since)) for since, _ in rule.values):
        return ()
    why = f"The znodes allow Kafka {version.possible}. The rules of {version.version} were applied, and other releases differ."
    return (Gap(why=why, settle=GIVE_RELEASE),)


def torn_history(cluster: Cluster) -> Gaps:
    """Return why a given history is unreadable or incomplete."""
    torn = [part for part in cluster.missing_parts if part.path.startswith(_HISTORY)]
    return tuple(Gap(why=said(part), settle=COLLECT_HISTORY) for part in torn[:1])


def known_brokers(cluster: Cluster) -> set[int]:
    """Return brokers that are registered or in an assignment."""
    return {*cluster.brokers, *(broker for partition in cluster.partitions for broker in partition.replicas)}


def logs(files: Sequence[LogFile], cluster: Cluster, wanted: Collection[int]) -> Gaps:
    """Return why logs of brokers are incomplete.

    Args:
        files: Coverage of the logs.
        cluster: Its problems name logs that were given and unusable.
        wanted: Brokers with required logs of any kind.
    """
    return tuple(_of_logs(files, wanted, _any, "log")) + unread_logs(files, cluster)


def server_logs(files: Sequence[LogFile], cluster: Cluster, wanted: Collection[int]) -> Gaps:
    """As :func:`logs`, when only a broker's ``server.log``, or its console output, has the information."""
    return tuple(_of_logs(files, wanted, _may_be_server_log, "server.log")) + unread_logs(files, cluster)


def state_changes(files: Sequence[LogFile], cluster: Cluster, past: Past, wanted: Collection[int]) -> Gaps:
    """Return why some partition states are unknown, from the history and from each broker's log of state changes.

    Args:
        wanted: Brokers that may have been the controller, which alone logs an election.
    """
    gaps = history(past, cluster)
    if not gaps or past.there:
        return gaps  # with a history, it has the states
    read = [file for file in files if file.extent is FileExtent.READ]
    logged = (_of_logs(read, wanted, partial(_is_named, name), f"{name}.log") for name in _OF_STATES)
    return (*chain.from_iterable(logged), *states(cluster))


def are_states_lost(files: Sequence[LogFile]) -> bool:
    """Whether lines with a controller's state changes may be lost: in logs of that name, or in complete logs."""
    apart = {file.broker for file in files if _is_of_states(file)}
    return any(file.is_holed and (_is_of_states(file) or (is_server_log(file) and file.broker not in apart)) for file in files)


def _is_of_states(file: LogFile) -> bool:
    return file.is_of_brokers and any(_is_named(name, file.file) for name in _OF_STATES)


def _any(_path: str) -> bool:
    return True


def _is_named(name: str, path: str) -> bool:
    return name in path.rpartition("/")[2].lower()


def _may_be_server_log(path: str) -> bool:
    return not any(_is_named(part, path) for part in _SIDE_LOGS)


def is_server_log(file: LogFile) -> bool:
    """Whether a log may be a broker's ``server.log``, under any name."""
    return file.broker is not None and _may_be_server_log(file.file)


def _of_logs(files: Iterable[LogFile], wanted: Collection[int], is_one: Callable[[str], bool], what: str) -> Iterator[Gap]:
    """Yield why logs of a kind, recognised by path, are incomplete for the wanted brokers: missing, or of several."""
    given = [file for file in files if file.is_of_brokers and is_one(file.file)]
    own = [file for file in given if file.broker is not None]
    read = {file.broker for file in own if file.typed}
    shared = {broker: file.file for file in given if file.broker is None for broker, _ in file.speakers}
    missing = sorted(set(wanted) - read)
    silent = {file.broker for file in own if file.extent is FileExtent.READ} - read - shared.keys()
    if still := sorted(silent.intersection(missing)):
        yield Gap(why=f"The {what} of {brokers(still)} has no usable line.", settle=COLLECT_LOGS)
    if gone := [broker for broker in missing if broker not in shared and broker not in silent]:
        yield Gap(why=f"No {what} of {brokers(gone)} was read{_instead(own, gone)}.", settle=COLLECT_LOGS)
    if partly := [broker for broker in missing if broker in shared]:
        why = f"Of the {what} of {brokers(partly)}, only lines that name their broker were read"
        yield Gap(why=f"{why}: {shared[partly[0]]} holds lines of several brokers.", settle=COLLECT_LOGS)
    if not read and not shared and not missing:
        why = f"No {what} of any broker {'has a usable line' if silent else f'was read{_instead(own, ())}'}."
        yield Gap(why=why, settle=COLLECT_LOGS)


def _instead(files: Sequence[LogFile], missing: Sequence[int]) -> str:
    """Why the given logs of brokers have no information."""
    reason = next((not_read(file) for file in files if (file.broker in missing or not missing) and not_read(file)), "")
    return f": {reason}" if reason else ""


def unread_logs(files: Iterable[LogFile], cluster: Cluster) -> Gaps:
    """Return given logs that were unusable, unread, or read in part."""
    known = list(files)
    reasons = [not_read(file) for file in events.unread(known)]
    there = {file.file for file in known}
    reasons += [f"{path}: could not be taken" for path in cluster.unreadable if events.is_log(path) and path not in there]
    if not reasons:
        return ()
    more = f", and {plural(len(reasons) - 1, 'more log')}" if len(reasons) > 1 else ""
    return (Gap(why=f"{reasons[0]}{more}.", settle=read_again(events.unread(known))),)


def read_again(files: Iterable[LogFile]) -> str:
    """Return the remedy for unread or partly read logs."""
    return _GIVE_LAYOUT if any(file.is_laid_out_strangely and not file.damage for file in files) else _COLLECT_LOGS_AGAIN


def not_read(file: LogFile) -> str:
    """Return the log and why it, or the rest of it, is unread; ``""`` when all of it was read."""
    return f"{file.file}: {file.unread.rstrip('.')}" if file.unread else ""


def said(problem: Problem) -> str:
    """Format a problem as a gap's reason."""
    return f"{problem.path}: {problem.reason.rstrip('.')}."
