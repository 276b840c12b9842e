"""Of when the evidence of a case is, and which findings hold as of that."""

from collections.abc import Collection, Sequence

from casebook.case.case import Case
from casebook.facts.cluster import Cluster
from casebook.facts.disks import LogDir
from casebook.facts.observed import Observations, Source
from casebook.findings.finding import Finding
from casebook.questions.timeline.analysis import moments, one_collection, past_znodes


class EvidenceTimes:
    """When znodes and log dirs were observed.

    Args:
        case: The case.
        cluster: As the case holds it.
        log_dirs: As they were listed.
        is_present: Whether the notebook looks at the moment of collection.

    Attributes:
        apart: Difference between znodes and log dirs of different times; ``None`` without one.
        outdated: Why the znodes are of the past; ``None`` where they are not.
        checks: Findings on these times.
    """

    def __init__(self, case: Case, cluster: Cluster, log_dirs: Sequence[LogDir], *, is_present: bool) -> None:
        self._source = cluster.source
        self._observed = moments.observations(cluster, log_dirs=log_dirs)
        self.apart = one_collection.apart(cluster, self._observed, log_dirs, from_files=case.has_history)
        ends = past_znodes.last_transaction(cluster, case.past()) if is_present else None
        self.outdated = past_znodes.outdated(self.apart, ends, case.logged_facts(), cluster, log_dirs) if ends else None
        self.checks = moments.check(cluster, self._observed, log_dirs, from_files=case.has_history, past=self.outdated)

    @property
    def is_apart(self) -> bool:
        """Whether znodes and log dirs are known to be of different moments."""
        return self.apart is not None and self.apart.is_known

    def of(self, findings: Sequence[Finding], absent: Collection[Source], observed: Observations) -> tuple[Finding, ...]:
        """Add the moments of each observation, and remove findings that combine evidence of different moments.

        Args:
            absent: Kinds of evidence of which the case holds nothing.
            observed: When logs and history were observed.
        """
        seen = moments.by_what_is_there(moments.held(findings, self.apart, self.outdated), absent)
        return moments.dated(seen, {**self._observed, **observed}, self._source)
