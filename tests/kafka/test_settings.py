"""Effective settings and origins: the layers, synonyms, what brokers take from their file alone, and what cannot be known."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.cluster import Cluster
from casebook.facts.znodes import ReadOutcome, Znode
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import (
    BUILT_IN,
    BUILT_IN_ASSUMED,
    DYNAMIC_BROKER,
    DYNAMIC_DEFAULT,
    REGISTERED,
    SERVER_PROPERTIES,
    TOPIC,
    UNREADABLE,
    Settings,
)
from casebook.questions.durability.analysis import settings as listed
from tests.evidence import K09, K28, made, of_brokers, override, state, znode

TOPICS = {"t": {0: ([1, 2], state(1, [1, 2]))}}


def cluster(*extra: Znode, properties: dict[int, dict[str, str]] | None = None) -> Cluster:
    return replace(made(live=(1, 2), topics=TOPICS, extra=extra), server_properties=properties or {})


def origins(found: Cluster, key: str, version: KafkaVersion = K28, broker: int = 1) -> list[tuple[str | None, str]]:
    layers = Settings(found, version).layers_of_topic(key, topic="t", broker=broker)
    return [(layer.value, listed.said(layer)) for layer in layers]


class TestLayers:
    def test_the_order_of_kafka(self):
        """Topic, broker, all brokers, file, default: what counts first, what it hides behind it."""
        found = cluster(
            override("t", min_insync_replicas="5"),
            of_brokers("1", min_insync_replicas="4"),
            of_brokers("<default>", min_insync_replicas="3"),
            properties={1: {"min.insync.replicas": "2"}},
        )
        assert origins(found, "min.insync.replicas") == [
            ("5", TOPIC), ("4", DYNAMIC_BROKER), ("3", DYNAMIC_DEFAULT), ("2", SERVER_PROPERTIES), ("1", BUILT_IN),
        ]  # fmt: skip
        assert origins(found, "min.insync.replicas", broker=2)[1:] == [("3", DYNAMIC_DEFAULT), ("1", BUILT_IN_ASSUMED)]

    def test_nothing_is_dynamic_before_1_1(self):
        """Up to 1.0 /config/brokers holds quotas (KIP-226)."""
        found = cluster(of_brokers("1", min_insync_replicas="4"), properties={1: {}})
        assert origins(found, "min.insync.replicas", K09) == [("1", BUILT_IN)]

    def test_a_broker_ignores_what_it_takes_from_its_file_alone(self):
        """Somebody wrote a read-only setting to /config/brokers by hand."""
        found = cluster(of_brokers("1", default_replication_factor="4"), properties={1: {}})
        assert Settings(found, K28).of_broker("default.replication.factor", 1).value == "1"

    def test_flushing_by_the_scheduler(self):
        """log.flush.interval.ms is not set: the scheduler's interval counts for topics, and is named."""
        found = cluster(properties={1: {"log.flush.scheduler.interval.ms": "9"}})
        assert origins(found, "flush.ms")[0] == ("9", f"{SERVER_PROPERTIES} (log.flush.scheduler.interval.ms)")
        found = cluster(properties={1: {"log.flush.scheduler.interval.ms": "9", "log.flush.interval.ms": "7"}})
        assert origins(found, "flush.ms")[0] == ("7", f"{SERVER_PROPERTIES} (log.flush.interval.ms)")

    def test_retention_in_three_units(self):
        """Milliseconds before minutes before hours, in milliseconds; a negative time means for ever."""
        hours = {"log.retention.hours": "2"}
        assert origins(cluster(properties={1: hours}), "retention.ms")[0][0] == str(2 * 3_600_000)
        minutes = hours | {"log.retention.minutes": "3"}
        assert origins(cluster(properties={1: minutes}), "retention.ms")[0][0] == str(3 * 60_000)
        assert origins(cluster(properties={1: minutes | {"log.retention.ms": "5"}}), "retention.ms")[0][0] == "5"
        assert origins(cluster(properties={1: {"log.retention.hours": "-1"}}), "retention.ms")[0][0] == "-1"
        assert origins(cluster(properties={1: {}}), "retention.ms")[0] == (
            str(7 * 24 * 3_600_000),
            f"{BUILT_IN} (log.retention.hours)",
        )

    def test_settings_that_cannot_be_read_are_unknown(self):
        """Neither the default nor anything below counts as known."""
        denied = Znode(path="/config/topics/t", outcome=ReadOutcome.DENIED)
        assert origins(cluster(denied), "min.insync.replicas") == [(None, UNREADABLE)]

    def test_the_rack_that_a_broker_registered_with(self):
        """It counts where the file was not collected, or says something else: the broker was started with it."""
        rack = znode("/brokers/ids/1", {"version": 4, "host": "h", "port": 1, "endpoints": [], "timestamp": "1", "rack": "r1"})
        for properties, origin in (
            ({}, REGISTERED),
            ({1: {"broker.rack": "r2"}}, REGISTERED),
            ({1: {"broker.rack": "r1"}}, SERVER_PROPERTIES),
        ):
            setting = Settings(cluster(rack, properties=properties), K28).of_broker("broker.rack", 1)
            assert (setting.value, setting.origin) == ("r1", origin)


class TestRows:
    def test_brokers_that_disagree(self):
        """A topic has a row for each value that brokers would give it; the setting is named with who has which."""
        found = cluster(properties={1: {"min.insync.replicas": "2"}, 2: {}})
        rows = listed.rows(found, Settings(found, K28))
        of_topic = {(row.value, row.brokers) for row in rows if (row.entity, row.key) == ("topic t", "min.insync.replicas")}
        assert of_topic == {("2", (1,)), ("1", (2,))}
        assert listed.disagreeing(rows) == {"min.insync.replicas": {"2": (1,), "1": (2,)}}

    def test_what_a_release_does_not_know_is_not_listed(self):
        """No transactions and no racks in 0.9; replica.lag.max.messages went with 0.9."""
        keys = {row.key for row in listed.rows(cluster(), Settings(cluster(), K09))}
        assert not keys & {"broker.rack", "message.format.version", "transaction.state.log.min.isr", "replica.lag.max.messages"}
        old = KafkaVersion.parse("0.8.2.2")
        assert "replica.lag.max.messages" in {row.key for row in listed.rows(cluster(), Settings(cluster(), old))}

    @given(
        st.lists(
            st.tuples(st.sampled_from(["topic", "1", "<default>", "file"]), st.sampled_from(["1", "2", "3"])),
            max_size=4,
            unique_by=lambda x: x[0],
        )
    )
    def test_the_first_layer_counts_and_all_others_are_hidden(self, given_):
        """Whatever is set where: nothing is lost, the order is Kafka's."""
        settings = dict(given_)
        extra = [override("t", min_insync_replicas=settings["topic"])] if "topic" in settings else []
        extra += [of_brokers(entity, min_insync_replicas=settings[entity]) for entity in ("1", "<default>") if entity in settings]
        properties = {1: {"min.insync.replicas": settings["file"]} if "file" in settings else {}, 2: {}}
        found = cluster(*extra, properties=properties)
        row = next(
            row for row in listed.rows(found, Settings(found, K28))
            if (row.entity, row.key) == ("topic t", "min.insync.replicas") and 1 in row.brokers
        )  # fmt: skip
        names = {"topic": TOPIC, "1": DYNAMIC_BROKER, "<default>": DYNAMIC_DEFAULT, "file": SERVER_PROPERTIES}
        expected = [(names[place], settings[place]) for place in names if place in settings] + [(BUILT_IN, "1")]
        assert (row.origin, row.value) == expected[0]
        assert row.overridden == "; ".join(f"{origin}: {value}" for origin, value in expected[1:])
