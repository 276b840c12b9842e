"""Findings: the contract with schedulers."""

import pytest

from casebook.facts.evidence import Evidence
from casebook.facts.observed import Observation, Source
from casebook.findings.finding import (
    Completeness,
    Coverage,
    Finding,
    Severity,
    Status,
    at_or_above,
    completeness,
    worst,
    worst_first,
)


def finding(check, status=Status.OK, severity=None):
    whole = Coverage.counted(1, 1, "partition", Source.ZNODES)
    return Finding(check=check, question="?", status=status, severity=severity, title="t", coverage=whole)


FOUND = [
    finding("b"), finding("n", Status.NOT_APPLICABLE), finding("u", Status.COULD_NOT_CHECK),
    finding("i", Status.FINDING, Severity.INFO), finding("w", Status.FINDING, Severity.WARNING), finding("c", Status.FINDING, Severity.CRITICAL),
]  # fmt: skip


class TestFindings:
    @pytest.mark.parametrize(
        ("status", "severity"), [(Status.OK, Severity.INFO), (Status.FINDING, None), (Status.COULD_NOT_CHECK, Severity.INFO)]
    )
    def test_severity_belongs_to_a_finding(self, status, severity):
        """A severity without finding, or a finding without severity, cannot be made."""
        with pytest.raises(ValueError):
            finding("x", status, severity)

    @pytest.mark.parametrize(("seen", "of"), [(0, 0), (1, 2), (5, None)])
    def test_ok_needs_all_of_its_evidence(self, seen, of):
        """Nothing seen, a part seen, or a part of nobody knows how much: there is no way to say ok, whoever tries."""
        part = Coverage.counted(seen, of, "partition", Source.ZNODES)
        with pytest.raises(ValueError, match="ok needs all of its evidence"):
            Finding(check="x.y", question="?", status=Status.OK, title="t", coverage=part)

    def test_coverage_is_plain_json(self):
        """How many of how many, by what, as of when: for scripts, with times that they can read."""
        whole = Coverage(
            seen=3,
            of=3,
            what="partitions",
            by=(Source.ZNODES,),
            observed={Source.ZNODES: Observation(1_700_000_000_000, 1_700_000_001_500)},
        )
        assert whole.as_json() == {
            "seen": 3, "of": 3, "what": "partitions", "by": ["znodes"],
            "as_of": {"znodes": ["2023-11-14T22:13:20.000Z", "2023-11-14T22:13:21.500Z"]},
        }  # fmt: skip

    def test_worst_first(self):
        """Findings by severity, then what could not be checked, then what is well."""
        assert "".join(f.check for f in worst_first(FOUND)) == "cwiubn"

    def test_worst(self):
        """Only findings have a severity."""
        assert (worst(FOUND), worst(FOUND[:3])) == (Severity.CRITICAL, None)

    def test_completeness(self):
        """What could not be checked was asked all the same; what does not apply was not."""
        counted = completeness(FOUND)
        assert (counted, counted.asked) == (Completeness(ok=1, finding=3, could_not_check=1, not_applicable=1), 5)

    def test_threshold(self):
        """Critical is above warning, and nothing is above anything."""
        assert [at_or_above(s, Severity.WARNING) for s in (Severity.CRITICAL, Severity.WARNING, Severity.INFO, None)] == [
            True,
            True,
            False,
            False,
        ]

    def test_label(self):
        """The short form names the znode, else file and line."""
        assert Evidence(file="f", znode="/x").label == "/x"
        assert (Evidence(file="f", line=3).label, Evidence(file="f").label) == ("f:3", "f")
