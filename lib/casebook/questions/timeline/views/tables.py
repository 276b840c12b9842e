"""Tables of a timeline: root causes, consequences, windows, events, and unknowns."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from casebook.facts.events import LogFile
from casebook.facts.quotes import cut
from casebook.findings import words
from casebook.kafka.past_rows import EventRow, Window, WindowKind
from casebook.page.render import render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.timeline.analysis.selection import Selection
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.views.story import link

MOST_WINDOWS, MOST_EVENTS, MOST_SHAPES, MOST_FILES = 200, 200, 50, 200
_WHICH = " Those of the story come first, then warnings and errors, then those nearest to a window."
_WORDS = {
    WindowKind.TWO_LEADERS: "two leaders",
    WindowKind.LEADERLESS: "no leader",
    WindowKind.UNDER_MIN_ISR: "under min ISR",
    WindowKind.LOADING: "loading",
}
_GRAVE = (WindowKind.TWO_LEADERS, WindowKind.LEADERLESS)


def windows(found: Timeline, chosen: Selection) -> Table:
    """Return every window."""
    inside = [window for window in (*found.windows, *found.possible) if chosen.window(window)]
    rows = inside[:MOST_WINDOWS]
    notes = []
    if any(None in (window.opened, window.closed) for window in inside):
        notes.append("An open end is a ?: the evidence begins or ends there.")
    if any(window.at_most for window in inside):
        notes.append("An event with two times happened between them: ≤ is the longest possible duration.")
    return Table(
        name="windows",
        columns=(
            ("Window", UNBROKEN),
            ("Partition", CODE),
            ("Opened, UTC", UNBROKEN),
            ("Closed, UTC", UNBROKEN),
            ("Lasted, s", NUMBER),
            ("Leader", UNBROKEN),
            ("Opened by", TEXT),
            ("Closed by", TEXT),
            ("Proof", UNBROKEN),
        ),
        rows=[(ALARM if w.kind in _GRAVE and not (w.planned or w.possible) else PLAIN, _window(w)) for w in rows],
        takeaway=_counted(inside, found),
        reading=" ".join(notes),
        total=len(inside) if len(inside) > len(rows) else None,
        rest="windows",
        search=True,
        wide=True,
        times=[(w.opened, w.closed) for w in rows],
        tall=True,
    )  # fmt: skip


def no_window(found: Timeline) -> str:
    """State that no partition had a problem, or that this is unknown."""
    if not found.partition_history:
        return "Could not check for windows: this case has no evidence of leaders or ISRs."
    return "No window: no partition was without leader, under min ISR or led by two, according to these logs."


def _counted(inside: Sequence[Window], found: Timeline) -> str:
    if not inside:
        return no_window(found)
    kinds = [window.kind for window in inside]
    each = ", ".join(f"{words.count(kinds.count(kind))} {called}" for kind, called in _WORDS.items() if kind in kinds)
    return f"{words.plural(len(inside), 'window')}: {each}."


def _window(w: Window) -> tuple[object, ...]:
    leaders = " → ".join("none" if leader is None else str(leader) for leader in (w.old_leader, w.new_leader))
    return (
        _WORDS[w.kind] + (", possible" if w.possible else "") + (", planned" if w.planned else ""),
        f"{w.topic}-{w.partition}",
        _between(w.opened_earliest, w.opened),
        _between(w.closed_earliest, w.closed),
        unknown() if w.length is None else f"{'≤ ' if w.at_most else ''}{w.length / 1000:.3f}",
        leaders,
        w.opened_by,
        w.closed_by,
        Markup("{} {}").format(link(w.opened_proof), link(w.closed_proof)),
    )


def _between(earliest: int | None, latest: int | None) -> object:
    """Return a moment, or its two bounds."""
    if latest is None:
        return unknown()
    return words.clock_ms(latest) if earliest is None else f"{words.clock_ms(earliest)} – {words.clock_ms(latest)}"


def events(rows: Sequence[EventRow], *, total: int, everything: int, said: str) -> Table:
    """Return events as logged.

    Args:
        rows: Shown events.
        total: Number of selected events.
        everything: Total number.
        said: Period, in words.
    """
    return Table(
        name="events",
        columns=(
            ("At, UTC", UNBROKEN),
            ("Whose", UNBROKEN),
            ("What", UNBROKEN),
            ("About", CODE),
            ("As logged", TEXT),
            ("Proof", UNBROKEN),
        ),
        rows=[(ALARM if row.level in ("ERROR", "FATAL") else PLAIN, _event_cells(row)) for row in rows],
        takeaway=f"{said}, {words.count(total)} of {words.plural(everything, 'event')}.",
        reading="By the reference clock." + (_WHICH if total > len(rows) else ""),
        total=total if total > len(rows) else None,
        rest="events",
        search=True,
        wide=True,
        times=[(row.at, row.at) for row in rows],
        tall=True,
    )


def _event_cells(row: EventRow) -> tuple[object, ...]:
    about = (
        f"{row.topic}-{row.partition}" if row.topic is not None and row.partition is not None else row.topic or row.group or ""
    )
    said = row.text.partition("\n")[0]
    return (
        or_unknown(row.at, words.clock_ms),
        _owner(row),
        kind_in_words(row.kind),
        about,
        cut(said, 240),
        link(row.proof),
    )


def _owner(row: EventRow) -> str:
    if row.source == "history":
        return "ZooKeeper"
    if row.source == "broker" and row.broker is not None:
        return f"broker {row.broker}"
    return row.file.split("/")[1] if row.file.count("/") else row.source


def untyped(found: Timeline) -> Table:
    """Return shapes of unknown entries."""
    rows, lines = found.untyped[:MOST_SHAPES], sum(shape.count for shape in found.untyped)
    typed, entries = sum(file.typed for file in found.files), sum(file.entries for file in found.files)
    return Table(
        name="untyped",
        columns=(("Shape", TEXT), ("Logger", CODE), ("Level", UNBROKEN), ("Times", NUMBER), ("For example", UNBROKEN)),
        rows=[(PLAIN, (cut(u.shape, 200), u.logger or "?", u.level or "?", words.count(u.count), link(u.example))) for u in rows],
        takeaway=f"{words.count(lines)} of {words.plural(entries, 'entry', 'entries')} have an unknown shape.",
        reading=f"{words.count(typed)} are known. The most frequent first; numbers and names taken out.",
        total=len(found.untyped) if len(found.untyped) > len(rows) else None,
        rest="untyped",
        search=True,
        wide=True,
    )


def files(found: Timeline) -> Table:
    """Return how each log was read: its detected or given layout."""
    rows = found.files[:MOST_FILES]
    different = len({file.layouts[0][0] for file in found.files if file.layouts})
    return Table(
        name="log_files",
        columns=(
            ("Log", UNBROKEN),
            ("Of", UNBROKEN),
            ("First, UTC", UNBROKEN),
            ("Last, UTC", UNBROKEN),
            ("Lines", NUMBER),
            ("Entries", NUMBER),
            ("Known", NUMBER),
            ("Layout", CODE),
        ),
        rows=[(PLAIN, _file(file)) for file in rows],
        takeaway=f"{words.plural(len(found.files), 'log')} in {words.plural(different, 'layout')}.",
        reading="Layouts in log4j's notation: %d time, %p level, %c logger, %t thread, %m message; … is a collector's "
        "prefix. To correct one, set log_layout=.",
        total=len(found.files) if len(found.files) > len(rows) else None,
        wide=True,
    )


def _file(file: LogFile) -> tuple[object, ...]:
    (layout, _), *others = file.layouts or ((None, 0),)
    more = f", and {words.plural(len(others), 'other')}" if others else ""
    lacks = unknown() if file.lines else "–"
    return (
        file.file,
        "" if file.broker is None else f"broker {file.broker}",
        *(lacks if at is None else f"{words.day(at)}, {words.clock_ms(at)}" for at in (file.first, file.last)),
        *map(words.count, (file.lines, file.entries, file.typed)),
        lacks if layout is None else f"{layout}{more}",
    )


def silences(found: Timeline, chosen: Selection) -> Table | None:
    """Return the limits of these logs; ``None`` when nothing is missing."""
    inside = [silence for silence in found.silences if chosen.broker is None or silence.broker in (None, chosen.broker)]
    if not inside:
        return None
    return Table(
        name="silences",
        columns=(("What is missing", TEXT), ("Therefore unknown", TEXT), ("What to add", TEXT), ("Shows in", UNBROKEN)),
        rows=[(PLAIN, (Markup("{} {}").format(render("query"), s.what), s.unknown, s.settle, link(s.proof))) for s in inside],
        takeaway=f"{words.plural(len(inside), 'thing')} that these logs do not show.",
    )


def kind_in_words(kind: str) -> str:
    """Describe an event's kind, with its source: a client, a server or a ZooKeeper transaction."""
    return re.sub("^(zks?|znode)_", "", kind).replace("_", " ")


def ends(since: int | None, until: int | None) -> tuple[str, str]:
    """Format both ends of a period, with different days if any; an end that includes its whole second, as that second."""
    dated = None not in (since, until) and words.day(since) != words.day(until)
    first, last = (f"{words.day(end)}, {words.clock_ms(end)}" if dated else words.clock_ms(end) for end in (since, until))
    return first, last.removesuffix(".999")
