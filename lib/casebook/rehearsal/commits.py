"""Real offset commits by raw requests, at the broker's maximum rate, and its responses to fetches.

Commits have generation -1: their groups have no members, and the coordinator accepts them like those of clients with manual
assignment (``GroupCoordinator.scala@0.9.0.1``, ``handleCommitOffsets``). The response to OffsetFetch is the truth for any reader
of the log.
"""

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from casebook.errors import RehearsalError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.rehearsal.servers.protocol import (
    Address,
    Api,
    BrokerLink,
    Code,
    ResponseReader,
    addresses,
    array,
    int32,
    refused,
    string,
)
from casebook.rehearsal.servers.topics import Partition

Found = TypeVar("Found")

PATIENCE = 60.0
"""Seconds to wait for a coordinator."""

_POLL = 0.05
_AT_ONCE = 5_000
"""Number of commits sorted by coordinator at a time."""
_OFFSET = struct.Struct(">iq")
_WITHOUT_MEMBER = int32(-1) + string("")
_RETENTION = struct.Struct(">q")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """One request, which the broker writes as one batch.

    Args:
        group: Committing group.
        offsets: By topic and partition number. The topics must exist.
        metadata: Stored with each offset.
        retention_ms: Retention; ``None`` leaves it to the broker. With a value, even recent releases write an old record version
            with an expiry.
    """

    group: str
    offsets: Mapping[str, Mapping[int, int]]
    metadata: str = ""
    retention_ms: int | None = None


class FetchedOffset(NamedTuple):
    """Response of OffsetFetch for a partition.

    Args:
        code: 0, or the error code.
        offset: ``None`` when nothing is committed.
        metadata: Stored with it.
    """

    code: int
    offset: int | None
    metadata: str | None


def offset_commit(link: BrokerLink, commits: Iterable[CommitRequest]) -> Iterator[int]:
    """Commit over one connection, pipelined; yield for each the first nonzero error code of its response, or 0."""
    for answer in link.pipeline(Api.OFFSET_COMMIT, 2, map(_commit_body, commits)):
        yield _first_error(answer)


def offset_fetch(link: BrokerLink, group: str, partitions: Iterable[Partition]) -> dict[Partition, FetchedOffset]:
    """Fetch a group's committed offsets from one broker."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    asked = array(string(topic) + array(map(int32, numbers)) for topic, numbers in by_topic.items())
    answer = link.ask(Api.OFFSET_FETCH, 1, string(group) + asked)
    found: dict[Partition, FetchedOffset] = {}
    for _ in range(answer.int32()):
        topic = answer.string()
        for _ in range(answer.int32()):
            number, offset, metadata, code = answer.int32(), answer.int64(), answer.string(), answer.int16()
            found[topic, number] = FetchedOffset(code, None if offset < 0 else offset, metadata)
    return found


def find_coordinator(link: BrokerLink, group: str) -> tuple[int, Address | None]:
    """Find a group's coordinator through any broker: an error code, and the address for code 0."""
    answer = link.ask(Api.FIND_COORDINATOR, 0, string(group))
    code, _id, host, port = answer.int16(), answer.int32(), answer.string(), answer.int32()
    return code, None if code else (host, port)


def has_members(link: BrokerLink, group: str) -> bool:
    """Return whether a group has members, from its coordinator: groups without any are Empty (from 0.10.1 on) or Dead."""
    answer = link.ask(Api.DESCRIBE_GROUPS, 0, array([string(group)]))
    answer.int32()  # one group
    _code, _group, state = answer.int16(), answer.string(), answer.string()
    return state not in ("Empty", "Dead")


def refusal(link: BrokerLink, group: str) -> int:
    """Return the error code with which a broker refuses to serve a group; 0 when it serves it."""
    probe = (OFFSETS_TOPIC, 0)  # a partition that exists, without commits
    return offset_fetch(link, group, [probe])[probe].code


class Groups:
    """A client of all coordinators of a cluster.

    Args:
        bootstrap: Addresses of brokers.
        client: Client id.
    """

    def __init__(self, bootstrap: str, *, client: str = "rehearsal") -> None:
        self._bootstrap, self._client = addresses(bootstrap), client
        self._links: dict[Address, BrokerLink] = {}
        self._coordinators: dict[str, BrokerLink] = {}
        self._known: set[tuple[BrokerLink, str]] = set()
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closing.close()

    def commit(self, commits: Iterable[CommitRequest]) -> int:
        """Commit, each group's offsets in the order given.

        Temporary failures (:func:`_passes`) are retried, as clients do; so a commit may be in the log twice.

        Returns:
            How many offsets were committed.

        Raises:
            RehearsalError: One was refused.
        """
        commits, count = iter(commits), 0
        while some := list(islice(commits, _AT_ONCE)):
            by_link: dict[BrokerLink, list[CommitRequest]] = {}
            for commit in some:
                link = self._coordinator(commit.group)
                self._wait_known(link, commit.offsets)
                by_link.setdefault(link, []).append(commit)
                count += sum(map(len, commit.offsets.values()))
            for link, theirs in by_link.items():
                _patiently(partial(self._store, link, theirs), what=f"group {theirs[0].group} and others to be stored")
        return count

    def _store(self, link: BrokerLink, commits: list[CommitRequest]) -> bool:
        """Send commits, and keep in the list those from the first one to retry on."""
        codes = tuple(offset_commit(link, commits))
        for place, (commit, code) in enumerate(zip(commits, codes, strict=True)):
            if _passes(link, commit.group, code):
                del commits[:place]
                return False
            if code:
                raise refused(f"A commit of group {commit.group}", code)
        return True

    def fetch(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int | None]:
        """Return the coordinator's offsets by partition, ``None`` without a commit.

        Raises:
            RehearsalError: It does not serve the group.
        """
        found = offset_fetch(self._coordinator(group), group, partitions)
        for code in (stored.code for stored in found.values() if stored.code not in (0, Code.UNKNOWN_TOPIC_OR_PARTITION)):
            raise refused(f"OffsetFetch of group {group}", code)
        return {partition: stored.offset for partition, stored in found.items()}

    def delete(self, *groups: str) -> None:
        """Delete groups without members, as ``kafka-consumer-groups --delete`` does; from 1.1 on.

        Raises:
            RehearsalError: One was refused.
        """
        for group in groups:
            answer = self._coordinator(group).ask(Api.DELETE_GROUPS, 0, array([string(group)]))
            answer.int32()  # throttle time
            answer.int32()  # one group
            answer.string()
            if code := answer.int16():
                raise refused(f"The deletion of group {group}", code)

    def forget(self, group: str, partitions: Iterable[Partition]) -> None:
        """Delete single offsets, as ``kafka-consumer-groups --delete-offsets`` does; from 2.4 on.

        Raises:
            RehearsalError: It was refused.
        """
        asked = array(string(topic) + array([int32(number)]) for topic, number in partitions)
        answer = self._coordinator(group).ask(Api.OFFSET_DELETE, 0, string(group) + asked)
        code, _throttled = answer.int16(), answer.int32()
        if code := code or _first_error(answer):
            raise refused(f"The deletion of offsets of group {group}", code)

    def _coordinator(self, group: str) -> BrokerLink:
        """Return the connection to a group's coordinator, cached; wait until there is one."""
        if group not in self._coordinators:
            self._coordinators[group] = _patiently(partial(self._serving, group), what=f"a coordinator of group {group}")
        return self._coordinators[group]

    def _serving(self, group: str) -> BrokerLink | None:
        _, address = find_coordinator(self._link(self._bootstrap[0]), group)
        if address is None or refusal(link := self._link(address), group):
            return None
        return link

    def _wait_known(self, link: BrokerLink, topics: Iterable[str]) -> None:
        """Wait until a coordinator knows newly created topics: it refuses commits for others."""
        for topic in topics:
            if (link, topic) not in self._known:
                _patiently(partial(_is_known, link, topic), what=f"topic {topic} to be known")
                self._known.add((link, topic))

    def _link(self, address: Address) -> BrokerLink:
        if address not in self._links:
            self._links[address] = self._closing.enter_context(BrokerLink(address, client=self._client))
        return self._links[address]


def fetch_offsets(bootstrap: str, group: str, partitions: Iterable[Partition]) -> dict[Partition, int | None]:
    """Return a group's committed offsets from a cluster: an offset by partition, ``None`` without a commit.

    Raises:
        RehearsalError: No broker serves the group within :data:`PATIENCE` seconds.
    """
    with Groups(bootstrap) as groups:
        return groups.fetch(group, partitions)


def _passes(link: BrokerLink, group: str, code: int) -> bool:
    """Return whether a commit was refused temporarily.

    Followers are too slow: the coordinator responds COORDINATOR_NOT_AVAILABLE (``GroupMetadataManager.scala@2.8.2``,
    ``storeOffsets``). Or all of the group has just expired and its removal is being written: until 2.2 the coordinator responds
    UNKNOWN_MEMBER_ID (``GroupCoordinator.scala@1.1.1``, ``doCommitOffsets``), as it does while a group has members.
    """
    if code == Code.UNKNOWN_MEMBER_ID:
        return not has_members(link, group)
    return code == Code.COORDINATOR_NOT_AVAILABLE


def _is_known(link: BrokerLink, topic: str) -> bool:
    answer = link.ask(Api.METADATA, 0, array([string(topic)]))
    for _ in range(answer.int32()):  # brokers
        answer.int32(), answer.string(), answer.int32()
    answer.int32()  # one topic
    return answer.int16() == Code.NONE


def leaders(address: Address, topics: Iterable[str]) -> dict[Partition, int]:
    """Return the leader of each partition in a broker's metadata; -1 for none."""
    found: dict[Partition, int] = {}
    with BrokerLink(address) as link:
        answer = link.ask(Api.METADATA, 0, array(map(string, topics)))
    for _ in range(answer.int32()):  # brokers
        answer.int32(), answer.string(), answer.int32()
    for _ in range(answer.int32()):
        _code, topic = answer.int16(), answer.string()
        for _ in range(answer.int32()):
            _code, number, leader = answer.int16(), answer.int32(), answer.int32()
            found[topic, number] = leader
            for _ in range(2):  # replicas, ISR
                for _ in range(answer.int32()):
                    answer.int32()
    return found


def _patiently(look: Callable[[], Found], *, what: str) -> Found:
    """Poll until there is a result, and return it."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > deadline:
            raise RehearsalError(f"Waited {PATIENCE:.0f} s in vain for {what}.")
        time.sleep(_POLL)
    return found


def _commit_body(commit: CommitRequest) -> bytes:
    metadata = string(commit.metadata)
    topics = []
    for topic, offsets in commit.offsets.items():
        topics += (string(topic), int32(len(offsets)))
        topics += [_OFFSET.pack(*offset) + metadata for offset in offsets.items()]
    retention = _RETENTION.pack(-1 if commit.retention_ms is None else commit.retention_ms)
    return b"".join((string(commit.group), _WITHOUT_MEMBER, retention, int32(len(commit.offsets)), *topics))


def _first_error(answer: ResponseReader) -> int:
    """Return the first error code of a response with one per partition and topic."""
    for _ in range(answer.int32()):
        answer.string()
        for _ in range(answer.int32()):
            answer.int32()
            if code := answer.int16():
                return code
    return 0
