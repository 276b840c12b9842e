"""What checks share: where they point to, and the words they repeat."""

from collections.abc import Iterable, Sequence

from casebook.findings.evidence import ZNODES
from casebook.findings.finding import Evidence
from casebook.kafka.settings import BUILT_IN_ASSUMED
from casebook.kafka.verdict import Verdict

__all__ = ["COLLECT_AGAIN", "READ_CONFIG", "SHOWN", "START", "ZNODES", "assumed", "of_verdicts", "proof", "topics_of"]

SHOWN = 5
"""Proofs named in a finding; its table holds the rest."""

START = "bin/kafka-server-start.sh -daemon config/server.properties"
"""Starts a broker, in every release from 0.9 to 3.9."""

COLLECT_AGAIN = "Collect the case again, or read these znodes with an account that may."
READ_CONFIG = "Read /config/topics with an account that may."


def proof(text: str) -> Evidence:
    """The evidence that a proof names: a line, a transaction, or a znode."""
    file, _, place = text.partition(" ")
    if place.startswith("/"):
        return Evidence(file=file, znode=place)
    path, _, line = file.rpartition(":")
    return Evidence(file=path, line=int(line)) if path and line.isdecimal() else Evidence(file=text)


def of_verdicts(hit: Sequence[Verdict]) -> tuple[Evidence, ...]:
    """The first state znodes, and the table with all of them."""
    states = (Evidence(file=ZNODES, znode=v.state_path) for v in hit[:SHOWN])
    return (*states, Evidence(file="tables/partitions"))


def topics_of(hit: Iterable[Verdict]) -> list[str]:
    """The topics of partitions, each once."""
    return sorted({v.topic for v in hit})


def assumed(origins: Iterable[str | None]) -> tuple[str, ...]:
    """The caveat of settings that rest on an assumption."""
    if BUILT_IN_ASSUMED in set(origins):
        return ("Where no override exists the release's built-in default is assumed: server.properties was not collected.",)
    return ()
