"""kafka-casebook: explains Kafka incidents from evidence alone, with the proof beside every number.

The way of the data: evidence -> collect -> case -> facts -> analysis -> findings and tables -> views -> notebook -> report.
"""

from importlib.metadata import version as _version

__version__ = _version("kafka-casebook")
