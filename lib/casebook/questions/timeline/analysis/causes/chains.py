"""Chains of events, each from one initial failure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.findings.words import duration
from casebook.kafka.past_rows import EventRow, Span, Window
from casebook.questions.timeline.analysis.causal_chain import Chain
from casebook.questions.timeline.analysis.causes import disks, emptied, losses, restarts, still, storms
from casebook.questions.timeline.analysis.causes.losses import Loss
from casebook.questions.timeline.analysis.links import Chainer, places
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.words import named

LONG_LOAD = 10_000
"""Minimum duration of a load worth mentioning, milliseconds."""


def chains(scene: TimelineInputs, windows: Iterable[Window]) -> tuple[list[Chain], dict[int, Loss]]:
    """Return all chains, and the losses that chains are about, by their index.

    Order: chains of a broker that is still down and needed by leaderless partitions, then by impact; chains of a replaced cluster
    last.
    """
    held = still.held(scene, windows)
    found: list[tuple[Chain, Loss | None]] = [
        (chain._replace(holds=held[loss.broker] if loss.back is None else 0, back=loss.back), loss)
        for loss in losses.losses(scene)
        if (chain := losses.chain(scene, loss)) is not None
    ]
    found += [(chain, None) for chain in (*storms.chains(scene), *_dead_cleaners(scene), *_unclean_starts(scene))]
    found += [(chain, None) for chain in emptied.chains(scene)]
    found += [(_since_registered(scene, chain, held), None) for chain in disks.chains(scene)]
    found += [(chain, None) for chain in (*restarts.of_all(scene, held), *restarts.failed(scene))]
    found.sort(key=lambda pair: (is_former(scene, pair[0]), -pair[0].holds, _rank(pair[0]), -pair[0].partitions, pair[0].opened))
    return [chain for chain, _ in found], {place: loss for place, (_, loss) in enumerate(found) if loss is not None}


def _since_registered(scene: TimelineInputs, chain: Chain, held: Mapping[int, int]) -> Chain:
    """Return the chain of a failed disk with the partitions that wait for its broker, unless it belongs to an earlier process."""
    last = max((span.opened for span in scene.registered.get(chain.broker, ()) if span.opened is not None), default=None)
    return chain if last is not None and chain.opened < last else chain._replace(holds=held.get(chain.broker, 0))


def is_former(scene: TimelineInputs, chain: Chain) -> bool:
    """Return whether a chain belongs to a replaced cluster."""
    if scene.former_until is None:
        return False
    ended = chain.closed is not None and chain.closed <= scene.former_until
    return ended or (chain.broker is not None and scene.served_former(chain.broker, chain.opened))


def _rank(chain: Chain) -> int:
    """Rank unplanned before planned chains, and those with affected partitions before others."""
    if chain.kind in ("disk_failed", "all_lost", emptied.KIND):
        return 0
    if chain.kind == "unknown_request":
        return 0 if chain.links else 3
    if chain.kind == "broker_lost":
        return 0 if chain.partitions else 2
    return 1 if chain.kind == "cleaner_dead" else 3


def _first_by_broker(scene: TimelineInputs, *kinds: str) -> dict[int | None, list[EventRow]]:
    found: dict[int | None, list[EventRow]] = defaultdict(list)
    for row in scene.kinds(kinds):
        found[row.broker].append(row)
    return found


def _dead_cleaners(scene: TimelineInputs) -> Iterator[Chain]:
    for broker, rows in _first_by_broker(scene, "cleaner_died", "uncleanable").items():
        links, died = Chainer(scene), rows[0]

        def own(row: EventRow, broker: int | None = broker) -> bool:
            return row.broker == broker and row.topic == OFFSETS_TOPIC

        grown = links.effects(died, ["segment_rolled"], "without a cleaner, partitions grow segment by segment", which=own)
        links.effects(
            grown or died,
            ["loaded"],
            "a coordinator reads every segment of the partition, including superseded records",
            which=lambda row, own=own: own(row) and (row.milliseconds or 0) >= LONG_LOAD,
        )
        title = f"The log cleaner of {named(broker)} died"
        chain = links.chain("cleaner_dead", title, broker, len({link.effect.partition for link in links.links}))
        yield chain or Chain("cleaner_dead", title, broker, (), died.at, died.at)


def _unclean_starts(scene: TimelineInputs) -> Iterator[Chain]:
    """Yield starts that recovered logs: a broker's first start has no clean shutdown marker either, and nothing to recover."""
    empty = [row for row in scene.kinds(("logs_loaded",)) if row.number("logs") == 0]
    for broker, rows in _first_by_broker(scene, "unclean_start", "recovering_segment").items():
        for life in scene.lives.get(broker, ()):
            if any(row.broker == broker and life.opened <= row.at <= life.closed for row in empty):
                continue
            own = [row for row in rows if life.opened <= row.at <= life.closed]
            before = scene.of_broker(broker).before(life.opened - 1)
            if own and (before is not None or any(row.kind == "recovering_segment" for row in own)):
                yield _recovery(scene, life, own, before)


def _recovery(scene: TimelineInputs, life: Span, own: list[EventRow], before: EventRow | None) -> Chain:
    links = Chainer(scene, life.closed)
    if before is not None and before.kind != "broker_stopped":
        links.link(before, own, "a broker that did not close its logs recovers them")
    ready = [row for row in scene.kind("broker_started").between(own[0].at, life.closed) if row.broker == life.broker]
    if ready:
        links.link(own[0], ready[:1], "it starts once all logs are recovered")
    took = f" for {duration(ready[0].at - own[0].at)}" if ready else ""
    title, kind = f"Broker {life.broker} recovered its logs{took}", "unclean_start"
    found = links.chain(kind, title, life.broker, len(places(own))) or Chain(kind, title, life.broker, (), own[0].at, own[-1].at)
    return found._replace(by=life.opened)
