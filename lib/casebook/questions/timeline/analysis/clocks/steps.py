"""Clock steps while logs were written: found by the order of a file's own lines, and by their events.

A backward step shows in the lines: later ones have earlier times, and continue to do so. A forward step looks like a pause, and
so does a zone change while nothing was logged; these show in pairs with events of a known time: all later ones are ahead by more,
or less.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.questions.timeline.analysis.clocks.pairs import LATE, ZONE, Grade, Pair

BACK = 1000
"""Milliseconds back in time beyond a thread's late line, when others follow."""
FOLLOWING = 3
"""Number of consecutive lines that prove a backward step."""
JUMP = 600_000
"""Milliseconds between two lines beyond any thread's delay."""
THERE_AND_BACK = 3
"""Number of equal jumps back and forth that show two processes."""
FEW = 2
"""Number of consecutive pairs that prove another skew."""
PAUSE = 120_000
"""Maximum milliseconds of silence of a running broker: tolerance of a change by quarters of an hour."""
ALIKE = 1000
"""Maximum milliseconds between consecutive pairs of one stretch."""


_CURRENT = (".log", ".out")
"""Name endings of files that were not rolled."""


class ClockCut(NamedTuple):
    """Two consecutive lines with a clock step in between.

    Args:
        before: Last line before the step.
        after: First line after the step.
        lines: Number of the first line after it in each file of this clock, if any.
        joined: Content after it is older than content before it, as in files concatenated out of order.
    """

    before: Event
    after: Event
    lines: Mapping[str, int]
    joined: bool = False


class _ClockRun(NamedTuple):
    first: Pair
    last: Pair


_Files = Mapping[str, Sequence[Event]]


def cuts(events: Iterable[Event], pairs: Iterable[Pair]) -> list[ClockCut]:
    """Return the steps of a clock, in line order.

    Backward steps come from the file with most of them. Between two, lines of all files are sorted by time, and steps within a
    pause are searched there.

    Args:
        events: Dated lines by this clock, of one file or several.
        pairs: Some of them, paired with events.
    """
    files: dict[str, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.line):
        files[event.file].append(event)
    prompt = sorted((pair for pair in pairs if pair.grade is Grade.PROMPT and pair.event is not None), key=_printed)
    back = _backward(files)
    found = []
    for number in range(len(back) + 1):
        paired = [pair for pair in prompt if stretch(back, pair.event.file, pair.event.line) == number]
        runs = list(_runs(paired))
        by_zone = bool(paired) and paired[0].ahead >= ZONE - LATE
        inside = _inside(files, back, number) if len(runs) > 1 or by_zone else {}
        lines = sorted((line for each in inside.values() for line in each), key=lambda line: line.time)
        paused = [*(_before_all(lines, paired[0]) if by_zone else ()), *_in_pauses(lines, runs)]
        found += [*back[number - 1 : number], *(_in_all(inside, *two) for two in paused)]
    return found


def _inside(files: _Files, back: Sequence[ClockCut], number: int) -> _Files:
    return {file: [line for line in lines if stretch(back, file, line.line) == number] for file, lines in files.items()}


def stretch(cut: Sequence[ClockCut], file: str, line: int) -> int:
    """Return the number of the stretch between steps for a line, from 0."""
    return sum(line >= one.lines[file] for one in cut if file in one.lines)


def _printed(pair: Pair) -> int:
    return pair.event.time


def _backward(files: _Files) -> list[ClockCut]:
    """Return backward steps in the file with most of them, and the same moment in the others."""
    told = {file: [place for place in range(1, len(lines)) if _goes_back(lines, place)] for file, lines in sorted(files.items())}
    most = max(told, key=lambda file: len(told[file]), default=None)
    rolled = not all(file.endswith(_CURRENT) for file in files)
    found = []
    begins = dict.fromkeys(files, 0)
    for place in told[most] if most is not None else ():
        own = files[most]
        before, after = own[place - 1], own[place]
        first = None if rolled else own[begins[most]]
        begins = {file: _place(each, begins[file], before, after, first) for file, each in files.items()} | {most: place}
        lines = {file: each[begins[file]].line for file, each in files.items() if begins[file] < len(each)}
        found.append(ClockCut(before, after, lines, _is_joined(own, place, told[most])))
    return found


def _is_joined(lines: Sequence[Event], place: int, cut: Sequence[int]) -> bool:
    """Return whether all lines up to the next step have times before all those since the previous step."""
    above = lines[max((other for other in cut if other < place), default=0) : place]
    below = lines[place : min((other for other in cut if other > place), default=len(lines))]
    return max(line.time for line in below) <= min(line.time for line in above) + BACK


def two_writers(events: Iterable[Event]) -> tuple[int, Event] | None:
    """Return the time difference of two processes that write one file, and a line of the second; ``None`` for one process.

    Rule: times jump back and forth repeatedly, each time by about the same. A clock step happens once.
    """
    files: dict[str, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.line):
        files[event.file].append(event)
    for lines in files.values():
        jumps = [(b.time - a.time, b) for a, b in pairwise(lines) if abs(b.time - a.time) >= JUMP]
        back = sorted(-by for by, _ in jumps if by < 0)
        if len(back) < THERE_AND_BACK:
            continue
        usual = back[len(back) // 2]
        near = max(LATE, usual // 20)
        alike = sum(abs(by - usual) <= near for by in back)
        there = [line for by, line in jumps if by > 0 and abs(by - usual) <= near]
        if 5 * alike >= 4 * len(back) and len(there) >= THERE_AND_BACK - 1:
            return usual, there[0]
    return None


def _place(lines: Sequence[Event], begin: int, before: Event, after: Event, first: Event | None) -> int:
    """Return the first line after a step in another file.

    Rule: at its own largest backward jump; else the whole file, if it is before the first line of the old clock and not before
    the first one of the new; else after the old clock's last time.

    Args:
        first: First line of the stretch before the step; ``None`` when older files may have earlier lines.
    """
    most = max(range(begin + 1, len(lines)), key=lambda place: lines[place - 1].time - lines[place].time, default=None)
    if most is not None and lines[most - 1].time - lines[most].time > BACK:
        return most
    if first is not None and all(after.time - BACK <= line.time < first.time - BACK for line in lines[begin:]):
        return begin
    return next((place for place in range(begin, len(lines)) if lines[place].time > before.time), len(lines))


def _in_all(files: _Files, before: Event, after: Event) -> ClockCut:
    """Return a step within a pause: lines with a later time than its last line come after it."""
    first = {file: next((line.line for line in lines if line.time > before.time), None) for file, lines in files.items()}
    return ClockCut(before, after, {file: line for file, line in first.items() if line is not None})


def _goes_back(lines: Sequence[Event], place: int) -> bool:
    """Rule: the following lines are earlier, too, and for less than a minute, they continue for half of that time.

    Threads that waited for the log while the machine slept print seconds late, one after the other.
    """
    before, after = lines[place - 1].time, lines[place].time
    latest = before - BACK
    if after >= latest:
        return False
    following = lines[place : place + FOLLOWING]
    if len(following) < FOLLOWING or any(line.time >= latest for line in following):
        return False
    if before - after >= LATE:
        return True
    earlier = takewhile(lambda line: line.time < before, islice(lines, place, None))
    return 2 * (max(line.time for line in earlier) - after) >= before - after


def _in_pauses(lines: Sequence[Event], runs: Sequence[_ClockRun]) -> Iterator[tuple[Event, Event]]:
    """Rule: pairs are ahead by a minute more, to the end, after a pause of that length; or by a multiple of a quarter of an hour.

    No immediate line is a minute late; a paused process prints a few late ones, and then punctual ones. No line is late by exact
    quarters: the zone changed, and within a longer pause no line shows that it went back.
    """
    times = [line.time for line in lines]
    for place, (run, after) in enumerate(pairwise(runs), start=1):
        by = after.first.ahead - run.last.ahead
        late = by <= LATE or any(later.last.ahead < after.first.ahead - LATE for later in runs[place:])
        if late and (abs(by) < ZONE - ALIKE or abs(by - round(by / ZONE) * ZONE) > ALIKE):
            continue
        between = lines[bisect_right(times, run.last.event.time) - 1 : bisect_left(times, after.first.event.time) + 1]
        before, behind = max(pairwise(between), key=lambda two: two[1].time - two[0].time)
        if behind.time - before.time >= by - LATE:
            yield before, behind


def _before_all(lines: Sequence[Event], first: Pair) -> Iterator[tuple[Event, Event]]:
    """Rule: a pause as long as the skew, before all evidence of it, may be the step.

    The clock before it is unknown, so its lines are not moved.
    """
    pauses = list(pairwise(line for line in lines if line.time <= first.event.time))
    before, behind = max(pauses, key=lambda two: two[1].time - two[0].time, default=(first.event, first.event))
    if first.ahead - LATE <= behind.time - before.time <= first.ahead + PAUSE:
        yield before, behind


def _runs(pairs: Sequence[Pair]) -> Iterator[_ClockRun]:
    """Yield runs of pairs with about the same skew; fewer than :data:`FEW` are outliers."""
    run: list[Pair] = []
    other: list[Pair] = []
    for pair in pairs:
        if run and abs(pair.ahead - run[-1].ahead) <= ALIKE:
            run.append(pair)
            other = []
            continue
        other = [*other, pair] if other and abs(pair.ahead - other[-1].ahead) <= ALIKE else [pair]
        if len(other) == FEW:
            if run:
                yield _ClockRun(run[0], run[-1])
            run, other = other, []
    if run:
        yield _ClockRun(run[0], run[-1])
