"""Which release the evidence is from."""

import pytest

from casebook.facts.logged import StatedVersion
from casebook.facts.znodes import ReadOutcome
from casebook.formats.zookeeper import cluster
from casebook.kafka.release import release
from casebook.kafka.releases import RELEASES, VersionOrigin
from tests.evidence import made, state, state_path, znode

GONE = [
    znode(path, outcome=ReadOutcome.MISSING) for path in ("/cluster", "/cluster/id", "/feature", "/log_dir_event_notification")
]


def said(text, broker=1):
    return StatedVersion(broker=broker, text=text, proof=f"brokers/{broker}/logs/server.log:3")


def registered(version):
    return [znode(f"/brokers/ids/{b}", {"version": version}) for b in (1, 2, 3)]


class TestOrigin:
    def test_order(self):
        """The parameter counts before logs, logs before properties, those before the znodes."""
        found = made()
        answers = [
            release(found, given="2.8.2", logged=[said("0.9.0.1")], configured=[said("0.9.0")]),
            release(found, logged=[said("0.9.0.1")], configured=[said("0.8.2")]),
            release(found, configured=[said("0.10.2-IV0")]),
            release(found),
            release(cluster.from_znodes([])),
        ]
        assert [(str(a.version), a.origin) for a in answers] == [
            ("2.8.2", VersionOrigin.PARAMETER), ("0.9.0.1", VersionOrigin.LOGS), ("0.10.2.2", VersionOrigin.PROPERTIES),
            ("0.9.0.1", VersionOrigin.ZNODES), (str(RELEASES[-1]), VersionOrigin.ASSUMED),
        ]  # fmt: skip
        assert [a.known for a in answers] == [True, True, False, False, False]

    def test_the_controller_elects(self):
        """Of several releases the controller's counts, and the others are told."""
        answer = release(made(controller=2), logged=[said("0.9.0.1", 1), said("0.10.2.2", 2)])
        assert str(answer.version) == "0.10.2.2"
        assert "Broker 1 logged Kafka 0.9.0.1 (brokers/1/logs/server.log:3)." in answer.contradictions

    def test_without_controller_the_lowest(self):
        """Without controller the lowest, whose rules every broker can follow."""
        assert str(release(made(controller=None), logged=[said("2.8.2"), said("0.10.2.2", 2)]).version) == "0.10.2.2"

    @pytest.mark.parametrize("text", ["", "x", "7.0.1-ccs", "2", "1.2.3.4.5", "2.8.2; rm"])
    def test_no_version(self, text):
        """What is no Kafka release is refused as parameter, and told when a log says it."""
        if text:
            with pytest.raises(ValueError):
                release(made(), given=text)
        answer = release(made(), logged=[said(text)])
        assert (answer.origin, any("not an Apache Kafka release" in c for c in answer.contradictions)) == (
            VersionOrigin.ZNODES,
            True,
        )


class TestZnodes:
    @pytest.mark.parametrize(
        ("extra", "version"),
        [
            ([*registered(1), *GONE], "0.8.2.2"),
            ([*registered(2), *GONE], "0.9.0.1"),
            ([*registered(3), *GONE], "0.10.0.1"),
            ([*registered(3), znode("/cluster/id", {"version": "1", "id": "x"}), *GONE[2:]], "0.10.1.1"),
            ([*registered(4), znode("/log_dir_event_notification"), *GONE[2:3]], "2.6.3"),
            ([*registered(5)], "3.3.2"),
            ([*registered(5), znode("/controller", {"version": 2, "brokerid": 1})], "3.9.2"),
            ([*registered(5), znode(state_path("t", 0), state(1, [1], leader_recovery_state=1))], "3.3.2"),
        ],
    )
    def test_newest_that_fits(self, extra, version):
        """The newest release whose marks these are."""
        answer = release(made(topics={"t": {0: ([1], None)}}, extra=extra))
        assert (str(answer.version), answer.origin) == (version, VersionOrigin.ZNODES)

    @pytest.mark.parametrize(
        ("extra", "other"),
        [([*registered(5), znode("/controller", {"version": 1, "brokerid": 1})], "2.8.2"), ([*registered(2), *GONE], None)],
    )
    def test_another_that_is_possible_is_named(self, extra, other):
        """Of several lines one is taken; another is the example of how to say which it is. Of a single line there is none."""
        answer = release(made(topics={"t": {0: ([1], None)}}, extra=extra))
        assert (answer.other and str(answer.other)) == other
        assert not release(made(extra=extra), given="2.7.2").other

    def test_old_protocol_on_a_newer_release(self):
        """What is there counts more than an old format: the protocol may be older than the release."""
        assert str(release(made(extra=[*registered(2), znode("/feature", {"version": 1})])).version) == "3.3.2"


class TestContradictions:
    def test_newer_mark(self):
        """A mark that a release does not yet leave contradicts it."""
        answer = release(made(extra=registered(5)), given="0.9.0.1")
        assert answer.contradictions == ("broker registration version 5 is written only from 2.7.0 on.",)

    def test_protocol(self):
        """A protocol newer than the release contradicts it, an older or equal one does not."""
        assert not release(made(), given="0.9.0.1", configured=[said("0.9.0"), said("0.8.2", 2)]).contradictions
        assert release(made(), given="0.9.0.1", configured=[said("2.8-IV1")]).contradictions == (
            "Broker 1 has inter.broker.protocol.version 2.8-IV1, newer than 0.9.0.1 (brokers/1/logs/server.log:3).",
        )

    def test_none(self):
        """A 0.9 cluster that says so everywhere has none."""
        assert release(made(extra=GONE), logged=[said("0.9.0.1")]).contradictions == ()
