"""What may have begun a chain: candidates, each with what speaks for it and against it, and what could not be checked."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from casebook.analysis import timeline_loss_roots
from casebook.analysis.timeline_losses import Loss
from casebook.analysis.timeline_rows import Chain, Point, Root, Row
from casebook.analysis.timeline_scene import Scene
from casebook.analysis.timeline_storms import PERIOD, Storm, storms
from casebook.analysis.words import duration, number

MOST = 8
"""Bystanders that are named."""
CERTAIN = 100
"""Weight of a cause that a line names itself."""


def roots(scene: Scene, chains: Sequence[Chain], losses: Mapping[int, Loss]) -> Iterator[Root]:
    """Candidates of each chain, the likeliest first."""
    for place, chain in enumerate(chains):
        if place in losses:
            found = timeline_loss_roots.candidates(scene, losses[place], place)
        else:
            found = list(_OTHERS[chain.kind](scene, chain, place))
        yield from sorted(found, key=lambda root: -root.weight)


def _storm(scene: Scene, chain: Chain, place: int) -> Iterator[Root]:
    storm = next((one for one in storms(scene) if one.broker == chain.broker), None)
    if storm is None:
        return
    keys = ", ".join(map(str, storm.keys)) or "unknown"
    first = storm.thrown[0]
    pro = [Point(f"{number(len(storm.thrown), 'request')} with api key {keys} from {_who(storm)}", first.proof)]
    how = "connected just before each exception, as often as there were any" if storm.inferred else "is named by the line"
    pro += [Point(f"{who} {how}", proof) for who, proof in storm.senders]
    if storm.bystanders:
        others = ", ".join(storm.bystanders[:MOST]) + (" and others" if len(storm.bystanders) > MOST else "")
        pro.append(Point(f"Requests of {others} may have been in the same polls: they connected at that time"))
    if storm.period is not None and abs(storm.period - PERIOD) < PERIOD // 10:
        words = "which is how long librdkafka waits before it asks again (api.version.fallback.ms)"
        pro.append(Point(f"They come every {duration(storm.period)}, {words}", storm.thrown[-1].proof))
    unchecked = () if storm.senders else (nobody_named(scene),)
    name = f"A client newer than broker {storm.broker}: api key {keys}"
    yield Root("new_client", name, storm.broker, place, tuple(pro), (), unchecked, CERTAIN)


def _who(storm: Storm) -> str:
    return ", ".join(who for who, _ in storm.senders) or "nobody that the log names"


def nobody_named(scene: Scene) -> str:
    """Why the sender of an unknown request is not known."""
    if len(scene.kind("bad_request")):
        return "which client: the line names none; kafka.request.logger at DEBUG, or a capture of the port, would"
    return (
        "which client: up to 0.9 the exception names neither address nor client id; kafka.network at DEBUG tells the connections "
        "that were opened just before, a capture of the port tells all"
    )


def _named(kind: str, name: str) -> Callable[[Scene, Chain, int], Iterator[Root]]:
    """A cause that the chain's first line names itself."""

    def candidates(scene: Scene, chain: Chain, place: int) -> Iterator[Root]:
        first = chain.links[0].cause if chain.links else _at_begin(scene, chain)
        pro = (Point(" ".join(first.text.split())[:200] or chain.title, first.proof),) if first is not None else ()
        yield Root(kind, name.format(broker=chain.broker), chain.broker, place, pro, (), (), CERTAIN)

    return candidates


def _at_begin(scene: Scene, chain: Chain) -> Row | None:
    kinds = ("cleaner_died", "uncleanable", "log_dir_failed", "disk_error")
    return next((row for row in scene.kinds(kinds, chain.opened, chain.opened) if row.broker == chain.broker), None)


_OTHERS = {
    "unknown_request": _storm,
    "cleaner_dead": _named("cleaner", "A segment that the log cleaner of broker {broker} cannot take"),
    "unclean_start": _named("killed", "The process of broker {broker} ended without closing its logs"),
    "disk_failed": _named("disk", "Disk of broker {broker}"),
}
