"""ZooKeeper's availability during a broker's missing heartbeats, according to other brokers."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from casebook.kafka.past_rows import EventRow
from casebook.questions.timeline.analysis.causes.losses import Loss
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

AT_ONCE = 1000
"""Sessions that end within so many milliseconds may have one cause."""
LATE = 1000
"""Milliseconds of delay in noticing a silence that show a paused client."""


class Witnesses(NamedTuple):
    """Other brokers by their experience, with proofs, and ZooKeeper's own writes.

    Args:
        lost: Brokers that lost their sessions at the same time, without a cause of their own.
        deaf: Brokers that noticed the silence in time.
        hearing: Brokers that kept their sessions, with complete logs and no silence in them.
        wrote: Changes during that time: a paused ZooKeeper writes none.
    """

    lost: dict[int, str]
    deaf: dict[int, str]
    hearing: dict[int, str]
    wrote: Sequence[EventRow]


def noticed_in_time(silence: int, timeout: int) -> bool:
    """Return whether a client with this reported silence was awake to measure it, both in milliseconds."""
    return silence <= timeout * 2 // 3 + LATE


def witnesses(scene: TimelineInputs, loss: Loss, own: Set[tuple[int, int]]) -> Witnesses:
    """Return all witnesses of a loss.

    Args:
        scene: Inputs of the timeline.
        loss: The loss.
        own: Losses, by broker and moment, with a cause of their own.
    """
    silent = scene.kind("zk_silent").between(loss.silence or loss.since, loss.gone.at)
    silent = [row for row in silent if row.broker not in (None, loss.broker)]
    late = {
        row.broker for row in silent if loss.timeout and row.milliseconds and not noticed_in_time(row.milliseconds, loss.timeout)
    }
    deaf = {row.broker: row.proof for row in silent if row.broker not in late}
    return Witnesses(_lost(scene, loss, own), deaf, _hearing(scene, loss, {row.broker for row in silent}), _wrote(scene, loss))


def _lost(scene: TimelineInputs, loss: Loss, own: Set[tuple[int, int]]) -> dict[int, str]:
    return {
        broker: span.closed_proof
        for broker, spans in scene.registered.items()
        if broker != loss.broker
        for span in spans
        if span.closed is not None and abs(span.closed - loss.gone.at) <= AT_ONCE and (broker, span.closed) not in own
    }


def _hearing(scene: TimelineInputs, loss: Loss, silent: set[int]) -> dict[int, str]:
    """Only brokers with lines of ZooKeeper's client: up to 0.10.2 a silence is logged nowhere else."""
    found, since = {}, loss.silence
    for broker, spans in scene.registered.items():
        if since is None or broker in silent or broker == loss.broker:
            continue
        kept = any(span.opened is not None and span.opened <= since and not _ended(span.closed, loss) for span in spans)
        client = any(row.broker == broker for row in scene.kind("zk_session_established").between(None, since))
        after = scene.of_broker(broker).between(loss.gone.at + SLACK, None)
        if kept and client and after and scene.life(broker, since) == scene.life(broker, loss.gone.at):
            found[broker] = after[0].proof
    return found


def _ended(closed: int | None, loss: Loss) -> bool:
    return closed is not None and closed <= loss.gone.at + AT_ONCE


def _wrote(scene: TimelineInputs, loss: Loss) -> Sequence[EventRow]:
    """From the next due heartbeat half-way to the loss; later writes may follow a pause."""
    if loss.due is None:
        return ()
    return scene.of_history.between(loss.due + SLACK, (loss.due + loss.gone.at) // 2)
