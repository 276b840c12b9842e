"""Nothing is said to be well of evidence that was not read: a slice of the matrix; all of it is ``python -m tests.unreadable``."""

import json

import pytest

from casebook.findings.finding import Status
from casebook.runs import notebooks, runner
from tests.unreadable import lesser, matrix
from tests.unreadable.answers import answers, watched
from tests.unreadable.needs import NEEDS

RICH, PLAIN = "kill_before_drain", "restart_all_coordinators"
"""The first has logs, history and log dirs of a cluster of which nothing went wrong; neither has segments, for which Spark starts."""
_SLICE = [
    (RICH, "all logs", lesser.JAVA),
    (RICH, "logs of brokers", "unknown layout"),
    (RICH, "server logs", "binary"),
    (RICH, "server logs of one broker", "cut pack"),
    (RICH, "server logs of one broker", "holed"),
    (RICH, "state-change logs", "unknown encoding"),
    (RICH, "history", "torn"),
    (RICH, "history", "garbage"),
    (RICH, "log dirs of one broker", "garbage"),
    (RICH, "znodes", "empty"),
    (RICH, "broker ids", "garbage"),
    (RICH, "states", "denied"),
    (RICH, "server.properties", "binary"),
    (RICH, "server.properties of one broker", "denied"),
    (RICH, "client files", "binary"),
]


_NOTEBOOKS = ("10", "60", "90")
"""The first five minutes, without reading segments; the past; and every check of every other notebook."""
_WITHOUT = {
    "evidence.complete", "evidence.moments", "evidence.kafka_version", "maintenance.chosen", "maintenance.drain", "timeline.past", "timeline.unclean"
}  # fmt: skip
"""What asks of the evidence as a whole, of parameters, or of brokers that are dead."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The whole cases, and what is answered to them."""
    room = tmp_path_factory.mktemp("whole")
    return {name: matrix.whole(name, room, _NOTEBOOKS) for name in (RICH, PLAIN)}


@pytest.fixture(scope="module")
def cells(whole, tmp_path_factory):
    """What is said to the slice."""
    room = tmp_path_factory.mktemp("lesser")
    with watched():
        made = {one: matrix.compared(whole[one[0]], *one[1:], room) for one in _SLICE}
    assert all(made.values())
    return [cell for cells in made.values() for cell in cells]


def _of(cells, outcome):
    return sorted({(cell.check, cell.kind, cell.way, cell.notebook) for cell in cells if cell.outcome == outcome})


def test_no_ok_without_evidence(cells):
    """What a question cannot be answered without was not read."""
    assert _of(cells, matrix.FALSE_OK) == []


def test_no_other_answer(cells):
    """Less evidence makes an answer weaker, never another one: an assumed default is a possibility, no finding."""
    assert _of(cells, matrix.CONTRADICTION) == []


def test_no_exit_code_0(cells):
    """A notebook that was given what it asks for, and could not read it, does not end as one that found all well."""
    assert _of(cells, matrix.EXIT_0) == []


@pytest.mark.parametrize("sample", [RICH, PLAIN])
def test_what_is_well_is_said_to_be_well(whole, sample):
    """What the rehearsal knows to be well, from the cluster itself, is ``ok`` on the whole case: nobody evades by not checking."""
    known = json.loads((matrix.SAMPLES / sample / "expected.json").read_text())["findings"]
    well = {check for check, answer in known.items() if answer["status"] == Status.OK}
    said = {check for check, finding in whole[sample].answers["90"].items() if finding.status is Status.OK}
    assert len(well) >= 14
    assert well - said == set()


def test_every_check_has_its_needs(whole):
    """Of a new one somebody says what it cannot be answered without."""
    assert {check for said in whole[RICH].answers.values() for check in said} - NEEDS.keys() - _WITHOUT == set()


def test_nothing_went_wrong(whole):
    """Where brokers only started, topics were made and records written, the past is told to be well by history and logs."""
    well = (
        "timeline.leaderless", "timeline.two_leaders", "timeline.root", "timeline.unknown_requests", "timeline.owners",
        "timeline.clocks", "timeline.untyped", "loss.cut_ranges", "durability.isr_alone", "durability.brokers_agree",
        "coordinators.loading_for_ever", "coordinators.known", "offsets_topic.compacted", "offsets_topic.cleaner_map",
    )  # fmt: skip
    assert [check for check in well if whole[RICH].answers["90"][check].status is not Status.OK] == []


@pytest.mark.parametrize("way", lesser.SAME)
def test_another_encoding_is_no_damage(whole, way, tmp_path):
    """The past is told word by word the same by logs in UTF-16, with a byte order mark, and with carriage returns alone.

    But for the release: a case holds UTF-8, and who looks a line up in it that somebody put there otherwise does not find it.
    """
    found = answers(lesser.written(whole[RICH].folder, tmp_path / "case", way), ["60"])["60"]
    before = whole[RICH].answers["60"]
    assert {check: one.title for check, one in found.items() if check != "evidence.kafka_version"} == {
        check: one.title for check, one in before.items() if check != "evidence.kafka_version"
    }


def test_a_run_does_not_end_as_if_all_was_well(whole, tmp_path, runs_dir, quick_java):
    """``casebook run`` of the timeline, of which nobody could read the servers' logs: not 0."""
    case = lesser.make(whole[RICH].folder, tmp_path / "case", "server logs", "binary")
    assert runner.run(notebooks.find("60"), {"source": str(case)}, runs_dir=runs_dir).exit_code != 0
