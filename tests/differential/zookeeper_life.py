"""What happens to a real ZooKeeper's tree in two seconds: every kind of change, an expired session, and then so much at once
that it begins new logs and writes snapshots while it goes on."""

import socket
import struct
import time
from collections.abc import Iterator

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoNodeError, RolledBackError
from kazoo.security import OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, make_acl

from casebook.facts.znodes import Stat, Znode
from casebook.formats.zookeeper.records import OPEN
from tests.formats.zookeeper_bytes import acls, buffer, integer, long, text

SNAPSHOT_AFTER = 700
_MANY = 1000
_NAMES = 100
_CREATE, _EPHEMERAL = 1, 1
_PATIENCE = 90.0


def live(address: str, client: KazooClient, *, create2: bool) -> None:
    """Make every change that a client can ask for.

    Args:
        address: Of the server.
        client: Connected to it.
        create2: The server knows the creation that answers with a stat, of 3.5 and later.
    """
    _change(client, create2)
    _refuse(client)
    _close(address)
    _expire(address, client)
    _change_much(client)


def walk(client: KazooClient, path: str = "/") -> Iterator[Znode]:
    """The whole tree as a client is told, each znode before its children."""
    data, stat = client.get(path)
    yield Znode(path=path, data=data, stat=_stat(stat))
    for name in client.get_children(path):
        yield from walk(client, f"{path.rstrip('/')}/{name}")


def _stat(found: object) -> Stat:
    return Stat(**found._asdict())


def _change(client: KazooClient, create2: bool) -> None:
    client.create("/a", b"one")
    client.create("/a/null", None)
    client.create("/a/empty", b"")
    client.create("/a/ü ö", "ä".encode())
    client.create("/a/with-stat", b"x", include_data=create2)
    client.create("/a/in-sequence-", b"", sequence=True)
    client.create("/a/of-mine", b"", ephemeral=True)
    client.create("/a/guarded", b"", acl=[make_acl("digest", "bob:hash", read=True), *READ_ACL_UNSAFE])
    client.set("/a", b"two")
    client.set("/a/empty", b"x" * 3000)
    client.set_acls("/a/empty", [make_acl("ip", "127.0.0.1", all=True)])
    client.set_acls("/a/empty", OPEN_ACL_UNSAFE)
    client.delete("/a/null")
    with client.transaction() as together:
        together.create("/a/m", b"m")
        together.create("/a/m/e", b"", ephemeral=True)
        together.set_data("/a/m", b"n")
        together.check("/a/m", 1)
        together.delete("/a/with-stat")


def _refuse(client: KazooClient) -> None:
    """What is refused is logged, too: a multi with an error for each part, and a single request as an error."""
    for refused in (BadVersionError, NoNodeError):
        together = client.transaction()
        together.create("/never")
        if refused is BadVersionError:
            together.check("/a", 77)
        else:
            together.delete("/nowhere")
        together.set_data("/a", b"never")
        assert [type(result) for result in together.commit()][:2] == [RolledBackError, refused]
    for request in (lambda: client.set("/a", b"never", version=77), lambda: client.delete("/nowhere")):
        try:
            request()
        except (BadVersionError, NoNodeError):
            continue


def _close(address: str) -> None:
    other = KazooClient(address, timeout=10)
    other.start()
    other.create("/a/of-others", b"", ephemeral=True)
    other.create("/b", b"")
    other.create("/b/of-others", b"", ephemeral=True)
    other.stop()
    other.close()


def _expire(address: str, client: KazooClient) -> None:
    """A session whose client is gone without a word."""
    host, port = address.split(":")
    path = "/a/of-the-late"
    with socket.create_connection((host, int(port))) as link:
        link.sendall(buffer(integer(0) + long(0) + integer(1000) + long(0) + buffer(bytes(16))))
        _answer(link)
        link.sendall(buffer(integer(1) + integer(_CREATE) + text(path) + buffer(b"") + acls(*OPEN) + integer(_EPHEMERAL)))
        _answer(link)
    assert client.exists(path)
    deadline = time.monotonic() + _PATIENCE
    while client.exists(path):
        assert time.monotonic() < deadline, "the session did not expire"
        time.sleep(0.05)


def _answer(link: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", link.recv(4, socket.MSG_WAITALL))
    return link.recv(size, socket.MSG_WAITALL)


def _change_much(client: KazooClient) -> None:
    """Create, change and delete the same few names over and over, without waiting: snapshots get fuzzy."""
    client.create("/much", b"")
    pending = []
    for number in range(_MANY):
        path = f"/much/{number % _NAMES}"
        match number // _NAMES % 4:
            case 0:
                pending.append(client.create_async(path, str(number).encode()))
            case 1:
                pending.append(client.set_async(path, str(number).encode()))
            case 2:
                pending.append(client.create_async(f"{path}/below", b"", ephemeral=number % 2 == 0))
            case 3:
                pending.append(client.delete_async(f"{path}/below"))
                pending.append(client.delete_async(path))
    for one in pending:
        one.get(_PATIENCE)
