"""Whether a question can be asked: by the outcome of the check that answers it."""

from collections.abc import Iterable

from casebook.findings.finding import Finding, Status


def gate(findings: Iterable[Finding], *checks: str) -> dict[str, str]:
    """Return why a question cannot be judged or does not apply, for :class:`.quiz.QuizQuestion`; empty when it can be asked.

    Args:
        findings: Findings of a notebook.
        checks: The first must be a finding, the others must not be in doubt.
    """
    found = {finding.check: finding for finding in findings}
    for check in checks:
        if check not in found or found[check].status is Status.COULD_NOT_CHECK:
            return {"cannot_tell": _sentence(found[check]) if check in found else f"{check} was not checked."}
    subject = found[checks[0]]
    return {} if subject.status is Status.FINDING else {"not_asked": f"{subject.title.removesuffix('.')}."}


def _sentence(finding: Finding) -> str:
    return " ".join(f"{part.removesuffix('.')}." for part in (finding.title, finding.why) if part)


def known(value: object, why: str) -> dict[str, str]:
    """Return that a question cannot be judged when its answer is ``None``."""
    return {"cannot_tell": why} if value is None else {}
