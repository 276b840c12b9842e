"""Where clients' own logs say that they went on from."""

from casebook.analysis.client_resets import resets
from casebook.analysis.timeline_rows import Row
from casebook.analysis.unprocessed_rows import Reset


def row(line, offset, text, client="billing", partition=0):
    return Row(1000, 1000, "client", None, f"clients/{client}/logs/app.log", line, "consumer_reset", "t", partition,
               fields={"offset": str(offset)}, text=text)  # fmt: skip


def test_resets():
    """What was done stands for what was announced; an offset out of range is not where it goes on."""
    found = resets([
        row(7, 900, "Fetch offset 900 is out of range for partition t-0, resetting offset"),
        row(8, 0, "Resetting offset for partition t-0 to offset 0."),
        row(9, 50, "Fetch offset 50 is out of range for partition t-1, resetting offset", partition=1),
    ])  # fmt: skip
    assert found == (
        Reset("billing", "t", 0, 0, 1000, "clients/billing/logs/app.log:8"),
        Reset("billing", "t", 1, None, 1000, "clients/billing/logs/app.log:9"),
    )
