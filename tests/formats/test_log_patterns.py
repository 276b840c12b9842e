"""The table of wordings, each by itself, and all of them on lines of real brokers that were labelled by hand."""

import re
from collections import Counter
from pathlib import Path

import pytest

from casebook.formats.broker.log_patterns import SCOPES, Pattern, head, patterns

LABELLED = Path(__file__).with_name("log_lines_labelled.tsv")
"""``kind<TAB>raw line``; ``-`` for what says nothing of use, ``\\n`` and ``\\t`` escaped."""

OF_WHOLE = ("head", "full", "app")
_OF_SERVERS = re.compile(r"kafka\.[a-z]|state\.|org\.apache\.zookeeper")
"""Loggers of the labelled lines that the scope ``app`` is not for."""
_NAME = re.compile(r"[a-z][a-zA-Z]*\d*")
_RELEASE = re.compile(r"(?:zk|rd|jdk|linux|k8s)?\d+(?:\.\d+){0,2}")
_SOURCE = re.compile(r"\S+@\S+(?:; \S+@\S+)*")
_HEADER = re.compile(r"\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] \w+ ")
_LOGGER = re.compile(r" \((?:kafka|org|state)\.[\w.$]+\)(?=\s|$)")
_IDENT = re.compile(r"(?:\[(?!\S+,\d+\])(?:[^\[\]]|\[[^\]]*\])*\][:,]* ?|Partition \S+ on broker \d+: )")


@pytest.mark.parametrize("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_every_sample_is_matched_with_its_fields(pattern: Pattern):
    assert pattern.literal in pattern.sample and len(pattern.literal) >= 4
    assert pattern.literal.isascii()
    found = _match(pattern, pattern.sample)
    assert found is not None
    assert _fields(found) == pattern.expects


def test_every_row_is_of_the_tables_form():
    documented = set(re.findall(r"[a-z_]+", head()))
    for pattern in patterns():
        regex = re.compile(pattern.regex, re.MULTILINE | re.ASCII)
        assert pattern.scope in SCOPES, pattern.id
        assert pattern.kind in documented, pattern.kind
        assert regex.groups == len(regex.groupindex), f"{pattern.id}: a group without name"
        assert all(map(_NAME.fullmatch, regex.groupindex)), pattern.id
        assert _RELEASE.fullmatch(pattern.since) and _RELEASE.fullmatch(pattern.until), pattern.id
        assert _SOURCE.fullmatch(pattern.source), pattern.id


def test_every_row_has_its_own_name_and_what_is_unreadable_comes_last():
    kinds = [pattern.kind for pattern in patterns()]
    assert [name for name, count in Counter(pattern.id for pattern in patterns()).items() if count > 1] == []
    assert "unreadable" not in kinds[: kinds.index("unreadable")]
    assert set(kinds[kinds.index("unreadable") :]) == {"unreadable"}


def test_every_row_is_the_first_that_knows_its_own_sample_or_another_of_its_kind_is():
    shadowed = [
        (pattern.id, first.id)
        for pattern in patterns()
        if pattern.scope in OF_WHOLE
        and (first := _first(pattern.sample, next(iter(pattern.loggers), ""))) is not None
        and first.kind != pattern.kind
    ]
    assert shadowed == []


def test_lines_of_real_brokers_mean_what_people_read_in_them():
    wrong = []
    for number, line in enumerate(LABELLED.read_text("utf-8").splitlines(), start=1):
        kind, raw = line.split("\t", 1)
        entry = _HEADER.sub("", raw.replace("\\n", "\n").replace("\\t", "\t"))
        logger = _LOGGER.search(entry)
        found = _first(_LOGGER.sub("", entry, count=1), logger[0].strip(" ()") if logger else "")
        if (found.kind if found is not None and found.kind != "quiet" else "-") != kind:
            wrong.append((number, kind, found and found.id))
    assert wrong == []


def _first(message: str, logger: str) -> Pattern | None:
    """The wording of a whole message, with its ident, as the reader tries them; ``""`` for a logger that no wording asks for."""
    of_whole = (
        pattern
        for pattern in patterns()
        if pattern.scope in OF_WHOLE and not (pattern.scope == "app" and _OF_SERVERS.match(logger))
    )
    own = (pattern for pattern in of_whole if not pattern.loggers or logger.startswith(pattern.loggers))
    return next((pattern for pattern in own if _match(pattern, message)), None)


def _match(pattern: Pattern, message: str) -> re.Match[str] | None:
    if pattern.literal not in message:
        return None
    ident = _IDENT.match(message) if pattern.scope in ("head", "app") else None
    text = message[ident.end() :] if ident is not None else message
    regex = re.compile(pattern.regex, re.MULTILINE | re.ASCII)
    return regex.match(text) if pattern.regex.startswith("^") and pattern.scope != "inside" else regex.search(text)


def _fields(found: re.Match[str]) -> dict[str, str | int]:
    fields: dict[str, str | int] = {}
    for name, value in found.groupdict().items():
        if value is not None:
            fields |= _field(re.sub(r"([A-Z])", lambda letter: f"_{letter[1].lower()}", name.rstrip("0123456789")), value)
    return fields


def _field(name: str, value: str) -> dict[str, str | int]:
    if name == "tp":
        topic, _, partition = value[1:-1].rpartition(",") if value.startswith("[") else value.rpartition("-")
        return {"topic": topic, "partition": int(partition)}
    return {name: int(value) if name == "partition" else value}
