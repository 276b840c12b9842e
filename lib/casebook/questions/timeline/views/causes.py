"""Possible root causes, consequences, and reliability of the clocks."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from casebook.findings import words
from casebook.kafka.past_rows import Clock, EventRow
from casebook.page import text
from casebook.page.render import render
from casebook.page.table import NUMBER, PLAIN, TEXT, UNBROKEN, Table, or_unknown, unknown
from casebook.questions.timeline.analysis.causal_chain import CausalLink, Chain, Indication, Root
from casebook.questions.timeline.analysis.causes.roots import likeliest
from casebook.questions.timeline.analysis.selection import Selection
from casebook.questions.timeline.analysis.timeline import Timeline
from casebook.questions.timeline.views.story import link
from casebook.questions.timeline.views.tables import MOST_SHAPES, MOST_WINDOWS, kind_in_words

_MOST_CHAINS, _MOST_LINKS, _MOST_POINTS = 12, 12, 4


def roots(found: Timeline, chosen: Selection) -> Markup:
    """Show root candidates of each chain, ranked, with evidence against each."""
    by_chain: dict[int, list[Root]] = {}
    for root in found.roots:
        if _shown(found.chains[root.chain], chosen):
            by_chain.setdefault(root.chain, []).append(root)
    if not by_chain:
        return render("said", words=_no_root(found, chosen))
    return Markup("").join(_of_chain(found, at, candidates, alone=len(by_chain) == 1) for at, candidates in by_chain.items())


def _shown(chain: Chain, chosen: Selection) -> bool:
    return chosen.overlaps(chain.opened, chain.closed) and chosen.broker in (None, chain.broker)


def _no_root(found: Timeline, chosen: Selection) -> str:
    if found.roots or found.chains:
        return "No chain of causes is in this selection." if not chosen.everything else "The evidence shows no root cause."
    return "No chain of causes was found, so no root cause can be given."


def _of_chain(found: Timeline, number: int, candidates: Sequence[Root], *, alone: bool) -> Markup:
    chain = found.chains[number]
    first = likeliest(candidates)
    table = Table(
        name=f"roots-{number}",
        columns=(("Candidate", TEXT), ("For", TEXT), ("Against", TEXT), ("Could not check", TEXT)),
        rows=[
            (PLAIN, (_name(place, root, bold=root is first), *_points(root))) for place, root in enumerate(candidates, start=1)
        ],
        takeaway="" if alone else chain.title,
        label=f"Root candidates of: {chain.title}",
        times=[(chain.opened, chain.closed)] * len(candidates),
    )
    return render("plain_table", table=table)


def _name(place: int, root: Root, *, bold: bool) -> Markup:
    name = Markup("<strong>{}</strong>").format(root.name) if bold else escape(root.name)
    return Markup("{}. {}").format(place, name)


def _points(root: Root) -> tuple[Markup, Markup, Markup]:
    unchecked = Markup("<br>").join(Markup("{} {}").format(render("query"), what) for what in root.unchecked)
    return _argued(root.pro), _argued(root.contra), unchecked


def _argued(points: Sequence[Indication]) -> Markup:
    more = Markup("<br>and {} more").format(words.count(len(points) - _MOST_POINTS)) if len(points) > _MOST_POINTS else ""
    each = (Markup("{} {}").format(point.text, link(point.proof)) for point in points[:_MOST_POINTS])
    return Markup("<br>").join(each) + more


def chains(found: Timeline, chosen: Selection) -> Markup:
    """Show consequences: both lines of evidence, and the rule that joins them."""
    shown = [chain for chain in found.chains if _shown(chain, chosen)]
    if not shown:
        none = "No chain of causes was found." if not found.chains else "No chain of causes is in this selection."
        return render("said", words=none)
    tables = [_chain(place, chain, chosen) for place, chain in enumerate(shown[:_MOST_CHAINS])]
    rest = len(shown) - _MOST_CHAINS
    return render("timeline_chains", tables=tables, rest=max(0, rest))


def _chain(place: int, chain: Chain, chosen: Selection) -> tuple[str, bool, Table]:
    """Return title, whether it is open initially, and its links."""
    inside = [one for one in chain.links if chosen.within(one.effect.at) or chosen.within(one.cause.at)]
    table = Table(
        name=f"chain-{place}",
        columns=(
            ("First", TEXT),
            ("Evidence", UNBROKEN),
            ("Then", TEXT),
            ("Evidence", UNBROKEN),
            ("After, s", NUMBER),
            ("Rule", TEXT),
        ),
        rows=[(PLAIN, _link(one)) for one in inside[:_MOST_LINKS]],
        total=len(inside) if len(inside) > _MOST_LINKS else None,
        label=chain.title,
        wide=True,
        times=[(one.cause.at, one.last.at) for one in inside[:_MOST_LINKS]],
    )
    hit = f", {words.plural(chain.partitions, 'partition')} hit" if chain.partitions else ""
    return f"{chain.title} ({_stamp(chain.opened)}{hit})", place == 0, table


def _link(one: CausalLink) -> tuple[object, ...]:
    many = Markup(" <span class=cb-quiet>the first of {}</span>").format(words.count(one.count)) if one.count > 1 else ""
    return (
        _event(one.cause),
        link(one.cause.proof),
        _event(one.effect) + many,
        link(one.effect.proof),
        f"{one.seconds:.3f}",
        one.rule,
    )


def _event(row: EventRow) -> Markup:
    who = f"broker {row.broker}: " if row.broker is not None else "ZooKeeper: " if row.source == "zookeeper" else ""
    return Markup('<span class="cb-quiet">{}</span> {}{}').format(words.clock_ms(row.at), who, kind_in_words(row.kind))


def clocks(found: Timeline) -> Markup:
    """Show the skew of each clock in one line, and its effect."""
    known = [c for c in found.clocks if c.skew is not None]
    several = len(found.clocks) > 1
    return render(
        "timeline_clocks",
        reference=found.reference,
        known=[_skew(c) for c in known],
        unknown=[c for c in found.clocks if c.skew is None] if found.reference or several else [],
        zones=[c for c in known if c.zone],
        table=_clock_table(found.clocks) if several else None,
    )


def _skew(c: Clock) -> str:
    name = c.owner.removeprefix("broker ").rpartition("/")[2]
    return f"{name}: {_signed(c.skew)} ± {_amount(c.uncertainty or 0)}"


def _signed(milliseconds: int) -> str:
    sign = "−" if milliseconds < 0 else "+" if milliseconds else ""
    return f"{sign}{_amount(abs(milliseconds))}"


def _amount(milliseconds: int) -> str:
    if milliseconds < 10_000:
        return f"{milliseconds}{words.THIN}ms"
    return f"{milliseconds / 1000:.3f}{words.THIN}s" if milliseconds < 600_000 else text.duration(milliseconds)


def _clock_table(each: Sequence[Clock]) -> Table:
    rows = [
        (
            PLAIN,
            (
                c.owner,
                or_unknown(c.skew, _signed),
                unknown() if c.uncertainty is None else f"± {_amount(c.uncertainty)}",
                words.count(c.pairs),
                c.why,
            ),
        )
        for c in each
    ]
    columns = (("Clock", TEXT), ("Ahead by", NUMBER), ("Known to", NUMBER), ("Pairs", NUMBER), ("Source", TEXT))
    return Table(name="clocks", columns=columns, rows=rows, label="Clocks")


def _stamp(at: int | None) -> str:
    return "at an unknown time" if at is None else f"{words.when(at).partition(',')[0]}, {words.clock_ms(at)}"


def linked(found: Timeline) -> Iterator[str]:
    """Yield both lines of every shown link."""
    for chain in found.chains[:_MOST_CHAINS]:
        yield from (row.proof for one in chain.links[:_MOST_LINKS] for row in (one.cause, one.effect))


def proofs(found: Timeline) -> Iterator[str]:
    """Yield the proofs of the shown tables of causes and windows."""
    for root in found.roots:
        yield from (point.proof for point in (*root.pro[:_MOST_POINTS], *root.contra[:_MOST_POINTS]))
    yield from linked(found)
    for window in found.windows[:MOST_WINDOWS]:
        yield from (window.opened_proof, window.closed_proof)
    yield from (silence.proof for silence in found.silences)
    yield from (shape.example for shape in found.untyped[:MOST_SHAPES])
