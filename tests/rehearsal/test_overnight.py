"""The night between two samples, played again: what its script expects is what was shipped."""

import json

import pytest

from casebook.machine import places
from casebook.rehearsal.expected import expected
from tests.rehearsal import plays


@pytest.mark.parametrize(("phase", "sample"), [("evening", "overnight_before"), ("morning", "overnight")])
def test_it_leads_to_the_same_again(phase, sample):
    """By the truth of each play: only times and sizes differ."""
    truth = json.loads((plays.played("overnight", "0.9.0.1") / "truth.json").read_text())
    shipped = json.loads((places.samples_dir() / sample / "expected.json").read_text())
    assert json.loads(json.dumps(expected(truth, phase)["findings"])) == shipped["findings"]
