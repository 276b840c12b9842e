"""Declaration of notebook 20."""

from casebook.facts.observed import Source
from casebook.findings.declared import Area, Declaration
from casebook.kafka.verdict import RULES, Verdict
from casebook.questions.leadership.analysis.leadership import ControllerEpoch
from casebook.questions.leadership.analysis.start_first import StartChoice
from casebook.questions.leadership.analysis.what_if import PartitionChange

QUESTION = Declaration(
    notebook="20_partition_leadership",
    answers="leadership",
    areas=(Area(name="leadership", hurts=10, rests_on=Source.ZNODES, is_now=True),),
    explains={
        "leadership.": "which partition, which rule, what if",
    },
    tables={
        "partitions": Verdict,
        "start_first": StartChoice,
        "controller_epochs": ControllerEpoch,
        "what_if": PartitionChange,
    },
    rules=RULES,
    risks=("leadership.at_min_isr", "leadership.unclean_allowed"),
    numbers={
        "leadership.brokers": ("dead",),
        "leadership.controller_epoch": ("newer",),
        "leadership.deleting": ("topics",),
        "leadership.isr_in_assignment": ("disagree",),
        "leadership.unclean_allowed": ("topics",),
        "leadership.unclean_price": ("could_elect",),
    },
)
