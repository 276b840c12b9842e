"""Declaration of notebook 80."""

from casebook.facts.observed import Source
from casebook.findings.declared import Area, Declaration
from casebook.questions.durability.analysis.rows import ClientRow, Difference, Exposure, IsrAlone, LossVerdict, SettingRow
from casebook.questions.durability.analysis.rules import RULES

QUESTION = Declaration(
    notebook="80_durability_audit",
    answers="durability",
    areas=(Area(name="durability", hurts=80, rests_on=Source.ZNODES, is_setup=True),),
    explains={
        "durability.": "which failures lose records, and the smallest change that prevents it",
    },
    tables={
        "settings": SettingRow,
        "loss_verdicts": LossVerdict,
        "client_settings": ClientRow,
        "single_copies": Exposure,
        "isr_alone": IsrAlone,
        "audit_changes": Difference,
    },
    rules={rule.id: rule.says for rule in RULES.values()},
    numbers={
        "durability.acknowledged": ("topics",),
        "durability.brokers_agree": ("settings",),
        "durability.in_short": ("topics",),
        "durability.isr_alone": ("partitions",),
    },
    past=("durability.isr_alone",),
)
