"""Tables of message loss: windows, causes, classes, partitions, producers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from casebook.facts.losses import ALARM, CauseRow, Estimate, LeaderChange, LostCount
from casebook.facts.records import Limits
from casebook.findings import words
from casebook.page.render import render
from casebook.page.table import ALARM as ALARM_ROW
from casebook.page.table import CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.loss.views.choice import LossChoice, named
from casebook.questions.loss.views.when import LossPicture
from casebook.questions.loss.views.words import CAUSES, DOUBTS, FOUND, NOT_FOUND, cause, moments, offsets, proof_link

MOST_ROWS = 200
_MOST_COPIES, _MOST_RANGES = 2, 2
_UNTOLD = DOUBTS[:3]
"""Classes with an unknown outcome."""

Counts = Mapping[str, int]
"""Records by class."""


def windows(scene: LossPicture) -> Table:
    """Return every leader change, with its losses."""
    ranked = scene.ranked
    rows = ranked[:MOST_ROWS]
    head, at = moments(time for c in rows for time in (c.since, c.opened, c.closed))
    return Table(
        name="loss-windows",
        columns=(
            ("Partition", CODE),
            ("Lost", NUMBER),
            ("Leader", UNBROKEN),
            (f"Loss possible from, {head}", UNBROKEN),
            ("Next elected", UNBROKEN),
            ("Closed", UNBROKEN),
            ("Event", TEXT),
            ("Proof", UNBROKEN),
        ),
        rows=[
            (
                PLAIN,
                (
                    named(c.topic, c.partition),
                    _lost_in(scene, c),
                    f"{'?' if c.old_leader is None else c.old_leader} → {'none' if c.new_leader is None else c.new_leader}",
                    at(c.since),
                    at(c.opened),
                    unknown() if c.closed is None else f"≤ {at(c.closed)}" if c.by_then else at(c.closed),
                    _what_it_was(c),
                    Markup(" ").join(proof_link(proof) for proof in dict.fromkeys((c.opened_proof, c.closed_proof)) if proof),
                ),
            )
            for c in rows
        ],
        takeaway=f"{words.plural(len(ranked), 'change')} of leader; records were lost in {words.count(_with_loss(scene))}.",
        reading="? means not in the evidence. For a range, another window may have lost the rest.",
        total=len(ranked) if len(ranked) > len(rows) else None,
        search=True,
        wide=True,
        tall=True,
    )  # fmt: skip


def _with_loss(scene: LossPicture) -> int:
    return sum(scene.possible[change.number] > 0 for change in scene.changes)


def _lost_in(scene: LossPicture, change: LeaderChange) -> str:
    """Format the number of records lost in a change; a range when another change may have lost some."""
    every, doubtful = scene.possible[change.number], scene.doubtful[change.number]
    return f"{words.count(every - doubtful)} to {words.count(every)}" if doubtful else words.count(every)


def estimates(rows: Sequence[Estimate]) -> Table | None:
    """Return estimated losses by leader change, without a ledger; ``None`` without any."""
    if not rows:
        return None
    ranked = sorted(rows, key=lambda row: (row.most is not None, -(row.most or 0), row.topic, row.partition))
    shown = ranked[:MOST_ROWS]
    known = [row for row in rows if row.most is not None]
    return Table(
        name="loss-estimates",
        columns=(
            ("Partition", CODE),
            ("Records, at least", NUMBER),
            ("At most", NUMBER),
            ("Loss possible for", UNBROKEN),
            ("Write rate", TEXT),
        ),
        rows=[(PLAIN, _estimate(row)) for row in shown],
        takeaway=f"An estimate: {words.count(sum(row.least for row in known))} to "
        f"{words.plural(sum(row.most for row in known), 'record')} in {words.plural(len(known), 'window')} may be lost.",
        reading="Write rate times length of the window. Only a ledger shows what is lost. ? cannot be estimated.",
        total=len(ranked) if len(ranked) > len(shown) else None,
        rest="loss_estimates",
        wide=True,
        tall=True,
    )


def _estimate(row: Estimate) -> tuple[object, ...]:
    rate = row.why
    if row.fastest is not None:
        slow, fast = (f"{per * 1000:,.1f}" for per in (row.slowest, row.fastest))
        rate = f"{slow} records/s" if slow == fast else f"{slow} to {fast} records/s"
    return (
        named(row.topic, row.partition),
        words.count(row.least),
        or_unknown(row.most, words.count),
        or_unknown(row.milliseconds, words.duration),
        rate,
    )


def _what_it_was(c: LeaderChange) -> str:
    alone = c.isr is not None and c.isr == (c.old_leader,)
    said = (
        "planned move" if c.planned else "",
        "unclean election" if c.unclean else "? clean or unclean" if c.unclean is None else "clean election",
        "the old leader was alone in sync" if alone or c.alone is not None else "",
        "the next leader had truncated its log at its start" if c.cut_at_start else "",
        "a disk of the old leader was lost" if c.disk else "",
    )
    return ", ".join(filter(None, said))


def bins(scene: LossPicture) -> Table:
    """Return the nonzero bars of the overview."""
    rows = scene.bins[:MOST_ROWS]
    head, at = moments(begin for begin, _, _ in rows)
    return Table(
        name="loss-bins",
        columns=((f"From, {head}", UNBROKEN), ("Lost", NUMBER), ("Of them outside every window", NUMBER)),
        rows=[(PLAIN, (at(begin), words.count(lost), words.count(alarms))) for begin, lost, alarms in rows],
        label="Lost records over time",
        total=len(scene.bins) if len(scene.bins) > len(rows) else None,
        tall=True,
    )


def why(rows: Sequence[CauseRow], counts: Sequence[LostCount], chosen: LossChoice) -> Table:
    """Return every cause, the alarm on top, including those without records.

    Args:
        counts: Selected lost records.
    """
    by_cause = Counter()
    for row in counts:
        by_cause[row.cause] += row.records
    told = [row._replace(records=by_cause[row.cause]) if chosen.topic and row.records is not None else row for row in rows]
    return Table(
        name="causes",
        columns=(
            ("Cause", TEXT),
            ("Records", NUMBER),
            ("Where", TEXT),
            ("Window, UTC", TEXT),
            ("Proof", TEXT),
            ("Proof", UNBROKEN),
        ),
        rows=[(ALARM_ROW if row.cause is None and row.records else PLAIN, _cause(row)) for row in told],
        takeaway=_explained(told),
        reading="Every lost record has exactly one cause.",
        wide=True,
    )


def _explained(rows: Sequence[CauseRow]) -> str:
    alarms = sum(row.records or 0 for row in rows if row.cause is None)
    explained = sum(row.records or 0 for row in rows if row.cause is not None)
    if not alarms + explained:
        return "No record is lost."
    if not alarms:
        return f"All {words.count(explained)} are explained." if explained > 1 else "The lost record is explained."
    return f"{words.count(explained)} of {words.count(alarms + explained)} explained; {words.count(alarms)} outside every window."


def _cause(row: CauseRow) -> tuple[object, ...]:
    kind = (
        "not_applicable" if not row.applies else "could_not_check" if row.records is None else "critical" if row.records else "ok"
    )
    alarm = row.cause is None and bool(row.records)
    records = "–" if not row.applies else "?" if row.records is None else words.count(row.records)
    return (
        render("loss_cause", kind=kind, words=cause(row.cause), alarm=alarm),
        Markup("<b>{}</b>").format(records) if row.records else records,
        row.where,
        row.window,
        row.proves,
        proof_link(row.proof),
    )


def totals(classes: Iterable[object], chosen: LossChoice) -> Counter[str]:
    """Return the selected records, by class."""
    found: Counter[str] = Counter()
    for row in classes:
        if chosen.names(row):
            found[row.verdict] += row.records
    return found


def not_found(counts: Counts) -> Table:
    """Return records that were not found and are not lost, by class with its rule."""
    every = sum(counts[of] for of in NOT_FOUND)
    return Table(
        name="not-lost",
        columns=(("Class", TEXT), ("Records", NUMBER), ("Rule", TEXT)),
        rows=[
            (PLAIN, (_doubtful(name, of in _UNTOLD and counts[of]), words.count(counts[of]), rule))
            for of, (name, rule) in NOT_FOUND.items()
        ],
        takeaway=f"{words.plural(every, 'record')} not found, and not lost." if every else "Nothing else is missing.",
    )


def _doubtful(name: str, doubt: object) -> object:
    return Markup("{} {}").format(render("query"), name) if doubt else name


def found_classes(counts: Counts) -> Table:
    """Return found records, by class with its rule."""
    every = sum(counts[of] for of in FOUND if of not in ("reordered", "surplus"))
    return Table(
        name="found",
        columns=(("Class", TEXT), ("Records", NUMBER), ("Rule", TEXT)),
        rows=[(PLAIN, (name, words.count(counts[of]), rule)) for of, (name, rule) in FOUND.items()],
        takeaway=f"{words.plural(every, 'record')} of the ledger found.",
    )


def doubtful(counts: Counts) -> str:
    """Return the class nearest to a loss; empty without any."""
    return next((f"{words.plural(counts[of], 'record')}: {NOT_FOUND[of][0].lower()}" for of in DOUBTS if counts[of]), "")


def partitions(scene: LossPicture) -> Table:
    """Return losses and coverage of each examined partition; largest losses first."""
    chosen, found = scene.chosen, scene.found
    looked: dict[_Place, Counter[str]] = {}
    for row in found.classes:
        if chosen.names(row):
            looked.setdefault((row.topic, row.partition), Counter())[row.verdict] += row.records
    read: dict[_Place, list[Limits]] = {}
    for limit in found.limits:
        if chosen.names(limit):
            read.setdefault((limit.topic, limit.partition), []).append(limit)
    places = sorted({*looked, *read}, key=lambda p: (-_lost(looked.get(p, {})), p[0], -1 if p[1] is None else p[1]))
    hit, known = sum(_lost(counts) > 0 for counts in looked.values()), found.lost_total is not None
    of = words.plural(len(places), "partition")
    return Table(
        name="loss-partitions",
        columns=(("Partition", CODE), *(_BECAME if known else ()), *_READ),
        rows=[_partition(p, looked.get(p, Counter()), read.get(p, ()), known=known) for p in places[:MOST_ROWS]],
        takeaway=f"{words.count(hit)} of {of} lost records." if known else f"{of}; their lost records are unknown.",
        total=len(places) if len(places) > MOST_ROWS else None,
        rest="reconciliation",
        search=True,
        wide=known,
        tall=True,
    )


_Place = tuple[str, int | None]
_BECAME = (("Lost", NUMBER), ("Outside every window", NUMBER), ("Unknown", NUMBER), ("In the ledger", NUMBER))
_READ = (("Read from", TEXT), ("Offsets read", CODE), ("Not readable", CODE))


def _lost(counts: Counts) -> int:
    return counts.get("lost", 0) + counts.get(ALARM, 0)


def _partition(place: _Place, counts: Counter[str], limits: Sequence[Limits], *, known: bool) -> tuple[str, tuple[object, ...]]:
    """Return a row: outcome of its records if known, and the read part with its source and gaps."""
    name = named(*place) if place[1] is not None else Markup("{} <small>partition unknown</small>").format(place[0])
    untold, every = sum(counts[of] for of in _UNTOLD), counts.total() - counts["surplus"] - counts["reordered"]
    became = map(words.count, (_lost(counts), counts[ALARM], untold, every)) if known else ()
    return ALARM_ROW if counts[ALARM] else PLAIN, (
        name,
        *became,
        words.some([limit.copy for limit in limits], _MOST_COPIES) or "not read",
        words.some([offsets(limit.log_start, limit.end) for limit in limits], _MOST_COPIES) or "–",
        words.some([offsets(*one) for limit in limits for one in limit.unreadable], _MOST_RANGES) or "–",
    )


def producers(scene: LossPicture) -> Table | None:
    """Return losses by producer; ``None`` when the ledger has no producers."""
    if not any(row.producer for row in scene.counts):
        return None
    by_producer: dict[str | None, list[LostCount]] = {}
    for row in scene.counts:
        by_producer.setdefault(row.producer, []).append(row)
    ranked = sorted(by_producer.items(), key=lambda one: (-sum(row.records for row in one[1]), one[0] or ""))
    rows = ranked[:MOST_ROWS]
    return Table(
        name="loss-producers",
        columns=(
            ("Producer", CODE),
            ("Lost", NUMBER),
            ("Outside every window", NUMBER),
            ("Partitions", NUMBER),
            ("Causes", TEXT),
        ),
        rows=[(PLAIN, _producer(name, own)) for name, own in rows],
        takeaway=f"{words.plural(len(ranked), 'producer')} lost records.",
        total=len(ranked) if len(ranked) > len(rows) else None,
        rest="lost",
        search=True,
    )


def _producer(name: str | None, own: Sequence[LostCount]) -> tuple[object, ...]:
    causes = [called for of, called in CAUSES.items() if any(row.cause == of for row in own)]
    return (
        or_unknown(name),
        words.count(sum(row.records for row in own)),
        words.count(sum(row.records for row in own if row.cause is None)),
        words.count(len({(row.topic, row.partition) for row in own})),
        "; ".join(causes),
    )
