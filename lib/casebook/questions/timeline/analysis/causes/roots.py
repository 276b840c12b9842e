"""Possible root causes of a chain, each with evidence for and against, and what could not be checked."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from casebook.facts.quotes import cut
from casebook.findings.words import duration, moment, plural
from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causal_chain import Chain, Indication, Root
from casebook.questions.timeline.analysis.causes import disks, emptied, hosts, loss_roots, restarts
from casebook.questions.timeline.analysis.causes.losses import Loss
from casebook.questions.timeline.analysis.causes.storms import PERIOD, Sender, Storm, storms
from casebook.questions.timeline.analysis.scene import TimelineInputs
from casebook.questions.timeline.analysis.words import named

MOST = 8
"""Maximum number of bystanders to name."""
CERTAIN = 100
"""Weight of a cause that a line states itself."""


def roots(scene: TimelineInputs, chains: Sequence[Chain], losses: Mapping[int, Loss]) -> Iterator[Root]:
    """Yield the candidates of each chain, likeliest first."""
    of_losses = loss_roots.candidates(scene, losses)
    for place, chain in enumerate(chains):
        found = of_losses[place] if place in of_losses else list(_OTHERS[chain.kind](scene, chain, place))
        yield from sorted(found, key=lambda root: -root.weight)


def likeliest(candidates: Sequence[Root]) -> Root | None:
    """Return the candidate with evidence for it that outweighs the next; else ``None``."""
    outweighs = len(candidates) == 1 or (candidates and candidates[0].weight > candidates[1].weight)
    return candidates[0] if outweighs and candidates[0].pro else None


def _storm(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    storm = next((one for one in storms(scene) if one.broker == chain.broker and not one.protocols), None)
    if storm is None:
        return
    keys = ", ".join(map(str, storm.keys)) or "unknown"
    first = storm.thrown[0]
    pro = [Indication(f"{plural(len(storm.thrown), 'request')} with api key {keys}{_who(storm)}", first.proof)]
    pro += [Indication(f"{sender.address} {_how(storm, sender)}", sender.proof) for sender in storm.senders]
    if storm.bystanders:
        others = ", ".join(storm.bystanders[:MOST]) + (" and others" if len(storm.bystanders) > MOST else "")
        pro.append(Indication(f"Requests of {others} may have been in the same polls: they connected at that time"))
    if storm.period is not None and abs(storm.period - PERIOD) < PERIOD // 10:
        words = "as long as librdkafka waits before it asks again (api.version.fallback.ms)"
        pro.append(Indication(f"They come every {duration(storm.period)}, {words}", storm.thrown[-1].proof))
    unchecked = tuple(unnamed(scene, [storm]))
    name = f"A client newer than {named(storm.broker)}: api key {keys}"
    yield Root("new_client", name, storm.broker, place, tuple(pro), (), unchecked, CERTAIN)


def _foreign(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield senders of another protocol to Kafka's port.

    A health check, a scanner, a client with a wrong port or security protocol.
    """
    storm = next((one for one in storms(scene) if one.broker == chain.broker and one.protocols), None)
    if storm is None:
        return
    first, what = storm.thrown[0], " and ".join(storm.protocols)
    size = f"size = {first.fields.get('size', '')}"
    words = f"{plural(len(storm.thrown), 'connection')}{_who(storm)}: the first bytes, read as a size ({size})"
    unchecked = () if storm.senders else ("the sender: no line has the address",)
    name = f"{what} spoken to Kafka's port of {named(storm.broker)}"
    yield Root(
        "foreign", name[0].upper() + name[1:], storm.broker, place, (Indication(words, first.proof),), (), unchecked, CERTAIN
    )


def _who(storm: Storm) -> str:
    whom = ", ".join(sender.address for sender in storm.senders) or "a sender that is not logged"
    return f" from {whom}" if storm.told in (0, len(storm.thrown)) else f", {storm.told} of them from {whom}"


def _how(storm: Storm, sender: Sender) -> str:
    total = len(storm.thrown)
    if storm.covered is None:
        return f"is named by {'the line' if sender.requests == total == 1 else plural(sender.requests, 'line')}"
    if sender.requests == total:
        return "connected just before each exception"
    if sender.requests == storm.covered:
        return f"connected just before the {sender.requests} of {total} exceptions for which connections were logged"
    return (
        f"connected just before {sender.requests} of the {storm.covered} exceptions for which connections were logged, of {total}"
    )


def unnamed(scene: TimelineInputs, found: Sequence[Storm]) -> Iterator[str]:
    """Yield the unknowns about the senders of unknown requests."""
    if not any(storm.senders for storm in found):
        yield _nobody_named(scene)
        return
    left = sum(len(storm.thrown) - storm.told for storm in found)
    if left:
        yield f"the sender of the other {plural(left, 'request')}: no line logs the connection or client"


def _nobody_named(scene: TimelineInputs) -> str:
    """Return why the sender of an unknown request is unknown."""
    if len(scene.kind("bad_request")):
        return "the client: the line does not name it; set kafka.request.logger to DEBUG, or capture the port"
    return (
        "the client: up to 0.9 the exception names neither address nor client id; set kafka.network to DEBUG to log "
        "connections, or capture the port"
    )


def _killed(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield a process that ended without a message: after its last decoded line, and before the next start.

    Except when its last lines report a failed log dir, which ends it.
    """
    life = scene.life(chain.broker, chain.opened)
    if life is not None and (failed := list(disks.ended_of_it(scene, chain.broker, life, place))):
        yield from failed
        return
    broker = named(chain.broker)
    last = chain.links[0].cause if chain.links and chain.links[0].cause.at < chain.by else None
    ended = f"It had ended by the next start of {broker} at {moment(chain.by)}"
    pro = [Indication(ended, chain.links[-1].effect.proof if chain.links else "")]
    if last is not None:
        text = cut(" ".join(last.text.split()), 200)
        pro.append(Indication(f"Its last known line is from {moment(last.at)}: {text}", last.proof))
    since = last.at if last is not None else chain.by - disks.AFTER
    pro += [by_kernel] if (by_kernel := hosts.killed(scene, chain.broker, since, chain.by)) else []
    name = f"The process of {broker} ended without closing its logs"
    yield Root("killed", name, chain.broker, place, tuple(pro), (), (), CERTAIN)


def _named(kind: str, name: str) -> Callable[[TimelineInputs, Chain, int], Iterator[Root]]:
    """Return a cause that the chain's first line states itself."""

    def candidates(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
        first = chain.links[0].cause if chain.links else _at_begin(scene, chain)
        pro = (Indication(cut(" ".join(first.text.split()), 200) or chain.title, first.proof),) if first is not None else ()
        yield Root(kind, name.format(broker=named(chain.broker)), chain.broker, place, pro, (), (), CERTAIN)

    return candidates


def _cleaner(scene: TimelineInputs, chain: Chain, place: int) -> Iterator[Root]:
    """Yield the error in the line; only one states the messages of a segment (``LogCleaner.scala@0.9.0.1``)."""
    first = chain.links[0].cause if chain.links else _at_begin(scene, chain)
    name = "An error of the log cleaner on {broker}"
    if first is not None and first.number("messages") is not None:
        name = "A segment that does not fit the log cleaner's map on {broker}"
    elif first is not None and first.kind == "uncleanable":
        name = "A partition that the log cleaner on {broker} could not clean and gave up"
    yield from _named("cleaner", name)(scene, chain, place)


def _at_begin(scene: TimelineInputs, chain: Chain) -> EventRow | None:
    kinds = ("cleaner_died", "uncleanable")
    return next((row for row in scene.kinds(kinds, chain.opened, chain.opened) if row.broker == chain.broker), None)


_OTHERS = {
    "unknown_request": _storm,
    "cleaner_dead": _cleaner,
    "unclean_start": _killed,
    "disk_failed": disks.candidates,
    emptied.KIND: emptied.candidates,
    "foreign_protocol": _foreign,
    "all_lost": restarts.candidates,
    "start_failed": restarts.why_failed,
}
