"""Notebook 20: start order, replica map, verdict on each partition, controller history."""

from collections.abc import Sequence

from markupsafe import Markup

from casebook.facts.proofs import Proofs
from casebook.findings import words
from casebook.kafka.verdict import OFFLINE, RULES, PartitionCondition, Verdict, offline
from casebook.page import text
from casebook.page.bars import Bar, figure
from casebook.page.render import anchor, render
from casebook.page.table import ALARM, CHOSEN, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Row, Table, numbers, unknown
from casebook.page.view import View, html
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.analysis.start_first import StartChoice, elected_unclean, order, start_first
from casebook.questions.leadership.views.replica_map import replica_map

MOST_ROWS = 200
_MOST_STEPS, _MOST_OTHER_STEPS, _MOST_NAMED = 6, 3, 4
_RANK = {
    PartitionCondition.LEADERLESS: 0,
    PartitionCondition.LEADER_DEAD: 0,
    PartitionCondition.UNKNOWN: 1,
    PartitionCondition.UNINITIALISED: 2,
    PartitionCondition.DELETING: 4,
    PartitionCondition.REASSIGNING: 5,
    PartitionCondition.ONLINE: 6,
}
_VERDICT_COLUMNS = (
    ("Partition", CODE),
    ("State", UNBROKEN),
    ("Replicas", CODE),
    ("ISR", CODE),
    ("Blocking rule and brokers", TEXT),
    ("Clean winner", TEXT),
    ("Unclean winner", TEXT),
    ("min ISR", TEXT),
    ("Proof", TEXT),
)
_AXIS = "partitions without leader"


def whom_to_start(lead: Leadership) -> View:
    """Show the chosen order, and the result of the runner-up."""
    tables = {"start_first": lead.start_first}
    chosen = order(lead.start_first)
    if not chosen or lead.outdated:
        told = {"offline": len(_offline(lead)), "dead": lead.dead, "known": _known(lead), "outdated": lead.outdated}
        return html(render("no_start", **told), tables=tables)
    other = _other_order(lead)
    rows = [*_now(lead), *_bars(chosen[:_MOST_STEPS], chosen=True)]
    if other:
        rows += ["The other order", *_bars(other[:_MOST_OTHER_STEPS], chosen=False)]
    takeaway = _takeaway(chosen, other)
    caption = Markup(
        '<div class="cb"><p class="cb-caption"><strong>{}</strong> Solid bars: still offline. Hatched bars: healed.</p></div>'
    ).format(takeaway)
    chart = figure(rows, axis=_AXIS, alternative=takeaway)
    return View(parts=(caption, chart, _choices(lead.start_first)), tables=tables)


def _known(lead: Leadership) -> bool:
    """Return whether there are partitions, all with a verdict."""
    return (
        lead.cluster.brokers_known
        and bool(lead.verdicts)
        and all(v.state is not PartitionCondition.UNKNOWN for v in lead.verdicts)
    )


def costs(lead: Leadership) -> View:
    """Show the cost of each choice: starting brokers, unclean election, waiting."""
    offline = _offline(lead)
    if not offline or lead.outdated:
        return html(Markup())
    table = Table(
        name="costs",
        columns=(("Choice", TEXT), ("Offline after", NUMBER), ("Records dropped", NUMBER), ("Then", TEXT)),
        rows=[
            *_start_cost(lead, order(lead.start_first), CHOSEN),
            *_start_cost(lead, _other_order(lead), PLAIN),
            _unclean_cost(offline),
            (PLAIN, ("Wait", words.count(len(offline)), "0", _stay_down(offline))),
        ],
        takeaway="Cost of each start order.",
        reading="Offline partitions after each step.",
    )
    return html(render("plain_table", table=table))


def who_holds_what(lead: Leadership) -> View:
    """Show partitions by brokers, grouped by the broker that heals them."""
    return html(replica_map(lead))


def verdict_table(lead: Leadership, *, topic: str = "", source: str = "", at: str = "") -> View:
    """Show the verdict, partition by partition, worst first, and how to find those not shown.

    Args:
        topic: Only its partitions; ``""`` for all.
        source: Source of the case.
        at: Moment of the state; ``""`` for the time of collection.
    """
    chosen = [v for v in lead.verdicts if not topic or v.topic == topic]
    ordered = sorted(chosen, key=lambda v: (_RANK[v.state], not v.under_min_isr, not v.under_replicated))
    ailing = [v for v in ordered if v.state is not PartitionCondition.ONLINE or v.under_replicated or v.under_min_isr]
    shown = (ailing or ordered)[:MOST_ROWS]
    offline = sum(v.state in OFFLINE for v in chosen)
    table = Table(
        name="verdicts",
        columns=_VERDICT_COLUMNS,
        rows=[(ALARM if v.state in OFFLINE else PLAIN, _cells(v, lead.cluster.proofs)) for v in shown],
        takeaway=_offline_of(offline, len(chosen), sum(v.state is PartitionCondition.DELETING for v in chosen)),
        reading="Worst first." if ailing else "",
        total=len(chosen),
        rest="partitions",
        search=True,
        wide=True,
        stacked=True,
    )
    rules = [(rule, RULES[rule]) for rule in sorted({v.rule for v in shown if v.rule}, key=lambda r: int(r[1:]))]
    seen = {v.topic for v in shown}
    other = next((v.topic for v in lead.verdicts if v.topic not in seen), "")
    command_line = other and text.command("partition_leadership", source, ({"at": at} if at else {}) | {"topic": other})
    view = render("verdicts", table=table, rules=rules, version=lead.version.version, command_line=command_line)
    return html(
        view,
        tables={"partitions": lead.verdicts},
        cites=tuple(lead.cluster.proofs.state(v.topic, v.partition).label for v in shown),
    )


def controller_history(lead: Leadership) -> View:
    """Show the controller epochs in partition states."""
    current = lead.cluster.controller
    if lead.cluster.is_kraft:
        said = "KRaft keeps no controller epoch with a partition: its controllers are a quorum, led by node {}, epoch {}."
        leader, epoch = ("unknown" if one is None else one for one in (current.broker, current.epoch))
        text_of = Markup('<div class="cb"><p>{}</p></div>').format(said.format(leader, epoch))
        return html(text_of, tables={"controller_epochs": lead.controller_epochs})
    who = "unknown" if current.broker is None else f"broker {current.broker}"
    changes = current.epoch_stamp.version if current.epoch_stamp else None
    since = f"; {words.plural(changes, 'change')} so far" if changes is not None else ""
    table = Table(
        name="controller-epochs",
        columns=(("Epoch", NUMBER), ("Partitions last written", NUMBER), ("First write", TEXT), ("Last", TEXT)),
        rows=[
            (PLAIN, (c.controller_epoch, words.count(c.partitions), words.date(c.first_write), words.date(c.last_write)))
            for c in reversed(lead.controller_epochs[-MOST_ROWS:])
        ],
        takeaway=f"Controller is {who}, epoch {'unknown' if current.epoch is None else current.epoch}{since}.",
        reading="Newest first; times from ZooKeeper's clock.",
        total=len(lead.controller_epochs),
        rest="controller_epochs",
    )
    return html(render("plain_table", table=table), tables={"controller_epochs": lead.controller_epochs})


def _offline_of(offline: int, total: int, deleting: int) -> str:
    apart = f", {words.count(deleting)} being deleted" if deleting else ""
    if not offline:
        return f"No partition of {words.count(total)} is offline{apart}."
    return f"{words.count(offline)} of {words.plural(total, 'partition')} offline{apart}."


def _offline(lead: Leadership) -> list[Verdict]:
    return offline(lead.verdicts)


def _other_order(lead: Leadership) -> tuple[StartChoice, ...]:
    """Return the order that starts with the second best broker; empty with only one candidate."""
    others = [c for c in lead.start_first if c.step == 1 and not c.chosen and c.heals]
    if not others:
        return ()
    first = max(others, key=lambda c: (c.heals, -c.broker))
    waiting = [v for v in _offline(lead) if v.waits_for and first.broker not in v.waits_for]
    never = first.still_offline_after - len(waiting)
    later = order(start_first(waiting, [b for b in lead.dead if b != first.broker]))
    return first, *(
        StartChoice(
            step=c.step + 1, broker=c.broker, heals=c.heals, chosen=False, still_offline_after=c.still_offline_after + never
        )
        for c in later
    )


def _now(lead: Leadership) -> list[Bar]:
    live = sorted(lead.cluster.live)
    detail = (
        f"brokers {', '.join(map(str, live))} live" if len(live) <= _MOST_NAMED else f"{words.plural(len(live), 'broker')} live"
    )
    return [Bar(label="Now", left=len(_offline(lead)), detail=detail)]


def _bars(choices: Sequence[StartChoice], *, chosen: bool) -> list[Bar]:
    return [
        Bar(
            label=f"{c.step}. Start broker {c.broker}",
            left=c.still_offline_after,
            gone=c.heals,
            note=f"heals {words.count(c.heals)}",
            chosen=chosen,
        )
        for c in choices
    ]


def _takeaway(chosen: Sequence[StartChoice], other: Sequence[StartChoice]) -> str:
    first = chosen[0]
    said = f"Starting broker {first.broker} first leaves {words.plural(first.still_offline_after, 'partition')} offline"
    return (
        f"{said}; starting broker {other[0].broker} first leaves {words.count(other[0].still_offline_after)}."
        if other
        else f"{said}."
    )


def _choices(choices: Sequence[StartChoice]) -> Markup:
    table = Table(
        name="start-first",
        columns=(("Step", NUMBER), ("Broker", NUMBER), ("Heals", NUMBER), ("Still offline after", NUMBER), ("Best", TEXT)),
        rows=[
            (
                CHOSEN if c.chosen else PLAIN,
                (c.step, c.broker, words.count(c.heals), words.count(c.still_offline_after), "✓ start this" if c.chosen else ""),
            )
            for c in choices[:MOST_ROWS]
        ],
        label="Every broker at every step",
        total=len(choices),
        rest="start_first",
    )
    return numbers(table, f"The numbers ({words.plural(len(choices), 'row')})")


def _start_cost(lead: Leadership, steps: Sequence[StartChoice], how: str) -> list[Row]:
    if not steps:
        return []
    unclean = len(elected_unclean(lead.verdicts, [choice.broker for choice in steps]))
    then = f"{words.plural(unclean, 'partition')} elected unclean" if unclean else "clean elections: no records lost"
    named = steps[:_MOST_NAMED]
    more = f", then {words.count(len(steps) - len(named))} more" if len(steps) > len(named) else ""
    left = ", ".join(words.count(c.still_offline_after) for c in named)
    return [(how, (f"Start {', then '.join(str(c.broker) for c in named)}{more}", left, unknown() if unclean else "0", then))]


def _unclean_cost(offline: Sequence[Verdict]) -> Row:
    elected = sum(v.unclean_winner is not None for v in offline)
    then = f"elects {words.count(elected)} of {words.count(len(offline))}; for good"
    return PLAIN, ("Unclean election", words.count(len(offline) - elected), unknown() if elected else "–", then)


def _stay_down(offline: Sequence[Verdict]) -> str:
    """Return the number of affected topics: other partitions of them may be healthy."""
    topics = words.plural(len({v.topic for v in offline}), "topic")
    return f"a partition of {topics} stays offline" if len(offline) == 1 else f"partitions of {topics} stay offline"


def _cells(v: Verdict, proofs: Proofs) -> tuple[object, ...]:
    rule = f"{v.rule}: {v.why}" if v.rule else "online" if not v.under_replicated else "online, replicas missing"
    isr = unknown() if v.isr is None and v.state is not PartitionCondition.UNINITIALISED else words.listed(v.isr or ())
    minimum = unknown() if v.min_isr is None else Markup("{} <small>{}</small>").format(v.min_isr, v.min_isr_origin)
    return (
        f"{v.topic}-{v.partition}",
        _says(v),
        words.listed(v.replicas),
        isr,
        rule,
        _clean(v),
        _unclean(v),
        minimum,
        _proof(v, proofs),
    )


def _says(v: Verdict) -> object:
    """Return the leader according to the state znode."""
    if v.state is PartitionCondition.UNINITIALISED:
        return "none: no state znode"
    if v.isr is None:
        return unknown()
    if v.leader is None:
        return "leader −1"
    return Markup("leader <b>{}</b>{}").format(v.leader, ", dead" if v.state is PartitionCondition.LEADER_DEAD else "")


def _clean(v: Verdict) -> object:
    if v.state is PartitionCondition.UNKNOWN:
        return unknown()
    if v.clean_winner is not None:
        return f"{v.clean_winner} now"
    in_sync = [b for b in v.waits_for if b in (v.isr or ()) or v.state is PartitionCondition.UNINITIALISED]
    return f"{' or '.join(map(str, in_sync))} if started" if in_sync else "no replica"


def _unclean(v: Verdict) -> object:
    if v.state is PartitionCondition.UNKNOWN:
        return unknown()
    if v.unclean_winner is not None:
        return f"{v.unclean_winner} now"
    unclean = [broker for broker in v.waits_for if elected_unclean([v], [broker])]
    if unclean:
        return f"{' or '.join(map(str, unclean))} if started first"
    return "–" if v.clean_winner is not None else "no replica"


def _proof(v: Verdict, proofs: Proofs) -> Markup:
    path = proofs.state(v.topic, v.partition).label
    written = f" {words.clock(v.since)}" if v.since else ""
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>state</code></a>{}').format(anchor(path), path, written)
