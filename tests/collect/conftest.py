"""A real ZooKeeper for each need, and a wire that can be watched and cut."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from casebook.rehearsal.processes import Guarded
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
