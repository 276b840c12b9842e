"""Status of a resource of Strimzi's operator, from ``kubectl get kafka -o yaml``: its conditions.

Source: ``api/src/main/java/io/strimzi/api/kafka/model/common/Condition.java@0.40.0``: type, status, reason, message and
``lastTransitionTime``, in the order of the alphabet.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted_hosts import HostSaid
from casebook.formats.pasted.hosts.host import LONGEST, placed
from casebook.formats.pasted.text import PastedLine, spanned

_CONDITIONS = re.compile(r"\s*[Cc]onditions:\s*")
_FIELD = re.compile(
    r"\s*(?:- )?(?P<key>lastTransitionTime|Last Transition Time|message|Message|reason|Reason|status"
    r"|Status|type|Type):\s*(?P<value>\S.*)"
)
_BESIDE = re.compile(
    r"\s*(?P<key>clusterId|kafkaVersion|kafkaMetadataState|observedGeneration|operatorLastSuccessfulVersion|kafkaMetadataVersion"
    r"|Cluster Id|Kafka Version|Observed Generation):\s*(?P<value>\S+)\s*"
)
_STATUS = re.compile(r"\s*(?:status|Status):\s*")
_GOOD = (
    "Ready",
    "Running",
    "ContainersReady",
    "Initialized",
    "PodScheduled",
    "Available",
    "ProposalReady",
    "PodReadyToStartContainers",
)


def statuses(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield every status with its conditions; a message may continue in deeper indented lines."""
    whose = {here.at: here.broker for here in placed(lines)}
    at = 0
    while at < len(lines):
        if not _CONDITIONS.fullmatch(lines[at].text[:LONGEST]):
            at += 1
            continue
        begin, told = _above(lines, at)
        after, conditions = at + 1, []
        while after < len(lines) and (
            found := _FIELD.fullmatch(lines[after].text[:LONGEST]) or _BESIDE.fullmatch(lines[after].text[:LONGEST])
        ):
            if found.re is _BESIDE:
                told.append(f"{found['key']} {found['value']}")
            else:
                key = found["key"].lower().replace(" ", "")
                if not conditions or key in conditions[-1]:
                    conditions.append({})
                conditions[-1][key] = found["value"].strip("\"' ")
            after += 1
        if conditions:
            text = "; ".join([*map(_condition, conditions), *told])
            bad = any(_is_bad(each) for each in conditions)
            yield HostSaid(
                "a resource's status", spanned(lines, begin, after), text, whose.get(at), bad, facts={"conditions": conditions}
            )
        at = after


def _above(lines: Sequence[PastedLine], at: int) -> tuple[int, list[str]]:
    told: list[str] = []
    while at > 0 and (found := _BESIDE.fullmatch(lines[at - 1].text[:LONGEST])):
        told.insert(0, f"{found['key']} {found['value']}")
        at -= 1
    return (at - 1 if at > 0 and _STATUS.fullmatch(lines[at - 1].text[:LONGEST]) else at), told


def _condition(condition: dict[str, str]) -> str:
    reason = f", {condition['reason']}" if "reason" in condition else ""
    message = f": {condition['message']}" if "message" in condition else ""
    since = f", since {condition['lasttransitiontime']}" if "lasttransitiontime" in condition else ""
    return f"condition {condition.get('type', 'without type')} is {condition.get('status', 'unknown')}{reason}{since}{message}"


def _is_bad(condition: dict[str, str]) -> bool:
    return (condition.get("type") in _GOOD) == (condition.get("status") == "False") and condition.get("type") in (
        *_GOOD,
        "NotReady",
        "Warning",
    )
