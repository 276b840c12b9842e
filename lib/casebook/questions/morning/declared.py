"""Declaration of notebook 90."""

from casebook.facts.observed import Source
from casebook.findings.changes import CheckChange
from casebook.findings.declared import Area, Declaration
from casebook.findings.past_runs import Measure

QUESTION = Declaration(
    notebook="90_scheduled_report",
    answers="everything",
    areas=(Area(name="since", hurts=70, rests_on=Source.HISTORY),),
    tables={
        "measures": Measure,
        "changes": CheckChange,
    },
    numbers={
        "since.cleaner_point": ("copies",),
        "since.controller": ("changes",),
        "since.offsets_growth": ("copies",),
    },
    past=("since.controller", "since.offsets_growth"),
)
