"""A log says the same in every encoding, where it lies and in a case; what is no text, or not all of one, is named as that."""

import codecs
import gzip
import itertools

import pytest

from casebook.case.case import Case
from casebook.case.writer import CaseWriter
from casebook.collect.files import files
from casebook.facts.events import FileExtent
from casebook.questions.timeline.scans import logs
from casebook.spark.session import session
from tests.log_reader import read_bytes

_ENTRIES = (
    "[2026-11-20 10:00:00,123] INFO [GroupCoordinator 1]: Preparing to restabilize group Gr\u00fc\u00dfe-\u4f60\u597d-\U0001f600 with old "
    "generation 3 (kafka.coordinator.GroupCoordinator)",
    "[2026-11-20 10:00:01,123] ERROR Processor got uncaught exception. (kafka.network.Processor)",
    "java.lang.ArrayIndexOutOfBoundsException: 18",
    "\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)",
    "",
    "[2026-11-20 10:00:02,123] WARN Nobody knows 7 of x-3 (a.B)",
)
_MANY = 4000
"""More than fits into what tells the encoding, and into one buffer."""


def _text(end: str) -> str:
    return "".join(line + end for line in itertools.islice(itertools.cycle(_ENTRIES), _MANY))


_PLAIN = _text("\n").encode()
_WRITTEN = {
    "UTF-8": _PLAIN,
    "UTF-8, marked": codecs.BOM_UTF8 + _PLAIN,
    "UTF-16 LE": _text("\n").encode("utf-16-le"),
    "UTF-16 BE": _text("\n").encode("utf-16-be"),
    "UTF-16 LE, marked": codecs.BOM_UTF16_LE + _text("\r\n").encode("utf-16-le"),
    "UTF-16 BE, marked": codecs.BOM_UTF16_BE + _text("\r\n").encode("utf-16-be"),
    "UTF-16, returns": codecs.BOM_UTF16_LE + _text("\r").encode("utf-16-le"),
    "UTF-32 LE, marked": codecs.BOM_UTF32_LE + _text("\n").encode("utf-32-le"),
    "UTF-32 BE, marked": codecs.BOM_UTF32_BE + _text("\n").encode("utf-32-be"),
    "returns": _text("\r").encode(),
    "both": _text("\r\n").encode(),
}
_IN_PLACE = _WRITTEN | {"UTF-32 LE": _text("\n").encode("utf-32-le"), "UTF-32 BE": _text("\n").encode("utf-32-be")}


def _rows(content: bytes, name: str = "server.log"):
    events, untyped, file = read_bytes(content, name=name)
    return (
        [event._replace(file="") for event in events],
        [shape._replace(example="") for shape in untyped],
        file._replace(file=""),
    )


@pytest.fixture(scope="module")
def plain():
    """What the log says in UTF-8: three entries in each six lines, of which two are known and one is not."""
    events, untyped, file = _rows(_PLAIN)
    assert (file.lines, file.extent) == (_MANY, FileExtent.READ)
    assert {(event.line - 1) % len(_ENTRIES) for event in events} == {0, 1, 2}
    assert events[0].group == "Gr\u00fc\u00dfe-\u4f60\u597d-\U0001f600"
    return events, untyped, file


@pytest.mark.parametrize("name", _IN_PLACE)
def test_says_the_same(plain, name):
    """Events with their lines, what nobody knows, and counts; packed as well."""
    assert _rows(_IN_PLACE[name]) == plain
    assert _rows(gzip.compress(_IN_PLACE[name]), "server.log.1.gz") == plain


@pytest.mark.parametrize("name", _WRITTEN)
def test_says_the_same_in_a_case(plain, name, tmp_path):
    """What copied it and what reads it where it lies agree on what it is written in."""
    given = tmp_path / "server.log"
    given.write_bytes(_WRITTEN[name])
    with CaseWriter.create(tmp_path / "case", command="test") as writer:
        files.copy_logs(writer, 1, [given])
    copied = Case.open(tmp_path / "case").folder / "brokers/1/logs/server.log"
    assert _rows(copied.read_bytes()) == plain


@pytest.mark.parametrize("size", [1000, 100_000])
def test_parts_say_what_the_whole_says(tmp_path, size):
    """Spark divides what it can: bytes that no line end tells apart are read by one task."""
    for number, content in enumerate(_IN_PLACE.values()):
        (tmp_path / f"{number:02}.log").write_bytes(content[: len(content) // 10])
    rows = [row.asDict() for row in logs.logs(session(), tmp_path, splitBytes=size).collect()]
    by_file: dict[str, list[dict]] = {}
    for row in rows:
        by_file.setdefault(row["file"].rpartition("/")[2], []).append(row)
    for number, content in enumerate(_IN_PLACE.values()):
        found = sorted((row for row in by_file[f"{number:02}.log"] if row["row"] == "file"), key=lambda row: row["start"])
        before = dict(
            zip([row["start"] for row in found], itertools.accumulate((row["lines"] for row in found), initial=0), strict=False)
        )
        events, _, file = _rows(content[: len(content) // 10])
        assert sum(row["lines"] for row in found) == file.lines
        told = [(before[row["start"]] + row["line"], row["kind"]) for row in by_file[f"{number:02}.log"] if row["row"] == "event"]
        assert sorted(told) == sorted((event.line, event.kind) for event in events)


_UNREADABLE = {
    "empty": (b"", FileExtent.NOT, "empty"),
    "a mark alone": (codecs.BOM_UTF8, FileExtent.NOT, "empty"),
    "binary": (bytes(range(256)) * 400, FileExtent.NOT, "no text"),
    "full of zeros": (b"\x00\x00\x03\x00\x01\x02\x00" * 5000, FileExtent.NOT, "no text"),
    "zeros alone": (b"\x00" * 5000, FileExtent.NOT, "5000 bytes are zero"),
    "EBCDIC": (_PLAIN.decode().encode("cp500", errors="replace"), FileExtent.NOT, "layout"),
    "no layout": (b"what is this\n" * 50, FileExtent.NOT, "layout"),
    "a header that nobody knows": (_PLAIN.replace(b"[2026-11-20 ", b"{A|B} day 324 "), FileExtent.PARTLY, "layout"),
    "such a header on every second line": (
        _PLAIN + _PLAIN.replace(b"[2026-11-20 ", b"{A|B} day 324 "),
        FileExtent.PARTLY,
        "layout",
    ),
    "no dates": (b"INFO Nobody knows (a.B)\n" * 50, FileExtent.PARTLY, "date"),
    "cut": (_PLAIN[:-5], FileExtent.PARTLY, "cut"),
    "nothing known": (b"[2026-11-20 10:00:02,123] WARN Nobody knows 7 of x-3 (a.B)\n" * 50, FileExtent.PARTLY, "meaning"),
}


@pytest.mark.parametrize("zeros", [16, 4096, 1 << 16, 3 << 20])
@pytest.mark.parametrize("size", [1 << 30, 100_000])
def test_zeros_in_place_of_lines(tmp_path, zeros, size):
    """A machine lost power: what is before and behind is read, under the numbers that an editor shows, and the loss is told.

    A line before the zeros is cut, and one behind them may be whole: the log was opened again and appended to.
    """
    lines = [line + b"\n" for line in _PLAIN[: len(_PLAIN) // 10].splitlines()]
    before, cut, behind = lines[:181], lines[181][:40], lines[300:]
    (tmp_path / "server.log").write_bytes(b"".join([*before, cut, bytes(zeros), *behind]))
    rows = [row.asDict() for row in logs.logs(session(), tmp_path, splitBytes=size).collect()]
    parts = sorted((row for row in rows if row["row"] == "file"), key=lambda row: row["start"])
    number = {part["start"]: sum(other["lines"] for other in parts if other["start"] < part["start"]) for part in parts}
    told = sorted((number[row["start"]] + row["line"], row["kind"]) for row in rows if row["row"] == "event")
    sound = [(event.line, event.kind) for event in read_bytes(b"".join([*before, b"\n", *behind[1:]]))[0]]
    first = [(182, read_bytes(behind[0])[0][0].kind)] if zeros < 1 << 16 else []
    assert told == sorted(sound + first)
    assert [part["damage"] for part in parts if part["damage"]] == [
        f"{zeros} bytes are zero, from line {182 - number[parts[0]['start']]} on: what was written there is lost"
    ]


@pytest.mark.parametrize("zeros", [1, 4096, 3 << 20])
def test_zeros_that_a_log_begins_with(plain, zeros):
    """It was emptied while the broker had it open, and nothing of what follows is lost."""
    assert _rows(bytes(zeros) + _PLAIN) == plain


@pytest.mark.parametrize("zeros", [1, 15])
def test_few_zeros_are_part_of_a_message(zeros):
    """Some clients send any bytes, which brokers print."""
    content = _PLAIN.replace(b"Nobody knows", b"Nobody " + bytes(zeros) + b" knows")
    assert read_bytes(content)[2].damage == ""


@pytest.mark.parametrize("name", _UNREADABLE)
def test_what_nobody_understood_is_not_read(name):
    """However whole the file is; the reason is told."""
    content, extent, reason = _UNREADABLE[name]
    file = read_bytes(content)[2]
    assert (file.extent, reason in file.unread) == (extent, True), file


@pytest.mark.parametrize("keep", [0, 5, 40, 400, -9])
def test_a_pack_that_was_cut(keep):
    """What is before the cut is read, also when that is less than tells the encoding; the damage is told."""
    packed = gzip.compress(_PLAIN[:60_000])
    events, _, file = read_bytes(packed[:keep], name="server.log.gz")
    assert file.extent is (FileExtent.PARTLY if events else FileExtent.NOT)
    assert "compressed" in file.damage
    assert bool(events) == (keep in (400, -9))


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_pack_that_was_cut_at_any_byte(frames, tmp_path):
    """It is told, or it is a pack of the frames up to there; also where the cut leaves a piece of a header."""
    lines = [
        f"[2026-11-20 10:00:0{n},123] INFO Loading offsets from [__consumer_offsets,{n}] (kafka.X)\n".encode() for n in range(6)
    ]
    packed = [gzip.compress(b"".join(lines[frame * 6 // frames : (frame + 1) * 6 // frames])) for frame in range(frames)]
    ends = {sum(map(len, packed[:count])): count * 6 // frames for count in range(1, frames + 1)}
    paths = [tmp_path / f"{size}.log.gz" for size in range(sum(map(len, packed)) + 1)]
    for size, path in enumerate(paths):
        path.write_bytes(b"".join(packed)[:size])
    told = {row["file"]: row for row in logs.typed((path, "UTC") for path in paths) if row["row"] == "file"}
    for size in range(len(paths)):
        assert ("compressed" in (told[size]["damage"] or "")) == (size not in ends)
        assert size not in ends or told[size]["lines"] == ends[size]


@pytest.mark.parametrize("behind", [b"\x1f", b"\x1f\x8b\x08", b"more", gzip.compress(b"")[:-1]])
def test_something_behind_a_pack(behind):
    """It is told; zeros are padding."""
    packed = gzip.compress(_PLAIN)
    assert "compressed" in read_bytes(packed + behind, name="server.log.gz")[2].damage
    assert _rows(packed + bytes(600), "server.log.1.gz") == _rows(_PLAIN)


def test_a_header_with_all_that_it_may_hold():
    """Extra field, name, comment and checksum of the header (RFC 1952), of each member."""
    member = gzip.compress(_PLAIN)
    head = member[:3] + b"\x1e" + member[4:10] + b"\x03\0abc" + b"server.log\0" + b"rotated\0" + b"\0\0"
    assert _rows((head + member[10:]) * 2, "server.log.1.gz") == _rows(_PLAIN * 2)


def test_what_cannot_be_opened(tmp_path):
    """A folder in the place of a log, and nothing at all: each is told by itself, and the log beside them is read."""
    (tmp_path / "folder.log").mkdir()
    (tmp_path / "server.log").write_bytes(_PLAIN)
    paths = [tmp_path / name for name in ("folder.log", "none.log", "server.log")]
    told = [row for row in logs.typed((path, "UTC") for path in paths) if row["row"] == "file"]
    assert [bool(row["damage"]) for row in told] == [True, True, False]


def test_a_log_that_has_left_its_case(tmp_path):
    """It is told, not passed over."""
    with CaseWriter.create(tmp_path / "case", command="test") as writer:
        for name in ("server.log", "controller.log"):
            writer.file(f"brokers/1/logs/{name}", [_PLAIN])
    (tmp_path / "case/brokers/1/logs/controller.log").unlink()
    found = {file.file.rpartition("/")[2]: file for file in logs.read(Case.open(tmp_path / "case")).files}
    assert [found["server.log"].extent, found["controller.log"].extent] == [FileExtent.READ, FileExtent.NOT]
    assert "No such file" in found["controller.log"].damage
