"""Notebook 20: whom to start first, who holds what, the verdict on each partition, what the controllers did."""

from collections.abc import Sequence

from markupsafe import Markup

from casebook.analysis.leadership import Leadership
from casebook.analysis.start_first import StartChoice, order
from casebook.analysis.verdicts import OFFLINE, RULES, State, Verdict
from casebook.views import text
from casebook.views.bars import Bar, figure, picture
from casebook.views.render import anchor, render
from casebook.views.replica_map import replica_map
from casebook.views.view import View, html

MOST_ROWS = 200
_RANK = {State.LEADERLESS: 0, State.LEADER_DEAD: 0, State.UNKNOWN: 1, State.UNINITIALISED: 2, State.DELETING: 4, State.REASSIGNING: 5, State.ONLINE: 6}
_AXIS = "partitions without leader"


def whom_to_start(lead: Leadership) -> View:
    """The chosen order, and what the runner-up would leave."""
    tables = {"start_first": lead.start_first}
    offline = sum(v.state in OFFLINE for v in lead.verdicts)
    chosen = order(lead.start_first)
    if not chosen:
        return html(render("no_start", offline=offline, dead=lead.dead), tables=tables)
    bars = _bars(lead.start_first, chosen, offline)
    takeaway = _takeaway(lead.start_first, chosen)
    numbers = render(
        "numbers",
        summary=f"The numbers ({text.plural(len(lead.start_first), 'row')})",
        name="start-first",
        columns=(("Step", "num"), ("Broker", "num"), ("Heals", "num"), ("Still offline after", "num"), ("Best", "")),
        rows=[(False, (c.step, c.broker, text.count(c.heals), text.count(c.still_offline_after), "✓ start this" if c.chosen else "")) for c in lead.start_first[:MOST_ROWS]],
    )
    caption = Markup('<div class="cb"><p class="cb-caption"><strong>{}</strong> Full bars are left, hatched ones healed.</p></div>').format(takeaway)
    chart = figure(bars, axis=_AXIS, alternative=takeaway)
    return View(parts=(caption, chart, picture(bars, axis=_AXIS, alternative=takeaway), numbers), tables=tables)


def costs(lead: Leadership) -> View:
    """What each choice costs: starting brokers, unclean election, waiting."""
    offline = [v for v in lead.verdicts if v.state in OFFLINE]
    if not offline:
        return html(Markup())
    chosen = order(lead.start_first)
    rows = []
    if chosen:
        left = ", ".join(text.count(c.still_offline_after) for c in chosen[:4])
        rows.append((False, (f"Start {', then '.join(str(c.broker) for c in chosen[:4])}", left, "0", "clean elections: nothing is lost")))
    unclean = sum(v.unclean_winner is not None for v in offline)
    dropped = Markup("{} unknown").format(render("unknown")) if unclean else "–"
    rows.append((False, ("Unclean election", text.count(len(offline) - unclean), dropped, f"elects {text.count(unclean)} of {text.count(len(offline))}; for good")))
    rows.append((False, ("Wait", text.count(len(offline)), "0", f"{text.plural(len({v.topic for v in offline}), 'topic')} stay down")))
    columns = (("Choice", ""), ("Offline after", "num"), ("Records dropped", "num"), ("Then", ""))
    return html(render("plain_table", name="costs", columns=columns, rows=rows, takeaway="What each choice costs.", reading="After each step of it."))


def who_holds_what(lead: Leadership) -> View:
    """Partitions by brokers, grouped by who heals them."""
    return html(replica_map(lead))


def verdict_table(lead: Leadership, *, topic: str = "") -> View:
    """The verdict, partition by partition, worst first.

    Args:
        topic: Only its partitions; ``""`` for all.
    """
    chosen = [v for v in lead.verdicts if not topic or v.topic == topic]
    ordered = sorted(chosen, key=lambda v: (_RANK[v.state], not v.under_min_isr, not v.under_replicated))
    ailing = [v for v in ordered if v.state is not State.ONLINE or v.under_replicated or v.under_min_isr]
    shown = (ailing or ordered)[:MOST_ROWS]
    offline = sum(v.state in OFFLINE for v in chosen)
    view = render(
        "verdicts",
        columns=(("Partition", "cb-code"), ("State znode says", ""), ("Replicas", "cb-code"), ("ISR", "cb-code"), ("Rule that blocks, and by whom", ""),
                 ("Clean winner", ""), ("Unclean winner", ""), ("min ISR", ""), ("Proof", "")),
        rows=[(v.state in OFFLINE, _cells(v)) for v in shown],
        takeaway=f"{offline} of {text.plural(len(chosen), 'partition')} offline." if offline else f"No partition of {text.count(len(chosen))} is offline.",
        shown=len(shown),
        total=len(chosen),
        rules=[(rule, RULES[rule]) for rule in sorted({v.rule for v in shown if v.rule}, key=lambda r: int(r[1:]))],
        version=lead.version.version,
    )  # fmt: skip
    return html(view, tables={"partitions": lead.verdicts}, cites=tuple(_state_path(v) for v in shown))


def controller_history(lead: Leadership) -> View:
    """The controller epochs that the partition states remember."""
    rows = [
        (False, (c.controller_epoch, text.count(c.partitions), text.moment(c.first_write), text.moment(c.last_write)))
        for c in reversed(lead.controller_epochs[-MOST_ROWS:])
    ]
    current = lead.cluster.controller
    who = "unknown" if current.broker is None else f"broker {current.broker}"
    changes = current.epoch_stat.version if current.epoch_stat else None
    takeaway = f"Controller is {who}, epoch {text.count(current.epoch)}; {text.count(changes)} changes so far." if changes is not None else f"Controller is {who}, epoch {text.count(current.epoch)}."
    view = render(
        "plain_table",
        name="controller-epochs",
        columns=(("Epoch", "num"), ("Partitions last written", "num"), ("First of these writes", ""), ("Last", "")),
        rows=rows,
        takeaway=takeaway,
        reading="Newest first; times by ZooKeeper's clock.",
    )
    return html(view, tables={"controller_epochs": lead.controller_epochs})


def _bars(choices: Sequence[StartChoice], chosen: Sequence[StartChoice], offline: int) -> list[Bar]:
    bars = [Bar(label="Now", left=offline, gone=0, note="")]
    bars += [_bar(choice, chosen=True) for choice in chosen[:6]]
    others = [c for c in choices if c.step == 1 and not c.chosen]
    bars += [_bar(c, chosen=False) for c in sorted(others, key=lambda c: (-c.heals, c.broker))[:4]]
    return bars


def _bar(choice: StartChoice, *, chosen: bool) -> Bar:
    label = f"{choice.step}. Start {choice.broker}" if chosen else f"or {choice.broker} first"
    return Bar(label=label, left=choice.still_offline_after, gone=choice.heals, note=f"heals {choice.heals}", chosen=chosen)


def _takeaway(choices: Sequence[StartChoice], chosen: Sequence[StartChoice]) -> str:
    first = chosen[0]
    said = f"Broker {first.broker} first leaves {text.plural(first.still_offline_after, 'partition')} offline"
    others = [c for c in choices if c.step == 1 and not c.chosen]
    if not others:
        return said + "."
    second = max(others, key=lambda c: (c.heals, -c.broker))
    return f"{said}; broker {second.broker} first leaves {text.count(second.still_offline_after)}."


def _cells(v: Verdict) -> tuple[object, ...]:
    dead = v.state is State.LEADER_DEAD
    if v.state is State.UNINITIALISED:
        says: object = "nothing: no state"
    elif v.isr is None:
        says = "? unknown"
    else:
        says = "leader −1" if v.leader is None else Markup("leader <b>{}</b>{}").format(v.leader, ", dead" if dead else "")
    rule = f"{v.rule}: {v.why}" if v.rule else "online" if not v.under_replicated else "online, replicas missing"
    clean = f"{v.clean_winner} now" if v.clean_winner is not None else f"{' or '.join(map(str, v.waits_for))} if started" if v.waits_for else "nobody"
    unclean = f"{v.unclean_winner} now" if v.unclean_winner is not None else "–" if v.clean_winner is not None else "nobody"
    minimum = "? unknown" if v.min_isr is None else Markup("{} <small>{}</small>").format(v.min_isr, v.min_isr_origin)
    path = _state_path(v)
    proof = Markup('<a class="cb-proof" href="#{}" title="{}"><code>state</code></a>{}').format(anchor(path), path, f" {text.clock(v.since)}" if v.since else "")
    return (f"{v.topic}-{v.partition}", says, text.brokers(v.replicas), text.brokers(v.isr or ()), rule, clean, unclean, minimum, proof)


def _state_path(v: Verdict) -> str:
    return f"/brokers/topics/{v.topic}/partitions/{v.partition}/state"
