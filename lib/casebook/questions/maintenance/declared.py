"""Declaration of notebook 30."""

from casebook.facts.observed import Source
from casebook.findings.declared import Area, Declaration
from casebook.questions.maintenance.analysis.drain import DrainRow
from casebook.questions.maintenance.analysis.leftovers import Leftover
from casebook.questions.maintenance.analysis.rows import RestartRow

QUESTION = Declaration(
    notebook="30_broker_maintenance",
    answers="maintenance",
    areas=(Area(name="maintenance", hurts=90, rests_on=Source.ZNODES, is_now=True),),
    explains={
        "maintenance.": "which brokers are safe to restart, and how to drain them",
    },
    tables={
        "restart_sets": RestartRow,
        "drain_plan": DrainRow,
        "leftovers": Leftover,
    },
    numbers={
        "maintenance.chosen": ("unsafe_steps",),
        "maintenance.restart_one": ("unsafe",),
        "maintenance.restart_pairs": ("unsafe",),
        "maintenance.unfinished_reassignments": ("nothing_to_move", "unknown_partition", "waits_for_dead"),
        "maintenance.unpreferred_leaders": ("not_preferred",),
        "maintenance.unregistered_replicas": ("partitions",),
        "maintenance.unremoved_throttles": ("count",),
    },
)
