"""Read-only ZooKeeper client: three kinds of request, many of them in flight, and no verb that writes."""

import queue
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ConnectionLoss, KazooException, MarshallingError, NoNodeError
from kazoo.protocol.connection import PURESASL_AVAILABLE
from kazoo.protocol.serialization import Exists, GetChildren, GetData

from casebook.collect import bounds
from casebook.collect.zookeeper import reachable
from casebook.collect.zookeeper.ensemble import Credentials, Ensemble
from casebook.collect.zookeeper.wire import SILENT, LaneHandler, WireAnswer
from casebook.errors import CollectError

_SESSION_TIMEOUT = 6.0
"""Seconds. A starting server may swallow a connection; kazoo retries after this time, divided by the servers."""

_RECONNECT = {"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1.0}
_AT_ONCE = 0.5
"""Seconds in which a running server normally grants a session."""

_NO_SESSION = "accepts connections but opens no ZooKeeper session"
_MOST_TOLD = 5
_FAREWELL = 1.0
"""Seconds for a server to close a session, and again for its connection to end."""


class Verb(StrEnum):
    """Kind of a request."""

    GET = "get"
    LIST = "list"
    STAT = "stat"


_QUESTIONS = {Verb.GET: GetData, Verb.LIST: GetChildren, Verb.STAT: Exists}


class ZnodeRequest(NamedTuple):
    """One request.

    Attributes:
        verb: Kind.
        path: Below the chroot.
        listed: Its parent listed it: if it does not exist, it was deleted just now.
    """

    verb: Verb
    path: str
    listed: bool = False


class NoAnswerError(Exception):
    """ZooKeeper did not answer within the timeout, or the collection's time is up; the message says so."""


class Reply(NamedTuple):
    """ZooKeeper's response to a request.

    Attributes:
        request: The request.
        value: (data, stat) for ``GET``, names for ``LIST``, stat or ``None`` for ``STAT``.
        error: Reason for a missing value.
    """

    request: ZnodeRequest
    value: Any = None
    error: Exception | None = None


class Reader:
    """An open connection to an ensemble; use :func:`connect`.

    Attributes:
        zxid: Last transaction that the server had applied at its last response.
        sessions: Number of sessions opened so far.
    """

    def __init__(self, client: KazooClient, lane: LaneHandler, chroot: str, timeout: float) -> None:
        self.__client = client  # name-mangled: no other code can reach a verb that writes
        self._lane = lane
        self._chroot = chroot
        self._patience = _Patience(timeout)
        self._to_ask: list[tuple[ZnodeRequest, int, bytes]] = []
        self._session = client.client_id
        self.zxid = 0
        self.sessions = 1

    def ask(self, request: ZnodeRequest) -> None:
        """Queue a request; it is sent on the next wait for replies."""
        path = self._chroot + request.path if request.path != "/" else self._chroot or "/"
        question = _QUESTIONS[request.verb](path, None)
        self._to_ask.append((request, question.type, question.serialize()))

    def replies(self) -> Iterator[Reply]:
        """Send queued requests, and yield the next replies: in request order as long as the connection lasts.

        Raises:
            NoAnswerError: None arrived within the timeout, across all reconnections.
        """
        if bounds.left() <= 0:  # also when responses never end
            raise NoAnswerError(bounds.reason())
        self._lane.ask(self._to_ask)
        self._to_ask = []
        try:
            answers = self._lane.answers.get(timeout=self._patience.left())
        except queue.Empty:
            raise NoAnswerError(self._patience.gone(f"ZooKeeper did not answer for {self._patience.seconds:g} s")) from None
        for answer in answers:
            if answer.zxid > 0:
                self.zxid = self.__client.last_zxid = answer.zxid  # so that no lagging server is accepted for the next session
            if answer.error != ConnectionLoss.code:
                self._patience.renew()
            yield _reply(answer)

    def wait_for_connection(self) -> None:
        """Wait until kazoo is reconnected, with the old session or a new one.

        Raises:
            NoAnswerError: It did not reconnect within the timeout.
        """
        while not self.__client.connected:
            if self._patience.left() <= 0:
                gone = f"ZooKeeper was lost and did not come back within {self._patience.seconds:g} s"
                raise NoAnswerError(self._patience.gone(gone))
            time.sleep(0.02)
        session = self.__client.client_id
        if session is not None and session != self._session:
            self._session = session
            self.sessions += 1

    def ask_one(self, verb: Verb, path: str) -> Any:
        """Send one request and wait, across reconnections.

        Raises:
            NoAnswerError: No answer within the timeout.
            KazooException: ZooKeeper's error for the request.
        """
        while True:
            self.ask(ZnodeRequest(verb, path))
            (reply,) = self.replies()
            if reply.error is None:
                return reply.value
            if not isinstance(reply.error, ConnectionLoss):
                raise reply.error
            self.wait_for_connection()


class _Patience:
    """Timeout for responses: since the last one, not since the last reconnection.

    kazoo loses a server that accepts connections and never responds again and again; each of these waits alone is finite.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: float | None = None

    def left(self) -> float:
        """Return the remaining seconds, at most those of the collection."""
        if self._since is None:
            self._since = time.monotonic()
        return max(0.0, min(self._since + self.seconds - time.monotonic(), bounds.left()))

    def renew(self) -> None:
        """Restart the timeout after a response; the next one counts from its request."""
        self._since = None

    def gone(self, why: str) -> str:
        """Return why the wait ended."""
        return bounds.reason() if bounds.left() <= 0 else why


def _reply(answer: WireAnswer) -> Reply:
    request: ZnodeRequest = answer.token
    if answer.error == NoNodeError.code and request.verb is Verb.STAT:
        return Reply(request)
    if answer.error:
        return Reply(request, error=EXCEPTIONS.get(answer.error, KazooException)())
    try:
        return Reply(request, _QUESTIONS[request.verb].deserialize(answer.body, 0))
    except (ValueError, struct.error):
        return Reply(request, error=MarshallingError())


@contextmanager
def connect(ensemble: Ensemble, *, timeout: float, credentials: Credentials | None = None) -> Iterator[Reader]:
    """Open a session for reading.

    Args:
        ensemble: Servers; the chroot is not checked here.
        timeout: Seconds to wait for a first connection, for a reconnection, and for any response.
        credentials: Credentials, if any.

    Raises:
        CollectError: No server answered, or the credentials were rejected.
    """
    authentication = _authentication(credentials)
    lane = LaneHandler()
    client = KazooClient(
        [*ensemble.servers],
        timeout=_SESSION_TIMEOUT,
        handler=lane,
        connection_retry=_RECONNECT,
        logger=SILENT,
        **authentication,
    )
    try:
        _start(client, ensemble, timeout, credentials)
        yield Reader(client, lane, ensemble.chroot, timeout)
    finally:
        _take_leave(client, lane)


def _take_leave(client: KazooClient, lane: LaneHandler) -> None:
    """Close the session without waiting for an unresponsive server: kazoo waits for its thread, and that for a response."""

    def leave() -> None:
        with suppress(Exception):  # the server or kazoo's thread did not end in time; nothing more is requested of them
            client.stop()
            client.close()

    leaving = threading.Thread(target=leave, daemon=True)
    leaving.start()
    leaving.join(_FAREWELL)
    lane.hang_up()
    leaving.join(_FAREWELL)


def _start(client: KazooClient, ensemble: Ensemble, timeout: float, credentials: Credentials | None) -> None:
    """Wait for a session, but fail early when no server can be up. A server that grants one at once is not probed.

    Raises:
        CollectError: No session was granted.
    """
    deadline = time.monotonic() + min(timeout, bounds.left())
    connected = client.start_async()
    if not connected.wait(min(timeout, _AT_ONCE)) and (refused := reachable.nobody(ensemble.servers)):
        raise _unreachable(refused, "No ZooKeeper server answered.", credentials)
    connected.wait(max(0.0, deadline - time.monotonic()))
    if not client.connected:
        told = reachable.why_not(ensemble.servers)
        within = f"No ZooKeeper server answered within {timeout:g} s."
        what = within if bounds.left() > 0 else f"No ZooKeeper server answered, and {bounds.reason()}."
        raise _unreachable(told, what, credentials)


def _authentication(credentials: Credentials | None) -> dict[str, Any]:
    if credentials is None:
        return {}
    if credentials.scheme == "digest":
        return {"auth_data": [("digest", f"{credentials.username}:{credentials.password}")]}
    if not PURESASL_AVAILABLE:
        raise CollectError("SASL needs a package that is not installed.", try_="pip install pure-sasl")
    options = {"mechanism": credentials.mechanism, "username": credentials.username, "password": credentials.password}
    return {"sasl_options": options}


def _unreachable(told: Mapping[str, str | None], what: str, credentials: Credentials | None) -> CollectError:
    seen = "; ".join(f"{server}: {why or _NO_SESSION}" for server, why in islice(told.items(), _MOST_TOLD))
    return CollectError(
        what,
        cause=f"Tried {seen}.",
        try_="Check host and port (a Kafka broker's own port is not ZooKeeper's), and that this machine may connect"
        + (", and the credentials." if credentials else "."),
    )
