"""Rows of causes: links, possible roots, and evidence for and against."""

from typing import NamedTuple

from casebook.kafka.past_rows import EventRow


class CausalLink(NamedTuple):
    """A cause and its effect.

    Args:
        cause: Earlier event.
        effect: Effect; the first of several.
        rule: Rule that joins them, in words.
        seconds: Time between both, by the reference clock.
        count: Number of effects of this link.
        examples: The first few effects.
        last: Last effect; ``effect`` itself for a single one.
    """

    cause: EventRow
    effect: EventRow
    rule: str
    seconds: float
    count: int
    examples: tuple[EventRow, ...]
    last: EventRow


class Chain(NamedTuple):
    """Consequences of one cause.

    Args:
        kind: ``broker_lost``, ``broker_stopped``, ``all_lost``, ``start_failed``, ``cleaner_dead``, ``unknown_request``,
            ``foreign_protocol``, ``unclean_start``, ``disk_failed``, ``log_dir_emptied``.
        title: One sentence.
        broker: Affected broker; ``None`` for all of them, or unknown.
        links: In order of time.
        opened: Time of its first event, by the reference clock.
        closed: Time of its last event.
        partitions: Number of affected partitions.
        holds: Number of leaderless partitions that depend on the broker, which has been down ever since; 0 when it is back, or
            unknown.
        back: When a lost broker registered again, or a broker with a failed start had started; ``None``: not before the evidence
            ends.
        by: Latest start, when no line has it: not before ``opened``; else ``None``.
    """

    kind: str
    title: str
    broker: int | None
    links: tuple[CausalLink, ...]
    opened: int | None
    closed: int | None
    partitions: int = 0
    holds: int = 0
    back: int | None = None
    by: int | None = None


class Indication(NamedTuple):
    """Evidence for or against something, with its proof; ``""`` when a lack is the evidence."""

    text: str
    proof: str = ""


class Root(NamedTuple):
    """Possible root cause of a chain.

    Args:
        kind: ``network``, ``frozen``, ``gc``, ``zookeeper``, ``killed``, ``stopped``, ``all_stopped``, ``all_ended``,
            ``start_failed``, ``new_client``, ``foreign``, ``cleaner``; of a log dir ``disk``, ``disk_full``, ``file_held``,
            ``files_gone``, ``permissions``, ``open_files``, ``maps``.
        name: A few words, e.g. ``Network of the host of broker 57``.
        broker: Affected broker.
        chain: Number of the chain in the timeline.
        pro: Evidence for it.
        contra: Evidence against it.
        unchecked: What could not be checked.
        weight: The higher the likelier; comparable within one chain only.
    """

    kind: str
    name: str
    broker: int | None
    chain: int
    pro: tuple[Indication, ...]
    contra: tuple[Indication, ...]
    unchecked: tuple[str, ...]
    weight: int
