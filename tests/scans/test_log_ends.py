"""Where copies end, as a listing of a log dir finds it: as Kafka's own classes read the whole segment, of every format and codec."""

import shutil
import struct

import pytest

from casebook.collect.files import folders, inventory
from casebook.formats.broker import log_tail
from casebook.spark import segments


def by_kafka(scanning, folder):
    """Behind the last record of a partition, control records included; and the format of the last batch."""
    (row,) = (
        segments(scanning, folder)
        .where("kind in ('data', 'control')")
        .selectExpr("max(offset) + 1 as end", "max_by(magic, offset) as magic")
        .collect()
    )
    return row["end"], row["magic"]


def copies(folder):
    return {
        copy.topic: copy for copy in inventory.examine(folders.files_of(str(folder)), str(folder), broker=1, listed_at=1).replicas
    }


@pytest.mark.parametrize("kafka", ["0.9.0.1", "2.8.2"])
def test_as_kafka_reads_them(scanning, written, kafka):
    """Every partition that has records; one without ends where its segment begins."""
    found, compared = copies(written[kafka]), 0
    for topic, copy in found.items():
        if copy.bytes:
            assert (copy.log_end, copy.magic) == by_kafka(scanning, written[kafka] / f"{topic}-0"), topic
            compared += 1
        else:
            assert (copy.log_end, copy.magic) == (copy.segments[-1].base_offset, None)
    assert compared >= 4


def read_of(content):
    return lambda position, count: content[position : position + count]


def whole_batches(content):
    """End of each batch, in bytes."""
    ends = [0]
    while ends[-1] < len(content):
        ends.append(ends[-1] + 12 + struct.unpack_from(">i", content, ends[-1] + 8)[0])
    return ends


@pytest.mark.parametrize("kafka", ["0.9.0.1", "2.8.2"])
def test_a_cut_segment_ends_with_its_last_whole_batch(written, kafka):
    """Wherever it is cut, with an index of the whole segment, one that is longer than filled, damaged, or none."""
    for path in sorted(written[kafka].glob("*-0/*.log")):
        content = path.read_bytes()
        index = path.with_suffix(".index").read_bytes()
        ends = whole_batches(content)
        at = {end: log_tail.tail(read_of(content[:end]), end, 0) for end in ends}
        indexes = (index, index + bytes(4096), b"\x7f" * 160, bytes(range(1, 129)))
        for cut in sorted({*ends, *(end + more for end in ends for more in (1, 12, 17, 30) if end + more < len(content))}):
            shown = at[max(end for end in ends if end <= cut)]
            assert log_tail.tail(read_of(content[:cut]), cut, 0) == shown
            for own in indexes:
                assert log_tail.tail(read_of(content[:cut]), cut, 0, read_of(own), len(own)) == shown, (path, cut)


def test_what_is_no_segment_has_no_end():
    """Noise, and a segment whose offsets go back."""
    assert log_tail.tail(read_of(b"\x01" * 4000), 4000, 0) in (None, log_tail.Tail(0, None))
    one = struct.pack(">qiIbb", 7, 6 + 16, 0, 1, 0) + bytes(16)
    assert log_tail.tail(read_of(one + one), 2 * len(one), 0) is None


def test_what_was_allocated_ahead_is_no_record():
    one = struct.pack(">qiIbb", 7, 6 + 16, 0, 1, 0) + bytes(16)
    assert log_tail.tail(read_of(one + bytes(500)), len(one) + 500, 0) == (8, 1)


def test_a_copy_that_is_gone_meanwhile_has_none(tmp_path, written):
    """Listed, and then not there."""
    folder = shutil.copytree(written["2.8.2"] / "none-0", tmp_path / "none-0")
    files = folders.files_of(str(tmp_path))
    listed = files.entries("none-0")
    shutil.rmtree(folder)
    assert all(entry.bytes for entry in listed if entry.name.endswith(".log"))
    assert copies(tmp_path) == {}
