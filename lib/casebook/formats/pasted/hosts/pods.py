"""Output of ``kubectl get pods`` and ``kubectl describe pod``: container restarts with exit reason and time.

A pod's ordinal is no broker id, an age (``5d12h``) no instant. Times of a description have their zone. Source:
``staging/src/k8s.io/kubectl/pkg/describe/describe.go`` and ``pkg/printers/internalversion/printers.go@v1.20, v1.30``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedLogLine
from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.hosts.host import AGE, LONGEST, Frame, is_command, placed, uncommented
from casebook.formats.pasted.text import PastedLine, one, spanned
from casebook.formats.zookeeper import znodes

_HEAD = re.compile(r"\s*(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE(?P<wide>\s+IP\s+NODE\s.*)?\s*")
_POD = re.compile(
    rf"\s*(?:(?P<namespace>[a-z0-9-]{{1,63}})\s+)?(?P<name>(?:pods?/|po/)?[a-z0-9*<][a-z0-9.*<>_-]{{0,252}})"
    rf"\s+(?P<ready>\d{{1,3}})/(?P<of>\d{{1,3}})\s+"
    rf"(?P<status>[A-Z][\w:/.-]{{1,60}})\s+(?P<restarts>\d{{1,9}})(?: \((?P<ago>{AGE}) ago\))?\s+(?P<age>{AGE}|<invalid>"
    rf"|<unknown>)"
    r"(?:\s+(?P<ip>[\da-f.:]+|<none>)\s+(?P<node>\S+)(?:\s.*)?)?\s*"
)
_SETS = re.compile(r"\s*NAME\s+READY\s+AGE(?:\s+CONTAINERS\s+IMAGES)?\s*")
_SET = re.compile(
    rf"\s*(?P<name>[a-z0-9][a-z0-9./-]{{0,252}})\s+(?P<ready>\d{{1,3}})/(?P<of>\d{{1,3}})\s+(?P<age>{AGE})(?:\s.*)?"
)
_NONE = "<none>"
_DONE = ("Completed", "Succeeded")
_KEY = re.compile(r"(?P<indent>\s*)(?P<key>[A-Z][\w ()./-]{1,40}?|[a-z][\w.-]{0,62}):(?:\s+(?P<value>\S.*))?")
_STATE = re.compile(r"\s*(?P<which>State|Last State):\s+(?P<state>Running|Waiting|Terminated)\s*")
_OF_STATE = re.compile(r"\s*(?P<key>Reason|Message|Exit Code|Signal|Started|Finished):\s+(?P<value>\S.*)")
_OF_STATUS = re.compile(
    r"\s*[\"']?(?P<key>exitCode|finishedAt|startedAt|reason|containerID|signal)[\"']?:\s*[\"']?(?P<value>[^\"',]*)[\"']?,?\s*"
)
_CONTAINER = re.compile(r"\s{0,6}(?P<name>[a-z0-9][a-z0-9-]{0,62}):\s*")
_ID = re.compile(r"\s*Container ID:.*|\s*Image:.*")
_BROKER = re.compile(r"\s*(?:KAFKA_BROKER_ID|KAFKA_CFG_BROKER_ID|KAFKA_NODE_ID|KAFKA_CFG_NODE_ID):\s+(?P<id>\d{1,9})\s*")
_COUNT = re.compile(r"\s*Restart Count:\s+(?P<count>\d{1,9})\s*")
_READY = re.compile(r"\s*Ready:\s+(?P<ready>True|False)\s*")
_FRAGMENT = re.compile(
    r"\s*(?:Containers|Init Containers|Limits|Requests|Environment|Mounts|Conditions|Command|Args|Volumes|Events):\s*"
)
"""A level of a description without its pasted start."""
_BESIDE_CONTAINERS = re.compile(
    r"(?:(?:Init |Ephemeral )?Containers|Conditions|Volumes|QoS Class|Node-Selectors|Tolerations"
    r"|Topology Spread Constraints|Events):.*"
)
"""A level next to the containers (``describePod``): what follows is the pod's. Indents are no sign: a page may drop them."""
_EVENT = re.compile(
    rf"\s*Warning\s+(?P<reason>[A-Z]\w+)\s+(?P<age>(?:{AGE}"
    rf"|<unknown>)(?: \(x\d+ over {AGE}\))?)\s+(?P<source>[\w-]+(?:, \S+)?)\s+(?P<message>\S.*)"
)
_LAST_SEEN = re.compile(
    rf"\s*(?:(?P<namespace>[a-z0-9-]{{1,63}})\s+)?(?P<age>{AGE}(?: \(x\d+ over {AGE}\))?)\s+(?P<type>Warning"
    rf"|Normal)\s+(?P<reason>[A-Z]\w+)\s+(?P<object>[a-z]+/\S+)\s+(?P<message>\S.*)"
)
_DONE_TO = re.compile(
    r"\s*(?P<said>[a-z][a-z0-9.-]*/[\w.-]+ (?:patched|scaled|created|deleted|configured|unchanged|restarted|annotated|labeled"
    r"|edited|evicted|cordoned|uncordoned|drained)(?: \([^)]*\))?)\s*"
)
"""Lines that kubectl prints of changed objects."""
_CLAIM = re.compile(
    rf"\s*(?P<name>[a-z0-9][a-z0-9.-]*)\s+(?P<status>Bound|Pending|Lost|Terminating)\s+(?P<rest>pvc-\S+\s+\S+\s+\S+.*{AGE}.*)"
)
"""A row of ``kubectl get pvc``."""
_EVENT_ROW = re.compile(
    rf"\s*Normal\s+\w+\s+(?:{AGE}|<unknown>).*|\s*Type\s+Reason\s+Age\s+From\s+Message\s*|\s*LAST SEEN\s+TYPE\s+REASON\s.*"
    rf"|\s*-{{4,}}[\s-]*"
)
_CONDITION = re.compile(
    r"\s+(?P<what>Ready|ContainersReady|Initialized|PodScheduled|PodReadyToStartContainers|DisruptionTarget)\s+(?P<is>True|False|Unknown)\s*"
)
_DESCRIBES = re.compile(
    r".*\b(?:kubectl|oc|k)\s(?:.*\s)?describe\s+(?:-\S+(?:\s+|=)\S+\s+)*(?:pods?|po)[\s/]+(?:-\S+(?:\s+|=)\S+\s+)*(?P<pod>[a-z0-9][a-z0-9.-]*)(?:\s+-.*|\s*[|>].*|\s*)"
)
_OTHERS = (
    (
        "node",
        re.compile(r"(?:Roles|Taints|Unschedulable|Lease|Allocatable|System Info):.*|\s+(?:Memory|Disk|PID)Pressure\s+\w+\s.*"),
    ),
    ("resource", re.compile(r"(?:API Version|Kind):.*|\s+Last Transition Time:.*")),
    ("claim", re.compile(r"(?:StorageClass|Access Modes|VolumeMode|Used By):.*")),
    ("set", re.compile(r"(?:Replicas|Pods Status|Update Strategy|Pod Management Policy):.*")),
    ("service", re.compile(r"(?:TargetPort|Endpoints|Session Affinity):.*")),
)
"""Lines that ``kubectl describe`` prints of other objects only (``describe.go``: ``describeNode``,
``describePersistentVolumeClaim``, ``describeStatefulSet``, ``describeService``)."""
_BELOW_NAME = re.compile(r"(?:Namespace|Roles|Labels|Annotations|CreationTimestamp|Taints|Conditions):.*")
_ABOVE = 12
_SIGNAL = 128
"""Exit codes above it are the number of the signal that ended a process."""
_MOST, _MOST_OTHERS, _MOST_OF_LINE = 600, 80, 2000


def pods(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield rows of pods, of sets of them, and of events."""
    sets = False
    for here in placed(lines):
        text = uncommented(here.line.text)
        sets = _SETS.fullmatch(text[:LONGEST]) is not None or (sets and _SET.fullmatch(text[:LONGEST]) is not None)
        if sets and (row := _SET.fullmatch(text)):
            said = f"set {row['name']}: {row['ready']}/{row['of']} pods ready, age {row['age']}"
            facts = {"set": row["name"], "ready": f"{row['ready']}/{row['of']}"}
            yield HostSaid("kubectl", one(here.line), said, here.broker, row["ready"] != row["of"], facts=facts)
            continue
        if row := (_POD.fullmatch(text) if "/" in text else None):
            yield _row(row, one(here.line), here.broker)
        elif done := (_DONE_TO.fullmatch(text) if "/" in text else None):
            yield HostSaid("kubectl", one(here.line), f"it printed {done['said']}", here.broker)
        elif claim := (_CLAIM.fullmatch(text) if " pvc-" in text else None):
            said = f"claim {claim['name']} is {claim['status']} to {claim['rest']}"
            yield HostSaid("kubectl", one(here.line), " ".join(said.split()), here.broker, bad=claim["status"] != "Bound")
        elif event := _LAST_SEEN.fullmatch(text):
            where = f", namespace {event['namespace']}" if event["namespace"] else ""
            said = f"{event['object']}{where}: {event['reason']} {event['age']} ago: {event['message']}"
            yield HostSaid("kubectl", one(here.line), said, here.broker, bad=event["type"] == "Warning")


def _row(row: re.Match[str], where: LineSpan, broker: int | None) -> HostSaid:
    last = f", the last {row['ago']} ago" if row["ago"] else ""
    node = "" if not row["node"] else ", on no node" if row["node"] == _NONE else f", on node {row['node']}"
    times = f"{row['restarts']} restart{'' if row['restarts'] == '1' else 's'}"
    name = row["name"].rpartition("/")[2]
    node += "" if not row["ip"] else ", without an IP" if row["ip"] == _NONE else f", IP {row['ip']}"
    whose = f" of namespace {row['namespace']}" if row["namespace"] else ""
    text = f"pod {name}{whose}: {row['ready']}/{row['of']} ready, {row['status']}, {times}{last}, age {row['age']}{node}"
    bad = row["status"] not in (*_DONE, "Running") or (row["ready"] != row["of"] and row["status"] not in _DONE)
    facts = {
        "pod": name,
        "ready": f"{row['ready']}/{row['of']}",
        "status": row["status"],
        "restarts": int(row["restarts"]),
    }
    return HostSaid("kubectl", where, text, broker, bad, facts=facts)


def statuses(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield ended containers in the output of ``kubectl get pod -o yaml`` and ``-o json``, or ``docker inspect``."""
    whose = {here.at: here.broker for here in placed(lines)}
    at = 0
    while at < len(lines):
        told: dict[str, str] = {}
        end = at
        while end < len(lines) and (found := _OF_STATUS.fullmatch(lines[end].text[:LONGEST])) and found["key"] not in told:
            told[found["key"]] = found["value"]
            end += 1
        if "exitCode" in told and "reason" in told:
            above = [line.text for line in lines[max(0, at - 3) : at]]
            which = "was last" if any("lastState" in text for text in above) else "is or was last"
            text = f"a container {which} terminated, reason {told['reason']}, exit code {told['exitCode']}"
            text += f", started {told['startedAt']}" if "startedAt" in told else ""
            text += f", finished {told['finishedAt']}" if "finishedAt" in told else ""
            bad = told["reason"] not in _DONE
            facts = {"reason": told["reason"], "exit_code": told["exitCode"], "finished": told.get("finishedAt")}
            yield HostSaid("kubectl", spanned(lines, at, end), text, whose.get(at), bad, facts=facts)
        at = max(end, at + 1)


def descriptions(lines: Sequence[PastedLine]) -> Iterator[HostSaid | PastedLogLine | Frame | CutOutput]:
    """Yield container states, restarts, and warnings of ``kubectl describe pod``, also from a part of it."""
    whose = {here.at: here.broker for here in placed(lines)}
    at, pod = 0, ""
    while at < len(lines):
        if _begins(lines, at):
            after = _end(lines, at)
            named = [line.text for line in lines[at:after] if line.text.startswith("Name:")]
            pod = named[-1].partition(":")[2].strip() if named else _asked(lines, at) or pod
            yield from _described(lines, at, after, whose.get(at), pod)
            at = after
        else:
            pod = "" if is_command(lines[at].text) else pod
            at += 1


def is_frame(text: str) -> bool:
    """Return whether it is a header, or an event without a warning."""
    seen = text[:LONGEST]
    if _SETS.fullmatch(seen):
        return True
    return _HEAD.fullmatch(seen) is not None or _EVENT_ROW.fullmatch(seen) is not None or _LAST_SEEN.fullmatch(seen) is not None


def _begins(lines: Sequence[PastedLine], at: int) -> bool:
    text = lines[at].text
    if _STATE.fullmatch(text):
        return True
    below = lines[at + 1].text if at + 1 < len(lines) else ""
    if text.startswith("Controlled By:") and _FRAGMENT.fullmatch(below):
        return True
    if _FRAGMENT.fullmatch(text) and below and len(below) - len(below.lstrip()) > len(text) - len(text.lstrip()):
        return True
    return (text.startswith("Name:") and _BELOW_NAME.fullmatch(below) is not None) or _EVENT.fullmatch(text[:LONGEST]) is not None


def _end(lines: Sequence[PastedLine], at: int) -> int:
    """Return the end of the description: at a line that is neither ``key: value`` nor indented, e.g. the next command.

    A line after a backslash is the rest of a container's command, whatever it looks like.
    """
    last = at
    for index in range(at, min(len(lines), at + _MOST)):
        text = lines[index].text
        if not text:
            continue
        if index > at and len(text) <= LONGEST and lines[index - 1].text.endswith("\\"):
            last = index
            continue
        begins_next = index > at and text.startswith("Name:")
        if begins_next or is_command(text) or len(text) > LONGEST or not (text[0] in " \t" or _KEY.fullmatch(text)):
            break
        if index - last > 2:
            break
        last = index
    return last + 1


def _described(
    lines: Sequence[PastedLine], at: int, after: int, heading: int | None, pod: str
) -> Iterator[HostSaid | PastedLogLine | Frame | CutOutput]:
    told = [found["id"] for line in lines[at:after] if (found := _BROKER.fullmatch(line.text[:LONGEST]))]
    broker = znodes.number(told[0]) if len(set(told)) == 1 else heading
    container, is_pods = "", True
    kind = next((kind for kind, own in _OTHERS if any(own.fullmatch(line.text[:LONGEST]) for line in lines[at:after])), "pod")
    conditions = []
    index, others = at, {"": []}
    while index < after:
        text, below = lines[index].text, lines[index + 1].text if index + 1 < after else ""
        where, end = one(lines[index]), index + 1
        container = "" if _BESIDE_CONTAINERS.fullmatch(text) else container
        rest = others.setdefault(container, [])
        if _CONTAINER.fullmatch(text) and _ID.fullmatch(below):
            container, is_pods = text.strip().removesuffix(":"), False
            others.setdefault(container, []).append(lines[index])
        elif state := _STATE.fullmatch(text):
            end = _end_of_state(lines, index, after)
            yield _state(lines, index, end, state, _name(kind, pod, container), broker)
            yield from _ended(lines, index, end, state, broker)
        elif count := _COUNT.fullmatch(text):
            said = f"{_name(kind, pod, container)} has restarted {count['count']} times"
            yield HostSaid("kubectl", where, said, broker, facts={"restarts": int(count["count"])})
        elif (ready := _READY.fullmatch(text)) and container:
            said = f"{_name(kind, pod, container)} is {'' if ready['ready'] == 'True' else 'not '}ready"
            yield HostSaid(
                "kubectl", where, said, broker, bad=ready["ready"] == "False", facts={"ready": ready["ready"] == "True"}
            )
        elif condition := _CONDITION.fullmatch(text[:LONGEST]):
            conditions.append((lines[index], condition))
        elif event := _EVENT.fullmatch(text[:LONGEST]):
            said = f"{_name(kind, pod, '')}: {event['reason']} {event['age']} ago, from {event['source']}: {event['message']}"
            yield HostSaid("kubectl", where, said, broker, bad=True, facts={"reason": event["reason"]})
        elif key := _KEY.fullmatch(text[:LONGEST]):
            if is_pods and not key["indent"] and key["key"] in ("Status", "Reason", "Message", "Node") and key["value"]:
                evicted = key["key"] == "Reason" or key["value"] in ("Failed", "Pending", "Unknown")
                said = f"{_name(kind, pod, '')}: {key['key'].lower()} {key['value']}"
                yield HostSaid("kubectl", where, said, broker, bad=evicted, facts={key["key"].lower(): key["value"]})
            else:
                rest.append(lines[index])
        elif text.strip(" -"):
            rest.append(lines[index])
        index = end
    if conditions:
        shown = ", ".join(f"{condition['what']} {condition['is']}" for _, condition in conditions)
        where = LineSpan(conditions[0][0].number, conditions[-1][0].number)
        bad = any(condition["is"] == "False" for _, condition in conditions)
        yield HostSaid("kubectl", where, f"conditions of {_name(kind, pod, '')}: {shown}", broker, bad)
    for container, rest in others.items():
        yield from _beside(rest, _name(kind, pod, container), broker)
    yield Frame(spanned(lines, at, after))


def _asked(lines: Sequence[PastedLine], at: int) -> str:
    """The pod that the command above a description names; ``""`` for none, for several, and for a variable of a shell."""
    above = (line.text[:LONGEST] for line in reversed(lines[max(0, at - _ABOVE) : at]))
    command = next(filter(None, map(_DESCRIBES.fullmatch, above)), None)
    return command["pod"] if command else ""


def _beside(others: Sequence[PastedLine], name: str, broker: int | None) -> Iterator[HostSaid | CutOutput]:
    """Yield the rest of a description as printed; text beyond one sentence is not decoded."""
    if others:
        own = [cut(" ".join(line.text.split()), _MOST_OF_LINE) for line in others[:_MOST_OTHERS]]
        shown = "; ".join(
            text for text in own if text.removesuffix(":") not in name.split() and text != f"Name: {name.split()[-1]}"
        )
        yield HostSaid("kubectl", LineSpan(others[0].number, others[-1].number), f"{name} also has {shown}", broker)
    if more := others[_MOST_OTHERS:]:
        yield CutOutput(LineSpan(more[0].number, more[-1].number), "is a part of a description that casebook does not use")


def _end_of_state(lines: Sequence[PastedLine], at: int, after: int) -> int:
    end = at + 1
    while end < after and _OF_STATE.fullmatch(lines[end].text[:LONGEST]):
        end += 1
    return end


def _state(lines: Sequence[PastedLine], at: int, end: int, state: re.Match[str], name: str, broker: int | None) -> HostSaid:
    told: dict[str, str] = {}
    for line in lines[at + 1 : end]:
        found = _OF_STATE.fullmatch(line.text[:LONGEST])
        told.setdefault(found["key"], found["value"].strip())
    which = "was last" if state["which"] == "Last State" else "is"
    text = f"{name} {which} {state['state']}"
    text += f", reason {told['Reason']}" if "Reason" in told else ""
    code = told.get("Exit Code", "")
    text += f", exit code {code}" if code else ""
    if code.isdecimal() and _SIGNAL < int(code) < _SIGNAL + 65:
        text += f" (signal {int(code) - _SIGNAL})"
    for key in ("Started", "Finished", "Message"):
        text += f", {key.lower()} {told[key]}" if key in told else ""
    bad = state["state"] == "Waiting" or told.get("Reason") in (
        "OOMKilled",
        "Error",
        "ContainerCannotRun",
        "Evicted",
        "DeadlineExceeded",
    )
    facts = {"which": state["which"], "state": state["state"], "reason": told.get("Reason"), "exit_code": code or None,
             "started": told.get("Started"), "finished": told.get("Finished")}  # fmt: skip
    return HostSaid("kubectl", spanned(lines, at, end), text, broker, bad, facts=facts)


def _ended(lines: Sequence[PastedLine], at: int, end: int, state: re.Match[str], broker: int | None) -> Iterator[PastedLogLine]:
    """Yield the end of a container as a log entry: the lines of its state joined, after its end time.

    Without colons: text before one would be parsed as a writer's name.
    """
    told = {found["key"]: found["value"] for line in lines[at + 1 : end] if (found := _OF_STATE.fullmatch(line.text[:LONGEST]))}
    if state["state"] == "Terminated" and {"Reason", "Exit Code", "Finished"} <= told.keys():
        parts = [f"{key} {told[key]}" for key in ("Reason", "Exit Code", "Started", "Finished") if key in told]
        text = f"{told['Finished']} {state['which']} {state['state']}, {', '.join(parts)}"
        yield PastedLogLine(spanned(lines, at, end), text, None, False, broker)


def _name(kind: str, name: str, container: str) -> str:
    whose = f"{kind} {name}" if name else f"a {kind} whose name was not pasted"
    return f"container {container} of {whose}" if container else whose
