"""Changes between two runs, check by check and by the names in findings."""

from collections.abc import Callable, Container, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from casebook.findings import declared
from casebook.findings.finding import Severity, Status, rank
from casebook.findings.past_runs import RUN_BEFORE, CheckOutcome


class ChangeKind(StrEnum):
    """Kind of difference from the previous answer."""

    NEW = "new"
    WORSE = "worse"
    OTHERS = "others"
    NO_LONGER_CHECKED = "no_longer_checked"
    BETTER = "better"
    GONE = "gone"
    NO_LONGER_APPLIES = "no_longer_applies"
    CHECKED_AGAIN = "checked_again"


class CheckChange(NamedTuple):
    """A row of ``tables/changes``.

    Columns:
        how: new, worse, others, no_longer_checked, better, gone, no_longer_applies or checked_again.
        check: Check that gave the answer.
        severity: Of the finding, as it is now, else as it was; null where there was none.
        title: The current title; the earlier title if it is gone, no longer applies or is no longer checked.
        before: Its number in the previous run, else the check's outcome.
        now: The same, now.
        came: Objects that the finding names now and did not name before.
        went: Objects that it named before and does not name now; for no_longer_checked, what is no longer checked.
    """

    how: ChangeKind
    check: str
    severity: Severity | None
    title: str
    before: str
    now: str
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()


_ORDER = tuple(ChangeKind)
_CLOCKS, _OWNERS, _UNCLEAN = "timeline.clocks", "timeline.owners", "timeline.unclean"
_ANSWERED = frozenset({Status.OK, Status.FINDING})
_WENT = frozenset({ChangeKind.GONE, ChangeKind.NO_LONGER_APPLIES})
"""Kinds with information only in the previous answer."""

_NAMES = (
    "topics", "subjects", "brokers", "dead", "unsafe", "segments", "copies", "groups", "candidates", "misplaced", "rules",
    "rules_of_copies", "settings",
)  # fmt: skip
_NAMES_OF: Mapping[str, tuple[str, ...]] = {"offsets_topic.compacted": ("brokers",), _CLOCKS: ("off",), _OWNERS: ("misplaced",)}
"""Facts with the names in a finding: for all checks, and for those with other lists that do not count as changes."""

_NO_CONDITION = frozenset({RUN_BEFORE, "offsets_topic.safe_segments"})
"""Checks on the compared run itself, and offers: no state of the cluster that starts or ends."""

_SEEN: Mapping[str, str] = {_CLOCKS: "skew_ms"}
"""Fact with everything from which the finding's names were selected; ``None`` for none."""

_OF_NOW = frozenset({_CLOCKS, _OWNERS, _UNCLEAN})
"""Of those, persistent problems until fixed: a wrong clock, a log collected for the wrong broker, a dead broker that has more
than a leader."""

_OF_THE_SAME: Mapping[str, str] = {
    "timeline.leaderless": "leadership.offline",
    "timeline.under_min_isr": "leadership.under_min_isr",
}
"""Checks on the past that, without logs and history, only apply while there is a problem; with the check on the present."""


def compare(before: Mapping[str, CheckOutcome], now: Mapping[str, CheckOutcome]) -> tuple[CheckChange, ...]:
    """Return changes: new, worse, other names, no longer checked or asked, better, gone, checked again.

    The worst of each first.
    """
    checks = sorted((before.keys() | now.keys()) - _NO_CONDITION)
    found = [_change(before.get(check), now.get(check)) for check in checks if not _is_over(before.get(check), now)]
    return tuple(sorted((change for change in found if change is not None), key=_reading_order))


def _is_over(before: CheckOutcome | None, now: Mapping[str, CheckOutcome]) -> bool:
    """Whether a check on the past no longer applies because the problem is over, by the check on the present."""
    if before is None or before.status is not Status.FINDING or before.check in now:
        return False
    same = now.get(_OF_THE_SAME.get(before.check))
    return same is not None and same.status is Status.OK


def _reading_order(change: CheckChange) -> tuple[int, int, tuple[int, int, str]]:
    return _ORDER.index(change.how), rank(change.severity), declared.place_of(change.check)


def _change(before: CheckOutcome | None, now: CheckOutcome | None) -> CheckChange | None:
    was, is_ = (outcome is not None and outcome.status is Status.FINDING for outcome in (before, now))
    if was and is_:
        return _of_findings(before, now)
    how = _of_status(before, now, was=was, is_=is_)
    if how is None or (how in _WENT and _is_past(before)):
        return None
    unseen = _unseen(before, now) if how is ChangeKind.GONE else ()
    if unseen:
        how, now = ChangeKind.NO_LONGER_CHECKED, None
    said = before if how in _WENT or now is None else now
    severity = said.severity or (before.severity if before else None)
    ended = (_ended(outcome, _steady_number(outcome)) for outcome in (before, now))
    return CheckChange(how, said.check, severity, said.title, *ended, went=unseen)


def _is_past(found: CheckOutcome) -> bool:
    """Whether a finding is about the past; a clock step is, however well the clock is now.

    For a run that did not record its other names, a fix is unknown.
    """
    if found.check in _OF_NOW:
        return bool(found.facts.get("set")) or number(found) is None
    return declared.is_past(found.check)


def _unseen(before: CheckOutcome, now: CheckOutcome) -> tuple[str, ...]:
    """Return previous names that are no longer checked, or without information: neither new nor gone."""
    seen = now.facts.get(_SEEN.get(now.check))
    if not isinstance(seen, dict):
        return ()
    return tuple(sorted({name for name in named(before) if seen.get(name) is None} - set(named(now))))


def _of_status(before: CheckOutcome | None, now: CheckOutcome | None, *, was: bool, is_: bool) -> ChangeKind | None:
    if is_:
        return ChangeKind.NEW
    answered, did_answer = (outcome is not None and outcome.status in _ANSWERED for outcome in (now, before))
    unknown = now is None or now.status is Status.COULD_NOT_CHECK
    if did_answer and unknown:
        return ChangeKind.NO_LONGER_CHECKED
    if was:
        return ChangeKind.NO_LONGER_APPLIES if now.status is Status.NOT_APPLICABLE else ChangeKind.GONE
    return ChangeKind.CHECKED_AGAIN if answered and before is not None and before.status is Status.COULD_NOT_CHECK else None


def _of_findings(before: CheckOutcome, now: CheckOutcome) -> CheckChange | None:
    both = {*_lists(before)} & {*_lists(now)}
    before_named, now_named = set(named(before, both)), set(named(now, both))
    past, unseen = _is_past(before), _unseen(before, now)
    came, went = tuple(sorted(now_named - before_named)), () if past else tuple(sorted(before_named - now_named - {*unseen}))
    first, last = _steady_number(before), _steady_number(now)
    still = first - len(unseen) if unseen and first is not None else first
    how = _worse_or_better(before, now, still, last) or _by_names(came, went)
    if how is None and unseen and not past:
        how, went = ChangeKind.NO_LONGER_CHECKED, unseen
    if how is None or (past and how is ChangeKind.BETTER):
        return None
    return CheckChange(how, now.check, now.severity, now.title, _ended(before, first), _ended(now, last), came, went)


def _worse_or_better(before: CheckOutcome, now: CheckOutcome, first: int | None, last: int | None) -> ChangeKind | None:
    if before.severity is not now.severity:
        return ChangeKind.WORSE if rank(now.severity) < rank(before.severity) else ChangeKind.BETTER
    if first is None or last is None or first == last:
        return None
    return ChangeKind.WORSE if last > first else ChangeKind.BETTER


def _by_names(came: Iterable[str], went: Iterable[str]) -> ChangeKind | None:
    if came and went:
        return ChangeKind.OTHERS
    return ChangeKind.WORSE if came else ChangeKind.BETTER if went else None


def count(outcome: CheckOutcome | None) -> int | None:
    """Return the number of a check, found or not: 0 when nothing was found; ``None`` when unknown or not checked."""
    if outcome is None or outcome.status is Status.COULD_NOT_CHECK:
        return None
    return number(outcome) if outcome.status is Status.FINDING else 0


def number(outcome: CheckOutcome) -> int | None:
    """Return the number of a finding; ``None`` without one."""
    facts, check = outcome.facts, outcome.check
    if names := declared.numbers(check):
        values = [_counted(facts.get(name)) for name in names]
        return None if None in values else sum(values)
    return next((value for name in (check.rpartition(".")[2], "found") if type(value := facts.get(name)) is int), None)


def _steady_number(outcome: CheckOutcome | None) -> int | None:
    """Return the number of a finding, unless it drifts."""
    untold = outcome is None or outcome.status is not Status.FINDING or declared.drifts(outcome.check)
    return None if untold else number(outcome)


def _counted(value: object) -> int | None:
    return len(value) if isinstance(value, list | tuple | dict) else value if type(value) is int else None


def named(outcome: CheckOutcome, among: Container[str] | None = None) -> tuple[str, ...]:
    """Return the names in a finding: topics, brokers, rules.

    Args:
        among: Facts that count, for a comparison with a run that recorded fewer; ``None``: all.
    """
    lists = (outcome.facts[name] for name in _lists(outcome) if among is None or name in among)
    return tuple(_NAME_OF.get(type(item), str)(item) for value in lists for item in value)


def _lists(outcome: CheckOutcome) -> list[str]:
    """Facts with names; a missing one, as in runs of an older version, is unknown, not empty."""
    wanted = _NAMES_OF.get(outcome.check, _NAMES)
    return [name for name in wanted if isinstance(outcome.facts.get(name), list | tuple | dict)]


_NAME_OF: Mapping[type, Callable[[object], str]] = {int: lambda broker: f"broker {broker}"}


def _ended(outcome: CheckOutcome | None, value: int | None = None) -> str:
    if outcome is None:
        return "not asked"
    return str(value) if value is not None else outcome.severity.value if outcome.severity else outcome.status.value
