"""Spark: records of segments and topics -> tables. The only part that imports pyspark, and only when it is used."""

from casebook.scans.segments import segments
from casebook.scans.session import session, watched

__all__ = ["segments", "session", "watched"]
