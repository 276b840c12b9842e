"""Metrics of a broker: Kafka's own MBeans from jmxterm, Kafka's JmxTool, Jolokia and jmx_exporter (Prometheus).

A value is valid when it was read, which only JmxTool and Jolokia print; none prints the broker. Source:
``core/src/main/scala/kafka/tools/JmxTool.scala@2.8.2``; names of MBeans: ``ReplicaManager.scala``, ``KafkaController.scala``,
``LogCleaner.scala``, ``LogManager.scala``, ``SocketServer.scala@2.8.2``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.cluster import instant
from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted import cut_json
from casebook.formats.pasted.cut_output import CutOutput
from casebook.formats.pasted.hosts import jmx_tool, mbeans
from casebook.formats.pasted.hosts.host import LONGEST, Frame, placed, uncommented
from casebook.formats.pasted.text import PastedLine, one, spanned

_HEADING = re.compile(r"\s*(?:#\s*)?(?:mbean = |bean is set to )(?P<mbean>kafka\S+?):?\s*")
_ASKED = re.compile(r"(?:\$>|.*[$#>] ?)?\s*(?:bean|get|info)\s+(?:-b )?\S.*")
_ASKS_ATTRIBUTE = re.compile(r"(?:\$>|.*[$#>] ?)?\s*get\s(?:.*\s)?-s\s(?:.*\s)?(?P<name>[A-Z]\w+)\s*")
"""A command that prints the bare value of an attribute."""
_VALUE = re.compile(r"\s*(?P<name>[A-Za-z0-9]\w{0,60}) = (?P<value>[^;]{1,200});\s*")
_PROMETHEUS = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>[^{}]*)\})?\s+(?P<value>[+-]?(?:\d[\d.]*(?:[eE][+-]?\d+)?|Inf"
    r"|NaN))(?:\s+(?P<ms>\d{13}))?\s*"
)
_BARE = re.compile(
    r"\s*(?:[-*] )?(?:kafka[\w.]*:\S*name=)?(?P<name>[A-Z][A-Za-z]{5,60}|[a-z]+(?:-[a-z]+){2,})"
    r"(?:\s*[:=]\s*|\s+(?:Value|Count)=|\s+is\s+)"
    r"(?P<value>-?\d+(?:\.\d+)?)\s*"
)
"""A metric by its name in Kafka, as in a script or prose."""
_COMMENT = re.compile(r"# (?:HELP|TYPE|EOF|UNIT)\b.*")
_DECLARED = re.compile(r"# (?:HELP|TYPE) (?P<name>[a-zA-Z_:][\w:]*)(?: .*)?")
_OF_PARTS = re.compile(r"_(?:bucket|count|sum|total|created)$")
"""Endings of a histogram's or counter's lines, which its declaration does not have."""
_OTHERS = re.compile(r"(?:jvm|process|go|jmx|java|node|scrape|promhttp|http)_\w+")
_LABEL = re.compile(r'(?P<name>\w+)="(?P<value>(?:[^"\\]|\\.)*)"')
_CONNECTING = re.compile(
    r"Trying to connect to JMX url: .*|#?Connection to .* is opened.*|Welcome to JMX terminal\..*|#(?:domain"
    r"|bean) is set to .*|\$>(?:open|domain|close|exit|beans).*"
)
_MANTISSA = re.compile(r"-?\d\.\d{2,}")
_EXPONENT = re.compile(r"\s-?\d\.\d+[eE][+-]?\d+\s*$")
_MOST_SAID, _MOST_SHOWN, _LONG_MANTISSA = 200, 300, 7


def read(lines: Sequence[PastedLine]) -> Iterator[HostSaid | Frame | CutOutput]:
    """Yield every Kafka metric in any of the forms, with its lines."""
    whose = {here.at: here.broker for here in placed(lines)}
    yield from _jolokia(lines, whose)
    yield from jmx_tool.columns(lines, whose)
    yield from jmx_tool.flat(lines, whose)
    yield from _jmxterm(lines, whose)
    yield from _prometheus(lines, whose)


def is_frame(text: str) -> bool:
    """Return whether it is decoration by one of the tools."""
    seen = uncommented(text[:LONGEST])
    return any(pattern.fullmatch(seen) for pattern in (_CONNECTING, _HEADING, _COMMENT)) or (
        _ASKED.fullmatch(seen) is not None and ("kafka." in seen or seen.lstrip().startswith("$>"))
    )


_Whose = Mapping[int, int | None]


def _jmxterm(lines: Sequence[PastedLine], whose: _Whose) -> Iterator[HostSaid]:
    """Parse ``Name = value;`` below the name of the MBean."""
    mbean, values, asked, begin, last = None, {}, "", 0, 0
    for at, line in enumerate(lines):
        text = line.text[:LONGEST]
        if mbean is not None and not values and asked and re.fullmatch(r"-?\d[\d.]*(?:E-?\d+)?|true|false", text):
            values, last = {asked: text}, at
        elif mbean is not None and (value := _VALUE.fullmatch(text)):
            if value["name"] not in values:
                values[value["name"]], last = value["value"].strip(), at
        elif text:
            if mbean is not None and values:
                yield mbeans.said(mbean, values, spanned(lines, begin, last + 1), whose.get(begin), None)
            found = _HEADING.fullmatch(text)
            asked = name["name"] if (name := _ASKS_ATTRIBUTE.fullmatch(text)) else asked if found else ""
            mbean, values, begin = (found["mbean"], {}, at) if found and "mbean =" in text else (None, {}, 0)
    if mbean is not None and values:
        yield mbeans.said(mbean, values, spanned(lines, begin, last + 1), whose.get(begin), None)


def _jolokia(lines: Sequence[PastedLine], whose: _Whose) -> Iterator[HostSaid | CutOutput]:
    """Parse responses to reads, alone or as a list."""
    at = 0
    while at < len(lines):
        text = lines[at].text.lstrip()
        if not text.startswith(("{", "[")):
            at += 1
            continue
        told, whole, after = cut_json.read(lines, at)
        answers = [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, dict)]
        if not whole:
            answers = [answer for answer in answers if "value" in answer or "data" in answer]
        found = [
            said
            for answer in answers
            for read in (_answer, _queried)
            for said in read(answer, spanned(lines, at, after), whose.get(at))
        ]
        yield from found
        if found and not whole:
            yield cut_json.cut_output(lines, at, after)
        at = after


def _answer(answer: Mapping[str, object], where: LineSpan, broker: int | None) -> Iterator[HostSaid]:
    request, value, seconds = answer.get("request"), answer.get("value"), answer.get("timestamp")
    if not isinstance(request, dict) or not isinstance(mbean := request.get("mbean"), str) or not mbean.startswith("kafka"):
        return
    at = seconds * 1000 if type(seconds) is int and 0 < seconds < 1 << 40 else None
    if "value" not in answer:
        why = cut(str(answer.get("error", "it does not say why")), 120)
        yield HostSaid("metrics", where, f"Jolokia has no value of {mbean}: {why}", broker)
        return
    if not isinstance(value, dict):
        yield mbeans.said(mbean, {str(request.get("attribute", "Value")): str(value)}, where, broker, at)
    elif all(isinstance(inner, dict) for inner in value.values()):
        for name, inner in list(value.items())[:_MOST_SAID]:
            yield mbeans.said(str(name), {str(key): str(one) for key, one in inner.items()}, where, broker, at)
    else:
        yield mbeans.said(mbean, {str(key): str(one) for key, one in value.items()}, where, broker, at)


def _queried(answer: Mapping[str, object], where: LineSpan, broker: int | None) -> Iterator[HostSaid]:
    """Parse Prometheus' own response to an instant query (``/api/v1/query``)."""
    data = answer.get("data")
    rows = data.get("result") if isinstance(data, dict) and data.get("resultType") == "vector" else None
    for row in (rows if isinstance(rows, list) else [])[:_MOST_SAID]:
        labels, value = (row.get("metric"), row.get("value")) if isinstance(row, dict) else (None, None)
        if isinstance(labels, dict) and isinstance(value, list) and len(value) == 2 and isinstance(value[0], int | float):
            name = str(labels.get("__name__", "a metric whose name the query took away"))
            of = {str(key): str(label) for key, label in labels.items() if key != "__name__"}
            yield _of_metric(name, of, str(value[1]), int(value[0] * 1000) if 0 < value[0] < 1 << 40 else None, where, broker)


def _may_go_on(found: re.Match[str], lines: Sequence[PastedLine]) -> bool:
    """Return whether the exponent of the last value may be missing (``Double.toString``: one digit stands before its point)."""
    if found["ms"] or lines[-1].padded or not _MANTISSA.fullmatch(found["value"]):
        return False
    is_amount = re.search(r"bytes|size|_total$|count", found["name"], re.IGNORECASE) is not None
    return is_amount and (len(found["value"]) > _LONG_MANTISSA or any(_EXPONENT.search(line.text) for line in lines))


def _prometheus(lines: Sequence[PastedLine], whose: _Whose) -> Iterator[HostSaid | Frame | CutOutput]:
    """Parse jmx_exporter: Kafka's lines one by one, those of the JVM and the host as a count."""
    others: list[int] = []
    declared: set[str] = set()
    last = len(lines) - 1
    said = more = 0
    for at, line in enumerate(lines):
        text = line.text if len(line.text) <= LONGEST else ""
        found = _PROMETHEUS.fullmatch(text.strip()) if "_" in text else None
        if found is None and (bare := _BARE.fullmatch(text)) and (known := mbeans.known(bare["name"])):
            bad = known.bad is not None and known.bad(float(bare["value"]))
            facts = {"metric": bare["name"], "value": bare["value"]}
            text = f"{bare['name']} is {bare['value']} ({known.means})"
            yield HostSaid("metrics", one(line), text, whose.get(at), bad, facts=facts)
            continue
        if found is None:
            if text.startswith("# ") and _COMMENT.fullmatch(text):
                declared |= {named["name"]} if (named := _DECLARED.fullmatch(text)) else set()
                yield Frame(one(line))
            continue
        if at == last and _may_go_on(found, lines):
            reason = f"ends the paste within a value, maybe: {cut(text.strip(), _MOST_SHOWN)}"
            yield CutOutput(one(line), reason)
        elif _OTHERS.fullmatch(found["name"]):
            others.append(at)
        elif (
            found["name"].startswith(("kafka_", "java_lang_", "zookeeper_"))
            or "kafka" in found["name"]
            or (found["labels"] and _LABEL.match(found["labels"]))
            or declared & {found["name"], _OF_PARTS.sub("", found["name"])}
        ):
            said += 1
            if said <= _MOST_SAID or _is_bad(found["name"], found["value"]):
                yield _of_prometheus(found, one(line), whose.get(at))
            else:
                more = more or line.number
                yield Frame(one(line))
    for at in others:
        yield Frame(one(lines[at]))
    if others:
        text = f"{len(others)} lines of Prometheus text are of the JVM or the host, and say nothing of Kafka"
        yield HostSaid("metrics", one(lines[others[0]]), text, whose.get(others[0]))
    if more:
        text = f"{said - _MOST_SAID} more metrics follow, and none reports known trouble"
        yield HostSaid("metrics", LineSpan(more, more), text)


def _is_bad(name: str, value: str) -> bool:
    known, number = mbeans.measured(name), mbeans.number(value)
    return known is not None and known.bad is not None and number is not None and known.bad(number)


def _of_prometheus(found: re.Match[str], where: LineSpan, broker: int | None) -> HostSaid:
    labels = {label["name"]: label["value"] for label in _LABEL.finditer(found["labels"] or "") if label["value"]}
    return _of_metric(found["name"], labels, found["value"], int(found["ms"]) if found["ms"] else None, where, broker)


def _of_metric(name: str, labels: Mapping[str, str], value: str, at: int | None, where: LineSpan, broker: int | None) -> HostSaid:
    of = f" of {', '.join(f'{key} {label}' for key, label in labels.items())}" if labels else ""
    known = mbeans.measured(name) or mbeans.known(labels.get("name", ""))
    when = f", at {instant(at)}" if at else ""
    means = f" ({known.means})" if known else ""
    facts = {"metric": name, "labels": dict(labels), "value": value, "at": at}
    bad = _is_bad(name, value) or _is_bad(labels.get("name", ""), value)
    return HostSaid("metrics", where, f"{name}{of} is {value}{when}{means}", broker, bad, facts=facts)
