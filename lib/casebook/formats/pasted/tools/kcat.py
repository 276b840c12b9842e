"""Output of ``kcat -L`` (``kafkacat``), as text and as JSON (``-J``): the metadata of one broker.

It is the controller's last update to that broker: leaders, replicas and ISRs as in ``kafka-topics``, live brokers in the
controller's view, and for KRaft any broker as the controller. It does not contain registrations in ZooKeeper. Brokers before 0.11
return replicas in any order: the first need not be the preferred one. Source: ``kcat.c@1.7.1`` (``metadata_print``),
``json.c@1.7.1``, ``KafkaApis.scala@2.8.2`` (``handleTopicMetadataRequest``), ``ControllerChannelManager.scala@0.10.2.2,
0.11.0.3``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted import DescribedPartition, DescribedTopic, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import cut_json
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import PastedLine, broker_ids, is_end, is_gap, one, spanned
from casebook.formats.zookeeper import znodes

_FROM = r"\s*+(?:[\w.-]+:\s*+)?"
"""Host prefix of a tool that runs on many hosts."""
_HEAD = re.compile(_FROM + r"Metadata for (?:all topics|(?P<asked>\S*)) \(from broker (?P<from>-?\d+): (?P<at>.*)\):\s*")
_COUNT = re.compile(_FROM + r"(?P<count>\d+) (?:brokers|topics):\s*")
_TOPICS = re.compile(_FROM + r"(?P<count>\d+) topics:\s*")
_BROKER = re.compile(_FROM + r"broker (?P<id>\d{1,10}) at (?P<address>\S+?)(?P<controller> \(controller\))?\s*")
_TOPIC = re.compile(_FROM + r"topic \"(?P<topic>[a-zA-Z0-9._-]{0,249})\" with (?P<count>\d+) partitions:(?P<error>.*)")
_IDS = r"\d{1,10}(?:, ?\d{1,10})*"
_PARTITION = re.compile(
    rf"{_FROM}partition (?P<partition>\d{{1,10}}), leader (?P<leader>-?\d{{1,10}}), replicas: (?P<replicas>{_IDS}), ?isrs:"
    rf"(?: (?P<isr>{_IDS}))?(?P<error>,? .*)?"
)
_OF_JSON = ('"originating_broker"', '"controllerid"')
_LONGEST, _DIGITS = 4 << 20, 10
_TOOL = "kcat -L"
_WHO = "`ls /brokers/ids` shows the registered brokers, `get /controller` the controller"


_ASKS = re.compile(r".*\b(?:kcat|kafkacat)\s.*-[A-Z]\b.*")


def is_typed(text: str) -> bool:
    """Return whether it is a command line of the tool, after any prompt."""
    return len(text) < 4096 and _ASKS.fullmatch(text) is not None


def described(lines: Sequence[PastedLine]) -> Iterator[DescribedPartition | DescribedTopic | ToolStatement | CutOutput]:
    """Yield every topic and partition, and the brokers in one sentence."""
    at, topic = 0, None
    while at < len(lines):
        text, span, after = lines[at].text, one(lines[at]), at + 1
        if not text or len(text) > _LONGEST:
            pass
        elif is_gap(text):
            topic = None  # its line may be among those that were left out
        elif head := _HEAD.fullmatch(text[:4096]):
            answered = f"{head['from']} ({head['at']})" if int(head["from"]) >= 0 else f"a bootstrap server ({head['at']})"
            told, after = _brokers(lines, at, answered)
            yield told._replace(says=f"{told.says}; asked for topic {head['asked']}") if head["asked"] else told
        elif found := _TOPIC.fullmatch(text[:4096]):
            topic = found["topic"]
            error = f": {cut(found['error'].strip(), 100)}" if found["error"].strip() else ""
            yield ToolStatement(
                _TOOL, span, f"topic '{topic}' has {found['count']} partitions{error}" if error else "", bad=bool(error)
            )
            if topic and not error and len(found["count"]) < _DIGITS:
                yield DescribedTopic(topic, span, int(found["count"]))
        elif topic is not None and "isrs:" in text and (row := _PARTITION.fullmatch(text[:4096])):
            yield from _partition(row, topic, span, is_cut=_may_go_on(lines, at + 1))
        elif text.lstrip().startswith("{") and _is_ours(lines, at):
            value, whole, after = cut_json.read(lines, at)
            if isinstance(value, dict):
                yield from _of_json(value, spanned(lines, at, after), whole=whole)
                if not whole:
                    yield cut_json.cut_output(lines, at, after)
        at = after


def _is_ours(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether an object that starts at a line is from the tool, also over many lines."""
    return any(name in line.text[:_LONGEST] for line in lines[at : at + 12] for name in _OF_JSON)


def _brokers(lines: Sequence[PastedLine], at: int, answered: str) -> tuple[ToolStatement, int]:
    after, found, topics, counted = at + 1, [], None, None
    while after < len(lines) and (_COUNT.fullmatch(lines[after].text[:4096]) or _BROKER.fullmatch(lines[after].text[:4096])):
        row = _BROKER.fullmatch(lines[after].text[:4096])
        found += [row] if row else []
        topics = topics or _TOPICS.fullmatch(lines[after].text[:4096])
        counted = counted or (None if topics or row else _COUNT.fullmatch(lines[after].text[:4096]))
        after += 1
    controller = next((int(row["id"]) for row in found if row["controller"]), None)
    says = _of_brokers({int(row["id"]): row["address"] for row in found}, controller, answered)
    says += f"; {counted['count']} brokers" if counted else ""
    says += f"; {topics['count']} topics" if topics else ""
    return ToolStatement(_TOOL, spanned(lines, at, after), says, _WHO), after


def _of_brokers(brokers: Mapping[int, object], controller: int | None, answered: object) -> str:
    whose = answered if str(answered).startswith("a ") else f"broker {answered}"
    live = f"brokers {', '.join(map(str, sorted(brokers)))} live"
    who = f"by the metadata of {whose}, {live}" if brokers else f"metadata of {whose}"
    leads = f", and {controller} is the controller" if controller is not None and controller >= 0 else ""
    places = ", ".join(f"{broker} is at {address}" for broker, address in sorted(brokers.items()) if address)
    return f"{who}{leads}, as far as known" + (f"; {places}" if places else "")


def _partition(row: re.Match[str], topic: str, span: LineSpan, *, is_cut: bool) -> Iterator[DescribedPartition | ToolStatement]:
    """Yield a partition; one with an empty ISR may be cut."""
    number, leader, replicas, isr = (
        znodes.number(row["partition"]),
        int(row["leader"]),
        broker_ids(row["replicas"]),
        broker_ids(row["isr"]),
    )
    if number is None or (not isr and (leader >= 0 or (is_cut and not row["error"]))):
        return
    if len(set(replicas)) == len(replicas) and len(set(isr)) == len(isr):
        yield DescribedPartition(topic, number, span, leader if leader >= 0 else None, replicas, isr, ordered=False, tool="kcat")
        error = (row["error"] or "").strip(" ,")
        yield ToolStatement(_TOOL, span, f"{topic}-{number}: {cut(error, 100)}" if error else "", bad=bool(error))


def _may_go_on(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether the previous row may continue on a line."""
    if is_end(lines, at) or at >= len(lines):
        return at >= len(lines)
    return not any(row.fullmatch(lines[at].text[:4096]) for row in (_PARTITION, _TOPIC))


def _of_json(value: Mapping[str, object], span: LineSpan, *, whole: bool) -> Iterator[DescribedPartition | ToolStatement]:
    brokers = {row["id"]: row.get("name") for row in _maps(value.get("brokers")) if type(row.get("id")) is int}
    first, controller = value.get("originating_broker"), value.get("controllerid")
    answered = first.get("id") if isinstance(first, dict) else "a broker"
    says = _of_brokers(brokers, controller if type(controller) is int else None, answered)
    yield ToolStatement(_TOOL, span, says if whole else f"{says}; its text is cut", _WHO)
    topics = _maps(value.get("topics"))
    for topic in topics:
        partitions = _maps(topic.get("partitions"))
        if not whole and topic is topics[-1]:
            partitions = partitions[:-1]  # its list of replicas may be cut
        for row in partitions:
            name, number, leader = topic.get("topic"), row.get("partition"), row.get("leader")
            replicas, isr = ([one.get("id") for one in _maps(row.get(key))] for key in ("replicas", "isrs"))
            if "replicas" not in row or "isrs" not in row or any(type(broker) is not int for broker in (*replicas, *isr)):
                continue
            if isinstance(name, str) and type(number) is int and number >= 0 and type(leader) is int and replicas:
                yield DescribedPartition(
                    name, number, span, leader if leader >= 0 else None, tuple(replicas), tuple(isr), ordered=False, tool="kcat"
                )


def _maps(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
