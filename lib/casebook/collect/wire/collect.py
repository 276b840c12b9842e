"""Collect a cluster from its brokers into a case."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from casebook.case.writer import CaseWriter
from casebook.collect import bounds
from casebook.collect.wire import addresses
from casebook.collect.wire.client_config import ClientConfig
from casebook.collect.wire.connection import Brokers
from casebook.collect.wire.walk import BrokerWalk
from casebook.facts.wire import ANSWERS
from casebook.formats.wire import answer_lines

PATIENCE = 10.0
"""Seconds to wait for a connection, and for each answer."""


def collect(
    case: CaseWriter,
    bootstrap: str,
    *,
    client_config: Path | None,
    client_jars: Sequence[Path] = (),
    patience: float = PATIENCE,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Store the answers of the brokers, and what could not be collected.

    Args:
        case: Receives them.
        bootstrap: ``host:port[,host:port]``.
        client_config: The ``client.properties`` of Kafka's own tools.
        client_jars: Jars with classes that this file names.
        patience: Seconds to wait for a connection, and for each answer.
        progress: Receives the number of answers and of requests.

    Raises:
        CollectError: No broker answers; the message has the cause.
        UsageError: The address or the file is invalid.
    """
    places = addresses.parse(bootstrap)
    config = ClientConfig.load(client_config, has_jars=bool(client_jars)) if client_config is not None else ClientConfig()
    settings = {**config.settings, "bootstrap.servers": ",".join(map(str, places)), "client.id": "kafka-casebook"}
    with (
        bounds.half("The brokers'"),
        Brokers(settings, properties=config.system_properties, jars=client_jars, patience=patience) as connection,
    ):
        walk = BrokerWalk(connection, places, settings=settings, patience=patience, progress=progress)
        answers = walk.answers()
        first = next(answers)  # without one, nothing is stored
        case.file(ANSWERS, map(answer_lines.encode, chain([first], answers)))
    for problem in walk.problems:
        case.could_not_collect(problem.path, problem.reason)
    if config.ignored:
        case.remark(f"Of {config.name}, these keys were not used: {', '.join(config.ignored)}.")
    if config.strange:
        case.remark(
            f"Of {config.name}, {config.strange} lines have no key of Kafka; is a backslash missing at the end of a line?"
        )
