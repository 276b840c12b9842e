"""Reachability and releases of the ensemble and the brokers."""

import re
from collections.abc import Iterator

from casebook.doctor.examined import Examined
from casebook.errors import CasebookError
from casebook.facts.cluster import Cluster
from casebook.findings.evidence import known_from
from casebook.kafka.release import release

PATIENCE = 2.5
"""Seconds to wait for ZooKeeper."""

_SERVER = re.compile(r"(?:\[[0-9a-fA-F:.%]+\]|[^\s\[\]:,/]+):\d{1,5}")
_WITHOUT_ZOOKEEPER = "nothing can be collected from it; a dump, ZooKeeper's own files or a paste can be (README)."
_WITHOUT_BROKERS = (
    "live topics cannot be read (`bootstrap` of notebook 70, kafka_topic). Everything else works: it needs only ZooKeeper."
)
_REACH = "Compare the addresses with the brokers' advertised.listeners. A firewall may be in between, or this is another network."
_NONE = "Start a broker, or check the chroot: it may belong to another cluster, or to none."


def ensemble(connect: str) -> Iterator[Examined]:
    """Examine an ensemble, its release marks, and its registered brokers."""
    from casebook.collect.zookeeper import ensemble, reachable, walk

    try:
        reached = walk.reach(connect, timeout=PATIENCE)
        servers = ensemble.Ensemble.parse(connect).servers
    except CasebookError as error:
        found = " ".join(filter(None, (error.what, error.cause)))
        yield Examined(
            what="ZooKeeper", ok=False, found=found, without=_WITHOUT_ZOOKEEPER, try_=error.try_ or "Check host, port and chroot."
        )
        return
    version = next(filter(None, map(reachable.zookeeper_version, servers[:1])), None)
    yield Examined(what="ZooKeeper", ok=True, found=f"{reached.said}; {f'release {version}' if version else 'release unknown'}")
    yield Examined(what="Kafka release", ok=True, found=_release(reached.cluster))
    yield _reached("Brokers", {str(id_): _addresses(reached.cluster, id_) for id_ in reached.cluster.brokers})


def brokers(bootstrap: str) -> Iterator[Examined]:
    """Examine given brokers."""
    servers = [server.strip() for server in bootstrap.split(",")]
    wrong = [server for server in servers if not _SERVER.fullmatch(server)]
    if wrong:
        found = f"{wrong[0]!r} is not host:port"
        yield Examined(what="Bootstrap", ok=False, found=found, without=_WITHOUT_BROKERS, try_="Use host:port[,host:port]...")
        return
    yield _reached("Bootstrap", {server: [server] for server in servers})


def _release(cluster: Cluster) -> str:
    known = release(cluster)
    if known.possible is None:
        return "not in the znodes; add logs or server.properties, or set -p kafka_version"
    return f"{known.version}, {known_from(known)}"


def _addresses(cluster: Cluster, id_: int) -> list[str]:
    """Return the addresses of a broker's listeners."""
    broker = cluster.brokers[id_]
    listed = [endpoint.partition("://")[2] for endpoint in broker.endpoints]
    named = [address for address in listed if not address.startswith(":")]
    return named or ([f"{broker.host}:{broker.port}"] if broker.host and broker.port else [])


def _reached(what: str, addresses: dict[str, list[str]]) -> Examined:
    """Check that every address of every broker accepts a connection."""
    from casebook.collect.zookeeper import reachable

    if not addresses:
        return Examined(what=what, ok=False, found="none is registered", without=_WITHOUT_BROKERS, try_=_NONE)
    why_not = reachable.why_not(address for listed in addresses.values() for address in listed)
    closed = [
        f"{name} at {address}: {why_not[address]}" if name != address else f"{address}: {why_not[address]}"
        for name, listed in addresses.items()
        for address in listed
        if why_not[address]
    ]
    there = len([name for name, listed in addresses.items() if listed and not any(why_not[address] for address in listed)])
    found = f"{there} of {len(addresses)} take connections" + "".join(f"; {said}" for said in closed)
    return Examined(what=what, ok=there == len(addresses), found=found, without=_WITHOUT_BROKERS, try_=_REACH)
