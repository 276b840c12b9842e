"""Logs that were given for the wrong broker: what their lines name counts, and it is said."""

import hashlib
import json
import shutil

import pytest

from casebook.case.case import Case
from casebook.case.folder import MANIFEST
from casebook.findings.finding import Severity, Status
from casebook.machine import places
from casebook.questions.timeline.analysis.clocks.owners import Owner, misplaced, settled, starts, stated, with_dirs
from casebook.questions.timeline.scans import logs
from tests.case_copies import CaseCopy
from tests.degraded import removals
from tests.degraded.removals import Removal
from tests.questions.timeline.scenes import event, examined, finding, log

SERVER, STATES = "brokers/2/logs/server.log", "brokers/2/logs/state-change.log"


def given_for(case, into, owners):
    """A copy of a case whose logs were given for other brokers: whose they are, by for whom they were given."""
    shutil.copytree(case, into, ignore=shutil.ignore_patterns("derived", "logs"))
    manifest = json.loads((into / MANIFEST).read_text())
    kept = [item for item in manifest["items"] if "/logs/" not in item["path"]]
    for path in (item["path"] for item in manifest["items"] if "/logs/" in item["path"]):
        for broker in [given for given, owner in owners.items() if path.startswith(f"brokers/{owner}/logs/")]:
            placed = into / "brokers" / str(broker) / "logs" / path.rpartition("/")[2]
            placed.parent.mkdir(parents=True, exist_ok=True)
            content = (case / path).read_bytes()
            placed.write_bytes(content)
            name = str(placed.relative_to(into))
            kept.append({"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    (into / MANIFEST).write_text(json.dumps(manifest | {"items": sorted(kept, key=lambda item: item["path"])}))
    return Case.open(into)


def told(case):
    """Of each event all but where it stands."""
    return sorted((str(e.broker), e.time or 0, e.kind, e.text) for e in logs.read(case).events())


@pytest.mark.parametrize("sample", ["leader_minus_one", "acks1_loss"])
def test_swapped(sample, tmp_path):
    """Logs of a sample under each other's ids, those that name nobody too: every event is of the broker that it was before."""
    case = places.samples_dir() / sample
    right, swapped = (given_for(case, tmp_path / name, owners) for name, owners in (("a", {1: 1, 2: 2}), ("b", {2: 1, 1: 2})))
    assert told(swapped) == told(right)
    assert {(file.broker, stated(file.file)) for file in logs.read(swapped).files} == {(1, 2), (2, 1)}


def test_given_twice(tmp_path):
    """A broker's logs under its own id and under another's: they are its own, and count once."""
    case = places.samples_dir() / "acks1_loss"
    assert told(given_for(case, tmp_path / "twice", {1: 1, 2: 1})) == told(given_for(case, tmp_path / "once", {1: 1}))


@pytest.mark.parametrize("sample", ["leader_minus_one", "coordinators_loading", "isr_shrunk_loss"])
def test_starts_in_one_file(sample, tmp_path):
    """Two brokers write one file: each start is of the broker that it was of in its own file."""
    copy = CaseCopy(places.samples_dir() / sample, tmp_path / "case")
    own = {(one.time, one.broker) for one in logs.read(Case.open(copy.folder)).events(kinds=["broker_starting"])}
    removals.apply(copy, [Removal.parse("interleaved/server.log/1 2")])
    found = logs.read(Case.open(copy.folder)).events(kinds=["broker_starting"])
    assert {(one.time, one.broker) for one in found if one.broker is not None} <= own
    assert {one.broker for one in found} >= {1, 2}


class TestRule:
    def test_files_that_name_nobody(self):
        """They go with the others, unless these disagree, or one of them was given rightly."""
        controller = "brokers/2/logs/controller.log"
        assert misplaced({SERVER: {1: 9}}, [SERVER, STATES]) == {SERVER: Owner(2, 1, {1: 9}), STATES: Owner(2, 1, {})}
        both = misplaced({SERVER: {1: 9}, controller: {3: 9}}, [SERVER, STATES, controller])
        assert [both[file].broker for file in (SERVER, STATES, controller)] == [1, None, 3]
        assert misplaced({SERVER: {1: 9}, controller: {2: 9}}, [SERVER, STATES, controller]).keys() == {SERVER}
        shared = misplaced({SERVER: {1: 9, 2: 9}, controller: {2: 9}}, [SERVER, STATES, controller])
        assert (shared[STATES], controller in shared) == (Owner(2, None, {}), False)

    def test_few_lines_say_nothing(self):
        """Nor does one line among many; nor a log of no broker."""
        assert misplaced({SERVER: {1: 2}}, [SERVER, STATES]) == {}
        assert misplaced({SERVER: {1: 1, 2: 50}}, [SERVER, STATES]) == {}
        assert misplaced({"clients/2/logs/app.log": {1: 9}}, ["clients/2/logs/app.log"]) == {}

    def test_one_that_names_its_own_broker_seldom_stays(self):
        """Whatever lies beside it; one that names another as seldom is nobody's."""
        controller = "brokers/2/logs/controller.log"
        own = misplaced({SERVER: {1: 9, 2: 9}, controller: {2: 2}}, [SERVER, STATES, controller])
        assert (controller in own, own[STATES].broker) == (False, None)
        other = misplaced({SERVER: {1: 9, 2: 9}, controller: {1: 2}}, [SERVER, STATES, controller])
        assert other[controller].broker is None

    def test_several_brokers_in_one_file(self):
        """Each line counts for whom it names, and one that names nobody for nobody."""
        owners = misplaced({SERVER: {1: 5, 2: 5}}, [SERVER])
        lines = [event("loading", 0, 2, speaker=1), event("loading", 0, 2, speaker=2), event("loading", 0, 2)]
        assert [settled(line, owners).broker for line in lines] == [1, 2, None]
        assert settled(event("broker_registered", 0, 2)._replace(fields={"broker": "3"}), owners).broker == 3

    def test_whose_log_dir(self):
        """A line that names a log dir is of the broker whose it is by other lines; of one that two name, nobody's."""
        owners = with_dirs(
            misplaced({SERVER: {1: 5, 2: 5}}, [SERVER]),
            [(SERVER, "/a", 1), (SERVER, "/b", 1), (SERVER, "/c", 2), (SERVER, "/d", 1), (SERVER, "/d", 2)],
        )
        failed = [event("log_dir_failed", 0, 2, dir=told) for told in ("/a", "/a, /b", "/a, /c", "/d", "/e")]
        assert [settled(line, owners).broker for line in failed] == [1, 1, None, None, None]
        assert settled(event("log_dir_failed", 0, 2, dir="/a", speaker=2), owners).broker == 2

    def test_whose_start(self):
        """A start is of the broker whose settings are printed next, or before it up to 1.0; a start that fails prints none."""

        def told(release, *lines):
            found = [event("version_line", None, release=release)]
            return [*found, *(event(kind, at, line=at)._replace(fields=fields) for at, (kind, fields) in lines)]

        start, (of_1, of_2) = ("broker_starting", {}), [("settings_printed", {"broker": broker}) for broker in "12"]
        behind = [(1, start), (100_000, start), (100_500, of_1), (100_510, of_1), (101_000, start), (101_500, of_2)]
        assert starts(told("2.8.0", *behind)) == {100_000: 1, 101_000: 2}
        before = [(100, of_1), (200, start), (300, of_2), (400, start), (100_000, start)]
        assert starts(told("0.9.0.1", *before)) == {200: 1, 400: 2}
        at_once = [(1, start), (500, start), (900, of_1), (950, of_2), (20_000, start), (20_500, of_2)]
        assert starts(told("2.8.0", *at_once)) == {20_000: 2}
        second_print = [(1, start), (500, of_1), (600, start), (700, of_1), (900, of_2)]
        assert starts(told("2.8.0", *second_print)) == {1: 1, 600: 2}
        assert starts(told("7.0.1-ccs", *behind)) == {}

    def test_few_lines_of_another(self):
        """A controller that hardly led, or a day on which only one was stopped: what names nobody may be either's."""
        assert misplaced({SERVER: {1: 2, 2: 500}}, [SERVER])[SERVER].several


class TestFinding:
    def test_misplaced(self):
        """Which file, for whom it was given, what its lines say, how many, and where."""
        lines = [event("loading", n, 1, file=SERVER, line=7 + n, speaker=1) for n in range(4)]
        silent = event("become_follower", 9, 1, file=STATES, topic="t", partition=0)
        files = (log(2)._replace(broker=1, speakers=((1, 4),)), log(2, "state-change.log")._replace(broker=1))
        found = finding(examined(*lines, silent, covered=files), "owners")
        assert (found.severity, found.title) == (Severity.WARNING, "2 logs collected for broker 2 are broker 1's")
        assert found.facts["misplaced"][SERVER] == {"stated": 2, "broker": 1, "named": {"1": 4}}
        assert "state-change.log names no broker" in found.why
        assert [one.label for one in found.evidence] == [f"{SERVER}:7"]

    def test_of_two_brokers(self):
        """One of which it was given for: it is not said that it is not theirs."""
        lines = [event("loading", n, 1 + n % 2, file=SERVER, line=7 + n, speaker=1 + n % 2) for n in range(8)]
        found = finding(examined(*lines, covered=[log(2)._replace(broker=None, speakers=((1, 4), (2, 4)))]), "owners")
        assert found.title == "At least 1 log collected for broker 2 is not theirs, or not theirs alone"

    def test_others(self):
        """Well where lines name the broker; unknown where none does."""
        told = log(1)._replace(speakers=((1, 1),))
        assert finding(examined(event("loading", 0, 1, speaker=1), covered=[told]), "owners").status is Status.OK
        assert finding(examined(event("loading", 0, 1), covered=[log(1)]), "owners").status is Status.COULD_NOT_CHECK
        assert finding(examined(), "owners").status is Status.COULD_NOT_CHECK
