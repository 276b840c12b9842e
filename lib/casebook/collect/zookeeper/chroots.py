"""Find Kafka clusters in an ensemble. A wrong chroot must never look like an empty cluster."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from kazoo.exceptions import KazooException

from casebook.collect.zookeeper.ensemble import Ensemble
from casebook.collect.zookeeper.reader import NoAnswerError, Reader, Verb, connect
from casebook.errors import CollectError
from casebook.formats.zookeeper import kafka_tree as tree

_MOST_CANDIDATES = 200


def check(reader: Reader, ensemble: Ensemble) -> None:
    """Check that there is a Kafka cluster below the chroot.

    Raises:
        CollectError: There is none; the error names the visible ones. Or no server answers.
    """
    try:
        if reader.ask_one(Verb.STAT, "/brokers") is not None:
            return
        is_there = reader.ask_one(Verb.STAT, "/") is not None
    except (KazooException, NoAnswerError) as error:
        reason = error if isinstance(error, NoAnswerError) else type(error).__name__
        raise CollectError(f"{ensemble} cannot be read: {reason}.") from None
    where = ensemble.chroot or "/"
    with connect(replace(ensemble, chroot=""), timeout=5.0) as root:
        seen = ", ".join(_kafka_chroots(root))
    raise CollectError(
        f"There is no Kafka cluster below {where}: it has no /brokers." if is_there else f"The chroot {where} does not exist.",
        cause=f"A Kafka cluster is at: {seen}." if seen else "There is no Kafka cluster two levels below / either.",
        try_=(
            "Take the chroot from zookeeper.connect in a broker's server.properties; it is written once, after the last server."
        ),
    )


def _kafka_chroots(root: Reader) -> Iterator[str]:
    """Yield paths of at most two levels with ``/brokers/topics`` below them, including ``/``."""
    candidates = deque(["/"])
    for _ in range(_MOST_CANDIDATES):
        if not candidates:
            return
        path = candidates.popleft()
        prefix = path.rstrip("/")
        try:
            if root.ask_one(Verb.STAT, prefix + tree.TOPICS) is not None:
                yield path
            elif prefix.count("/") < 2:
                children = sorted(root.ask_one(Verb.LIST, path))
                candidates.extend(f"{prefix}/{child}" for child in children if child != "zookeeper")
        except NoAnswerError:
            return
        except KazooException:
            continue
