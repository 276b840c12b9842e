"""Clocks that were set while their logs were written: where, by the order of a file's own lines, and by what they tell of.

A clock that is set back shows in the lines: later ones bear earlier times, and go on to do so. One that is set forward looks like
a pause, and so does one whose zone changed while nothing was logged; these are told by lines that happened together with
something of known time: all that follow are ahead by so much more, or less.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from casebook.facts.events import Event
from casebook.questions.timeline.analysis.clocks.pairs import LATE, ZONE, Grade, Pair

BACK = 1000
"""A line so many milliseconds before the one above it is not of a thread that only came late to print it, where others follow."""
FOLLOWING = 3
"""So many lines in a row say that time went back."""
JUMP = 600_000
"""From one line to the next so many milliseconds are no delay of a thread."""
THERE_AND_BACK = 3
"""Times that go back so often, always by as much, are those of two processes."""
FEW = 2
"""So many pairs in a row say that a clock is ahead by something else than before."""
PAUSE = 120_000
"""A broker that runs prints something within so many milliseconds: what a change by whole quarters of an hour may lack."""
ALIKE = 1000
"""Pairs of one stretch differ by no more than so many milliseconds from one to the next."""


_CURRENT = (".log", ".out")
"""Names of files that were not rolled end so."""


class ClockCut(NamedTuple):
    """Two lines, one after the other, between which their clock was set.

    Args:
        before: The last line by the clock as it was.
        after: The first one by the clock as it was set.
        lines: Number of the first line after it in each file of this clock that has one.
        joined: What stands after it lies before what stands above it, as when files are put together out of order.
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
    """Where a clock was set, in the order of its lines.

    Where it was set back, the file counts that tells so most often. Between two such places lines of all files follow each other
    by the time they bear, and there it is looked for where it was set in a pause.

    Args:
        events: Dated lines by this clock, of one file or several.
        pairs: Some of them, with what happened together with them.
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
    """In which stretch between cuts a line stands, from 0."""
    return sum(line >= one.lines[file] for one in cut if file in one.lines)


def _printed(pair: Pair) -> int:
    return pair.event.time


def _backward(files: _Files) -> list[ClockCut]:
    """Where time goes back in the file in which it does most often, and where the same moment is in the others."""
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
    """Whether all lines up to the next cut bear times before all those since the cut above."""
    above = lines[max((other for other in cut if other < place), default=0) : place]
    below = lines[place : min((other for other in cut if other > place), default=len(lines))]
    return max(line.time for line in below) <= min(line.time for line in above) + BACK


def two_writers(events: Iterable[Event]) -> tuple[int, Event] | None:
    """By how much the times of two processes differ that write one file, and a line of the second; ``None`` where one does.

    Rule: times go there and back again and again, each time by about as much. A clock that was set goes once.
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
    """The first line after a cut in another file.

    Rule: where it goes back most itself; else all of it, when it lies before the first line by the clock as it was, and not
    before the first one by the clock as it was set; else where it is past what the clock showed last.

    Args:
        first: With what the stretch before the cut begins; ``None`` where older files may hold what was before that.
    """
    most = max(range(begin + 1, len(lines)), key=lambda place: lines[place - 1].time - lines[place].time, default=None)
    if most is not None and lines[most - 1].time - lines[most].time > BACK:
        return most
    if first is not None and all(after.time - BACK <= line.time < first.time - BACK for line in lines[begin:]):
        return begin
    return next((place for place in range(begin, len(lines)) if lines[place].time > before.time), len(lines))


def _in_all(files: _Files, before: Event, after: Event) -> ClockCut:
    """A cut in a pause: what bears a later time than its last line is behind it."""
    first = {file: next((line.line for line in lines if line.time > before.time), None) for file, lines in files.items()}
    return ClockCut(before, after, {file: line for file, line in first.items() if line is not None})


def _goes_back(lines: Sequence[Event], place: int) -> bool:
    """Rule: the lines that follow are earlier, too, and where it is by less than a minute, they go on through half of that time.

    Threads that waited for the log while the machine slept print one after the other, seconds late, what they had to say before.
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
    """Rule: pairs are ahead by a minute more, to the end, and a pause as long lies before them; or by whole quarters of an hour.

    A minute is what no line that is printed at once is late by; a process that stood still prints a few so late, and then others
    that are not. By whole quarters no line is late: the zone changed, and in a pause that was longer it shows in no line that it
    went back.
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
    """Rule: a pause that is as long as the clock is ahead, and lies before all that tells so, may be when it was set.

    Nothing tells how the clock was before it: to move those lines would be to know it.
    """
    pauses = list(pairwise(line for line in lines if line.time <= first.event.time))
    before, behind = max(pauses, key=lambda two: two[1].time - two[0].time, default=(first.event, first.event))
    if first.ahead - LATE <= behind.time - before.time <= first.ahead + PAUSE:
        yield before, behind


def _runs(pairs: Sequence[Pair]) -> Iterator[_ClockRun]:
    """Pairs in a row that are ahead by about as much; fewer than :data:`FEW` are strays."""
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
