"""ZooKeeper's files as they are found after an incident: cut, damaged, incomplete, of another chroot."""

import struct

import pytest
from click.testing import CliRunner

from casebook.case.case import Case
from casebook.cli import cli
from casebook.collect.collection import collect_case
from casebook.errors import CaseError, CollectError
from casebook.facts.znodes import ReadOutcome, ZnodeChange
from casebook.formats.zookeeper import history_lines
from casebook.formats.zookeeper.history_lines import BEGIN
from tests.collect.zookeeper_files import BROKER_2, DIED, STATE, life, time_of, write_log, write_snapshot
from tests.formats import zookeeper_bytes as written


@pytest.fixture
def folder(tmp_path):
    """A server's ``version-2``."""
    return tmp_path / "zookeeper" / "version-2"


def collected(folder, **more) -> Case:
    """The case that its files make."""
    return Case.open(collect_case(folder.parent.parent / "case", zookeeper_data=[folder.parent], **more))


def told(case: Case) -> str:
    """What could not be collected, in one text."""
    return "\n".join(f"{problem.path} {problem.reason}" for problem in case.could_not_collect)


class TestWhole:
    def test_every_change(self, folder):
        """From the first on, with its time and session; the last state is the case's."""
        write_log(folder, list(life()))
        case = collected(folder)
        changes = list(case.history())
        assert [change.operation for change in changes[:3]] == [BEGIN, "createSession", "createSession"]
        died = next(change for change in changes if change.operation == "closeSession")
        assert (died.zxid, died.time, died.session) == (DIED, time_of(DIED), BROKER_2)
        assert {(znode.path, znode.outcome) for znode in died.znodes} == {
            ("/brokers/ids", ReadOutcome.READ),
            ("/brokers/ids/2", ReadOutcome.MISSING),
        }
        assert case.cluster().live == {1}
        assert not case.could_not_collect

    def test_as_of(self, folder):
        """One millisecond decides."""
        write_log(folder, list(life()))
        case = collected(folder)
        assert case.cluster(at=time_of(DIED) - 1).live == {1, 2}
        assert case.cluster(at=time_of(DIED)).live == {1}
        (partition,) = case.cluster(at=time_of(DIED)).partitions
        assert partition.state.leader == 2
        (partition,) = case.cluster(at=time_of(DIED + 1)).partitions
        assert partition.state.leader is None

    def test_chroot(self, folder):
        """Paths are those below it; a wrong one is not an empty cluster."""
        write_log(folder, list(life("/kafka")))
        assert collected(folder, chroot="/kafka").cluster(at=time_of(DIED + 1)).live == {1}
        with pytest.raises(CollectError, match="A Kafka cluster is at: /kafka"):
            collect_case(folder.parent / "other", zookeeper_data=[folder])

    def test_secrets_stay_outside(self, folder):
        """Neither the last state nor the history has them."""
        write_log(folder, list(life()))
        case = collected(folder)
        held = [znode for change in case.history() for znode in change.znodes] + list(case.znodes())
        assert any(znode.path == "/config/users/u" and znode.redacted for znode in held)
        assert not any(b"c3RvcmVk" in (znode.data or b"") for znode in held)
        assert case.redacted == ("1 znodes below /config",)

    def test_command(self, folder):
        """From the command line, the folder twice: a file counts once."""
        write_log(folder, list(life()))
        out = folder.parent.parent / "case"
        arguments = ["collect", "--zookeeper-data", str(folder), "--zookeeper-data", str(folder.parent), "--out", str(out)]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
        assert Case.open(out).cluster().live == {1}


class TestBroken:
    def test_a_log_is_missing(self, folder):
        """The history ends where it is, and says so; what came later is not guessed at."""
        records = list(life())
        write_log(folder, records[:12])
        write_log(folder, records[14:], first=15)
        case = collected(folder)
        assert max(change.zxid for change in case.history()) == 12
        assert "transactions between 0xc and 0xf are missing: the history ends at 0xc" in told(case)

    def test_a_snapshot_heals_the_gap(self, folder):
        """It goes on with the state that the snapshot has; moments between are refused."""
        records = list(life())
        write_log(folder, records[:9])
        write_snapshot(folder, 12)
        write_log(folder, records[12:], first=13)
        case = collected(folder)
        assert [change.zxid for change in case.history() if change.operation == BEGIN] == [0, 12]
        assert "transactions between 0x9 and 0xd are missing: the history continues at 0xc" in told(case)
        with pytest.raises(CaseError, match="are missing"):
            case.cluster(at=time_of(9) + 1)
        assert case.cluster(at=time_of(13)).live == {1}

    def test_a_snapshot_newer_than_every_log(self, folder):
        """Its state is the last one."""
        write_log(folder, list(life())[:9])
        write_snapshot(folder, 99)
        case = collected(folder)
        assert next(reversed(list(case.history()))).zxid == 99
        assert "the last state is that of snapshot.63" in told(case)

    def test_a_bad_checksum_in_the_middle(self, folder):
        """It is told with its place, and ends the history: nobody knows what that transaction did."""
        records = list(life())
        records[9] = records[9][:20] + bytes([records[9][20] ^ 255]) + records[9][21:]
        write_log(folder, records)
        case = collected(folder)
        assert max(change.zxid for change in case.history()) == 9
        assert "log.1" in told(case) and "between 0x9 and 0xb" in told(case)

    def test_a_torn_snapshot(self, folder):
        """It is passed over for an older one."""
        write_log(folder, list(life()))
        torn = write_snapshot(folder, 14)
        torn.write_bytes(torn.read_bytes()[:-20])
        assert collected(folder).cluster().live == {1}

    @pytest.mark.parametrize("behind", [struct.pack(">qiq", DIED, 2, -3), written.long(DIED)])
    def test_a_snapshot_written_while_a_broker_died(self, folder, behind):
        """Its znode was gone before it could be written: until then it is not known what there was (3.6, and 3.9)."""
        write_snapshot(folder, 14, behind=behind)
        write_log(folder, list(life())[14:], first=15)
        case = collected(folder)
        (begin, *_) = case.history()
        assert (begin.operation, begin.zxid, begin.time) == (BEGIN, DIED, time_of(DIED + 1))
        with pytest.raises(CaseError, match="begins at"):
            case.cluster(at=time_of(DIED))
        assert case.cluster(at=time_of(DIED + 1)).live == {1}

    @pytest.mark.parametrize("behind", [struct.pack(">qiq", 0, 0, 0), b""])
    def test_a_snapshot_that_does_not_say_until_when(self, folder, behind):
        """The server knew no digest yet, or is of 3.4: the history begins with what is found."""
        write_snapshot(folder, 14, behind=behind)
        write_log(folder, list(life())[14:], first=15)
        (begin, *_) = collected(folder).history()
        assert (begin.zxid, begin.time) == (14, time_of(15))

    def test_logs_without_their_beginning(self, folder):
        """Without a snapshot from before, nothing can be said."""
        write_log(folder, list(life())[5:], first=6)
        with pytest.raises(CollectError, match="No complete snapshot fits the transactions from 0x6 on"):
            collected(folder)

    def test_nothing_there(self, tmp_path):
        """An empty folder is told apart from an empty cluster."""
        with pytest.raises(CollectError, match="neither a snapshot nor a transaction log"):
            collect_case(tmp_path / "case", zookeeper_data=[tmp_path])

    def test_no_history(self, tmp_path, folder):
        """A case without one is asked for a moment."""
        dump = tmp_path / "dump.jsonl"
        dump.write_text('{"path": "/brokers/ids", "data": null}\n')
        case = Case.open(collect_case(tmp_path / "plain", zookeeper_dump=dump))
        with pytest.raises(CaseError, match="no history"):
            case.cluster(at=time_of(1))

    def test_before_the_beginning(self, folder):
        """Nothing is known of it."""
        write_log(folder, list(life()))
        with pytest.raises(CaseError, match="begins at"):
            collected(folder).cluster(at=-5)


class TestLines:
    def test_there_and_back(self):
        """What was written is read again; a session of the upper half keeps its sign."""
        changes = [
            ZnodeChange(1, 5, None, BEGIN, None, ()),
            ZnodeChange(2, 6, -(2**63) + 9, "createSession", 6000, ()),
        ]
        assert list(history_lines.decode(line for change in changes for line in history_lines.encode(change))) == changes

    @pytest.mark.parametrize("line", ["", "[]", '{"zxid": "1"}', '{"zxid":1,"time":2,"operation":"x","session":"y"}',
                                      '{"zxid":1,"time":2,"operation":"x","znodes":[1]}'])  # fmt: skip
    def test_what_is_no_change(self, line):
        """It is said, and nothing is made up."""
        with pytest.raises(ValueError, match="no"):
            list(history_lines.decode([line]))


def test_the_life_is_as_long_as_said():
    """The death is where the tests look for it, and the partition's state changes behind it."""
    assert len(list(life())) == DIED + 1
    assert STATE.encode() in list(life())[DIED]
