"""Few rows of Python's as a data frame, for joins with many."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def small(spark: "SparkSession", rows: Iterable[Sequence], schema: str) -> "DataFrame":
    """Rows that every task gets.

    They go through Arrow: a list that Spark takes as it is costs a Python process a core, and a second to start them.

    Args:
        spark: From :func:`casebook.spark.session`.
        rows: Values by column; structs as tuples.
        schema: In Spark's words, ``"topic string, partition int"``.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    fields = to_arrow_schema(StructType.fromDDL(schema))
    held = list(rows)
    columns = [pa.array([row[place] for row in held], field.type) for place, field in enumerate(fields)]
    return spark.createDataFrame(pa.table(columns, schema=fields), StructType.fromDDL(schema)).hint("broadcast")
