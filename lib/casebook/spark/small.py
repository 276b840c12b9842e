"""Small Python rows as a data frame, for joins with large ones."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def small(spark: "SparkSession", rows: Iterable[Sequence], schema: str) -> "DataFrame":
    """Return rows for every task.

    They go through Arrow: a plain list costs Spark a Python process per core, and a second to start them.

    Args:
        spark: From :func:`casebook.spark.session`.
        rows: Values by column; structs as tuples.
        schema: Spark DDL, ``"topic string, partition int"``.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    fields = to_arrow_schema(StructType.fromDDL(schema))
    held = list(rows)
    columns = [pa.array([row[place] for row in held], field.type) for place, field in enumerate(fields)]
    return spark.createDataFrame(pa.table(columns, schema=fields), StructType.fromDDL(schema)).hint("broadcast")
