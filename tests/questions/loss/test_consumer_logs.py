"""What consumers' own logs say."""

import pytest

from casebook.kafka.past_rows import EventRow
from casebook.questions.loss.analysis.consumer_logs import told
from casebook.questions.loss.analysis.unprocessed_rows import AssignmentLine, Reset


def row(line, offset, text, client="billing", partition=0):
    return EventRow(1000, 1000, "client", None, f"clients/{client}/logs/app.log", line, "consumer_reset", "t", partition,
               fields={"offset": str(offset)}, text=text)  # fmt: skip


def test_resets():
    """What was done stands for what was announced; an offset out of range is not where it goes on."""
    found = told([
        row(7, 900, "Fetch offset 900 is out of range for partition t-0, resetting offset"),
        row(8, 0, "Resetting offset for partition t-0 to offset 0."),
        row(9, 50, "Fetch offset 50 is out of range for partition t-1, resetting offset", partition=1),
    ]).resets  # fmt: skip
    assert found == (
        Reset("billing", "t", 0, 0, 1000, "clients/billing/logs/app.log:8"),
        Reset("billing", "t", 1, None, 1000, "clients/billing/logs/app.log:9"),
    )


@pytest.mark.parametrize(
    ("text", "partitions", "held"),
    [
        ("Setting newly assigned partitions [orders-0, a.b-c-12] for group billing", "[orders-0, a.b-c-12] for group billing", [("orders", 0), ("a.b-c", 12)]),
        ("Adding newly assigned partitions: orders-0", "orders-0", [("orders", 0)]),
        ("Adding newly assigned partitions: ", "", []),
        ("Revoking previously assigned partitions [orders-0] for group billing", "[orders-0] for group billing", []),
    ],
)  # fmt: skip
def test_assigned(text, partitions, held):
    """Of every release's wording; what is taken away is none."""
    line = EventRow(1000, 1000, "client", None, "clients/billing/logs/app.log", 7, "consumer_rebalancing", None, None,
               fields={"partitions": partitions}, text=text)  # fmt: skip
    assert told([line]).assigned == tuple(AssignmentLine("billing", *one, 1000, "clients/billing/logs/app.log:7") for one in held)
