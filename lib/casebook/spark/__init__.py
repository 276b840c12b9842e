"""Spark: records of segments and topics -> tables. The only part that imports pyspark, and lazily."""

from casebook.spark.segments import segments
from casebook.spark.session import session, watched

__all__ = ["segments", "session", "watched"]
