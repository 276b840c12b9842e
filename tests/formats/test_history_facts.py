"""Changes of znodes, decoded to what happened."""

import json

from casebook.facts.history import What
from casebook.facts.znodes import ReadOutcome, Stat, Znode, ZnodeChange
from casebook.formats.zookeeper import history_facts

SESSION = 0x16DBE1A0C5E0003


def znode(path, content, zxid=9, **stat):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Znode(path=path, data=data, stat=Stat(**({"czxid": zxid, "mzxid": zxid, "ctime": 5, "mtime": 7, "version": 0} | stat)))


def missing(path):
    return Znode(path=path, outcome=ReadOutcome.MISSING)


def state(leader=1, epoch=0):
    return {"leader": leader, "isr": [1, 2], "leader_epoch": epoch, "controller_epoch": 1, "version": 1}


def read(*znodes, operation="setData", zxid=9, timeout=None):
    return list(history_facts.read([ZnodeChange(zxid, 100, SESSION, operation, timeout, znodes)]))


BROKER = {"version": 1, "host": "h", "port": 9092, "timestamp": "95"}
STATE = "/brokers/topics/a/partitions/3/state"


class TestRead:
    def test_registration(self):
        """With the session, and the time that the broker wrote."""
        one = read(znode("/brokers/ids/57", BROKER), operation="create")[0]
        assert (one.what, one.broker, one.session, one.stamp, one.time) == (What.BROKER_REGISTERED, 57, SESSION, 95, 100)

    def test_changed_listeners_are_no_registration(self):
        """A znode that was there before is not created anew."""
        assert read(znode("/brokers/ids/57", BROKER, czxid=3)) == []

    def test_settings_of_a_topic(self):
        """Its overrides as they are written; none once their znode is gone; unknown when nobody can read them."""
        path = "/config/topics/a"
        told = (
            read(znode(path, {"version": 1, "config": {"min.insync.replicas": "2"}}))
            + read(missing(path))
            + read(znode(path, b"?"))
        )
        assert [(one.what, one.topic, one.config) for one in told] == [
            (What.TOPIC_CONFIG, "a", {"min.insync.replicas": "2"}),
            (What.TOPIC_CONFIG, "a", {}),
            (What.TOPIC_CONFIG, "a", None),
        ]
        begun = read(znode(path, {"version": 1, "config": {}}, mzxid=4), operation="begin")[1]
        assert (begun.before, begun.zxid, begun.time, begun.config) == (True, 4, 7, {})

    def test_session_goes_before_its_znodes(self):
        """The session, then what it takes along, then what comes."""
        told = read(missing("/brokers/ids/57"), missing("/controller"), znode(STATE, state()), operation="closeSession")
        assert [one.what for one in told] == [What.SESSION_CLOSED, What.BROKER_GONE, What.CONTROLLER_GONE, What.STATE]

    def test_controller(self):
        """Who, and its epoch, in one transaction or two."""
        told = read(znode("/controller", {"version": 1, "brokerid": 2, "timestamp": "99"}), znode("/controller_epoch", b"7"))
        assert [(one.what, one.broker, one.epoch, one.stamp) for one in told] == [
            (What.CONTROLLER_ELECTED, 2, None, 99),
            (What.CONTROLLER_EPOCH, None, 7, None),
        ]

    def test_state(self):
        """Leader, ISR and epochs; gone with its topic."""
        one = read(znode(STATE, state(leader=-1)))[0]
        assert (one.topic, one.partition, one.state.leader, one.state.isr) == ("a", 3, None, (1, 2))
        assert [one.what for one in read(missing(STATE), missing("/brokers/topics/a"), operation="delete")] == [
            What.STATE_GONE,
            What.TOPIC_DELETED,
        ]

    def test_beginning(self):
        """What was there before bears the time and the transaction of its own last write."""
        told = read(
            znode(STATE, state(), zxid=4), znode("/brokers/ids/1", BROKER, ephemeralOwner=0xA, czxid=2), operation="begin"
        )
        assert [(one.what, one.zxid, one.time, one.before) for one in told] == [
            (What.BEGIN, 9, 100, False),
            (What.STATE, 4, 7, True),
            (What.BROKER_REGISTERED, 2, 5, True),
        ]
        assert told[2].session == 0xA

    def test_undecodable(self):
        """What nobody can decode is left out."""
        assert (
            read(znode(STATE, b"{"), znode("/brokers/ids/1", b""), znode("/controller", b"[]"), znode("/brokers/ids/x", BROKER))
            == []
        )

    def test_session_begins(self):
        """With its timeout."""
        assert read(operation="createSession", timeout=6000)[0].timeout == 6000
