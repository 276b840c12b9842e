"""The story in sentences with proofs, for a post-mortem."""

import csv as csv_format
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from casebook.facts.cluster import instant
from casebook.facts.events import TRUNCATIONS
from casebook.facts.quotes import cut
from casebook.findings.words import agree, as_cell, capitalised, plural
from casebook.kafka.past_rows import EventRow, Sentence, Window, WindowKind
from casebook.questions.timeline.analysis.causal_chain import CausalLink, Chain, Root
from casebook.questions.timeline.analysis.links import places
from casebook.questions.timeline.analysis.words import NOBODY, exact, named

MOST = 40
"""Maximum number of sentences; chains with the least impact are left out first."""

_BROKERS_OWN = {"processor_failed", "unknown_api_key", "bad_request"}
"""Kinds that only brokers print, also unknown ones."""
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$]|:(?=//))")


class StoryFacts(Protocol):
    """Inputs of a story: a :class:`casebook.questions.timeline.analysis.timeline.Timeline`."""

    story: Sequence[Sentence]
    windows: Sequence[Window]
    roots: Sequence[Root]


def sentences(chains: Sequence[Chain]) -> tuple[Sentence, ...]:
    """Return the story of all chains, in order of time."""
    found: list[tuple[int, Sentence]] = []
    said: set[tuple[str, str]] = set()
    for place, chain in enumerate(chains):
        told = [(order, one) for order, one in _of_chain(chain, place) if (one.kind, one.proof) not in said]
        if found and len(found) + len(told) > MOST:
            break
        said.update((one.kind, one.proof) for _, one in told)
        found += told
    return tuple(one for _, one in sorted(found, key=lambda item: item[0]))


def _of_chain(chain: Chain, place: int) -> Iterator[tuple[int, Sentence]]:
    """Yield a sentence per first cause and per effect, with its time, which is never before its cause's."""
    if not chain.links:
        yield chain.opened, Sentence(chain.opened, chain.opened, f"{chain.title}.", "", chain.kind, chain.broker, place, True)
    order: dict[tuple[str, str], int] = {}
    effects = {_name(link.effect): link for link in reversed(chain.links)}
    for link in chain.links:
        for row in (link.cause, link.effect):
            if _name(row) not in order:
                cause = effects.get(_name(row))
                least = order.get(_name(cause.cause), row.at) if cause is not None else row.at
                order[_name(row)] = max(row.at, least)
                yield order[_name(row)], _sentence(row, cause, chain, place)


def _name(row: EventRow) -> tuple[str, str]:
    return row.kind, row.proof


def first_clause(said: str) -> tuple[str, str]:
    """Split a sentence into its first clause and the rest."""
    end = re.search(r"[:;.](?=\s|$)|,(?=\s+[^\d\s])", said)
    return (said[: end.start()], said[end.start() :]) if end else (said, "")


def one_sentence(chain: Chain) -> str:
    """Summarise the chain in one sentence: its first event and the decisive one; ``""`` without links."""
    if not chain.links:
        return ""
    begin = chain.links[0].cause
    steps = [(begin.at, _clause(begin, None, chain))]
    for kinds in (kinds for kinds in _STEPS if begin.kind not in kinds):
        link = next((link for link in chain.links if link.effect.kind in kinds), None)
        if link is not None:
            steps.append((link.effect.at, _clause(link.effect, link, chain)))
    told = [f"{words} at {instant(at)[11:23]}" for at, words in sorted(steps, key=lambda step: step[0])]
    return f"First {', then '.join(told)}."


def _clause(row: EventRow, link: CausalLink | None, chain: Chain) -> str:
    """Return the first clause of a sentence, as a part of another."""
    if row.kind in _ENDS:
        return f"the session of {named(chain.broker)} {'expires' if row.kind == 'zks_session_expiring' else 'ends'}"
    said = first_clause(_TELL.get(row.kind, _as_printed)(row, link))[0]
    return said[0].lower() + said[1:] if said.startswith(("Broker ", "The ", "A ", "Clients ")) else said


def _sentence(row: EventRow, link: CausalLink | None, chain: Chain, place: int) -> Sentence:
    tell = _TELL.get(row.kind, _as_printed)
    text = tell(row, link)
    if link is not None and link.last.at - row.at >= 1000:
        text = f"{text[:-1]}, until {instant(link.last.at)[11:23]}."
    return Sentence(row.at, row.time, text, row.proof, row.kind, row.broker if row.broker is not None else chain.broker, place,
                    row.kind in _KEY, 1 if link is None else link.count)  # fmt: skip


def _many(link: CausalLink | None) -> int:
    return 1 if link is None else link.count


def _owner(row: EventRow) -> str:
    if row.broker is not None:
        return f"Broker {row.broker}"
    if row.kind in _BROKERS_OWN:
        return capitalised(NOBODY)
    return {"zookeeper": "ZooKeeper", "history": "ZooKeeper"}.get(row.source, "A client")


def _session(row: EventRow) -> str:
    session = row.fields.get("session", "")
    return f" 0x{session.removeprefix('0x')}" if session else ""


def _partitions(link: CausalLink | None) -> int:
    return 1 if link is None else max(1, link.count if link.count > len(link.examples) else len(places(link.examples)))


def _silent(row: EventRow, link: CausalLink | None) -> str:
    ms = row.milliseconds
    if row.kind == "zk_silent" and link is not None:
        return f"{_owner(row)} notices that it has received nothing from ZooKeeper for {exact(ms or 0)}."
    return f"{_owner(row)} has received nothing from ZooKeeper for {exact(ms)}." if ms else f"{_owner(row)} lost ZooKeeper."


def _closed(row: EventRow, _: CausalLink | None) -> str:
    whose = f" of broker {row.broker}" if row.broker is not None else ""
    return f"ZooKeeper closes the session{_session(row)}{whose}."


def _expiring(row: EventRow, _: CausalLink | None) -> str:
    ms = row.number("timeout_ms")
    return f"ZooKeeper expires the session{_session(row)}{f': its timeout of {exact(ms)} is over' if ms else ''}."


def _change(row: EventRow, _: CausalLink | None) -> str:
    parts = [f"{what} {row.fields[name]}" for name, what in (("deleted", "deleted"), ("added", "added")) if row.fields.get(name)]
    return f"The controller, {_owner(row).lower()}, sees brokers {', '.join(parts) or 'change'}."


def _leaders(row: EventRow, link: CausalLink | None) -> str:
    count, leader = _partitions(link), row.fields.get("leader", "")
    if leader == "-1":
        return f"{plural(count, 'partition')} {agree(count, 'is', 'are')} left without leader."
    whom = sorted({one.fields["leader"] for one in (link.examples if link else (row,)) if one.fields.get("leader", "-1") != "-1"})
    to = f" to {', '.join(whom)}" if whom else ""
    more = " and others" if link is not None and link.count > len(link.examples) else ""
    return f"{plural(count, 'leader')} {agree(count, 'moves', 'move')}{to}{more}."


def _isr(row: EventRow, link: CausalLink | None) -> str:
    count = _partitions(link)
    if count == 1:
        return f"The ISR of {row.topic}-{row.partition} changes from {row.fields.get('old')} to {row.fields.get('isr')}."
    return f"{plural(count, 'ISR')} change."


def _follower(row: EventRow, link: CausalLink | None) -> str:
    return f"{_owner(row)} becomes a follower of {plural(_partitions(link), 'partition')}."


def _cut(row: EventRow, link: CausalLink | None) -> str:
    offset = row.fields.get("offset")
    where = f": {row.topic}-{row.partition} to offset {offset}" if offset and row.topic else ""
    return f"{_owner(row)} truncates {plural(_partitions(link), 'log')}{where}."


def _gap(row: EventRow, _: CausalLink | None) -> str:
    return f"{_owner(row)} falls silent: its log has no line for {exact(row.number('ms') or 0)}."


def _clients(words: str) -> Callable[[EventRow, CausalLink | None], str]:
    def tell(_: EventRow, link: CausalLink | None) -> str:
        count = _many(link)
        times = f", {plural(count, 'time')}" if count > 1 else ""
        return f"Clients receive {words}{times}."

    return tell


def _plain(words: str) -> Callable[[EventRow, CausalLink | None], str]:
    """Return a sentence about the printing broker."""

    def tell(row: EventRow, _: CausalLink | None) -> str:
        return f"{_owner(row)} {words}."

    return tell


def _thrown(row: EventRow, link: CausalLink | None) -> str:
    key, count = row.fields.get("api_key", "?"), _many(link)
    times = f", {plural(count, 'time')}" if count > 1 else ""
    return f"{_owner(row)} receives a request with api key {key}, which it does not support{times}."


def _lost(row: EventRow, link: CausalLink | None) -> str:
    """Rule: Java's client prints 2147483647 minus the broker id (``AbstractCoordinator.java@0.9.0.1..3.9.0``)."""
    printed = _NODE.search(row.fields.get("node", ""))
    broker = None if printed is None else _HIGHEST - int(printed[1])
    named = f", broker {broker}" if broker is not None and 0 <= broker < _HIGHEST // 2 else ""
    count = _many(link)
    lines = f" ({plural(count, 'line')})" if count > 1 else ""
    return f"{_owner(row)} resigns as coordinator{named}{lines}."


def _as_printed(row: EventRow, link: CausalLink | None) -> str:
    count = _many(link)
    text = cut(" ".join(row.text.split()), 160) or row.kind.replace("_", " ")
    lines = f" ({plural(count, 'line')})" if count > 1 else ""
    return f"{_owner(row)}: {text.rstrip('.')}{lines}."


_NODE, _HIGHEST = re.compile(r"(?:\(id: |^)(\d+)"), 2**31 - 1
_TELL: Mapping[str, Callable[[EventRow, CausalLink | None], str]] = {
    "log_gap": _gap,
    "zk_silent": _silent,
    "zk_connection_lost": _silent,
    "zk_session_expired": _plain("learns that its session has expired"),
    "zks_session_expiring": _expiring,
    "znode_session_closed": _closed,
    "znode_broker_gone": lambda row, _: f"The znode of broker {row.broker} is removed.",
    "znode_broker_registered": lambda row, _: f"Broker {row.broker} is registered again, with session{_session(row)}.",
    "broker_registered": _plain("is registered again"),
    "broker_change": _change,
    "broker_failure": lambda row, _: f"The controller treats broker {row.fields.get('brokers', '')} as dead.",
    "znode_leader_changed": _leaders,
    "partition_changed": _leaders,
    "leader_elected": _leaders,
    "no_leader_possible": lambda _, link: (
        f"{plural(_partitions(link), 'partition')} cannot get a leader: no in-sync replica is alive."
    ),
    "controller_request_failed": _plain("cannot reach a broker as controller"),
    "fetch_failed": _plain("cannot fetch from its leader"),
    "fetch_refused": _plain("is refused a fetch by its leader"),
    "znode_isr_changed": _isr,
    "become_follower": _follower,
    "truncated": _cut,
    "truncated_below_hw": _cut,
    "fetch_reset": _cut,
    "not_coordinator": _clients("that it is not the correct coordinator: a symptom of the same move, not its cause"),
    "coordinator_lost": _lost,
    "not_leader": _clients("that it is not the leader"),
    "isr_update_refused": _plain("cannot write an ISR: another broker has changed it"),
    "shutting_down_broker": lambda row, _: f"Broker {row.fields.get('broker') or row.fields.get('target', '')} asks to stop.",
    "broker_stopping": _plain("begins to stop"),
    "broker_stopped": _plain("has stopped"),
    "broker_started": _plain("has started"),
    "logs_loaded": _plain("has loaded its logs"),
    "controlled_shutdown_begun": _plain("begins a controlled shutdown"),
    "processor_failed": _plain("discards what else its network thread had received"),
    "unknown_api_key": _thrown,
    "gc_pause": lambda row, _: f"{_owner(row)} pauses for GC for {exact(row.milliseconds or 0)}.",
    "zks_fsync_slow": lambda row, _: f"ZooKeeper waits {exact(row.milliseconds or 0)} for its disk.",
}
_KEY = {
    "zks_session_expiring",
    "znode_session_closed",
    "znode_leader_changed",
    "truncated",
    "truncated_below_hw",
    "unknown_api_key",
    "cleaner_died",
    "log_dir_failed",
}
_ENDS = ("zks_session_expiring", "znode_session_closed", "znode_broker_gone")
_STEPS = (_ENDS, ("znode_leader_changed", "partition_changed", "leader_elected"), TRUNCATIONS, ("processor_failed",))
"""Kinds to mention after the start of a chain, the first of each."""


def markdown(told: StoryFacts) -> str:
    """Format the story as Markdown: problems with duration, events, and possible causes."""
    lines = ["## What happened", ""]
    lines += [f"- `{_time(one.at)}` {escaped(one.text)}{_shown(one.proof)}" for one in told.story]
    lines += ["", "The logs show no incident."] if not told.story else []
    if summary := list(_summary(told.windows)):
        lines += ["", "## Durations", "", *(f"- {escaped(text)}" for text in summary)]
    if told.roots:
        lines += ["", "## Possible root causes", "", *(_root(root) for root in told.roots if root.chain == told.roots[0].chain)]
    return "\n".join(lines) + "\n"


def _time(at: int | None) -> str:
    return instant(at) or "undated"


def _shown(proof: str) -> str:
    return f" ({_code(proof)})" if proof else ""


def _code(text: str) -> str:
    """Format text as a code span: its fence is longer than any run of backticks inside."""
    line = " ".join(text.split())
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def escaped(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _summary(windows: Iterable[Window]) -> Iterator[str]:
    words = {
        WindowKind.TWO_LEADERS: "two brokers could both take writes",
        WindowKind.LEADERLESS: "there was no leader",
        WindowKind.UNDER_MIN_ISR: "too few replicas were in sync",
        WindowKind.LOADING: "a coordinator loaded",
    }
    for kind, what in words.items():
        found = [window for window in windows if window.kind is kind]
        known = [window.length for window in found if window.length is not None]
        if found:
            longest = f", for {exact(max(known))} at most" if known else ""
            ends = len(found) - len(known)
            yield f"{plural(len(found), 'window')} in which {what}{longest}{f'; {ends} with an open end' if ends else ''}."


def _root(root: Root) -> str:
    parts = [f"- **{escaped(root.name)}**"]
    for label, points in (
        ("for", [p.text for p in root.pro]),
        ("against", [p.text for p in root.contra]),
        ("unchecked", root.unchecked),
    ):
        if points:
            parts.append(f"{label}: {escaped('; '.join(points))}")
    return ". ".join(parts)


def csv(told: StoryFacts) -> str:
    """Format the story as CSV (RFC 4180) with a header; a cell that a spreadsheet would evaluate is escaped."""
    lines: list[str] = []
    writer = csv_format.writer(_Lines(lines), lineterminator="\r\n")
    writer.writerow(("time", "as_printed", "broker", "kind", "count", "text", "proof"))
    for one in told.story:
        broker = "" if one.broker is None else one.broker
        writer.writerow(
            (_time(one.at), instant(one.time) or "", broker, one.kind, one.count, as_cell(one.text), as_cell(one.proof))
        )
    return "".join(lines)


class _Lines:
    """Output for :mod:`csv`."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append
