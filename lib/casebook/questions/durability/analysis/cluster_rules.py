"""Durability rules on the cluster's common topics and settings."""

from collections.abc import Callable, Sequence

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.words import duration, plural
from casebook.kafka.releases import OFFSETS_EXPIRE
from casebook.kafka.settings import Setting
from casebook.questions.durability.analysis.clients import transactional
from casebook.questions.durability.analysis.scene import (
    CRITICAL,
    INFO,
    WARNING,
    DurabilityInputs,
    JudgedRule,
    assumed,
    beside,
    holds,
    loses,
    origin,
    unknown,
    without_copies,
)
from casebook.questions.durability.analysis.topics import TRANSACTIONS_TOPIC

_WEEKEND = 3 * 24 * 60
_SHORT_SESSION, _SHORT_LAG, _LONG_LAG = 6_000, 10_000, 60_000
IN_QUIET = "one by one, when no coordinator loads and all replicas are in sync"
"""When to restart a broker for a setting."""


def _some(scene: DurabilityInputs, key: str, hit: Callable[[Setting], bool | None]) -> tuple[list[Setting], list[Setting]]:
    """Return the matching values, and the unknown ones, including assumed defaults of brokers without collected settings."""
    values = scene.of_brokers(key)
    told = [value for value in values if hit(value)]
    return told, [value for value in values if hit(value) is None or (value not in told and value in assumed(values))]


def days(minutes: int) -> str:
    """``1 day``, ``7 days``; ``36 hours`` unless whole days."""
    whole, rest = divmod(minutes, 24 * 60)
    return (
        plural(whole, "day")
        if whole and not rest
        else plural(minutes // 60, "hour")
        if minutes >= 60
        else plural(minutes, "minute")
    )


def _not_known(key: str, settings: Sequence[Setting]) -> JudgedRule:
    taken = [setting for setting in assumed(settings) if setting.value is not None]
    if len(taken) == len(settings):
        return unknown(f"{key} is {taken[0].value} by the {origin(taken)}: not confirmed by the evidence.", "tables/settings")
    return unknown(f"{key} is unknown: {origin(settings)}.", "tables/settings")


def offsets_retention(scene: DurabilityInputs) -> JudgedRule:
    """The start of the retention changed twice: ``GroupMetadataManager.scala@0.9.0.1``, ``GroupMetadata.scala@2.1.0, 2.4.0``."""
    key = "offsets.retention.minutes"
    short, missing = _some(scene, key, lambda s: None if s.whole is None else s.whole < _WEEKEND)
    if not short:
        return _not_known(key, missing) if missing else holds(f"{key} is {scene.of_brokers(key)[0].value}.")
    least = min(setting.whole for setting in short if setting.whole is not None)
    standing = "has not committed, even when active," if OFFSETS_EXPIRE.at(scene.release) == "commit" else "has been inactive"
    return loses(
        WARNING,
        f"A group that {standing} for {days(least)} loses its committed offsets ({key} {least}, {origin(short)}). Then "
        "auto.offset.reset decides what it skips or repeats.",
        change=f"Set {key}=10080 in server.properties of every broker, and restart them {IN_QUIET}.",
        cost="__consumer_offsets keeps inactive groups for a week longer.",
        proof=scene.proof_of(key, [setting.value for setting in short]),
        by=(short,),
    )


def offsets_copies(scene: DurabilityInputs) -> JudgedRule:
    """Up to 0.10.2 the topic gets min(3, live brokers): ``KafkaApis.scala@0.9.0.1, 0.10.2.2``; KIP-115 from 0.11 on."""
    there = scene.by_name.get(OFFSETS_TOPIC)
    key = "offsets.topic.replication.factor"
    if there is not None:
        if not there.factors:
            return without_copies(there)
        if not there.single:
            return holds(f"{OFFSETS_TOPIC} has at least {there.factors[0]} copies.")
        return loses(
            CRITICAL,
            f"When the disk of its only broker dies, each of {plural(len(there.single), 'partition')} of "
            f"{OFFSETS_TOPIC} loses its groups' committed offsets. While that broker is down, these groups stop.",
            change=f"Give {OFFSETS_TOPIC} replication factor 3 with kafka-reassign-partitions.sh.",
            cost="Little disk space; commits wait for followers.",
            proof=there.proof,
        )
    if scene.cluster.unlisted:
        return unknown(f"The replication factor of {OFFSETS_TOPIC} is unknown: {scene.cluster.unlisted[0].reason}.")
    few, missing = _some(scene, key, lambda s: None if s.number is None else s.number < 2)
    if few:
        return loses(
            WARNING,
            f"One dead disk will lose committed offsets: {OFFSETS_TOPIC} does not exist yet and would get one copy "
            f"({key} {few[0].value}, {origin(few)}).",
            change=f"Set {key}=3 in server.properties of every broker before the first group commits.",
            cost="Little disk.",
            proof=scene.proof_of(key, [setting.value for setting in few]),
            by=(few,),
        )
    if missing:
        return _not_known(key, missing)
    if scene.before("0.11.0.0") or scene.may_be_before("0.11.0.0"):
        which = "this release" if scene.before("0.11.0.0") else "a release before 0.11, which is possible,"
        return unknown(
            f"{OFFSETS_TOPIC} does not exist yet; {which} creates it with as many copies as there are live brokers, at "
            f"most {scene.of_brokers(key)[0].value}.",
            "tables/settings",
        )
    return holds(f"{OFFSETS_TOPIC} will get {scene.of_brokers(key)[0].value} copies.")


def transaction_copies(scene: DurabilityInputs) -> JudgedRule:
    """``TransactionLog.scala@1.0.2, 2.8.2``."""
    there = scene.by_name.get(TRANSACTIONS_TOPIC)
    if scene.before("0.11.0.0"):
        return beside("There are no transactions before 0.11.")
    if there is None and scene.cluster.unlisted:
        return unknown(f"The replication factor of {TRANSACTIONS_TOPIC} is unknown: {scene.cluster.unlisted[0].reason}.")
    if there is None and True not in {transactional(producer) for producer in scene.producers}:
        return beside(f"There is no {TRANSACTIONS_TOPIC}, and no sign of transactions.")
    if there is None:
        return _transactions_to_come(scene)
    sync, copies = there.least, there.factors
    if sync is None or not copies:
        return unknown(f"Copies or min.insync.replicas of {TRANSACTIONS_TOPIC} are unknown.", "tables/settings")
    if min(copies) > 1 and sync > 1:
        return holds(f"{TRANSACTIONS_TOPIC} has {min(copies)} copies, of which {sync} must be in sync.")
    one = min(copies) < 2
    return loses(
        CRITICAL if one else WARNING,
        f"When {'the only copy' if one else 'the last in-sync copy'} of a {TRANSACTIONS_TOPIC} partition dies, "
        "transaction outcomes are lost. Consumers with read_committed then wait, or see half a transaction.",
        change=f"Give {TRANSACTIONS_TOPIC} replication factor 3 and min.insync.replicas=2.",
        cost="A transaction waits for followers.",
        proof=there.proof,
    )


def _transactions_to_come(scene: DurabilityInputs) -> JudgedRule:
    """The replication factor at the first transaction; Kafka's default file has 1 and 1: ``config/server.properties@2.8.2``."""
    factor, least = "transaction.state.log.replication.factor", "transaction.state.log.min.isr"
    (few, no_copies), (alone, no_sync) = (
        _some(scene, key, lambda s: None if s.number is None else s.number < 2) for key in (factor, least)
    )
    if few or alone:
        key, hit = (factor, few) if few else (least, alone)
        what = "the only copy" if few else "the last in-sync copy"
        return loses(
            CRITICAL if few else WARNING,
            f"When {what} of a {TRANSACTIONS_TOPIC} partition dies, transaction outcomes will be lost: the topic does "
            f"not exist yet and would get these settings ({key} {hit[0].value}, {origin(hit)}).",
            change=f"Set {factor}=3 and {least}=2 in server.properties of every broker before the first transaction.",
            cost="A transaction waits for followers.",
            proof=scene.proof_of(key, [setting.value for setting in hit]),
            by=(hit,),
        )
    if no_copies or no_sync:
        return _not_known(factor, no_copies) if no_copies else _not_known(least, no_sync)
    copies, sync = (min(s.number or 0 for s in scene.of_brokers(key)) for key in (factor, least))
    return holds(f"{TRANSACTIONS_TOPIC} will get {copies} copies, of which {sync} must be in sync.")


def auto_created(scene: DurabilityInputs) -> JudgedRule:
    """``KafkaApis.scala@0.9.0.1`` (createTopic), ``AutoTopicCreationManager.scala@2.8.2``."""
    on, unsure = _some(scene, "auto.create.topics.enable", lambda s: s.flag)
    few, missing = _some(scene, "default.replication.factor", lambda s: None if s.number is None else s.number < 2)
    if not on:
        return _not_known("auto.create.topics.enable", unsure) if unsure else holds("Topics are not created automatically.")
    if not few:
        return _not_known("default.replication.factor", missing) if missing else holds("New topics get more than one copy.")
    return loses(
        WARNING,
        "A first write, or a typing error, creates a topic with one copy, whose records one dead disk loses "
        f"(auto.create.topics.enable true, {origin(on)}; default.replication.factor 1, {origin(few)}).",
        change="Set auto.create.topics.enable=false, or default.replication.factor=3, in server.properties of every broker.",
        cost="An operator must create topics; or each new topic takes three times the disk space.",
        proof=scene.proof_of("default.replication.factor", [setting.value for setting in few]),
        by=(on, few),
    )


def uncontrolled_shutdown(scene: DurabilityInputs) -> JudgedRule:
    """``KafkaServer.scala@0.9.0.1, 2.8.2`` (controlledShutdown)."""
    key = "controlled.shutdown.enable"
    off, missing = _some(scene, key, lambda s: None if s.flag is None else not s.flag)
    if not off:
        return _not_known(key, missing) if missing else holds("A broker moves its leaders away before it stops.")
    return loses(
        WARNING,
        "Whenever a broker is stopped, records acknowledged with acks=1 and not yet fetched are lost: it does not move "
        f"its leaders away first ({key} false, {origin(off)}).",
        change=f"Remove {key}=false from server.properties of every broker.",
        cost="A stop takes some seconds longer.",
        proof=scene.proof_of(key, [setting.value for setting in off]),
        by=(off,),
    )


def session_timeout(scene: DurabilityInputs) -> JudgedRule:
    """KIP-537 raised it from 6 s to 18 s: ``KafkaConfig.scala@2.4.1, 2.5.1``."""
    key = "zookeeper.session.timeout.ms"
    if scene.cluster.is_kraft:
        return beside("KRaft has no ZooKeeper.")
    short, missing = _some(scene, key, lambda s: None if s.whole is None else s.whole <= _SHORT_SESSION)
    if not short:
        return _not_known(key, missing) if missing else holds(f"{key} is {scene.of_brokers(key)[0].value}.")
    least = min(setting.whole for setting in short if setting.whole is not None)
    return loses(
        INFO,
        f"A pause of {duration(least)} looks like a broker failure to ZooKeeper ({key} {least}, {origin(short)}). "
        "Leaders then move, and acks=1 writes of that moment are lost.",
        change=f"Set {key}=18000 in server.properties of every broker.",
        cost="A broker that really died is replaced 12 s later.",
        proof=scene.proof_of(key, [setting.value for setting in short]),
        by=(short,),
    )


def lag_time(scene: DurabilityInputs) -> JudgedRule:
    """``ReplicaManager.scala@0.9.0.1`` (maybeShrinkIsr); KIP-16, KIP-537."""
    key = "replica.lag.time.max.ms"
    odd, missing = _some(scene, key, lambda s: None if s.whole is None else s.whole < _SHORT_LAG or s.whole > _LONG_LAG)
    if not odd:
        return _not_known(key, missing) if missing else holds(f"{key} is {scene.of_brokers(key)[0].value}.")
    value = odd[0].whole or 0
    what = (
        "ISRs shrink at every hiccup: with min.insync.replicas=1, acks=all then means acks=1"
        if value < _SHORT_LAG
        else f"a hanging follower stops acks=all writes for {duration(value)}"
    )
    return loses(
        INFO,
        f"This setting alone loses nothing, but {what} ({key} {value}, {origin(odd)}).",
        change=f"Set {key}=30000 in server.properties of every broker.",
        cost="A slow follower leaves the ISR later, or earlier, than now.",
        proof=scene.proof_of(key, [setting.value for setting in odd]),
        by=(odd,),
    )


def cleaner_off(scene: DurabilityInputs) -> JudgedRule:
    """The default up to 0.9.0.0: ``KafkaConfig.scala@0.9.0.0, 0.9.0.1``."""
    key = "log.cleaner.enable"
    off, missing = _some(scene, key, lambda s: None if s.flag is None else not s.flag)
    if not off:
        return _not_known(key, missing) if missing else holds("The log cleaner is on.")
    return loses(
        WARNING,
        "Groups stop while a coordinator loads an offsets partition that only grows. Deleting its segments by hand "
        f"loses offsets ({key} false, {origin(off)}).",
        change=f"Set {key}=true in server.properties of every broker; notebook 40 shows what the first run does.",
        cost="Disk reads and writes by the cleaner; the first run is long.",
        proof=scene.proof_of(key, [setting.value for setting in off]),
        by=(off,),
    )


def rebalance_moves(scene: DurabilityInputs) -> JudgedRule:
    """A preferred election under load lost records of acks=1 in the rehearsal acks1-loss on 2.8.2."""
    key = "auto.leader.rebalance.enable"
    on, missing = _some(scene, key, lambda s: s.flag)
    if not on:
        return _not_known(key, missing) if missing else holds("Leaders move only on request.")
    if not scene.producers:
        return beside("No producer is known; with acks=all, a planned move loses nothing.")
    weak = [producer.name for producer in scene.producers if producer["acks"].value in ("0", "1")]
    if not weak:
        unsure = [producer.name for producer in scene.producers if producer["acks"].value is None]
        return (
            unknown(f"acks of {unsure[0]} is unknown.", "tables/client_settings")
            if unsure
            else holds("Every producer has acks=all.")
        )
    return loses(
        INFO,
        f"Each planned leader move, checked every five minutes, loses a few records of {weak[0]} ({key} true, {origin(on)}).",
        change="Set acks=all in these producers, or move leaders only in quiet hours.",
        cost="As D3.",
        proof="tables/client_settings",
        by=(on,),
    )
