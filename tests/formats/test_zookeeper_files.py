"""ZooKeeper's files, written byte by byte. That real ones are read right is shown in tests/differential/test_zookeeper_files.py."""

import gzip
import io
import struct
from unittest.mock import patch

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.formats.zookeeper import changes, log, snapshot
from casebook.formats.zookeeper.log import Transaction
from casebook.formats.zookeeper.records import OPEN, Acl, FileHead, StreamDamage
from casebook.formats.zookeeper.snapshot import Session, SnapshotEnd, StoredZnode, ZxidDigest
from casebook.formats.zookeeper.tree import Rules, Tree, replay
from tests.formats.zookeeper_bytes import LOG_HEAD, SESSION, acls, buffer, create, integer, long, multi, node, record, seal, text
from tests.formats.zookeeper_bytes import snapshot as stored

SNAPPY = pyarrow.Codec("snappy")
READ_ONLY = (Acl(1, "digest", "bob:hash"), Acl(31, "ip", "10.0.0.1"))


def read(*content):
    """The rows behind the head."""
    first, *rows = log.read(io.BytesIO(b"".join((LOG_HEAD, *content))))
    assert first == FileHead(2, 0)
    return rows


def zxids(rows):
    return [row.zxid for row in rows if isinstance(row, Transaction)]


EVERY_CHANGE = [
    (1, create("/a", b"\xff", READ_ONLY, True, 7), changes.Create("create", "/a", b"\xff", READ_ONLY, True, 7, None)),
    (1, create("/a")[:-4], changes.Create("create", "/a", b"", OPEN, False, -1, None)),
    (15, create("/a/ü", None), changes.Create("create2", "/a/ü", None, OPEN, False, 1, None)),
    (
        19,
        text("/c") + buffer(b"c") + acls(*OPEN) + integer(3),
        changes.Create("createContainer", "/c", b"c", OPEN, False, 3, None),
    ),
    (
        21,
        text("/t") + buffer(b"t") + acls() + integer(4) + long(5000),
        changes.Create("createTTL", "/t", b"t", (), False, 4, 5000),
    ),
    (2, text("/a"), changes.Delete("delete", "/a")),
    (20, text("/c"), changes.Delete("deleteContainer", "/c")),
    (5, text("/a") + buffer(None) + integer(8), changes.SetData("setData", "/a", None, 8)),
    (5, text("/ü") + buffer(b"as long: 12B") + integer(8), changes.SetData("setData", "/ü", b"as long: 12B", 8)),
    (5, text("") + buffer(b"") + integer(0), changes.SetData("setData", "", b"", 0)),
    (16, text("/zookeeper/config") + buffer(b"x") + integer(-1), changes.SetData("reconfig", "/zookeeper/config", b"x", -1)),
    (7, text("/a") + acls(*READ_ONLY) + integer(2), changes.SetAcl("setACL", "/a", READ_ONLY, 2)),
    (13, text("/a") + integer(9), changes.Check("check", "/a", 9)),
    (-10, integer(6000), changes.CreateSession("createSession", 6000)),
    (-11, b"", changes.CloseSession("closeSession", None)),
    (-11, integer(0), changes.CloseSession("closeSession", ())),
    (-11, integer(2) + text("/a") + text("/b"), changes.CloseSession("closeSession", ("/a", "/b"))),
    (-1, integer(-101), changes.Failed("error", -101)),
    (
        14,
        multi((1, create("/m")), (13, text("/a") + integer(1)), (2, text("/b"))),
        changes.Multi(
            "multi",
            (
                changes.Create("create", "/m", b"", OPEN, False, 1, None),
                changes.Check("check", "/a", 1),
                changes.Delete("delete", "/b"),
            ),
        ),
    ),
    (14, multi(), changes.Multi("multi", ())),
    (
        14,
        multi((-1, integer(0)), (-1, integer(-103))),
        changes.Multi("multi", (changes.Failed("error", 0), changes.Failed("error", -103))),
    ),
]


class TestTransactions:
    @pytest.mark.parametrize(("kind", "content", "change"), EVERY_CHANGE)
    def test_every_change(self, kind, content, change):
        """A change is read with all its fields, and so is its header."""
        assert read(record(3, kind, content)) == [Transaction(16, 3, SESSION, 53, 1003, change, None, False)]

    @pytest.mark.parametrize(("kind", "content", "change"), [one for one in EVERY_CHANGE if one[2].operation != "check"])
    def test_with_a_digest(self, kind, content, change):
        """The digest of 3.6 is told apart from the change before it, which 3.3's create never had."""
        (row,) = read(record(3, kind, content, struct.pack(">iq", 2, -77)))
        if change.operation == "create" and change.parent_cversion == -1:
            assert isinstance(row.change, changes.Create | changes.Unknown)
        else:
            assert (row.change, row.digest) == (change, log.Digest(2, -77))

    @pytest.mark.parametrize(
        ("kind", "content", "reason"),
        [
            (99, b"abc", "is of a type that is not known"),
            (1, create("/a")[:-6], "ends too early"),
            (2, text("/a") + b"??", "ends 2 bytes too late"),
            (2, integer(-5), "states a length of -5 bytes"),
            (7, text("/a") + integer(-2) + integer(0), "states a number of -2"),
            (-11, b"???", "ends 3 bytes too late"),
        ],
    )
    def test_not_understood(self, kind, content, reason):
        """A record that is whole and not understood is a row with its type and bytes; what follows is read."""
        unknown, then = read(record(1, kind, content), record(2, 2, text("/a")))
        assert unknown.change == changes.Unknown("unknown", kind, content, reason)
        assert (then.change, then.after_damage) == (changes.Delete("delete", "/a"), False)

    def test_part_not_understood(self):
        """In a multi it is one part: also a multi in a multi, which no release writes."""
        (row,) = read(record(1, 14, multi((2, text("/a")), (14, b""))))
        assert row.change.parts == (
            changes.Delete("delete", "/a"),
            changes.Unknown("unknown", 14, b"", "is of a type that is not known"),
        )
        assert not row.change.failed


CHECKS = st.builds(
    lambda path, version: (13, text(path) + integer(version)), st.text(max_size=9) | st.just("/long" * 60), st.integers(0, 9)
)
SET_DATA = st.builds(
    lambda path, data, version: (5, buffer(path) + buffer(data) + integer(version)),
    st.text(max_size=9).map(str.encode) | st.binary(max_size=9),
    st.none() | st.binary(max_size=40),
    st.integers(0, 99),
)
OTHERS = st.sampled_from([(2, text("/a")), (1, create("/a")), (16, text("/a") + buffer(b"") + integer(1)), (-1, integer(0))])
DIGESTS = st.sampled_from([b"", struct.pack(">iq", 2, -77)])


class TestFenced:
    """A check and a setData, which are read at once, against the same read part by part."""

    @settings(deadline=None)
    @given(CHECKS | SET_DATA | OTHERS, SET_DATA | OTHERS, DIGESTS)
    def test_as_part_by_part(self, first, second, digest):
        """Two parts are what each is on its own, whatever their paths and data are."""
        (both,) = read(record(1, 14, multi(first, second), digest))
        alone = [read(record(1, 14, multi(part)))[0].change.parts for part in (first, second)]
        assert both.change == changes.Multi("multi", alone[0] + alone[1])
        assert (both.digest is None) == (digest == b"")

    @pytest.mark.parametrize("digest", [b"", struct.pack(">iq", 2, -77)])
    def test_not_as_it_should_be(self, digest):
        """With any byte another one, or cut short anywhere, it is what reading part by part makes of it."""
        content = multi((13, text("/e") + integer(7)), (5, text("/a") + buffer(b"x") + integer(1)))
        changed = [(at, by) for at in range(len(content)) for by in (1, 5 ^ 16, 0x80, 0xFF)]
        wrong = [content[:at] + bytes([content[at] ^ by]) + content[at + 1 :] for at, by in changed]
        wrong += [content[:size] for size in range(len(content))]
        records = [record(1 + at, 14, one + digest) for at, one in enumerate(wrong)]
        rows = read(*records)
        with patch.object(changes, "_fence", return_value=None):
            assert read(*records) == rows
        assert len(rows) == len(wrong)


class TestDamage:
    BEFORE, AFTER = record(1, 2, text("/a")), record(3, 2, text("/c"))

    def test_preallocated(self):
        """Zeros at the end are no damage."""
        assert zxids(rows := read(self.BEFORE, bytes(3 << 20))) == [1] == [row.zxid for row in rows]

    @pytest.mark.parametrize(("content", "reason"), [(b"", "is empty"), (LOG_HEAD[:9], "ends within its head")])
    def test_no_head(self, content, reason):
        assert list(log.read(io.BytesIO(content))) == [StreamDamage(0, len(content), reason)]

    @pytest.mark.parametrize(
        ("head", "reason"),
        [
            (struct.pack(">4siq", b"ZKSN", 2, 0), "does not begin with ZKLG"),
            (struct.pack(">4siq", b"ZKLG", 3, 0), "is of version 3, which is not known"),
        ],
    )
    def test_another_head(self, head, reason):
        """What holds records is read, and they come after damage."""
        damage, row = log.read(io.BytesIO(head + self.BEFORE))
        assert (damage, row.zxid, row.after_damage) == (StreamDamage(0, 16, reason), 1, True)

    @pytest.mark.parametrize(
        ("damaged", "reason"),
        [
            (record(2, 1, create("/b"), checksum=5), "has a record without the checksum that it states"),
            (record(2, 1, create("/b"))[:-1] + b"C", "has a record without its end mark"),
            (long(9) + integer(-7) + b"???", "has a record that states a length of -7 bytes"),
            (long(9) + integer(2**31 - 1) + b"???", "has a record that states a length of 2147483647 bytes"),
            (long(9) + integer(50_000_000) + b"???", "ends within a record"),
            (bytes(100) + b"?", "has zeros where a record should begin, and more data after them"),
            (bytes(5_000_000) + b"?", "has zeros where a record should begin, and more data after them"),
            (b"?" * 3_000_000, "has a record that states a length of 1061109567 bytes"),
        ],
    )
    def test_in_the_middle(self, damaged, reason):
        """It is one row, and what follows is read and marked."""
        first, damage, last = read(self.BEFORE, damaged, self.AFTER, bytes(100))
        assert (first.zxid, first.after_damage, last.zxid, last.after_damage) == (1, False, 3, True)
        assert damage == StreamDamage(16 + len(self.BEFORE), len(damaged), reason)

    def test_older_record_in_it(self):
        """A record whose zxid is not later is part of the damage: znodes may hold anything, also pieces of a log."""
        _, damage, last = read(self.BEFORE, b"?" + self.BEFORE, self.AFTER)
        assert (damage.length, last.zxid) == (1 + len(self.BEFORE), 3)

    @pytest.mark.parametrize("padding", [b"", bytes(70), bytes(2_000_000)])
    def test_torn(self, padding):
        """The last record was being written: damage up to its last byte, and nothing behind it."""
        torn = record(2, 1, create("/b", b"x" * 100))[:-60]
        first, damage = read(self.BEFORE, torn, padding)
        assert (first.zxid, damage.position, damage.length) == (1, 16 + len(self.BEFORE), len(torn))
        assert damage.reason == ("has a record without its end mark" if padding else "ends within a record")

    def test_longer_than_a_piece(self):
        """Records are read whole wherever the pieces of the stream end."""
        records = [record(number, 5, text("/a") + buffer(b"x" * 700_000) + integer(number)) for number in range(1, 6)]
        assert zxids(rows := read(*records)) == [1, 2, 3, 4, 5]
        assert {len(row.change.data) for row in rows} == {700_000}

    @settings(deadline=None)
    @given(st.lists(st.binary(max_size=40), min_size=1, max_size=8), st.data())
    def test_flipped_byte(self, data, drawn):
        """One changed byte costs at most the record it is in, and all the others are as before."""
        records = [record(1 + at, 5, text("/a") + buffer(one) + integer(at)) for at, one in enumerate(data)]
        content = bytearray(LOG_HEAD + b"".join(records) + bytes(20))
        sound = list(log.read(io.BytesIO(content)))
        flipped = drawn.draw(st.sampled_from([*range(8), *range(16, len(content))]))  # between those is a number of no meaning
        content[flipped] ^= drawn.draw(st.integers(1, 255))
        rows = list(log.read(io.BytesIO(content)))
        (damage,) = (row for row in rows if isinstance(row, StreamDamage))
        assert damage.position <= flipped < damage.position + damage.length
        found = [row._replace(after_damage=False) for row in rows if isinstance(row, Transaction)]
        assert found == [row for row in sound[1:] if not row.position <= flipped < _behind(row, sound, records)]

    @settings(deadline=None)
    @given(st.binary(max_size=300))
    def test_any_bytes(self, content):
        """Nothing raises, and every byte that is not zero is in a row."""
        damaged = sum(row.length for row in log.read(io.BytesIO(content)) if isinstance(row, StreamDamage))
        assert damaged >= len(content.rstrip(b"\0"))


def _behind(row, rows, records):
    return row.position + len(records[rows.index(row) - 1])


# Snapshots.


def rows_of(content, **options):
    return list(snapshot.read(io.BytesIO(content), **options))


def snapped(content):
    """As SnappyOutputStream writes it, in blocks that are not a snapshot's."""
    blocks = [SNAPPY.compress(content[at : at + 50], asbytes=True) for at in range(0, len(content), 50)]
    return b"\x82SNAPPY\0" + integer(1) + integer(1) + b"".join(map(buffer, blocks))


NODES = (
    node("", cversion=2, pzxid=9),
    node("/a", b"\0\1", 1, zxid=5),
    node("/a/ü", None, 2, owner=SESSION, zxid=6),
)
WHOLE = stored(*NODES, sessions=[(SESSION, 6000), (-2, 4000)], acl_cache=[(1, READ_ONLY)])
ROWS = [
    FileHead(2, -1),
    Session(SESSION, 6000),
    Session(-2, 4000),
    StoredZnode("/", b"", OPEN, 1, 1, 101, 201, 3, 2, 4, 0, 9),
    StoredZnode("/a", b"\0\1", READ_ONLY, 5, 5, 105, 205, 3, 0, 4, 0, 5),
    StoredZnode("/a/ü", None, None, 6, 6, 106, 206, 3, 0, 4, SESSION, 6),
]
PLAIN_END = SnapshotEnd(True, None, None)


class TestSnapshot:
    @pytest.mark.parametrize(
        ("content", "end"),
        [
            (WHOLE, PLAIN_END),
            (seal(WHOLE + struct.pack(">qiq", 9, 2, -3)), SnapshotEnd(True, ZxidDigest(9, 2, -3), None)),
            (seal(WHOLE + long(9)), SnapshotEnd(True, None, 9)),
            (seal(seal(WHOLE + struct.pack(">qiq", 9, 2, -3)) + long(9)), SnapshotEnd(True, ZxidDigest(9, 2, -3), 9)),
        ],
    )
    @pytest.mark.parametrize("packed", [bytes, gzip.compress, snapped])
    def test_whole(self, content, end, packed):
        """All rows are there, whatever the release wrote behind them and however it was compressed."""
        assert rows_of(packed(content), unsnap=SNAPPY.decompress) == [*ROWS, end]

    def test_wrong_checksum(self):
        """The rows are given, and said not to be sealed."""
        assert rows_of(WHOLE[:-6] + b"?" + WHOLE[-5:])[-1] == SnapshotEnd(False, None, None)

    @pytest.mark.parametrize("packed", [bytes, gzip.compress, snapped])
    def test_torn(self, packed):
        """Wherever it ends, znodes before that are given as they are, and the last row says so."""
        content = packed(WHOLE)
        trailer = 12 if packed is gzip.compress else 0  # without it everything is still there
        for size in range(1, len(content) - trailer):
            *rows, damage = rows_of(content[:size], unsnap=SNAPPY.decompress)
            assert rows == ROWS[: len(rows)]
            assert isinstance(damage, StreamDamage)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "is empty"),
            (LOG_HEAD, "does not begin with ZKSN"),
            (WHOLE[:16] + integer(-9), "states a number of -9"),
            (WHOLE[:16] + integer(0) + integer(0) + integer(2**31 - 1), "states a length of 2147483647 bytes"),
            (stored(node("a")), "has a path that does not begin with /"),
            (gzip.compress(WHOLE)[:20] + b"????????????", "has gzip that cannot be unpacked"),
            (snapped(WHOLE)[:24] + b"????????????" + snapped(WHOLE)[36:], "has a block of snappy that cannot be unpacked"),
            (snapped(WHOLE)[:16] + integer(-2), "has a block of snappy that states a length of -2 bytes"),
        ],
    )
    def test_makes_no_sense(self, content, reason):
        assert rows_of(content, unsnap=SNAPPY.decompress)[-1].reason == reason

    def test_without_snappy(self):
        (damage,) = rows_of(snapped(WHOLE))
        assert damage.reason == "is compressed with snappy, and no library here can unpack it"

    def test_bytes_behind_it(self):
        *rows, damage, end = rows_of(WHOLE + b"?")
        assert (rows, end) == (ROWS, PLAIN_END)
        assert damage == StreamDamage(len(WHOLE), None, "has unknown bytes after its end")

    def test_longer_than_a_piece(self):
        """A znode and a number of them are read wherever the pieces of the stream end."""
        nodes = [node(f"/{number}", b"x" * (number * 150_000)) for number in range(20)]
        *rows, end = rows_of(stored(node(""), *nodes))
        assert ([len(row.data) for row in rows[2:]], end) == ([number * 150_000 for number in range(20)], PLAIN_END)

    @settings(deadline=None)
    @given(st.integers(16, len(WHOLE) - 1), st.integers(1, 255))
    def test_flipped_byte(self, flipped, by):
        """A changed byte is never passed over in silence."""
        content = bytearray(WHOLE)
        content[flipped] ^= by
        assert rows_of(bytes(content))[-1] != PLAIN_END


class Dribble(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def read(self, size=-1):
        return super().read(11)


def test_few_bytes_at_a_time():
    """How a stream cuts its bytes makes no difference, to logs with damage in them and to snapshots."""
    damaged = LOG_HEAD + record(1, 2, text("/a")) + b"?" * 50 + record(2, 2, text("/b")) + bytes(90) + b"?" + bytes(90)
    assert list(log.read(Dribble(damaged))) == list(log.read(io.BytesIO(damaged)))
    assert [type(row) for row in log.read(Dribble(damaged))] == [FileHead, Transaction, StreamDamage, Transaction, StreamDamage]
    for packed in (bytes, gzip.compress, snapped):
        assert list(snapshot.read(Dribble(packed(WHOLE)), unsnap=SNAPPY.decompress)) == [*ROWS, PLAIN_END]


# The tree.


ONLY_THE_ROOT = (node("", zxid=0),)


def tree(*records, nodes=ONLY_THE_ROOT, zxid=0, **options):
    return replay(rows_of(stored(*nodes, sessions=[(SESSION, 6000)])), read(*records), zxid=zxid, **options)


def shape(found, path="/"):
    """What the rules are about: pzxid, cversion as clients see it, and number of children."""
    stat = found.get(path).stat
    return stat.pzxid, stat.cversion, stat.numChildren


class TestTree:
    def test_life_of_a_znode(self):
        """Created, changed and given rights, with the stat of its own and its parent's."""
        found = tree(
            record(1, 1, create("/a", b"1", parent_cversion=1)),
            record(2, 5, text("/a") + buffer(b"two") + integer(1)),
            record(3, 7, text("/a") + acls(*READ_ONLY) + integer(1)),
            record(4, 1, create("/a/b", None, ephemeral=True, parent_cversion=1)),
        )
        assert [znode.path for znode in found.znodes()] == ["/", "/a", "/a/b"]
        znode = found.get("/a")
        assert (znode.data, found.acl("/a"), found.children("/a")) == (b"two", READ_ONLY, {"b"})
        stat = znode.stat
        assert (stat.czxid, stat.mzxid, stat.pzxid, stat.ctime, stat.mtime) == (1, 2, 4, 1001, 1002)
        assert (stat.version, stat.cversion, stat.aversion, stat.dataLength, stat.numChildren) == (1, 1, 1, 3, 1)
        assert found.get("/a/b").stat.ephemeralOwner == SESSION
        assert (found.get("/c"), len(found), found.zxid) == (None, 3, 4)

    @pytest.mark.parametrize("paths", [b"", integer(1) + text("/a")])
    def test_session_closed(self, paths):
        """Its znodes go with it, whether the log names them or not."""
        before = record(1, 1, create("/a", ephemeral=True)), record(2, 1, create("/b", parent_cversion=2))
        found = tree(*before, record(3, -11, paths))
        assert (found.children("/"), shape(found), found.sessions) == ({"b"}, (3, 3, 1), {})

    def test_multi(self):
        """All of it happens, or nothing."""
        done = multi((1, create("/a")), (5, text("/a") + buffer(b"x") + integer(1)), (13, text("/") + integer(0)))
        refused = multi((-1, integer(0)), (2, text("/a")), (-1, integer(-101)))
        found = tree(record(1, 14, done), record(2, 14, refused))
        assert (found.get("/a").data, shape(found), found.zxid) == (b"x", (1, 1, 1), 2)

    def test_containers(self):
        """Containers and znodes with a time to live belong to nobody, whatever stands for it in a snapshot."""
        rest = buffer(b"") + acls() + integer(1)
        marked = node("/c", owner=-(2**63)), node("/t", owner=-(2**56) + 5000), node("/e", owner=-(2**56) + 2**40)
        found = tree(record(1, 19, text("/d") + rest), record(2, 21, text("/u") + rest + long(5000)), nodes=[node(""), *marked])
        owners = {znode.path: znode.stat.ephemeralOwner for znode in found.znodes()}
        assert owners == {"/": 0, "/c": 0, "/t": 0, "/d": 0, "/u": 0, "/e": -(2**56) + 2**40}

    def test_until(self):
        """The tree at a zxid; what the snapshot holds is not applied again."""
        records = [record(number, 1, create(f"/{number}", parent_cversion=number)) for number in range(1, 6)]
        assert tree(*records, until=3).children("/") == {"1", "2", "3"}
        assert tree(*records, zxid=3).children("/") == {"4", "5"}

    def test_unknown(self):
        """What was not understood cannot be replayed, and nothing of it is."""
        found = Tree([], zxid=0)
        (row,) = read(record(1, 14, multi((1, create("/a")), (99, b""))))
        with pytest.raises(ValueError, match="0x1, of type 99, is of a type that is not known"):
            found.apply(row)
        assert found.zxid == 0

    @pytest.mark.parametrize(
        ("rules", "missing", "overtaken", "created"),
        [(Rules.V3_4, 5, 7, (7, 3)), (Rules.V3_5, 8, 9, (7, 3)), (Rules.V3_6, 8, 9, (9, 7))],
    )
    def test_fuzzy(self, rules, missing, overtaken, created):
        """Each release meets changes that the snapshot already holds in its own way (DataTree.java@3.4.6, 3.5.9, 3.8.4)."""
        gone = tree(record(8, 2, text("/a")), nodes=[node("", pzxid=5)], rules=rules)
        assert shape(gone)[0] == missing
        later = tree(record(7, 2, text("/a")), nodes=[node("", pzxid=9), node("/a")], rules=rules)
        assert shape(later)[0] == overtaken
        again = tree(record(7, 1, create("/a", parent_cversion=2)), nodes=[node("", cversion=4, pzxid=9)], rules=rules)
        assert shape(again)[:2] == created

    @pytest.mark.parametrize(("operation", "expected"), [(1, (7, 5)), (15, (5, 3))])
    def test_fuzzy_creation(self, operation, expected):
        """Of a znode that is there, the parent's count is caught up with; only for create, as in ZooKeeper."""
        found = tree(record(7, operation, create("/a", parent_cversion=3)), nodes=[node("", cversion=2, pzxid=5), node("/a")])
        assert shape(found)[:2] == expected
