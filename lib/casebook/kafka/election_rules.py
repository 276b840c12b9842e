"""Rules of a cluster's controllers for events of brokers: those of ZooKeeper mode or of KRaft."""

from casebook.facts.cluster import Cluster
from casebook.kafka import controller
from casebook.kafka.controller import ElectionOutcome, State
from casebook.kafka.election import Brokers
from casebook.kafka.kraft import states
from casebook.kafka.kraft.election import KraftSettings
from casebook.kafka.kraft.partitions import KraftJudge
from casebook.kafka.releases import KafkaVersion


class ElectionRules:
    """Rules for one partition of a cluster.

    Args:
        cluster: Its facts.
        version: Release of the controllers.
        unclean: Whether an unclean election is allowed.
        min_isr: Effective ``min.insync.replicas``; 1 when unknown.
    """

    def __init__(self, cluster: Cluster, version: KafkaVersion, *, unclean: bool, min_isr: int | None) -> None:
        self._version, self._unclean = version, unclean
        has_elr = KraftJudge(cluster, version).has_elr if cluster.is_kraft else None
        self._kraft = KraftSettings(elr=bool(has_elr), min_isr=min_isr or 1, unclean=unclean) if cluster.is_kraft else None

    def after_deaths(
        self, state: State, replicas: Brokers, *, live: frozenset[int], dead: frozenset[int], controller_died: bool = False
    ) -> frozenset[ElectionOutcome | None]:
        """See :func:`casebook.kafka.controller.after_deaths`."""
        common = {"state": state, "replicas": replicas, "live": live, "dead": dead, "version": self._version}
        if self._kraft is not None:
            return states.after_deaths(**common, settings=self._kraft)
        return controller.after_deaths(**common, unclean=self._unclean, controller_died=controller_died)

    def after_controlled_shutdown(
        self, state: State, replicas: Brokers, *, live: frozenset[int], broker: int, shutting_down: frozenset[int]
    ) -> ElectionOutcome | None:
        """See :func:`casebook.kafka.controller.after_controlled_shutdown`."""
        common = {
            "state": state, "replicas": replicas, "live": live, "broker": broker, "shutting_down": shutting_down,
            "version": self._version,
        }  # fmt: skip
        if self._kraft is not None:
            return states.after_controlled_shutdown(**common, settings=self._kraft)
        return controller.after_controlled_shutdown(**common, unclean=self._unclean)

    def after_start(
        self, state: State, replicas: Brokers, *, live: frozenset[int], started: frozenset[int], cleanly: bool
    ) -> ElectionOutcome | None:
        """See :func:`casebook.kafka.controller.after_start`.

        Args:
            cleanly: Whether the brokers were shut down cleanly, which matters to KRaft.
        """
        common = {"state": state, "replicas": replicas, "live": live, "started": started, "version": self._version}
        if self._kraft is not None:
            return states.after_start(**common, settings=self._kraft, cleanly=cleanly)
        return controller.after_start(**common, unclean=self._unclean)
