"""Record of a run for later runs: outcomes of its checks, and measures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from casebook.facts.disks import Partition
from casebook.findings.finding import Severity, Status


class CheckOutcome(NamedTuple):
    """Outcome of a check in a run.

    Args:
        check: Name, the key for comparing two runs.
        subject: Kind and ids of its subject.
        severity: Of a finding; else ``None``.
        title: One sentence.
        facts: Its named numbers and lists.
    """

    check: str
    subject: Mapping[str, object]
    status: Status
    severity: Severity | None
    title: str
    facts: Mapping[str, object]


def outcomes(findings: Iterable[Mapping[str, object]]) -> dict[str, CheckOutcome]:
    """Return the answers of a ``findings.json`` by check; the first, which is the worst, when a check has several.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The input has another structure.
    """
    return {outcome.check: outcome for outcome in reversed([_outcome(finding) for finding in findings])}


def _outcome(finding: Mapping[str, object]) -> CheckOutcome:
    severity, facts = finding["severity"], finding["facts"]
    if not isinstance(facts, dict):
        raise TypeError("facts are named")
    return CheckOutcome(
        check=str(finding["check"]),
        subject=dict(finding.get("subject") or {}),
        status=Status(finding["status"]),
        severity=None if severity is None else Severity(severity),
        title=str(finding["title"]),
        facts=facts,
    )


class Measure(NamedTuple):
    """A row of ``tables/measures``: a number tracked from run to run.

    Columns:
        name: Value compared from run to run, e.g. leaderless, offsets_bytes.
        partition: Partition of __consumer_offsets; null for none.
        broker: Broker; null for none.
        value: Bytes, milliseconds (load_ms), a ratio, an epoch, an offset, or a count.
    """

    name: str
    partition: int | None
    broker: int | None
    value: float | None

    @property
    def of(self) -> tuple[str, int | None, int | None]:
        """Key of the measure."""
        return self.name, self.partition, self.broker


def read_off(measures: Iterable[Measure], of: tuple[str, int | None, int | None]) -> float | None:
    """Return a measured value; ``None`` when unknown or not measured."""
    return next((one.value for one in measures if one.of == of), None)


class Written(NamedTuple):
    """Write counters of a partition's state.

    Args:
        version: Version of its znode, incremented on each write.
        leader_epoch: Incremented on each write by the controller.
    """

    version: int
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Identity of a cluster.

    Args:
        id: ``/cluster/id``; ``None`` when it does not exist (before 0.10.1) or was not read.
        address: ZooKeeper servers and chroot; ``None`` for a case without a walk.
        source: As given to the notebook.
    """

    id: str | None
    address: str | None
    source: str

    def same(self, other: "Identity") -> bool:
        """Whether both are one cluster, by the best common key: servers may join and leave an ensemble."""
        if self.id is not None and other.id is not None:
            return self.id == other.id
        if self.address is not None and other.address is not None:
            shared = _servers(self.address) & _servers(other.address)
            return bool(shared) and _chroot(self.address) == _chroot(other.address)
        return self.source == other.source

    def at_the_same_place(self, other: "Identity") -> bool:
        """Whether both have the same location, and so look the same to a user."""
        return self.source == other.source or (self.address is not None and self.address == other.address)


def _servers(address: str) -> set[str]:
    return set(address.partition("/")[0].split(","))


def _chroot(address: str) -> str:
    return address.partition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """An earlier run of the scheduled report.

    Args:
        name: Name of its folder; of a sample's earlier moment, its source.
        cluster: Cluster of the run.
        at: Time of its evidence, epoch ms; for a failed run, its start.
        failed: Error of an incomplete run.
        outcomes: Outcomes of its checks.
        measures: Measured values.
        written: Returns the write counters of partitions' states; ``None`` when not recorded.
    """

    name: str
    cluster: Identity
    at: int
    failed: str | None = None
    outcomes: Mapping[str, CheckOutcome] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    written: Callable[[], Mapping[Partition, Written] | None] = lambda: None

    def measured(self, name: str) -> float | None:
        """Return a number of the whole cluster; ``None`` when unknown."""
        return read_off(self.measures, (name, None, None))

    @property
    def run_before(self) -> str | None:
        """Name of the run it was compared with; ``None`` without one."""
        named = self.outcomes[RUN_BEFORE].facts.get("run") if RUN_BEFORE in self.outcomes else None
        return named if isinstance(named, str) else None


RUN_BEFORE = "since.run_before"
"""Check that names the compared run."""
