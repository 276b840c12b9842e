"""Convert ledger cells of any format to rows of :data:`casebook.facts.records.LEDGER`, with Spark expressions only."""

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    FractionalType,
    IntegralType,
    NumericType,
    StringType,
    StructType,
    TimestampType,
)

from casebook.facts.records import SendOutcome
from casebook.formats.clients.ledger_columns import ABSENT, ACKED_WORDS, FAILED_WORDS, NOT_SO, FoundColumns, JavaPattern
from casebook.questions.loss.scans.ledger_files import once

_MOST_EXAMPLE = 300
_MOST_WORDS, _MOST_WORD = 20, 40

REASONS = {
    "malformed": "the line cannot be read as a row",
    "no_id": "it has no id",
    "no_match": "id_pattern does not match its id",
    "no_topic": "it has no topic",
    "partition": "its partition is no number",
    "offset": "its offset is no number",
}
"""Reasons for unusable rows; the first matching one counts."""

_DAY_AND_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
_ZONE = r" ?(Z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?)$"
_LOOKS_LIKE_A_TIME = r"^([0-9]{4}-[0-9]{2}-|[0-9]{9})"
_UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
"""Epoch times below each bound are in units of so many microseconds (s, ms, us), until the year 5138; above them ns."""
_LAST_EPOCH = 1e20


def read(frame: DataFrame, found: FoundColumns, ids: JavaPattern | None, topic: str | None, zone: str) -> DataFrame:
    """Return every row of a ledger, including unusable ones: the columns of LEDGER, and those for :func:`sums`.

    Args:
        frame: With ``cells``, ``malformed``, ``line`` and ``file``, from ``ledger_files.Table``.
        found: Detected columns.
        ids: Extracts the id from a text.
        topic: Topic of rows without one.
        zone: Zone of times without one.
    """
    cells = _Cells(frame, found.used)
    frame = once(frame, cells.prepared())
    frame = once(frame, _reads(cells, found, ids, topic))
    frame = once(frame, _outcome(found) | _moments(frame.schema, zone))
    odd = {
        "malformed": f.col("malformed"),
        "no_id": cells.text(found.id).isNull(),
        "no_match": f.col("id").isNull(),
        "no_topic": f.col("topic").isNull(),
        "partition": cells.given(found.partition).isNotNull() & f.col("partition").isNull(),
        "offset": cells.given(found.offset).isNotNull() & f.col("offset").isNull(),
    }
    frame = once(frame, {"reason": f.coalesce(*(f.when(odd[name], f.lit(name)) for name in REASONS))})
    line = f.concat_ws(": ", "file", f.substring(f.coalesce("line", f.to_json("cells")), 1, _MOST_EXAMPLE))
    return frame.select(
        *("id", "topic", "at", "sent", "outcome", "acks", "key", "producer", "consumer", "reason", "word", "odd_time", "assumed"),
        *(f.when(f.col(name) >= 0, f.col(name)).alias(name) for name in ("partition", "offset")),
        f.when(f.col("reason").isNotNull() | f.col("odd_time"), line).alias("example"),
    )


def _reads(cells: "_Cells", found: FoundColumns, ids: JavaPattern | None, topic: str | None) -> dict[str, Column]:
    """Return the values of single cells."""
    told = cells.text(found.id)
    return {
        "id": _filled(f.regexp_extract(told, ids.text, ids.first)) if ids else told,
        "topic": f.coalesce(_filled(f.trim(cells.text(found.topic))), f.lit(topic)),
        "partition": cells.number(found.partition, "int"),
        "offset": cells.number(found.offset, "bigint"),
        "acks": _acks(cells.word(found.acks)),
        "key": cells.text(found.key),
        "producer": cells.text(found.producer),
        "consumer": cells.text(found.group),
        **{f"{role} word": cells.word(getattr(found, role)) for role in ("outcome", "acked", "failed")},
        "time": _time(cells, found.times, found.acked),
        "sent time": _time(cells, tuple(filter(None, (found.sent,))), found.acked),
    }


class _Cells:
    """Cells of a ledger's rows, by type.

    Args:
        frame: With the struct ``cells``.
        names: Names of the cells.
    """

    def __init__(self, frame: DataFrame, names: Sequence[str]) -> None:
        self._types = {field.name: field.dataType for field in frame.schema["cells"].dataType.fields}
        self._numbers = {name: number for number, name in enumerate(names)}

    def prepared(self) -> dict[str, Column]:
        """Return the columns that :meth:`text` and :meth:`given` use."""
        texts = {f"text {number}": self._text(name) for name, number in self._numbers.items()}
        return texts | {f"given {number}": self._given(name) for name, number in self._numbers.items()}

    def text(self, name: str | None) -> Column:
        """Return a cell as text, null when empty or missing. A moment is in ISO 8601."""
        return f.lit(None).cast("string") if name is None else f.col(f"`text {self._numbers[name]}`")

    def given(self, name: str | None) -> Column:
        """Return a cell as text, null also for words that mean none."""
        return f.lit(None).cast("string") if name is None else f.col(f"`given {self._numbers[name]}`")

    def type(self, name: str) -> DataType:
        return self._types[name]

    def _is_text(self, name: str) -> bool:
        return isinstance(self._types[name], StringType | BinaryType)

    def raw(self, name: str) -> Column:
        return f.col("cells").getField(name)

    def _text(self, name: str) -> Column:
        raw, kind = self.raw(name), self._types[name]
        if self._is_text(name):
            return _filled(raw.cast("string"))
        if isinstance(kind, TimestampType):
            return f.date_format(raw, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX")
        if isinstance(kind, FractionalType):  # 7.0 in an integer column with gaps is 7
            return f.coalesce(f.when(raw == f.floor(raw), raw.try_cast("bigint")).cast("string"), raw.cast("string"))
        return raw.cast("string")

    def _given(self, name: str) -> Column:
        if not (self._is_text(name) or isinstance(self._types[name], FractionalType)):
            return self._text(name)
        text = f.trim(self._text(name))
        return f.when(~f.lower(text).isin(*sorted(ABSENT)), text)

    def word(self, name: str | None) -> Column:
        return f.lower(f.translate(self.given(name), "_", " "))

    def number(self, name: str | None, kind: str) -> Column:
        """Return a cell as an integer; null for other text."""
        if name is not None and isinstance(self._types[name], IntegralType):
            return self.raw(name).try_cast(kind)
        text = self.given(name)
        return f.coalesce(text.try_cast(kind), f.regexp_extract(text, r"^(-?[0-9]+)\.0*$", 1).try_cast(kind))


def _filled(text: Column) -> Column:
    return f.nullif(text, f.lit(""))


def _acks(word: Column) -> Column:
    """Normalise -1 to ``all`` (``ProducerConfig.java@2.8.2``)."""
    whole = f.regexp_replace(word, r"\.0$", "")
    return f.when(whole == "-1", "all").otherwise(whole)


def _outcome(found: FoundColumns) -> dict[str, Column]:
    """Return the outcome and its word."""
    if found.outcome is not None:
        word = f.col("outcome word")
        return {"outcome": f.coalesce(_said(word), f.lit(SendOutcome.UNKNOWN)), "word": f.coalesce(word, f.lit(""))}
    acked, failed = f.col("acked word"), f.col("failed word")
    at = acked.rlike(_LOOKS_LIKE_A_TIME)
    acked_says = f.coalesce(_said(acked), f.when(at, SendOutcome.ACKED), f.when(acked.isNotNull(), SendOutcome.UNKNOWN))
    not_so = failed.isin(*sorted(NOT_SO))
    has_failed = failed.isNotNull() & ~not_so
    alone = f.when(not_so, SendOutcome.ACKED) if found.acked is None else f.lit(None)
    outcome = (
        f.when(has_failed & (acked_says == SendOutcome.ACKED), SendOutcome.UNKNOWN)
        .when(has_failed, SendOutcome.FAILED)
        .otherwise(f.coalesce(acked_says, alone, f.lit(found.rest)))
    )
    words = f.when(at, found.acked).otherwise(acked), f.when(has_failed, found.failed).otherwise(failed)
    return {"outcome": outcome, "word": f.concat_ws(" and ", *words)}


def _said(word: Column) -> Column:
    return f.when(word.isin(*sorted(ACKED_WORDS)), SendOutcome.ACKED).when(word.isin(*sorted(FAILED_WORDS)), SendOutcome.FAILED)


def _time(cells: _Cells, names: Sequence[str], acked: str | None) -> Column:
    """Return the first filled time cell: with its type when all share one, else as text."""
    names = [name for name in names if not isinstance(cells.type(name), BooleanType)]
    if names and all(isinstance(cells.type(name), TimestampType) for name in names):
        return f.coalesce(*map(cells.raw, names))
    if names and acked not in names and all(isinstance(cells.type(name), NumericType) for name in names):
        return f.coalesce(*map(cells.raw, names)).try_cast("decimal(38,9)")
    texts = (f.when(_is_time(name, cells, acked), cells.given(name)) for name in names)
    return f.upper(f.translate(f.coalesce(*texts, f.lit(None).cast("string")), ",", "."))


def _moments(schema: StructType, zone: str) -> dict[str, Column]:
    """Return a row's moment, whether its time is invalid, whether it has no zone; and the send time of its record."""
    (at, bare), (sent, _) = (_moment(name, schema[name].dataType, zone) for name in ("time", "sent time"))
    return {"at": at, "odd_time": f.col("time").isNotNull() & at.isNull(), "assumed": bare, "sent": sent}


def _moment(name: str, kind: DataType, zone: str) -> tuple[Column, Column]:
    """Return the moment of a time, null when invalid, and whether it has no zone."""
    time = f.col(name)
    if isinstance(kind, TimestampType):
        return time, f.lit(False)
    if isinstance(kind, NumericType):
        return _of_epoch(time), f.lit(False)
    zoned, bare = time.rlike(_DAY_AND_TIME + _ZONE), f.coalesce(time.rlike(_DAY_AND_TIME + "$"), f.lit(False))
    of_bare = f.to_utc_timestamp(f.concat(time, f.lit("Z")).try_cast("timestamp"), zone)
    number = f.when(~time.contains("-"), time)
    return f.when(zoned, time.try_cast("timestamp")).when(bare, of_bare).otherwise(_of_epoch(number)), bare


def _is_time(name: str, cells: _Cells, acked: str | None) -> Column:
    """Return whether a cell is meant as a time: a column ``acked`` may hold a word instead."""
    return cells.given(name).rlike(_LOOKS_LIKE_A_TIME) if name == acked else f.lit(True)


def _of_epoch(number: Column) -> Column:
    """Convert an epoch time in any unit; null when invalid or negative."""
    exact = number.try_cast("decimal(38,9)")
    micros = f.when((exact < 0) | (exact >= _LAST_EPOCH), None)
    for bound, factor in _UNITS:
        micros = micros.when(exact < bound, exact * factor)
    return f.timestamp_micros(micros.otherwise(exact / 1000).cast("bigint"))


def sums(most: int) -> Iterator[Column]:
    """Yield the sums over the rows, for one pass.

    Args:
        most: Maximum number of topics, and of producer settings.
    """
    usable, example = f.col("reason").isNull(), f.col("example")
    odd = usable & f.col("odd_time")
    yield f.count_if(usable).alias("rows")
    for name in REASONS:
        yield f.count_if(f.col("reason") == name).alias(f"rows of {name}")
        yield f.min(f.when(f.col("reason") == name, example)).alias(f"example of {name}")
    for outcome in SendOutcome:
        yield f.count_if(usable & (f.col("outcome") == outcome)).alias(outcome)
    word = f.concat_ws(" ", "outcome", f.substring("word", 1, _MOST_WORD))
    yield f.call_function("approx_top_k", f.when(usable, word), f.lit(_MOST_WORDS + 1)).alias("words")  # 1: one may be null
    yield f.count_if(odd).alias("odd_times")
    yield f.min(f.when(odd, example)).alias("odd_time")
    yield f.count_if(usable & f.col("assumed")).alias("assumed")
    yield f.unix_millis(f.min(f.when(usable, f.col("at")))).alias("first")
    yield f.unix_millis(f.max(f.when(usable, f.col("at")))).alias("last")
    yield f.slice(f.array_sort(f.collect_set(f.when(usable, f.col("topic")))), 1, most).alias("topics")
    yield f.slice(f.collect_set(f.when(usable, f.struct("acks"))), 1, most).alias("acks")
    yield f.bool_or(usable & (f.col("outcome") == SendOutcome.ACKED) & f.col("offset").isNotNull()).alias("offsets")
    yield f.bool_or(usable & f.col("sent").isNotNull()).alias("has_sent")
