"""Refuse addresses with passwords before any other step: they would be recorded and shown."""

from casebook.collect.redaction.rules import without_addresses
from casebook.errors import UsageError


def has_password(address: str) -> bool:
    """Whether a URI or ``host:port`` contains a user's password, a token or a signature."""
    text = address.encode(errors="replace")
    return without_addresses(text) != text


def refuse_passwords(what: str, *addresses: str | None) -> None:
    """Refuse addresses with passwords, without repeating any.

    Args:
        what: Option they were given with, e.g. ``--zookeeper``.
        addresses: ``None`` for none.

    Raises:
        UsageError: One has a password.
    """
    if any(address is not None and has_password(address) for address in addresses):
        raise UsageError(
            f"An address in {what} has a password, a token or a signature in it.",
            cause="It would be stored in the case or the run, so it was not used; it is not repeated here.",
            try_="Remove it from the address. ZooKeeper: --credentials FILE; object stores: environment or configuration.",
        )
