"""Times, as rows hold them."""

from typing import Annotated

EpochMs = Annotated[int, "epoch ms"]
"""Milliseconds since 1970-01-01 UTC; in the tables of a run an ISO-8601 text."""
