"""Windows in which two brokers could accept writes: from the new leader's election to the old one's truncation.

The old leader's own "Expired" line does not count, as it is printed on reconnection. An old leader with an ended process accepts
no writes: a window requires a line of that process after the election.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from casebook.facts.events import TRUNCATIONS
from casebook.findings import coverage
from casebook.findings.words import duration
from casebook.kafka.past import Key
from casebook.kafka.past_rows import EventRow, Span, StateRow, Window, WindowKind, transaction
from casebook.questions.timeline.analysis.gaps import OFTEN, gap_at, other_gaps
from casebook.questions.timeline.analysis.scene import SLACK, TimelineInputs

SOON = 60_000
"""Maximum milliseconds between becoming a follower and the truncation of this change."""

LONG = 1000
"""Minimum milliseconds of a window beyond a normal hand-over."""

STILL = 1000
"""Milliseconds of silence that suggest a paused process."""
_STOPS = ("controlled_shutdown_begun", "controlled_shutdown_done", "unclean_shutdown")
_LEARNS = ("become_follower", "role_changed", "leader_request_received")
_WORDS = {
    "truncated_nothing": "it had nothing to truncate",
    "fetch_reset": "it took up the new leader's offsets",
    "become_follower": "it became a follower",
    "role_changed": "it became a follower",
    "leader_request_received": "it received the new leader",
}


class OldLeaderDoubt(NamedTuple):
    """An election after which the old leader's survival is unknown.

    Args:
        kind: Kind of the silence.
        window: Longest possible window, as bounded by the history.
    """

    topic: str
    partition: int
    broker: int
    at: int
    kind: str
    why: str
    window: Window | None = None


def two_leaders(scene: TimelineInputs) -> tuple[list[Window], list[OldLeaderDoubt]]:
    """Return the windows, and the elections with a possible one."""
    found: list[Window] = []
    doubts: list[OldLeaderDoubt] = []
    logs = {file.broker for file in scene.files} | set(scene.lives)
    for key, rows in scene.states.items():
        for led, place in _moves(rows):
            old, row = led.leader, rows[place]
            earliest = None if row.zxid is None else rows[place - 1].until  # a log has the election itself
            until = next((later for later in rows[place + 1 :] if later.leader != row.leader), None)
            if old not in logs:
                doubt = OldLeaderDoubt(*key, old, row.time, "no_log", f"There is no log of broker {old}.")
            elif isinstance(window := _window(scene, key, led, row, until, earliest), Window):
                found.append(window._replace(opened_earliest=earliest))
                continue
            elif isinstance(window, OldLeaderDoubt):
                doubt = window
            elif (hidden := silence(scene, old, row.time)) is not None:
                doubt = OldLeaderDoubt(*key, old, row.time, *hidden)
            else:
                continue
            bounds = _possible(scene, key, old, rows[place:], doubt.why)._replace(opened_earliest=earliest)
            doubts.append(doubt._replace(window=bounds))
    return found, doubts


def _moves(rows: Sequence[StateRow]) -> Iterator[tuple[StateRow, int]]:
    """Yield each election of another leader: start of the old leader, and index of the new leader's state."""
    led: StateRow | None = None
    for place, row in enumerate(rows):
        if row.deleted:
            led = None
        if row.leader is None:
            continue
        if led is not None and row.leader != led.leader:
            yield led, place
        if led is None or row.leader != led.leader:
            led = row


def _possible(scene: TimelineInputs, key: Key, old: int, rows: Sequence[StateRow], why: str) -> Window:
    """Return the possible window after an election, whose state is the first of the rows, with its bounds.

    Rule: a replica back in the ISR has truncated its log and follows. A registration does not prove that: only then does it learn
    the leader.
    """
    row, end = rows[0], None
    away = row.isr is not None and old not in row.isr
    for later in rows[1:]:
        inside = old in (later.isr or ())
        if later.deleted or later.leader == old or (away and inside):
            end = later
            break
        away = away or (later.isr is not None and not inside)
    if end is None:
        words = f"{why} {'It is not back in the ISR' if away else 'It is in the ISR all along,'} to the end of the evidence."
    elif end.deleted:
        words = f"{why} The partition was deleted."
    else:
        words = f"{why} By then it was {'elected again' if end.leader == old else 'back in the ISR'}."
    last = scene.past.last
    proof = end.proof if end is not None else "" if last is None else transaction(last[1])
    by, planned = f"Broker {row.leader} was elected in place of {old}.", is_planned(scene, old, row.time)
    closed = None if end is None else end.time
    return Window(
        WindowKind.TWO_LEADERS, *key, row.time, closed, old, row.leader, row.proof, proof, by, words, planned,
        closed_earliest=None if closed is None else row.time, possible=True,
    )  # fmt: skip


def _window(
    scene: TimelineInputs, key: Key, led: StateRow, row: StateRow, until: StateRow | None, earliest: int | None
) -> Window | OldLeaderDoubt | None:
    """Return the window after an election between ``earliest`` and the time of its state; ``None``: at that time."""
    old = led.leader
    life = scene.life(old, row.time)
    if life is None or life.closed is None or life.closed <= row.time or not _led_in(scene, key, led, life, row.time):
        return None
    if _taken_down(scene, key, led, row):
        return None
    closing = _closing(scene, old, life)
    if closing is not None and closing.at <= row.time:
        return None  # unless its clock error is as large, which its silence shows
    limit = life.closed if until is None else min(until.time, life.closed)
    end = _end(scene, key, old, row, row.time if earliest is None else earliest, limit)
    if end is not None and earliest is not None and end.at <= row.time:
        return None  # it knew by its first known line
    by = f"Broker {row.leader} was elected in place of {old}."
    planned, told = is_planned(scene, old, row.time), _is_covered_by_its_log(scene, old, row.time)
    again = until.time if until is not None and until.leader == old else None
    last = again if end is None else end.at
    if not told and not _is_one_process(scene, life, row.time, life.closed if last is None else last):
        return OldLeaderDoubt(*key, old, row.time, "no_log", f"A restart of broker {old} after the election was not looked for.")
    if closing is not None and (end is None or end.at > closing.at):
        words = f"Broker {old} logged that its controlled shutdown had succeeded; it closes its connections next."
        closed, proof = closing.at, closing.proof
    elif end is not None:
        words = f"Broker {old}: {_WORDS.get(end.kind, 'it truncated its log')}{_to(end)}."
        closed, proof = max(end.at, row.time), end.proof
    elif again is not None:
        closed, proof, words = again, until.proof, f"Broker {old} was elected again."
    elif _ends_close(scene, old, row.time, life):
        return None
    elif life.name in ("broker_stopped", "truncation_refused") or _follows(scene, old, life.closed):
        closed, proof, words = life.closed, life.closed_proof, f"The process of broker {old} ended."
    elif (gone := _stopped(scene, old, row.time)) is not None:
        closed, proof, words = (
            gone.closed,
            gone.closed_proof,
            f"Broker {old} was being stopped, and its registration was removed.",
        )
    elif _hands_over(scene, old, row.time):
        closed, proof, words = life.closed, life.closed_proof, f"Broker {old} was stopping; its log ends."
    elif not told:
        return OldLeaderDoubt(
            *key, old, row.time, "no_log", f"The log of broker {old} after an election that replaced it was not read."
        )
    else:
        closed, proof, words = None, life.closed_proof, f"The log of broker {old} does not show that it became a follower."
    silent = _silent(scene, old, row.time, closed)
    early = row.time if not told and not (closing is not None and closed == closing.at) else None
    if early is not None and closed == row.time:
        return None  # it knew by then: there was no window, and it may have known before
    return Window(
        WindowKind.TWO_LEADERS, *key, row.time, closed, old, row.leader, row.proof, proof, by, words, planned, silent,
        closed_earliest=early,
    )  # fmt: skip


def _is_one_process(scene: TimelineInputs, life: Span, since: int, until: int) -> bool:
    """Return whether one process ran at two moments, without a ``server.log``, which has starts, of both.

    Without a new registration there was no start; a later log that names the session of that time is of the same process. A
    broker unregistered at the end of the history has registered since, perhaps as another process; logs alone only decide with
    one registration throughout, and all read.
    """
    if life.opened > since and scene.speaks_of_its_session(life.broker, since):
        return True
    own, last = scene.registered.get(life.broker, ()), scene.past.last and scene.past.last[0]
    if not scene.by_history:
        unread = coverage.unread_logs(scene.files, scene.cluster)
        return not unread and any(span.covers(since) and span.covers(until) for span in own)
    if since <= last < until and scene.is_registered(life.broker, last) is False:
        return False
    return not any(span.opened is not None and since < span.opened <= until for span in own)


def _is_covered_by_its_log(scene: TimelineInputs, broker: int, at: int) -> bool:
    """Return whether a broker's ``server.log``, with its role changes, covers the time before and after a moment."""
    files = {file.file for file in scene.files if coverage.is_server_log(file) and file.broker == broker and not file.unread}
    own = scene.of_broker(broker)
    return all(any(row.file in files for row in part) for part in (own.between(None, at), own.between(at, None)))


def _taken_down(scene: TimelineInputs, key: Key, led: StateRow, row: StateRow) -> bool:
    """Return whether the old leader had logged its replica as offline before the election: it then accepts no write."""
    told = scene.kind("replicas_offline").between(led.time, row.time)
    return any(line.broker == led.leader and line.source == "broker" and key in line.listed() for line in told)


def _silent(scene: TimelineInputs, broker: int, at: int, closed: int | None) -> int | None:
    """Return until when a process that was silent at an election stayed silent; a pause that it reports is included.

    In a log of several brokers many lines have no owner: they may be its own.
    """
    if any(file.broker is None and broker in dict(file.speakers) for file in scene.files):
        return None
    gap = gap_at(scene, broker, at, STILL)
    if gap is None or other_gaps(scene, broker, gap) >= OFTEN:
        return None
    first = gap[1]
    awake = first.begun + (first.milliseconds or 0)
    return awake if closed is None else min(awake, closed)


def _closing(scene: TimelineInputs, broker: int, life: Span) -> EventRow | None:
    """Rule: after a controlled shutdown the socket server is shut down (``KafkaServer.scala@0.9.0.1, 2.8.2``)."""
    done = scene.kind("controlled_shutdown_done").between(life.opened, life.closed)
    return next((row for row in done if row.broker == broker), None)


def is_planned(scene: TimelineInputs, broker: int, at: int) -> bool:
    """Return whether a leader was moved from a healthy broker, or from one handing over for its shutdown."""
    return scene.is_registered(broker, at - 1) is True or _hands_over(scene, broker, at)


def is_grave(scene: TimelineInputs, window: Window) -> bool:
    """Return whether a window is more than a hand-over: longer, and by more than its clock error.

    An open one requires that the rest of the logs was read: they may show a planned move.
    """
    told = window.planned or scene.is_registered(window.old_leader, window.opened - 1) is False
    if told and not window.planned:
        return True
    if window.length is None:
        return not coverage.unread_logs(scene.files, scene.cluster)
    if window.at_most:
        return False  # its length is unknown, and nothing excludes a hand-over
    return window.length >= LONG + (scene.uncertainty(window.old_leader) or 0) and not _ends_with_a_stop(scene, window)


def _ends_with_a_stop(scene: TimelineInputs, window: Window) -> bool:
    """Return whether a window is open only until the end of a process that was handing over.

    Rule: a stopping broker has handed over; the time may not be logged, but is no later than the end of its process. It closes
    its session at the very end (``KafkaServer.scala@0.9.0.1, 2.8.2``): one that survived its session was not stopping.
    """
    broker = window.old_leader
    life = scene.life(broker, window.opened)
    if life is None or life.closed != window.closed or not _hands_over(scene, broker, window.opened):
        return False
    return scene.is_registered(broker, life.closed - LONG - (scene.uncertainty(broker) or 0)) is not False


def _hands_over(scene: TimelineInputs, broker: int, at: int) -> bool:
    """Return whether a controlled shutdown was running or complete at a moment, within its clock error, and had not failed.

    A broker unregistered by then counted as dead: it received no request, and has handed over nothing.
    """
    life = scene.life(broker, at)
    if life is None or scene.is_registered(broker, at - 1) is False:
        return False
    until = at + max(SLACK, scene.uncertainty(broker) or 0)
    said = [row.kind for row in scene.kinds(_STOPS, life.opened, until) if row.broker == broker]
    return bool(said) and said[-1] != "unclean_shutdown"


def _stopped(scene: TimelineInputs, broker: int, at: int) -> Span | None:
    """Return the registration that ended with a shutdown served by a controller at a moment; ``None`` without one.

    Rule: a stopping broker has handed over, and closes its session at the very end (``KafkaServer.scala@0.9.0.1, 2.8.2``).
    """
    served = scene.kind("shutting_down_broker").between(at - SOON, at + SLACK)
    if not any(str(broker) in (row.fields.get("broker"), row.fields.get("target")) for row in served):
        return None
    ended = (span for span in scene.registered.get(broker, ()) if span.closed is not None and at <= span.closed <= at + SOON)
    return next(ended, None)


def _ends_close(scene: TimelineInputs, broker: int, at: int, life: Span) -> bool:
    """Return whether an unhealthy process ended so soon after a moment that, by its clock, it may have been before."""
    return 0 < life.closed - at <= (scene.uncertainty(broker) or 0) and not is_planned(scene, broker, at)


def _led_in(scene: TimelineInputs, key: Key, led: StateRow, life: Span, until: int) -> bool:
    """Return whether this process led by a moment: a restarted broker leads only after a request."""
    if life.opened <= led.time:
        return True
    if not scene.tells_start(life):
        return True  # its log begins in the middle of its life
    own = scene.of_partition(key).between(life.opened, min(until, life.closed))
    return any(row.broker == led.leader and (row.kind == "become_leader" or row.number("leader") == led.leader) for row in own)


def _end(scene: TimelineInputs, key: Key, old: int, row: StateRow, since: int, limit: int) -> EventRow | None:
    own = [
        line
        for line in scene.of_partition(key).between(since - SLACK, limit)
        if line.broker == old and line.source == "broker" and _is_of(line, row, old)
    ]
    learns = next((line for line in own if line.kind in _LEARNS), None)
    cut = next((line for line in own if line.kind in TRUNCATIONS), None)
    if cut is not None and (learns is None or cut.at - learns.at <= SOON):
        # from 0.11 on it truncates at its first fetch, and has accepted no write since its role change
        return next((line for line in own if line.kind == "role_changed" and line.at < cut.at), cut)
    return next((line for line in own if line.kind in ("become_follower", "role_changed")), learns)


def _is_of(line: EventRow, row: StateRow, old: int) -> bool:
    """Return whether a line of the old leader is about this election or its consequences, not an earlier one."""
    if line.kind in TRUNCATIONS:
        return line.at >= row.time or line.kind != "truncated_nothing"
    if line.kind not in _LEARNS or line.number("leader") == old:
        return False
    epoch = line.number("leader_epoch")
    if line.kind == "role_changed":
        told = line.at >= row.time if None in (epoch, row.leader_epoch) else epoch >= row.leader_epoch
        return line.fields.get("role") == "follower" and told
    return epoch is None or row.leader_epoch is None or epoch >= row.leader_epoch


def _to(end: EventRow) -> str:
    offset = end.fields.get("offset") or end.fields.get("to")
    return f" at offset {offset}" if end.kind in TRUNCATIONS and offset else ""


def _follows(scene: TimelineInputs, broker: int, at: int) -> bool:
    return any(life.opened is not None and life.opened > at for life in scene.lives.get(broker, ()))


def silence(scene: TimelineInputs, broker: int, at: int) -> tuple[str, str] | None:
    """Return kind and description of what hides a process's survival; ``None`` when its log shows it."""
    life = scene.life(broker, at)
    if life is None:
        begins = f"The log of broker {broker} begins only after an election that replaced it, with another process or long after."
        return "begins_late", begins
    if life.closed > at:
        return _hidden_by_a_clock(scene, broker, at, life)
    if life.name in ("broker_stopped", "broker_stopping") or _follows(scene, broker, at):
        return None
    return "ends_early", f"The log of broker {broker} ends before an election that replaced it, without a stop."


def _hidden_by_a_clock(scene: TimelineInputs, broker: int, at: int, life: Span) -> tuple[str, str] | None:
    """Return kind and description of a clock too inexact to decide whether its broker had ended before an election."""
    doubt = scene.uncertainty(broker)
    known = "the error of its clock is unknown" if doubt is None else f"its clock is known to {duration(doubt)}"
    if _ends_close(scene, broker, at, life):
        after = duration(life.closed - at)
        return "ends_close", f"The log of broker {broker} ends {after} after an election that replaced it, and {known}."
    closing = _closing(scene, broker, life)
    if closing is None or closing.at > at or (doubt is not None and closing.at + doubt <= at):
        return None
    before = duration(at - closing.at)
    return "ends_close", f"Broker {broker} closed its connections {before} before an election that replaced it, and {known}."
