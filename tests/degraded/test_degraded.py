"""Less evidence never changes an answer: a slice of the harness; all of it is ``python -m tests.degraded``."""

from datetime import timedelta
from pathlib import Path

import pytest

from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Severity, Status, Step
from tests import shifted_logs
from tests.case_copies import CaseCopy
from tests.degraded import harness, labels, removals
from tests.degraded.comparing import CONTRADICTION, EQUAL, FALSE_OK, WEAKER, compare
from tests.degraded.harness import Whole
from tests.degraded.removals import Degradation, Removal
from tests.unreadable import matrix

RICH, PLAIN = "kill_before_drain", "leader_minus_one"
"""Both are answered within seconds: one with history and log dirs, of which nothing went wrong, and one with partitions offline."""
_NOTEBOOKS = ("10", "90")
_DRAWN = 6


class _Wholes(dict[str, Whole]):
    """Whole cases by name, opened when they are first asked for: of all but the two, triage alone is asked."""

    def __init__(self, room: Path) -> None:
        super().__init__()
        self._room = room

    def __missing__(self, name: str) -> Whole:
        self[name] = Whole(name, self._room, _NOTEBOOKS if name in (RICH, PLAIN) else _NOTEBOOKS[:1])
        return self[name]


@pytest.fixture(scope="module")
def wholes(tmp_path_factory):
    """The whole cases, and what is answered to them; each log is taken apart once."""
    with harness.logs_read_once():
        yield _Wholes(tmp_path_factory.mktemp("degraded"))


@pytest.mark.parametrize("sample", [RICH, PLAIN])
def test_no_other_answer(wholes, sample):
    """Of what is drawn, nothing is answered otherwise, and nothing is called well without evidence."""
    cells = [cell for one in wholes[sample].drawn(_DRAWN, seed=3) for cell in wholes[sample].cells(one)]
    assert {cell.outcome for cell in cells} >= {EQUAL, WEAKER}
    assert [cell for cell in cells if cell.outcome in harness.BAD] == []


@pytest.mark.parametrize("seed", range(6))
def test_no_other_answer_of_drawn_cases(wholes, seed):
    """As little of clusters that nobody played."""
    whole = wholes[f"drawn-{seed}"]
    cells = [cell for one in whole.drawn(4, seed=5) for cell in whole.cells(one)]
    assert [cell for cell in cells if cell.outcome in harness.BAD] == []


def test_of_which_evidence_and_when(wholes):
    """Every answer names the evidence that it looked at, which is there, and its moments."""
    dated = {Source.ZNODES, Source.HISTORY, Source.LOGS, Source.LOG_DIRS, Source.SEGMENTS}
    told = [finding for name in (RICH, PLAIN) for said in wholes[name].answers.values() for finding in said.values()]
    told = [finding for finding in told if finding.status in (Status.OK, Status.FINDING)]
    assert len(told) > 100
    assert [f.check for f in told if not f.coverage.by or dated.intersection(f.coverage.by) - f.coverage.observed.keys()] == []
    assert not any(Source.HISTORY in f.coverage.by for said in wholes[PLAIN].answers.values() for f in said.values())


_MENDED = (
    "drawn-0: denied/assignments",
    "drawn-0: garbage/assignments",
    "drawn-0: left out/znodes",
    "drawn-2: torn/all logs/1; unknown encoding/server logs",
    "drawn-5: empty/topic settings",
    "drawn-7: left out/all logs/2; denied/znodes",
    "drawn-9: holed/state-change logs",
    "drawn-14: left out/logs of brokers/2",
    "drawn-14: packed though not named so/controller logs",
    "drawn-15: empty/states",
    "drawn-21: holed/server logs",
    "drawn-35: older/logs/50",
    "drawn-42: cut/logs of brokers/2",
    "drawn-51: garbage/topic settings",
    "drawn-21: left out/file/brokers/3/logs/state-change.log",
    "restart_all_coordinators: newer/logs/90 of 3; binary/znodes",
    "kill_before_drain: cut/znodes",
    "kill_before_drain: denied/topic settings",
    "kill_before_drain: garbage/assignments",
    "leader_minus_one: denied/broker ids",
    "leader_minus_one: denied/states",
    "leader_minus_one: denied/subtree//config",
    "leader_minus_one: denied/assignments",
    "kill_before_drain: torn/logs of brokers",
    "leader_minus_one: torn/server.properties/4; left out/znodes",
    "leader_minus_one: left out/znodes",
    "leader_minus_one: cut/controller logs",
    "leader_minus_one: older/logs/50",
    "leader_minus_one: empty/broker ids",
    "leader_minus_one: swapped/logs/1 2; left out/server logs/2",
    "leader_minus_one: denied/subtree//admin",
    "kill_before_drain: swapped/logs/2 3; binary/cleaner logs/2; interleaved/server.log/2 3",
    "api_versions_storm: cut pack/all logs/2; empty/history",
    "isr_shrunk_loss: empty/history; holed/logs of brokers/3",
    "isr_shrunk_loss: older/logs/50 of 2",
    "isr_shrunk_loss: unknown layout/logs of brokers/3; garbage/history",
    "api_versions_storm: cut/server logs; newer/history/90",
    "coordinators_loading: winter/clock/50 of 1",
    "coordinators_loading: newer/logs/75",
    "coordinators_loading: cut/controller logs; denied/state-change logs/3",
    "leader_minus_one: older/logs/90 of 3; empty/znodes; binary/server logs/2",
    "coordinators_loading: cut/logs of brokers; empty/states",
    "restart_all_coordinators: summer/clock/75 of 1",
    "offsets_bloat: marked/logs; stripped/all logs/2",
    "api_versions_storm: older/logs/25",
    "api_versions_storm: older/logs/75 of 1",
    "offsets_bloat: older/logs/25",
    "acks1_loss: older/history/90",
    "acks1_loss: older/logs/25 of 1",
    "restart_all_coordinators: torn/server logs",
    "api_versions_storm: left out/controller logs/2; snapshots/history/1",
    "isr_shrunk_loss: binary/state-change logs/1; torn/server logs/1",
    "isr_shrunk_loss: newer/logs/75 of 1",
    "isr_shrunk_loss: newer/logs/75 of 1; unknown encoding/server logs/1",
    "acks1_loss: newer/logs/75 of 1",
    "isr_shrunk_loss: at/znodes/75",
    "kill_before_drain: summer/clock/25 of 4",
    "api_versions_storm: unknown layout/all logs; newer/history/90",
    "acks1_loss: older/logs/50",
    "isr_shrunk_loss: unknown layout/logs of brokers; older/history/75",
    "api_versions_storm: torn/logs of brokers/1; interleaved/server.log/1 2",
    "restart_all_coordinators: holed/all logs/3; cut pack/server logs/2",
    "leader_minus_one: unknown encoding/controller logs; denied/broker ids; cut/server logs",
)
"""Each showed a class of faults once."""


@pytest.mark.parametrize("text", _MENDED)
def test_mended(wholes, text):
    """What was mended stays mended."""
    cells = wholes[text.partition(":")[0]].cells(Degradation.parse(text))
    assert [cell for cell in cells if cell.outcome in harness.BAD] == []


_UNTOUCHED = {
    "left out/logs of ZooKeeper": ("leadership", "maintenance", "durability", "offsets_topic", "coordinators"),
    "empty/client files": ("leadership", "maintenance", "timeline", "offsets_topic", "coordinators", "loss"),
    "left out/cleaner logs": ("leadership", "maintenance", "durability", "loss"),
    "left out/history": ("leadership", "maintenance", "offsets_topic"),
    "left out/controller logs": ("leadership", "maintenance", "offsets_topic", "coordinators"),
}
"""By removal, the areas that do not rest on what it takes."""


@pytest.mark.parametrize("removal", _UNTOUCHED)
def test_floor(wholes, removal):
    """Silence is no way out: what does not rest on the evidence that was taken is answered as before, word by word."""
    cells = wholes[RICH].cells(Degradation(RICH, (Removal.parse(removal),)))
    untouched = [cell for cell in cells if cell.check.startswith(_UNTOUCHED[removal])]
    assert len(untouched) > 10
    assert [cell for cell in untouched if cell.outcome != EQUAL] == []


def test_same_text_same_case(tmp_path):
    """A degradation is its text: what is made of it again is the same, file by file."""
    sample = matrix.SAMPLES / RICH
    for number, one in enumerate(removals.drawn(sample, RICH, 8, seed=5)):
        again = Degradation.parse(str(one))
        assert again == one
        made = [_made(sample, tmp_path / f"{number} {turn}", one) for turn in (1, 2)]
        assert made[0] == made[1]
    assert [str(one) for one in removals.drawn(sample, RICH, 8, 5)] == [str(one) for one in removals.drawn(sample, RICH, 8, 5)]


def _made(case: Path, folder: Path, degradation: Degradation) -> dict[str, bytes]:
    copy = CaseCopy(case, folder)
    removals.apply(copy, degradation.removals)
    copy.done()
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("family", sorted({removal.family for removal in removals.single(matrix.SAMPLES / RICH)}))
def test_takes_something(family, tmp_path):
    """Each family of removals that is offered for a case changes it."""
    sample = matrix.SAMPLES / RICH
    first = next(removal for removal in removals.single(sample) if removal.family == family)
    copy = CaseCopy(sample, tmp_path / "case")
    before = {path: copy.read(path) for path in copy.paths}
    taken = removals.apply(copy, (first,))
    changed = {path: copy.read(path) for path in copy.paths} != before or first.way == "Java too old"
    assert bool(taken) == changed


def _finding(status=Status.FINDING, **more):
    severity = Severity.WARNING if status is Status.FINDING else None
    seen = Coverage.every(3, "partition", Source.ZNODES)
    common = {"check": "a.b", "question": "?", "status": status, "severity": severity, "title": "3 of 3", "coverage": seen}
    return Finding(**common | more)


_WHOLE = {"facts": {"count": 3, "names": ["a", "b", "c"]}, "since": "2026-11-21T10:00:00Z"}


@pytest.mark.parametrize(
    ("lesser", "outcome"),
    [
        (_finding(**_WHOLE, why="in other words"), EQUAL),
        (_finding(Status.COULD_NOT_CHECK), WEAKER),
        (_finding(Status.NOT_APPLICABLE), WEAKER),
        (_finding(Status.OK), FALSE_OK),
        (_finding(**_WHOLE | {"facts": {"count": 2, "names": ["a", "b", "c"]}}), CONTRADICTION),
        (_finding(**_WHOLE | {"facts": {"count": 2, "names": ["a", "b", "c"]}}, title="At least 2"), WEAKER),
        (_finding(**_WHOLE | {"facts": {"count": 4, "names": ["a", "b", "c"]}}, title="At least 4"), CONTRADICTION),
        (_finding(**_WHOLE | {"facts": {"count": 4, "names": ["a", "b", "c"]}}, title="At most 4"), WEAKER),
        (_finding(**_WHOLE | {"facts": {"count": None, "names": ["a", "b", "c"]}}), WEAKER),
        (_finding(**_WHOLE | {"facts": {"count": 3, "names": ["d"]}}, title="At least 2"), CONTRADICTION),
        (_finding(**_WHOLE | {"since": "2026-11-21T10:00:00.9Z"}), WEAKER),
        (_finding(**_WHOLE | {"since": "2026-11-21T10:05:00Z"}), CONTRADICTION),
        (_finding(**_WHOLE | {"since": "2026-11-21T10:05:00Z"}, at_latest=True), WEAKER),
        (_finding(**_WHOLE | {"since": "2026-11-21T09:55:00Z"}, at_latest=True), CONTRADICTION),
        (_finding(**_WHOLE, subject={"kind": "broker", "broker": 2}), CONTRADICTION),
        (_finding(**_WHOLE, next=(Step(kind="first", text="Start it.", starts=(2,)),)), CONTRADICTION),
    ],
)  # fmt: skip
def test_comparing(lesser, outcome):
    """What is another answer, and what only a weaker one."""
    assert compare(_finding(**_WHOLE), lesser).outcome == outcome


def test_what_could_not_be_checked_is_not_known_from_less():
    """Neither found nor well, where all the evidence did not tell."""
    assert compare(_finding(Status.COULD_NOT_CHECK), _finding()).outcome == CONTRADICTION
    assert compare(_finding(Status.COULD_NOT_CHECK), _finding(Status.OK)).outcome == FALSE_OK


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("swapped/logs/1 2", True), ("ahead/clock/3600 of 1", True), ("left out/server logs/1", True)],
)
def test_false_labels(text, is_told, tmp_path):
    """Whether the case itself contradicts what is false in it."""
    copy = CaseCopy(matrix.SAMPLES / RICH, tmp_path / "case")
    taken = removals.apply(copy, [Removal.parse(text)])
    assert labels.is_told(copy, taken) == is_told


def test_a_clock_alone_is_not_contradicted(tmp_path):
    """Without anything of known time nobody finds out that a clock was wrong."""
    copy = CaseCopy(matrix.SAMPLES / RICH, tmp_path / "case")
    taken = removals.apply(copy, list(map(Removal.parse, ("left out/znodes", "left out/history", "ahead/clock/3600 of 1"))))
    assert not labels.is_told(copy, taken)


def test_whose_clock(tmp_path):
    """The stamps in znodes are of the broker whose clock was wrong, so are the lines: they are swapped after that, however it is given."""
    swapped, ahead = map(Removal.parse, ("swapped/logs/1 2", "ahead/clock/3 of 1"))
    for place, given in enumerate(((swapped, ahead), (ahead, swapped))):
        assert removals.apply(CaseCopy(matrix.SAMPLES / RICH, tmp_path / str(place)), given) == (ahead, swapped)


def test_a_clock_was_wrong_in_however_the_lines_are_written(tmp_path):
    copy = CaseCopy(matrix.SAMPLES / RICH, tmp_path / "case")
    removals.apply(copy, list(map(Removal.parse, ("returns/logs", "ahead/clock/3600 of 1"))))
    before, after = ((folder / "brokers/1/logs/server.log").read_bytes() for folder in (matrix.SAMPLES / RICH, tmp_path / "case"))
    assert after == shifted_logs.shift(before, timedelta(hours=1)).replace(b"\n", b"\r")


class _Faulty:
    """Answers otherwise wherever a removal is among others."""

    def __init__(self, fault):
        self._fault = fault

    def cells(self, degradation):
        outcome = CONTRADICTION if self._fault in degradation.removals else EQUAL
        return [harness.Cell(degradation, "10", "a.b", outcome, "", "", "")]


def test_shrinks():
    """Of three removals the one is left that makes the fault."""
    taken = tuple(map(Removal.parse, ("left out/cleaner logs", "cut/znodes", "left out/logs of ZooKeeper")))
    whole = _Faulty(taken[1])
    (fault,) = whole.cells(Degradation(PLAIN, taken))
    assert harness.shrunk(whole, fault).degradation.removals == taken[1:2]
