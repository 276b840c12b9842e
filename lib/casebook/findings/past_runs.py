"""What a run leaves behind for those after it: how its checks ended, and what it measured."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from casebook.findings.finding import Severity, Status


class CheckOutcome(NamedTuple):
    """How a check ended in a run.

    Args:
        check: Its name: what the answers of two runs are held against each other by.
        subject: Kind and ids of what it is about.
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
    """The answers of a ``findings.json``, by check; the first, which is the worst, where a check has several.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: They are something else.
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
    """A row of ``tables/measures``: a number that is followed from run to run.

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
        """What it measures."""
        return self.name, self.partition, self.broker


def read_off(measures: Iterable[Measure], of: tuple[str, int | None, int | None]) -> float | None:
    """What was measured; ``None`` when it is unknown, or was not measured."""
    return next((one.value for one in measures if one.of == of), None)


class Written(NamedTuple):
    """How often a partition's state was written.

    Args:
        version: Of its znode: counts every write.
        leader_epoch: Counts the controller's writes.
    """

    version: int
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What tells one cluster from another.

    Args:
        id: ``/cluster/id``; ``None`` where there is none (before 0.10.1), or it was not read.
        address: ZooKeeper's servers and chroot; ``None`` for a case without a walk.
        source: As given to the notebook.
    """

    id: str | None
    address: str | None
    source: str

    def same(self, other: "Identity") -> bool:
        """Whether both are one cluster, by the best that both know: an ensemble may get servers and lose some."""
        if self.id is not None and other.id is not None:
            return self.id == other.id
        if self.address is not None and other.address is not None:
            shared = _servers(self.address) & _servers(other.address)
            return bool(shared) and _chroot(self.address) == _chroot(other.address)
        return self.source == other.source

    def at_the_same_place(self, other: "Identity") -> bool:
        """Whether whoever looks there takes both for one."""
        return self.source == other.source or (self.address is not None and self.address == other.address)


def _servers(address: str) -> set[str]:
    return set(address.partition("/")[0].split(","))


def _chroot(address: str) -> str:
    return address.partition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run of the scheduled report that is kept.

    Args:
        name: Its folder's.
        cluster: What it was about.
        at: Of when its evidence is, epoch ms; of a run that failed, when it began.
        failed: What went wrong, when it did not complete.
        outcomes: How its checks ended.
        measures: What it measured.
    """

    name: str
    cluster: Identity
    at: int
    failed: str | None = None
    outcomes: Mapping[str, CheckOutcome] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()

    def measured(self, name: str) -> float | None:
        """A number of the whole cluster; ``None`` when it is not known."""
        return read_off(self.measures, (name, None, None))

    @property
    def run_before(self) -> str | None:
        """The run that it compared itself with; ``None`` when there was none."""
        named = self.outcomes[RUN_BEFORE].facts.get("run") if RUN_BEFORE in self.outcomes else None
        return named if isinstance(named, str) else None


RUN_BEFORE = "since.run_before"
"""The check that says what a run is compared with."""
