"""Every wording in every layout: its kind and time are kept, and nothing is glued to another entry."""

import pytest

from casebook.formats.broker.log_patterns import patterns
from casebook.questions.timeline.scans import logs
from tests.log_layouts import AT, LAYOUTS, laid_out

WORDINGS = tuple(p for p in patterns() if p.scope in ("head", "full") and "\n" not in p.sample)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Of each layout what is told in each line, and how many entries there are, lines, and lines that are in no layout."""
    folder = tmp_path_factory.mktemp("layouts")
    files = []
    for number, name in enumerate(LAYOUTS):
        path = folder / f"{number}.log"
        path.write_text("".join(f"{laid_out(name, wording)}\n" for wording in WORDINGS), newline="")
        files.append((path, "UTC"))
    names, found = list(LAYOUTS), {name: ({}, []) for name in LAYOUTS}
    for row in logs.typed(files):
        events, covered = found[names[row["file"]]]
        if row["row"] == "event":
            events.setdefault(row["line"], []).append((row["kind"], row["time"]))
        elif row["row"] == "file":
            covered.append((row["entries"], row["lines"], row["strange"]))
    return found


@pytest.mark.parametrize("name", LAYOUTS)
def test_says_the_same(told, name):
    """As Kafka's own layout, in which every sample is proven against its source."""
    (own, _), (events, covered) = told["Kafka"], told[name]
    assert covered == [(len(WORDINGS), len(WORDINGS), 0)]
    lines = (line for line in own.keys() | events if own.get(line) != events.get(line))
    assert [(WORDINGS[line - 1].id, own.get(line), events.get(line)) for line in lines] == []


def test_every_kind_is_among_them(told):
    """Two kinds are told in many lines only."""
    every = {pattern.kind for pattern in patterns() if pattern.scope in ("head", "full")}
    assert every - {wording.kind for wording in WORDINGS} == {"cleaned", "settings_printed"}
    assert {time for line in told["Kafka"][0].values() for _, time in line} == {AT}
