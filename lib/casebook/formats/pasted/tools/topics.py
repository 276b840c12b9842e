"""Output of ``kafka-topics --describe``, 0.8 to 3.9: leader, replicas and ISR, without epochs.

Source: ``core/src/main/scala/kafka/admin/TopicCommand.scala@0.8.2.2, 0.9.0.1, 2.8.2``,
``tools/src/main/java/org/apache/kafka/tools/TopicCommand.java@3.9.0``. No leader is ``-1`` (to 1.1) or ``none``.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import DescribedPartition, DescribedTopic, ToldConfig, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import literal
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.text import TOPIC_NAME, PastedLine, one, spanned
from casebook.formats.zookeeper import znodes

_TOPIC = re.compile(
    rf"\s*Topic: ?(?P<topic>{TOPIC_NAME})\s+(?:\.{{3}}\s+)?(?:TopicId:"
    rf" ?(?P<id>\S*)\s+)?(?:\.{{3}}\s+)?PartitionCount: ?(?P<count>\d{{1,9}})"
    rf"(?:\s+ReplicationFactor: ?(?P<factor>\d{{1,9}}))?(?:\s+(?P<configs_said>Configs:) ?(?P<configs>.*?))?"
    r"(?:\s+MarkedForDeletion: ?(?P<deleting>true|false))?\s*",
    re.IGNORECASE,
)
_HEAD_ALONE = re.compile(
    rf"\s*Topic: ?(?P<topic>{TOPIC_NAME})\s+ReplicationFactor: ?(?P<factor>\d{{1,9}})(?:\s+Configs: ?(?P<configs>\S*))?\s*",
    re.IGNORECASE,
)
"""A topic's line without the number of its partitions, as in prose."""
_LABEL = (
    r"Topic(?:Id)?|Partition(?:Count)?|ReplicationFactor|Configs|Leader|Replicas|Isr|Adding Replicas|Removing Replicas|Offline"
    r"|Elr|LastKnownElr|(?:Live)?Observers"
)
_MARKED = re.compile(rf"[*`_,|\s]*\b(?P<label>{_LABEL})[*`_]* ?[:=]+[*`_]* *", re.IGNORECASE)
"""A label reformatted by a wiki or a script: in bold, after a comma, with an equals sign."""
_BRACKETS = re.compile(r"[\[\]{}*`]|(?<=\d),(?=\s+[A-Za-z])")
_LEAST_LABELS = 4
_IDS = r"\d{1,10}(?:\s?,\s?\d{1,10})*"
_PARTITION = re.compile(
    rf"\s*Topic: ?(?P<topic>{TOPIC_NAME})\s+Partition: ?(?P<partition>\d{{1,10}})\s+Leader: ?(?P<leader>-?\d{{1,10}}|none)"
    rf"\s+Replicas: ?(?P<replicas>{_IDS})\s+Isr: ?(?P<isr>{_IDS})?(?P<rest>(?:\s+(?:Adding Replicas: ?(?P<adding>{_IDS})?"
    rf"|Removing Replicas: ?(?P<removing>{_IDS})?|Offline: ?(?P<offline>{_IDS})?|Elr: ?(?P<elr>{_IDS}|N/A)?"
    rf"|LastKnownElr: ?(?P<last_elr>{_IDS}|N/A)?|(?:Live)?Observers: ?(?:{_IDS})?"
    r"|MarkedForDeletion: ?(?P<deleting>true|false)))*)\s*",
    re.IGNORECASE,
)
_CUT = re.compile(r"(?P<whole>.*?\s)(?P<rest>(?:Adding|Removing)(?: [A-Za-z]*:?)?|[A-Za-z]{1,17}:?)\s*", re.IGNORECASE)
"""The last label of a line, perhaps cut, with the text after it."""
_WITHOUT_BEGIN = re.compile(r".{0,200}?\bPartition: ?\d{1,10}\s+Leader: .*")
_WITHOUT_REPLICAS = re.compile(
    rf"\s*Topic: ?(?P<topic>{TOPIC_NAME})\s+Partition: ?(?P<partition>\d{{1,10}})\s+Leader: ?(?P<leader>-?\d{{1,10}}|none)"
    rf"\s+Isr: ?(?P<isr>{_IDS})\s*",
    re.IGNORECASE,
)
_OBSERVERS = re.compile(rf"\b(?P<what>(?:Live)?Observers): ?(?P<ids>{_IDS})?")
_ROW_ALONE = re.compile(r"\s*Partition: ?\d{1,10}\s+Leader: ", re.IGNORECASE)
_WITHOUT_ISR = re.compile(
    rf"\s*Topic: ?(?P<topic>{TOPIC_NAME})\s+Partition: ?(?P<partition>\d{{1,10}})\s+Leader: ?(?P<leader>-?\d{{1,10}}|none)\s+"
    rf"(?:Replicas: ?(?P<replicas>{_IDS})\s+I.*|Replicas: ?(?P<begun>\d[\d,]*)|R.*)",
    re.IGNORECASE,
)
_LIST = re.compile(r"--(?P<option>unavailable|under-replicated|under-min-isr|at-min-isr)-partitions\b")
_OF_DEAD_LEADERS = "unavailable True"
_MEANS = {
    "unavailable": "have no leader that lives",
    "under-min-isr": "have fewer in sync than min.insync.replicas: acks=all is refused",
    "at-min-isr": "have just min.insync.replicas in sync",
}
_WITHIN = re.compile(rf"(?<=\S)\s+(?=Topic: ?{TOPIC_NAME}\s+Partition: ?\d)")
_SHOWN, _LEAST_COLUMNS = 6, 4
_BEGINS = re.compile(
    rf"\s*Topic: ?{TOPIC_NAME}(?:\s+(?:\.{{3}}\s.*|(?:TopicId|Partition|PartitionCount)\b.*))?\s*", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\s*(?:(?:[\d, ]+\s)?(?:Partition|PartitionCount|ReplicationFactor|Configs|Leader|Replicas|Isr|Adding Replicas"
    r"|Removing Replicas|Offline|Elr|LastKnownElr|(?:Live)?Observers|MarkedForDeletion):.*|[\d, ]+|none|[\w.,-]*=\S*)\s*",
    re.IGNORECASE,
)
_PROSE = re.compile(r"(?<=\d)[.,;)]?\s+(?:\(|[a-z]{1,20}\b(?![:=]))(?!.*\bIsr:)")
_MOST_FOLDED, _LONGEST, _NARROW = 6, 64 << 10, 50
_BEGUN_NAME = re.compile(r"(?<=\d),[a-z][a-z.]*$|,(?:[a-z]+\.)+[a-z]*$")
"""After a number, or with dots: the name of a setting without its pasted value."""
_CUT_VALUE = re.compile(r"[^=,\s.] ?\.{3}$")
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?|true|false")
_CONFIG = re.compile(r"([a-z][a-z0-9._-]*)=")
_PARTED_NAME = re.compile(
    r"(?<![^,\s])[a-z]+(?:\.[a-z]+)*(?: ?\. ?[a-z]+(?:\.[a-z]+)*)+(?==)|(?<=,)[a-z]+(?:\.[a-z]+)* [a-z]+(?:\.[a-z]+)*(?==)"
)
"""A setting's name with blanks beside its dots, as web pages break a long line, or with one in place of a line's end."""


def described(
    lines: Sequence[PastedLine],
) -> Iterator[DescribedTopic | DescribedPartition | ToldConfig | CutOutput | ToolStatement]:
    """Yield every line of a description, folded or not.

    Rule: with ZooKeeper, ``--unavailable-partitions`` lists those without a leader, or with an unregistered one
    (``TopicCommand.scala@0.9.0.1, 2.8.2``).
    """
    at, option, listed = 0, "", []
    lines = _with_topics([_plain(line) for line in lines])
    while at < len(lines):
        text = lines[at].text
        if len(rows := _rows_within(lines, at)) > 1:
            if not rows[0].text:
                yield ToolStatement("kafka-topics", one(rows[0]))
            ends = [PastedLine(rows[-1].number + 1, "")] if rows[-1].number < lines[-1].number else []
            yield from described([*rows, *ends])
            at += rows[-1].number - lines[at].number + 1
            continue
        if "ReplicationFactor" in text and (alone := _HEAD_ALONE.fullmatch(text[:_LONGEST])):
            yield from _without_count(alone, one(lines[at]))
            at += 1
            continue
        if "PartitionCount" in text and (headless := _headless(lines, at)) is not None:
            yield headless
            at += 1
            continue
        if len(text) > _LONGEST or not _BEGINS.fullmatch(text):
            if "Leader:" in text and len(text) <= _LONGEST and _WITHOUT_BEGIN.fullmatch(text):
                yield from _without_begin(text, one(lines[at]))
            if text:
                yield from _list(option, listed)
                asked = _LIST.search(text[:4096])
                option, listed = f"{asked['option']} {'--zookeeper' in text}" if asked else "", []
            at += 1
            continue
        found, after = _row(lines, at)
        if isinstance(found, CutOutput):
            found, more = _as_far(lines, found)
            yield from more
        if isinstance(found, DescribedTopic) and found.configs is None:
            yield from _cut_configs(lines, at, found)
        if isinstance(found, DescribedPartition):
            is_dead = option == _OF_DEAD_LEADERS and found.leader is not None
            found = found._replace(dead_leader=is_dead)
            listed.append(found)
            yield from _observers(text, found)
        yield found
        at = after
    yield from _list(option, listed)


def _plain(line: PastedLine) -> PastedLine:
    """Return a row with reformatted labels in the tool's format."""
    text = line.text
    if "eader" not in text.lower() or len(text) > _LONGEST or _PARTITION.fullmatch(text):
        return line
    labels = [found["label"].lower() for found in _MARKED.finditer(text)]
    if len(labels) < _LEAST_LABELS or labels[:1] != ["topic"] or len(set(labels)) < len(labels):
        return line
    bare = _MARKED.sub(lambda found: f" {found['label']}: ", text[_MARKED.search(text).start() :])
    row = re.sub(r",\s+(?=\d)", ",", _BRACKETS.sub("", bare)).strip()
    is_alone = not text[: _MARKED.search(text).start()].strip(" *-|`")
    return line._replace(text=row) if is_alone and _PARTITION.fullmatch(row) else line


def _observers(text: str, partition: DescribedPartition) -> Iterator[ToolStatement]:
    """Yield replicas that Confluent's servers keep out of the ISR."""
    if observers := _OBSERVERS.search(text[:_LONGEST]):
        says = f"{observers['what']} of {partition.topic}-{partition.partition}: {observers['ids'] or 'none'}"
        yield ToolStatement("kafka-topics", partition.span, says)


def _with_topics(lines: Sequence[PastedLine]) -> list[PastedLine]:
    """Add the topic of the header directly above to rows without it."""
    found, topic = list(lines), None
    for at, line in enumerate(lines):
        if head := _TOPIC.fullmatch(line.text[:_LONGEST]) or _HEAD_ALONE.fullmatch(line.text[:_LONGEST]):
            topic = head["topic"]
        elif topic and _ROW_ALONE.match(line.text[:_LONGEST]):
            found[at] = line._replace(text=f"Topic: {topic} {line.text}")
        else:
            topic = None
    return found


def _without_count(head: re.Match[str], span: LineSpan) -> Iterator[ToldConfig | ToolStatement]:
    settings, whole = configs_as_far(head["configs"] or "")
    if head["configs"] is not None and settings is not None:
        yield ToldConfig("topics", head["topic"], span, settings, whole)
    says = f"{head['topic']} has replication factor {head['factor']}; how many partitions it has is not printed"
    yield ToolStatement("kafka-topics", span, says)


def _rows_within(lines: Sequence[PastedLine], at: int) -> list[PastedLine]:
    """Return the rows on a line without line ends, and those of a table whose header has the column names."""
    text = lines[at].text
    if len(text) > _LONGEST:
        return []
    if "Partition:" in text and len(parts := _WITHIN.split(text)) > 1:
        return [PastedLine(lines[at].number, part) for part in parts if part.strip()]
    names = text.split("\t") if text.count("\t") >= _LEAST_COLUMNS else []
    if not {"topic", "partition", "leader", "replicas", "isr"} <= {name.lower() for name in names}:
        return []
    rows = [PastedLine(lines[at].number, "")]
    for line in lines[at + 1 :]:
        cells = line.text.split("\t")
        if line.text and len(cells) != len(names):
            break
        values = ("" if cell == "-" else cell.strip("[] ") for cell in cells)
        row = "\t".join(f"{name}: {value}" for name, value in zip(names, values, strict=False)) if line.text else ""
        rows.append(PastedLine(line.number, row))
    return rows


def _cut_configs(lines: Sequence[PastedLine], at: int, topic: DescribedTopic) -> Iterator[ToldConfig | ToolStatement]:
    """Yield the rest of a cut list of overrides."""
    behind = lines[at].text.partition("Configs:")[2].strip()
    settings, _ = configs_as_far(behind)
    if behind:
        yield ToolStatement("kafka-topics", topic.span, f"the list of overrides of {topic.topic} is cut")
    if settings:
        yield ToldConfig("topics", topic.topic, topic.span, settings, whole=False)


def _list(option: str, listed: Sequence[DescribedPartition]) -> Iterator[ToolStatement]:
    """Yield the meaning of partitions in a list, when their rows do not show it."""
    kind = option.partition(" ")[0]
    if kind not in _MEANS or not listed:
        return
    some = ", ".join(f"{row.topic}-{row.partition}" for row in listed[:_SHOWN])
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    yield ToolStatement(f"kafka-topics --{kind}-partitions", listed[0].span, f"{some}{more} {_MEANS[kind]}", bad=True)


def _headless(lines: Sequence[PastedLine], at: int) -> DescribedTopic | None:
    """Return a topic's line without its start: the partition on the next line belongs to the topic."""
    text, following = lines[at].text, lines[at + 1].text if at + 1 < len(lines) else ""
    if len(text) > _LONGEST or _BEGINS.fullmatch(text) or not (partition := _PARTITION.fullmatch(following[:_LONGEST])):
        return None
    row = _TOPIC.fullmatch(f"Topic: x {text[text.index('PartitionCount') :]}")
    return _topic(row, one(lines[at]), partition["topic"]) if row else None


def _row(lines: Sequence[PastedLine], at: int) -> tuple[DescribedTopic | DescribedPartition | CutOutput, int]:
    """Return the row that starts at a line, joined with its further lines."""
    text, after = lines[at].text, at + 1
    while after < len(lines) and after - at < _MOST_FOLDED and _belongs(lines[after].text):
        text += ("" if _is_broken_word(text, lines[after].text) else " ") + lines[after].text
        after += 1
    text, after = _broken(lines, at, text, after)
    span = spanned(lines, at, after)
    if row := _PARTITION.fullmatch(text) or _before_prose(text):
        partition = _partition(row, span)
        broken_off = partition is not None and after >= len(lines) and not {*partition.isr[-1:]} <= {*partition.replicas}
        whole = (
            partition is not None
            and not broken_off
            and (row["isr"] is not None or _ends_with_empty_isr(row, partition, after < len(lines)))
        )
        return (partition if whole else CutOutput(span, "is a partition's line that is cut off or was changed")), after
    if row := _TOPIC.fullmatch(text):
        return _topic(row, span), after
    return CutOutput(span, "is a line of kafka-topics --describe that is cut off or was changed"), after


def _is_broken_word(text: str, below: str) -> bool:
    """Return whether no blank belongs between two parts of a row: within a list, of ids or of settings."""
    return (re.search(r"[\d,]\s?$", text) and re.match(r"\s*[\d,]", below)) or ("Configs:" in text and below[:1] != " ")


def _broken(lines: Sequence[PastedLine], at: int, text: str, after: int) -> tuple[str, int]:
    """Return a row broken within a word by a narrow screen: its lines without a blank in between."""
    if _PARTITION.fullmatch(text) or _TOPIC.fullmatch(text):
        return text, after
    whole = lines[at].text
    for end in range(at + 1, min(len(lines), at + _MOST_FOLDED)):
        if not lines[end].text or len(whole) < _NARROW or _BEGINS.fullmatch(lines[end].text[:_LONGEST]):
            break
        whole += lines[end].text
        if _PARTITION.fullmatch(whole[:_LONGEST]) or _TOPIC.fullmatch(whole[:_LONGEST]):
            return whole, end + 1
    return text, after


def _before_prose(text: str) -> re.Match[str] | None:
    """Match a row in a sentence: prose continues after its ISR in lower case."""
    prose = _PROSE.search(text[:_LONGEST])
    return _PARTITION.fullmatch(text[: prose.start()]) if prose else None


def _as_far(
    lines: Sequence[PastedLine], cut: CutOutput
) -> tuple[DescribedPartition | CutOutput, Sequence[ToolStatement | CutOutput]]:
    """Return the rest of a cut line: the columns before its last label if they form a row; else as statements."""
    first = cut.span.first - lines[0].number
    text = " ".join(line.text for line in lines[first : first + cut.span.last - cut.span.first + 1])[:_LONGEST]
    if (last := _CUT.fullmatch(text)) and (row := _PARTITION.fullmatch(last["whole"])) and "isr" in last["whole"].lower():
        partition = _partition(row, cut.span)
        if partition is not None and (row["isr"] is not None or partition.leader is None):
            return partition, (
                CutOutput(cut.span, f"is a partition's line that is cut off after {literal(last['rest'].strip(), 40)}"),
            )
    if (row := _WITHOUT_ISR.fullmatch(text)) and znodes.number(row["partition"]) is not None:
        replicas = f" and replicas {row['replicas']}" if row["replicas"] else ""
        replicas = f" and replicas that begin with {row['begun']}" if row["begun"] else replicas
        says = f"{row['topic']}-{int(row['partition'])} has {_led(row)}{replicas}; its ISR was not pasted in full"
        return cut, (ToolStatement("kafka-topics", cut.span, says),)
    if (row := _WITHOUT_REPLICAS.fullmatch(text)) and znodes.number(row["partition"]) is not None:
        says = f"{row['topic']}-{int(row['partition'])} has {_led(row)} and ISR {row['isr']}; its replicas were not pasted"
        return cut, (ToolStatement("kafka-topics", cut.span, says),)
    return cut, ()


def _led(row: re.Match[str]) -> str:
    """Return the leader of a row, in words."""
    return "no leader" if row["leader"].lower() in ("none", "-1") else f"leader {row['leader']}"


def _without_begin(text: str, span: LineSpan) -> Iterator[ToolStatement]:
    """Yield a partition's line without its topic."""
    row = _PARTITION.fullmatch(f"Topic: x {text[text.index('Partition:') :]}")
    if row and row["isr"] is not None:
        held = f"{_led(row)}, replicas {row['replicas']}, ISR {row['isr']}"
        says = f"partition {row['partition']} of a topic whose name is cut off has {held}"
        yield ToolStatement("kafka-topics", span, says)
        yield CutOutput(span, "is a partition's line that is cut off at its start")


def _ends_with_empty_isr(row: re.Match[str], partition: DescribedPartition, goes_on: bool) -> bool:
    """Return whether the ISR is empty, not cut: something follows it on its own line or the next."""
    return partition.leader is None and (goes_on or bool(row["rest"]))


def _belongs(text: str) -> bool:
    return len(text) < _LONGEST and _GOES_ON.fullmatch(text.strip()) is not None  # blanks could belong to several of its parts


def _partition(row: re.Match[str], span: LineSpan) -> DescribedPartition | None:
    number = znodes.number(row["partition"])
    leader = None if row["leader"].lower() in ("none", "-1") else znodes.number(row["leader"])
    replicas, isr = _ids(row["replicas"]), _ids(row["isr"])
    if number is None or (leader is None and row["leader"].lower() not in ("none", "-1")) or replicas is None or isr is None:
        return None
    moved = "Adding Replicas" in row["rest"] or "Removing Replicas" in row["rest"]
    return DescribedPartition(
        topic=row["topic"],
        partition=number,
        span=span,
        leader=leader,
        replicas=replicas,
        isr=isr,
        adding=_ids(row["adding"]) if moved else None,
        removing=_ids(row["removing"]) if moved else None,
        deleting=(row["deleting"] or "").lower() == "true",
        offline=_ids(row["offline"]) if "Offline" in row["rest"] else None,
        eligible=_ids(row["elr"]) if "LastKnownElr" in row["rest"] and row["elr"] != "N/A" else None,
        last_eligible=_ids(row["last_elr"]) if "LastKnownElr" in row["rest"] and row["last_elr"] != "N/A" else None,
    )


def _ids(text: str | None) -> tuple[int, ...] | None:
    """Parse broker ids; ``None`` for an invalid one, or a duplicate."""
    found = [znodes.number(name.strip()) for name in text.split(",")] if text else []
    return None if None in found or len(set(found)) < len(found) else tuple(found)


def _topic(row: re.Match[str], span: LineSpan, topic: str | None = None) -> DescribedTopic:
    return DescribedTopic(
        topic=topic or row["topic"],
        span=span,
        partitions=int(row["count"]),
        configs=configs(row["configs"] or "") if row["configs_said"] else None,
        deleting=(row["deleting"] or "").lower() == "true",
        topic_id=row["id"] or None,
        factor=int(row["factor"]) if row["factor"] else None,
    )


def configs_as_far(text: str) -> tuple[dict[str, str] | None, bool]:
    """The settings that are there in any case, ``None`` for none, and whether they are all: a list may be cut behind a name,
    ``a=1,b=``, or behind a comma.
    """
    if _CUT_VALUE.search(text) and (names := list(_CONFIG.finditer(text))):
        return configs(text[: names[-1].start()].rstrip(", ")) or None, False
    text = _PARTED_NAME.sub(lambda name: name[0].replace(" ", ""), text)
    if name := _BEGUN_NAME.search(text):
        return configs(text[: name.start()]), False
    if (whole := configs(text)) is not None:
        return whole, True
    last = text.rfind(",", 0, len(text) - 1) if text.endswith(("=", ",")) else -1
    begun = text[:-1] if text.endswith(",") else text[: max(last, 0)]
    found = configs(begun) if begun else None
    if found and text.endswith(",") and not _SCALAR.fullmatch(found[final := next(reversed(found))]):
        del found[final]  # its value may continue after the comma
    return found, False


def configs(text: str) -> dict[str, str] | None:
    """Parse ``a=1,b=x,y``: a comma within a value differs from one between settings by the name after it.

    ``None`` for text cut after a comma or the name of a setting, or for other text: the missing part may be relevant.
    """
    if text.endswith((",", "=")) or _CUT_VALUE.search(text) or _BEGUN_NAME.search(text) or (text and not _CONFIG.match(text)):
        return None
    marks = [match for match in _CONFIG.finditer(text) if match.start() == 0 or text[match.start() - 1] in ", "]
    ends = [*(match.start() for match in marks), len(text)][1:]
    return {match[1]: text[match.end() : end].strip(", ") for match, end in zip(marks, ends, strict=True)}
