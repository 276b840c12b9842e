"""Properties and YAML files of clients, with names of Java, librdkafka, and Spring Boot with its relaxed spelling.

Only settings relevant for durability are read, under any prefix (``spring.kafka.producer.acks``, ``producer.acks`` of a Connect
worker, ``mp.messaging.outgoing.orders.acks``); everything else, including secrets, is dropped. Undefined values are unknown,
never guessed: variables, values of the wrong type, settings of a profile.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import yaml

from casebook.facts.clients import CONSUMER, PRODUCER, SPRING, ClientFile, GivenSetting
from casebook.facts.quotes import cut
from casebook.formats import properties
from casebook.formats.clients import setting_names
from casebook.formats.clients.setting_names import Path

LONGEST = 256 * 1024
"""Maximum characters of a file; a longer one is no client configuration."""
_MOST_SETTINGS = 5000
_DEEPEST = 30
_LONGEST_VALUE = 60


_NUMBERS = frozenset({"retries", "delivery.timeout.ms", "max.in.flight.requests.per.connection", "session.timeout.ms"})
_FLAGS = frozenset({"enable.idempotence", "enable.auto.commit", "enable.auto.offset.store"})
_WORDS = {
    "acks": {"all": "all", "-1": "all", "0": "0", "1": "1"},
    "auto.offset.reset": {
        "latest": "latest", "largest": "latest", "end": "latest", "earliest": "earliest", "smallest": "earliest",
        "beginning": "earliest", "none": "none", "error": "none",
    },
    "isolation.level": {"read_committed": "read_committed", "read_uncommitted": "read_uncommitted"},
}  # fmt: skip

_NAMED_BY_OWNER = frozenset({"group.id", "transactional.id"})
"""Settings with user-chosen names as values: only their presence matters."""

_NAME = re.compile(r"[\w.@/\[\]-]{1,300}", re.ASCII)
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_VARIABLE = re.compile(r"[$#@]\{|\$\(|\{\{|%\(|^\$\w|^!|^@\w+@")
_PROFILE = re.compile(r"spring\.(?:config\.activate\.on-?profile|profiles)$", re.IGNORECASE)
_INCLUDE = re.compile(r"(?:@?include|spring\.config\.(?:import|location|additional-location)|spring\.profiles\.include)$", re.I)
_STANDARD = "tag:yaml.org,2002:"
_MERGE, _NULL, _BOOL = f"{_STANDARD}merge", f"{_STANDARD}null", f"{_STANDARD}bool"


class _Leaf(NamedTuple):
    """A setting in a file; ``value`` is ``None`` for a list or a mapping, ``""`` for nothing."""

    path: Path
    value: str | None
    line: int


class _Found(NamedTuple):
    """A relevant setting: its owner by the names above it (``""`` for any), and its spelling."""

    key: str
    role: str
    above: str
    given: GivenSetting


def parse(text: str, *, client: str, file: str) -> tuple[ClientFile, ...]:
    """Return the producer and the consumer of a file; neither when it is unreadable, with a problem.

    Args:
        text: Content of the file, without secrets.
        client: Name of the client.
        file: Path in the case; its extension decides between YAML and properties.
    """
    problems, missing = list[str](), list[str]()
    if len(text) > LONGEST:
        missing.append(f"only the first {LONGEST // 1024} KiB were read")
        text = text[: text.rfind("\n", 0, LONGEST) + 1] or text[:LONGEST]
    if _NO_TEXT.search(text):
        missing.append("it holds bytes that are not text")
    is_yaml = file.lower().endswith((".yaml", ".yml", ".json"))
    documents = _yaml(text, problems, missing) if is_yaml else [list(_properties(text, problems))]
    leaves = [leaf for document in documents for leaf in document]
    if not leaves:
        missing.append("it holds no setting")
    missing += _includes(leaves)
    found = [one for document in documents for one in _of_document(document)]
    return tuple(
        _of_kind(kind, _given(found, kind), [*missing, *problems], client=client, file=file, leaves=leaves, whole=not missing)
        for kind in _kinds(found, leaves, file)
    )


def essential(path: Path, text: str) -> str | None:
    """Return what :func:`parse` uses of a setting: all that must be kept of a file.

    Args:
        path: Names that lead to it.
        text: Value; ``""`` for a list or a mapping.

    Returns:
        The value, of a name of a group only that there is one, ``${}`` for any variable, a mark for a value that is not
        understood; ``-`` when only its name is relevant; ``None`` when nothing is.
    """
    name = ".".join(path)
    if _NAME.fullmatch(name) is None:
        return None
    if (matched := setting_names.matched(path)) is None:
        return "-" if _reveals_kind(name) else None
    given, text = _value(matched[1], _Leaf(path, text, 0)), text.strip()
    if given.value is None:
        return "${}" if _VARIABLE.search(text) else "[redacted]"
    return given.value if matched[1] in _NAMED_BY_OWNER else text


def _reveals_kind(name: str) -> bool:
    """Return whether the name of a setting reveals the kind of file: library, producer or consumer, profile, includes."""
    return (
        not setting_names.TELLING.isdisjoint(setting_names.endings(name.lower()))
        or not setting_names.SECTIONS.isdisjoint(setting_names.tokens(name))
        or name.lower().startswith(("spring.", "spring_"))
        or _PROFILE.search(name) is not None
        or _INCLUDE.search(name) is not None
    )


def _of_kind(
    kind: str, given: Mapping[str, GivenSetting], problems: list[str], *, client: str, file: str, leaves: list[_Leaf], whole: bool
) -> ClientFile:
    unknown = [f"{one.name} in line {one.line} is unknown: {one.why}" for one in given.values() if one.value is None]
    return ClientFile(
        client=client,
        kind=kind,
        file=file,
        library=_library(leaves),
        given=given,
        problems=tuple(dict.fromkeys([*problems, *unknown])),
        whole=whole,
    )


def _properties(text: str, problems: list[str]) -> Iterator[_Leaf]:
    seen: dict[str, int] = {}
    for key, value, line in properties.elements(text):
        if key in seen:
            problems.append(f"{_shown(key)} is set twice, in lines {seen[key]} and {line}: the last counts")
        seen[key] = line
        yield _Leaf((key,), value.strip(), line)


def _yaml(text: str, problems: list[str], missing: list[str]) -> list[list[_Leaf]]:
    """Return the leaves of every document. Nodes are composed, never constructed: no tag can run code."""
    documents: list[list[_Leaf]] = []
    try:
        for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
            documents.append([])
            if node is not None:
                _Flattened(documents[-1], problems, missing).add(node, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        missing.append(f"is not YAML{f' from line {mark.line + 1} on' if mark else ''}")
    except (ValueError, OverflowError):  # an invalid character or version: "\UFFFFFFFF"
        missing.append("is not YAML")
    except RecursionError:
        missing.append("is nested too deeply to be read")
    return documents


class _Flattened:
    """Leaves of a document with repeated aliases, up to a number beyond any client's."""

    def __init__(self, leaves: list[_Leaf], problems: list[str], missing: list[str]) -> None:
        self._leaves, self._problems, self._missing, self._left = leaves, problems, missing, _MOST_SETTINGS

    def add(self, node: yaml.Node, path: Path) -> None:
        self._left -= 1
        if self._left < 0 or len(path) > _DEEPEST:
            told = "has more settings than a client has, or nests them deeper: not all were read"
            if told not in self._missing:
                self._missing.append(told)
        elif isinstance(node, yaml.MappingNode):
            self._mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            self._leaves.append(_Leaf(path, None, node.start_mark.line + 1))
            for at, child in enumerate(node.value):
                self.add(child, (*path, str(at)))
        else:
            self._leaves.append(_Leaf(path, scalar(node), node.start_mark.line + 1))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> None:
        for key, value in node.value:
            if key.tag == _MERGE:
                for base in reversed(value.value) if isinstance(value, yaml.SequenceNode) else (value,):
                    self.add(base, path)
        seen: dict[str, int] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            name, line = key.value if isinstance(key, yaml.ScalarNode) else "", key.start_mark.line + 1
            if name in seen:
                both = f"in lines {seen[name]} and {line}"
                self._problems.append(f"{_shown(name)} is set twice, {both}: the last counts, where the file is taken at all")
            seen[name] = line
            if isinstance(value, yaml.MappingNode) and setting_names.matched((*path, name)) is not None:
                self._leaves.append(_Leaf((*path, name), None, line))
            self.add(value, (*path, name))


def scalar(node: yaml.ScalarNode) -> str:
    """Return its text; booleans in every spelling of YAML 1.1; a custom tag is a variable."""
    if node.tag == _NULL:
        return ""
    if node.tag == _BOOL:
        return str(yaml.SafeLoader.bool_values.get(node.value.lower(), node.value)).lower()
    return node.value if node.tag.startswith(_STANDARD) else "${}"


def _includes(leaves: Iterable[_Leaf]) -> list[str]:
    """Return other files that belong to it, and are missing."""
    lines = [leaf.line for leaf in leaves if _INCLUDE.search(".".join(leaf.path))]
    return [f"line {n} takes another file in, which is not part of the case: what is not set here is unknown" for n in lines]


def _of_document(leaves: Iterable[_Leaf]) -> list[_Found]:
    """Return the relevant settings; those in a profile's document are unreliable."""
    leaves = list(leaves)
    profile = any(_PROFILE.search(".".join(leaf.path)) for leaf in leaves)
    found = []
    for leaf in leaves:
        matched = setting_names.matched(leaf.path)
        if matched is None:
            continue
        role, key, above = matched
        given = _value(key, leaf)
        if profile and given.value is not None:
            given = given._replace(value=None, why="it counts in one profile only")
        found.append(_Found(key, role, above, given))
    return found


def _value(key: str, leaf: _Leaf) -> GivenSetting:
    """Return the value in a normalised spelling, or why it is unknown."""
    name = _shown(".".join(leaf.path))
    text = leaf.value
    if text is None:
        return GivenSetting(None, name, leaf.line, "a list or mapping stands where a value belongs")
    text = text.strip()
    if _VARIABLE.search(text):
        return GivenSetting(None, name, leaf.line, "it is a variable that only the application resolves")
    if key in _NAMED_BY_OWNER:
        return GivenSetting("set" if text else "", name, leaf.line)
    if key in _WORDS:
        word = _WORDS[key].get(text.lower().replace("-committed", "_committed").replace("-uncommitted", "_uncommitted"))
        return GivenSetting(word, name, leaf.line, "" if word else f"no client takes {_shown(text)!r}")
    if key in _FLAGS:
        flag = text.lower()
        return GivenSetting(flag, name, leaf.line) if flag in ("true", "false") else _wrong(name, leaf, text)
    if key in _NUMBERS:
        number = text.replace("_", "")
        return (
            GivenSetting(str(int(number)), name, leaf.line)
            if re.fullmatch(r"-?[0-9]{1,12}", number)
            else _wrong(name, leaf, text)
        )
    return GivenSetting(text, name, leaf.line) if re.fullmatch(r"[0-9.]{1,12}", text) else _wrong(name, leaf, text)


def _wrong(name: str, leaf: _Leaf, text: str) -> GivenSetting:
    return GivenSetting(None, name, leaf.line, f"no client takes {_shown(text)!r}")


def _shown(text: str) -> str:
    """Return a name or a value in quotable form: cut, and reduced to name characters."""
    return cut(re.sub(r"[^\w.,:\[\]-]", "?", text, flags=re.ASCII), _LONGEST_VALUE)


def _given(found: Iterable[_Found], kind: str) -> Mapping[str, GivenSetting]:
    """Return the effective settings of a producer or consumer: specific ones override common ones, later lines earlier ones."""
    chosen: dict[str, _Found] = {}
    for one in found:
        if one.role != kind or _others(one.above, kind):
            continue
        held = chosen.get(one.key)
        if held is None or _closeness(one, kind) > _closeness(held, kind):
            chosen[one.key] = one
        elif _closeness(one, kind) == _closeness(held, kind):
            chosen[one.key] = one if held.above == one.above or held.given.value == one.given.value else _unlike(held, one)
    return {key: one.given for key, one in sorted(chosen.items())}


def _unlike(held: _Found, one: _Found) -> _Found:
    why = f"lines {held.given.line} and {one.given.line} say differently, for different sections"
    return one._replace(given=one.given._replace(value=None, why=why))


def _others(above: str, kind: str) -> bool:
    """Return whether it belongs to the other kind, or to an admin client."""
    words = set(above.split("."))
    other = {"consumer", "incoming"} if kind == PRODUCER else {"producer", "outgoing"}
    return bool(words & (other | {"admin", "streams"}))


def _closeness(one: _Found, kind: str) -> int:
    words = set(one.above.split("."))
    own = {"producer", "outgoing"} if kind == PRODUCER else {"consumer", "incoming"}
    return 1 if words & own else 0


def _library(leaves: Iterable[_Leaf]) -> str | None:
    names = {".".join(leaf.path).lower() for leaf in leaves}
    if any(name.startswith(("spring.", "spring_")) for name in names):
        return SPRING
    ends = {_end for name in names for _end in setting_names.endings(name)}
    return next((library for library, telling in setting_names.GIVES_AWAY.items() if not ends.isdisjoint(telling)), None)


def _kinds(found: Iterable[_Found], leaves: Iterable[_Leaf], file: str) -> tuple[str, ...]:
    """Return whether it is a producer, a consumer or both: by its settings, their sections, the file name; else both."""
    found, kinds = list(found), set()
    ends = {end for leaf in leaves for end in setting_names.endings(".".join(leaf.path).lower())}
    words = {word for leaf in leaves for word in setting_names.tokens(".".join(leaf.path))}
    for kind, only, sections in (
        (PRODUCER, setting_names.PRODUCERS_ONLY, {"producer", "outgoing"}),
        (CONSUMER, setting_names.CONSUMERS_ONLY, {"consumer", "incoming"}),
    ):
        if (
            any(one.role == kind and not _others(one.above, kind) for one in found)
            or not ends.isdisjoint(only)
            or words & sections
        ):
            kinds.add(kind)
    name = file.rpartition("/")[2].lower()
    named = {kind for kind in (PRODUCER, CONSUMER) if kind in name}
    return tuple(kind for kind in (PRODUCER, CONSUMER) if kind in (kinds or named or {PRODUCER, CONSUMER}))
