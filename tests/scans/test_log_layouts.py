"""Layouts that people give: lines that log4j itself has laid out so are read back whole; what is no layout is refused."""

import subprocess
from pathlib import Path

import pyspark
import pytest

from casebook.errors import UsageError
from casebook.questions.timeline.scans import log_layouts, logs
from casebook.rehearsal.servers import jars as servers

AT = 1_709_637_009_042
LEVEL, LOGGER, THREAD = "WARN", "kafka.server.ReplicaManager", "data-plane-kafka-request-handler-3"
MESSAGE = "[ReplicaManager broker=2] Stopping serving replicas in dir /data/kafka"

WHOLE = [
    "%d %p %m (%c)%n",
    "%d{ISO8601} %-5p [%t] %c - %m%n",
    "%d{dd/MM/yyyy HH:mm:ss.SSS} | %p | %c | %m%n",
    "%d{MM/dd/yyyy hh:mm:ss,SSS a} %p %c{1} %t >> %m%n",
    "%d{MMM d, yyyy HH:mm:ss.SSS} [%p] <%c> %m%n",
    "%d{yyyyMMdd HHmmss SSS}#%p#%c#%t#%m%n",
    "%d{UNIX_MILLIS};%p;%c;%m%n",
    "%d{COMPACT} %p %m%n",
    "%d{DATE} %5p (%c:%L) %m%n",
    "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %c: %m%n",
    "%d{EEE MMM dd yyyy HH:mm:ss.SSS Z} %p %m%n",
    "%highlight{%d{yyyy.MM.dd-HH.mm.ss.SSS} %p}{WARN=red} %m [%c]%n",
    "%m << %c << %p << %d{HH:mm:ss,SSS dd-MM-yyyy}%n",
    "zone 7 / %r ms / %t / %d{dd.MM.yy HH:mm:ss.SSS} / %p / %m%n",
]
UNTIMED = ["%p %c: %m%n", "%d{ABSOLUTE} %p ~ %m%n"]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """A file for each layout, with what log4j prints in it, between two lines that are laid out as Kafka's own."""
    folder = tmp_path_factory.mktemp("laid-out")
    patterns = folder / "patterns"
    patterns.write_text("\n".join(WHOLE + UNTIMED))
    jars = f"{Path(pyspark.__file__).parent}/jars/*"
    command = [servers.java(), "-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=US", "-cp", jars]
    command += [str(Path(__file__).parent / "jvm" / "LaidOut.java"), str(patterns), str(AT), LEVEL, LOGGER, THREAD, MESSAGE]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\1")
    own = "[2024-03-05 11:10:09,042] INFO [KafkaServer id=2] shutting down (kafka.server.KafkaServer)\n"
    files = {}
    for number, layout in enumerate(WHOLE + UNTIMED):
        files[layout] = folder / f"{number}.log"
        files[layout].write_text(own + said[number] + own)
    return files


@pytest.mark.parametrize("layout", WHOLE + UNTIMED)
def test_what_log4j_laid_out_is_read_back(printed, layout):
    """Time, level, logger and message; lines in a layout that is found by itself are read as ever."""
    rows = list(logs.typed([(printed[layout], "UTC")], log_layouts.regex(layout)))
    first, told, last = (row for row in rows if row["row"] == "event")
    assert (first["kind"], last["kind"]) == ("broker_stopping", "broker_stopping")
    assert (told["kind"], told["level"], told["text"]) == ("log_dir_failed", LEVEL, MESSAGE)
    assert told["time"] == (None if layout in UNTIMED else AT)
    if "%c" in layout:
        assert LOGGER.endswith(told["logger"])


@pytest.mark.parametrize("layout", ["%d %p", "%m and %m", "%q %m", "%d{QQQ} %m", "%d{HH:mm}{Asia/Tokyo} %m"])
def test_what_is_no_layout_is_refused(layout):
    with pytest.raises(UsageError, match="log_layout="):
        log_layouts.regex(layout)


def test_none_is_none():
    assert log_layouts.regex("  ") is None
