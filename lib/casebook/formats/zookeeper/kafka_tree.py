"""Selection of ZooKeeper's znodes that are Kafka's evidence: common to walks, dumps and ZooKeeper's own files.

Source: ``core/src/main/scala/kafka/zk/ZkData.scala@3.9.0`` and, for releases before 1.1, ``kafka/utils/ZkUtils.scala@0.9.0.1``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from casebook.facts.znodes import ReadOutcome, Znode

IDS = "/brokers/ids"
TOPICS = "/brokers/topics"

READ_WHOLE = (
    IDS,
    "/brokers/seqid",
    "/controller",
    "/controller_epoch",
    "/config",
    "/admin",
    "/isr_change_notification",
    "/log_dir_event_notification",
    "/cluster",
    "/feature",
    "/migration",
    "/latest_producer_id_block",
    TOPICS,
)
"""Read with all descendants, the largest last; below a topic, only the states."""

OF_RELEASE = (
    IDS,
    "/controller",
    "/log_dir_event_notification",
    "/cluster",
    "/feature",
    "/migration",
    "/latest_producer_id_block",
    TOPICS,
)
"""Znodes on brokers, and on the release: by their existence or format."""

COUNTED = (
    "/consumers",
    "/kafka-acl",
    "/kafka-acl-changes",
    "/kafka-acl-extended",
    "/kafka-acl-extended-changes",
    "/delegation_token",
)
"""Only their stat is kept, with the number of children: ACLs and tokens are not evidence."""

_STATE = re.compile(r"(/brokers/topics/[^/]+)/partitions/[0-9]{1,10}/state")
_PARTITIONS = re.compile(r"(/brokers/topics/[^/]+)/partitions")
_OFFSET = re.compile(r"/consumers/[^/]+/offsets/[^/]+/[0-9]{1,10}")
_OFFSETS = re.compile(r"/consumers/[^/]+/offsets(/[^/]+)?")
CONSUMERS = "/consumers"
MOST_OFFSETS = 100_000
"""Maximum group offsets in a walk."""
_PARTITION = re.compile(r"[0-9]{1,10}")  # as many digits as an int32 may have


def is_evidence(path: str) -> bool:
    """Return whether a znode belongs in a case."""
    if path.startswith(TOPICS + "/"):
        return is_topic(path) or topic_of_state(path) is not None
    return is_group_offset(path) or path in COUNTED or root_of(path) in READ_WHOLE


def is_group_offset(path: str) -> bool:
    """Return whether it is a group offset stored in ZooKeeper (``ZkUtils.scala@0.9.0.1``: ``ZKGroupTopicDirs``)."""
    return path.startswith(CONSUMERS + "/") and _OFFSET.fullmatch(path) is not None


def below_group(path: str, children: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the next paths to list and to read, towards the group offsets below a listed znode.

    Args:
        path: ``/consumers``, a group's ``offsets``, or a topic below.
        children: Their names.
    """
    match = _OFFSETS.fullmatch(path)
    if path == CONSUMERS:
        return [f"{path}/{child}/offsets" for child in children], []
    if match is None:
        return [], []
    if match[1] is None:
        return [f"{path}/{child}" for child in children], []
    return [], [f"{path}/{child}" for child in children if _PARTITION.fullmatch(child)]


def root_of(path: str) -> str:
    """Return the part of the tree of a znode: its entry in :data:`READ_WHOLE`, else its first name."""
    for root in READ_WHOLE:
        if path == root or path.startswith(root + "/"):
            return root
    return "/" + path.split("/", 2)[1]


def is_topic(path: str) -> bool:
    """Return whether it is a topic's own znode."""
    return path.count("/") == 3 and path.startswith(TOPICS + "/")


def topic_of_state(path: str) -> str | None:
    """Return the topic path of a state znode; ``None`` for every other path."""
    match = _STATE.fullmatch(path)
    return match[1] if match else None


def topic_of_partitions(path: str) -> str | None:
    """Return the topic path of a topic's partitions znode; ``None`` for every other path."""
    match = _PARTITIONS.fullmatch(path)
    return match[1] if match else None


def partitions_path(topic_path: str) -> str:
    """Return the parent of a topic's partitions."""
    return topic_path + "/partitions"


def state_paths(topic_path: str, partitions: Iterable[str]) -> list[str]:
    """Return the state znodes of a topic, without invalid partition numbers."""
    return [f"{topic_path}/partitions/{partition}/state" for partition in partitions if _PARTITION.fullmatch(partition)]


def assigned_partitions(data: bytes | None) -> list[str]:
    """Return the partition numbers in a topic znode; none in an invalid one, which the reader of the case reports."""
    try:
        partitions = json.loads(data or b"")["partitions"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    return list(partitions) if isinstance(partitions, dict) else []


def assigned_states(topic_path: str, data: bytes | None) -> list[str]:
    """Return the state znodes of the partitions in a topic znode."""
    return state_paths(topic_path, assigned_partitions(data))


def with_missing(znodes: Mapping[str, Znode]) -> Iterator[Znode]:
    """Yield all evidence of a complete tree, by path; absent znodes that Kafka would read are missing.

    Args:
        znodes: Evidence by path.
    """
    expected = {*READ_WHOLE, *COUNTED}
    for path, znode in znodes.items():
        if is_topic(path):
            expected.update(assigned_states(path, znode.data))
    for path in sorted({*znodes, *expected}):
        yield znodes.get(path) or Znode(path=path, outcome=ReadOutcome.MISSING)
