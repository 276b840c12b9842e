"""Walks over a real ZooKeeper."""

import re
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from kazoo.security import make_digest_acl

from casebook.collect.zookeeper.ensemble import Credentials, Ensemble
from casebook.collect.zookeeper.reader import NoAnswerError, Verb, connect
from casebook.collect.zookeeper.walk import LARGEST_DATA, reach, walk
from casebook.collect.zookeeper.wire import READ_OPERATIONS
from casebook.errors import CollectError, UsageError
from casebook.facts.znodes import ReadOutcome, Znode
from casebook.formats.zookeeper import kafka_tree
from tests.collect.small_zookeeper import ZooKeeper, kafka, state, state_path
from tests.collect.tapped_wire import Wire
from tests.ends import ends

ONE = {"t": {0: [1, 2]}}


def rows(connect: str, **options) -> dict[str, Znode]:
    """The znodes of a walk by path."""
    return {znode.path: znode for znode in walk(connect, **options).znodes}


class TestWalk:
    def test_reads_what_kafka_keeps_with_its_stat(self, zookeeper: ZooKeeper) -> None:
        """Data and stat are those that a client reads."""
        zookeeper.tree(
            kafka({"t": {0: [1, 2], 1: [2, 1]}}) | {"/config/topics/t": b'{"version":1,"config":{"a":"b"}}', "/cluster/id": b"{}"}
        )
        found = rows(zookeeper.address)
        for path in ("/controller", "/brokers/ids/1", state_path("t", 1), "/config/topics/t", "/cluster/id"):
            data, stat = zookeeper.client.get(path)
            assert (data, ReadOutcome.READ) == (found[path].data, found[path].outcome)
            assert stat._asdict() == {name: getattr(found[path].stat, name) for name in stat._fields}

    def test_paths_are_below_the_chroot(self, zookeeper: ZooKeeper) -> None:
        """The same cluster under a chroot gives the same paths and data."""
        zookeeper.tree(kafka(ONE) | kafka(ONE, chroot="/kafka/prod"))
        at_root, below = rows(zookeeper.address), rows(zookeeper.address + "/kafka/prod/")
        assert {path: znode.data for path, znode in at_root.items()} == {path: znode.data for path, znode in below.items()}

    def test_each_absence_is_told(self, zookeeper: ZooKeeper) -> None:
        """Roots and states that were asked for and are not there are rows."""
        zookeeper.tree(kafka({"t": {0: [1], 1: [1]}}))
        zookeeper.client.delete(state_path("t", 1), recursive=True)
        zookeeper.client.delete("/controller")
        found = rows(zookeeper.address)
        assert (
            ReadOutcome.MISSING == found["/controller"].outcome == found[state_path("t", 1)].outcome == found["/feature"].outcome
        )

    def test_state_is_read_as_it_is(self, zookeeper: ZooKeeper) -> None:
        """Empty and undecodable states are evidence, not errors."""
        zookeeper.tree(kafka({"t": {0: [1], 1: [1]}}))
        zookeeper.client.set(state_path("t", 0), b"")
        zookeeper.client.set(state_path("t", 1), b"\xff\x00{")
        found = rows(zookeeper.address)
        assert (found[state_path("t", 0)].data, found[state_path("t", 1)].data) == (b"", b"\xff\x00{")

    def test_states_are_read_below_an_undecodable_topic(self, zookeeper: ZooKeeper) -> None:
        """The listing of partitions stands in for an assignment that says nothing."""
        zookeeper.tree(kafka(ONE))
        zookeeper.client.set("/brokers/topics/t", b"no JSON")
        assert rows(zookeeper.address)[state_path("t")].outcome == ReadOutcome.READ

    def test_tokens_are_only_counted_and_of_groups_offsets_are_read(self, zookeeper: ZooKeeper) -> None:
        """Nobody's members, rights and tokens are collected; the offsets that groups keep there are."""
        zookeeper.tree(
            kafka(ONE)
            | {"/consumers/g1/offsets/t/0": b"5", "/consumers/g1/owners/t/0": b"me", "/consumers/g2": b""}
            | {"/consumers/g1/offsets/t/odd": b"7", "/delegation_token/tokens/x": b"secret"}
        )
        found = rows(zookeeper.address)
        assert (found["/consumers"].stat.numChildren, found["/consumers"].data) == (2, None)
        below = [path for path in found if path.startswith(("/consumers/", "/delegation_token/"))]
        assert below == ["/consumers/g1/offsets/t/0"]
        assert found[below[0]].data == b"5"

    def test_more_offsets_than_are_read(self, zookeeper: ZooKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
        """The walk ends, and says what it left."""
        monkeypatch.setattr(kafka_tree, "MOST_OFFSETS", 4)
        zookeeper.tree(kafka(ONE) | {f"/consumers/g/offsets/t/{n}": b"5" for n in range(9)})
        found = walk(zookeeper.address)
        assert sum(znode.path.startswith("/consumers/") for znode in found.znodes) == 2
        assert any("more offsets of groups" in problem.reason for problem in found.problems)

    def test_large_znodes(self, zookeeper: ZooKeeper) -> None:
        """One of 1 MB is read; of one beyond the bound the stat is kept."""
        zookeeper.tree(kafka(ONE) | {"/config/topics/mega": b"x" * (1 << 20), "/config/topics/giga": b"x" * (LARGEST_DATA + 1)})
        found = rows(zookeeper.address)
        assert len(found["/config/topics/mega"].data) == 1 << 20
        giga = found["/config/topics/giga"]
        assert (giga.data, giga.outcome, giga.stat.dataLength) == (None, ReadOutcome.TOO_LARGE, LARGEST_DATA + 1)

    def test_any_window_reads_the_same(self, zookeeper: ZooKeeper) -> None:
        """The window bounds the load and nothing else."""
        zookeeper.tree(kafka({f"t{n}": {p: [1, 2] for p in range(3)} for n in range(5)}))
        one, many = (walk(zookeeper.address, window=window).znodes for window in (1, 500))
        assert [znode._replace(read_at=0) for znode in one] == [znode._replace(read_at=0) for znode in many]

    def test_progress_ends_at_its_estimate(self, zookeeper: ZooKeeper) -> None:
        """The last call says that all is done."""
        zookeeper.tree(kafka({"t": {p: [1] for p in range(40)}}))
        calls = []
        walk(zookeeper.address, progress=lambda done, estimate: calls.append((done, estimate)))
        assert calls[-1][0] == calls[-1][1] > 40

    def test_ipv6_address(self, zookeeper: ZooKeeper) -> None:
        """A literal in brackets is understood; this server does not listen there."""
        with pytest.raises(CollectError, match=r"\[::1\]"):
            walk(f"[::1]:{zookeeper.port}", timeout=0.3)

    def test_reach_counts(self, zookeeper: ZooKeeper) -> None:
        """The doctor's question has an answer of one line."""
        zookeeper.tree(kafka(ONE))
        assert f"{zookeeper.address}: 2 brokers registered, 1 topics" == reach(zookeeper.address).said


class TestNoWrites:
    def test_only_reads_leave_the_machine(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """Every operation that a server sees is a read."""
        zookeeper.tree(kafka(ONE))
        walk(wire.address)
        assert set(wire.operations) <= {3, 4, 8, 11, -11}

    @pytest.mark.parametrize("write", [
        lambda client: client.create("/x"),
        lambda client: client.set("/controller", b""),
        lambda client: client.delete("/controller"),
        lambda client: client.set_acls("/controller", []),
        lambda client: client.transaction().commit(),
    ])  # fmt: skip
    def test_a_write_is_refused_before_it_is_sent(self, zookeeper: ZooKeeper, wire: Wire, write: Callable) -> None:
        """Even with kazoo's own client in hand no write gets onto the wire."""
        zookeeper.tree(kafka(ONE))
        with connect(Ensemble.parse(wire.address), timeout=5) as reader, pytest.raises(ConnectionLoss):
            write(reader._Reader__client)
        assert set(wire.operations) <= READ_OPERATIONS

    def test_the_lane_refuses_writes(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """Nor does one that comes past kazoo."""
        zookeeper.tree(kafka(ONE))
        with connect(Ensemble.parse(wire.address), timeout=5) as reader:
            reader._lane.ask([("delete", 2, b"\x00\x00\x00\x0b/controller\xff\xff\xff\xff")])
            with pytest.raises(NoAnswerError):
                reader.ask_one(Verb.STAT, "/")
        assert set(wire.operations) <= READ_OPERATIONS

    def test_no_write_among_the_operations(self) -> None:
        """The list of what may pass holds reads, pings, authentication and the end of a session."""
        assert {-11, 3, 4, 8, 11, 100, 102} == READ_OPERATIONS


class TestChroot:
    def test_missing_chroot_is_an_error_that_names_the_others(self, zookeeper: ZooKeeper) -> None:
        """A slip in the chroot never looks like an empty cluster."""
        zookeeper.tree(kafka(ONE, chroot="/kafka/prod"))
        with pytest.raises(CollectError, match="chroot /kafak does not exist") as caught:
            walk(zookeeper.address + "/kafak")
        assert "/kafka/prod" in caught.value.cause

    def test_forgotten_chroot(self, zookeeper: ZooKeeper) -> None:
        """An ensemble without a cluster at its root is an error too."""
        zookeeper.tree(kafka(ONE, chroot="/kafka"))
        with pytest.raises(CollectError, match="no /brokers") as caught:
            walk(zookeeper.address)
        assert "/kafka" in caught.value.cause

    def test_chroot_after_every_server(self) -> None:
        """The usual slip is named."""
        with pytest.raises(UsageError, match="before the end"):
            walk("h1:2181/kafka,h2:2181/kafka")

    @pytest.mark.parametrize("connect", ["", "h:x", "h:0", "h:70000", "::1", "[::x]:2181", "h1,,h2", "h/a//b", "user@h:1"])
    def test_malformed(self, connect: str) -> None:
        """What is no connect string is a usage error."""
        with pytest.raises(UsageError):
            walk(connect)


class TestChangesDuringTheWalk:
    def test_changed_znode_is_read_again_and_marked(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """A state that changes after it was read is found, and what it says at the end is kept."""
        zookeeper.tree(kafka({"a": {0: [1, 2]}, "b": {0: [1, 2]}}))
        wire.when(state_path("b"), lambda: zookeeper.client.set(state_path("a"), state([2])))
        found = rows(wire.address, window=1)
        assert (ReadOutcome.CHANGED, state([2])) == (found[state_path("a")].outcome, found[state_path("a")].data)
        assert found[state_path("b")].outcome == ReadOutcome.READ

    def test_quiet_cluster_is_read_once(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """When no transaction happened there is no second look; the end of an earlier test's session is one."""
        zookeeper.tree(kafka(ONE))
        for _ in range(5):
            before = self._last(zookeeper)
            wire.operations.clear()
            found = walk(wire.address)
            if self._last(zookeeper) == before + 2:  # its own session began and ended
                break
        assert len(wire.operations) < len(found.znodes) + 15

    def _last(self, zookeeper: ZooKeeper) -> int:
        """The number of the last transaction."""
        return int(re.search(r"Zxid: (0x[0-9a-f]+)", zookeeper.client.command(b"srvr"))[1], 16)

    def test_topic_deleted(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """A topic that was listed and is gone vanished, with its states."""
        zookeeper.tree(kafka({"a": {0: [1, 2]}, "b": {0: [1, 2]}}))
        wire.when("/brokers/topics/b", lambda: zookeeper.client.delete("/brokers/topics/a", recursive=True))
        found = rows(wire.address, window=1)
        assert ReadOutcome.VANISHED == found["/brokers/topics/a"].outcome == found[state_path("a")].outcome

    def test_topic_gone_between_list_and_read(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """The same, when it was not yet read."""
        zookeeper.tree(kafka(ONE))
        wire.when("/brokers/topics/t", lambda: zookeeper.client.delete("/brokers/topics/t", recursive=True))
        assert rows(wire.address)["/brokers/topics/t"].outcome == ReadOutcome.VANISHED

    def test_states_gone_between_topic_and_state(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """A state that went with its topic vanished; it is not missing."""
        zookeeper.tree(kafka(ONE))
        wire.when(state_path("t"), lambda: zookeeper.client.delete("/brokers/topics/t", recursive=True))
        assert rows(wire.address)[state_path("t")].outcome == ReadOutcome.VANISHED

    def test_topic_created_and_broker_gone(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """What came into being during the walk is read; who left vanished; a controller that appeared is there."""
        zookeeper.tree(kafka(ONE))
        zookeeper.client.delete("/controller")

        def change() -> None:
            zookeeper.tree(
                {
                    "/brokers/topics/new": b'{"version":1,"partitions":{"0":[1]}}',
                    state_path("new"): state([1]),
                    "/controller": b"{}",
                }
            )
            zookeeper.client.delete("/brokers/ids/2")

        wire.when(state_path("t"), change)
        found = rows(wire.address, window=1)
        assert ReadOutcome.CHANGED == found[state_path("new")].outcome == found["/controller"].outcome
        assert found["/brokers/ids/2"].outcome == ReadOutcome.VANISHED


class TestDenied:
    def test_acl_is_not_absence(self, zookeeper: ZooKeeper) -> None:
        """A znode whose ACL forbids reading is denied, and read with credentials."""
        zookeeper.tree(kafka(ONE))
        zookeeper.client.set_acls(state_path("t"), [make_digest_acl("kafka", "hush-hush", all=True)])
        credentials = Credentials(scheme="digest", username="kafka", password="hush-hush")
        without, with_ = rows(zookeeper.address), rows(zookeeper.address, credentials=credentials)
        assert (without[state_path("t")].outcome, with_[state_path("t")].outcome) == (ReadOutcome.DENIED, ReadOutcome.READ)
        assert "hush" not in repr(credentials)


class TestOutage:
    def test_unreachable(self) -> None:
        """The error names who was tried and why it failed."""
        with ends(), pytest.raises(CollectError, match="No ZooKeeper server answered") as caught:
            walk("127.0.0.1:1,no-such-host.invalid:2181", timeout=0.5)
        assert "127.0.0.1:1: connection refused" in caught.value.cause
        assert "no-such-host.invalid:2181: its name does not resolve" in caught.value.cause

    def test_refused(self) -> None:
        """A refusal is an answer: nobody waits for as long as silence is given, which is ten hours here."""
        with ends(), pytest.raises(CollectError, match="No ZooKeeper server answered"):
            walk("127.0.0.1:1,[::1]:1", timeout=36_000)

    def test_not_a_zookeeper(self) -> None:
        """Something that listens there and speaks otherwise is told apart."""
        with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(CollectError) as caught:
            walk(f"127.0.0.1:{other.getsockname()[1]}", timeout=0.3)
        assert "opens no ZooKeeper session" in caught.value.cause

    @pytest.mark.parametrize(
        "frame", [b"\x7f\xff\xff\xff\x40\x00\x00\x00", b"\xff\xff\xff\xff\x40\x00\x00\x00", b"\x00\x00\x00\x05\x40\x00\x00\x00x"]
    )
    def test_hostile_answer(self, frame: bytes) -> None:
        """Absurd lengths are neither believed nor allocated; the walk ends within its timeout."""
        with socket.create_server(("127.0.0.1", 0)) as hostile:
            threading.Thread(target=answer_with, args=(hostile, frame), daemon=True).start()
            with pytest.raises(CollectError, match="cannot be read"):
                walk(f"127.0.0.1:{hostile.getsockname()[1]}", timeout=2)

    def test_killed_and_back(self, own_zookeeper: ZooKeeper) -> None:
        """A server that dies in mid-walk and returns costs time, and no evidence."""
        own_zookeeper.tree(kafka({f"t{n:02}": {p: [1, 2] for p in range(50)} for n in range(40)}))
        expected = {znode.path: znode.data for znode in walk(own_zookeeper.address).znodes}
        died = []

        def kill_once(done: int, estimate: int) -> None:
            if not died:
                died.append((done, estimate))
                own_zookeeper.server.kill()
                threading.Thread(target=own_zookeeper.start).start()

        found = walk(own_zookeeper.address, progress=kill_once, timeout=30)
        assert died[0][0] == 1000 < died[0][1]
        assert expected == {znode.path: znode.data for znode in found.znodes}
        assert found.problems == ()

    def test_killed_for_good(self, own_zookeeper: ZooKeeper) -> None:
        """What was read is kept; what was not is failed, and told."""
        own_zookeeper.tree(kafka({f"t{n:02}": {p: [1, 2] for p in range(50)} for n in range(40)}))
        found = walk(own_zookeeper.address, progress=lambda _done, _estimate: own_zookeeper.server.kill(), timeout=5)
        outcomes = {znode.outcome for znode in found.znodes}
        assert {ReadOutcome.READ, ReadOutcome.FAILED} <= outcomes
        assert "/brokers/topics" in {problem.path for problem in found.problems}
        assert "did not" in found.problems[0].reason

    def test_frozen(self, own_zookeeper: ZooKeeper) -> None:
        """A server that says nothing any more ends the walk within the timeout."""
        own_zookeeper.tree(kafka({f"t{n:02}": {p: [1, 2] for p in range(50)} for n in range(40)}))
        with ends():
            found = walk(own_zookeeper.address, progress=lambda _done, _estimate: own_zookeeper.server.freeze(), timeout=5)
        own_zookeeper.server.thaw()
        assert found.problems

    def test_session_expired(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """An expired session is followed by a new one, and the walk goes on."""
        zookeeper.tree(kafka({"t": {p: [1, 2] for p in range(50)}}))
        wire.when(state_path("t", 25), lambda: expire_others(zookeeper, wire))
        found = walk(wire.address, window=4)
        assert (found.sessions, found.problems) == (2, ())
        assert sum(znode.path.endswith("/state") and znode.data is not None for znode in found.znodes) == 50

    def test_answer_that_cuts_the_connection(self, zookeeper: ZooKeeper, wire: Wire) -> None:
        """A list beyond jute.maxbuffer is found out, told, and costs nothing else."""
        zookeeper.tree(kafka(ONE) | {f"/config/topics/{'x' * 200}{n}": b"" for n in range(20)})
        wire.cut_answers_over = 3000
        found = walk(wire.address)
        assert [(p.path, "jute.maxbuffer" in p.reason) for p in found.problems] == [("/config/topics", True)]
        assert {znode.path: znode for znode in found.znodes}[state_path("t")].outcome == ReadOutcome.READ


def answer_with(server: socket.socket, frame: bytes) -> None:
    """Open a session for everybody, and answer every first question with this frame."""
    opened = struct.pack("!iiiqi16s?", 37, 0, 6000, 1, 16, b"", False)
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            with client, suppress(OSError):
                client.recv(4096)
                client.sendall(opened)
                client.recv(4096)
                client.sendall(frame)
                client.recv(4096)


def expire_others(zookeeper: ZooKeeper, wire: Wire) -> None:
    """Expire the session behind the wire: whoever presents its id and password may close it."""
    session, password = wire.session
    thief = KazooClient(zookeeper.address, client_id=(session, password))
    thief.start()
    thief.stop()
    thief.close()
