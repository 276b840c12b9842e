"""Declaration of notebook 05."""

from casebook.findings.declared import Declaration

QUESTION = Declaration(
    notebook="05_walkthrough",
)
