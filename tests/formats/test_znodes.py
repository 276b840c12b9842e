"""What a znode says, and what it cannot be taken to say."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.cluster import PartitionState
from casebook.formats.zookeeper import znodes
from casebook.formats.zookeeper.znodes import Undecodable

GOOD = {"controller_epoch": 5, "leader": 2, "version": 1, "leader_epoch": 7, "isr": [2, 3]}


def packed(**changes):
    """A state znode with these fields changed; ``...`` leaves one out."""
    return json.dumps({key: value for key, value in (GOOD | changes).items() if value is not ...}).encode()


class TestState:
    def test_kafkas_own(self):
        """A state is read as Kafka wrote it."""
        assert znodes.decode_state(packed()) == PartitionState(leader=2, isr=(2, 3), leader_epoch=7, controller_epoch=5)

    def test_no_leader(self):
        """Leader -1 stands for none, and an empty ISR (0.9 with unclean election on) is one."""
        assert znodes.decode_state(packed(leader=-1, isr=[])) == PartitionState(
            leader=None, isr=(), leader_epoch=7, controller_epoch=5
        )

    def test_recovering(self):
        """3.2 and later mark a partition that was elected unclean."""
        assert znodes.decode_state(packed(leader_recovery_state=1)).recovering

    @pytest.mark.parametrize("more", [{"unknown": {"a": [1]}}, {"version": ...}, {"isr": [3, 2]}])
    def test_tolerated(self, more):
        """Unknown fields, no version and any order of the ISR are no problem, as for Kafka."""
        assert znodes.decode_state(packed(**more)).leader == 2

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (None, "is empty"),
            (b"", "is empty"),
            (b"\xff\xfe", "is not text"),
            (b"leader=1", "is not JSON"),
            (packed() + b"x", "is not JSON"),
            (b"[" * 200_000, "is not JSON"),
            (b"9" * 10_000, "is not JSON"),
            (b"[1]", "is JSON, but no object"),
            (b"x" * (1 << 20), "is not JSON"),
            (packed(leader=...), "has no leader"),
            (packed(isr=...), "has no isr"),
            (packed(version=99), "is of version 99; Kafka up to 3.9 writes version 1"),
            (packed(version=True), "is of version true; Kafka up to 3.9 writes version 1"),
            (packed(version="1"), 'is of version "1"; Kafka up to 3.9 writes version 1'),
            (packed(leader=-2), "names leader -2, which is not a broker (-2 stands for a leader during deletion)"),
            (packed(leader=True), "has a leader or epoch that is not an integer"),
            (packed(leader=1.0), "has a leader or epoch that is not an integer"),
            (packed(leader=float("nan")), "has a leader or epoch that is not an integer"),
            (packed(leader=10**30), "has a leader or epoch that Kafka cannot have"),
            (packed(leader_epoch=-1), "has a leader or epoch that Kafka cannot have"),
            (packed(controller_epoch=2**31), "has a leader or epoch that Kafka cannot have"),
            (packed(isr=[2, 2]), "names a broker twice in isr"),
            (packed(isr=[-3]), "names -3 as a broker in isr"),
            (packed(isr=[2**31]), "names 2147483648 as a broker in isr"),
            (packed(isr=[True]), "names true as a broker in isr"),
            (packed(isr=[[1]]), "names a list as a broker in isr"),
            (packed(isr="2,3"), "has no list of brokers as isr"),
            (packed(note="\ud800"), "holds an invalid escape"),
        ],
    )
    def test_not_taken_at_its_word(self, data, reason):
        """Everything Kafka never writes is undecodable, with its reason."""
        with pytest.raises(Undecodable) as caught:
            znodes.decode_state(data)
        assert reason == str(caught.value)

    def test_a_megabyte_of_unknown_fields(self):
        """A large znode is read like a small one."""
        assert znodes.decode_state(packed(pad="x" * (1 << 20))).isr == (2, 3)


class TestTopic:
    def test_versions(self):
        """Version 1 holds replicas, 2 and 3 also what a reassignment adds and removes."""
        data = {
            "version": 3,
            "topic_id": "x",
            "partitions": {"0": [1, 2, 3]},
            "adding_replicas": {"0": [3]},
            "removing_replicas": {"0": [1]},
        }
        read = znodes.decode_topic(json.dumps(data).encode())
        assert (
            read.json_version, read.replicas, read.adding, read.removing, read.undecodable
        ) == (3, {0: (1, 2, 3)}, {0: (3,)}, {0: (1,)}, {})  # fmt: skip

    def test_one_bad_partition_leaves_the_others(self):
        """A partition that names a broker twice is undecodable alone."""
        read = znodes.decode_topic(b'{"version":1,"partitions":{"0":[1,1],"1":[2]}}')
        assert (read.replicas[1], read.undecodable) == ((2,), {0: "names a broker twice in partitions"})

    @pytest.mark.parametrize("name", ["-1", "00", "x", "", "٣", "9" * 5000, "2147483648", "1_0"])
    def test_partition_that_is_no_number(self, name):
        """A partition that Kafka would not name so makes the topic undecodable: it could hide another."""
        with pytest.raises(Undecodable):
            znodes.decode_topic(json.dumps({"version": 1, "partitions": {name: [1]}}).encode())


class TestBroker:
    @pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
    def test_versions(self, version):
        """Registrations of all five versions are read; unknown fields are ignored."""
        data = {"version": version, "host": "h", "port": 9092, "jmx_port": -1, "timestamp": "1469000000000", "features": {}}
        broker = znodes.decode_broker(4, json.dumps(data).encode())
        assert (4, "h", 9092, version, 1469000000000) == (
            broker.id,
            broker.host,
            broker.port,
            broker.json_version,
            broker.timestamp,
        )

    @pytest.mark.parametrize(
        ("endpoint", "address"),
        [
            ("SSL://h:9093", ("h", 9093)),
            ("INTERNAL://[::1]:9094", ("::1", 9094)),
            ("SASL_SSL://:9092", (None, 9092)),
            ("junk", (None, None)),
        ],
    )
    def test_without_plaintext(self, endpoint, address):
        """Host null and port -1 stand for no PLAINTEXT listener: the first endpoint counts."""
        data = json.dumps({"version": 2, "host": None, "port": -1, "endpoints": [endpoint]}).encode()
        broker = znodes.decode_broker(1, data)
        assert address == (broker.host, broker.port)

    @pytest.mark.parametrize("timestamp", ["9" * 5000, "-1", "٣", True, None, [], 1.5])
    def test_timestamp_that_is_none(self, timestamp):
        """A timestamp that is no time is unknown."""
        assert znodes.decode_broker(1, json.dumps({"version": 2, "timestamp": timestamp}).encode()).timestamp is None

    def test_unknown_version(self):
        """Version 99 is not guessed at."""
        with pytest.raises(Undecodable, match="is of version 99; Kafka up to 3.9 writes versions 1 to 5"):
            znodes.decode_broker(1, b'{"version":99}')


class TestOthers:
    def test_controller(self):
        """/controller names a broker, in version 1 or (3.4+) 2."""
        assert znodes.decode_controller(b'{"version":2,"brokerid":3,"timestamp":"1","kraftControllerEpoch":-1}') == (3, 2)

    @pytest.mark.parametrize("broker", ["-1", "true", '"1"', "null", "1e3", "99999999999"])
    def test_no_controller(self, broker):
        """An id that is none is undecodable."""
        with pytest.raises(Undecodable):
            znodes.decode_controller(f'{{"version":1,"brokerid":{broker}}}'.encode())

    @pytest.mark.parametrize("data", [None, b"", b"-1", b"x", b'{"a":1}', "٣".encode(), b"9" * 5000, b"2147483648"])
    def test_no_controller_epoch(self, data):
        """/controller_epoch is a plain int32 and nothing else."""
        with pytest.raises(Undecodable):
            znodes.decode_controller_epoch(data)

    def test_controller_epoch(self):
        """It is plain text, not JSON."""
        assert znodes.decode_controller_epoch(b"42") == 42

    def test_cluster_id_has_a_version_of_text(self):
        """The version of /cluster/id is a string, which is no problem."""
        assert znodes.decode_cluster_id(b'{"version":"1","id":"abc"}') == "abc"

    def test_config(self):
        """Values are texts; others are shown as JSON shows them."""
        assert znodes.decode_config(b'{"version":1,"config":{"a":"1","b":2,"c":[[[]]]}}') == {"a": "1", "b": "2", "c": "a list"}

    def test_partitions(self):
        """A reassignment names replicas, a preferred election only partitions."""
        data = b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,1]},{"topic":"t","partition":1}]}'
        assert znodes.decode_partitions(data) == {("t", 0): (2, 1), ("t", 1): ()}

    def test_log_dir_event(self):
        """A failed log dir is announced by its broker."""
        assert znodes.decode_log_dir_event(b'{"version":1,"broker":3,"event":1}') == 3


def _paths_of_json(leaf):
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GOOD, "partitions", "0"]), inner)
    )


DECODERS = [
    znodes.decode_state, znodes.decode_topic, znodes.decode_partitions, znodes.decode_controller, znodes.decode_controller_epoch,
    znodes.decode_cluster_id, znodes.decode_log_dir_event, znodes.decode_config, lambda data: znodes.decode_broker(1, data),
]  # fmt: skip


@settings(deadline=None)
@given(
    data=st.binary()
    | _paths_of_json(st.none() | st.booleans() | st.integers() | st.floats() | st.text()).map(lambda v: json.dumps(v).encode())
)
def test_a_decoder_reads_or_refuses(data):
    """Whatever the bytes, a decoder gives a value or says why not."""
    for decode in DECODERS:
        try:
            decode(data)
        except Undecodable as error:
            assert str(error)
