"""Degraded cases, asked, compared with the whole ones, and shrunk."""

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from casebook.case.case import Case
from casebook.facts.events import is_log
from casebook.findings.finding import Finding, Status
from casebook.kafka import release
from casebook.kafka.partitions import dead_brokers
from casebook.notebook.examination import Examination
from casebook.questions.timeline.scans import logs
from tests.case_copies import CaseCopy
from tests.degraded import comparing, labels, removals
from tests.degraded.comparing import CONTRADICTION, EQUAL, FALSE_OK, WEAKER
from tests.degraded.removals import Degradation, Removal
from tests.drawn_cases import DrawnCase
from tests.questions.agreement import disagreements
from tests.unreadable import answers, lesser, matrix
from tests.unreadable.needs import lacks, prints_settings

AS_LABELLED = "as labelled"
"""Another answer than the truth, to evidence that says something false of itself that nothing else in it contradicts."""
DISAGREEMENT = "disagreement"
"""Two notebooks that say, order or count otherwise on the same evidence."""
BAD = (CONTRADICTION, FALSE_OK, DISAGREEMENT)
_DRAWN = "drawn-"
_TRIAGE = "10"
"""Scans nothing, and takes what others scanned: it is asked last, as every degraded case has these results."""
_BY_LEADERS = frozenset({"loss.lost", "loss.looked_everywhere", "loss.outside_every_window", "loss.stored_though_failed"})
"""Checks that read leaders' copies: what another broker held of these partitions they do not rest on."""
_OF_DISKS = frozenset({"log dirs", "segments"})
_BY_COORDINATORS = frozenset(
    {"coordinators.known", "coordinators.waiting", "coordinators.loading_for_ever", "coordinators.failed"}
)
"""Checks that read the logs of who leads offsets partitions, or may: what one that is down logged they do not rest on."""
_OF_SERVERS = frozenset({"all logs", "logs of brokers", "server logs"})


class Cell(NamedTuple):
    """What a notebook says to a check on a degraded case.

    Args:
        outcome: How it compares.
        what: Which part of the answer is another.
        whole: The answer on the whole case, in short.
        said: The answer, in short.
    """

    degradation: Degradation
    notebook: str
    check: str
    outcome: str
    what: str
    whole: str
    said: str


class Whole:
    """A case that nothing was taken from, and what is answered to it.

    Args:
        source: Name of a sample, a case folder, or ``drawn-7``: the seventh of :mod:`tests.drawn_cases`.
        room: For what is made.
        notebooks: That are asked.
    """

    def __init__(self, source: str, room: Path, notebooks: Collection[str] = answers.ALL) -> None:
        self.source, self.notebooks, self._room = source, tuple(notebooks), room
        place = _place(source, room)
        self.folder = lesser.with_client(place, room / place.name)
        scanned = sorted(self.notebooks, key=lambda notebook: notebook == _TRIAGE)
        self.answers = answers.answers(self.folder, scanned)
        self._earlier: dict[Removal, dict[str, Finding]] = {}
        self._cells: dict[str, list[Cell]] = {}

    def drawn(self, count: int, seed: int) -> Iterator[Degradation]:
        """Degradations of it."""
        return removals.drawn(self.folder, self.source, count, seed)

    def cells(self, degradation: Degradation) -> list[Cell]:
        """What is said to a degraded case; none where nothing could be taken."""
        text = str(degradation)
        if text not in self._cells:
            self._cells[text] = self._asked(degradation)
        return self._cells[text]

    def _asked(self, degradation: Degradation) -> list[Cell]:
        target = self._room / "degraded"
        shutil.rmtree(target, ignore_errors=True)
        copy = CaseCopy(self.folder, target, scans=not any(map(_is_of_bytes, degradation.removals)))
        taken = removals.apply(copy, degradation.removals)
        if not taken:
            return []
        copy.done()
        is_told = labels.is_told(copy, taken)
        java = {"JAVA_HOME": str(matrix.old_java(self._room / "java"))} if any(one.way == lesser.JAVA for one in taken) else {}
        with mock.patch.dict(os.environ, java):
            found = answers.answers(target, self.notebooks)
        printed = prints_settings(target)
        references = [self._as_of(one) for one in taken if one.way == "at"]
        ranked = not any(said[_OFFLINE].facts.get("unknown_heals") for said in found.values() if _OFFLINE in said)
        earlier = {comparing.first_started(one) for reference in references for one in reference.values()}
        starts = (self._starts_first if ranked else self._starts) | earlier
        cells = [
            self._cell(degradation, taken, notebook, check, finding, references, is_told, printed, starts)
            for notebook, said in found.items()
            for check, finding in said.items()
        ]
        differ = DISAGREEMENT if is_told else AS_LABELLED
        return [*cells, *(Cell(degradation, "each", "plan", differ, words, "", "") for words in disagreements(found))]

    def _cell(self, degradation, taken, notebook, check, finding, references, is_told, printed, starts) -> Cell:
        before = self.answers[notebook].get(check)
        wholes = [before, *(reference[check] for reference in references if check in reference)]
        compared = min((comparing.compare(one, finding, starts) for one in wholes), key=lambda one: _ORDER.index(one.outcome))
        outcome, what = compared
        if finding.status is Status.OK and any(self._lacks(finding, one, printed) for one in _left(taken)):
            outcome, what = FALSE_OK, "ok without what it rests on"
        if outcome in BAD and (not is_told or (degradation.has_false_label and check == _CLOCKS)):
            outcome = AS_LABELLED
        return Cell(degradation, notebook, check, outcome, what, _short(before), _short(finding))

    def _lacks(self, finding: Finding, removal: Removal, printed: bool) -> bool:
        if removal.kind not in lesser.ALL_KINDS or removal.way not in lesser.ways(removal.kind):
            return False
        if finding.check in _BY_LEADERS and removal.kind in _OF_DISKS and removal.of and removal.of not in self._leaders:
            return False
        if finding.check in _BY_COORDINATORS and removal.kind in _OF_SERVERS and removal.of in self._down:
            return False
        if removal.kind == "cleaner logs" and self._is_emptied(f"brokers/{removal.of or '*'}/logs/*cleaner*"):
            return False  # as of a cleaner that had nothing to do
        if removal.way == "cut" and removal.kind in lesser.FILES and self._ends_with_lines(removal):
            return False  # its torn end was taken off again
        kind = f"{removal.kind}{lesser.ONE}" if removal.of else removal.kind
        return lacks(finding, kind, removal.way, printed=printed)

    def _is_emptied(self, pattern: str) -> bool:
        """Whether nothing is left of files that cannot be read, once all was taken."""
        return not any(path.stat().st_size for path in (self._room / "degraded").glob(pattern))

    def _ends_with_lines(self, removal: Removal) -> bool:
        """Whether the logs that were cut end with whole lines, once all was taken."""
        target = self._room / "degraded"
        names = [path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()]
        begin = f"brokers/{removal.of}/" if removal.of else ""
        cut = [name for name in names if is_log(name) and name.startswith(begin) and lesser.FILES[removal.kind](name)]
        return bool(cut) and all((target / name).read_bytes()[-1:] in (b"", b"\n") for name in cut)

    @cached_property
    def _leaders(self) -> frozenset[str]:
        """Who leads what ledgers are about: partitions whose segments are in the case."""
        case = Case.open(self.folder)
        copied = {(copy.topic, copy.partition) for log_dir in case.log_dirs() for copy in log_dir.replicas if copy.copied}
        led = (p for p in case.cluster().partitions if (p.topic, p.partition) in copied and p.state)
        return frozenset(str(p.state.leader) for p in led if not p.topic.startswith("__"))

    @cached_property
    def _starts_first(self) -> frozenset[tuple[int, ...]]:
        """Whom its plan starts first, on any page."""
        return frozenset(comparing.first_started(one) for said in self.answers.values() for one in said.values()) - {()}

    @cached_property
    def _starts(self) -> frozenset[tuple[int, ...]]:
        """Whom its plan starts, in any step."""
        pages = self.answers.values()
        return frozenset(step.starts for said in pages for one in said.values() for step in one.next) - {()}

    @cached_property
    def _down(self) -> frozenset[str]:
        """Brokers that are known to be gone."""
        cluster = Case.open(self.folder).cluster()
        return frozenset(map(str, dead_brokers(cluster)))

    def _as_of(self, removal: Removal) -> dict[str, Finding]:
        """What the whole case says of the moment of which the znodes are."""
        if removal not in self._earlier:
            case = Case.open(self.folder)
            at = labels.moment_of(case, removal)
            cluster = case.cluster(at)
            version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
            book = Examination(
                case=case, cluster=cluster, version=version, at=at, progress=lambda *_, **__: lambda *_: None
            )  # fmt: skip
            asked = (book.leadership(), book.maintenance(scan=False), book.durability())
            found = (*book.evidence, *(finding for answer in asked for finding in answer.findings))
            found = book.advised(found, book.plan(found))
            self._earlier[removal] = {finding.check: finding for finding in found}
        return self._earlier[removal]


_OFFLINE = "leadership.offline"
_CLOCKS = "timeline.clocks"
"""A clock that was made wrong is one to be found; of all others none is."""
_ORDER = (EQUAL, WEAKER, CONTRADICTION, FALSE_OK)


def _is_of_bytes(removal: Removal) -> bool:
    """Whether results of scans may not be taken over: who has no segments has none of them either."""
    return removal.kind in ("segments", "indexes", "log dirs", "ledgers", lesser.CHECKPOINTS) or removal.way == lesser.JAVA


def _place(source: str, room: Path) -> Path:
    if source.startswith(_DRAWN):
        return DrawnCase(int(source.removeprefix(_DRAWN))).write(room / "made" / source)
    return matrix.SAMPLES / source if (matrix.SAMPLES / source).is_dir() else Path(source)


def _left(taken: Sequence[Removal]) -> Iterator[Removal]:
    """Of what was taken what shows: a file that cannot be read is not there to be read where a later removal takes it away,
    empties it, or writes it anew, as all znodes are at an earlier moment.
    """
    for place, one in enumerate(taken):
        if not any(_hides(later, one) for later in taken[place + 1 :]):
            yield one


def _hides(later: Removal, one: Removal) -> bool:
    if later.way == "swapped":  # what was not taken of one broker is there under its name: that of the other
        return "logs" in one.kind and one.of in later.of.split()
    if later.kind == "file":
        return lesser.FILES.get(one.kind, lambda _: False)(later.of) and one.of in ("", later.of.split("/")[1])
    if later.way not in ("left out", "empty", "at") or not lesser.is_part(one.kind, later.kind):
        return False
    return later.way == "at" or later.of in ("", one.of)


def _short(finding: Finding | None) -> str:
    return f"{finding.status.value}: {finding.title}" if finding else ""


def bad(cells: Collection[Cell]) -> set[tuple[str, str]]:
    """Check and outcome of what may not be."""
    return {(cell.check, cell.outcome) for cell in cells if cell.outcome in BAD}


def shrunk(whole: Whole, cell: Cell) -> Cell:
    """The same fault with the fewest removals."""
    while len(cell.degradation.removals) > 1:
        smaller = (whole.cells(cell.degradation.without(index)) for index in range(len(cell.degradation.removals)))
        same = next((one for cells in smaller for one in cells if _is_same(one, cell)), None)
        if same is None:
            break
        cell = same
    return cell


def _is_same(one: Cell, other: Cell) -> bool:
    return (one.check, one.outcome, one.notebook) == (other.check, other.outcome, other.notebook)


@contextmanager
def logs_read_once() -> Iterator[None]:
    """Lets the lines of a log be taken apart once for all cases that hold it: starting Java takes longest."""
    read, kept = logs.typed, {}

    def typed(files, layout=None):
        files = list(files)
        if "java" in os.environ.get("JAVA_HOME", ""):
            yield from read(files, layout)
            return
        keys = [(path.read_bytes(), path.suffix, zone, layout) for path, zone in files]
        new = [index for index, key in enumerate(keys) if key not in kept]
        found = {keys[index]: [] for index in new}
        for row in read([files[index] for index in new], layout) if new else ():
            found[keys[new[row["file"]]]].append(row)
        kept.update(found)
        for index, key in enumerate(keys):
            yield from ({**row, "file": index} for row in kept[key])

    with mock.patch.object(logs, "typed", typed):
        yield
