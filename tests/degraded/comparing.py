"""How an answer on lesser evidence compares with the one on the whole case.

Comparable, as it is said of the cluster and would be the same however much of it was collected:

* ``status``, ``severity``, and the kind and ids of ``subject``.
* ``since``, with what ``at_latest`` makes of it: a bound. An exact begin must be that of the whole case within a second; a bound may be
  later, and never lies before an exact begin that was known.
* ``facts``: numbers, texts, moments, lists and mappings of them, by name. A number may be smaller where the finding states that it saw a
  part (``at least`` in the title, a fact of :data:`_OF_UNSEEN` above nothing, or evidence that it says to end earlier), larger where it states a bound (``at most``, ``up to``
  in the title, or that more ``may be counted too``), and unknown always; durations (``..._ms``, ``milliseconds``) are the same within a second, as clocks err. A list may be
  shorter where the number may be smaller, or by what the list ``unknown_...`` beside it names, and never names what the whole one does not.
  Of ``candidates`` the first is compared: the root that is named. Of ``events`` one that only says that a broker lost its session
  is held against all that befell this broker: that is what its other events have in common, and a person reads no cause in it.
  ``closed`` is the last end of several windows, so it is a bound as a number is. Bounds that say so, ``..._low`` and ``..._high``, may be
  wider. Where an answer says of which moments it is, ``as_of``, one of an earlier moment is compared by its status alone.
* ``subject``, which may be one of several that the whole answer names in ``brokers``.
* ``next``: the brokers that the first step with any ``starts``.

Of an answer on another of the ``brokers`` that the whole one names the facts of that broker are its own: only how many, and which, are
compared.

Wording, or about the evidence itself, so not comparable: ``title``, ``why``, ``looked_at``, ``threshold``, ``caveats``, ``evidence``,
``settle``, the text of steps, facts of :data:`_OF_EVIDENCE`, and what the checks of :data:`ABOUT_EVIDENCE` find. Of these checks only
a false ``ok`` counts.

``ok`` of evidence that ends before what the whole case finds began, and says so, is an answer as of then; so is one "in this history"
where that is shorter, and one of fewer clients, which it counts.

An answer to a lesser case may be weaker: could not check, not applicable (with a reason), a lower severity, a bound for a value, unknown
for a number. It may not be stronger: what could not be checked of all the evidence is not known from a part of it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from casebook.facts.observed import Source
from casebook.findings.finding import Finding, Status, rank
from casebook.questions.loss.analysis.unprocessed_rows import SkipKind

EQUAL, WEAKER, CONTRADICTION, FALSE_OK = "equal", "weaker", "contradiction", "false ok"

ABOUT_EVIDENCE = frozenset(
    {
        "evidence.complete", "evidence.decoded", "evidence.next", "evidence.pasted", "evidence.tools", "evidence.kafka_version",
        "offsets_topic.damage", "offsets_topic.decoded", "loss.ledger", "timeline.owners", "timeline.untyped", "timeline.silences",
        "coordinators.log_lines",
    }
)  # fmt: skip
_OF_EVIDENCE = frozenset(
    {
        "unreadable", "parts", "missing", "origin", "origins", "lines", "shapes", "untold", "unknown", "skew_ms", "uncertainty_ms", "reason",
        "chains", "bound", "of_unknown_length", "missing_in_sync", "unjudged",
        "rules_of_copies", "damaged",
    }
)  # fmt: skip
"""Facts that count what was looked at, or what of it is unknown."""
_OF_UNSEEN = ("unknown", "untold", "of_unknown_length", "unknown_copies", "missing", "missing_in_sync")
_AT_LEAST = re.compile(r"\bat least\b|\bmore than\b|as far as", re.IGNORECASE)
_AT_MOST = re.compile(r"\bat most\b|\bup to\b|\bno more than\b", re.IGNORECASE)
_COUNTED_TOO = "may be counted too"
"""Said of what the whole case leaves out, and the lesser one cannot tell apart."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_DURATION = re.compile(r"(?:_ms|milliseconds)$")
_SECOND = 1.0
_SECONDS = "seconds"
_ROOTS = "candidates"
_BEGIN = "opened"
"""A begin that is a bound where ``at_latest`` says so."""
_END = "closed"
"""The last end of several windows: with fewer of them it may be earlier, and it may be later where their lengths are bounds."""
_LAST = frozenset({_END, "died"})
"""The last of several moments: of evidence that ends before, an earlier one."""
_LOST = re.compile(r"broker (\d+) lost its session")
"""Of an event all that is sure where the log of its broker is missing: whatever befell the broker, it was that."""
_PREFERRED = "preferred election"
_MOVED = re.compile(r"planned move from broker \d+")
_OF_HISTORY = "in this history"
_OF_CLIENTS = frozenset(f"{noun}{many}" for noun in ("client", "consumer", "producer") for many in ("", "s"))
_AS_OF = "as_of"
"""Of which moment each log is that was read: of fewer logs, fewer."""
_UNKNOWN_OF = {"start_first": "unknown_heals"}
"""Which fact counts what is unknown of another, where it is not called by its name."""
_WAITING = "coordinators.waiting"
_OPEN = frozenset({"open_ends", "still", "open"})
"""How many ends nobody knows: with less evidence, more."""


class Difference(NamedTuple):
    """What became of an answer.

    Args:
        outcome: One of the constants above.
        what: Which part of it is another, and how.
    """

    outcome: str
    what: str = ""


def compare(whole: Finding | None, lesser: Finding | None, starts: Collection[tuple[int, ...]] = ()) -> Difference:
    """Hold an answer against that on the whole case; ``None`` for a check that was not asked there.

    Args:
        starts: Whom the plan of the whole case starts first: the step before it may be of what is not known any more. Where the
            lesser case does not know which start heals most, whom it starts at all: each is told to heal "at least" so many.
    """
    if lesser is None or whole is None:
        return _unasked(whole, lesser)
    if lesser.status is not whole.status:
        return _other_status(whole, lesser)
    if lesser.check in ABOUT_EVIDENCE or lesser.status not in (Status.FINDING, Status.OK):
        return Difference(EQUAL if lesser.title == whole.title else WEAKER)
    earlier = _is_earlier(whole.facts.get(_AS_OF), lesser.facts.get(_AS_OF))
    wrong = [] if earlier else [*_of_the_head(whole, lesser, starts), *_of_facts(whole, lesser)]
    if wrong:
        return Difference(CONTRADICTION, "; ".join(wrong))
    return Difference(EQUAL if _core(whole) == _core(lesser) else WEAKER)


def _unasked(whole: Finding | None, lesser: Finding | None) -> Difference:
    if lesser is None:
        return Difference(WEAKER, "not asked")
    if lesser.status is Status.FINDING and lesser.check not in ABOUT_EVIDENCE:
        return Difference(CONTRADICTION, "found, where the whole case does not ask")
    return Difference(EQUAL if lesser.status is not Status.COULD_NOT_CHECK else WEAKER)


def _other_status(whole: Finding, lesser: Finding) -> Difference:
    change = f"{whole.status} -> {lesser.status}"
    if lesser.status is Status.OK:
        as_of_then = (
            _ends_before(whole, lesser)
            or _is_of_less(whole, lesser)
            or _is_earlier(whole.facts.get(_AS_OF), lesser.facts.get(_AS_OF))
        )
        return Difference(WEAKER if as_of_then else FALSE_OK, change)
    if lesser.status is Status.FINDING and lesser.check not in ABOUT_EVIDENCE and not _is_of_its_logs_end(whole, lesser):
        return Difference(CONTRADICTION, change)
    return Difference(WEAKER, change)


def _is_of_its_logs_end(whole: Finding, lesser: Finding) -> bool:
    """Whether it says what was so when its logs ended, of which the whole case says that it may be over by a later moment."""
    waited = whole.check == _WAITING and "when the log of" in whole.title
    return waited and set(lesser.facts["partitions"]) <= set(whole.facts["partitions"])


def _core(finding: Finding) -> tuple[object, ...]:
    """All of it that is comparable."""
    facts = {name: value for name, value in finding.facts.items() if _is_comparable(name)}
    return finding.severity, finding.subject, finding.since, finding.at_latest, facts, first_started(finding)


def _is_comparable(fact: str) -> bool:
    return fact not in _OF_EVIDENCE and not fact.startswith("unknown_")


def first_started(finding: Finding) -> tuple[int, ...]:
    """The brokers of the first step that starts any."""
    return next((step.starts for step in finding.next if step.starts), ())


def _of_the_head(whole: Finding, lesser: Finding, starts: Collection[tuple[int, ...]]) -> Iterator[str]:
    if rank(lesser.severity) < rank(whole.severity):
        yield f"severity {whole.severity} -> {lesser.severity}"
    if lesser.subject not in (whole.subject, {"kind": "cluster"}) and not _is_one_of(lesser.subject, whole):
        yield f"subject {dict(whole.subject)} -> {dict(lesser.subject)}"
    if first_started(lesser) and first_started(lesser) not in (first_started(whole), *starts):
        yield f"first step starts {first_started(whole)} -> {first_started(lesser)}"
    if whole.since and lesser.since and not (lesser.at_latest and _is_of_another(whole, lesser)):
        later = _seconds(lesser.since) - _seconds(whole.since)
        exact = not whole.at_latest
        if (not lesser.at_latest and (abs(later) > _SECOND if exact else later > _SECOND)) or (exact and later < -_SECOND):
            yield f"since {whole.since} -> {lesser.since}"


def _is_of_another(whole: Finding, lesser: Finding) -> bool:
    return lesser.subject != whole.subject and _is_one_of(lesser.subject, whole)


def _is_one_of(subject: Mapping[str, object], whole: Finding) -> bool:
    return subject.get("kind") == "broker" == whole.subject.get("kind") and subject["broker"] in whole.facts.get("brokers", ())


def _ended_earlier(whole: Finding, lesser: Finding) -> list[int]:
    """Where evidence ends, epoch ms, that ends earlier than that of the whole case: the answer says so, and counts up to there."""
    before, now = whole.coverage.observed, lesser.coverage.observed
    return [now[source].last for source in now.keys() & before.keys() if now[source].last < before[source].last]


def _ends_before(whole: Finding, lesser: Finding) -> bool:
    """Whether the evidence ends before what the whole case finds began."""
    ends = _ended_earlier(whole, lesser)
    return bool(ends and whole.since) and min(ends) < 1000 * (_seconds(whole.since) + _SECOND)


def _is_of_less(whole: Finding, lesser: Finding) -> bool:
    """Whether it is said of a history by name, or of so many clients, and this one is shorter, or of fewer than were known."""
    if {whole.coverage.what, lesser.coverage.what} <= _OF_CLIENTS:
        noun = lesser.coverage.what.removesuffix("s")
        return (lesser.coverage.of or 0) < (whole.coverage.of or 0) and f"{lesser.coverage.of} {noun}" in lesser.title
    before, now = whole.coverage.observed.get(Source.HISTORY), lesser.coverage.observed.get(Source.HISTORY)
    return _OF_HISTORY in lesser.title and None not in (before, now) and (now.first > before.first or now.last < before.last)


def _is_earlier(whole: Mapping[str, str] | None, lesser: Mapping[str, str] | None) -> bool:
    """Whether the evidence of any broker ends earlier."""
    return any(_seconds(at) < _seconds(whole[of]) for of, at in (lesser or {}).items() if whole and of in whole)


def _of_facts(whole: Finding, lesser: Finding) -> Iterator[str]:
    shared = whole.facts.keys() & lesser.facts.keys()
    shared &= {"brokers"} if _is_of_another(whole, lesser) else shared
    fewer = bool(_AT_LEAST.search(lesser.title) or any(_above_nothing(lesser.facts.get(name)) for name in _OF_UNSEEN))
    fewer |= bool(_ended_earlier(whole, lesser))
    more = _AT_MOST.search(lesser.title) or any(_COUNTED_TOO in caveat for caveat in lesser.caveats)
    for name in sorted(filter(_is_comparable, shared)):
        before, now = whole.facts[name], lesser.facts[name]
        unknown = lesser.facts.get(_UNKNOWN_OF.get(name, f"unknown_{name}"))
        bounds = fewer or name == _AS_OF or (isinstance(unknown, int) and unknown > 0), bool(more)
        if name in _OPEN and before is not None and now is not None and now >= before:
            continue
        if before and now and ((name.endswith("_low") and now <= before) or (name.endswith("_high") and now >= before)):
            continue
        if name == _BEGIN and lesser.at_latest and before and now and now >= before:
            continue
        if _names_what_it_lacks(before, now, unknown):
            continue
        if name in _LAST and before and now and ((bounds[0] and now < before) or (bounds[1] and now > before)):
            continue
        if name == "events" and before and now:
            before = _less_specific(before, now)
        if name == _ROOTS:
            before, now = before[:1], now[:1]
        near = (_DURATION.search(name) and _is_near(before, now)) or (name == _SECONDS and _are_near(before, now))
        if not (_fits(before, now, bounds) or near):
            yield f"{name} {before!r} -> {now!r}"


def _names_what_it_lacks(before: object, now: object, unknown: object) -> bool:
    """Whether a list is shorter by nothing but what the answer itself names as not known."""
    if not all(isinstance(one, Sequence) and not isinstance(one, str) for one in (before, now, unknown)):
        return False
    return set(now) <= set(before) <= {*now, *unknown}


def _less_specific(before: Mapping[str, int], now: Mapping[str, int]) -> Mapping[str, int]:
    """Events of the whole case, those of a broker summed up where the lesser one says no more than that it lost its session.

    A preferred election is a planned move: which one it is, assignments tell.
    """
    found = dict(before)
    if _PREFERRED in before and _PREFERRED not in now:
        moved = next(filter(_MOVED.fullmatch, now), _PREFERRED)
        found[moved] = found.get(moved, 0) + found.pop(_PREFERRED)
    for said in filter(_LOST.fullmatch, now):
        of = re.compile(rf"(?:.* )?broker {_LOST.fullmatch(said)[1]}\b.*")
        own = [event for event in found if of.fullmatch(event) and event not in now]
        found[said] = sum(found.pop(event) for event in own)
    return found


def _is_near(before: object, now: object) -> bool:
    return isinstance(before, int) and isinstance(now, int) and abs(before - now) <= 1000 * _SECOND


def _are_near(before: object, now: object) -> bool:
    """Estimates by what was measured: with fewer measurements, others."""
    both = isinstance(before, Mapping) and isinstance(now, Mapping)
    return both and all(
        value is None or (before.get(key) is not None and abs(before[key] - value) <= _SECOND) for key, value in now.items()
    )


def _above_nothing(value: object) -> bool:
    return bool(value) and (not isinstance(value, int) or value > 0)


def _fits(before: object, now: object, bounds: tuple[bool, bool]) -> bool:
    """Whether a value of less evidence fits that of all; ``bounds`` say whether it may be less, and more."""
    fewer, more = bounds
    if now is None or before == now:
        return True
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        now = {key: value for key, value in now.items() if key in before or key != SkipKind.CANNOT_TELL}
        return all(key in before and _fits(before[key], value, bounds) for key, value in now.items()) and (
            fewer or len(now) == len(before)
        )
    if isinstance(before, Sequence) and isinstance(now, Sequence) and not isinstance(before, str):
        if len(before) == len(now) and all(_fits(one, other, bounds) for one, other in zip(before, now, strict=True)):
            return True
        return fewer and all(item in before for item in now)
    if isinstance(before, (int, float)) and isinstance(now, (int, float)):
        return (fewer and now < before) or (more and now > before)
    if isinstance(before, str) and isinstance(now, str) and _MOMENT.match(before) and _MOMENT.match(now):
        return abs(_seconds(now) - _seconds(before)) <= _SECOND
    return False


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
