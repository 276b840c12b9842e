"""Declaration of notebook 70."""

from casebook.facts.losses import ClassCount, CutRange, Estimate, LostRecord
from casebook.findings.declared import Area, Declaration
from casebook.questions.loss.analysis.divergence import Divergence
from casebook.questions.loss.analysis.unclean_price import UncleanPrice
from casebook.questions.loss.analysis.unprocessed_rows import CommitStep, Unprocessed

QUESTION = Declaration(
    notebook="70_message_loss",
    answers="message_loss",
    areas=(Area(name="loss", hurts=30),),
    explains={
        "timeline.unclean": "records of a dead broker that its leader lacks",
        "loss.": "which acknowledged records are lost, when and why",
    },
    adds_to={
        "timeline.two_leaders": "which acknowledged records are lost, when and why",
    },
    tables={
        "reconciliation": ClassCount,
        "lost": LostRecord,
        "cut_ranges": CutRange,
        "loss_estimates": Estimate,
        "divergence": Divergence,
        "unclean_price": UncleanPrice,
        "unprocessed": Unprocessed,
        "commit_steps": CommitStep,
    },
    numbers={
        "loss.commits_backwards": ("odd",),
        "loss.cut_ranges": ("ranges",),
        "loss.outside_every_window": ("records",),
        "loss.price_of_election": ("candidates",),
        "loss.replicas_agree": ("partitions",),
    },
    past=("loss.",),
)
