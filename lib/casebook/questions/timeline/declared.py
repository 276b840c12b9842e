"""Declaration of notebook 60."""

from casebook.facts.events import Untyped
from casebook.facts.host_metrics import HostSample
from casebook.facts.observed import Source
from casebook.findings.declared import Area, Declaration
from casebook.kafka.past_rows import EventRow, StateRow, Window
from casebook.questions.timeline.analysis.causes.host_clues import Clue

QUESTION = Declaration(
    notebook="60_incident_timeline",
    answers="timeline",
    areas=(Area(name="timeline", hurts=40, first=("timeline.unclean_elections", "timeline.leaderless"), rests_on=Source.LOGS),),
    explains={
        "timeline.": "what happened in which order, and what caused what",
        "since.isr_flapping": "which replicas lag, and when",
        "since.controller": "why the controller moved",
    },
    tables={
        "events": EventRow,
        "windows": Window,
        "partition_history": StateRow,
        "host_samples": HostSample,
        "host_clues": Clue,
        "untyped": Untyped,
    },
    numbers={
        "timeline.leaderless": ("windows",),
        "timeline.root": ("chains",),
        "timeline.unclean_elections": ("elections",),
        "timeline.two_leaders": ("windows",),
        "timeline.under_min_isr": ("windows",),
        "timeline.unknown_requests": ("requests",),
        "timeline.untyped": ("grave",),
        "timeline.clocks": ("off",),
        "timeline.owners": ("misplaced",),
    },
    past=("timeline.",),
)
