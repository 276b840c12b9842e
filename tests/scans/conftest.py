"""What the tests of scans share."""

import pytest

from tests.scans import written_logs


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Log dirs by version, written by real brokers: every format and codec."""
    return written_logs.write(tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="session")
def scanning(spark):
    """A session that runs already, handed to us: it is taken as it is."""
    from casebook import spark as scans

    assert scans.session() is spark
    return spark
