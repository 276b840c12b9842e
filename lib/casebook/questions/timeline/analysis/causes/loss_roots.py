"""Why ZooKeeper lost a broker: a stop, a kill, a pause, or a network partition; or a slow ZooKeeper.

A paused process prints nothing and counts no time; a partitioned one continues to print. ZooKeeper's client gives up when it has
heard nothing for two thirds of its timeout (``readTimeout`` in ``ClientCnxn.java@release-3.4.6``): a client that reports a
silence of just that was awake to notice; one that reports far more was not.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from casebook.findings.words import brokers, duration, plural
from casebook.kafka.past_rows import EventRow, Span
from casebook.questions.timeline.analysis.causal_chain import Indication, Root
from casebook.questions.timeline.analysis.causes import disks, hosts
from casebook.questions.timeline.analysis.causes.losses import SLOW, Loss, gap_of, longest, same_session, stop_of
from casebook.questions.timeline.analysis.causes.witnesses import Witnesses, noticed_in_time, witnesses
from casebook.questions.timeline.analysis.gaps import OFTEN, other_gaps
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

IDLE = 10
QUIET = 600_000
"""Timeouts, and milliseconds, of log silence during a live session that show an idle broker."""
START = 60_000
"""Milliseconds after its start in which a broker reports an unclean shutdown."""

_GIVEN_UP = re.compile(r"InterruptedException|was shutdown before|since it is offline")
"""Messages of a peer that closes a connection because the broker counts as dead, not of one that cannot connect."""
_NO_SIGN = {"gc_pause", "zk_silent"}
"""Lines that are no evidence of life."""

NO_SWITCH = "the network itself: there is no switch log"
NO_INTERFACE = "the network itself: there is no log of a switch or of the host's interface"


class _Clues(NamedTuple):
    """Evidence on a loss.

    Args:
        life: Process that ran, or had run, when the znode was deleted; ``None`` without a log of it.
        within: Its own lines between the missed heartbeat and the loss.
        gap: Its two own lines around the loss.
        often: Number of equally long silences in its log.
        noticed: Reported silence when it noticed: in its first line on it; later lines, on reconnecting, are about another one.
        logs: It has lines of its own.
        starts: They begin with the start of a process.
        stopping: It was shutting down.
        reached: Some broker's log continues after the loss, or there is only one broker: if all end before, they were copied
            before.
        cut: It registered again, and its own log ends before that: the log continues elsewhere, and its end proves nothing.
        back: That process registered again.
    """

    loss: Loss
    life: Span | None
    within: Sequence[EventRow]
    gap: tuple[EventRow, EventRow] | None
    often: int
    noticed: EventRow | None
    logs: bool
    starts: bool
    stopping: EventRow | None
    reached: bool
    cut: bool
    back: bool

    @property
    def lived_on(self) -> bool | None:
        """Whether that process ran after the loss; ``None`` without a log of it, or when all logs end before."""
        if self.life is not None:
            later = self.back or self.life.closed > self.loss.gone.at + SLACK
            return later or (False if self.reached and not self.cut else None)
        return False if self.starts else None

    @property
    def awake(self) -> bool | None:
        """Whether it noticed its silence in time; ``None`` when not printed."""
        if self.noticed is None or self.loss.timeout is None:
            return None
        return noticed_in_time(self.noticed.milliseconds, self.loss.timeout)

    @property
    def own(self) -> bool:
        """Whether its own log shows a cause: it stopped, ended, or was paused."""
        return self.stopping is not None or self.lived_on is False or self.awake is False


def candidates(scene: TimelineInputs, losses: Mapping[int, Loss]) -> dict[int, list[Root]]:
    """Return all candidates for each loss, by its chain."""
    known = {chain: _clues(scene, loss) for chain, loss in losses.items()}
    own = {(clues.loss.broker, clues.loss.gone.at) for clues in known.values() if clues.own}
    return {chain: _candidates(scene, clues, chain, own) for chain, clues in known.items()}


def _candidates(scene: TimelineInputs, clues: _Clues, chain: int, own: Set[tuple[int, int]]) -> list[Root]:
    loss = clues.loss
    if clues.stopping is not None:
        return [_stopped(scene, loss, clues.stopping, chain)]
    seen = witnesses(scene, loss, own)
    if clues.lived_on is False:
        halted = [] if clues.life is None else disks.ended_of_it(scene, loss.broker, clues.life, chain)
        return [*halted, _killed(scene, clues, chain), _zookeeper(scene, clues, seen, chain)]
    found = [
        _frozen(scene, clues, chain),
        _network(scene, clues, seen, chain),
        _gc(scene, clues, chain),
        _zookeeper(scene, clues, seen, chain),
    ]
    if clues.lived_on is None:
        there = "ends before it came back" if clues.cut else "begins long after it"
        lack = f"the log of broker {loss.broker} {there}" if clues.logs else f"no log of broker {loss.broker}"
        missing = f"{lack}: whether its process stayed alive is unknown"
        found.append(Root("killed", f"The process of broker {loss.broker} ended", loss.broker, chain, (), (), (missing,), 30))
    return found


def _stopped(scene: TimelineInputs, loss: Loss, stopping: EventRow, chain: int) -> Root:
    """Return a requested shutdown, and whether it completed."""
    broker = loss.broker
    pro, contra = [Indication("Its own log, or the controller's, records the stop", stopping.proof)], []
    begun = scene.kind("broker_starting").between(max(stopping.at, loss.gone.at), None)
    next_start = next((row.at for row in begun if row.broker == broker), None)
    done = [row for row in scene.kind("broker_stopped").between(stopping.at, next_start) if row.broker == broker]
    if done:
        pro.append(Indication("It completed its shutdown", done[0].proof))
    elif next_start is not None:
        unclean = scene.kinds(("unclean_start", "recovering_segment"), next_start, next_start + START)
        found = [row for row in unclean if row.broker == broker]
        contra += (
            [Indication("It did not complete its shutdown: the next start finds logs that were not closed", found[0].proof)]
            if found
            else []
        )
    return Root("stopped", f"Broker {broker} was stopped", broker, chain, tuple(pro), tuple(contra), (), 100)


def _clues(scene: TimelineInputs, loss: Loss) -> _Clues:
    own = scene.of_broker(loss.broker)
    life = scene.life(loss.broker, loss.gone.at)
    within = (
        []
        if loss.due is None
        else [row for row in own.between(loss.due + SLACK, loss.gone.at - SLACK) if row.kind not in _NO_SIGN]
    )
    gap = gap_of(scene, loss)
    if gap is not None and _was_quiet(loss, gap):
        gap = None
    noticed = [row for row in scene.kind("zk_silent").between(loss.since, loss.until) if row.broker == loss.broker]
    noticed = [row for row in noticed if row.milliseconds is not None and loss.within_silence(row)]
    noticed = [row for row in noticed if same_session(row, loss.session)] or noticed
    noticed.sort(key=lambda row: (row.at < (loss.silence or loss.since), row.at))
    often = 0 if gap is None else other_gaps(scene, loss.broker, gap)
    return _Clues(
        loss,
        life,
        within,
        gap,
        often,
        noticed[0] if noticed else None,
        len(own) > 0,
        scene.begins_with_start(loss.broker) is True,
        stop_of(scene, loss),
        len(scene.lives) < 2 or any(span.closed > loss.gone.at for spans in scene.lives.values() for span in spans[-1:]),
        _is_cut(scene, loss),
        life is not None and scene.came_back(life, loss.gone.at),
    )


def _is_cut(scene: TimelineInputs, loss: Loss) -> bool:
    back = scene.registered_after(loss.broker, loss.gone.at)
    return back is not None and scene.log_reaches(loss.broker, back) is False


def _was_quiet(loss: Loss, gap: tuple[EventRow, EventRow]) -> bool:
    """Return whether its log was silent long before its session ended: it kept the session, so it was idle."""
    return loss.timeout is not None and loss.gone.at - gap[0].at > max(IDLE * loss.timeout, QUIET)


def _killed(scene: TimelineInputs, clues: _Clues, chain: int) -> Root:
    broker, life = clues.loss.broker, clues.life
    pro = []
    if life is not None:
        pro.append(Indication("Its log ends before, without a stop", life.closed_proof))
    begun = next((row for row in scene.kind("broker_starting").between(clues.loss.gone.at, None) if row.broker == broker), None)
    if begun is not None:
        pro.append(Indication("Its next line is a start", begun.proof))
        recovered = [row for row in scene.kinds(("unclean_start", "recovering_segment"), begun.at, None) if row.broker == broker]
        pro += [Indication("It finds its logs not closed", recovered[0].proof)] if recovered else []
    failed = disks.gave_up(scene, broker, clues.loss.since, clues.loss.gone.at)
    pro += [Indication("It had trouble with a log dir before", failed.proof)] if failed is not None else []
    memory = [row for row in scene.kind("out_of_memory").between(clues.loss.since, clues.loss.gone.at) if row.broker == broker]
    pro += [Indication("It had run out of memory", memory[0].proof)] if memory else []
    by_kernel = hosts.killed(scene, broker, clues.loss.since - SLACK, clues.loss.gone.at)
    pro += [by_kernel] if by_kernel else []
    unchecked = ("whether by kill -9, by the kernel (out of memory) or with its machine: check the kernel's log",)
    unchecked = ("whether that process was the broker",) if by_kernel else unchecked
    if begun is None:
        unchecked = ("whether its log was collected only up to there", *unchecked)
    name = f"The process of broker {broker} was killed, or its machine went down"
    return Root("killed", name, broker, chain, tuple(pro), (), unchecked, 90 if begun is not None else 70)


def _frozen(scene: TimelineInputs, clues: _Clues, chain: int) -> Root:
    broker, pro, contra, weight = clues.loss.broker, [], [], 40
    if clues.gap is not None and not clues.within:
        length = duration(clues.gap[1].at - clues.gap[0].at)
        pro.append(Indication(f"It logged nothing for {length}, and then continued", clues.gap[1].proof))
        weight += 30 if clues.often < OFTEN else 5
        if clues.often >= OFTEN:
            contra.append(Indication(f"Its log has gaps like this {plural(clues.often, 'other time')}"))
    if clues.within:
        contra.append(
            Indication(f"It logged {plural(len(clues.within), 'line')} while it sent no heartbeat", clues.within[0].proof)
        )
        weight -= 30
    weight += _noticing(clues, pro, contra, frozen=True)
    pause = _long(_longest_pause(scene, clues.loss), clues.loss)
    if pause is not None:
        contra.append(Indication("Its GC log shows why", pause.proof))
        weight -= 30
    unchecked = ("the cause of the stop: check the logs of host and hypervisor for SIGSTOP, swapping and pauses",)
    return Root(
        "frozen", f"Process or host of broker {broker} was paused", broker, chain, tuple(pro), tuple(contra), unchecked, weight
    )


def _noticing(clues: _Clues, pro: list[Indication], contra: list[Indication], *, frozen: bool) -> int:
    """Add the client's own measure of its silence to the evidence for or against; return its weight."""
    if clues.awake is None:
        return 0
    ms = clues.noticed.milliseconds
    words = (
        f"It noticed after {duration(ms)} of silence, with a session timeout of {duration(clues.loss.timeout)}: the process was "
    )
    point = Indication(words + ("running" if clues.awake else "paused longer than that"), clues.noticed.proof)
    (contra if clues.awake == frozen else pro).append(point)
    return -20 if clues.awake == frozen else 20


def _running(clues: _Clues, pro: list[Indication], contra: list[Indication]) -> int:
    """Add evidence that its process ran, so that the fault was outside; return its weight."""
    if not clues.within:
        return _noticing(clues, pro, contra, frozen=False)
    words = f"It kept logging: {plural(len(clues.within), 'line')} while it sent no heartbeat"
    pro.append(Indication(words, clues.within[0].proof))
    return 25 + _noticing(clues, pro, contra, frozen=False)


def _network(scene: TimelineInputs, clues: _Clues, seen: Witnesses, chain: int) -> Root:
    loss, broker, pro, contra, weight = clues.loss, clues.loss.broker, [], [], 40
    weight += _running(clues, pro, contra)
    if not clues.within and clues.gap is not None and loss.timeout is not None and clues.often < OFTEN:
        contra.append(Indication("It logged nothing in that time", clues.gap[1].proof))
        weight -= 10
    since = (loss.silence or loss.gone.at) - SLACK
    others = scene.kinds(("fetch_failed", "controller_request_failed"), since, loss.gone.at)  # given up later
    others = [row for row in others if _about(row, broker) and _GIVEN_UP.search(row.text) is None]
    if others and (clues.within or clues.awake):  # nor is a paused or ended one reachable
        pro.append(Indication(f"Other brokers could not reach it either ({plural(len(others), 'line')})", others[0].proof))
        weight += 5
    if seen.deaf:
        contra.append(
            Indication(f"{brokers(sorted(seen.deaf))} received nothing from ZooKeeper either", next(iter(seen.deaf.values())))
        )
        weight -= 10
    unchecked = (NO_INTERFACE,)
    name = f"Network of the host of broker {broker}" if others else f"Network between broker {broker} and ZooKeeper"
    return Root("network", name, broker, chain, tuple(pro), tuple(contra), unchecked, weight)


def _about(row: EventRow, broker: int) -> bool:
    return row.broker != broker and any(row.number(name) == broker for name in ("leader", "target", "node", "broker"))


def _gc(scene: TimelineInputs, clues: _Clues, chain: int) -> Root:
    loss, broker, pro, contra, weight = clues.loss, clues.loss.broker, [], [], 20
    worst = _longest_pause(scene, loss)
    logged = worst is not None or any(row.broker == broker for row in scene.kind("gc_pause").rows)
    unchecked = () if logged else (f"the GC log of broker {broker} is missing",)
    if _long(worst, loss) is not None:
        pro.append(Indication(f"A pause of {duration(worst.milliseconds)}", worst.proof))
        weight += 60
        unchecked = ("whether the GC itself took that long: swapping or a paused host also stretches a GC",)
    elif worst is not None:
        contra.append(Indication(f"The longest pause in that time was {worst.milliseconds} ms", worst.proof))
        weight -= 15
    elif logged:
        contra.append(Indication("Its GC log shows no pause in that time"))
        weight -= 15
    if clues.within:
        contra.append(Indication(f"It logged {plural(len(clues.within), 'line')} in that time", clues.within[0].proof))
        weight -= 10
    return Root("gc", f"Long GC pause of broker {broker}", broker, chain, tuple(pro), tuple(contra), unchecked, weight)


def _longest_pause(scene: TimelineInputs, loss: Loss) -> EventRow | None:
    return longest(scene, "gc_pause", loss, lambda row: row.broker == loss.broker)


def _long(row: EventRow | None, loss: Loss) -> EventRow | None:
    """Return the row of a period, if it may have cost the session; else ``None``."""
    return row if row is not None and row.milliseconds >= max(SLOW, (loss.timeout or 0) // 3) else None


def _zookeeper(scene: TimelineInputs, clues: _Clues, seen: Witnesses, chain: int) -> Root:
    loss, pro, contra, weight = clues.loss, [], [], 25
    weight += _running(clues, pro, contra)
    slow = longest(scene, "zks_fsync_slow", loss)
    if slow is not None:
        heavy = _long(slow, loss) is not None
        (pro if heavy else contra).append(Indication(f"Its longest write to disk took {duration(slow.milliseconds)}", slow.proof))
        weight += 45 if heavy else -5
    for also, words in ((seen.lost, "lost their sessions in the same second"), (seen.deaf, "received nothing from it either")):
        if also:
            pro.append(Indication(f"{brokers(sorted(also))} {words}", next(iter(also.values()))))
    if seen.lost or seen.deaf:
        weight += 30
    elif len(scene.registered) > 1:
        contra.append(Indication("No other broker lost its session with it, except for its own cause"))
        weight -= 15
    if seen.hearing:
        contra.append(Indication(f"{brokers(sorted(seen.hearing))} stayed connected to it", next(iter(seen.hearing.values()))))
        weight -= 20
    if seen.wrote:
        contra.append(Indication(f"It wrote {plural(len(seen.wrote), 'change')} during that time", seen.wrote[0].proof))
        weight -= 20
    unchecked = (
        ()
        if any(row.source == "zookeeper" for row in scene.kind("zks_session_expiring").rows) or slow
        else ("no log of ZooKeeper",)
    )
    return Root(
        "zookeeper", "ZooKeeper was slow or unavailable", loss.broker, chain, tuple(pro), tuple(contra), unchecked, weight
    )
