"""Declaration of notebook 50."""

from casebook.facts.cluster import GroupOffset
from casebook.facts.observed import Source
from casebook.findings.declared import Area, Declaration
from casebook.questions.coordinators.analysis.rows import BlastRadius, CoordinatorRow

QUESTION = Declaration(
    notebook="50_group_coordinators",
    answers="coordinators",
    areas=(Area(name="coordinators", hurts=20, rests_on=Source.LOGS, is_now=True),),
    explains={
        "coordinators.": "which groups wait for which coordinator, and until when",
    },
    tables={
        "coordinators": CoordinatorRow,
        "blast_radius": BlastRadius,
        "group_offsets": GroupOffset,
    },
    risks=("coordinators.alone",),
    numbers={
        "coordinators.alone": ("partitions",),
        "coordinators.failed": ("partitions",),
        "coordinators.leaderless": ("partitions",),
        "coordinators.loading_for_ever": ("partitions",),
        "coordinators.log_lines": ("unreadable",),
        "coordinators.waiting": ("partitions",),
    },
)
