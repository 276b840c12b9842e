"""Rows of causes: what came of what, what may have begun it, and what speaks for and against that."""

from typing import NamedTuple

from casebook.kafka.past_rows import EventRow


class CausalLink(NamedTuple):
    """One thing that led to another.

    Args:
        cause: What came first.
        effect: What came of it; of many the first.
        rule: Why they belong together, in words.
        seconds: Between both, by the reference clock.
        count: How many such effects this link stands for.
        examples: The first few effects.
        last: The last effect; ``effect`` itself when there is one.
    """

    cause: EventRow
    effect: EventRow
    rule: str
    seconds: float
    count: int
    examples: tuple[EventRow, ...]
    last: EventRow


class Chain(NamedTuple):
    """What followed from one cause.

    Args:
        kind: ``broker_lost``, ``broker_stopped``, ``all_lost``, ``start_failed``, ``cleaner_dead``, ``unknown_request``,
            ``foreign_protocol``, ``unclean_start``, ``disk_failed``, ``log_dir_emptied``.
        title: One sentence.
        broker: Whom it befell; ``None`` for all of them, or where nobody knows.
        links: In the order of time.
        opened: Of its first event, by the reference clock.
        closed: Of its last event.
        partitions: How many were hit.
        holds: How many partitions without leader the broker holds, which has been down ever since; 0 when it is back, or nobody
            knows.
        back: When the broker that was lost was registered again, or that failed to start had started; ``None``: not before the
            evidence ends.
        by: When it had begun at the latest, where no line tells when it did: not before ``opened``; else ``None``.
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
    """What speaks for something, or against it, with its proof; ``""`` where it is the lack of one."""

    text: str
    proof: str = ""


class Root(NamedTuple):
    """What may have begun a chain.

    Args:
        kind: ``network``, ``frozen``, ``gc``, ``zookeeper``, ``killed``, ``stopped``, ``all_stopped``, ``all_ended``,
            ``start_failed``, ``new_client``, ``foreign``, ``cleaner``; of a log dir ``disk``, ``disk_full``, ``file_held``,
            ``files_gone``, ``permissions``, ``open_files``, ``maps``.
        name: A few words, e.g. ``Network of the host of broker 57``.
        broker: Whom it befell.
        chain: Number of the chain in the timeline.
        pro: What speaks for it.
        contra: What speaks against it.
        unchecked: What could not be checked.
        weight: The higher the likelier; of use in one chain only.
    """

    kind: str
    name: str
    broker: int | None
    chain: int
    pro: tuple[Indication, ...]
    contra: tuple[Indication, ...]
    unchecked: tuple[str, ...]
    weight: int
