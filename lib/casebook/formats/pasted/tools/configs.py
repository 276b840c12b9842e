"""Output of ``kafka-configs --describe`` for topics and brokers.

With ZooKeeper it prints a znode's overrides: ``Configs for topics:t are a=1,b=2`` (0.9), ``Configs for topic 't' are ...``
(later). With brokers it prints a list below ``Dynamic configs for topic t are:``, only of those set for this entity; below ``All
configs for ...`` all of them, with ``synonyms`` for those set for it
(``core/src/main/scala/kafka/admin/ConfigCommand.scala@0.9.0.1, 1.1.1, 2.8.2``, ``describeResourceConfig``).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.facts.pasted import ToldConfig, ToolStatement
from casebook.facts.pasted_hosts import LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted.text import REDACTED, PastedLine, is_end, is_gap, spanned
from casebook.formats.pasted.tools.topics import configs_as_far

_OF_ZOOKEEPER = re.compile(
    r"\s*Configs for (?P<kind>topics?|brokers?)[ :](?P<quote>['\"`]?)(?P<entity>[\w.<>-]{1,249})(?P=quote) are ?(?P<configs>.*)"
    r"|\s*Configs for default (?P<default>brokers?) are ?(?P<of_default>.*)"
)
_HEAD = re.compile(
    r"\s*(?P<which>Dynamic |All |)configs for (?P<kind>topic|broker) '?(?P<entity>[\w.-]{1,249})'? are:\s*"
    r"|\s*(?P<default>Default) configs? for brokers in the cluster are:\s*",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\s*(?P<what>(?:(?:Dynamic|All|Default|Quota|SCRAM credential|Client) )?configs for (?:the )?(?:default )?(?:clients?|users?"
    r"|client-id|user-principal|ips?|ip|broker-loggers?|client-metrics?|groups?)\b.{0,80}? (?:are|is)\b):?(?P<values>.*)",
    re.IGNORECASE,
)
_KIND = re.compile(r"--entity-type[ =]+(?P<kind>topics|brokers)\b")
_ENTITY = re.compile(r"--entity-name[ =]+[\"']?(?P<name>[\w.-]{1,249})")
_SHORT = re.compile(r"--(?P<kind>topic|broker)[ =]+[\"']?(?P<name>[\w.-]{1,249})")
_NAME = re.compile(r"[a-z][a-zA-Z0-9._-]*")
_BEGINS = re.compile(r"\s*[a-z][a-zA-Z0-9._-]*=")
_BARE = re.compile(r"\s+(?P<name>[a-z][a-zA-Z0-9-]*(?:\.[a-zA-Z0-9-]+)+)=(?P<value>\S+)\s*")
_FOLDED = re.compile(r"\s*(?:[a-z][a-zA-Z0-9._-]*=|[\w:.-]+(?:,|$)).*")
_SYNONYM = re.compile(r"(?P<source>[A-Z_]+_CONFIG):(?P<name>[\w.-]+)=(?P<value>.*?)(?=, [A-Z_]+_CONFIG:|$)")
_BESIDE = re.compile(
    r"Warning: --zookeeper is deprecated and will be removed in a future version of Kafka\."
    r"|Use --bootstrap-server instead to specify a broker to connect to\."
    r"|\s*(?:# ?)?(?:Completed [uU]pdating (?:default )?config|Updated config for ).*"
)
_SOURCES = (
    "DYNAMIC_TOPIC_CONFIG|DYNAMIC_BROKER_LOGGER_CONFIG|DYNAMIC_BROKER_CONFIG|DYNAMIC_DEFAULT_BROKER_CONFIG|DYNAMIC_GROUP_CONFIG"
    "|DYNAMIC_CLIENT_METRICS_CONFIG|STATIC_BROKER_CONFIG|DEFAULT_CONFIG"
)
"""Names of ``ConfigEntry.ConfigSource@3.9.0``."""
_WORD_BEGINS = re.compile(rf"sensitive=(?:true|false)\b|synonyms=\{{|(?:{_SOURCES}):")
_ENTRY_WORD = re.compile(r"[a-z][\w.-]*=.*")
"""The word before ``sensitive=`` or ``synonyms=``: nothing of an entry may stand between."""
_OWN = {"topics": "DYNAMIC_TOPIC_CONFIG", "brokers": "DYNAMIC_BROKER_CONFIG", "<default>": "DYNAMIC_DEFAULT_BROKER_CONFIG"}
_STATIC, _DEFAULT = "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"
_MOST_FOLDED, _LONGEST, _SHOWN, _MOST_SHOWN, _MOST_SOURCES = 6, 64 << 10, 30, 600, 60


class _SettingEntry(NamedTuple):
    """A setting in a list; secrets have no printed value."""

    name: str
    value: str
    is_secret: bool
    synonyms: str


def told(lines: Sequence[PastedLine]) -> Iterator[ToldConfig | ToolStatement]:
    """Yield every entity's overrides."""
    at, asked = 0, None
    while at < len(lines):
        text, after = lines[at].text, at + 1
        asked = _asked(text) if "kafka-" in text[:_LONGEST] else asked
        if (" sensitive=" in text or " synonyms={" in text) and len(text) < _LONGEST and (listed := _entries(lines, at - 1))[0]:
            entries, after = listed
            yield from _headless(entries, spanned(lines, at, after), asked)
        elif "onfig" in text and len(text) < _LONGEST:
            if head := _HEAD.fullmatch(text):
                rows, after = _listed(lines, at, head)
                yield from rows
            elif _OF_ZOOKEEPER.fullmatch(text):
                found, after = _unfolded(lines, at)
                yield from _of_zookeeper(found, spanned(lines, at, after))
            elif other := _OTHER.fullmatch(text):
                entries, after = _entries(lines, at)
                printed = [cut(other["values"].strip(" :"), _MOST_SHOWN), *map(_with_sources, entries[:_SHOWN])]
                values = ", ".join(filter(None, printed)) or "nothing"
                more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
                is_part = after < len(lines) and is_gap(lines[after].text)
                more += "; and others that were left out" if is_part else ""
                yield ToolStatement(
                    "kafka-configs", spanned(lines, at, after), f"{cut(other['what'].strip(), 100)} {values}{more}"
                )
        at = after


def _asked(text: str) -> tuple[str, str] | None:
    """Return kind and name of the topic or broker in a command."""
    command = text[:4096]
    if "kafka-configs" not in command or "--describe" not in command:
        return None
    short = _SHORT.search(command)
    kind, name = _KIND.search(command), _ENTITY.search(command)
    if short:
        return f"{short['kind']}s", short["name"]
    default = kind is not None and kind["kind"] == "brokers" and "--entity-default" in command
    return (kind["kind"], name["name"] if name else "<default>") if kind and (name or default) else None


def _headless(
    entries: Sequence[_SettingEntry], span: LineSpan, asked: tuple[str, str] | None
) -> Iterator[ToldConfig | ToolStatement]:
    """Yield a list without its header: the command names its entity, otherwise it is unknown; earlier rows may be missing."""
    if asked is not None:
        yield from _of_entity(entries, span, *asked, every=True, whole=False)
        return
    shown = ", ".join(map(_with_sources, entries[:_SHOWN]))
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    says = f"settings of a topic or broker that is not named: {shown}{more}"
    yield ToolStatement("kafka-configs", span, says, "paste the line above them, which names it")


def is_beside(text: str) -> bool:
    """Return whether it is decoration by the tool."""
    return _BESIDE.fullmatch(text) is not None


def _unfolded(lines: Sequence[PastedLine], at: int) -> tuple[re.Match[str] | None, int]:
    """Match a list of overrides on one line, joined with the next lines if they continue it."""
    text, after = lines[at].text, at + 1
    while after < min(len(lines), at + _MOST_FOLDED) and _goes_on(text, lines[after].text[:_LONGEST]):
        text, after = f"{text}{lines[after].text.strip()}", after + 1
    return _OF_ZOOKEEPER.fullmatch(text), after


def _goes_on(text: str, below: str) -> bool:
    return _FOLDED.fullmatch(below) is not None and (text.endswith(",") or (text.endswith(" are") and "=" in below))


def _of_zookeeper(found: re.Match[str], span: LineSpan) -> Iterator[ToldConfig | ToolStatement]:
    text = (found["of_default"] if found["default"] else found["configs"]).strip()
    settings, whole = configs_as_far(text)
    kind = "brokers" if found["default"] or found["kind"].startswith("broker") else "topics"
    yield ToolStatement("kafka-configs", span, "" if whole else "a list of overrides that is cut or was changed")
    if settings is not None:
        yield ToldConfig(kind, "<default>" if found["default"] else found["entity"], span, settings, whole)


def _listed(lines: Sequence[PastedLine], at: int, head: re.Match[str]) -> tuple[Sequence[ToldConfig | ToolStatement], int]:
    """Parse the list below a header: it may be cut when nothing follows it."""
    entries, after = _entries(lines, at)
    is_bare = not entries
    entries, after = _bare(lines, at + 1) if is_bare else (entries, after)
    span = spanned(lines, at, after)
    goes_on = after + 1 < len(lines) and not lines[after].text and _BEGINS.match(lines[after + 1].text) is not None
    whole = (is_end(lines, after) and not goes_on) or (
        after < len(lines) and _HEAD.fullmatch(lines[after].text[:4096]) is not None
    )
    kind = "brokers" if head["default"] or head["kind"].lower() == "broker" else "topics"
    entity = "<default>" if head["default"] else head["entity"]
    every = (head["which"] or "").strip().lower() == "all"
    return tuple(_of_entity(entries, span, kind, entity, every=every, whole=whole and not (is_bare and entries))), after


def _bare(lines: Sequence[PastedLine], at: int) -> tuple[list[_SettingEntry], int]:
    """Return settings of which a person has left only name and value, and their end: others may be left out, too."""
    found = []
    while at < len(lines) and (row := _BARE.fullmatch(lines[at].text[:_LONGEST])):
        found.append(_SettingEntry(row["name"], row["value"], row["value"] == REDACTED, ""))
        at += 1
    return found, at


def _of_entity(
    entries: Sequence[_SettingEntry], span: LineSpan, kind: str, entity: str, *, every: bool, whole: bool
) -> Iterator[ToldConfig | ToolStatement]:
    """Yield an entity's overrides in a list: among all settings, those that its synonyms mark as its own."""
    source = _OWN[entity if entity == "<default>" else kind]
    own, default, static, built_in, hidden = {}, {}, {}, {}, []
    for entry in entries:
        synonyms = {found["source"]: found for found in reversed(list(_SYNONYM.finditer(entry.synonyms)))}
        is_own = source in synonyms if every or synonyms else True
        if is_own:
            own[entry.name] = REDACTED if entry.is_secret else _value(entry, synonyms.get(source))
        if kind == "brokers" and entity != "<default>" and (found := synonyms.get(_OWN["<default>"])):
            default[entry.name] = found["value"]
        if (found := synonyms.get(_STATIC)) and not entry.is_secret:
            static[found["name"]] = found["value"]
        hidden += [entry.name] if entry.is_secret else []
        if is_own and (found := synonyms.get(_DEFAULT)) and not entry.is_secret:
            built_in[found["name"]] = found["value"]
    yield ToldConfig(kind, entity, span, own, whole)
    if default:
        yield ToldConfig("brokers", "<default>", span, default, whole=False)
    defaults = f"by default {_some(built_in)}" if built_in else ""
    printed = [_with_sources(entry) for entry in entries if _is_open(entry) or entry.name not in {*own, *hidden}]
    sources = f"with their sources{'' if hidden else ', none sensitive'}: {'; '.join(printed[:_MOST_SOURCES])}" if printed else ""
    secret = f"the tool hides the values of {', '.join(hidden)}, which are sensitive" if hidden else ""
    yield ToolStatement(
        "kafka-configs", span, "; ".join(filter(None, (_of_file(static, kind, entity), defaults, secret, sources)))
    )


def _with_sources(entry: _SettingEntry) -> str:
    """Return a setting with its sources, as printed."""
    value = REDACTED if entry.is_secret else entry.value
    return f"{entry.name}={value}" + (f" ({cut(entry.synonyms, _MOST_SHOWN)})" if _is_open(entry) else "")


def _is_open(entry: _SettingEntry) -> bool:
    """Return whether a setting is printed with its sources, and is no secret."""
    return bool(entry.synonyms) and not entry.is_secret


def _value(entry: _SettingEntry, own: re.Match[str] | None) -> str:
    """Return the entity's own value: that of its synonym, if printed."""
    return entry.value if own is None or own["name"] != entry.name else own["value"]


def _of_file(static: dict[str, str], kind: str, entity: str) -> str:
    """Return settings from ``server.properties``: of the requested broker, or of the responding one."""
    if not static:
        return ""
    whose = f"server.properties of broker {entity}" if kind == "brokers" else "server.properties of the broker that answered"
    return f"{whose} sets {_some(static)}"


def _some(settings: dict[str, str]) -> str:
    more = f" and {len(settings) - _SHOWN} more" if len(settings) > _SHOWN else ""
    return ", ".join(f"{name}={value}" for name, value in list(settings.items())[:_SHOWN]) + more


def _entries(lines: Sequence[PastedLine], at: int) -> tuple[list[_SettingEntry], int]:
    """Return the settings after a line, folded or not, and their end."""
    found, index = [], at + 1
    index += _is_apart(lines, index)
    while index < len(lines) and len(lines[index].text) < _LONGEST and _BEGINS.match(lines[index].text):
        text, after = lines[index].text, index + 1
        while after < min(len(lines), index + _MOST_FOLDED):
            more, entry = lines[after].text, _entry(text)
            if entry is not None and (entry.synonyms or not more.strip().startswith("synonyms={")):
                break
            if not more or len(more) > _LONGEST or _HEAD.fullmatch(more) or _entry(more) is not None:
                break
            text, after = _rejoined(text, more.strip()), after + 1
        if (entry := _entry(text)) is None:
            break
        found.append(entry)
        index = after
        index += _is_apart(lines, index)
    return found, index


def _is_apart(lines: Sequence[PastedLine], at: int) -> bool:
    """Return whether a line is an empty one before a setting with its source, as pages put between lines."""
    return at + 1 < len(lines) and not lines[at].text and _entry(lines[at + 1].text[:_LONGEST]) is not None


def _rejoined(text: str, more: str) -> str:
    """Return a folded entry with its next line: a narrow screen breaks words, a mail breaks between them."""
    tail = text.rsplit(" ", 1)[-1]
    is_between = _WORD_BEGINS.match(more) is not None and (tail.endswith(",") or _ENTRY_WORD.fullmatch(tail) is not None)
    return f"{text} {more}" if is_between else f"{text}{more}"


def _entry(text: str) -> _SettingEntry | None:
    """Parse ``a.b=1 sensitive=false synonyms={...}``, or a secret that is left out; ``None`` for a part of one."""
    name, _, rest = text.strip().partition("=")
    value, _, behind = rest.partition(" sensitive=")
    if not behind:
        value, _, synonyms = rest.partition(" synonyms=")
        secret = "false" if synonyms else ""
    else:
        secret, _, synonyms = behind.partition(" synonyms=")
    if rest == REDACTED and _NAME.fullmatch(name):
        return _SettingEntry(name, rest, False, "")
    is_whole = not synonyms or (synonyms.startswith("{") and synonyms.endswith("}") and "} " not in synonyms)
    if secret not in ("true", "false") or not is_whole or not _NAME.fullmatch(name):
        return None
    return _SettingEntry(name, value.strip(), secret == "true", synonyms[1:-1])
