"""Walk over Kafka's znodes: all evidence by :mod:`~casebook.formats.zookeeper.kafka_tree`, with full stat.

A walk is not a snapshot, so it makes two passes. Every response has the last transaction (zxid) that the server had applied. When
it is the same at the end as at the start, nothing changed, and the walk *is* a snapshot. Otherwise the stat of every znode is
requested again: an unchanged one had its value at the moment between the two passes, and all of those together are a snapshot of
that moment. The others are read again and marked as changed. No watches are set: they would cost the server memory.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kazoo.exceptions import ConnectionLoss, NoAuthError, NoNodeError
from kazoo.protocol.states import ZnodeStat

from casebook.collect import bounds
from casebook.collect.zookeeper import chroots
from casebook.collect.zookeeper.ensemble import Credentials, Ensemble
from casebook.collect.zookeeper.reader import NoAnswerError, Reader, Reply, Verb, ZnodeRequest, connect
from casebook.facts.cluster import Cluster, Problem
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.formats.zookeeper import kafka_tree as tree
from casebook.formats.zookeeper.cluster import from_znodes

LARGEST_DATA = 2 << 20
"""Maximum bytes of a znode's data to keep; ZooKeeper's default limit is 1 MiB."""

_STRIKES = 3
_REACH = 6
"""Maximum duration of a reachability check, in timeouts: one response may be late, not each."""
_FEW = 32
"""Requests in flight for a mere reachability check."""

_PROGRESS_EVERY = 1000

Progress = Callable[[int, int], None]
"""Called with the number of responses so far and the estimated total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Result of a walk.

    Args:
        znodes: In order of path, each once.
        ensemble: As requested.
        problems: Unreadable parts of the tree, with the reason.
        answers: Number of responses.
        sessions: Number of sessions; more than one after an expiry.
        read_from: Start, epoch ms of this machine.
        read_to: End, epoch ms of this machine.
        gave_up: Reason why it is incomplete; ``None`` when complete.
    """

    znodes: tuple[Znode, ...]
    ensemble: Ensemble
    problems: tuple[Problem, ...]
    answers: int
    sessions: int
    read_from: int
    read_to: int
    gave_up: str | None = None


def walk(
    connect_string: str,
    *,
    window: int = 256,
    timeout: float = 15.0,
    credentials: Credentials | None = None,
    progress: Progress | None = None,
) -> Walk:
    """Read Kafka's znodes.

    Args:
        connect_string: ``host:port[,host:port]/chroot``.
        window: Maximum number of requests in flight, the load on ZooKeeper.
        timeout: Seconds to wait for a connection, for a reconnection, and for any response.
        credentials: Credentials, if any.
        progress: Receives the progress from time to time.

    Raises:
        UsageError: The connect string is invalid.
        CollectError: No server answers, the chroot does not exist or has no Kafka cluster, or the credentials are rejected.
    """
    ensemble = Ensemble.parse(connect_string)
    with connect(ensemble, timeout=timeout, credentials=credentials) as reader:
        chroots.check(reader, ensemble)
        return _Walker(reader, window, progress or (lambda _done, _estimate: None)).walk(ensemble)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A readable Kafka cluster.

    Args:
        said: Description in a few words.
        cluster: Its brokers and controller, and the marks of its release; of its topics only their own znodes.
    """

    said: str
    cluster: Cluster


def reach(connect_string: str, *, timeout: float = 5.0) -> Reached:
    """Read some twenty znodes of a Kafka cluster and one of each topic, to check access and the release.

    Raises:
        UsageError: The connect string is invalid.
        CollectError: It is unreadable.
    """
    ensemble = Ensemble.parse(connect_string)
    with bounds.lasting(_REACH * timeout), connect(ensemble, timeout=timeout) as reader:
        chroots.check(reader, ensemble)
        topics = reader.ask_one(Verb.STAT, tree.TOPICS)
        walk = _Walker(reader, _FEW, lambda _done, _estimate: None, states=False).walk(ensemble, tree.OF_RELEASE)
    cluster = from_znodes(walk.znodes, chroot=ensemble.chroot, not_collected=walk.problems)
    said = f"{ensemble}: {len(cluster.brokers)} brokers registered, {topics.numChildren if topics is not None else 0} topics"
    return Reached(said=said, cluster=cluster)


class _Walker:
    """One walk: a stack of requests, a window of them in flight, and the content of the responses."""

    def __init__(self, reader: Reader, window: int, progress: Progress, *, states: bool = True) -> None:
        self._reader = reader
        self._states = states
        self._window = window
        self._progress = progress
        self._start_zxid = reader.zxid
        self._to_ask: list[ZnodeRequest] = []  # a stack: the states of a topic are read right after the topic
        self._in_flight: dict[ZnodeRequest, None] = {}
        self._returned: list[ZnodeRequest] = []
        self._strikes = 0
        self._to_ask_alone = 0
        self._known: set[str] = set()
        self._znodes: dict[str, Znode] = {}
        self._problems: list[Problem] = []
        self._answers = 0
        self._offsets = 0
        self._topics = 0
        self._topics_read = 0
        self._asked_of_topics = 0

    def walk(self, ensemble: Ensemble, parts: Sequence[str] = tree.READ_WHOLE) -> Walk:
        """Read everything below some znodes, check again if something changed, and sort it."""
        read_from, gave_up = _now(), None
        try:
            self._look(parts)
        except NoAnswerError as silence:
            gave_up = str(silence)
            self._give_up(gave_up)
        else:
            self._look_again_if_anything_changed()
        self._let_states_vanish_with_their_topic()
        self._progress(self._answers, self._answers)
        return Walk(
            znodes=tuple(self._znodes[path] for path in sorted(self._znodes)),
            ensemble=ensemble,
            problems=tuple(sorted(self._problems, key=lambda problem: (problem.path, problem.reason))),
            answers=self._answers,
            sessions=self._reader.sessions,
            read_from=read_from,
            read_to=_now(),
            gave_up=gave_up,
        )

    def _look(self, parts: Sequence[str]) -> None:
        self._get_new(parts)
        self._to_ask += [ZnodeRequest(Verb.STAT, path) for path in tree.COUNTED]
        self._ask_all()

    def _look_again_if_anything_changed(self) -> None:
        if self._reader.zxid == self._start_zxid:
            return
        self._to_ask += [ZnodeRequest(Verb.STAT, path) for path in reversed(self._znodes)]
        try:
            self._ask_all()
        except NoAnswerError as silence:
            self._problems.append(Problem(path="/", reason=f"not all changes during the walk could be read: {silence}"))

    # Requests

    def _ask_all(self) -> None:
        while self._to_ask or self._in_flight:
            self._fill_window()
            for reply in self._reader.replies():
                del self._in_flight[reply.request]
                if isinstance(reply.error, ConnectionLoss):
                    self._returned.append(reply.request)
                else:
                    self._strikes, self._to_ask_alone = 0, max(0, self._to_ask_alone - 1)
                    self._understand(reply)
            if self._returned and not self._in_flight:
                self._ask_returned_again()

    def _fill_window(self) -> None:
        """Send requests up to the window: none while lost ones still return, then those one by one."""
        window = 0 if self._returned else 1 if self._to_ask_alone else self._window
        while self._to_ask and len(self._in_flight) < window:
            request = self._to_ask.pop()
            self._in_flight[request] = None
            self._reader.ask(request)

    def _ask_returned_again(self) -> None:
        """Repeat the requests that a lost connection returned, in order and one by one.

        A response over the server's or our size limit breaks the connection each time; this identifies it.
        """
        lost, self._returned = self._returned, []
        self._to_ask_alone = len(lost)
        self._strikes += 1
        if self._strikes > _STRIKES:
            self._strikes = 0
            reason = f"the connection was cut at each of {_STRIKES} attempts: its answer may exceed jute.maxbuffer"
            self._fail(lost.pop(0), reason)
        self._to_ask += reversed(lost)
        self._reader.wait_for_connection()

    def _get_new(self, paths: Iterable[str], *, listed: bool = False) -> int:
        """Queue znodes that were not yet requested, by priority, and return their number."""
        new = [path for path in paths if path not in self._known]
        self._known.update(new)
        self._to_ask += [ZnodeRequest(Verb.GET, path, listed) for path in reversed(new)]
        return len(new)

    # Responses

    def _understand(self, reply: Reply) -> None:
        self._answers += 1
        if self._answers % _PROGRESS_EVERY == 0:
            self._progress(self._answers, self._estimate())
        request = reply.request
        if reply.error is not None:
            self._refused(request, reply.error)
        elif request.verb is Verb.GET:
            self._got(request.path, *reply.value)
        elif request.verb is Verb.LIST:
            self._listed(request.path, reply.value)
        else:
            self._saw(request.path, reply.value)

    def _estimate(self) -> int:
        """Estimate the total number of responses; an unread topic counts like those read."""
        unread = (self._topics - self._topics_read) * self._asked_of_topics // max(1, self._topics_read)
        return self._answers + len(self._to_ask) + len(self._in_flight) + unread

    def _got(self, path: str, data: bytes | None, zk_stat: ZnodeStat) -> None:
        stat = _stat(zk_stat)
        outcome = ReadOutcome.CHANGED if max(zk_stat.mzxid, zk_stat.pzxid) > self._start_zxid else ReadOutcome.READ
        if data is not None and len(data) > LARGEST_DATA:
            data, outcome = None, ReadOutcome.TOO_LARGE
        self._keep(path, outcome, data=data, stat=stat)
        if tree.is_topic(path) and not self._states:
            return
        if tree.is_topic(path):
            self._to_ask.append(ZnodeRequest(Verb.LIST, tree.partitions_path(path)))
            self._topics_read += 1
            self._asked_of_topics += 1 + self._get_new(tree.assigned_states(path, data))
        elif zk_stat.numChildren and not tree.topic_of_state(path):
            self._to_ask.append(ZnodeRequest(Verb.LIST, path))

    def _listed(self, path: str, children: list[str]) -> None:
        if path.startswith(tree.CONSUMERS):
            self._listed_of_groups(path, sorted(filter(_is_name, children)))
        elif (topic := tree.topic_of_partitions(path)) is not None:
            self._get_new(tree.state_paths(topic, sorted(children)))
        else:
            new = self._get_new((f"{path}/{child}" for child in sorted(children) if _is_name(child)), listed=True)
            self._topics += new if path == tree.TOPICS else 0

    def _listed_of_groups(self, path: str, children: list[str]) -> None:
        """Follow the group offsets stored in ZooKeeper, up to a limit."""
        lists, reads = tree.below_group(path, children)
        room = tree.MOST_OFFSETS - self._offsets
        if len(lists) + len(reads) > room:
            self._problems.append(
                Problem(path=path, reason=f"has more offsets of groups than the {tree.MOST_OFFSETS:,} that are read")
            )
            lists, reads = lists[:room], reads[: max(0, room - len(lists))]
        self._offsets += len(lists) + len(reads)
        self._to_ask += [ZnodeRequest(Verb.LIST, below) for below in reversed(lists)]
        self._get_new(reads, listed=True)

    def _saw(self, path: str, zk_stat: ZnodeStat | None) -> None:
        """Store the stat of a znode that is only counted, or was read before."""
        stat = _stat(zk_stat) if zk_stat is not None else None
        before = self._znodes.get(path)
        if path in tree.COUNTED:
            self._keep(path, ReadOutcome.MISSING if stat is None else ReadOutcome.READ, stat=stat)
            if path == tree.CONSUMERS and before is None and stat is not None and stat.numChildren and self._states:
                self._to_ask.append(ZnodeRequest(Verb.LIST, path))
        elif stat is not None and (before is None or stat != before.stat):
            self._to_ask.append(ZnodeRequest(Verb.GET, path, listed=True))
        elif stat is None and before is not None and before.outcome is not ReadOutcome.MISSING:
            self._keep(path, ReadOutcome.VANISHED)

    def _refused(self, request: ZnodeRequest, error: Exception) -> None:
        gone = isinstance(error, NoNodeError)
        if request.verb is Verb.GET and gone:
            self._keep(request.path, ReadOutcome.VANISHED if request.listed else ReadOutcome.MISSING)
        elif request.verb is Verb.GET and isinstance(error, NoAuthError):
            self._keep(request.path, ReadOutcome.DENIED)
        elif not gone:
            self._fail(request, f"ZooKeeper refused: {type(error).__name__}")

    def _fail(self, request: ZnodeRequest, reason: str) -> None:
        if request.verb is Verb.GET:
            self._keep(request.path, ReadOutcome.FAILED)
        self._problems.append(Problem(path=request.path, reason=reason))

    def _keep(self, path: str, outcome: ReadOutcome, *, data: bytes | None = None, stat: Stat | None = None) -> None:
        self._znodes[path] = Znode(path=path, data=data, stat=stat, outcome=outcome, read_at=_now())

    # End

    def _give_up(self, reason: str) -> None:
        """Keep what was read; remaining requests fail, reported once for each part of the tree."""
        left = [*self._in_flight, *self._returned, *self._to_ask]
        for request in left:
            if request.verb is Verb.GET and request.path not in self._znodes:
                self._keep(request.path, ReadOutcome.FAILED)
        parts = Counter(tree.root_of(request.path) for request in left)
        self._problems += [Problem(path=part, reason=f"{reason}; questions left: {count}") for part, count in parts.items()]

    def _let_states_vanish_with_their_topic(self) -> None:
        gone = {path for path, znode in self._znodes.items() if znode.outcome is ReadOutcome.VANISHED and tree.is_topic(path)}
        for path, znode in self._znodes.items() if gone else ():
            if tree.topic_of_state(path) in gone and znode.outcome is ReadOutcome.MISSING:
                self._znodes[path] = znode._replace(outcome=ReadOutcome.VANISHED)


def _is_name(child: str) -> bool:
    """Return whether a server's word is a valid child name; kazoo rejects the others."""
    return child not in ("", ".", "..") and "/" not in child


def _stat(stat: ZnodeStat) -> Stat:
    return Stat(
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        pzxid=stat.pzxid,
        ctime=stat.ctime,
        mtime=stat.mtime,
        version=stat.version,
        cversion=stat.cversion,
        aversion=stat.aversion,
        ephemeralOwner=stat.ephemeralOwner,
        dataLength=stat.dataLength,
        numChildren=stat.numChildren,
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
