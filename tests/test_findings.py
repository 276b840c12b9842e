"""Findings: the contract with schedulers."""

import pytest

from casebook.findings import Completeness, Evidence, Finding, Severity, Status, at_or_above, completeness, worst, worst_first


def finding(check, status=Status.OK, severity=None):
    return Finding(check=check, question="?", status=status, severity=severity, title="t")


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
