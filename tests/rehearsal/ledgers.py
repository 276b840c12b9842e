"""What a case must hold of what producers wrote down, and of what brokers stored of it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from casebook.case.case import Case


def entries(case: Case) -> list[dict[str, object]]:
    """The lines of all ledgers of a case."""
    return [json.loads(line) for path, _ in case.ledgers() for line in case.text_lines(path)]


def whole(case: Case, written: Path, *, acks: Mapping[str, str]) -> None:
    """Each client's ledger is in the case as the client wrote it, with its setting of acks in every line, and is no log."""
    assert {client for _, client in case.ledgers()} == acks.keys()
    for path, client in case.ledgers():
        assert (case.folder / path).read_text() == (written / f"{client}.jsonl").read_text()
        assert {json.loads(line)["acks"] for line in case.text_lines(path)} == {acks[client]}
    assert {path for path, _ in case.ledgers()}.isdisjoint(item.path for item, _ in case.logs())


def copied(case: Case, *, brokers: Collection[int], topics: Collection[str]) -> None:
    """The log dirs of all brokers are listed, and the segments of the topics are in the case."""
    assert {log_dir.broker for log_dir in case.log_dirs()} == set(brokers)
    for log_dir in case.log_dirs():
        assert {replica.topic for replica in log_dir.replicas if replica.copied} <= set(topics)
        for replica in log_dir.replicas:
            if replica.topic in topics:
                assert replica.copied
                assert all((Path(replica.place) / f"{one.base_offset:020d}.log").is_file() for one in replica.segments)
