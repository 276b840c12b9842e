"""Secrets in the configuration of clients: properties setting by setting, YAML node by node, also those behind variables."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import yaml

from casebook.collect import redaction
from casebook.formats import properties

_DEEPEST = 200
_LONGEST_PATH = 300
_TOO_DEEP = "secret"  # whatever is nested deeper than any client nests it may be one
_MOST_NODES = 200_000

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_CONTINUED = re.compile(r"\\(?:\r\n|\n|\r)[ \t\f]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_COMMENT = ("#", "!", ";", "//")
_SECTION = re.compile(r"\[{1,2}([^\[\]=:]+)\]{1,2}")
_ASSIGNS = re.compile(r"""(?:export\s+)?[\w."-]+\s*[=:](?!.*=$)""", re.DOTALL)
_BRACKETS = str.maketrans({bracket: step for step, both in (("+", "{[("), ("-", "}])")) for bracket in both})

_ANCHOR = re.compile(r"(?:!\S*\s+)?(&[^\s,\[\]{}]+)")
_YAML_COMMENT = re.compile("#[^\r\n\x85\u2028\u2029]*")
_BLOCK_HEADER = re.compile("(?:[!&]\\S*[ \t]+)*[|>][^\r\n#]*(#[^\r\n]*)")
_OPTION = re.compile(r"--?[\w.-]+")
_NAMES_OF_PAIRS, _VALUES_OF_PAIRS = ("name", "key", "variable"), ("value", "values", "val", "default", "content")
_ENVIRONMENT = re.compile(r"(?:^|\.)(?:env|environment|variables|data|stringData)$", re.IGNORECASE)

_VARIABLE = re.compile(r"[$#@%]\{([^{}$]*)|\$\(([^()$]*)|%\(([^()]*)|\{\{([^{}]*)|\$(\w+)|%(\w+)%|@([\w.-]+)@")
_PLACE = re.compile(r"\W*(?:Values|env|environment|system(?:Properties|Environment)|vars)\W+", re.IGNORECASE)
_Span = tuple[int, int]
_INDEX = re.compile(r"\[\d+\]|[._]\d+(?=[._]|$)")


def without_secrets(text: str, *, is_yaml: bool) -> str:
    """The text with a mark in place of each secret, also of one that a setting takes from a variable of the same file.

    Raises:
        ValueError: It is YAML that cannot be read.
    """
    part = part_of(text, is_yaml=is_yaml)
    return part.without_secrets(secret_names(part.settings()))


class Setting(NamedTuple):
    """Something that has a value: every name it may be referred to by (see :func:`_relaxed`), and whether it is a secret."""

    names: frozenset[str]
    value: str
    is_secret: bool


def _relaxed(name: str) -> str:
    """``kafka.pw``, ``kafka-pw``, ``kafkaPw``, ``KAFKA_PW`` and ``kafka.pw[0]`` alike."""
    return re.sub(r"[\W_]", "", _INDEX.sub("", name)).lower()


def _all_relaxed(*names: str) -> frozenset[str]:
    return frozenset(map(_relaxed, names)) - {""}


def _variables(value: str) -> frozenset[str]:
    """What a value refers to, in the spelling of Spring, shells, Helm, Kafka's providers, INI files and Maven."""
    inside = (next(filter(None, match), "") for match in _VARIABLE.findall(value))
    pieces = [piece for content in inside for piece in re.findall(r"[\w.\[\]-]+", content)]
    return _all_relaxed(*pieces, *(_PLACE.sub("", piece, count=1) for piece in pieces))


def secret_names(settings: Iterable[Setting]) -> frozenset[str]:
    """The names that secrets are taken from, directly or by way of others."""
    by_name: dict[str, list[str]] = {}
    left: list[str] = []
    for setting in settings:
        for name in setting.names:
            by_name.setdefault(name, []).append(setting.value)
        if setting.is_secret:
            left.append(setting.value)
    named: set[str] = set()
    while left:
        for name in _variables(left.pop()) - named:
            named.add(name)
            left += by_name.get(name, ())
    return frozenset(named)


class _Element:
    """A setting of a file, a comment, or an empty line: all the lines it takes."""

    def __init__(self, source: str, above: str) -> None:
        self.source = source
        body = source.lstrip(" \t\f")
        self.indent = len(source) - len(body)
        self.is_comment = body.startswith(_COMMENT)
        self.is_empty = not body.strip()
        self.is_header = _SECTION.fullmatch(body.strip()) is not None
        joined = _CONTINUED.sub("", source)  # javaproperties takes long for thousands of lines
        self.key, self.value, _ = next(properties.elements(joined), ("", "", 0)) if not self.is_comment else ("", "", 0)
        self.value = self.value.strip()
        self.path = f"{above}.{self.key}" if above else self.key
        self.inner = redaction.names_in(self.value)

    @cached_property
    def setting(self) -> Setting:
        """The setting, by all its names."""
        names = _all_relaxed(self.key, self.path, *self.inner, *(f"{self.path}.{name}" for name in self.inner))
        return Setting(names, self.value, self._holds_secret())

    def _holds_secret(self) -> bool:
        return (
            redaction.is_sensitive(self.path)
            or redaction.holds_secret(self.source)
            or redaction.holds_secret(f"{self.key}={self.value}")
        )

    def in_its_place(self, text: str) -> str:
        """Another text, with as many line ends."""
        ends = _LINE_END.findall(self.source)
        return text + "\n" * len(ends[:-1]) + "".join(ends[-1:])

    def redacted(self) -> str:
        """Its name with a mark for its value; the mark alone where the name is none."""
        key = re.sub(r"[^\w.\[\]-]", "_", self.key)
        named = bool(key) and not key.startswith(("-", "["))
        return self.in_its_place(f"{key if named else '# '}{'=' if named else ''}{redaction.REDACTED}")

    def mark(self) -> str:
        """What begins it, where it is a comment."""
        return next(mark for mark in _COMMENT if self.source.lstrip(" \t\f").startswith(mark))


def _elements(text: str) -> Iterator[_Element]:
    """As Java reads a properties file, whose lines end at ``\\r`` and ``\\n`` alone; with INI's sections, and HOCON's blocks."""
    above, held = [""], ""
    for line in _LINE.findall(text):
        alone = not held and line.lstrip(" \t\f")[:1] in ("", "\r", "\n", "#", "!")
        held += line
        body = line.rstrip("\r\n")
        if not alone and (len(body) - len(body.rstrip("\\"))) % 2:
            continue
        stripped, source, held = held.strip(), held, ""
        if header := _SECTION.fullmatch(stripped):
            above = [header[1]]
        elif stripped.startswith("}") and len(above) > 1:
            above.pop()
        yield (element := _Element(source, above[-1]))
        if stripped.endswith("{") and not element.is_comment:
            above.append(element.path.rstrip("{") if len(element.path) < _LONGEST_PATH else _TOO_DEEP)
    if held:
        yield _Element(held, above[-1])


class Lines:
    """Settings line by line: properties, environments, INI, HOCON."""

    def __init__(self, text: str) -> None:
        self._elements = list(_elements(text))

    def settings(self) -> Iterator[Setting]:
        """Everything that has a value."""
        return (one.setting for one in self._elements if not (one.is_comment or one.is_empty or one.is_header))

    def all_assign(self) -> bool:
        """Whether there are settings, and nothing else."""
        told = [one.source.strip() for one in self._elements if not (one.is_comment or one.is_empty)]
        return bool(told) and all(_SECTION.fullmatch(one) or _ASSIGNS.match(one) for one in told)

    def without_secrets(self, named: frozenset[str]) -> str:
        """The text with marks in place of secrets, and of what they are taken from."""
        return "".join(self._cleaned(named))

    def _cleaned(self, named: frozenset[str]) -> Iterator[str]:
        pem, end = redaction.Pem(), 0
        comments = redaction.Comments(pem)
        for at, element in enumerate(self._elements):
            if element.is_empty:
                yield element.source
            elif at < end or (not element.is_comment and pem.takes(element.source) and "PRIVATE KEY" not in element.source):
                yield element.in_its_place(f"# {redaction.REDACTED}")
            elif element.is_header:
                yield element.source
            elif element.is_comment:
                noted = not _all_relaxed(*redaction.names_in(element.source)).isdisjoint(named)
                body = element.source.rstrip("\r\n")
                clean = comments.clean(body, element.mark(), secret=noted)
                yield element.source if clean == body else element.in_its_place(clean)
            elif element.setting.is_secret or not element.setting.names.isdisjoint(named):
                yield element.redacted()
                end = self._end(at)
            else:
                yield element.source

    def _end(self, at: int) -> int:
        """The element after all that belong to a secret: in quotes, in brackets, on the next line, or indented deeper."""
        begun = self._elements[at]
        value = begun.value or begun.source.strip()
        ends = [at + 1, self._end_of_quotes(at, value), self._end_of_brackets(at, value)]
        after = next((n for n in range(at + 1, len(self._elements)) if not self._elements[n].is_empty), at)
        bare = re.match(r"""["'\[({]|[^=:]*$""", self._elements[after].source.strip()) is not None
        if not begun.value and after > at and bare and not self._elements[after].is_comment:
            source = self._elements[after].source.strip()
            ends += [after + 1, self._end_of_quotes(after, source), self._end_of_brackets(after, source)]
        later = range(at + 1, len(self._elements))
        ends += [n + 1 for n in takewhile(lambda n: self._is_deeper(n, begun), later) if not self._elements[n].is_empty]
        return max(ends)

    def _is_deeper(self, n: int, begun: _Element) -> bool:
        return self._elements[n].is_empty or self._elements[n].indent > begun.indent

    def _end_of_quotes(self, at: int, value: str) -> int:
        open_ = [quote for quote in ('"""', "'''") if value.count(quote) % 2]
        if not open_ and value[:1] in ("'", '"') and value.find(value[0], 1) < 0:
            open_ = [value[0]]
        if not open_:
            return at + 1
        later = range(at + 1, len(self._elements))
        closed = next((n + 1 for n in later if open_[0] in self._elements[n].source), None)
        return closed or (len(self._elements) if len(open_[0]) > 1 else at + 1)

    def _end_of_brackets(self, at: int, value: str) -> int:
        if not value.startswith(("[", "{", "(")) and not value.endswith(("[", "{", "(")):
            return at + 1
        depth, n = _depth(value), at + 1
        while depth > 0 and n < len(self._elements):
            depth += _depth(self._elements[n].source)
            n += 1
        return n


def _depth(text: str) -> int:
    steps = text.replace("+", "").replace("-", "").translate(_BRACKETS)
    return steps.count("+") - steps.count("-")


class _Value(NamedTuple):
    node: yaml.ScalarNode
    setting: Setting


class _Yaml:
    """A YAML or JSON file, node by node."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._keys: list[yaml.ScalarNode] = []
        self._left = _MOST_NODES
        self._values = [value for node in _composed(text) for value in self._of(node)]

    def settings(self) -> Iterator[Setting]:
        for value in self._values:
            yield value.setting
            if "\n" in value.node.value:  # a file within the file
                yield from Lines(value.node.value).settings()

    def without_secrets(self, named: frozenset[str]) -> str:
        edits = {_span(node): f'"{redaction.REDACTED}"' for node in self._keys if redaction.holds_secret(node.value)}
        for node, setting in self._values:
            begin, end = _span(node)
            if begin < end and (setting.is_secret or not setting.names.isdisjoint(named) or _file_within(node.value, named)):
                edits[_span(node)] = f'"{redaction.REDACTED}"'
        edits |= self._comments(named, frozenset(edits))
        text = self._text
        for (begin, end), put in sorted(edits.items(), reverse=True):
            anchor = _ANCHOR.match(text, begin, end) if put.startswith('"') else None  # others refer to it
            lines = "\n" * len(_LINE_END.findall(text, begin, end)) if put.startswith('"') else ""
            text = f"{text[:begin]}{f'{anchor[1]} ' if anchor else ''}{put}{lines}{text[end:]}"
        if edits:
            _composed(text)
        return text

    def _comments(self, named: frozenset[str], hidden: frozenset[_Span]) -> dict[_Span, str]:
        """Clean text of each comment that held a secret: what begins with ``#`` outside of scalars, also after ``|``."""
        comments, edits = redaction.Comments(redaction.Pem()), dict[_Span, str]()
        for begin, end in self._comment_spans(hidden):
            comment = self._text[begin:end]
            noted = not _all_relaxed(*redaction.names_in(comment)).isdisjoint(named)
            beside = self._text[self._text.rfind("\n", 0, begin) + 1 : begin]
            clean = comments.clean(comment, secret=noted or redaction.is_sensitive(beside))
            if clean != comment:
                edits[begin, end] = clean
        return edits

    def _comment_spans(self, hidden: frozenset[_Span]) -> Iterator[_Span]:
        at, whole = 0, len(self._text)
        scalars = {_span(node) for node in (*self._keys, *(value.node for value in self._values))}
        for begin, end in [*sorted(scalars), (whole, whole)]:
            yield from (match.span() for match in _YAML_COMMENT.finditer(self._text, at, begin))
            header = _BLOCK_HEADER.match(self._text, begin, end)
            if header and (begin, end) not in hidden:
                yield header.span(1)
            at = max(at, end)

    def _of(self, node: yaml.Node, path: str = "", secret: bool = False, depth: int = 0, alias: str = "") -> Iterator[_Value]:
        """Every value, by each of the paths that aliases lead to it by."""
        self._left -= 1
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if self._left < 0:
            raise ValueError("is YAML that repeats itself too often")
        secret = secret or redaction.is_sensitive(path)
        if isinstance(node, yaml.MappingNode):
            yield from self._of_mapping(node, path, secret, depth)
        elif isinstance(node, yaml.SequenceNode):
            after = False
            for child in node.value:
                yield from self._of(child, path, secret or after, depth + 1)
                text = child.value if isinstance(child, yaml.ScalarNode) else ""
                after = _OPTION.fullmatch(text) is not None and redaction.is_sensitive(text)
        else:
            inner = redaction.names_in(node.value) if len(node.value.splitlines()) < 2 else []
            names = _all_relaxed(path, alias, *inner)
            yield _Value(node, Setting(names, node.value, secret or redaction.holds_secret(node.value)))

    def _of_mapping(self, node: yaml.MappingNode, path: str, secret: bool, depth: int) -> Iterator[_Value]:
        pairs = [(key.value if isinstance(key, yaml.ScalarNode) else "?", value) for key, value in node.value]
        told = {name.lower(): value.value for name, value in pairs if isinstance(value, yaml.ScalarNode)}
        called = [told[name] for name in _NAMES_OF_PAIRS if name in told]
        hidden = set(_VALUES_OF_PAIRS) if any(map(redaction.is_sensitive, called)) else set[str]()
        if "secret" in told.get("kind", "").lower():
            hidden |= {"data", "stringdata"}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                self._keys.append(key)
            else:
                yield from self._of(key, f"{path}.?", secret, depth + 1)
        for name, value in pairs:
            alias = called[0] if called and name.lower() in _VALUES_OF_PAIRS else name if _ENVIRONMENT.search(path) else ""
            below = f"{path}.{name}" if path else name
            yield from self._of(value, below, secret or name.lower() in hidden, depth + 1, alias)


def _composed(text: str) -> list[yaml.Node]:
    """The documents of YAML, composed but never constructed: no tag makes anything run."""
    try:
        return [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except (yaml.YAMLError, ValueError, OverflowError):  # \UFFFFFFFF is no character
        raise ValueError("is no YAML: its secrets cannot be told from the rest, so it was not copied") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def _span(node: yaml.Node) -> _Span:
    return node.start_mark.index, node.end_mark.index


def _file_within(value: str, named: frozenset[str]) -> bool:
    """Whether a value of several lines is a file that holds a secret, as those of a ``ConfigMap``."""
    return "\n" in value and Lines(value).without_secrets(named) != value


Part = Lines | _Yaml


def part_of(text: str, *, is_yaml: bool) -> Part:
    """A file's text by its kind.

    Raises:
        ValueError: It is YAML that cannot be read.
    """
    return _Yaml(text) if is_yaml else Lines(text)
