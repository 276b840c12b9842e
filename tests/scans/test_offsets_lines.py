"""What the offsets notebook hears of logs that several brokers write."""

from casebook.case.case import Case
from casebook.case.writer import CaseWriter
from casebook.kafka.release import release
from casebook.notebook.shared_evidence import SharedEvidence

SPEAKS = "[2026-11-20 10:00:0{second},000] INFO [Kafka Server {broker}], started (kafka.server.KafkaServer)\n"
FAILED = (
    "[2026-11-20 10:00:09,000] ERROR Failed to clean up log for __consumer_offsets-0 in dir /d due to IOException "
    "(kafka.server.LogDirFailureChannel)\n"
)


def test_a_clean_that_failed_and_no_line_tells_whose(tmp_path):
    """It is heard, as its partition may tell whose it was."""
    log = "".join(SPEAKS.format(second=second, broker=1 + second % 2) for second in range(8))
    with CaseWriter.create(tmp_path / "case", command="test") as case:
        case.file("brokers/1/logs/server.log", (log + FAILED).encode())
    case = Case.open(tmp_path / "case")
    shared = SharedEvidence(case, case.cluster(), release(case.cluster()), progress=lambda *_, **__: lambda *_: None)
    heard = shared.offsets(scan=False).events
    assert [(event.kind, event.topic) for event in heard if event.broker is None] == [("clean_failed", "__consumer_offsets")]
