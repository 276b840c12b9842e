"""Host metrics: lanes below those of their brokers, and a table of outliers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from casebook.facts.host_metrics import FAMILIES, METRICS, HostSample, spelled
from casebook.findings import words
from casebook.page import text
from casebook.page.lanes import DIAMOND, Label, Lane, LaneRow, Level, Mark
from casebook.page.render import render
from casebook.page.table import NUMBER, PLAIN, TEXT, UNBROKEN, Table
from casebook.questions.timeline.analysis.causes.host_checks import Hosts
from casebook.questions.timeline.analysis.causes.host_clues import FULL, HIGH, KERNEL, LOW, STARTED, Clue, Series
from casebook.questions.timeline.analysis.selection import Selection
from casebook.questions.timeline.views.story import link

MOST_CLUES = 50
_MOST_LEVELS = 400
_WORDS = {HIGH: "above its range", LOW: "ceased", FULL: "saturated", STARTED: "started"}


def lane(hosts: Hosts, broker: int, extent: tuple[int, int]) -> Lane:
    """Return network, disks and CPU of a broker's host, each on its own scale.

    Without rows when nothing was measured in the time.
    """
    own = [
        one for one in hosts.series if one.broker == broker and (inside := _inside(one, extent)) and inside[-1].at >= extent[0]
    ]
    clues = [clue for clue in hosts.clues if clue.broker == broker]
    shown = [one for family in FAMILIES for one in _of_family(own, clues, family)]
    rows = [_row(one, [clue for clue in clues if _is_of(clue, one)], extent) for one in shown]
    if rows and (starts := [_start(clue) for clue in clues if clue.kind == STARTED]):
        rows.insert(0, LaneRow(marks=starts, labels=[Label(text="started", start=mark.at, loose=True) for mark in starts]))
    intervals = sorted({one.interval for one in shown if one.interval})
    detail = f"every {text.duration(intervals[0])}" if intervals else ""
    return Lane(key=f"host-{broker}", name=f"Host of {broker}", detail=detail, rows=rows)


def reading(hosts: Hosts) -> str:
    """Describe how to read the lanes; ``""`` without any."""
    return "Hosts: the dotted line is the median, orange marks anomalies." if hosts.series else ""


def others(hosts: Hosts, brokers: Sequence[int]) -> Sequence[int]:
    """Return brokers with outliers on their hosts, besides those with a lane."""
    return sorted({clue.broker for clue in hosts.clues} - set(brokers))


def _of_family(own: Sequence[Series], clues: Sequence[Clue], family: str) -> Iterator[Series]:
    """Yield the strongest outliers of a family; else its first known metric, of the busiest device."""
    known = [one for one in own if METRICS[one.metric].family == family]
    order = list(METRICS)
    known.sort(key=lambda one: (order.index(one.metric), -max(sample.value for sample in one.samples)))
    striking = (one for clue in clues for one in known if _is_of(clue, one))
    yield from [*striking, *known][:1]


def _is_of(clue: Clue, one: Series) -> bool:
    return (clue.broker, clue.metric, clue.device) == (one.broker, one.metric, one.device)


def _inside(one: Series, extent: tuple[int, int]) -> list[HostSample]:
    """Return the samples to draw, with the last one before the figure, for momentary values."""
    first, last = extent
    return [sample for sample in one.samples if sample.at >= first and sample.at - (sample.span or 0) <= last]


def _row(one: Series, clues: Sequence[Clue], extent: tuple[int, int]) -> LaneRow:
    drawn, metric = _inside(one, extent), METRICS[one.metric]
    most = max(sample.value for sample in drawn)
    full = 100.0 if metric.unit == "%" else most or 1.0
    short = f"{_name(one)}: up to {_spelled(most, metric.unit)} here"
    name = Label(text=f"{short}, median {_spelled(one.usual, metric.unit)}", token="quiet", pinned=True)
    shortest = f"{one.device or _name(one)}: {_spelled(most, metric.unit)}"
    labels = [name, *(replace(name, text=each, instead=True) for each in (short, shortest))]
    labels += (Label(text=_WORDS[clue.kind], start=clue.since, end=clue.last, side="center", bold=True) for clue in clues)
    return LaneRow(levels=list(_levels(one, drawn, clues, full)), labels=labels, usual=min(1.0, one.usual / full))


def _name(one: Series) -> str:
    return words.capitalised(METRICS[one.metric].name.format(one.device or "the device"))


def _spelled(value: float, unit: str) -> str:
    return spelled(value, unit).replace(" ", words.THIN)


def _levels(one: Series, drawn: Sequence[HostSample], clues: Sequence[Clue], full: float) -> Iterator[Level]:
    """Yield a bar per sample; for very many, the largest of each group."""
    some, interval = -(-len(drawn) // _MOST_LEVELS), one.interval or 0
    for place in range(0, len(drawn), some):
        group = drawn[place : place + some]
        worst = max(group, key=lambda sample: sample.value)
        striking = next((clue for clue in clues if any(clue.by <= sample.at <= clue.last for sample in group)), None)
        yield Level(
            start=group[0].at - (group[0].span or interval),
            end=group[-1].at,
            share=min(1.0, worst.value / full),
            words=f"{_name(one)}: {_spelled(worst.value, METRICS[one.metric].unit)}",
            token="warning-fill" if striking else "edge",
            proof=striking.proof if striking else "",
        )


def _start(clue: Clue) -> Mark:
    return Mark(at=clue.by, words=clue.text, shape=DIAMOND, token="warning-fill", proof=clue.proof)


def table(hosts: Hosts, chosen: Selection) -> Markup:
    """Show outliers; nothing without host metrics."""
    if not hosts.told.files:
        return Markup("")
    inside = [clue for clue in hosts.clues if chosen.broker in (None, clue.broker) and chosen.overlaps(clue.since, clue.last)]
    if not inside:
        why = " ".join(hosts.told.problems)
        return render("said", words=f"No host showed anomalies during the incident, as far as measured. {why}".strip())
    return render(
        "plain_table",
        table=Table(
            name="host-clues",
            columns=(
                ("Host of", UNBROKEN), ("Anomaly", TEXT), ("How", UNBROKEN), ("Value", NUMBER), ("Median", NUMBER),
                ("Begun, UTC", UNBROKEN), ("At least until", UNBROKEN), ("Meanwhile", TEXT), ("Proof", UNBROKEN),
            ),
            rows=[(PLAIN, _clue_cells(clue)) for clue in inside[:MOST_CLUES]],
            takeaway=f"{words.plural(len(inside), 'anomaly', 'anomalies')} on hosts meanwhile: cause or consequence.",
            reading="Each compared with its own range. An event with two times began between them." + _assumed(hosts),
            total=len(inside) if len(inside) > MOST_CLUES else None,
            rest="host_clues",
            wide=True,
            times=[(clue.since, clue.last) for clue in inside[:MOST_CLUES]],
        ),
    )  # fmt: skip


def _assumed(hosts: Hosts) -> str:
    """Describe the unknowns of their times."""
    whose = words.listed(sorted(hosts.unsure))
    return f" The time zone of the hosts of {whose} is unknown: {hosts.taken} is assumed." if hosts.unsure else ""


def _clue_cells(clue: Clue) -> tuple[object, ...]:
    values = ["" if value is None else _spelled(value, clue.unit) for value in (clue.value, clue.usual)]
    begun = words.clock(clue.by) if clue.since is None else f"{words.clock(clue.since)} – {words.clock(clue.by)}"
    what = words.capitalised(clue.subject) or ("The machine" if clue.device == KERNEL else "The machine, or sysstat on it")
    until = "" if clue.kind == STARTED else words.clock(clue.until)
    return f"broker {clue.broker}", what, _WORDS[clue.kind], *values, begun, until, clue.during, link(clue.proof)


def proofs(hosts: Hosts) -> Iterator[str]:
    """Yield the samples in the table."""
    return (clue.proof for clue in hosts.clues[:MOST_CLUES])
