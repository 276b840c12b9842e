"""Findings: the conclusion of a check, with its proof. The contract with schedulers and scripts.

Three outcomes, never two: a check is ``ok``, is a ``finding``, or ``could_not_check``; ``not_applicable`` means that the question
does not apply to this cluster. Unknown numbers are ``None``, never 0.

Every answer states its :class:`Coverage`. ``ok`` requires full coverage and no gap in the evidence that the answer depends on;
otherwise it becomes ``could_not_check``. :mod:`casebook.findings.coverage` finds the gaps.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum

from casebook.facts.cluster import instant
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Observation, Source
from casebook.findings.declared import is_to_come, is_under_way, place_of
from casebook.findings.words import count, when

SCHEMA = 2
"""2: ``coverage`` of each finding; 1 had ``looked_at``, a text."""


class Status(StrEnum):
    """Outcome of a check."""

    OK = "ok"
    FINDING = "finding"
    COULD_NOT_CHECK = "could_not_check"
    NOT_APPLICABLE = "not_applicable"


class Severity(StrEnum):
    """Severity of a finding to someone on call."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


UNREADABLE = "unreadable"
"""Fact that names given but unreadable evidence: such a run does not end in exit code 0."""

_RANK = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2, None: 3}
_STATUS_RANK = {Status.FINDING: 0, Status.COULD_NOT_CHECK: 1, Status.OK: 2, Status.NOT_APPLICABLE: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Coverage of an answer: how many of how many, by which evidence, as of when.

    Args:
        seen: Number examined.
        of: Total number; ``None`` when unknown.
        what: Noun in the matching number, e.g. ``partitions``.
        by: Kinds of evidence; empty when nothing was examined.
        observed: Observation time of that evidence, as far as known. Checks omit it: ``analysis.moments`` adds it.
    """

    seen: int
    of: int | None
    what: str
    by: tuple[Source, ...]
    observed: Mapping[Source, Observation] = field(default_factory=dict)

    @classmethod
    def counted(cls, seen: int, of: int | None, noun: str, *by: Source, many: str = "") -> "Coverage":
        """Coverage of things with a plural: ``partition``, or ``copy`` where ``many`` is ``copies``."""
        amount = seen if of is None else of
        return cls(seen=seen, of=of, what=noun if amount == 1 else many or f"{noun}s", by=by)

    @classmethod
    def every(cls, seen: int, noun: str, *by: Source, many: str = "") -> "Coverage":
        """Coverage of all there are."""
        return cls.counted(seen, seen, noun, *by, many=many)

    @property
    def is_whole(self) -> bool:
        """Whether something was examined, and all of it."""
        return self.seen > 0 and self.seen == self.of

    @property
    def text(self) -> str:
        """``240 of 240 partitions, by znodes``."""
        return f"{self.amount}, by {' and '.join(self.by)}" if self.by else self.amount

    @property
    def amount(self) -> str:
        """``240 of 240 partitions``; without the total when unknown."""
        if not self.by:
            return f"no {self.what}"
        amount = " of ".join(count(number) for number in (self.seen, self.of) if number is not None)
        return f"{amount} {self.what}"

    @property
    def dated(self) -> str:
        """The same with when each evidence is of: ``240 of 240 partitions, by znodes (20 Nov, 03:06 UTC)``."""
        by = [f"{source}{_as_of(self.observed.get(source))}" for source in self.by]
        return f"{self.amount}, by {' and '.join(by)}" if by else self.amount

    def as_json(self) -> dict[str, object]:
        """Return the coverage as plain JSON values; moments as ISO-8601 UTC."""
        as_of = {source.value: [instant(moment) for moment in of] for source, of in self.observed.items()}
        return {"seen": self.seen, "of": self.of, "what": self.what, "by": [source.value for source in self.by], "as_of": as_of}


def _as_of(observed: Observation | None) -> str:
    return "" if observed is None else f" ({' to '.join(dict.fromkeys(map(when, observed)))} UTC)"


NOTHING = Coverage(seen=0, of=None, what="evidence", by=())
"""Coverage of nothing."""

_NOTHING = "Nothing could be checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One piece of advice. Steps are ordered safest first.

    Args:
        kind: ``first``, ``then`` or ``not`` (what not to do, with its price).
        text: One or two sentences.
        command: The exact command for the cluster's Kafka version, when there is one.
        starts: Ids of the dead brokers that it starts.
    """

    kind: str
    text: str
    command: str | None = None
    starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one check.

    Args:
        check: Dotted, stable name, e.g. ``leadership.offline``.
        question: Question that the check answers, in a person's words.
        status: Outcome.
        severity: Set exactly when ``status`` is ``finding``.
        subject: Kind and ids of its subject, e.g. ``{"kind": "partition", "topic": "t", "partition": 0}``.
        title: One sentence with the number in it.
        why: One or two sentences with the reason.
        coverage: Amount of evidence behind the answer.
        threshold: Condition for a finding, in words.
        facts: Named plain numbers, strings, lists; ``None`` for unknown.
        evidence: Proofs.
        next: Steps, safest first.
        caveats: Assumptions of the answer.
        since: ISO-8601 UTC instant since which the condition is known to hold, if known.
        at_latest: ``since`` is the last write of the state: the condition may be older.
        settle: Evidence that would settle a ``could_not_check``.
    """

    check: str
    question: str
    status: Status
    title: str
    severity: Severity | None = None
    subject: Mapping[str, object] = field(default_factory=lambda: {"kind": "cluster"})
    coverage: Coverage
    why: str = ""
    threshold: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    next: tuple[Step, ...] = ()
    caveats: tuple[str, ...] = ()
    since: str | None = None
    at_latest: bool = False
    settle: str | None = None

    def __post_init__(self) -> None:
        if (self.severity is not None) != (self.status is Status.FINDING):
            raise ValueError(f"{self.check}: a severity belongs to a finding and to nothing else")
        if self.status is Status.OK and not self.coverage.is_whole:
            raise ValueError(f"{self.check}: ok needs all of its evidence, and this looked at {self.coverage.text}")

    def as_json(self) -> dict[str, object]:
        """Return the finding as plain JSON values."""
        return asdict(self) | {"coverage": self.coverage.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Evidence that an answer depends on and that was not collected, read or decoded.

    Args:
        why: Which evidence and why, one or two sentences.
        settle: How to obtain it.
    """

    why: str
    settle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A check before its answer: the common part of all its answers. Arguments as in :class:`Finding`."""

    check: str
    question: str
    coverage: Coverage
    threshold: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    caveats: tuple[str, ...] = ()

    def found(self, severity: Severity, title: str, **more: object) -> Finding:
        """Return a finding."""
        return self._answer(Status.FINDING, title, severity=severity, **more)

    def ok(self, title: str, *, gaps: Sequence[Gap]) -> Finding:
        """Return ok, or could_not_check when its coverage is incomplete or its evidence has a gap.

        Args:
            gaps: Gaps in the evidence that it depends on, the widest first.
        """
        gaps = (*gaps, *self._unseen())
        if not gaps:
            return self._answer(Status.OK, title)
        return self._short_of(gaps, f"{title.removesuffix('.')}, as far as could be checked" if self.coverage.seen else _NOTHING)

    def _unseen(self) -> tuple[Gap, ...]:
        if self.coverage.is_whole:
            return ()
        return (Gap(why=f"Looked at: {self.coverage.text}.", settle="Collect the rest of the evidence."),)

    def could_not_check(self, title: str, *, settle: str, **more: object) -> Finding:
        """Return could_not_check, with the evidence that would settle it."""
        return self._answer(Status.COULD_NOT_CHECK, title, settle=settle, **more)

    def not_applicable(self, title: str, *, gaps: Sequence[Gap] = ()) -> Finding:
        """Return not_applicable, or could_not_check when the deciding evidence has a gap.

        Args:
            gaps: As in :meth:`ok`; none when the request or the release decides it.
        """
        if gaps:
            return self._short_of(gaps, _NOTHING)
        return self._answer(Status.NOT_APPLICABLE, title)

    def nothing_in(self, seen: Sized, title: str, *, gaps: Sequence[Gap]) -> Finding:
        """Return ok when something was examined without a finding, else not_applicable.

        Args:
            gaps: As in :meth:`ok`.
        """
        if seen:
            return self.ok(title, gaps=gaps)
        return self.not_applicable("Not applicable: there are no such objects", gaps=gaps)

    def _short_of(self, gaps: Sequence[Gap], title: str) -> Finding:
        """Return could_not_check: with a gap, coverage is incomplete whatever the count."""
        seen = replace(self.coverage, of=None) if self.coverage.is_whole else self.coverage
        why = " ".join(dict.fromkeys(gap.why for gap in gaps))
        return self.could_not_check(title, why=why, settle=gaps[0].settle, coverage=seen)

    def _answer(self, status: Status, title: str, **more: object) -> Finding:
        common = {f.name: getattr(self, f.name) for f in fields(self)}
        return Finding(**(common | more), status=status, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """Share of answered questions.

    Args:
        unreadable: Number of open checks with given but unreadable evidence.
    """

    ok: int
    finding: int
    could_not_check: int
    not_applicable: int
    unreadable: int = 0

    @property
    def asked(self) -> int:
        """Number of checks that apply to this cluster."""
        return self.ok + self.finding + self.could_not_check

    @property
    def inconclusive(self) -> bool:
        """Whether nothing, or less than half of what applies, was answered: not a good result."""
        return self.asked == 0 or 2 * self.could_not_check > self.asked


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings for people: by outcome, urgency, impact, then check name (stable within a check)."""
    return tuple(sorted(findings, key=lambda f: (_STATUS_RANK[f.status], _urgency(f), place_of(f.check))))


def _urgency(finding: Finding) -> tuple[int, int]:
    """By severity, what is still to come last; also what is critical of it comes after the warnings of what is under way."""
    if finding.severity is Severity.WARNING and is_under_way(finding.check):
        return _RANK[Severity.CRITICAL], 1
    return _RANK[finding.severity], 2 if is_to_come(finding.check) else 0


def as_document(findings: Iterable[Finding]) -> dict[str, object]:
    """Return the findings, worst first, as plain JSON values: ``{"worst", "completeness": {outcome: count}, "findings"}``."""
    ordered = worst_first(findings)
    return {
        "worst": worst(ordered),
        "completeness": asdict(completeness(ordered)),
        "findings": [finding.as_json() for finding in ordered],
    }


def once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the first answer of each check: several may report the same unread evidence."""
    return tuple({finding.check: finding for finding in reversed(findings)}.values())[::-1]


def rank(severity: Severity | None) -> int:
    """Order of a severity: the lower, the worse; ``None`` comes last."""
    return _RANK[severity]


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The highest severity among the findings, ``None`` when no check found anything."""
    return min((f.severity for f in findings if f.severity), key=_RANK.__getitem__, default=None)


def completeness(findings: Iterable[Finding]) -> Completeness:
    """Count the outcomes."""
    counts = dict.fromkeys(Status, 0)
    unreadable = 0
    for finding in findings:
        counts[finding.status] += 1
        unreadable += names_unreadable(finding)
    return Completeness(**{status.value: count for status, count in counts.items()}, unreadable=unreadable)


def names_unreadable(finding: Finding) -> bool:
    """Whether a check is open because given evidence was unreadable."""
    return finding.status is Status.COULD_NOT_CHECK and bool(finding.facts.get(UNREADABLE))


def undecided(worst: Severity | None, counts: Completeness) -> bool:
    """Whether no overall conclusion is possible.

    Either too little was answered and nothing critical was found, which would hold anyway; or nothing relevant was found and
    given evidence was unreadable.
    """
    if counts.unreadable and worst in (None, Severity.INFO):
        return True
    return counts.inconclusive and worst is not Severity.CRITICAL


def at_or_above(severity: Severity | None, threshold: Severity) -> bool:
    """Whether a worst severity reaches a threshold."""
    return severity is not None and _RANK[severity] <= _RANK[threshold]
