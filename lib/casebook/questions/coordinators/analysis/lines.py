"""Coordinators from log lines alone: the leader of an offsets partition at their time, and group names.

They replace missing znodes and segments. A line is valid at its time: later changes are unknown.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.events import Event
from casebook.facts.evidence import Evidence
from casebook.findings.words import moment

_BY_LEADER = frozenset(("become_leader", "coordinator_elected"))
_NAMES_LEADER = frozenset(
    (
        "become_follower",
        "leader_request_received",
        "partition_changed",
        "controller_request_sent",
        "role_changed",
        "leader_elected",
    )
)
LEADERS = _BY_LEADER | _NAMES_LEADER
"""Kinds of lines with the leader of a partition."""

GROUPS = frozenset(
    ("group_loaded", "group_rebalance", "group_stable", "group_member_failed", "group_member_left", "group_empty", "group_dead")
)
"""Kinds of lines with a group, in its coordinator's log."""


class Led(NamedTuple):
    """Last leader of a partition according to log lines.

    Args:
        leader: Broker id; ``None`` when the line reports none.
        time: Time of the line, epoch ms by its broker's clock.
        epoch: Leader epoch; ``None`` when not printed.
        proof: Proof.
    """

    leader: int | None
    time: int
    epoch: int | None
    proof: Evidence

    @property
    def why(self) -> str:
        """Known state, with its time."""
        who = "No broker led it" if self.leader is None else f"Broker {self.leader} led it"
        return f"{who} at {moment(self.time)}, according to a log; no znode shows a later state."


def leaders(events: Iterable[Event]) -> dict[int, Led]:
    """Return the last leader of each partition of the offsets topic, by the highest epoch in lines, else by the last line."""
    found: dict[int, Led] = {}
    for event in events:
        if (led := _led(event)) is None:
            continue
        before = found.get(event.partition)
        if before is None or _order(led) >= _order(before):
            found[event.partition] = led
    return found


def groups(events: Iterable[Event]) -> Mapping[str, Evidence]:
    """Return the groups in coordinators' logs, each with its last line; without those whose last line is their removal."""
    last: dict[str, Event] = {}
    for event in sorted((e for e in events if e.kind in GROUPS and e.group and e.time is not None), key=lambda e: e.time):
        last[event.group] = event
    return {name: Evidence(file=one.file, line=one.line) for name, one in sorted(last.items()) if one.kind != "group_dead"}


def _led(event: Event) -> Led | None:
    if event.kind not in LEADERS or event.time is None or event.partition is None:
        return None
    if event.topic != OFFSETS_TOPIC and event.kind != "coordinator_elected":
        return None
    own = event.kind in _BY_LEADER or (event.kind == "role_changed" and event.fields.get("role") == "leader")
    leader = event.broker if own else event.number("leader")
    if leader is None:
        return None
    epoch = event.number("epoch" if event.kind == "coordinator_elected" else "leader_epoch")
    return Led(None if leader < 0 else leader, event.time, epoch, Evidence(file=event.file, line=event.line))


def _order(led: Led) -> tuple[int, int]:
    return -1 if led.epoch is None else led.epoch, led.time
