"""Declaration of notebook 40."""

from casebook.facts.observed import Source
from casebook.facts.offsets_topic import GroupBytes, GroupCommit, LostCommit, Segment, SegmentDamage
from casebook.findings.declared import Area, Declaration
from casebook.questions.offsets_topic.analysis.deletion import DeletionChoice
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition

QUESTION = Declaration(
    notebook="40_offsets_topic",
    answers="offsets_topic",
    areas=(Area(name="offsets_topic", hurts=60, rests_on=Source.LOG_DIRS),),
    explains={
        "offsets_topic.": "which groups fill it, why it is not compacted, which segments are safe to remove",
        "since.offsets_growth": "what makes it grow",
        "since.cleaner_point": "why it is not compacted",
    },
    tables={
        "offsets_partitions": OffsetsPartition,
        "offsets_segments": Segment,
        "group_bytes": GroupBytes,
        "commits": GroupCommit,
        "damage": SegmentDamage,
        "deletion": DeletionChoice,
        "lost_commits": LostCommit,
    },
    numbers={
        "offsets_topic.cleaner_map": ("segments",),
        "offsets_topic.damage": ("ranges",),
        "offsets_topic.dead_weight": ("bytes",),
        "offsets_topic.expiring": ("expired",),
        "offsets_topic.load_buffer": ("largest_batch",),
        "offsets_topic.missing_topics": ("topics",),
        "offsets_topic.open_transactions": ("records",),
        "offsets_topic.safe_segments": ("segments",),
        "offsets_topic.writers": ("groups",),
        "offsets_topic.decoded": ("unknown",),
        "offsets_topic.replicated": ("single",),
    },
    drifting=(
        "offsets_topic.dead_weight",
        "offsets_topic.writers",
        "offsets_topic.compacted",
        "offsets_topic.expiring",
        "offsets_topic.open_transactions",
    ),
)
