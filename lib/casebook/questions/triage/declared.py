"""Declaration of notebook 10."""

from casebook.findings.declared import Area, Declaration
from casebook.questions.triage.analysis.plan_rows import PlanStep

QUESTION = Declaration(
    notebook="10_triage",
    areas=(Area(name="log_dirs", hurts=50),),
    tables={
        "plan": PlanStep,
    },
)
