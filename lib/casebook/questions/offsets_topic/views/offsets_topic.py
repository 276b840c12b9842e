"""Notebook 40: size of the offsets topic and its causes, compaction, load cost, damage."""

from collections.abc import Sequence

from markupsafe import Markup

from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.offsets_topic import Segment, SegmentDamage
from casebook.findings import words
from casebook.page import text
from casebook.page.render import anchor, render
from casebook.page.table import ALARM, CODE, NUMBER, PLAIN, TEXT, UNBROKEN, Row, Table, numbers, or_unknown, unknown
from casebook.page.view import View, html
from casebook.questions.offsets_topic.analysis.cleaner import BLOCKED, RULES, BrokerCleaner, CleanerVerdict, without_log_dir
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.views import segment_ages, writers

MOST_ROWS, _MOST_SEGMENTS = 200, 20


def overview(topic: OffsetsTopic) -> View:
    """Show every copy of every partition: size, live part, cleaner point, verdict."""
    rows = topic.partitions
    table = Table(
        name="offsets-partitions",
        columns=(
            ("Partition", NUMBER),
            ("Broker", NUMBER),
            ("Segments", NUMBER),
            ("Size", NUMBER),
            ("Live", NUMBER),
            ("Dirty ratio", NUMBER),
            ("A clean removes", NUMBER),
            ("A load takes", NUMBER),
            ("Why it is not smaller", TEXT),
        ),
        rows=[_partition_row(row) for row in rows[:MOST_ROWS]],
        takeaway=_size_of_all(rows),
        reading="Largest first.",
        total=len(rows),
        rest="offsets_partitions",
        search=True,
        wide=True,
    )
    shown = sorted({row.rule for row in rows[:MOST_ROWS]})
    rules = [(rule, RULES[rule]) for rule in shown]
    view = render("verdicts", table=table, rules=rules, version=topic.version.version)
    return html(view)


def by_age(topic: OffsetsTopic, copy: OffsetsPartition | None) -> View:
    """Show the age of a copy's segments, their superseded part, and the position of the latest values."""
    if copy is None:
        return _nothing()
    segments = topic.segments(copy.broker, copy.partition)
    drawn = segment_ages.spans(segments)
    takeaway = _age_takeaway(copy)
    if not drawn:
        return html(render("caption", takeaway=takeaway, reading="No segment was read, so the age is unknown."))
    cleaned_to = _cleaned_to(topic, copy)
    note = f"cleaner checkpoint: offset {copy.cleaner_point or 0}; everything to the right is dirty"
    reading = "Hatched: superseded. The lower scale is logarithmic, with a label per stem; times are commit times in UTC."
    caption = render("caption", takeaway=takeaway, reading=reading)
    chart = {"cleaned_to": cleaned_to, "note": note, "alternative": takeaway}
    return View(parts=(caption, segment_ages.figure(drawn, **chart), _segments(segments)))


def who_writes(topic: OffsetsTopic, copy: OffsetsPartition | None) -> View:
    """Show the groups by bytes written."""
    if copy is None:
        return _nothing()
    return writers.bars(topic.writers(copy), topic.of(copy).group_bytes)


def why_not_cleaned(topic: OffsetsTopic, copy: OffsetsPartition | None) -> View:
    """Show the verdict on the cleaner of a copy's broker, with its numbers; without a copy, on each cleaner."""
    if copy is None:
        return _cleaners_alone(topic)
    verdict = topic.verdicts.get((copy.broker, copy.partition))
    cleaner = next((one for one in topic.cleaners if one.broker == copy.broker), None)
    proof = verdict.proof if verdict else None
    rows = [*_verdict_rows(copy, verdict, proof), *_cleaner_rows(cleaner), *_growth_rows(topic, copy)]
    command = _buffer_setting(cleaner) if cleaner else ""
    view = render("cleaner", title=f"{copy.rule}: {RULES[copy.rule]}", why=copy.why, rows=rows, command_line=command)
    return html(view, cites=tuple(place for place in [proof] if place and ":" in place))


def _cleaners_alone(topic: OffsetsTopic) -> View:
    """Show each broker's cleaner from logs and settings."""
    told = [(cleaner, *without_log_dir(cleaner)) for cleaner in topic.cleaners]
    if not told:
        return _nothing()
    views = [
        render(
            "cleaner",
            title=f"Broker {cleaner.broker}, {rule}: {RULES[rule]}",
            why=why,
            rows=[*([("Since", _since(since, proof))] if since else []), *_cleaner_rows(cleaner)],
            command_line=_buffer_setting(cleaner),
        )
        for cleaner, rule, why, since, proof in told
    ]
    return html(*views, cites=tuple(proof for *_, proof in told if proof))


def _nothing() -> View:
    return html(
        render("caption", takeaway="No copy of the offsets topic is in this evidence.", reading="Collect it with --log-dirs.")
    )


def settings(topic: OffsetsTopic) -> View:
    """Show the topic's settings, each with its origin."""
    table = Table(
        name="offsets-settings",
        columns=(("Setting", CODE), ("Value", CODE), ("Origin", TEXT)),
        rows=[(PLAIN, (v.name, or_unknown(v.value), v.origin)) for v in topic.settings],
        label="Settings of the offsets topic with their origin",
    )
    return html(render("plain_table", table=table))


def damage(topic: OffsetsTopic) -> View:
    """Show bytes without a readable batch, and records that could not be decoded."""
    found = topic.scanned.damage
    if not found:
        said = (
            "All bytes of the segments that were read belong to sound batches."
            if topic.scanned.segments
            else "No segment was read."
        )
        return html(render("caption", takeaway=said, reading=""))
    table = Table(
        name="damage",
        columns=(("File", CODE), ("Position", NUMBER), ("Bytes", NUMBER), ("Offset", NUMBER), ("Reason", TEXT)),
        rows=[
            (
                PLAIN if one.tail else ALARM,
                (
                    "/".join(one.file.rsplit("/", 2)[-2:]),
                    one.position,
                    words.count(one.bytes),
                    or_unknown(one.offset),
                    one.reason,
                ),
            )
            for one in found[:MOST_ROWS]
        ],
        takeaway=f"{words.plural(len(found), 'byte range')} could not be read, {text.size(_bytes(found))} in all.",
        reading="A torn tail is normal in a copy of a segment that was being written.",
        total=len(found),
        rest="damage",
    )
    return html(render("plain_table", table=table))


def _bytes(found: Sequence[SegmentDamage]) -> int:
    return sum(one.bytes for one in found)


def _partition_row(row: OffsetsPartition) -> Row:
    load = or_unknown(row.load_ms, text.duration)
    return ALARM if row.rule in BLOCKED else PLAIN, (
        row.partition,
        Markup("{}{}").format(row.broker, Markup(" <small>coordinator</small>") if row.coordinator else ""),
        words.count(row.segments),
        text.size(row.bytes),
        or_unknown(row.live_bytes, text.size),
        unknown() if row.dirty_ratio is None else f"{row.dirty_ratio:.2f}",
        or_unknown(row.next_clean_gains, text.size),
        load,
        f"{row.rule}: {row.why}",
    )


def _size_of_all(rows: Sequence[OffsetsPartition]) -> str:
    if not rows:
        return "No copy of the offsets topic is in this evidence."
    total = sum(row.bytes for row in rows)
    read = [row for row in rows if row.live_bytes is not None]
    live = sum(row.live_bytes for row in read)
    said = f"{words.plural(len(rows), 'copy', 'copies')} of partitions, {text.size(total)} in all"
    return (
        f"{said}; {text.size(live)} of the {text.size(sum(r.bytes for r in read))} read are latest values."
        if read
        else f"{said}."
    )


def _age_takeaway(copy: OffsetsPartition) -> str:
    name = f"{OFFSETS_TOPIC}-{copy.partition} of broker {copy.broker}"
    if copy.live_bytes is None:
        return f"{name} has {words.plural(copy.segments, 'segment')} of {text.size(copy.bytes)} in all."
    return (
        f"{text.size(copy.bytes)} in {words.plural(copy.segments, 'segment')} for {text.size(copy.live_bytes)} of latest values: "
        f"{words.count(copy.live_records)} of them, in {words.plural(copy.live_segments, 'segment')}."
    )


def _cleaned_to(topic: OffsetsTopic, copy: OffsetsPartition) -> int | None:
    """Return when the first dirty segment began."""
    verdict = topic.verdicts.get((copy.broker, copy.partition))
    if verdict is None or verdict.dirt is None:
        return None
    dirty = [s for s in topic.segments(copy.broker, copy.partition) if s.base_offset >= verdict.dirt.first_segment]
    return next((segment.first_time for segment in dirty if segment.first_time is not None), None)


def _segments(segments: Sequence[Segment]) -> Markup:
    ranked = sorted(segments, key=lambda s: (-s.live_records, s.base_offset))
    table = Table(
        name="segments",
        columns=(
            ("Base offset", CODE),
            ("Begun, UTC", UNBROKEN),
            ("Size", NUMBER),
            ("Records", NUMBER),
            ("Latest values", NUMBER),
            ("Safe to remove", TEXT),
        ),
        rows=[
            (
                PLAIN,
                (
                    s.base_offset,
                    words.when(s.first_time),
                    text.size(s.bytes),
                    words.count(s.records),
                    words.count(s.live_records),
                    "✓ provably" if s.safe_to_do_without else "no",
                ),
            )
            for s in ranked[:_MOST_SEGMENTS]
        ],
        label="Segments by latest values",
        total=len(ranked),
        rest="offsets_segments",
    )
    shown = min(len(ranked), _MOST_SEGMENTS)
    return numbers(table, f"The numbers ({words.plural(len(ranked), 'segment')}; top {shown} by latest values)")


def _verdict_rows(copy: OffsetsPartition, verdict: CleanerVerdict | None, proof: str | None) -> list[tuple[str, object]]:
    since = _since(copy.since, proof) if copy.since else None
    ratio = None if copy.dirty_ratio is None else f"{copy.dirty_ratio:.2f}, limit {'?' if copy.limit is None else copy.limit}"
    rows = [
        ("Since", since or (_link(proof) if proof else None)),
        (
            "Cleaner checkpoint",
            "none: never cleaned, or unknown" if copy.cleaner_point is None else f"offset {copy.cleaner_point}",
        ),
        ("Dirty ratio", ratio),
        ("Dirty", f"{text.size(verdict.dirt.cleanable_bytes)} can be cleaned" if verdict and verdict.dirt else None),
        ("A clean removes", None if copy.next_clean_gains is None else text.size(copy.next_clean_gains)),
        ("Map must hold", None if copy.next_clean_keys is None else f"{words.plural(copy.next_clean_keys, 'key')} in its map"),
    ]
    return [(name, value) for name, value in rows if value is not None]


def _cleaner_rows(cleaner: BrokerCleaner | None) -> list[tuple[str, object]]:
    if cleaner is None:
        return []
    own = cleaner.settings
    killer = f"{cleaner.died.topic}-{cleaner.died.partition}" if cleaner.died and cleaner.died.topic else None
    rows = [
        ("By", Markup("<code>{}</code>").format(killer) if killer else None),
        ("Span", f"{words.count(cleaner.need)} offsets; the map holds {words.count(cleaner.holds)}" if cleaner.need else None),
        ("Settings", Markup("<code>log.cleaner.enable</code> {} ({})").format(own.enabled.value or "?", own.enabled.origin)),
        ("Buffer", f"{text.size(own.buffer.whole)}, {own.threads.value or '?'} thread(s) ({own.buffer.origin})"),
        (
            "Needs",
            f"≥ {text.size(cleaner.least_buffer)}; set {text.size(cleaner.buffer_to_set)}" if cleaner.least_buffer else None,
        ),
        ("Last clean", words.date(cleaner.last_cleaned.time) if cleaner.last_cleaned else None),
    ]
    return [(name, value) for name, value in rows if value is not None]


def _growth_rows(topic: OffsetsTopic, copy: OffsetsPartition) -> list[tuple[str, object]]:
    growth, onset = topic.growth(copy), topic.onset(copy)
    rows: list[tuple[str, object]] = []
    at_least = "" if copy.is_whole else "at least "
    if growth.bytes_per_day is None and growth.seen is not None:
        seen = f"{at_least}{text.size(growth.bytes_seen)} in the observed {text.duration(growth.seen)}"
        rows.append(("Growth", f"{seen}: too short for a daily rate"))
    if growth.bytes_per_day is not None:
        then = f"; the load then takes {text.duration(growth.load_ms_then)}" if growth.load_ms_then is not None else ""
        said = f"{at_least}{text.size(growth.bytes_per_day)} a day; {text.size(growth.bytes_then)} in {growth.days} days{then}"
        rows.append(("Growth", said))
    if onset is not None:
        rise = f", from {text.size(onset.bytes_before)} to {text.size(onset.bytes_after)} a week"
        rows.append(("Rose", Markup("week of {}: <code>{}</code>{}").format(words.day(onset.week), onset.group, rise)))
    return rows


def _since(moment: int, proof: str | None) -> Markup:
    return Markup("{} {}").format(words.date(moment), _link(proof))


def _buffer_setting(cleaner: BrokerCleaner) -> str:
    return f"log.cleaner.dedupe.buffer.size={cleaner.buffer_to_set}" if cleaner.buffer_to_set else ""


def _link(place: str | None) -> Markup:
    if not place:
        return Markup()
    short = place.rsplit("/", 1)[-1]
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>{}</code></a>').format(anchor(place), place, short)
