"""A reader of ZooKeeper: three questions, many of them in flight, and no verb that writes."""

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
"""Seconds. A server that is just starting may swallow a connection; kazoo tries again after this time, divided by the servers."""

_RECONNECT = {"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1.0}
_AT_ONCE = 0.5
"""Seconds in which a server that is there gives a session, as a rule."""

_NO_SESSION = "accepts connections but opens no ZooKeeper session"
_MOST_TOLD = 5
_FAREWELL = 1.0
"""Seconds for a server to let a session go, and again for its connection to end."""


class Verb(StrEnum):
    """What can be asked about a znode."""

    GET = "get"
    LIST = "list"
    STAT = "stat"


_QUESTIONS = {Verb.GET: GetData, Verb.LIST: GetChildren, Verb.STAT: Exists}


class ZnodeRequest(NamedTuple):
    """One question.

    Attributes:
        verb: What is asked.
        path: Below the chroot.
        listed: Its parent named it: when it is not there, it was a moment ago.
    """

    verb: Verb
    path: str
    listed: bool = False


class NoAnswerError(Exception):
    """ZooKeeper did not answer for longer than the caller wants to wait, or the collection's time is up; the text says so."""


class Reply(NamedTuple):
    """What ZooKeeper said to a request.

    Attributes:
        request: The question.
        value: (data, stat) for ``GET``, names for ``LIST``, stat or ``None`` for ``STAT``.
        error: Why there is no value.
    """

    request: ZnodeRequest
    value: Any = None
    error: Exception | None = None


class Reader:
    """An open connection to an ensemble; use :func:`connect`.

    Attributes:
        zxid: The last transaction that the server had applied when it answered last.
        sessions: Sessions opened so far.
    """

    def __init__(self, client: KazooClient, lane: LaneHandler, chroot: str, timeout: float) -> None:
        self.__client = client  # private to the letter: nobody else can reach a verb that writes
        self._lane = lane
        self._chroot = chroot
        self._patience = _Patience(timeout)
        self._to_ask: list[tuple[ZnodeRequest, int, bytes]] = []
        self._session = client.client_id
        self.zxid = 0
        self.sessions = 1

    def ask(self, request: ZnodeRequest) -> None:
        """Prepare a question; it leaves with the next wait for replies."""
        path = self._chroot + request.path if request.path != "/" else self._chroot or "/"
        question = _QUESTIONS[request.verb](path, None)
        self._to_ask.append((request, question.type, question.serialize()))

    def replies(self) -> Iterator[Reply]:
        """Send what was prepared, and wait for the next replies: in the order of asking as long as the connection holds.

        Raises:
            NoAnswerError: None came within the timeout, whatever connections were lost and found meanwhile.
        """
        if bounds.left() <= 0:  # also where answers come without end
            raise NoAnswerError(bounds.reason())
        self._lane.ask(self._to_ask)
        self._to_ask = []
        try:
            answers = self._lane.answers.get(timeout=self._patience.left())
        except queue.Empty:
            raise NoAnswerError(self._patience.gone(f"ZooKeeper did not answer for {self._patience.seconds:g} s")) from None
        for answer in answers:
            if answer.zxid > 0:
                self.zxid = self.__client.last_zxid = answer.zxid  # so that no server that lags behind is taken for the next
            if answer.error != ConnectionLoss.code:
                self._patience.renew()
            yield _reply(answer)

    def wait_for_connection(self) -> None:
        """Wait until kazoo has reconnected, with the old session or a new one.

        Raises:
            NoAnswerError: It did not within the timeout.
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
        """Ask one question and wait, through lost connections.

        Raises:
            NoAnswerError: No answer within the timeout.
            KazooException: What ZooKeeper says against the question.
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
    """How long answers are waited for: since the last one, not since the last of the connections that were lost meanwhile.

    A server that takes connections and never answers is lost by kazoo again and again; each of these waits alone has an end.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: float | None = None

    def left(self) -> float:
        """Seconds that are still waited, at most as long as the collection may last."""
        if self._since is None:
            self._since = time.monotonic()
        return max(0.0, min(self._since + self.seconds - time.monotonic(), bounds.left()))

    def renew(self) -> None:
        """An answer came; the next one is waited for from when it is asked for."""
        self._since = None

    def gone(self, why: str) -> str:
        """Why no longer is waited."""
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
        ensemble: Its chroot is not looked at here.
        timeout: Seconds to wait for a first connection, for a lost one to come back, and for any answer.
        credentials: To be presented, if any.

    Raises:
        CollectError: No server answered, or the credentials were refused.
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
    """End the session, but wait for no server that does not let go: kazoo waits for its thread, and that for an answer."""

    def leave() -> None:
        with suppress(Exception):  # that the server or kazoo's thread did not end in time; nothing more is asked of them
            client.stop()
            client.close()

    leaving = threading.Thread(target=leave, daemon=True)
    leaving.start()
    leaving.join(_FAREWELL)
    lane.hang_up()
    leaving.join(_FAREWELL)


def _start(client: KazooClient, ensemble: Ensemble, timeout: float, credentials: Credentials | None) -> None:
    """Wait for a session, but not where nobody can be there. Servers that give one at once are not disturbed by looking for them.

    Raises:
        CollectError: None came.
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
