"""One Spark session for all tests of scans."""

import pytest

from tests.scans import written_logs


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.adaptive.enabled", "false").config("spark.sql.codegen.wholeStage", "false")
    session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Log dirs by version, written by real brokers: every format and codec."""
    return written_logs.write(tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="session")
def scanning(spark):
    """The session with our jars."""
    from casebook import scans

    return scans.session()
