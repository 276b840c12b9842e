"""Durability rules on producers and consumers."""

from casebook.facts.clients import LIBRDKAFKA
from casebook.findings.words import duration, plural
from casebook.questions.durability.analysis.clients import AuditedClient, transactional
from casebook.questions.durability.analysis.cluster_rules import days
from casebook.questions.durability.analysis.retries import death, death_unknown, lasting, outlasts
from casebook.questions.durability.analysis.scene import (
    CRITICAL,
    INFO,
    LOSES,
    UNKNOWN,
    WARNING,
    DurabilityInputs,
    JudgedRule,
    beside,
    holds,
    loses,
    unknown,
    without_copies,
)
from casebook.questions.durability.analysis.topics import TRANSACTIONS_TOPIC, TopicFacts

_SETTINGS = "tables/settings"
_SHORT_RETENTION = 3 * 24 * 60
"""Minutes from Friday evening to Monday evening."""


def _unknown_setting(key: str, client: AuditedClient) -> JudgedRule:
    """Return that the effective value is unknown, or one of several."""
    found = client[key]
    maybe = f": it may be {' or '.join(found.possible)}" if found.possible else ""
    return unknown(f"{key} of {client.name} is {found.origin}{maybe}.", found.proof or client.file)


def acks_0(_: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """The broker sends no response: ``KafkaApis.scala@0.9.0.1, 2.8.2`` (sendResponseCallback)."""
    acks = producer["acks"]
    if acks.value is None:
        return _unknown_setting("acks", producer)
    if acks.value != "0":
        return holds(f"acks={acks.value} ({acks.origin}).")
    return loses(
        CRITICAL,
        f"When a connection breaks, a leader moves or a broker refuses a record, {producer.name} loses it without "
        f"notice: it waits for no answer (acks=0, {acks.origin}).",
        change=f"Set acks=all in {producer.file}.",
        cost="Each batch waits for the slowest in-sync replica: milliseconds within one data centre.",
        proof=acks.proof or producer.file,
    )


def acks_1(_: DurabilityInputs, topic: TopicFacts, producer: AuditedClient) -> JudgedRule:
    """Followers truncate what the new leader lacks: ``ReplicaManager.scala@0.9.0.1`` (makeFollowers), KIP-101 from 0.11 on."""
    acks = producer["acks"]
    if not topic.replicated:
        return without_copies(topic)
    if acks.value is None:
        return _unknown_setting("acks", producer)
    if acks.value != "1":
        return beside("acks=0: see D1.") if acks.value == "0" else holds(f"acks={acks.value} ({acks.origin}).")
    return loses(
        CRITICAL,
        f"When the leader of {topic.name} dies or is cut off, {producer.name} loses records that no follower had "
        f"fetched (acks=1, {acks.origin}).",
        change=f"Set acks=all in {producer.file}. It protects only with min.insync.replicas of 2 or more on the topic (D4).",
        cost="Each batch waits for the slowest in-sync replica: milliseconds within one data centre.",
        proof=acks.proof or producer.file,
    )


def no_retries(scene: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """0 was the default of Java up to 2.0: ``ProducerConfig.java@2.0.1, 2.1.1``; ``Sender.java@2.8.2`` (canRetry)."""
    retries, acks = producer["retries"], producer["acks"]
    if acks.value == "0":
        return beside("acks=0: failures are never reported.")
    if retries.whole is None:
        return _unknown_setting("retries", producer)
    if retries.whole < 0:
        return beside(f"retries={retries.value}: see D24.")
    if retries.whole:
        return _few_retries(scene, producer, retries.whole)
    return loses(
        WARNING,
        f"When a leader moves, {producer.name} loses what it sends: it does not retry (retries=0, {retries.origin}). "
        "Only an application that checks every send result can repeat it.",
        change=f"Set retries=2147483647 in {producer.file}, and enable idempotence to keep the order.",
        cost="None, except that sends fail later than before.",
        proof=retries.proof or producer.file,
    )


def _few_retries(scene: DurabilityInputs, producer: AuditedClient, tries: int) -> JudgedRule:
    """Return whether they are used up before there is a new leader, or enough replicas."""
    retries, (shortest, longest) = producer["retries"], lasting(producer, tries)
    proof = retries.proof or producer.file
    if outlasts(shortest, scene):
        return holds(f"retries={retries.value} ({retries.origin}).")
    about = f"{plural(tries, 'retry', 'retries')} {'is' if tries == 1 else 'are'} exhausted after about {duration(longest)}"
    if outlasts(longest, scene) is not False:
        said = f"It is unknown whether the {tries} retries of {producer.name} outlast a broker failure"
        if death(scene) is None:
            return unknown(f"{said}: {death_unknown(scene)}.", _SETTINGS)
        return unknown(f"{said}: the wait between retries depends on its library and release.", proof)
    needed = death(scene)
    lasts = f", a broker failure lasts about {duration(needed)}" if needed is not None else ""
    return loses(
        WARNING,
        f"When a leader moves or too few replicas are in sync, {producer.name} loses what it sends: {about}{lasts} "
        f"(retries={retries.value}, {retries.origin}). Only an application that checks every send result can repeat it. "
        "The default retry.backoff.ms of 100 is assumed.",
        change=f"Set retries=2147483647 in {producer.file}, and enable idempotence to keep the order.",
        cost="None, except that sends fail later than before.",
        proof=proof,
    )


def delivery_timeout(scene: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """A dead leader is replaced after its session ends; sends must wait that long (KIP-91)."""
    timeout, retries = producer["delivery.timeout.ms"], producer["retries"]
    if retries.value == "0" or producer["acks"].value == "0":
        return beside("It does not retry: see D1 and D7.")
    if (retries.whole or 0) < 0:
        return beside(f"retries={retries.value}: see D24.")
    if timeout.value == "":
        return beside("This client has no such timeout: only its retries count.")
    if timeout.whole is None:
        return unknown(f"delivery.timeout.ms of {producer.name} is {timeout.origin}.", timeout.proof or producer.file)
    if timeout.whole == 0 and producer.library == LIBRDKAFKA:
        return holds("It retries without end: message.timeout.ms=0 (CONFIGURATION.md@v2.11.0).")
    enough, needed = outlasts(timeout.whole, scene), death(scene)
    if enough is None:
        why = f"{duration(timeout.whole)}; {death_unknown(scene)}"
        return unknown(f"It is unknown whether {producer.name} retries for as long as a broker failure lasts: {why}.", _SETTINGS)
    if enough:
        return _as_long_as_its_retries(scene, producer)
    lasts = "longer" if needed is None else f"about {duration(needed)}"
    return loses(
        WARNING,
        f"When a leader dies, {producer.name} loses what it sends before the next leader: it gives up after "
        f"{duration(timeout.whole)}, a broker failure lasts {lasts} ({timeout.origin}). Only an application that checks "
        "every send result can repeat it.",
        change=f"Set delivery.timeout.ms=120000 in {producer.file}.",
        cost="Undelivered records stay in memory longer.",
        proof=timeout.proof or producer.file,
    )


def _as_long_as_its_retries(scene: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """A sufficient timeout only helps while retries are left."""
    timeout, tries = producer["delivery.timeout.ms"], no_retries(scene, producer)
    if tries.outcome == LOSES:
        return beside("Its retries are exhausted before that: see D7.")
    if tries.outcome == UNKNOWN:
        return unknown(tries.sentence, tries.proof)
    return holds(f"It retries for {duration(timeout.whole or 0)} ({timeout.origin}).")


def reorder(_: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """A failed batch is sent after the next one: ``ProducerConfig.java@2.8.2`` (max.in.flight.requests.per.connection)."""
    idempotent, flights, retries = (
        producer["enable.idempotence"],
        producer["max.in.flight.requests.per.connection"],
        producer["retries"],
    )
    if retries.value == "0":
        return beside("It does not retry: see D7.")
    if (retries.whole or 0) < 0:
        return beside(f"retries={retries.value}: see D24.")
    if idempotent.flag:
        return holds(f"Idempotence keeps order and single copies ({idempotent.origin}).")
    if idempotent.value is None or flights.whole is None or retries.value is None:
        return unknown(f"It is unknown whether {producer.name} keeps order: idempotence {idempotent.origin}.", producer.file)
    order = "the order of records, and stores some twice," if flights.whole > 1 else "nothing, but stores some records twice,"
    return loses(
        INFO,
        f"When it retries a batch, {producer.name} loses {order} ({flights.whole} requests in flight, no idempotence).",
        change=f"Set enable.idempotence=true in {producer.file} (0.11 or later, brokers too).",
        cost="None measurable; it needs acks=all.",
        proof=producer.file,
    )


def contradiction(_: DurabilityInputs, producer: AuditedClient) -> JudgedRule:
    """``KafkaProducer.java@2.8.2`` (configureAcks), ``ProducerConfig.java@3.0.0, 3.0.1``, ``rdkafka_conf.c@v1.9.2``."""
    if not producer.contradictions:
        if producer.starts is None:
            return unknown(f"It is unknown whether settings of {producer.name} exclude each other.", producer.file)
        return holds("No settings exclude each other.")
    return loses(
        WARNING if producer.starts is False else INFO,
        f"{producer.name}: {producer.contradictions[0]}",
        change=f"Set acks=all in {producer.file}, and remove retries and max.in.flight.requests.per.connection from it.",
        cost="Each batch waits for the slowest in-sync replica.",
        proof=producer.file,
    )


def auto_commit(_: DurabilityInputs, consumer: AuditedClient) -> JudgedRule:
    """The records of a poll are committed by the next one, or by a timer.

    ``ConsumerCoordinator.java@2.8.2``, librdkafka's offset store.
    """
    commit = consumer["enable.auto.commit"]
    if commit.value is None:
        return _unknown_setting("enable.auto.commit", consumer)
    if not commit.flag:
        return holds(f"The application commits explicitly ({commit.origin}).")
    return loses(
        WARNING,
        f"When {consumer.name} dies, it skips records that were polled and not processed: offsets are committed "
        f"automatically (enable.auto.commit true, {commit.origin}). This does not apply if each record is processed "
        "before the next poll.",
        change=f"Set enable.auto.commit=false in {consumer.file}, and commit after processing.",
        cost="A code change; records may be processed twice after a crash.",
        proof=commit.proof or consumer.file,
    )


def offset_reset(scene: DurabilityInputs, consumer: AuditedClient) -> JudgedRule:
    """Applies without a committed offset, and for new partitions: ``ConsumerConfig.java@0.9.0.1, 3.0.0``."""
    reset = consumer["auto.offset.reset"]
    if reset.value is None:
        return unknown(f"auto.offset.reset of {consumer.name} is {reset.origin}.", reset.proof or consumer.file)
    if reset.value != "latest":
        return holds(f"auto.offset.reset={reset.value} ({reset.origin}).")
    kept = [s.number for s in scene.of_brokers("offsets.retention.minutes")]
    short = any(minutes is not None and minutes < _SHORT_RETENTION for minutes in kept)
    expires = f" expire after {days(min(m for m in kept if m is not None))}," if short else ""
    return loses(
        WARNING if short else INFO,
        f"When {consumer.name} returns without its offsets, it skips the existing records (auto.offset.reset latest, "
        f"{reset.origin}). Offsets{expires} are lost with __consumer_offsets, or point to truncated records. In new "
        "partitions it skips the first records.",
        change=f"Set auto.offset.reset=earliest, or none, in {consumer.file}.",
        cost=("With earliest, all retained records are read again; with none, the consumer stops and an operator must decide."),
        proof=reset.proof or consumer.file,
    )


def read_uncommitted(scene: DurabilityInputs, consumer: AuditedClient) -> JudgedRule:
    """Markers are skipped, records are not: ``ConsumerConfig.java@2.0.1``; KIP-98."""
    level = consumer["isolation.level"]
    writing = [transactional(producer) for producer in scene.producers]
    if scene.before("0.11.0.0"):
        return beside("There are no transactions before 0.11.")
    if level.value == "read_committed":
        return holds(f"isolation.level=read_committed ({level.origin}).")
    if True not in writing and TRANSACTIONS_TOPIC not in scene.by_name:
        return beside("There is no sign of transactions.")
    if level.value is None:
        return unknown(f"isolation.level of {consumer.name} is {level.origin}.", level.proof or consumer.file)
    return loses(
        INFO,
        f"Nothing is lost, but {consumer.name} processes records of aborted transactions (isolation.level "
        f"read_uncommitted, {level.origin}).",
        change=f"Set isolation.level=read_committed in {consumer.file}.",
        cost="Records become visible at the end of their transaction, not before.",
        proof=level.proof or consumer.file,
    )
