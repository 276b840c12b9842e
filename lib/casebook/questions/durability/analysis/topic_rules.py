"""Durability rules on topics: copies, in-sync replicas, and elections."""

import re
from collections.abc import Sequence

from casebook.findings.words import agree, plural
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import Setting
from casebook.questions.durability.analysis.scene import (
    CRITICAL,
    INFO,
    WARNING,
    DurabilityInputs,
    JudgedRule,
    assumed,
    holds,
    loses,
    origin,
    unknown,
    without_copies,
)
from casebook.questions.durability.analysis.topics import TopicFacts

_SETTINGS = "tables/settings"


def single_copy(_: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """Replication factor 1: ``PartitionLeaderSelector.scala@0.9.0.1``, ``Election.scala@2.8.2`` have no other candidate."""
    if not topic.factors:
        return without_copies(topic)
    if not topic.single:
        return holds("Every partition has more than one copy.")
    several = len(topic.single) > 1
    what = f"each of {plural(len(topic.single), 'partition')}" if several else "1 partition"
    return loses(
        CRITICAL,
        f"When the disk of its only broker dies, {what} of {topic.name} is lost. While that broker is down, it cannot be read or "
        "written.",
        change=f"Give {topic.name} replication factor 3 with kafka-reassign-partitions.sh.",
        cost="Three times the disk space and twice the traffic between brokers; acks=all then waits for followers.",
        proof=topic.proof,
    )


def isr_of_one(scene: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """acks=all waits for the ISR, however small: ``Partition.scala@0.9.0.1, 2.8.2`` (checkEnoughReplicasReachOffset)."""
    if not topic.replicated:
        return without_copies(topic)
    if topic.least is None:
        return unknown(f"min.insync.replicas of {topic.name} is unknown: {origin(topic.min_isr)}.", topic.proof)
    if topic.least > 1:
        return holds(f"min.insync.replicas is {topic.least} ({origin(topic.min_isr)}).")
    counted = [setting for setting in topic.min_isr if setting.number == topic.least]
    dies = "that leader dies and an unclean election follows" if topic.may_be_unclean else "the disk of that leader dies"
    least = min(factor for factor in topic.factors if factor > 1)
    change, cost = _two_in_sync(scene, topic, least)
    return loses(
        WARNING,
        f"While its ISR is the leader alone, {topic.name} loses records acknowledged with acks=all when {dies} "
        f"(min.insync.replicas {topic.least}, {origin(counted)}).",
        change=change,
        cost=cost,
        proof=_of_setting(topic, counted),
        by=(counted,),
    )


def _two_in_sync(scene: DurabilityInputs, topic: TopicFacts, factor: int) -> tuple[str, str]:
    not_yet = _not_before(topic)
    change = f"Set min.insync.replicas=2{not_yet or ': ' + scene.alter_topic(topic.name, 'min.insync.replicas=2')}"
    if factor == 2:
        return change, "With two copies, one dead broker then stops acks=all writes; with three, it does not."
    return change, f"acks=all writes stop when {plural(factor - 1, 'broker')} of a partition are down, not {factor}; no latency."


def _not_before(topic: TopicFacts) -> str:
    """Return why a min ISR of 2 is not possible now: partitions with fewer would refuse acks=all at once. Empty when possible."""
    waiting = set(topic.alone).difference(topic.single)
    if waiting:
        has = f"{plural(len(waiting), 'partition')} {agree(len(waiting), 'has', 'have')}"
        return f", but not before all are in sync again: {has} fewer than two in sync now, and would refuse acks=all at once."
    if topic.single:
        has = f"{plural(len(topic.single), 'partition')} {agree(len(topic.single), 'has', 'have')}"
        return f", but not before every partition has a second copy (D2): {has} one copy, and would refuse acks=all."
    if topic.unseen:
        of = plural(len(topic.unseen), "partition")
        return f", but check first: the ISR of {of} is unknown, and with fewer than two in sync, acks=all is refused at once."
    return ""


def unclean(scene: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """Any live replica is elected: ``PartitionLeaderSelector.scala@0.9.0.1``, ``Election.scala@2.8.2``; KIP-106."""
    if not topic.replicated:
        return without_copies(topic)
    if topic.may_be_unclean is None:
        return unknown(f"unclean.leader.election.enable of {topic.name} is unknown: {origin(topic.unclean)}.", topic.proof)
    if not topic.may_be_unclean and (taken := assumed(topic.unclean)):
        return unknown(f"unclean.leader.election.enable of {topic.name} is not confirmed as false: {origin(taken)}.", _SETTINGS)
    if not topic.may_be_unclean:
        return holds(f"unclean.leader.election.enable is false ({origin(topic.unclean)}).")
    allowed = [setting for setting in topic.unclean if setting.flag]
    return loses(
        WARNING,
        f"When all in-sync replicas die and an out-of-sync replica is elected, {topic.name} loses records that it "
        f"lacks, also with acks=all (unclean.leader.election.enable true, {origin(allowed)}).",
        change="Set unclean.leader.election.enable=false: "
        + scene.alter_topic(topic.name, "unclean.leader.election.enable=false"),
        cost="A partition whose whole ISR is dead stays offline until one of these brokers returns.",
        proof=_of_setting(topic, allowed),
        by=(allowed,),
    )


_EPOCHS = KafkaVersion.parse("0.11.0.0")


def cut_to_high_watermark(scene: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """Before leader epochs a follower truncates to its own high watermark.

    Source: ``ReplicaManager.scala@0.9.0.1`` (makeFollowers), KIP-101.

    Epochs require inter.broker.protocol.version 0.11.0-IV2 and message format 0.11.0-IV2 (``ReplicaFetcherThread.scala@1.0.2``).
    """
    if not topic.replicated:
        return without_copies(topic)
    old = _older(scene, topic)
    if old is None:
        return unknown(f"The protocol or message format of {topic.name} is not known.", "tables/settings")
    if not old and (taken := [setting for setting in topic.protocols if setting.assumed]):
        return unknown(f"inter.broker.protocol.version of the brokers of {topic.name} is not known: {origin(taken)}.", _SETTINGS)
    if not old:
        return holds("Followers use leader epochs to truncate.")
    return loses(
        WARNING,
        f"When its brokers restart together or one after the other, {topic.name} loses records of the last seconds, "
        f"also with acks=all and clean elections. A follower truncates to its own high watermark ({old}).",
        change="Run 0.11 or later with inter.broker.protocol.version and log.message.format.version of 0.11.0 or later.",
        cost="A rolling upgrade in three rounds; brokers convert messages for consumers older than 0.11.",
        proof="tables/settings",
    )


def _older(scene: DurabilityInputs, topic: TopicFacts) -> str | None:
    """Return what is older than leader epochs; empty for nothing; ``None`` when unknown."""
    if scene.version.may_be_before(_EPOCHS):
        return None
    if scene.release < _EPOCHS:
        return f"Kafka {scene.release}"
    counted = [("inter.broker.protocol.version", topic.protocols)]
    if scene.before("3.0.0"):  # from then on the message format depends on the protocol (KIP-724)
        counted.append(("message format", topic.format))
    for name, settings in counted:
        for setting in settings:
            spoken = _protocol(setting)
            if spoken is None:
                return None
            if spoken < _EPOCHS:
                return f"{name} {setting.value}, {origin([setting])}"
    return ""


def _protocol(setting: Setting) -> KafkaVersion | None:
    try:
        return KafkaVersion.parse(re.sub(r"\.X$", ".0", (setting.value or "").strip()))
    except ValueError:
        return None


def one_rack(_: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """Kafka leaves flushing to the system (``KafkaConfig.scala@0.9.0.1, 2.8.2``), so copies must not lose power together.

    Racks: KIP-36 (``AdminUtils.scala@0.10.0.1``).
    """
    if not topic.replicated:
        return without_copies(topic)
    if topic.together is None:
        return unknown(
            (f"It is unknown whether the copies of {topic.name} can lose power together: not every broker has a broker.rack."),
            "tables/settings",
        )
    if not topic.together:
        return holds("The copies of every partition are in more than one rack.")
    where = plural(len(topic.together), "partition")
    if topic.never_flushed is False:
        return loses(
            INFO,
            f"When the one rack of all its copies loses power, {topic.name} loses records since the last flush ({where}).",
            change=f"Spread the copies of {topic.name} over racks with kafka-reassign-partitions.sh.",
            cost="Traffic between racks; acks=all waits for it.",
            proof=topic.proof,
        )
    return loses(
        WARNING,
        f"When the one rack of all its copies loses power, {topic.name} loses about the last 30 s, also with acks=all: "
        f"nothing was flushed ({where}).",
        change=(
            f"Spread the copies of {topic.name} over racks with kafka-reassign-partitions.sh; do not shorten the flush interval."
        ),
        cost="Traffic between racks; acks=all waits for it.",
        proof=topic.proof,
    )


def no_spare(_: DurabilityInputs, topic: TopicFacts) -> JudgedRule:
    """acks=all is refused below min ISR: ``Partition.scala@0.9.0.1, 2.8.2`` (appendRecordsToLeader)."""
    if topic.most is None or not topic.factors:
        return unknown(f"min.insync.replicas of {topic.name} is unknown: {origin(topic.min_isr)}.", topic.proof)
    least = topic.factors[0]
    counted = [setting for setting in topic.min_isr if setting.number == topic.most]
    if topic.most > least:
        return loses(
            WARNING,
            f"{topic.name} refuses every acks=all write to its partitions with {plural(least, 'copy', 'copies')}: "
            f"min.insync.replicas is {topic.most} ({origin(counted)}). Nothing is lost if the producer keeps refused "
            "records.",
            change=f"Give {topic.name} replication factor {topic.most + 1}.",
            cost="More disk space, more traffic between brokers.",
            proof=_of_setting(topic, counted),
            by=(counted,),
        )
    if (topic.most < least or least == 1) and (taken := assumed(topic.min_isr)):
        return unknown(f"min.insync.replicas of {topic.name} is unknown: {origin(taken)}.", _SETTINGS)
    if topic.most < least or least == 1:
        return holds(f"{least} copies, {topic.most} must be in sync.")
    return loses(
        INFO,
        f"{topic.name} refuses acks=all writes when one broker is down: {plural(least, 'copy', 'copies')}, and "
        f"min.insync.replicas is {topic.most}. Nothing is lost if the producer keeps refused records.",
        change=f"Give {topic.name} replication factor {least + 1}.",
        cost="One more copy on disk; acks=all waits for the slowest in-sync replica.",
        proof=_of_setting(topic, counted),
        by=(counted,),
    )


def _of_setting(topic: TopicFacts, settings: Sequence[Setting]) -> str:
    return topic.overrides_proof if any(s.origin == "topic override" for s in settings) else "tables/settings"
