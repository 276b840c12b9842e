"""The data source `kafka_segments` on segments of real brokers: record by record as aiokafka's own reader has them."""

import gzip
import hashlib
import os
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest
import zstandard
from aiokafka.record import MemoryRecords
from pyspark.errors import IllegalArgumentException

from casebook.errors import ScanError
from casebook.machine import jars
from casebook.spark import jvm, segments, watched

LARGE = (200, (1 << 18) + 1, 200, 1 << 20, 300, (9 << 20) + 1, 100, 300_000, 50)
"""Bytes of the records of one batch after the other."""
COLUMNS = ("offset", "timestamp", "key", "value", "headers")


def segments_of(written):
    """Every segment that has records, by what it holds."""
    return {f"{path.parent.name} of {kafka}": path for kafka, folder in written.items() for path in sorted(folder.glob("*-0/*.log"))
            if path.stat().st_size and not path.parent.name.startswith("__")}  # fmt: skip


def by_aiokafka(path):
    """Offset, milliseconds, key, value and headers of every record, control records left out."""
    found, batches = [], MemoryRecords(path.read_bytes())
    while (batch := batches.next_batch()) is not None:
        if getattr(batch, "is_control_batch", False):
            continue
        for record in batch:
            found.append((record.offset, record.timestamp if record.timestamp != -1 else None, record.key, record.value,
                          [tuple(header) for header in record.headers]))  # fmt: skip
    return found


def by_spark(scanning, place, **options):
    frame = segments(scanning, place, **options).where("kind = 'data'").orderBy("offset")
    table = frame.selectExpr("offset", "unix_millis(timestamp) as timestamp", "key", "value", "headers").toArrow().to_pylist()
    return [
        (row["offset"], row["timestamp"], row["key"], row["value"], [(h["key"], h["value"]) for h in row["headers"]])
        for row in table
    ]


def ends_of_batches(content):
    """Where each batch of a segment ends."""
    ends = [0]
    while ends[-1] < len(content):
        ends.append(ends[-1] + 12 + struct.unpack_from(">i", content, ends[-1] + 8)[0])
    return ends[1:]


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """Run one of our Java checks with a heap and arguments; what it says."""
    classes = tmp_path_factory.mktemp("classes")
    spark = sorted(jars.spark_jars(ScanError).glob("*.jar"))
    path = ":".join(map(str, (classes, *jvm.source_jars(), *spark)))
    sources = sorted((Path(__file__).parent / "jvm").glob("*.java"))
    subprocess.run([jars.java(ScanError, "javac"), "-nowarn", "-cp", path, "-d", classes, *sources], check=True)

    def run(check, heap, *arguments):
        command = [jars.java(ScanError), f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp", path, check, *arguments]
        ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


class TestRecords:
    def test_as_aiokafka_reads_them(self, scanning, written):
        """Offset, time, key, value and headers of every record, in every format and codec."""
        read = 0
        for what, path in segments_of(written).items():
            if "lz4" in what and ("0.9.0-0" in what or "0.9.0.1" in what):
                continue  # aiokafka refuses the header checksum that lz4 had there
            assert by_spark(scanning, path) == by_aiokafka(path), what
            read += 1
        assert read >= 14

    def test_lz4_of_format_0_as_the_other_codecs(self, scanning, written):
        """What no other reader here takes: the same records were produced with each codec."""
        folder = written["0.9.0.1"]
        expected = [row[2:] for row in by_spark(scanning, folder / "none-0")]
        assert [row[2:] for row in by_spark(scanning, folder / "lz4-0")] == expected

    def test_shares_add_up_to_the_files_bytes(self, scanning, written):
        """No byte of a batch is counted twice or not at all."""
        for folder in written.values():
            counted = segments(scanning, folder).groupBy("file").sum("size").collect()
            assert all(Path(row["file"].removeprefix("file:")).stat().st_size == row["sum(size)"] for row in counted)

    def test_fields_of_headers(self, scanning, written):
        """Spark asks for as few fields as a query needs; those are the same as of whole headers."""
        frame = segments(scanning, written["2.8.2"] / "none-0").orderBy("offset")
        whole = [row.headers for row in frame.select("offset", "headers").collect()]
        assert any(whole)
        for name in ("key", "value"):
            alone = [row[name] for row in frame.select("offset", f"headers.{name}").collect()]
            assert alone == [[header[name] for header in headers] for headers in whole]

    def test_transactions(self, scanning, written):
        """Markers are control records, as many as transactions, and of their kind."""
        frame = segments(scanning, written["2.8.2"] / "transactions-0")
        found = {tuple(row) for row in frame.groupBy("kind", "control_type", "transactional").count().collect()}
        assert found == {("data", None, True, 120), ("control", "commit", True, 4), ("control", "abort", True, 2)}

    def test_batches_by_headers_alone(self, scanning, written):
        """What headers say of the records agrees with the records; reading no bodies makes no difference."""
        place = written["2.8.2"] / "zstd-0"
        checked, unchecked = (
            segments(scanning, place, mode="batches", crc=crc).orderBy("position").collect() for crc in (True, False)
        )
        assert checked == unchecked
        assert sum(row.records for row in checked) == segments(scanning, place).count()


class TestPlaces:
    @pytest.fixture
    def bundles(self, written, tmp_path):
        folder = written["2.8.2"]
        segment = min((folder / "lz4-0").glob("*.log"))
        with tarfile.open(tmp_path / "broker.tar.gz", "w:gz") as archive:
            archive.add(folder, arcname="data")
        (tmp_path / "lz4-0").mkdir()
        (tmp_path / "lz4-0" / f"{segment.name}.gz").write_bytes(gzip.compress(segment.read_bytes()))
        (tmp_path / "lz4-0" / f"{segment.name}.zst").write_bytes(zstandard.compress(segment.read_bytes()))
        return tmp_path

    def test_bundles(self, scanning, written, bundles):
        """Packed or not, the same rows, with topic and partition from the path inside."""
        folder = written["2.8.2"]
        topics = ("log_topic", "log_partition", "segment", "kind")
        plain = {tuple(row) for row in segments(scanning, folder).groupBy(*topics).count().collect()}
        assert {tuple(row) for row in segments(scanning, bundles / "broker.tar.gz").groupBy(*topics).count().collect()} == plain
        for packed in (bundles / "lz4-0").iterdir():
            assert by_spark(scanning, packed) == by_spark(scanning, folder / "lz4-0")

    def test_bundle_of_packed_segments(self, scanning, written, bundles):
        """Each is read to its end, and what follows it in the archive, too."""
        packed = sorted((bundles / "lz4-0").iterdir())
        with tarfile.open(bundles / "packed.tar", "w") as archive:
            for number, segment in enumerate((*packed, *packed)):
                archive.add(segment, arcname=f"lz4-{number}/{segment.name}")
        counted = segments(scanning, bundles / "packed.tar").groupBy("log_partition", "kind").count().collect()
        assert {tuple(row) for row in counted} == {(number, "data", 200) for number in range(4)}

    def test_broken_bundle(self, scanning, bundles):
        """A bundle that breaks off is a row, beside what could be read."""
        packed = bundles / "broker.tar.gz"
        packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
        kinds = {row.kind for row in segments(scanning, packed).select("kind").distinct().collect()}
        assert kinds >= {"data", "damage"}

    def test_bundles_cut_anywhere(self, scanning, written, tmp_path):
        """Of archives and packed segments, also between two entries, frames or batches, and to nothing: a row tells."""
        segment = tmp_path / "00000000000000000000.log"
        segment.write_bytes(content := (written["2.8.2"] / "none-0" / segment.name).read_bytes())
        ends = ends_of_batches(content)
        with tarfile.open(tmp_path / "whole.tar", "w") as archive:
            for number in range(3):
                archive.add(segment, arcname=f"none-{number}/{segment.name}")
        with tarfile.open(tmp_path / "whole.tar") as archive:
            starts = [(entry.offset, entry.offset_data) for entry in archive.getmembers()]
        whole = (tmp_path / "whole.tar").read_bytes()
        over = -len(content) % 512
        cuts = {0, 100, starts[-1][1] + len(content) + over}
        for start, data in starts[1:]:
            cuts |= {start, start + 100, data, data + 100, data + ends[0], data + ends[-2], data + len(content) - 1}
        for size in cuts:
            (tmp_path / f"cut{size}.tar").write_bytes(whole[:size])
        for suffix, pack in (("gz", gzip.compress), ("zst", zstandard.compress)):
            for where, at in (("in", len(content) // 2), ("behind", ends[2])):
                first, second = pack(content[:at]), pack(content[at:])
                packed = [first + second[:size] for size in (1, 2, 4, 5, 9, len(second) // 2, len(second) - 3, len(second) - 1)]
                for number, cut in enumerate((b"", first[:1], first[:2], first[:-1], *packed)):
                    (tmp_path / f"{suffix}-{where}-{number}").mkdir()
                    (tmp_path / f"{suffix}-{where}-{number}" / f"{segment.name}.{suffix}").write_bytes(cut)
        files = [*tmp_path.glob("cut*.tar"), *tmp_path.glob("*-*/*.*")]
        found = segments(scanning, *files).where("kind = 'damage'").select("file").distinct().collect()
        assert [
            str(path) for path in files if not any(f"/{path.name}" in row.file and str(path.parent) in row.file for row in found)
        ] == []
        assert segments(scanning, tmp_path / "whole.tar").where("kind = 'damage'").count() == 0

    @pytest.mark.parametrize("link", [os.link, os.symlink])
    def test_link_in_bundle(self, scanning, written, tmp_path, link):
        """Its bytes are read once, under the name that has them; a row tells of the other."""
        segment = tmp_path / "00000000000000000000.log"
        segment.write_bytes((written["2.8.2"] / "none-0" / segment.name).read_bytes())
        link(segment, tmp_path / "link.log")
        with tarfile.open(tmp_path / "broker.tar", "w") as archive:
            archive.add(segment, arcname=f"none-0/{segment.name}")
            archive.add(tmp_path / "link.log", arcname=f"none-1/{segment.name}")
        counted = segments(scanning, tmp_path / "broker.tar").groupBy("log_partition", "kind").count().collect()
        assert {tuple(row) for row in counted} == {(0, "data", 200), (1, "damage", 1)}

    def test_bundle_that_holds_too_much(self, scanning, written, tmp_path):
        """What comes before is read; behind a gigabyte of zeros in a megabyte nobody looks."""
        segment = min((written["2.8.2"] / "none-0").glob("*.log"))

        def entry(name, size):
            told = tarfile.TarInfo(name)
            told.size = size
            return told.tobuf()

        content = segment.read_bytes()
        content += bytes(-len(content) % 512)
        before, behind = (entry(f"{topic}-0/{segment.name}", segment.stat().st_size) + content for topic in ("before", "behind"))
        zeros = gzip.compress(bytes(64 << 20))
        members = (gzip.compress(before + entry("zeros", 17 * (64 << 20))), zeros * 17, gzip.compress(behind + bytes(1024)))
        (tmp_path / "broker.tar.gz").write_bytes(b"".join(members))
        found = {(row.log_topic, row.kind) for row in segments(scanning, tmp_path / "broker.tar.gz").select("log_topic", "kind").distinct().collect()}  # fmt: skip
        assert ("before", "data") in found
        assert "behind" not in {topic for topic, _ in found}
        assert "damage" in {kind for _, kind in found}

    def test_leftovers_only_when_named(self, scanning, written, tmp_path):
        """A deleted segment is not part of the log; looked at by name, it is read."""
        source = min((written["2.8.2"] / "none-0").glob("*.log"))
        folder = tmp_path / "none-0"
        folder.mkdir()
        left = folder / f"{source.name}.deleted"
        left.write_bytes(source.read_bytes())
        with pytest.raises(IllegalArgumentException, match=r"found no segment in .*none-0\. .*It found .*\.log\.deleted"):
            segments(scanning, folder).count()
        assert segments(scanning, left).count() > 0

    def test_no_link_out_of_the_log_dir(self, scanning, written, tmp_path):
        """What a stranger linked into a log dir is not read; what is linked within it is, and a link that is named."""
        source = min((written["2.8.2"] / "none-0").glob("*.log"))
        log_dir, elsewhere = tmp_path / "log-dir", tmp_path / "elsewhere"
        for folder in (log_dir / "there-0", log_dir / "kept", elsewhere / "secret-0"):
            folder.mkdir(parents=True)
            (folder / source.name).write_bytes(source.read_bytes())
        (log_dir / "there-0" / f"{7:020d}.log").symlink_to(elsewhere / "secret-0" / source.name)
        (log_dir / "there-0" / f"{8:020d}.log").symlink_to("/dev/zero")
        os.mkfifo(log_dir / "there-0" / f"{9:020d}.log")
        (log_dir / "secret-0").symlink_to(elsewhere / "secret-0")
        (log_dir / "linked-0").symlink_to("kept")
        found = {
            (row.log_topic, row.segment)
            for row in segments(scanning, log_dir).select("log_topic", "segment").distinct().collect()
        }
        assert {topic for topic, _ in found} == {"there", "linked"}
        assert {Path(segment).name for _, segment in found if segment} <= {source.name}
        assert segments(scanning, log_dir / "secret-0").count() > 0

    def test_log_dir_named_like_a_partition(self, scanning, written, tmp_path):
        """``kafka-logs-1`` is read as the log dir that it is, by itself and in the folder of a broker's disks."""
        expected = {"none": 200, "gzip": 200}
        for topic in expected:
            shutil.copytree(written["2.8.2"] / f"{topic}-0", tmp_path / "kafka-logs-1" / f"{topic}-0")
        for place in (tmp_path / "kafka-logs-1", tmp_path, str(tmp_path / "kafka-*")):
            counted = segments(scanning, place).where("kind = 'data'").groupBy("log_topic").count().collect()
            assert {row["log_topic"]: row["count"] for row in counted} == expected

    def test_nothing_is_said(self, scanning, tmp_path):
        """No answer is empty for want of segments: what was looked for, and what was there."""
        (tmp_path / "disk" / "kafka" / "none-0").mkdir(parents=True)
        with pytest.raises(IllegalArgumentException, match=r"<base offset>\.log.* It found kafka\. Name a log dir"):
            segments(scanning, tmp_path / "disk").count()
        with tarfile.open(tmp_path / "a.tar", "w") as archive:
            archive.add(tmp_path / "disk", arcname="data")
        (row,) = segments(scanning, tmp_path / "a.tar").collect()
        assert row.kind == "damage" and row.reason.startswith("the bundle holds no segment")

    def test_limits_have_limits(self, scanning, written):
        """Two batches and what is read ahead of them fit into one array of Java, which has less than 2 GiB."""
        folder = written["2.8.2"] / "none-0"
        assert segments(scanning, folder, maxBatchBytes="1023m", maxContentBytes="1g").count() == 200
        with pytest.raises(IllegalArgumentException, match="maxBatchBytes must be between 1 and 1073217531 bytes, not 1g"):
            segments(scanning, folder, maxBatchBytes="1g").count()

    def test_filters_read_less_and_change_nothing(self, scanning, written):
        """Offsets, times and topics: the same rows as without pushing them down; splits as without."""
        place = written["2.8.2"] / "none-0"
        every = by_spark(scanning, place)
        assert by_spark(scanning, place, splitBytes="4k") == every
        for condition, wanted in (
            ("offset between 50 and 60", lambda row: 50 <= row[0] <= 60),
            ("offset >= 190", lambda row: row[0] >= 190),
        ):
            frame = segments(scanning, place, splitBytes="4k").where(condition).orderBy("offset")
            assert [row.offset for row in frame.collect()] == [row[0] for row in every if wanted(row)]
        assert (
            segments(scanning, written["2.8.2"]).where("log_topic = 'gzip'").count()
            == segments(scanning, written["2.8.2"] / "gzip-0").count()
        )


class TestDamage:
    @pytest.fixture
    def copy(self, written, tmp_path):
        folder = tmp_path / "none-0"
        folder.mkdir()
        source = min((written["2.8.2"] / "none-0").glob("*.log"))
        copy = folder / source.name
        copy.write_bytes(source.read_bytes())
        return copy

    def found(self, scanning, copy):
        rows = segments(scanning, copy).where("kind = 'damage'").collect()
        return [(row.position, row.damaged_bytes, row.tail, row.reason) for row in rows]

    def test_middle_and_tails(self, scanning, written, copy):
        """A flipped byte, a torn batch, zeros and garbage: each is said, and what it is, and what no copy that is being written has."""
        whole = copy.read_bytes()
        batches = segments(scanning, copy, mode="batches").orderBy("position").collect()
        second, last = batches[1], batches[-1]
        at = second.position + second.bytes - 1
        copy.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert self.found(scanning, copy) == [(second.position, second.bytes, False, "its checksum does not fit")]
        assert segments(scanning, copy).where("kind = 'data'").count() == 200 - second.records
        for before, tail, word, usual in (
            (whole, b"\0" * 1000, "zeros", True),
            (whole, whole[:50], "goes beyond the end", False),
            (whole, b"\x07" * 1000, "format 7", False),
            (b"", bytes(range(256)) * 200, "nothing sound follows", False),
        ):
            copy.write_bytes(before + tail)
            ((position, size, at_end, reason),) = self.found(scanning, copy)
            assert (position, size, at_end) == (len(before), len(tail), usual)
            assert word in reason
        copy.write_bytes(whole[: last.position + last.bytes - 7])
        ((_, size, at_end, reason),) = self.found(scanning, copy)
        assert at_end and reason == f"torn: the file has {size} of the batch's {last.bytes} bytes"

    @pytest.mark.parametrize(
        ("heap", "files", "large"),
        [("64m", 20_000, 0), ("128m", 200, 1)],
        ids=["of brokers", "of large batches"],
    )
    def test_fuzz(self, written, checks, heap, files, large):
        """Thousands of damaged files in little memory: no crash, no hang, no silent end, nothing lost that is whole."""
        said = checks("Fuzz", heap, files, 1, large, *segments_of(written).values())
        assert said.startswith("{claim=")


class TestSound:
    def test_as_kafka_reads_them(self, checks, tmp_path):
        """Batches of a byte around every buffer's size in every format and codec, over files and parts of files: Kafka's own
        records, and no damage. All sizes up to 100 MiB, by hand: ``Sound <folder> <seed> 4 16777218 104857600``."""
        said = checks("Sound", "1g", tmp_path, 1, 1, (1 << 20) + 2, 9 << 20)
        assert int(said.split()[0]) > 100_000

    def test_over_files_and_tasks(self, scanning, checks, tmp_path):
        """Spark's rows of large batches, in one task and in many: what aiokafka's own reader has, value by value."""
        checks("Corpus", "1g", tmp_path, 1, *LARGE)
        folders = sorted(folder for folder in tmp_path.iterdir() if folder.name != "format.0.lz4-0")  # as above
        expected = {}
        for folder in folders:
            (segment,) = folder.glob("*.log")
            expected[folder.name] = {
                row[0]: hashlib.md5((row[2] or b"") + b"/" + row[3]).hexdigest() for row in by_aiokafka(segment)
            }
        for split in ("1g", "256k"):
            frame = segments(scanning, *folders, splitBytes=split)
            assert frame.where("kind <> 'data'").count() == 0
            found = {folder.name: {} for folder in folders}
            columns = ("log_topic", "offset", "md5(concat(coalesce(key, ''), '/', value)) AS hash")
            for row in frame.selectExpr(*columns).toLocalIterator():
                found[f"{row.log_topic}-0"][row.offset] = row.hash
            assert found == expected


class TestLargeGroups:
    @pytest.fixture
    def topics(self):
        """What a member subscribes to, in half a megabyte."""
        return [f"{number:020000d}" for number in range(25)]

    @pytest.fixture
    def segment(self, topics, tmp_path):
        """Most of a gigabyte of states of groups, which take little when they are compressed."""
        from aiokafka.record.default_records import DefaultRecordBatchBuilder

        def text(said):
            return struct.pack(">h", len(said)) + said.encode()

        subscription = struct.pack(">hi", 0, len(topics)) + b"".join(map(text, topics)) + struct.pack(">i", -1)
        member = text("m") + struct.pack(">h", -1) + text("c") + text("/127.0.0.1") + struct.pack(">ii", 1, 1)
        member += struct.pack(">i", len(subscription)) + subscription + struct.pack(">i", 0)
        state = (
            struct.pack(">h", 3) + text("consumer") + struct.pack(">i", 1) + text("range") + text("m") + struct.pack(">qi", 0, 1)
        )
        builder = DefaultRecordBatchBuilder(2, 4, 0, -1, -1, -1, 120 << 20)
        for number in range(200):
            builder.append(number, number, struct.pack(">h", 2) + text("g"), state + member, [])
        batch = builder.build()
        (tmp_path / "__consumer_offsets-0").mkdir()
        path = tmp_path / "__consumer_offsets-0" / f"{0:020}.log"
        with path.open("wb") as file:
            for number in range(7):
                struct.pack_into(">q", batch, 0, 200 * number)
                file.write(batch)
        return path

    def test_memory_is_bounded_by_what_groups_take(self, scanning, segment, topics):
        """Not by rows: their states have any size."""
        assert segment.stat().st_size < 10 << 20
        frame = segments(scanning, segment, mode="group_records")
        counted = frame.selectExpr("length(concat_ws('', members[0].subscription)) AS size").groupBy("size").count().collect()
        assert [tuple(row) for row in counted] == [(sum(map(len, topics)), 7 * 200)]


class TestWatched:
    def test_progress(self, scanning, written):
        """The last thing told is that all is done."""
        told = []
        frame = segments(scanning, written["2.8.2"])
        rows = watched(scanning, frame.count, what="a test", progress=lambda done, total: told.append((done, total)))
        assert rows == frame.count()
        assert told and told[-1][0] == told[-1][1] > 0
