"""A real ZooKeeper for each need, a wire that can be watched and cut, and cases of what somebody pasted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.rehearsal.servers.processes import Guarded
from tests.collect.small_zookeeper import ZooKeeper
from tests.collect.tapped_wire import Wire


@pytest.fixture(scope="session")
def shared_zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    """One server for all tests that do not hurt it; use :func:`zookeeper`."""
    guarded = Guarded()
    server = ZooKeeper(tmp_path_factory.mktemp("zookeeper"), guarded)
    yield server
    server.close()
    guarded.close()


@pytest.fixture
def zookeeper(shared_zookeeper: ZooKeeper, request: pytest.FixtureRequest) -> Iterator[ZooKeeper]:
    """The shared server, empty."""
    for child in shared_zookeeper.client.get_children("/"):
        if child != "zookeeper":
            shared_zookeeper.client.delete(f"/{child}", recursive=True)
    return shared_zookeeper


@pytest.fixture
def own_zookeeper(tmp_path: Path) -> Iterator[ZooKeeper]:
    """A server to be killed and frozen."""
    guarded = Guarded()
    folder = tmp_path / "zookeeper"
    folder.mkdir()
    server = ZooKeeper(folder, guarded)
    yield server
    server.close()
    guarded.close()


@pytest.fixture
def wire(zookeeper: ZooKeeper) -> Iterator[Wire]:
    """A proxy before the shared server."""
    proxy = Wire(zookeeper.port)
    yield proxy
    proxy.close()


@pytest.fixture
def case(tmp_path: Path) -> Callable[..., Case]:
    """Makes a case of pasted texts, and of what else is to be collected beside them."""

    def make(*texts: str, **others: object) -> Case:
        folder = tmp_path / f"case-{len(list(tmp_path.iterdir()))}"
        return Case.open(collect_case(folder, pasted="\n".join(texts).splitlines(), **others))

    return make
