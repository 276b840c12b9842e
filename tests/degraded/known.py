"""Classes of contradictions that are not mended yet: each by the removal that shows it and the checks that answer otherwise.

Each is a test that must fail. One that passes is mended: take it out of here.
"""

from typing import NamedTuple


class Known(NamedTuple):
    """A class that does not hold yet.

    Args:
        text: The smallest degradation that shows it.
        checks: That answer otherwise.
        why: What is at fault.
    """

    text: str
    checks: tuple[str, ...]
    why: str


_FEWER = "topics that could not be judged are missing from the counts"
_OLD_RULES = ("durability.acknowledged", "durability.in_short")

KNOWN: tuple[Known, ...] = (
    Known("kill_before_drain: cut/znodes", ("durability.acknowledged",), _FEWER),
    Known("kill_before_drain: denied/topic settings", _OLD_RULES, _FEWER),
    Known("kill_before_drain: garbage/assignments", ("durability.acknowledged",), _FEWER),
    Known("leader_minus_one: denied/broker ids", ("offsets_topic.compacted",), "a topic that is not there is found not compacted"),
    Known("leader_minus_one: denied/states", ("leadership.brokers",), "whom to start first differs where states are not known"),
    Known("leader_minus_one: denied/subtree//config", ("leadership.offline",), "a setting that cannot be read is taken for none"),
    Known("leader_minus_one: denied/assignments", ("leadership.offline",), "of a topic without assignment another rule is named"),
)  # fmt: skip
