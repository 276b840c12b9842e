"""An endless load: one commit is larger than ``offsets.load.buffer.size``, and the loader retries it forever.

Up to 0.10.0 a read that is too small for a whole message returns none of it, and the loader retries
(``GroupMetadataManager.scala@0.9.0.1``, ``loadGroupsForPartition``). There is no error and no line: later partitions in the queue
never start. It looks like a slow load, except for the largest record and a busy thread.
"""

import time
from collections.abc import Sequence

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.commits import CommitRequest, Groups
from casebook.rehearsal.servers import disks
from casebook.rehearsal.stage import Stage
from casebook.rehearsal.truth import Phase, well
from casebook.rehearsal.watching import Watch

BROKER = 1
OFFSETS = tuple((OFFSETS_TOPIC, number) for number in range(4))
BUFFER = 300
BROKER_SETTINGS = {
    "offsets.topic.num.partitions": str(len(OFFSETS)),
    "offsets.topic.replication.factor": "1",
    "offsets.load.buffer.size": str(BUFFER),
    "log.cleaner.enable": "false",
}
ENOUGH = {"offsets.load.buffer.size": "5242880"}
GROUPS = {"search": 0, "payments": 1, "checkout": 2, "returns": 3}
"""Groups with their partitions of the offsets topic."""
TALKATIVE = "payments"
"""Group with one commit whose metadata exceeds the buffer."""
LONG = 1_000
COMMITS = 500
IN_VAIN = 1.0
"""Processor seconds of the loader on one partition: far more than a load of a few kilobytes."""
LOADER = "group-metadata-"
"""Name of the loading thread, as cut by the system."""


def play(stage: Stage) -> None:
    """Play the incident on a stage."""
    rows = (*(well(f"{topic}-{number}", (BROKER,)) for topic, number in OFFSETS), well("orders-0", (BROKER,)))
    now = Phase(live=(BROKER,), controller=BROKER, partitions=rows)
    committed = dict.fromkeys(GROUPS, (("orders", 0), COMMITS - 1))
    with stage.cluster(brokers=1, settings=BROKER_SETTINGS) as cluster:
        stage.create_topics(cluster, rows, {OFFSETS_TOPIC: {"cleanup.policy": "compact"}})
        with Groups(cluster.bootstrap) as groups:
            stage.act("All groups commit.", lambda: groups.commit(_commits()))
        stage.kill(cluster, BROKER)
        when_empty = len(disks.load_lines(cluster, BROKER))
        stage.gone(cluster, BROKER)
        stage.start(cluster, BROKER)
        with Watch(cluster.bootstrap, committed) as watch:
            cluster.wait_until(
                lambda: _stuck(disks.load_lines(cluster, BROKER)[when_empty:], watch), what="a load that does not end"
            )
            began, busy = time.monotonic(), cluster.cpu_seconds(BROKER, LOADER)
            cluster.wait_until(lambda: cluster.cpu_seconds(BROKER, LOADER) >= busy + IN_VAIN, what="the loader to work in vain")
            stage.expect("during", cluster, now, disks=[BROKER], copy_segments=[OFFSETS_TOPIC])
            stage.truth.facts["coordinators"] = {
                "served": sorted(watch.served(GROUPS)),
                "never_served": sorted(GROUPS.keys() - watch.served(GROUPS)),
                "groups": {group: {"partition": GROUPS[group]} | seen.as_json() for group, seen in watch.seen.items()},
                "loader": {"seconds": time.monotonic() - began, "cpu_seconds": cluster.cpu_seconds(BROKER, LOADER) - busy},
                "loads": disks.load_lines(cluster, BROKER),
            }
            if stage.visited(cluster):
                return
        stage.kill(cluster, BROKER)  # a shutdown would wait for the loader
        stage.gone(cluster, BROKER)
        cluster.configure(ENOUGH)
        stage.start(cluster, BROKER)
        with Watch(cluster.bootstrap, committed) as watch:
            cluster.wait_until(lambda: watch.served(GROUPS) == GROUPS.keys(), what="all groups to be served")
        stage.expect("after", cluster, now)


def _stuck(lines: Sequence[str], watch: Watch) -> bool:
    """Return whether that group's partition is loading, and clients of earlier ones are served."""
    ended = {group for group, number in GROUPS.items() if any("Finished" in line and _of(number) in line for line in lines)}
    return bool(lines) and "Finished" not in lines[-1] and _of(GROUPS[TALKATIVE]) in lines[-1] and watch.served(GROUPS) == ended


def _of(number: int) -> str:
    return f"[{OFFSETS_TOPIC},{number}]"


def _commits() -> list[CommitRequest]:
    return [
        CommitRequest(
            group=group, offsets={"orders": {0: turn}}, metadata="m" * LONG if (group, turn) == (TALKATIVE, 100) else ""
        )
        for turn in range(COMMITS)
        for group in GROUPS
    ]
