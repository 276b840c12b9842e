"""Copies of partitions held against each other, on segments that were written for it; the oracle knows what each copy holds."""

import zlib
from pathlib import Path
from random import Random

import pytest
from aiokafka.record.util import calc_crc32c

from casebook.collect.files import folders, inventory
from casebook.facts.copies import Absent
from casebook.questions.loss.analysis.unclean_price import prices
from casebook.questions.loss.scans import replicas
from casebook.questions.loss.scans.replicas import compare
from casebook.spark import segments
from tests.scans.copied_logs import Log, Record, all_agree, encoded, gone, random_copies, states, write

HISTORIES = 150


def listed(folder, broker):
    return inventory.examine(folders.files_of(str(folder)), str(folder), broker=broker, listed_at=0)


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """Many partitions at once: the log dir of each broker, and of each partition the copies."""
    random, place = Random(6), tmp_path_factory.mktemp("copies")
    copies = {("t", number): random_copies(random, random.choice((2, 3))) for number in range(HISTORIES)}
    for broker in (1, 2, 3):
        own = {partition: logs[broker] for partition, logs in copies.items() if broker in logs}
        for (topic, number), log in own.items():
            write(random, place / str(broker) / f"{topic}-{number}", log)
        lines = [f"t {number} {log.cleaned_to}" for (_, number), log in own.items() if log.cleaned_to]
        (place / str(broker) / "cleaner-offset-checkpoint").write_text("\n".join(["0", str(len(lines)), *lines, ""]))
    return [place / str(broker) for broker in (1, 2, 3)], copies


@pytest.fixture(scope="module")
def compared(scanning, histories):
    places, _ = histories
    return compare(scanning, [listed(place, broker) for broker, place in enumerate(places, start=1)])


class TestCompare:
    def test_every_record_against_the_definition(self, histories, compared):
        """At each offset that a copy holds: who holds the same, who another, who none and why; and no run without reason."""
        _, copies = histories
        seen = set()
        for place, logs in copies.items():
            runs = [run for run in compared.runs if (run.topic, run.partition) == place]
            for offset in sorted({offset for log in logs.values() for offset in log.records}):
                inside = [run for run in runs if run.first_offset <= offset <= run.last_offset]
                expected, other_epochs = states(logs, offset)
                if all_agree(expected, other_epochs):
                    assert not inside, (place, offset)
                    continue
                ((run),) = inside
                got = {h.broker: h.like if h.absent is None else h.absent for h in run.copies}
                assert (got, run.other_epochs) == (expected, other_epochs), (place, offset)
                seen.update(expected.values())
                seen.update({"other epochs"} if other_epochs else ())
        assert seen >= {1, 2, 3, Absent.BEFORE, Absent.BEHIND, Absent.CLEANED, "other epochs"}  # the histories have them all

    def test_what_each_run_holds(self, histories, compared):
        """Records, times and epochs of every copy; bytes where a record is a batch of its own."""
        _, copies = histories
        weighed = 0
        for run in compared.runs:
            for held in run.copies:
                log = copies[run.topic, run.partition][held.broker]
                own = [r for o, r in log.records.items() if run.first_offset <= o <= run.last_offset]
                times = [r.at for r in own] if log.magic else []
                epochs = [r.epoch for r in own] if log.magic == 2 else []
                assert held.records == len(own)
                assert (held.from_time, held.to_time) == (min(times, default=None), max(times, default=None))
                assert (held.first_epoch, held.last_epoch) == ((epochs[0], epochs[-1]) if epochs else (None, None))
                assert set(held.keys) <= {r.key.decode() for r in own if r.key}
                if not log.codec and log.magic < 2:
                    assert held.bytes == sum(len(encoded((r,), log.magic)) for r in own)
                    weighed += held.records
        assert weighed

    def test_ends(self, histories, compared):
        """Begin and end of every copy, also of an empty one."""
        _, copies = histories
        found = {(copy.topic, copy.partition, copy.broker): (copy.start, copy.end) for copy in compared.copies}
        assert found == {(*place, b): (log.start, log.end) for place, logs in copies.items() for b, log in logs.items()}

    def test_prices(self, histories, compared):
        """Of every candidate against every leader: the records that only the leader has, counted one by one."""
        _, copies = histories
        for leader in (1, 2, 3):
            places = {place: logs for place, logs in copies.items() if leader in logs}
            found = prices(compared, places, leaders=dict.fromkeys(places, leader))
            assert len(found) == sum(map(len, places.values()))
            for row in found:
                logs = places[row.topic, row.partition]
                lost = gone(logs, leader, row.candidate)
                assert (row.records, row.from_offset) == (len(lost), min(lost, default=None)), row

    def test_many_differences_stay_few_rows(self, scanning, histories, compared, monkeypatch):
        """Beyond the limits those of a kind are one, and no record is counted twice or not at all."""
        monkeypatch.setattr(replicas, "MOST_RUNS", 1)
        monkeypatch.setattr(replicas, "MOST_ISLANDS", 1)
        places, _ = histories
        few = compare(scanning, [listed(place, broker) for broker, place in enumerate(places, start=1)])
        assert len(few.runs) < len(compared.runs)
        assert any(run.scattered for run in few.runs)
        for broker in (1, 2, 3):
            counted, wanted = (
                sum(h.records for run in rows for h in run.copies if h.broker == broker) for rows in (few.runs, compared.runs)
            )
            assert counted == wanted


class TestDamage:
    def test_unreadable_is_not_absent_in_silence(self, scanning, histories, tmp_path):
        """A batch whose checksum does not fit is told as damage of its copy; what is torn at the end of a log is not."""
        log = Log(batches=tuple((Record(n, b"k", b"v" * 50, 1, 0),) for n in range(4)))
        sizes = [len(encoded(batch, 2)) for batch in log.batches]
        whole = b"".join(encoded(batch, 2) for batch in log.batches)
        flipped = bytearray(whole)
        flipped[sizes[0] + sizes[1] - 3] ^= 1
        torn = encoded((Record(4, b"k", b"v" * 50, 1, 0),), 2)[:50]
        for broker, content in ((1, whole), (2, bytes(flipped)), (3, whole + torn)):
            folder = tmp_path / str(broker) / "t-0"
            folder.mkdir(parents=True)
            (folder / f"{0:020}.log").write_bytes(content)
        found = compare(scanning, [listed(tmp_path / str(broker), broker) for broker in (1, 2, 3)])
        assert [copy.damaged_bytes for copy in found.copies] == [0, sizes[1], 0]


class TestNotAtHand:
    def test_a_copy_elsewhere_is_not_an_empty_one(self, scanning, histories):
        """Listed where its folder was, and looked at where it is not: as if nobody had given it."""
        places, _ = histories
        here, there = listed(places[0], 1), listed(places[1], 2)
        moved = there._replace(replicas=tuple(r._replace(place=f"{r.place}/gone") for r in there.replicas))
        found = compare(scanning, [here, moved], wanted=lambda replica: replica.partition < 3)
        assert {copy.broker for copy in found.copies} == {1}
        assert found.runs == ()


class TestChecksum:
    def test_stored_and_computed(self, scanning, written):
        """The column is the checksum that the batch's bytes have."""
        for folder in written.values():
            for row in segments(scanning, folder, mode="batches").where("kind = 'batch'").collect():
                with Path(row.file.removeprefix("file:")).open("rb") as file:
                    file.seek(row.position)
                    batch = file.read(row.bytes)
                assert row.crc == (calc_crc32c(batch[21:]) if row.magic == 2 else zlib.crc32(batch[16:]))
