"""What ZooKeeper says of the brokers of a played cluster, and the connection over which it is asked."""

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_PATIENCE = 90.0
_OWN_SESSION = 30.0
"""Seconds of the session of whoever rehearses, who has a busy machine to share and nothing to be given up for."""

_QUIET = logging.getLogger(__name__)
_QUIET.addHandler(logging.NullHandler())  # a lost connection to ZooKeeper is what rehearsals are about


def connect(address: str, chroot: str) -> "KazooClient":
    """A connection to the ZooKeeper at ``host:port``, whose paths begin at a chroot that is made if it is not there."""
    from kazoo.client import KazooClient

    client = KazooClient(hosts=address, timeout=_OWN_SESSION, logger=_QUIET)
    client.start(timeout=_PATIENCE)
    if chroot:
        client.ensure_path(chroot)
        client.chroot = chroot
    return client


def registered(client: "KazooClient") -> frozenset[int]:
    """Ids under ``/brokers/ids``."""
    from kazoo.exceptions import NoNodeError

    try:
        return frozenset(map(int, client.get_children("/brokers/ids")))
    except NoNodeError:
        return frozenset()


def controller(client: "KazooClient") -> int | None:
    """Id in ``/controller``; ``None`` when there is none."""
    from kazoo.exceptions import NoNodeError

    try:
        return json.loads(client.get("/controller")[0])["brokerid"]
    except NoNodeError:
        return None


def holds(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds; one that cannot be looked at, because ZooKeeper is away, does not."""
    from kazoo.exceptions import ConnectionLoss, SessionExpiredError

    try:
        return condition()
    except (ConnectionLoss, SessionExpiredError):
        return False
