"""ZooKeeper's view of a played cluster's brokers, and the connection for it."""

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_PATIENCE = 90.0
_OWN_SESSION = 30.0
"""Session timeout of the rehearsing process, seconds, for a busy machine without a need to expire."""

_QUIET = logging.getLogger(__name__)
_QUIET.addHandler(logging.NullHandler())  # lost connections to ZooKeeper are the subject of rehearsals


def connect(address: str, chroot: str) -> "KazooClient":
    """Connect to the ZooKeeper at ``host:port``, with a chroot that is created when missing."""
    from kazoo.client import KazooClient

    client = KazooClient(hosts=address, timeout=_OWN_SESSION, logger=_QUIET)
    client.start(timeout=_PATIENCE)
    if chroot:
        client.ensure_path(chroot)
        client.chroot = chroot
    return client


def registered(client: "KazooClient") -> frozenset[int]:
    """Return ids under ``/brokers/ids``."""
    from kazoo.exceptions import NoNodeError

    try:
        return frozenset(map(int, client.get_children("/brokers/ids")))
    except NoNodeError:
        return frozenset()


def controller(client: "KazooClient") -> int | None:
    """Return the id in ``/controller``; ``None`` without one."""
    from kazoo.exceptions import NoNodeError

    try:
        return json.loads(client.get("/controller")[0])["brokerid"]
    except NoNodeError:
        return None


def holds(condition: Callable[[], bool]) -> bool:
    """Return whether a condition holds; one that cannot be evaluated while ZooKeeper is unavailable does not."""
    from kazoo.exceptions import ConnectionLoss, SessionExpiredError

    try:
        return condition()
    except (ConnectionLoss, SessionExpiredError):
        return False
