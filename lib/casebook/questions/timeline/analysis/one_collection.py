"""Whether znodes and log dirs are of one collection: of one cluster, and of moments that are close together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir, Replica
from casebook.facts.observed import Observation, Observations, Source, gap
from casebook.findings.words import duration
from casebook.questions.timeline.analysis.other_cluster import OtherCluster, other_cluster

ONE_COLLECTION = 15 * 60_000
"""What lies closer together may be of one collection: of a large cluster it takes minutes."""
UNCHANGED = "If nothing changed in between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Znodes and log dirs that are of different moments.

    Args:
        milliseconds: Between the two observations.
        listed: When those log dirs were listed that are the farthest from the znodes.
        znodes_older: Which is the older one.
        witness: A copy that the znodes of their moment cannot know; ``None`` where nothing contradicts.
        certain: Nothing but the times themselves is needed to know that they are apart.
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
        """Whether they are apart for sure: then nothing may join them."""
        return self.certain or self.witness is not None

    @property
    def words(self) -> str:
        """``The znodes are 6 h 0 min older than the log dirs``."""
        older, newer = ("znodes", "log dirs") if self.znodes_older else ("log dirs", "znodes")
        return f"The {older} are {duration(self.milliseconds)} older than the {newer}"


def apart(cluster: Cluster, known: Observations, log_dirs: Sequence[LogDir], *, from_files: bool) -> Apart | OtherCluster | None:
    """Whether znodes and log dirs are of different moments or clusters; ``None`` where they are of one, or one is missing.

    Within one collection a leader may change; only a topic that was made after its walk tells that the znodes are too old.

    Args:
        known: Of :func:`moments.observations`.
        from_files: The znodes are those after the last transaction in ZooKeeper's files. On a quiet cluster that transaction may
            be long past, and the znodes are current all the same: then only a copy that they do not know tells that they are not.
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
    """Whether a copy was written to after a moment: a folder that a deletion left behind was not."""
    return any(segment.bytes and segment.modified is not None and segment.modified > since for segment in copy.segments)


def _led_since(cluster: Cluster, copies: Iterable[Replica]) -> Iterator[Replica]:
    """Copies that were led in an epoch later than that of the znodes."""
    states = {(p.topic, p.partition): p.state for p in cluster.partitions}
    for copy in copies:
        state = states.get((copy.topic, copy.partition))
        led = max((start.epoch for start in copy.epochs), default=-1)
        if state is not None and state.leader_epoch is not None and led > state.leader_epoch:
            yield copy


def unknown_to_znodes(copy: Replica) -> str:
    """That a copy is in a state of which znodes know nothing, in words."""
    return f"Broker {copy.broker} holds {copy.topic}-{copy.partition} in a state that these znodes do not know."
