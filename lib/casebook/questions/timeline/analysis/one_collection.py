"""Whether znodes and log dirs are of one collection: of one cluster, and close in time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, Replica
from casebook.facts.observed import Observation, Observations, Source, gap
from casebook.findings.words import duration
from casebook.questions.timeline.analysis.other_cluster import OtherCluster, other_cluster

ONE_COLLECTION = 15 * 60_000
"""Maximum distance within one collection: a large cluster takes minutes."""
UNCHANGED = "If nothing changed in between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Znodes and log dirs of different times.

    Args:
        milliseconds: Between the two observations.
        listed: Listing time of the log dirs farthest from the znodes.
        znodes_older: Whether the znodes are older.
        witness: A copy that the znodes of their time cannot know; ``None`` without a contradiction.
        certain: The times alone prove it.
    """

    milliseconds: int
    listed: int
    znodes_older: bool
    witness: Replica | None
    certain: bool
    settle: ClassVar[str] = (
        "Collect znodes and log dirs in one run: casebook collect --zookeeper HOST:2181 --log-dirs BROKER=DIR."
    )
    unless: ClassVar[str] = UNCHANGED

    @property
    def is_known(self) -> bool:
        """Whether it is certain: then nothing may combine them."""
        return self.certain or self.witness is not None

    @property
    def words(self) -> str:
        """``The znodes are 6 h 0 min older than the log dirs``."""
        older, newer = ("znodes", "log dirs") if self.znodes_older else ("log dirs", "znodes")
        return f"The {older} are {duration(self.milliseconds)} older than the {newer}"


def apart(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool) -> Apart | OtherCluster | None:
    """Return whether znodes and log dirs are of different times or clusters; ``None`` if not, or when one is missing.

    Within one collection a leader may change; only a topic created after its walk proves that the znodes are too old.

    Args:
        known: Result of :func:`moments.observations`.
        from_files: The znodes are those after the last transaction in ZooKeeper's files. On a quiet cluster that may be long ago,
            with current znodes: then only a copy unknown to them proves the opposite.
    """
    znodes = known.get(Source.ZNODES)
    if znodes is not None and (strange := other_cluster(cluster, log_dirs)):
        return strange
    if znodes is None or Source.LOG_DIRS not in known:
        return None
    times = [Observation(log_dir.listed_at, log_dir.listed_at) for log_dir in log_dirs if log_dir.listed_at]
    listed = max(times, key=lambda one: gap(znodes, one))
    copies = [copy for log_dir in log_dirs for copy in log_dir.replicas]
    there = {(p.topic, p.partition) for p in cluster.partitions}
    whole = there and not cluster.unlisted
    unknown = (copy for copy in copies if cluster.lacks(copy.topic) or (whole and (copy.topic, copy.partition) not in there))
    made = next((copy for copy in unknown if _is_written(copy, znodes.last)), None)
    between, older = gap(znodes, listed), znodes.last < listed.first
    if between <= ONE_COLLECTION:
        is_apart = made is not None and older
        if not is_apart:
            return None
        return Apart(milliseconds=between, listed=listed.first, znodes_older=older, witness=made, certain=False)
    witness = made or next(_led_since(cluster, copies), None)
    certain = not (from_files and older)
    return Apart(milliseconds=between, listed=listed.first, znodes_older=older, witness=witness, certain=certain)


def _is_written(copy: Replica, since: int) -> bool:
    """Return whether a copy was written after a moment, unlike a folder left by a deletion."""
    return any(segment.bytes and segment.modified is not None and segment.modified > since for segment in copy.segments)


def _led_since(cluster: Cluster, copies: Iterable[Replica]) -> Iterator[Replica]:
    """Yield copies with a later leader epoch than the znodes."""
    states = {(p.topic, p.partition): p.state for p in cluster.partitions}
    for copy in copies:
        state = states.get((copy.topic, copy.partition))
        led = max((start.epoch for start in copy.epochs), default=-1)
        if state is not None and state.leader_epoch is not None and led > state.leader_epoch:
            yield copy


def unknown_to_znodes(copy: Replica) -> str:
    """Describe a copy in a state unknown to the znodes."""
    return f"Broker {copy.broker} holds {copy.topic}-{copy.partition} in a state that these znodes do not know."
