"""Findings: what a check concluded, with its proof. The contract with schedulers and scripts.

Three outcomes, never two: a check is ``ok``, is a ``finding``, or ``could_not_check``; ``not_applicable`` says that
the question does not arise on this cluster. Unknown numbers are ``None``, never 0.

Every answer says what it looked at: its :class:`Coverage`. ``ok`` needs all of it: what was looked at is all there is, and there
is no gap in the evidence that the answer rests on; otherwise it becomes ``could_not_check``. :mod:`casebook.findings.coverage`
knows the gaps.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum

from casebook.facts.cluster import instant
from casebook.facts.observed import Observation, Source
from casebook.findings.declared import area_of
from casebook.findings.words import count, when

SCHEMA = 2
"""2: ``coverage`` of each finding; 1 had ``looked_at``, a text."""


class Status(StrEnum):
    """How a check ended."""

    OK = "ok"
    FINDING = "finding"
    COULD_NOT_CHECK = "could_not_check"
    NOT_APPLICABLE = "not_applicable"


class Severity(StrEnum):
    """How much a finding matters to someone on call."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


UNREADABLE = "unreadable"
"""The fact that names evidence which was given and could not be read: such a run does not end in exit code 0."""

_RANK = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.INFO: 2, None: 3}
_STATUS_RANK = {Status.FINDING: 0, Status.COULD_NOT_CHECK: 1, Status.OK: 2, Status.NOT_APPLICABLE: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where in the case a statement is proven.

    Args:
        file: Path inside the case folder, e.g. ``zookeeper/znodes.jsonl.zst``, or a table such as ``tables/partitions``.
        znode: Path of the znode below the chroot, when the proof is a znode.
        line: 1-based line in ``file``, when the proof is a line.
    """

    file: str
    znode: str | None = None
    line: int | None = None

    @property
    def label(self) -> str:
        """The short form shown to people."""
        if self.znode is not None:
            return self.znode
        return f"{self.file}:{self.line}" if self.line is not None else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What an answer looked at: how many of how many, by which evidence, as of when.

    Args:
        seen: How many were looked at.
        of: How many there are; ``None`` where that is not known.
        what: What they are, in the number that fits, e.g. ``partitions``.
        by: The evidence that tells of them; empty where nothing was looked at.
        observed: Of when that evidence is, as far as known. Checks leave it out: ``analysis.moments`` fills it in.
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
        """Whether something was looked at, and it is all there is."""
        return self.seen > 0 and self.seen == self.of

    @property
    def text(self) -> str:
        """``240 of 240 partitions, by znodes``."""
        return f"{self.amount}, by {' and '.join(self.by)}" if self.by else self.amount

    @property
    def amount(self) -> str:
        """``240 of 240 partitions``; without the second number where nobody knows it."""
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
        """The coverage as plain JSON values; moments as ISO-8601 UTC."""
        as_of = {source.value: [instant(moment) for moment in of] for source, of in self.observed.items()}
        return {"seen": self.seen, "of": self.of, "what": self.what, "by": [source.value for source in self.by], "as_of": as_of}


def _as_of(observed: Observation | None) -> str:
    return "" if observed is None else f" ({' to '.join(dict.fromkeys(map(when, observed)))} UTC)"


NOTHING = Coverage(seen=0, of=None, what="evidence", by=())
"""Nothing was looked at."""

_NOTHING = "Nothing could be checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One piece of advice. Steps are ordered safest first.

    Args:
        kind: ``first``, ``then`` or ``not`` (what not to do, with its price).
        text: One or two sentences.
        command: The exact command for the cluster's Kafka version, when there is one.
        starts: Dead brokers that it starts, by id.
    """

    kind: str
    text: str
    command: str | None = None
    starts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check.

    Args:
        check: Dotted, stable name, e.g. ``leadership.offline``.
        question: The question the check answers, as a person would ask it.
        status: How it ended.
        severity: Set exactly when ``status`` is ``finding``.
        subject: Kind and ids of what it is about, e.g. ``{"kind": "partition", "topic": "t", "partition": 0}``.
        title: One sentence with the number in it.
        why: One or two sentences: what lies behind the title.
        coverage: How much evidence the answer rests on.
        threshold: What would be a finding, in words.
        facts: Named plain numbers, strings, lists; ``None`` for unknown.
        evidence: Where it is proven.
        next: What to do, safest first.
        caveats: What the answer assumes.
        since: ISO-8601 UTC instant from which the condition is known to hold, when known.
        at_latest: Nothing tells that it began then: that is when the state was last written, and it may be older.
        settle: What evidence would settle a ``could_not_check``.
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
        """The finding as plain JSON values."""
        return asdict(self) | {"coverage": self.coverage.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Evidence that an answer rests on, and that was not collected, not read, or not understood.

    Args:
        why: Which, and why not: one sentence or two.
        settle: What would bring it.
    """

    why: str
    settle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A check before it is answered: what every answer to it has in common. The arguments are those of :class:`Finding`."""

    check: str
    question: str
    coverage: Coverage
    threshold: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    caveats: tuple[str, ...] = ()

    def found(self, severity: Severity, title: str, **more: object) -> Finding:
        """Something was found."""
        return self._answer(Status.FINDING, title, severity=severity, **more)

    def ok(self, title: str, *, gaps: Sequence[Gap]) -> Finding:
        """Looked at, and well; not known where its coverage is not whole, or there is a gap in what it rests on.

        Args:
            gaps: Of the evidence that it rests on, the widest first.
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
        """Not known, with what would settle it."""
        return self._answer(Status.COULD_NOT_CHECK, title, settle=settle, **more)

    def not_applicable(self, title: str, *, gaps: Sequence[Gap] = ()) -> Finding:
        """The question does not arise; whether it does is not known where there is a gap in what tells that.

        Args:
            gaps: As in :meth:`ok`; none where what was asked for, or the release, tells it.
        """
        if gaps:
            return self._short_of(gaps, _NOTHING)
        return self._answer(Status.NOT_APPLICABLE, title)

    def nothing_in(self, seen: Sized, title: str, *, gaps: Sequence[Gap]) -> Finding:
        """Nothing was found: well when there was something to look at, else the question does not arise.

        Args:
            gaps: As in :meth:`ok`.
        """
        if seen:
            return self.ok(title, gaps=gaps)
        return self.not_applicable("Not applicable: there are no such objects", gaps=gaps)

    def _short_of(self, gaps: Sequence[Gap], title: str) -> Finding:
        """What has a gap is not all there is, whatever was counted."""
        seen = replace(self.coverage, of=None) if self.coverage.is_whole else self.coverage
        why = " ".join(dict.fromkeys(gap.why for gap in gaps))
        return self.could_not_check(title, why=why, settle=gaps[0].settle, coverage=seen)

    def _answer(self, status: Status, title: str, **more: object) -> Finding:
        common = {f.name: getattr(self, f.name) for f in fields(self)}
        return Finding(**(common | more), status=status, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How much of what was asked could be answered.

    Args:
        unreadable: Of those that could not be checked, how many name evidence that was given and could not be read.
    """

    ok: int
    finding: int
    could_not_check: int
    not_applicable: int
    unreadable: int = 0

    @property
    def asked(self) -> int:
        """Checks that apply to this cluster."""
        return self.ok + self.finding + self.could_not_check

    @property
    def inconclusive(self) -> bool:
        """Nothing, or less than half of what applies, was answered: nobody may call that well."""
        return self.asked == 0 or 2 * self.could_not_check > self.asked


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order people read them: by outcome, severity, what hurts, then check name (stable within a check)."""
    return tuple(sorted(findings, key=lambda f: (_STATUS_RANK[f.status], _RANK[f.severity], area(f.check), f.check)))


def once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each check once, as it was answered first: what was not read several say."""
    return tuple({finding.check: finding for finding in reversed(findings)}.values())[::-1]


def rank(severity: Severity | None) -> int:
    """The place of a severity among all: the lower, the worse; ``None`` comes last."""
    return _RANK[severity]


def area(check: str) -> int:
    """The place of a check's area among those that hurt: the lower, the more."""
    return area_of(check).hurts


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
    """Whether a check could not be answered because evidence that was given could not be read."""
    return finding.status is Status.COULD_NOT_CHECK and bool(finding.facts.get(UNREADABLE))


def undecided(worst: Severity | None, counts: Completeness) -> bool:
    """Whether nobody may say how things stand.

    Too little was answered, and nothing critical found, which would hold anyway; or nothing that matters was found, and evidence
    that was given could not be read.
    """
    if counts.unreadable and worst in (None, Severity.INFO):
        return True
    return counts.inconclusive and worst is not Severity.CRITICAL


def at_or_above(severity: Severity | None, threshold: Severity) -> bool:
    """Whether a worst severity reaches a threshold."""
    return severity is not None and _RANK[severity] <= _RANK[threshold]
