"""Producers with transactions."""


def transactional(name: str) -> dict[str, object]:
    """Settings of one whose open transaction outlives any wait of a busy machine: by default it is aborted after a minute."""
    return {"transactional.id": name, "transaction.timeout.ms": 900_000}
