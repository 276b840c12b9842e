"""Where Spark finds ``kafka_topic`` by itself, in every session whose Python has this package.

When a format is asked for that Spark does not know, it imports what is named ``pyspark_*`` and takes the ``DefaultSource`` of
each (``python/pyspark/sql/worker/lookup_data_sources.py@v4.1.0``). Nobody pays for it who reads no topic: to register a source
for one session starts a Python worker at once.
"""

from casebook.spark.topics import TopicSource as DefaultSource

__all__ = ["DefaultSource"]
