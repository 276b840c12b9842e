"""What notebook 05 declares of itself."""

from casebook.findings.declared import Declaration

QUESTION = Declaration(
    notebook="05_walkthrough",
)
