"""Why another rule is not the one that blocks a partition's election."""

from casebook.facts.cluster import Cluster
from casebook.findings.words import brokers, capitalised
from casebook.kafka.partitions import ids
from casebook.kafka.verdict import RULES, Verdict

RULES_ASKED = {rule: RULES[rule] for rule in ("R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R10")}
"""Rules that the znodes of one case can prove."""

_ALSO = {"R1": "R3"}
"""Rules that are also true: a dead leader that is still named, in addition to a dead ISR."""


def why_not(given: str, verdict: Verdict, cluster: Cluster) -> str:
    """Return why the given rule is wrong, in one sentence from the evidence; ``""`` when it is right."""
    if given == verdict.rule or given == _ALSO.get(verdict.rule or ""):
        return ""
    name = f"{verdict.topic}-{verdict.partition}"
    alive = [broker for broker in verdict.isr or () if broker in cluster.live]
    controller = cluster.controller
    match given:
        case "R1":
            return f"The state of {name} names no leader: it is -1."
        case "R2" if controller.broker in cluster.live:
            return f"There is a controller: broker {controller.broker}, and it is alive."
        case "R3" if alive:
            return f"{capitalised(brokers(alive))} is in the ISR, and alive."
        case "R3" if verdict.unclean_allowed:
            return f"Unclean election is allowed for topic {verdict.topic}."
        case "R4" if not verdict.unclean_allowed:
            were = "" if verdict.live_replicas else " If it were allowed, this would be the rule: no replica is alive."
            return f"Unclean election is not allowed for topic {verdict.topic}.{were}"
        case "R4" if verdict.live_replicas:
            return f"A replica is alive: {ids(verdict.live_replicas)}."
        case "R5":
            return f"Its state was written under controller epoch {verdict.controller_epoch}; /controller_epoch is not older."
        case "R6":
            return f"It has a state: leader epoch {verdict.leader_epoch}."
        case "R7":
            return f"There is no request to delete {verdict.topic}."
        case "R8" | "R2" if not verdict.live_replicas:
            return "An election needs a living replica, and there is none."
        case "R8" | "R2" if not alive:
            return "An election needs a living ISR member, and there is none."
        case "R10" if not alive:
            return f"No ISR member of {name} is alive."
    return "The evidence contradicts this: compare its assignment, its ISR and the registered brokers."
