"""End of a broker's process according to its host: the kernel log, and Kubernetes."""

from casebook.facts.events import host_in
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import Indication
from casebook.questions.timeline.analysis.scene import TimelineInputs

_ENDS = ("process_killed", "container_ended")
_DONE = "Completed"


def killed(scene: TimelineInputs, broker: int | None, since: int, until: int) -> Indication | None:
    """Return the last forced end of a process on a broker's host in a period; ``None`` without a line.

    Its name does not prove that it was the broker: a host may run other Java processes, a pod other containers.
    """
    own = [row for row in scene.kinds(_ENDS, since, until) if host_in(row.file) == broker and row.fields.get("reason") != _DONE]
    return Indication(_words(own[-1]), own[-1].proof) if broker is not None and own else None


def _words(row: EventRow) -> str:
    if row.kind == "container_ended":
        return f"Kubernetes says that its container ended: {row.fields['reason']}, exit code {row.fields['exit_code']}"
    return f"The kernel of its host killed process {row.fields['pid']} ({row.fields['name']}) for want of memory"
