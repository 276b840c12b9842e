"""A week of a cluster in fast motion: something happens to it each night, and each morning the scheduled report looks at it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from casebook.collect.collection import collect_case
from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal import PlayedCluster
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.plays.offsets_bloat import BROKER_SETTINGS, KILLER, ROOMY, TOO_MANY
from casebook.rehearsal.plays.offsets_bloat import SETTINGS as TOPIC_SETTINGS
from casebook.rehearsal.servers import disks
from casebook.rehearsal.servers.records import produce
from casebook.rehearsal.servers.topics import Partition, label
from tests import notebook_cells

CONTROLLER, CLEANS_NO_MORE, FLAPS = 2, 1, 3
TOPICS = {
    OFFSETS_TOPIC: {number: ((1, 2), (2, 1))[number % 2] for number in range(6)},
    "orders": {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)},
    KILLER[0]: {KILLER[1]: (1,)},
}
SINGLE = "invoices"
_LAG, _FLAPPINGS = 4.0, 5
"""Seconds that a follower may lag: a busy machine lets one wait for a second or two. A leader looks after them just as often."""
_SESSION = 30.0
"""Seconds: far longer than a broker stands still here."""
_UNTOUCHED = ("first", "quiet", "cleaner", "grown", "single", "still")
"""Nights in which nobody touches a broker."""
_AT_REST, _AT_REST_AGAIN = 2.0, 6.0
"""Seconds without a clean after which cleaners are taken to have nothing to do: they look twice a second; those that begin, later."""
_HEALING = 3
"""Changes of an ISR in the night in which brokers are healed."""
_FIRST = datetime(2026, 11, 16, 3, tzinfo=UTC)


def play(folder: Path) -> dict[str, Path]:
    """The cases of the mornings, by what happened in the night before.

    Raises:
        RehearsalError: Something else happened, too: the machine was so busy that a follower fell behind by itself.
    """
    settings = BROKER_SETTINGS | {
        "replica.lag.time.max.ms": str(int(1000 * _LAG)),
        "zookeeper.session.timeout.ms": str(int(1000 * _SESSION)),
        "auto.leader.rebalance.enable": "false",
    }
    mornings: dict[str, Path] = {}
    with PlayedCluster(kafka="0.9.0.1", brokers=3, controller=CONTROLLER, settings=settings) as cluster:
        for topic, assignment in TOPICS.items():
            cluster.create_topic(topic, assignment, TOPIC_SETTINGS.get(topic))
        _whole(cluster)
        changed = _watch(cluster)
        for number, (night, happens) in enumerate(_nights(cluster)):
            happens()
            mornings[night] = _morning(cluster, folder / night, number)
            if others := changed if night in _UNTOUCHED else _by_itself(changed) if night == "healed" else []:
                raise RehearsalError(
                    f"In the night {night} a state was written though nobody had done anything to it: {others[0].words}.",
                    cause="The machine was busy.",
                    try_="Play it again.",
                )
            changed.clear()
    return mornings


class _Written(NamedTuple):
    """A state that was written, and whether with another ISR than before."""

    partition: Partition
    isr_changed: bool
    words: str


def _by_itself(changed: Sequence[_Written]) -> list[_Written]:
    """Changes of an ISR beyond those of a broker that came, and of one that went and came."""
    count = Counter(one.partition for one in changed if one.isr_changed)
    return [one for one in changed if count[one.partition] > _HEALING]


def _watch(cluster: PlayedCluster) -> list[_Written]:
    """States that were written since: a list that grows."""
    changed: list[_Written] = []
    last: dict[Partition, tuple[int, set[int]]] = {}

    def told(partition: Partition, state: dict, at: int) -> None:
        isr = set(state["isr"])
        before = last.setdefault(partition, (at, isr))
        if before[0] != at:
            words = f"{label(partition)}, led by {state['leader']}, has the ISR {state['isr']}"
            changed.append(_Written(partition, isr != before[1], words))
        last[partition] = at, isr

    cluster.watch_states(told)
    return changed


def _nights(cluster: PlayedCluster) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "first", partial(_commit, cluster, 100)
    yield "quiet", partial(_commit, cluster, 10)
    yield "cleaner", partial(_kill_cleaner, cluster)
    yield "grown", partial(_grow, cluster)
    yield "single", partial(cluster.create_topic, SINGLE, {0: (2,)})
    yield "flapping", partial(_flap, cluster)
    yield "removed", partial(_remove, cluster)
    yield "healed", partial(_heal, cluster)
    yield "still", partial(_commit, cluster, 10)


def _commit(cluster: PlayedCluster, rounds: int, *, metadata: str = "", cleaners: Sequence[int] = (1, 2)) -> None:
    """Let eight groups commit, and what cleaners live clean up behind them."""
    offsets = {"orders": dict.fromkeys(range(3), rounds)}
    with Groups(cluster.bootstrap) as groups:
        groups.commit(CommitRequest(group=f"group-{n % 8}", offsets=offsets, metadata=metadata) for n in range(8 * rounds))
    _rest(cluster, cleaners)


def _rest(cluster: PlayedCluster, cleaners: Sequence[int], *, steady: float = _AT_REST) -> None:
    """Wait until the cleaners of these brokers have nothing left to do."""
    before: dict[int, dict] = {}

    def at_rest() -> bool:
        nonlocal before
        last, before = before, {broker: disks.cleaned(cluster.log_dir(broker)) for broker in cleaners}
        return all(before.values()) and before == last

    cluster.wait_until(at_rest, what="the cleaners to come to rest", steady=steady)


def _grow(cluster: PlayedCluster) -> None:
    """More than the 1 MiB and the 20 % from which on a copy counts as grown, in each of six partitions but for a few."""
    _commit(cluster, 500, metadata="m" * 700, cleaners=(2,))


def _kill_cleaner(cluster: PlayedCluster) -> None:
    produce({KILLER: TOO_MANY}, bootstrap=cluster.bootstrap, kafka=cluster.kafka, value="1")

    def died() -> bool:
        return any("Error due to" in line for line in disks.log_lines(cluster, CLEANS_NO_MORE, "log-cleaner.log"))

    cluster.wait_until(died, what="the death of the cleaner")


def _flap(cluster: PlayedCluster) -> None:
    """A follower stands still again and again, for longer than it may lag and for less than its session lasts."""
    for _ in range(_FLAPPINGS):
        cluster.freeze(FLAPS)
        cluster.wait_until(lambda: FLAPS not in cluster.states()["orders", 0]["isr"], what="the ISR to shrink")
        cluster.thaw(FLAPS)
        _whole(cluster)


def _remove(cluster: PlayedCluster) -> None:
    cluster.stop(FLAPS)
    cluster.wait_gone(FLAPS)
    cluster.wait_until(lambda: all(state["leader"] != FLAPS for state in cluster.states().values()), what="other leaders")


def _heal(cluster: PlayedCluster) -> None:
    cluster.start(FLAPS)
    cluster.stop(CLEANS_NO_MORE)
    cluster.configure(ROOMY)
    cluster.start(CLEANS_NO_MORE)
    cluster.delete_topic(SINGLE)
    cluster.wait_until(lambda: SINGLE not in cluster.topic_names(), what="the deletion")
    _whole(cluster)
    cluster.elect_preferred(*cluster.states())
    cluster.wait_until(lambda: _preferred(cluster), what="the preferred leaders")
    _rest(cluster, (1, 2), steady=_AT_REST_AGAIN)


def _whole(cluster: PlayedCluster) -> None:
    """Wait until every replica is in sync."""
    wanted = {(topic, number): set(to) for topic, partitions in TOPICS.items() for number, to in partitions.items()}
    cluster.wait_until(
        lambda: wanted.items() <= {place: set(state["isr"]) for place, state in cluster.states().items()}.items(),
        what="all replicas in sync",
        steady=1.0,
    )


def _preferred(cluster: PlayedCluster) -> bool:
    states = cluster.states()
    return all(
        states[topic, number]["leader"] == to[0] for topic, partitions in TOPICS.items() for number, to in partitions.items()
    )


def _morning(cluster: PlayedCluster, case: Path, number: int) -> Path:
    """Collect a case, and call its time that of a morning: each is a day after the one before."""
    collect_case(
        case,
        zookeeper=cluster.zookeeper,
        properties={broker: cluster.server_properties(broker) for broker in cluster.ids},
        logs={broker: list(cluster.log_files(broker)) for broker in cluster.ids},
        log_dirs=[(broker, str(cluster.log_dir(broker))) for broker in cluster.ids],
        copy_segments=[OFFSETS_TOPIC],
    )
    manifest = json.loads((case / "case.json").read_text())
    manifest["collected_at"] = (_FIRST + timedelta(days=number)).isoformat().replace("+00:00", "Z")
    (case / "case.json").write_text(json.dumps(manifest))
    return case


def report(case: Path, runs: Path, *, night: str) -> Path:
    """The run folder of the scheduled report on a case."""
    at = json.loads((case / "case.json").read_text())["collected_at"][:19].replace(":", "-")
    folder = runs / f"{at}_90_scheduled_report_{night[:4]}"
    return notebook_cells.execute("scheduled_report", folder, source=str(case))
