"""Small logs of every message format and codec, by real brokers."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.servers.records import client_settings
from tests.transactions import transactional

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
VERSIONS = {"0.9.0.1": ("",), "2.8.2": ("", "0.9.0", "0.10.2")}
"""Message formats that each broker writes; "" is its own."""
RECORDS = 200
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}


def write(folder):
    """Return a log dir by version: ``<codec>-0``, ``<codec>.<format>-0`` and, from 0.11 on, ``transactions-0``."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(VERSIONS, pool.map(partial(_write, folder), VERSIONS), strict=True))


def _write(folder, kafka):
    home, out = folder / f"home-{kafka}", folder / kafka
    with PlayedCluster(kafka=kafka, brokers=1, settings=SETTINGS, home=home, keep=True) as cluster:
        for form in VERSIONS[kafka]:
            for codec in CODECS[:5] if not form and kafka != "0.9.0.1" else CODECS[:4]:
                topic = f"{codec}.{form}" if form else codec
                cluster.create_topic(topic, {0: (1,)}, {"message.format.version": form} if form else {})
                _produce(cluster, topic, codec, headers=not form and kafka != "0.9.0.1")
        if kafka != "0.9.0.1":
            cluster.create_topic("transactions", {0: (1,)})
            _produce_transactions(cluster)
        cluster.stop(1)
    shutil.move(home / "broker-1" / "data", out)
    return out


def _producer(cluster, **settings):
    from confluent_kafka import Producer

    usual = {"acks": "all", "linger.ms": 20, "batch.num.messages": 23}
    return Producer(client_settings(bootstrap=cluster.bootstrap, kafka=cluster.kafka) | usual | settings)


def _send(producer, topic, numbers, *, headers=False):
    for number in numbers:
        producer.produce(
            topic,
            partition=0,
            key=None if number % 11 == 0 else f"key {number % 50}",
            value=None if number % 13 == 0 else f"value {number} " * (1 + number % 9),
            headers=[("header", b"x" * (number % 5)), ("none", None)] if headers and number % 7 == 0 else None,
        )


def _produce(cluster, topic, codec, *, headers):
    producer = _producer(cluster, **{"compression.type": codec})
    _send(producer, topic, range(RECORDS), headers=headers)
    assert producer.flush(30) == 0


def _produce_transactions(cluster):
    """Every third is aborted."""
    producer = _producer(cluster, **transactional("one"))
    producer.init_transactions(30)
    for number in range(6):
        producer.begin_transaction()
        _send(producer, "transactions", range(20 * number, 20 * number + 20))
        assert producer.flush(30) == 0
        (producer.abort_transaction if number % 3 == 2 else producer.commit_transaction)(30)
