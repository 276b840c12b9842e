"""Notebook 50: load queue of each broker, waiting groups, impact of a broker's loss."""

from collections.abc import Sequence

from markupsafe import Markup

from casebook.findings import words
from casebook.kafka.load_rate import TimeRange
from casebook.page import text
from casebook.page.render import anchor, render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, numbers, or_unknown, unknown
from casebook.page.view import View, html
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.coordinators.analysis.load_ends import BrokerQueue
from casebook.questions.coordinators.analysis.rows import BlastRadius, CoordinatorRow, Waiting
from casebook.questions.coordinators.analysis.served_at import about, clock, served_at
from casebook.questions.coordinators.analysis.states import UNSERVED, WAITING, CoordinatorState
from casebook.questions.coordinators.views.load_gantt import Gantt, GanttStrip, figure

MOST_ROWS = 200
_MOST_LANES = 20
_WORDS = {CoordinatorState.LOADING_FOR_EVER: "loading for ever", CoordinatorState.UNKNOWN: "? unknown"}
_COMMITS_TO = {True: "ZooKeeper and Kafka", False: "ZooKeeper", None: "ZooKeeper; Kafka unknown"}
_HIT = (*UNSERVED, CoordinatorState.FAILED)


def load_queues(c: Coordinators) -> View:
    """Show finished, current and waiting loads of each broker, on one time axis."""
    tables = {"coordinators": c.rows}
    lanes = [queue for queue in c.queues if queue.loads or queue.loading]
    shown = sorted(lanes, key=lambda q: (q.loading is None, q.broker))[:_MOST_LANES]
    takeaway = _takeaway(c)
    if not shown:
        return html(
            render("load_caption", takeaway=takeaway, reading="", legend=False),
            _every_partition(c),
            tables=tables,
            cites=_cites(c),
        )
    ends = max((q.log.ends for q in shown if q.loading and q.log), default=None)
    gantt = Gantt(strips=[strip for queue in shown for strip in _lane(c, queue)], ends=ends, alternative=takeaway)
    undrawn = len(lanes) - len(shown)
    more = f" {words.plural(undrawn, 'broker')} with nothing left to load not drawn." if undrawn else ""
    caption = render("load_caption", takeaway=takeaway, reading=_reading(shown) + more, legend=True)
    return View(parts=(caption, figure(gantt), _every_partition(c)), tables=tables, cites=_cites(c))


def who_waits(c: Coordinators) -> View:
    """Show groups that are not served, or served from a failed load; endless waits first."""
    hit = [row for row in c.rows if row.state in _HIT]
    groups = [row for row in hit if row.group is not None]
    rows = hit[:MOST_ROWS]
    table = Table(
        name="who-waits",
        columns=(
            ("Group", CODE),
            ("Partition", NUMBER),
            ("Coordinator", UNBROKEN),
            ("State", UNBROKEN),
            ("Since", UNBROKEN),
            ("Served at", UNBROKEN),
            ("Rests on", TEXT),
            ("Proof", UNBROKEN),
        ),
        rows=[(PLAIN if row.state in WAITING[:2] else ALARM, _cells(c, row)) for row in rows],
        takeaway=_waiting_words(c, hit, groups),
        reading=_seen(hit),
        total=len(hit) if len(hit) > len(rows) else None,
        rest="coordinators",
        search=True,
        wide=True,
    )
    return html(render("plain_table", table=table), tables={"coordinators": c.rows}, cites=_cites(c))


def blast_radius(c: Coordinators) -> View:
    """Show the impact of each broker's loss."""
    widest = c.radius[0] if c.radius else None
    known = bool(c.groups)
    table = Table(
        name="blast-radius",
        columns=(
            ("If it stops: broker", TEXT),
            ("Groups", NUMBER),
            ("Offsets partitions", NUMBER),
            ("Others must load", NUMBER),
            ("No other in sync", TEXT),
        ),
        rows=[(ALARM if r.alone else PLAIN, _radius_cells(r, known=known)) for r in c.radius[:MOST_ROWS]],
        takeaway=_widest(widest, known=known),
        reading=("Groups are known from log lines only: there may be more. " if c.named else "")
        + ("Other brokers load its partitions first; those with no other in-sync replica have no coordinator until it is back."),
        total=len(c.radius) if len(c.radius) > MOST_ROWS else None,
        rest="blast_radius",
    )
    return html(render("plain_table", table=table), tables={"blast_radius": c.radius})


def commits(c: Coordinators) -> View:
    """Show where each group commits: offsets in ZooKeeper, and whether Kafka has the group too."""
    kept = c.cluster.group_offsets
    if not kept:
        known = words.plural(len(c.groups), "group")
        said = (
            f"No offset below /consumers is in the evidence; {known} known to Kafka."
            if c.cluster.there
            else "The evidence has no znodes."
        )
        return html(render("caption", takeaway=said, reading="Groups that commit to Kafka have theirs in __consumer_offsets."))
    groups = {one.group for one in kept}
    table = Table(
        name="group-offsets",
        columns=(("Group", CODE), ("Commits to", UNBROKEN), ("Partition", CODE), ("Offset", NUMBER), ("Committed", UNBROKEN)),
        rows=[
            (
                PLAIN,
                (
                    one.group,
                    _COMMITS_TO[c.commits_to_kafka(one.group)],
                    f"{one.topic}-{one.partition}",
                    one.offset,
                    or_unknown(one.at, words.when),
                ),
            )
            for one in kept[:MOST_ROWS]
        ],
        takeaway=f"{words.plural(len(groups), 'group')} with {words.plural(len(kept), 'offset')} in ZooKeeper.",
        reading="Coordinators do not serve these; a change of coordinator does not affect them.",
        total=len(kept) if len(kept) > MOST_ROWS else None,
        rest="group_offsets",
        search=True,
    )
    return html(render("plain_table", table=table), tables={"group_offsets": kept})


def _takeaway(c: Coordinators) -> str:
    """Return the longest wait, in one sentence."""
    busy = [queue for queue in c.queues if queue.loading is not None]
    if not busy:
        return "Nothing is being loaded." if any(q.log and q.log.ends for q in c.queues) else "No log shows loads."
    endless = [queue for queue in busy if queue.loading.state is CoordinatorState.LOADING_FOR_EVER]
    if endless:
        first = endless[0]
        return f"Broker {first.broker} never ends: partition {first.loading.partition} holds a batch larger than its load buffer."
    last = max(busy, key=lambda q: _last(c, q) or 0)
    end = _last(c, last)
    if end is None or last.log is None or last.log.ends is None:
        return f"Broker {busy[0].broker} loads partition {busy[0].loading.partition}; its end is unknown."
    head = _eta(c, last.loading.partition)
    mostly = len(last.queued) > 1 and head is not None and end - last.log.ends < 1.25 * (head.mid - last.log.ends)
    because = f", nearly all of it for partition {last.loading.partition}" if mostly else ""
    return f"Broker {last.broker} has {about((end - last.log.ends) / 1000)} to go{because}."


def _last(c: Coordinators, queue: BrokerQueue) -> float | None:
    """Return the estimated time when the last partition of a broker is served."""
    mids = [w.eta.mid for w in c.partitions if w.judged.coordinator == queue.broker and w.eta and w.eta.mid is not None]
    return max(mids, default=None)


def _reading(shown: Sequence[BrokerQueue]) -> str:
    """Return the rates, and the limits of the figure."""
    rates = [f"broker {q.broker}: {_rate_words(q)}" for q in shown if q.loading is not None and q.rate is not None]
    said = f"Rate of {'; of '.join(rates)}. " if rates else ""
    return (
        f"{said}One loading thread per broker. Progress within a load is not logged: elapsed time is not data read. "
        "Times are UTC."
    )


def _rate_words(queue: BrokerQueue) -> str:
    law = queue.rate.by_records or queue.rate.by_bytes
    low, mid, high = (round(value) for value in law.per_second)
    own = "" if queue.rate.own else " of other brokers"
    loads = f"from {words.plural(law.loads, 'finished load')}{own}"
    if queue.rate.by_records is None:
        return f"{text.size(mid)}/s ({text.size(low)} to {text.size(high)}), {loads}"
    return f"{words.count(_rounded(mid))} records/s ({words.count(_rounded(low))} to {words.count(_rounded(high))}), {loads}"


def _rounded(value: int) -> int:
    """Round to two digits, the precision of a rate."""
    return round(value, 2 - len(str(value)))


def _lane(c: Coordinators, queue: BrokerQueue) -> list[GanttStrip]:
    served = sum(w.judged.state is CoordinatorState.SERVED for w in c.partitions if w.judged.coordinator == queue.broker)
    head = {"label": f"Broker {queue.broker}", "detail": f"{served} of {queue.coordinates} served"}
    strips = []
    if queue.loads:
        start, end = min(load.start for load, _ in queue.loads), max(load.end for load, _ in queue.loads)
        note = f"{words.plural(len(queue.loads), 'load')} in {text.duration(end - start)}"
        strips.append(GanttStrip(note=note, solid=(start, end), **head))
    else:
        strips.append(GanttStrip(note="no load has ended", **head))
    if queue.loading is not None and queue.log is not None and queue.log.ends is not None:
        strips.append(_at_work(c, queue))
        if queue.queued:
            strips.append(_in_line(c, queue))
    return strips


def _at_work(c: Coordinators, queue: BrokerQueue) -> GanttStrip:
    one, ends = queue.loading, queue.log.ends
    span = _eta(c, one.partition)
    size = text.size(one.work.bytes) if one.work else "size unknown"
    if one.state is CoordinatorState.LOADING_FOR_EVER:
        return GanttStrip(note=f"{one.partition} never ends, {size}", solid=(one.since, ends), critical=True)
    if span is None or span.mid is None:
        return GanttStrip(note=f"{one.partition}: end unknown, {size}", solid=(one.since, ends))
    note = f"{one.partition}: {served_at(span, c.at)}"
    return GanttStrip(note=note, solid=(one.since, ends), hatched=(ends, max(span.mid, ends)), whisker=span)


def _in_line(c: Coordinators, queue: BrokerQueue) -> GanttStrip:
    spans = [span for one in queue.queued if (span := _eta(c, one.partition)) is not None]
    sizes = [one.work.bytes if one.work else None for one in queue.queued]
    held = f", {text.size(sum(sizes))}" if None not in sizes else ""
    which = f"{queue.queued[0].partition} queued" if len(sizes) == 1 else f"{words.count(len(sizes))} queued"
    head = _eta(c, queue.loading.partition)
    mids = [span.mid for span in spans if span.mid is not None]
    start = head.mid if head and head.mid is not None else queue.log.ends
    order = "" if queue.ordered or len(sizes) == 1 else ", order not logged"
    return GanttStrip(note=f"{which}{held}{order}", dashed=(start, max([*mids, start])))


def _eta(c: Coordinators, partition: int) -> TimeRange | None:
    return next((w.eta for w in c.partitions if w.judged.partition == partition), None)


def _waiting_words(c: Coordinators, hit: Sequence[CoordinatorRow], groups: Sequence[CoordinatorRow]) -> str:
    if hit and groups and c.named:
        return f"At least {words.count(len(groups))} groups are not served as they should be; they are known from log lines."
    if hit and groups:
        return f"{words.count(len(groups))} of {words.plural(len(c.groups), 'group')} not served as they should be."
    if hit:
        return f"{words.plural(len(hit), 'partition')} not served as they should be; the groups are unknown."
    unclear = sum(row.state in (CoordinatorState.UNKNOWN, CoordinatorState.MOVED) for row in c.rows)
    return f"No group waits, as far as known; {words.count(unclear)} unknown." if unclear or not c.rows else "Nobody waits."


def _seen(hit: Sequence[CoordinatorRow]) -> str:
    """Return the response to clients, once for all rows."""
    if not hit:
        return ""
    answers = "; ".join(dict.fromkeys(row.client_sees for row in hit))
    return f"Longest first; times are UTC. Client error: {answers}."


def _cells(c: Coordinators, row: CoordinatorRow) -> tuple[object, ...]:
    return (
        row.group if row.group is not None else Markup("<small>groups unknown</small>"),
        row.partition,
        "none" if row.coordinator is None else f"broker {row.coordinator}",
        _WORDS.get(row.state, str(row.state)),
        words.clock(row.since) if row.since else unknown(),
        _when(c, row),
        row.rests_on or row.why,
        _proof(row),
    )


def _when(c: Coordinators, row: CoordinatorRow) -> object:
    if row.state == CoordinatorState.FAILED:
        return "now, in part"
    if row.state == CoordinatorState.LOADING_FOR_EVER:
        return "never"
    span = _eta(c, row.partition)
    if span is None:
        return unknown()
    return Markup("{} not before {}").format(unknown(), clock(span.low, c.at)) if span.mid is None else served_at(span, c.at)


def _proof(row: CoordinatorRow) -> object:
    if row.proof is None:
        return ""
    short = "state" if row.proof.startswith("/") else row.proof.rpartition("/")[2]
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>{}</code></a>').format(anchor(row.proof), row.proof, short)


def _cites(c: Coordinators) -> tuple[str, ...]:
    """Return every linked proof: znodes and lines, of rows and of findings."""
    proofs = [row.proof for row in c.rows[:MOST_ROWS]]
    proofs += [row.proof for row in _partition_rows(c)[:MOST_ROWS]]
    proofs += [e.label for finding in c.findings for e in finding.evidence if e.znode is not None or e.line is not None]
    return tuple(dict.fromkeys(proof for proof in proofs if proof))


def _partition_rows(c: Coordinators) -> tuple[CoordinatorRow, ...]:
    """Return each partition once, by number."""
    first = {row.partition: row for row in reversed(c.rows)}
    return tuple(first[partition] for partition in sorted(first))


def _every_partition(c: Coordinators) -> Markup:
    took = {load.partition: load.milliseconds for queue in c.queues for load, _ in queue.loads}
    rows = zip(_partition_rows(c), c.partitions, strict=True)
    table = Table(
        name="offsets-partitions",
        columns=(
            ("Partition", NUMBER),
            ("Coordinator", UNBROKEN),
            ("State", UNBROKEN),
            ("Since", UNBROKEN),
            ("Size", NUMBER),
            ("Records", NUMBER),
            ("Load took, ms", NUMBER),
            ("Served at", UNBROKEN),
            ("Groups", NUMBER),
            ("Proof", UNBROKEN),
        ),
        rows=[
            (ALARM if row.state in _HIT else PLAIN, _partition_cells(c, row, one, took.get(row.partition))) for row, one in rows
        ][:MOST_ROWS],
        label="Every partition of the offsets topic",
        total=len(c.partitions) if len(c.partitions) > MOST_ROWS else None,
        rest="coordinators",
        wide=True,
    )
    return numbers(table, f"The numbers ({words.plural(len(c.partitions), 'partition')})")


def _partition_cells(c: Coordinators, row: CoordinatorRow, one: Waiting, took: int | None) -> tuple[object, ...]:
    work = one.judged.work
    about = "" if work is None or work.counted or work.records is None else "≈ "
    return (
        row.partition,
        *_cells(c, row)[2:5],
        text.size(work.bytes if work else None),
        f"{about}{words.count(work.records if work else None)}",
        "–" if took is None else words.count(took),
        _when(c, row) if row.state in UNSERVED else "–",
        words.count(len(one.groups)) if c.groups else "?",
        _proof(row),
    )


def _radius_cells(r: BlastRadius, *, known: bool) -> tuple[object, ...]:
    alone = f"{words.count(len(r.alone))}: {words.some([str(p) for p in r.alone], 8)}" if r.alone else "–"
    return (
        f"broker {r.broker}",
        words.count(r.groups) if known else "?",
        words.count(r.partitions),
        text.size(r.bytes),
        alone,
    )


def _widest(widest: BlastRadius | None, *, known: bool) -> str:
    if widest is None:
        return "The coordinators are unknown."
    groups = f"{words.plural(widest.groups, 'group')} of " if known else ""
    return f"Broker {widest.broker} coordinates most: {groups}{words.plural(widest.partitions, 'offsets partition')}."
