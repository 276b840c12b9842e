"""What lines of logs alone tell of coordinators: who led a partition of the offsets topic at their moment, and names of groups.

They stand in where znodes and segments are missing. A line tells of its moment: whatever changed after the last one is not in it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.events import Event
from casebook.findings.finding import Evidence
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
"""Kinds of lines that name the leader of a partition."""

GROUPS = frozenset(
    ("group_loaded", "group_rebalance", "group_stable", "group_member_failed", "group_member_left", "group_empty", "group_dead")
)
"""Kinds of lines that name a group, in the log of its coordinator."""


class Led(NamedTuple):
    """The last that lines tell of a partition's leader.

    Args:
        leader: Broker id; ``None`` when the line says that there is none.
        time: Of the line, epoch ms by the clock of its broker.
        epoch: Of the leader; ``None`` when the line does not tell.
        proof: The line.
    """

    leader: int | None
    time: int
    epoch: int | None
    proof: Evidence

    @property
    def why(self) -> str:
        """What is known, as of when."""
        who = "No broker led it" if self.leader is None else f"Broker {self.leader} led it"
        return f"{who} at {moment(self.time)}, according to a log; no znode shows a later state."


def leaders(events: Iterable[Event]) -> dict[int, Led]:
    """Who led each partition of the offsets topic last, by the highest epoch that lines name, else by the last line."""
    found: dict[int, Led] = {}
    for event in events:
        if (led := _led(event)) is None:
            continue
        before = found.get(event.partition)
        if before is None or _order(led) >= _order(before):
            found[event.partition] = led
    return found


def groups(events: Iterable[Event]) -> Mapping[str, Evidence]:
    """The groups that coordinators name, each with the last line that does; without those whose last line is their end."""
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
