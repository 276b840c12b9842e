"""Common parts of checks: proofs and repeated phrases."""

from collections.abc import Iterable, Sequence

from casebook.facts.evidence import Evidence
from casebook.facts.proofs import ZNODES, Proofs
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.kafka.verdict import Verdict

SHOWN = 5
"""Number of proofs in a finding; its table has the rest."""

START = "bin/kafka-server-start.sh -daemon config/server.properties"
"""Command that starts a broker, in every release from 0.9 to 3.9."""

COLLECT_AGAIN = "Collect the case again, with an account that may read all of it."
READ_CONFIG = "Read /config/topics with an account that has access."


def proof(text: str) -> Evidence:
    """The evidence that a proof names: a line, a transaction, a znode, or a file or table as a whole."""
    if text.startswith("/"):
        return Evidence(file=ZNODES, znode=text)
    file, _, place = text.partition(" ")
    if place.startswith("/"):
        return Evidence(file=file, znode=place)
    path, _, line = text.rpartition(":")
    return Evidence(file=path, line=int(line)) if path and line.isdecimal() else Evidence(file=text)


def lines(texts: Iterable[str]) -> tuple[Evidence, ...]:
    """The evidence of those proofs that name a line."""
    return tuple(one for one in map(proof, texts) if one.line is not None)


def of_verdicts(hit: Sequence[Verdict], proofs: Proofs) -> tuple[Evidence, ...]:
    """Return the first states, and the table with all of them."""
    return (*(proofs.state(v.topic, v.partition) for v in hit[:SHOWN]), Evidence(file="tables/partitions"))


def topics_of(hit: Iterable[Verdict]) -> list[str]:
    """Return the topics of partitions, each once."""
    return sorted({v.topic for v in hit})


def assumed(origins: Iterable[str | None]) -> tuple[str, ...]:
    """Return the caveat of settings with an assumed origin."""
    if BUILT_IN_ASSUMED in set(origins):
        return ("Without overrides, the release's built-in default is assumed: server.properties was not collected.",)
    return ()
