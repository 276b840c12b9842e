"""Kafka release of the evidence, its source, and contradictions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from casebook.facts.cluster import Cluster
from casebook.facts.logged import StatedVersion
from casebook.kafka.releases import METADATA_VERSIONS, RELEASES, KafkaVersion, VersionInUse, VersionOrigin

_NOT_STATED = (VersionOrigin.ZNODES, VersionOrigin.ASSUMED)
_PROTOCOL = "inter.broker.protocol.version"
_EXAMPLE = KafkaVersion.parse("2.8.2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Release range of a mark in ZooKeeper.

    Args:
        mark: The mark, in words.
        since: First release that leaves it; ``None`` for the oldest.
        before: First release that no longer leaves it; ``None`` when the newest still does.
        source: Source of the rule.
    """

    mark: str
    since: str | None
    before: str | None
    source: str


_ZK_DATA = "core/src/main/scala/kafka/zk/ZkData.scala@1.1.0..3.9.0, core/src/main/scala/kafka/utils/ZkUtils.scala@0.9.0.1..1.0.0"

ZNODE_SIGNS = {
    sign.mark: sign
    for sign in (
        Sign(mark="broker registration version 1", since=None, before="0.9.0.0", source=_ZK_DATA),
        Sign(mark="broker registration version 2", since="0.9.0.0", before="0.10.0.0", source=_ZK_DATA),
        Sign(mark="broker registration version 3", since="0.10.0.0", before="0.10.2.0", source=_ZK_DATA),
        Sign(mark="broker registration version 4", since="0.10.2.0", before="2.7.0", source=_ZK_DATA),
        Sign(mark="broker registration version 5", since="2.7.0", before=None, source=_ZK_DATA),
        Sign(mark="topic version 2", since="2.4.0", before=None, source=_ZK_DATA),
        Sign(mark="topic version 3", since="2.8.0", before=None, source=_ZK_DATA),
        Sign(mark="/controller version 1", since=None, before="3.4.0", source=_ZK_DATA),
        Sign(mark="/controller version 2", since="3.4.0", before=None, source=_ZK_DATA),
        Sign(mark="leader_recovery_state in a partition state", since="3.2.0", before=None, source=_ZK_DATA),
        Sign(mark="/cluster/id", since="0.10.1.0", before=None, source=_ZK_DATA),
        Sign(mark="no /cluster/id", since=None, before="0.10.1.0", source=_ZK_DATA),
        Sign(mark="/latest_producer_id_block", since="0.11.0.0", before=None, source=_ZK_DATA),
        Sign(mark="/log_dir_event_notification", since="1.0.0", before=None, source=_ZK_DATA),
        Sign(mark="no /log_dir_event_notification", since=None, before="1.0.0", source=_ZK_DATA),
        Sign(mark="/feature", since="2.7.0", before=None, source=_ZK_DATA),
        Sign(mark="no /feature", since=None, before="2.7.0", source=_ZK_DATA),
        Sign(mark="/migration", since="3.4.0", before=None, source=_ZK_DATA),
    )
}
"""Marks in the formats of znodes.

JSON versions follow inter.broker.protocol.version, so a newer release may leave an older mark.
"""


def release(
    cluster: Cluster, *, given: str = "", logged: Sequence[StatedVersion] = (), configured: Sequence[StatedVersion] = ()
) -> VersionInUse:
    """Return the release whose rules apply.

    The order is: as given, logged, configured, allowed by the formats of znodes, the newest.

    Args:
        given: The parameter ``kafka_version``; ``""`` when not given.
        logged: Releases that brokers logged at start.
        configured: ``inter.broker.protocol.version`` of ``server.properties``.

    Raises:
        ValueError: ``given`` is no Kafka version.
    """
    signs = tuple(znode_signs(cluster))
    answered = tuple(_answered(cluster))
    if given:
        version, origin, proof = KafkaVersion.parse(given), VersionOrigin.PARAMETER, None
    elif spoken := _of_controller_or_lowest(logged, cluster):
        version, origin, proof = KafkaVersion.parse(spoken.text), VersionOrigin.LOGS, spoken.proof
    elif spoken := _of_controller_or_lowest(answered, cluster):
        version, origin, proof = _newest_of_line(KafkaVersion.parse(spoken.text)), VersionOrigin.ANSWERS, spoken.proof
    elif spoken := _of_controller_or_lowest(configured, cluster):
        version, origin, proof = _newest_of_line(KafkaVersion.parse(spoken.text)), VersionOrigin.PROPERTIES, spoken.proof
    elif signs:
        version, origin, proof = _newest(_possible(signs)), VersionOrigin.ZNODES, None
    else:
        version, origin, proof = RELEASES[-1], VersionOrigin.ASSUMED, None
    return VersionInUse(
        version=version,
        origin=origin,
        proof=proof,
        possible=_in_words(_possible(signs)) if signs else None,
        other=_other(version, _possible(signs)) if origin in _NOT_STATED else None,
        between=_between(signs) if origin in _NOT_STATED else None,
        contradictions=(
            *_against_logged(version, logged),
            *_against_configured(version, (*configured, *answered)),
            *_against_signs(version, signs),
        ),
    )


def znode_signs(cluster: Cluster) -> Iterable[Sign]:
    """Return the release marks in the cluster's znodes, each once."""
    marks = [f"broker registration version {v}" for v in sorted({b.json_version for b in cluster.brokers.values()} - {None})]
    marks += [f"topic version {v}" for v in sorted({t.json_version for t in cluster.topics.values()} - {None})]
    marks.append(f"/controller version {cluster.controller.json_version}")
    if any(p.state is not None and p.state.recovering for p in cluster.partitions):
        marks.append("leader_recovery_state in a partition state")
    marks += sorted(cluster.there)
    marks += [f"no {path}" for path in sorted(cluster.not_there)]
    return (ZNODE_SIGNS[mark] for mark in marks if mark in ZNODE_SIGNS)


def _answered(cluster: Cluster) -> Iterable[StatedVersion]:
    """Return the releases that brokers answered: their protocol, by default that of their release, or their newest metadata."""
    if cluster.is_kraft:
        told = [(broker, cluster.proofs.brokers.label, _line(level)) for broker, level in cluster.newest_metadata_version.items()]
    else:
        answered = ((broker, one) for broker, one in cluster.printed_settings.items() if one.is_answer)
        told = [(broker, one.proof, one.settings.get(_PROTOCOL)) for broker, one in answered]
    return (StatedVersion(broker=broker, text=text, proof=proof) for broker, proof, text in told if text)


def _line(level: int) -> str | None:
    """Return the release whose newest ``metadata.version`` this is: its line."""
    return next((line for first, line in reversed(METADATA_VERSIONS) if level >= first), None)


def _possible(signs: Iterable[Sign]) -> tuple[KafkaVersion, KafkaVersion | None]:
    """Return the first possible release, and the first that is too new. Existing marks outweigh an old format."""
    since = max((KafkaVersion.parse(s.since) for s in signs if s.since), default=RELEASES[0])
    before = min((b for s in signs if s.before and (b := KafkaVersion.parse(s.before)) > since), default=None)
    return since, before


def _newest(possible: tuple[KafkaVersion, KafkaVersion | None]) -> KafkaVersion:
    since, before = possible
    return max((r for r in RELEASES if r >= since and (before is None or r < before)), default=since)


def _between(signs: Iterable[Sign]) -> tuple[KafkaVersion, KafkaVersion | None]:
    """As :func:`_possible`, with the newest release of each line: brokers are assumed to run that."""
    since, before = _possible(signs)
    return _newest_of_line(since), before


def _other(version: KafkaVersion, possible: tuple[KafkaVersion, KafkaVersion | None]) -> KafkaVersion | None:
    """Return an alternative release: of the last line with ZooKeeper tools if possible, else the oldest possible one.

    ``None`` when only the chosen line is possible.
    """
    since, before = possible
    can_be = since <= _EXAMPLE and (before is None or before > _EXAMPLE)
    others = (_EXAMPLE, _newest_of_line(since)) if can_be else (_newest_of_line(since),)
    return next((other for other in others if other != _newest_of_line(version)), None)


def _newest_of_line(version: KafkaVersion) -> KafkaVersion:
    line = version.numbers[: 3 if version.numbers[0] == 0 else 2]
    return max((r for r in RELEASES if r.numbers[: len(line)] == line), default=version)


def _in_words(possible: tuple[KafkaVersion, KafkaVersion | None]) -> str:
    since, before = possible
    return f"{since} to {_newest(possible)}" if before else f"{since} or newer"


def _of_controller_or_lowest(stated: Sequence[StatedVersion], cluster: Cluster) -> StatedVersion | None:
    """The controller elects, so its release applies; else the lowest, whose rules every broker can follow."""
    readable = [s for s in stated if _parsed(s) is not None]
    of_controller = [s for s in readable if s.broker == cluster.controller.broker]
    return max(of_controller, key=_parsed) if of_controller else min(readable, key=_parsed, default=None)


def _parsed(stated: StatedVersion) -> KafkaVersion | None:
    try:
        return KafkaVersion.parse(stated.text)
    except ValueError:
        return None


def _against_logged(version: KafkaVersion, logged: Iterable[StatedVersion]) -> Iterable[str]:
    for stated in logged:
        other = _parsed(stated)
        if other is None:
            yield f"Broker {stated.broker} logged {stated.text!a}, which is not an Apache Kafka release ({stated.proof})."
        elif other != version:
            yield f"Broker {stated.broker} logged Kafka {other} ({stated.proof})."


def _against_configured(version: KafkaVersion, configured: Iterable[StatedVersion]) -> Iterable[str]:
    """A protocol may be older than the release, as between the two steps of an upgrade, but never newer."""
    for stated in configured:
        other, has = _parsed(stated), f"Broker {stated.broker} has inter.broker.protocol.version"
        if other is None:
            yield f"{has} {stated.text!a}, which no release supports ({stated.proof})."
        elif other > version and _newest_of_line(other) != _newest_of_line(version):
            yield f"{has} {stated.text}, newer than {version} ({stated.proof})."


def _against_signs(version: KafkaVersion, signs: Iterable[Sign]) -> Iterable[str]:
    for sign in signs:
        if sign.since and version < KafkaVersion.parse(sign.since):
            yield f"{sign.mark} is written only from {sign.since} on."
        elif sign.before and version >= KafkaVersion.parse(sign.before):
            yield (f"{sign.mark} is written by releases before {sign.before}, or under an older inter.broker.protocol.version.")
