"""How many lines of strangers' logs are understood: kinds, fields and times, on a folder of labelled lines.

    python tests/bench/recall.py FOLDER [--misses]

Every ``*.tsv`` of the folder holds one entry a line: category, source, layout, the entry as it stands (``\\n``, ``\\t`` and a doubled backslash are escapes), the
kinds that are right separated by ``|`` (``quiet`` and ``-`` for what says nothing), its time in ISO 8601 as it is printed or ``-``, and the
fields that it states, as JSON (a list where more than one form is right). The entries of a source are read as one file, and all of them as one paste. A kind that the table lacks, whose
name begins with ``new_``, is told apart. ``--misses`` shows what was read otherwise; of a blind set it is asked for after the figures.
"""

import argparse
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.formats.pasted import paste
from casebook.questions.timeline.scans import logs

GIVEN = "a folder of labelled lines, as its argument: they are strangers', and not of this repository"
NOTHING = frozenset({"quiet", "-", ""})
NOISE = "noise"


class Labelled(NamedTuple):
    """An entry and what people read in it.

    Args:
        kinds: Those that are right; the best first.
        time: As printed; ``-`` for none.
    """

    category: str
    source: str
    layout: str
    text: str
    kinds: tuple[str, ...]
    time: str
    fields: dict[str, str | list[str]]

    @property
    def is_new(self) -> bool:
        """Whether the table has no kind for it."""
        return all(kind.startswith("new_") for kind in self.kinds)

    @property
    def says_nothing(self) -> bool:
        """Whether nobody needs it."""
        return self.category == NOISE or self.kinds[0] in NOTHING


class Told(NamedTuple):
    """What became of an entry."""

    labelled: Labelled
    events: tuple[Event, ...]

    @property
    def hit(self) -> Event | None:
        """The event of a right kind."""
        return next((event for event in self.events if event.kind in self.labelled.kinds), None)

    @property
    def is_right(self) -> bool:
        """Whether it is what people read in it."""
        return self.hit is not None or (not self.events and not NOTHING.isdisjoint(self.labelled.kinds))

    @property
    def is_foreign(self) -> bool:
        """Whether an event has a time that its line does not print."""
        return any(event.time is not None and not _is_of(event.time, self.labelled.time) for event in self.events)

    def wrong_fields(self) -> Iterator[tuple[str, str, str]]:
        """Name, what the line states, and what was read instead."""
        for name, value in self.labelled.fields.items():
            read = self.read(name)
            right = value if isinstance(value, list) else [value]
            if read and {_plain(one) for one in read}.isdisjoint(_plain(str(one)) for one in right):
                yield name, str(value), read[0]

    def read(self, name: str) -> list[str]:
        """What the event of a right kind holds by this name, in each form.

        A node is told by its id, its address, or both as librdkafka has it; a broker that speaks of itself is the entry's speaker.
        """
        if self.hit is None:
            return []
        own = {"topic": self.hit.topic, "partition": self.hit.partition, "group": self.hit.group, **self.hit.fields}
        address = own.get("address") if name == "node" else None
        speaker = own.get("speaker") if name == "broker" and name not in own else None
        forms = [own.get(name), speaker, address, address and f"{address}/{own.get(name) or 'bootstrap'}"]
        return [str(form) for form in forms if form is not None]


def _plain(value: str) -> str:
    """What a value says however it is printed: a list, an address behind a slash, a session behind 0x."""
    return re.sub(r"[\s\"'\[\]()]|List|Set|ArrayBuffer", "", value).removeprefix("/").removeprefix("0x")


def _is_of(time: int, printed: str) -> bool:
    read = datetime.fromtimestamp(time / 1000, UTC)
    if printed.startswith("--"):  # a date without a year
        return read.strftime("--%m-%dT%H:%M:%S") == printed[:16]
    try:
        stated = datetime.fromisoformat(printed.replace(",", "."))
    except ValueError:
        return False
    stated = stated if stated.tzinfo else stated.replace(tzinfo=UTC)
    return abs((stated - read).total_seconds()) < 0.0015


def labelled(folder: Path) -> list[Labelled]:
    """All entries of a folder."""
    return [
        _labelled(line.rstrip("\n").split("\t"))
        for path in sorted(folder.glob("*.tsv"))
        for line in path.open(encoding="utf-8")
        if line.strip() and not line.startswith("#")
    ]


def _labelled(cells: Sequence[str]) -> Labelled:
    category, source, layout, text, kinds, time, fields = cells
    text = re.sub(r"\\([nt\\])", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], "\\"), text)
    return Labelled(category, source, layout, text, tuple(kinds.split("|")), time, json.loads(fields))


def as_files(entries: Sequence[Labelled]) -> list[Told]:
    """Those of a source and a layout as one file."""
    by_source: dict[tuple[str, str], list[Labelled]] = defaultdict(list)
    for one in entries:
        by_source[one.source, one.layout].append(one)
    groups = list(by_source.values())
    with tempfile.TemporaryDirectory() as room:
        files = []
        for number, own in enumerate(groups):
            path = Path(room, f"{number}.log")
            path.write_text("".join(f"{one.text}\n" for one in own), encoding="utf-8")
            files.append((path, "UTC"))
        rows = [row for row in logs.typed(files) if row.pop("row") == "event"]
    return [told for number, own in enumerate(groups) for told in _told(own, [row for row in rows if row["file"] == number])]


def as_paste(entries: Sequence[Labelled]) -> list[Told]:
    """All of them one after the other, as one paste."""
    lines = [line for one in entries for line in one.text.split("\n")]
    found = paste.read(lines)
    kept = {line.span.first: line.text for line in found.logs}
    with tempfile.TemporaryDirectory() as room:
        path = Path(room, "pasted.log")
        path.write_text("".join(f"{kept.get(number, '')}\n" for number in range(1, len(lines) + 1)), encoding="utf-8")
        rows = [row for row in logs.typed([(path, "UTC")]) if row.pop("row") == "event"]
    return _told(entries, rows)


def _told(entries: Sequence[Labelled], rows: Iterable[dict]) -> list[Told]:
    by_line: dict[int, list[Event]] = defaultdict(list)
    for row in rows:
        by_line[row["line"]].append(logs.event(row | {"file": "a.log"}, None))
    found, begin = [], 1
    for one in entries:
        end = begin + one.text.count("\n")
        found.append(Told(one, tuple(event for line in range(begin, end + 1) for event in by_line.get(line, ()))))
        begin = end + 1
    return found


def report(name: str, told: Sequence[Told], *, misses: bool) -> None:
    """Print the figures, and what was read otherwise where it is asked for."""
    print(f"\n{name}")
    asked = [one for one in told if not one.labelled.says_nothing and not one.labelled.is_new]
    for category in sorted({one.labelled.category for one in asked}):
        own = [one for one in asked if one.labelled.category == category]
        right = sum(one.is_right for one in own)
        print(f"  {category:20} {right:4} of {len(own):4}  {right / len(own):.1%}")
    right, hits = [one for one in asked if one.is_right], [one for one in asked if one.hit]
    stated = sum(len(one.labelled.fields) for one in hits)
    wrong = [(one, *field) for one in hits for field in one.wrong_fields()]
    unread = sum(not one.read(name) for one in hits for name in one.labelled.fields)
    noise = [one for one in told if one.labelled.says_nothing]
    typed = [one for one in noise if one.events and one.hit is None]
    new = [one for one in told if one.labelled.is_new and not one.labelled.says_nothing]
    print(f"  right kind: {len(right)} of {len(asked)}, {len(right) / max(1, len(asked)):.1%}")
    print(
        f"  fields of these: {stated - len(wrong)} of {stated}, {(stated - len(wrong)) / max(1, stated):.1%}; not read: {unread}"
    )
    print(f"  foreign times: {sum(one.is_foreign for one in told)}; noise typed: {len(typed)} of {len(noise)}")
    print(f"  of kinds that the table lacks: {len(new)}, typed as another: {sum(bool(one.events) for one in new)}")
    if misses:
        _misses(asked, wrong, typed, told)


def _misses(asked: Sequence[Told], wrong: Sequence[tuple], typed: Sequence[Told], told: Sequence[Told]) -> None:
    for one in asked:
        if not one.is_right:
            kinds = Counter(event.kind for event in one.events)
            print(
                f"  MISS {one.labelled.category} want {'|'.join(one.labelled.kinds)} got {dict(kinds)}\n       {one.labelled.text[:300]!r}"
            )
    for one, name, value, read in wrong:
        print(f"  FIELD {name}: {value!r} read {read!r}\n       {one.labelled.text[:300]!r}")
    for one in typed:
        print(f"  NOISE typed {[event.kind for event in one.events]}\n       {one.labelled.text[:300]!r}")
    for one in told:
        if one.is_foreign:
            times = [event.time and datetime.fromtimestamp(event.time / 1000, UTC).isoformat() for event in one.events]
            print(f"  TIME {one.labelled.time} read {times}\n       {one.labelled.text[:300]!r}")


def main() -> None:
    """Run it."""
    options = argparse.ArgumentParser(prog="python tests/bench/recall.py")
    options.add_argument(
        "folder", type=Path, nargs="?", help="of labelled lines; they are strangers', and not of this repository"
    )
    options.add_argument("--misses", action="store_true")
    given = options.parse_args()
    if given.folder is None:
        print("Not measured: no folder of labelled lines was given.")
        return
    entries = labelled(given.folder)
    print(f"{len(entries)} entries of {len({one.source for one in entries})} sources")
    report("As files, one a source", as_files(entries), misses=given.misses)
    report("As one paste", as_paste(entries), misses=given.misses)


if __name__ == "__main__":
    main()
