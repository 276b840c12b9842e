"""MBeans of a broker: the names of Kafka's own, what they count, and whether a value shows a problem.

Names: ``ReplicaManager.scala``, ``KafkaController.scala``, ``LogCleaner.scala``, ``SocketServer.scala@0.9.0.1, 2.8.2, 3.9.0``.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from casebook.facts.cluster import instant
from casebook.facts.pasted_hosts import HostSaid, LineSpan

MBEAN = re.compile(r"(?P<domain>kafka(?:\.\w+)+):(?P<keys>(?:[\w-]+=[^,:\"\s]+)(?:,[\w-]+=[^,:\"\s]+)*)")


class KnownMetric(NamedTuple):
    """A metric on a broker's health.

    Args:
        name: Name of the MBean in Kafka.
        means: Counted unit.
        bad: Whether a value shows a problem; ``None`` when a value alone does not.
    """

    name: str
    means: str
    bad: Callable[[float], bool] | None = None


def _any(value: float) -> bool:
    return value > 0


def _busy(value: float) -> bool:
    return 0 <= value < 0.3


_KNOWN = (
    KnownMetric("UnderReplicatedPartitions", "partitions that this broker leads and of which a replica is not in sync", _any),
    KnownMetric("UnderReplicatedPartition", "1 where a replica of that partition is not in sync", _any),
    KnownMetric("UnderMinIsrPartitionCount", "partitions that this broker leads and that take no acks=all", _any),
    KnownMetric("AtMinIsrPartitionCount", "partitions that this broker leads and that bear no further loss of a replica"),
    KnownMetric("OfflinePartitionsCount", "partitions without leader; only the active controller counts them", _any),
    KnownMetric("OfflineReplicaCount", "replicas that are offline on this broker", _any),
    KnownMetric("OfflineLogDirectoryCount", "log dirs that failed", _any),
    KnownMetric("ActiveControllerCount", "1 on the controller, 0 on every other broker"),
    KnownMetric("GlobalPartitionCount", "partitions of the cluster, as the controller counts them"),
    KnownMetric("GlobalTopicCount", "topics of the cluster, as the controller counts them"),
    KnownMetric("PreferredReplicaImbalanceCount", "partitions that another than their first replica leads"),
    KnownMetric("UncleanLeaderElectionsPerSec", "elections of a replica that was not in sync"),
    KnownMetric("LeaderElectionRateAndTimeMs", "elections of leaders"),
    KnownMetric("LeaderCount", "partitions that this broker leads"),
    KnownMetric("PartitionCount", "partitions of which this broker has a replica"),
    KnownMetric("IsrShrinksPerSec", "times that a replica was taken out of an ISR"),
    KnownMetric("IsrExpandsPerSec", "times that a replica came back into an ISR"),
    KnownMetric("RequestQueueSize", "requests that wait for a handler"),
    KnownMetric("ResponseQueueSize", "responses that wait to be sent"),
    KnownMetric("RequestHandlerAvgIdlePercent", "share of time that request handlers are idle", _busy),
    KnownMetric("NetworkProcessorAvgIdlePercent", "share of time that network threads are idle", _busy),
    KnownMetric("max-dirty-percent", "largest dirty share of a log that the cleaner has to do with, in per cent"),
    KnownMetric("max-clean-time-secs", "how long the last clean took, in seconds"),
    KnownMetric("max-buffer-utilization-percent", "how full the cleaner's offset map was, in per cent"),
    KnownMetric("cleaner-recopy-percent", "share that the last clean kept, in per cent"),
    KnownMetric("max-compaction-delay-secs", "how far the cleaner lags, in seconds"),
    KnownMetric("time-since-last-run-ms", "since when the cleaner's thread has not run, in ms"),
    KnownMetric("uncleanable-partitions-count", "partitions that the cleaner gave up", _any),
    KnownMetric("uncleanable-bytes", "bytes of partitions that the cleaner gave up"),
    KnownMetric("DeadThreadCount", "threads of the cleaner that died", _any),
    KnownMetric("NumGroups", "groups that this broker coordinates"),
    KnownMetric("NumOffsets", "offsets that this broker holds as coordinator"),
    KnownMetric("ZooKeeperExpiresPerSec", "sessions with ZooKeeper that expired"),
    KnownMetric("SessionState", "state of the session with ZooKeeper"),
    KnownMetric("BrokerState", "state of the broker: 3 is running"),
    KnownMetric("MaxLag", "largest lag of those that it counts, in records"),
)
_BY_NAME = {"".join(filter(str.isalnum, known.name)).lower(): known for known in _KNOWN}


def known(name: str) -> KnownMetric | None:
    """Return the metric with this name of an MBean."""
    return _BY_NAME.get("".join(filter(str.isalnum, name)).lower())


def said(
    mbean: str, attributes: Mapping[str, str], where: LineSpan, broker: int | None, at: int | None, printed: str = ""
) -> HostSaid:
    """Return one MBean at one time; a time without a zone stays as printed."""
    found = MBEAN.fullmatch(mbean)
    keys = dict(part.split("=", 1) for part in found["keys"].split(",")) if found else {}
    metric = known(keys.get("name", "")) or known(keys.get("type", ""))
    values = ", ".join(f"{name} {value}" for name, value in attributes.items())
    when = f", at {instant(at)}" if at else f", at {printed} (as printed)" if printed else ""
    means = f" ({metric.means})" if metric else ""
    bad = (
        metric is not None
        and metric.bad is not None
        and any(metric.bad(value) for name in ("Value", "Count") if (value := number(attributes.get(name, ""))) is not None)
    )
    facts = {"mbean": mbean, "values": dict(attributes), "at": at}
    return HostSaid("metrics", where, f"{mbean}: {values}{when}{means}", broker, bad, facts=facts)


def number(text: str) -> float | None:
    """Return a printed value; ``None`` for text."""
    try:
        return float(text)
    except ValueError:
        return None


def measured(name: str) -> KnownMetric | None:
    """Return the metric for a name of jmx_exporter, with words joined by ``_`` under user-defined rules."""
    joined = "".join(filter(str.isalnum, name)).lower()
    for ending in ("value", "count", "total", ""):
        cut = joined.removesuffix(ending)
        found = max((key for key in _BY_NAME if cut.endswith(key)), key=len, default=None)
        if found:
            return _BY_NAME[found]
    return None
