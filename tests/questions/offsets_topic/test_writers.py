"""Who writes a partition, in one sentence above the picture."""

from dataclasses import fields

import pytest

from casebook.questions.offsets_topic.analysis.writers import Writer
from casebook.questions.offsets_topic.views import writers


def _of(share):
    told = dict.fromkeys(field.name for field in fields(Writer))
    return Writer(**told | {"group": "g", "bytes": round(1000 * share), "share": share})


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.999, 0.001), "One group of 2 writes 99.9 % of the bytes."),
        ((0.4, 0.3, 0.25, 0.03, 0.02), "3 of 5 groups write 95.0 % of the bytes, the first of them 40.0 %."),
        ((0.25,) * 4, "4 of 4 groups write 100.0 % of the bytes, the first of them 25.0 %."),
    ],
)
def test_who_writes_most(shares, said):
    """One group, or several together: none is named as if it alone wrote much."""
    assert writers._takeaway([_of(share) for share in shares]).replace("\N{NARROW NO-BREAK SPACE}", " ") == said
