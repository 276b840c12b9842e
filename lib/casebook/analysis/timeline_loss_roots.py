"""Why ZooKeeper lost a broker: it was stopped, was killed, froze, or was cut off; or ZooKeeper was slow itself.

A frozen process prints nothing and counts no time; one that is cut off goes on printing. ZooKeeper's client gives up when it has
heard nothing for two thirds of its timeout (``readTimeout`` in ``ClientCnxn.java@release-3.4.6``): one that reports a silence of
just that was awake to notice; one that reports far more was not.
"""

from collections.abc import Sequence
from typing import NamedTuple

from casebook.analysis.timeline_gaps import OFTEN, other_gaps
from casebook.analysis.timeline_losses import SLOW, Loss, gap_of, longest, stop_of
from casebook.analysis.timeline_rows import Point, Root, Row, Span
from casebook.analysis.timeline_scene import SLACK, Scene
from casebook.analysis.words import brokers, duration, number
from casebook.events import DISK_FAILURES

LATE = 1000
"""A client that notices its silence so many milliseconds late was not awake."""
AT_ONCE = 1000
"""Sessions that end within so many milliseconds may have one cause."""


_NO_SIGN = {"gc_pause", "zk_silent"}
"""Lines that say nothing more by being there."""


class _Clues(NamedTuple):
    """What is known of a loss.

    Args:
        life: The process that ran, or had run, when the znode went; ``None`` when no log tells of it.
        within: Its own lines between the beat that did not come and the loss.
        gap: The two of its own lines around the loss.
        often: How often its log was silent as long.
        noticed: How long it had heard nothing when it noticed.
        logs: There are lines of its own.
        starts: They begin with the start of a process.
    """

    loss: Loss
    life: Span | None
    within: Sequence[Row]
    gap: tuple[Row, Row] | None
    often: int
    noticed: Row | None
    logs: bool
    starts: bool

    @property
    def lived_on(self) -> bool | None:
        """Whether that process printed anything after the loss; ``None`` when no log tells of it."""
        if self.life is not None:
            return self.life.closed > self.loss.gone.at + SLACK
        return False if self.starts else None

    @property
    def awake(self) -> bool | None:
        """Whether it noticed its silence in time; ``None`` when it says nothing."""
        if self.noticed is None or self.loss.timeout is None:
            return None
        return self.noticed.milliseconds <= self.loss.timeout * 2 // 3 + LATE


def candidates(scene: Scene, loss: Loss, chain: int) -> list[Root]:
    """All candidates for a loss."""
    clues = _clues(scene, loss)
    stopping = stop_of(scene, loss)
    if stopping is not None:
        name = f"Broker {loss.broker} was stopped"
        return [
            Root(
                "stopped",
                name,
                loss.broker,
                chain,
                (Point("It says so itself, or the controller does", stopping.proof),),
                (),
                (),
                100,
            )
        ]
    if clues.lived_on is False:
        return [_killed(scene, clues, chain), _zookeeper(scene, clues, chain)]
    found = [
        _frozen(scene, clues, chain),
        _network(scene, clues, chain),
        _gc(scene, clues, chain),
        _zookeeper(scene, clues, chain),
    ]
    if clues.lived_on is None:
        lack = f"the log of broker {loss.broker} begins long after it" if clues.logs else f"no log of broker {loss.broker}"
        missing = f"{lack}: whether its process lived on is unknown"
        found.append(Root("killed", f"The process of broker {loss.broker} ended", loss.broker, chain, (), (), (missing,), 30))
    return found


def _clues(scene: Scene, loss: Loss) -> _Clues:
    own = scene.of_broker(loss.broker)
    life = scene.life(loss.broker, loss.gone.at)
    within = (
        []
        if loss.due is None
        else [row for row in own.between(loss.due + SLACK, loss.gone.at - SLACK) if row.kind not in _NO_SIGN]
    )
    gap = gap_of(scene, loss)
    noticed = [row for row in scene.kind("zk_silent").between(loss.since, loss.until) if row.broker == loss.broker]
    noticed = [row for row in noticed if row.milliseconds is not None and loss.within_silence(row)]
    often = 0 if gap is None else other_gaps(scene, loss.broker, gap)
    return _Clues(
        loss,
        life,
        within,
        gap,
        often,
        noticed[-1] if noticed else None,
        len(own) > 0,
        scene.begins_with_start(loss.broker) is True,
    )


def _killed(scene: Scene, clues: _Clues, chain: int) -> Root:
    broker, life = clues.loss.broker, clues.life
    pro = []
    if life is not None:
        pro.append(Point("Its log ends before, without a word of a stop", life.closed_proof))
    begun = next((row for row in scene.kind("broker_starting").between(clues.loss.gone.at, None) if row.broker == broker), None)
    if begun is not None:
        pro.append(Point("The next thing it says is that it starts", begun.proof))
        recovered = [row for row in scene.kinds(("unclean_start", "recovering_segment"), begun.at, None) if row.broker == broker]
        pro += [Point("It finds its logs not closed", recovered[0].proof)] if recovered else []
    failed = [row for row in scene.kinds(DISK_FAILURES, clues.loss.since, clues.loss.gone.at) if row.broker == broker]
    pro += [Point("A disk of it had failed before", failed[0].proof)] if failed else []
    memory = [row for row in scene.kind("out_of_memory").between(clues.loss.since, clues.loss.gone.at) if row.broker == broker]
    pro += [Point("It had run out of memory", memory[0].proof)] if memory else []
    unchecked = ("whether by kill -9, by the kernel (out of memory) or with its machine: the kernel's log tells",)
    if begun is None:
        unchecked = ("whether its log was only collected up to there", *unchecked)
    name = f"The process of broker {broker} was killed, or its machine went down"
    return Root("killed", name, broker, chain, tuple(pro), (), unchecked, 90 if begun is not None else 70)


def _frozen(scene: Scene, clues: _Clues, chain: int) -> Root:
    broker, pro, contra, weight = clues.loss.broker, [], [], 40
    if clues.gap is not None and not clues.within:
        length = duration(clues.gap[1].at - clues.gap[0].at)
        pro.append(Point(f"It printed nothing for {length}, and then went on", clues.gap[1].proof))
        weight += 30 if clues.often < OFTEN else 5
        if clues.often >= OFTEN:
            contra.append(Point(f"Its log is as silent {number(clues.often, 'other time')}"))
    if clues.within:
        contra.append(
            Point(f"It printed {number(len(clues.within), 'line')} in the time in which it sent no beat", clues.within[0].proof)
        )
        weight -= 30
    weight += _noticing(clues, pro, contra, frozen=True)
    pause = _long(_longest_pause(scene, clues.loss), clues.loss)
    if pause is not None:
        contra.append(Point("Its GC log tells why", pause.proof))
        weight -= 30
    unchecked = ("who stopped it: the host's log, and the hypervisor's, tell of SIGSTOP, swapping and pauses of the machine",)
    return Root(
        "frozen", f"Process or host of broker {broker} stood still", broker, chain, tuple(pro), tuple(contra), unchecked, weight
    )


def _noticing(clues: _Clues, pro: list[Point], contra: list[Point], *, frozen: bool) -> int:
    """Put the client's own count of its silence where it belongs; what it weighs."""
    if clues.awake is None:
        return 0
    ms = clues.noticed.milliseconds
    words = f"It noticed after {duration(ms)} of silence, of a timeout of {duration(clues.loss.timeout)}: it was "
    point = Point(words + ("awake" if clues.awake else "not awake to notice in time"), clues.noticed.proof)
    (contra if clues.awake == frozen else pro).append(point)
    return -20 if clues.awake == frozen else 20


def _running(clues: _Clues, pro: list[Point], contra: list[Point]) -> int:
    """Put where it belongs what shows that its process ran, so that the fault was outside; what it weighs."""
    if not clues.within:
        return _noticing(clues, pro, contra, frozen=False)
    words = f"It went on printing: {number(len(clues.within), 'line')} in the time in which it sent no beat"
    pro.append(Point(words, clues.within[0].proof))
    return 25 + _noticing(clues, pro, contra, frozen=False)


def _network(scene: Scene, clues: _Clues, chain: int) -> Root:
    loss, broker, pro, contra, weight = clues.loss, clues.loss.broker, [], [], 40
    weight += _running(clues, pro, contra)
    if not clues.within and clues.gap is not None and loss.timeout is not None and clues.often < OFTEN:
        contra.append(Point("It printed nothing in that time", clues.gap[1].proof))
        weight -= 10
    since = (loss.silence or loss.gone.at) - SLACK
    others = scene.kinds(("fetch_failed", "controller_request_failed"), since, loss.gone.at)  # later on it was given up
    others = [row for row in others if _about(row, broker)]
    if others:
        pro.append(Point(f"Other brokers could not reach it either ({number(len(others), 'line')})", others[0].proof))
        weight += 5
    also = _without_zookeeper(scene, loss)
    if also:
        contra.append(Point(f"{brokers(sorted(also))} heard nothing from ZooKeeper either", next(iter(also.values()))))
        weight -= 10
    unchecked = ("the network itself: no log of a switch or of the host's interface is here",)
    name = f"Network of the host of broker {broker}" if others else f"Network between broker {broker} and ZooKeeper"
    return Root("network", name, broker, chain, tuple(pro), tuple(contra), unchecked, weight)


def _about(row: Row, broker: int) -> bool:
    return row.broker != broker and any(row.number(name) == broker for name in ("leader", "target", "node", "broker"))


def _gc(scene: Scene, clues: _Clues, chain: int) -> Root:
    loss, broker, pro, contra, weight = clues.loss, clues.loss.broker, [], [], 20
    worst = _longest_pause(scene, loss)
    logged = worst is not None or any(row.broker == broker for row in scene.kind("gc_pause").rows)
    unchecked = () if logged else (f"the GC log of broker {broker} is missing",)
    if _long(worst, loss) is not None:
        pro.append(Point(f"A pause of {duration(worst.milliseconds)}", worst.proof))
        weight += 60
        unchecked = (
            "whether the collector worked all that time: a host that swaps or stands still holds up a collection as well",
        )
    elif worst is not None:
        contra.append(Point(f"The longest pause in that time was {worst.milliseconds} ms", worst.proof))
        weight -= 15
    elif logged:
        contra.append(Point("Its GC log tells of no pause in that time"))
        weight -= 15
    if clues.within:
        contra.append(Point(f"It printed {number(len(clues.within), 'line')} in that time", clues.within[0].proof))
        weight -= 10
    return Root("gc", f"Long GC pause of broker {broker}", broker, chain, tuple(pro), tuple(contra), unchecked, weight)


def _longest_pause(scene: Scene, loss: Loss) -> Row | None:
    return longest(scene, "gc_pause", loss, lambda row: row.broker == loss.broker)


def _long(row: Row | None, loss: Loss) -> Row | None:
    """The row of something that lasted, when it may have cost a session; else ``None``."""
    return row if row is not None and row.milliseconds >= max(SLOW, (loss.timeout or 0) // 3) else None


def _zookeeper(scene: Scene, clues: _Clues, chain: int) -> Root:
    loss, pro, contra, weight = clues.loss, [], [], 25
    weight += _running(clues, pro, contra)
    slow = longest(scene, "zks_fsync_slow", loss)
    if slow is not None:
        heavy = _long(slow, loss) is not None
        (pro if heavy else contra).append(Point(f"Its longest write to disk took {duration(slow.milliseconds)}", slow.proof))
        weight += 45 if heavy else -5
    lost, deaf = _lost_with_it(scene, loss), _without_zookeeper(scene, loss)
    for also, words in ((lost, "lost their sessions in the same second"), (deaf, "heard nothing from it either")):
        if also:
            pro.append(Point(f"{brokers(sorted(also))} {words}", next(iter(also.values()))))
    if lost or deaf:
        weight += 30
    elif len(scene.registered) > 1:
        contra.append(Point("No other broker lost its session with it"))
        weight -= 15
    unchecked = (
        ()
        if any(row.source == "zookeeper" for row in scene.kind("zks_session_expiring").rows) or slow
        else ("no log of ZooKeeper",)
    )
    return Root("zookeeper", "ZooKeeper was slow or away", loss.broker, chain, tuple(pro), tuple(contra), unchecked, weight)


def _lost_with_it(scene: Scene, loss: Loss) -> dict[int, str]:
    return {
        broker: span.closed_proof
        for broker, spans in scene.registered.items()
        if broker != loss.broker
        for span in spans
        if span.closed is not None and abs(span.closed - loss.gone.at) <= AT_ONCE
    }


def _without_zookeeper(scene: Scene, loss: Loss) -> dict[int, str]:
    """Other brokers whose client gave ZooKeeper up in the time in which the lost one sent no beat, and the proofs."""
    rows = scene.kind("zk_silent").between(loss.silence or loss.since, loss.gone.at)
    return {row.broker: row.proof for row in rows if row.broker not in (None, loss.broker)}
