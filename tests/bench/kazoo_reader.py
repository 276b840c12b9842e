"""The peer of our ZooKeeper client: kazoo's own asynchronous calls over several connections, for the same walk.

It has what a walk asks of :class:`casebook.collect.zookeeper.reader.Reader`, without its timeouts and reconnections. Only the three
calls that read can be reached.
"""

import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.interfaces import IAsyncResult

from casebook.collect.zookeeper.ensemble import Ensemble
from casebook.collect.zookeeper.reader import Reply, Verb, ZnodeRequest


class KazooReader:
    """Requests go to the connections in turn.

    Attributes:
        zxid: Last transaction that any server had applied at a response.
        sessions: Number of connections.
    """

    def __init__(self, clients: list[KazooClient]) -> None:
        calls = {Verb.GET: "get_async", Verb.LIST: "get_children_async", Verb.STAT: "exists_async"}
        self.__calls = {verb: cycle([getattr(client, call) for client in clients]) for verb, call in calls.items()}
        self.__clients = clients
        self._answers: queue.SimpleQueue[tuple[ZnodeRequest, IAsyncResult]] = queue.SimpleQueue()
        self.sessions = len(clients)

    @property
    def zxid(self) -> int:
        """As of all connections."""
        return max(client.last_zxid for client in self.__clients)

    def ask(self, request: ZnodeRequest) -> None:
        """Send a request."""
        next(self.__calls[request.verb])(request.path).rawlink(partial(self._answered, request))

    def _answered(self, request: ZnodeRequest, result: IAsyncResult) -> None:
        self._answers.put((request, result))

    def replies(self) -> Iterator[Reply]:
        """Wait for a response, and yield it with those that have arrived with it."""
        for number in range(sys.maxsize):
            try:
                request, result = self._answers.get(block=number == 0)
            except queue.Empty:
                return
            try:
                yield Reply(request, result.get_nowait())
            except KazooException as error:
                yield Reply(request, error=error)


@contextmanager
def connected(ensemble: Ensemble, connections: int) -> Iterator[KazooReader]:
    """Open as many sessions."""
    clients = [KazooClient([*ensemble.servers]) for _ in range(connections)]
    try:
        for client in clients:
            client.start()
        yield KazooReader(clients)
    finally:
        for client in clients:
            client.stop()
            client.close()
