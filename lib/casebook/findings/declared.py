"""What each question declares of itself, once: its notebook, what its checks are called, what it explains, its tables.

A question is a folder of ``casebook.questions``, and its module ``declared`` holds ``QUESTION``. The folders are found by walking
the package, so no list has to name a new one. This room knows questions by what they declare alone, and imports none of them.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from casebook.facts.observed import Source

_OF_EVIDENCE: Mapping[str, tuple[str, ...]] = {"evidence.complete": ("missing",), "evidence.decoded": ("undecodable",)}
"""As questions declare ``numbers``: of the checks on the evidence itself, which belong to every question."""

LAST = 100
"""The place of what nobody has said of how much it hurts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Checks whose names begin with one word.

    Args:
        name: That word, e.g. ``leadership``.
        hurts: Its place among all areas, the lower the sooner it is read: what is broken now (10 to 29), what was (30 to 59),
            what is about to be (60 to 79), what may be (80 to 99).
        rests_on: The evidence that answers most of its questions; ``None`` where none does alone.
        is_now: Whether what znodes say in it is who leads, and who lives, now: withheld where they are known to be of the past.
        is_setup: Whether it is how topics are set up: that holds of the topics which such znodes know.
    """

    name: str
    hurts: int = LAST
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
        areas: What its checks are called.
        explains: Checks that it goes on from, each with what it tells of them; the first says most. Of several questions that
            explain a check, the one that names it most closely counts.
        adds_to: Checks that another explains, and this one says more of.
        tables: The class of their rows, by name: see :mod:`casebook.findings.columns`.
        rules: What each of its numbered rules says, by number, where docs/rules.md takes them from here.
        numbers: The facts that the number of a finding stands in, or whose lengths it is, added up. Else it is the fact named as
            the check is, or ``found``; a check without either has none: what else stands in facts are ids and epochs.
        past: Checks that tell of what has happened: that less of it is seen, as logs are rolled, makes nothing better.
        drifting: Checks whose numbers grow with every commit: what matters of it is in the trends.
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


def explaining(check: str) -> Declaration | None:
    """The question that explains a check; ``None`` for those on the evidence itself."""
    named = [(prefix, question) for question in questions() for prefix in question.explains if check.startswith(prefix)]
    return max(named, key=lambda one: len(one[0]), default=("", None))[1]


def numbers(check: str) -> tuple[str, ...]:
    """The facts that its number stands in; none where its own name says so: see :class:`Declaration`."""
    return next((one.numbers[check] for one in questions() if check in one.numbers), _OF_EVIDENCE.get(check, ()))


def is_past(check: str) -> bool:
    """Whether it tells of what has happened."""
    return check.startswith(tuple(prefix for question in questions() for prefix in question.past))


def drifts(check: str) -> bool:
    """Whether its number grows with every commit."""
    return any(check in question.drifting for question in questions())
