"""Declaration of each question: its notebook, names of checks, explained checks, and tables.

A question is a folder of ``casebook.questions``, and its module ``declared`` defines ``QUESTION``. The folders are found by
walking the package, so no list must name a new one. This module uses only the declarations, and imports no question.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from casebook.facts.observed import Source

_OF_EVIDENCE: Mapping[str, tuple[str, ...]] = {"evidence.complete": ("missing",), "evidence.decoded": ("undecodable",)}
"""As questions declare ``numbers``: of the checks on the evidence itself, which belong to every question."""

PAST, IMMINENT, LAST = 30, 60, 100
"""Where the areas on the past begin, and on what is still to come; the order of an undeclared area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Checks whose names begin with one word.

    Args:
        name: That word, e.g. ``leadership``.
        hurts: Order among all areas, lower ones first: current failures (10 to 29), past ones (30 to 59), imminent ones (60 to
            79), risks (80 to 99).
        first: Checks whose findings come first among equally severe ones; the others follow by name.
        rests_on: The evidence that answers most of its questions; ``None`` where none does alone.
        is_now: Whether it depends on current leaders and live brokers: withheld when the znodes are known to be outdated.
        is_setup: Whether it is how topics are set up: that holds of the topics which such znodes know.
    """

    name: str
    hurts: int = LAST
    first: tuple[str, ...] = ()
    rests_on: Source | None = None
    is_now: bool = False
    is_setup: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A question.

    Checks are named by how their names begin.

    Args:
        notebook: Its stem, e.g. ``20_partition_leadership``.
        answers: The method of :class:`casebook.notebook.examination.Examination` whose findings are its whole answer; empty where
            its cells put it together.
        areas: Names of its checks.
        explains: Checks that it explains, each with a sentence; the first is the most important. Among several questions for a
            check, the most specific name counts.
        adds_to: Checks that another explains, and this one says more of.
        tables: The class of their rows, by name: see :mod:`casebook.findings.columns`.
        rules: Text of each numbered rule, by number, the source of docs/rules.md.
        numbers: Facts with a finding's number, or lists whose lengths add up to it. By default the fact named after the check, or
            ``found``; a check without either has no number: its other facts are ids and epochs.
        past: Checks on the past: a lower count, e.g. after log rolling, is no improvement.
        risks: Checks on what could happen, in an area of failures.
        drifting: Checks with numbers that grow with every commit; the trends cover them.
    """

    notebook: str
    answers: str = ""
    areas: tuple[Area, ...] = ()
    explains: Mapping[str, str] = field(default_factory=dict)
    adds_to: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, type] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    past: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    drifting: tuple[str, ...] = ()


@cache
def questions() -> tuple[Declaration, ...]:
    """All questions, by the number of their notebook."""
    package = import_module("casebook.questions")
    folders = [module.name for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.") if module.ispkg]
    return tuple(sorted((import_module(f"{name}.declared").QUESTION for name in folders), key=lambda one: one.notebook))


@cache
def _areas() -> Mapping[str, Area]:
    return {area.name: area for question in questions() for area in question.areas}


def area_of(check: str) -> Area:
    """The area of a check, by the first word of its name; one of which nothing is said where no question has it."""
    name = check.partition(".")[0]
    return _areas().get(name, Area(name=name))


def place_of(check: str) -> tuple[int, int, str]:
    """The order of a check among equally severe ones: its area's, that within it, its name."""
    area = area_of(check)
    return area.hurts, area.first.index(check) if check in area.first else len(area.first), check


def explaining(check: str) -> Declaration | None:
    """The question that explains a check; ``None`` for those on the evidence itself."""
    named = [(prefix, question) for question in questions() for prefix in question.explains if check.startswith(prefix)]
    return max(named, key=lambda one: len(one[0]), default=("", None))[1]


def numbers(check: str) -> tuple[str, ...]:
    """Return the facts with its number; none for those of its own name: see :class:`Declaration`."""
    return next((one.numbers[check] for one in questions() if check in one.numbers), _OF_EVIDENCE.get(check, ()))


def is_past(check: str) -> bool:
    """Return whether it is about the past."""
    return check.startswith(tuple(prefix for question in questions() for prefix in question.past))


def is_to_come(check: str) -> bool:
    """Whether it is about what is imminent, or could happen."""
    declared = tuple(prefix for question in questions() for prefix in question.risks)
    return area_of(check).hurts >= IMMINENT or check.startswith(declared)


def is_under_way(check: str) -> bool:
    """Whether it is about what fails now."""
    return not is_to_come(check) and area_of(check).hurts < PAST


def drifts(check: str) -> bool:
    """Whether its number grows with every commit."""
    return any(check in question.drifting for question in questions())
