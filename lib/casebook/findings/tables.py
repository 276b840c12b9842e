"""The tables of a run and the meaning of their columns: the contract with scripts that read ``tables/<name>.parquet``."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.facts.cluster import instant
from casebook.machine import private, whole

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Args:
        name: As in the file, and as the attribute of the row, but where that name is a word of Python.
        type: ``int``, ``ints``, ``real``, ``text``, ``texts``, ``flag``, ``json``: a mapping of texts in the row, a JSON
            object in the file, or ``time``: epoch milliseconds in the row, ISO-8601 UTC in the file. Each may be null: unknown,
            unless ``meaning`` says otherwise.
        meaning: One sentence.
    """

    name: str
    type: str
    meaning: str


_ATTRIBUTES = {"class": "verdict"}


def _columns(*columns: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=type_, meaning=meaning) for name, type_, meaning in columns)


TABLES: dict[str, tuple[Column, ...]] = {
    "partitions": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("replicas", "ints", "Assignment in order; the first is the preferred leader. During a reassignment the union."),
        ("isr", "ints", "In-sync replicas as stored; null when the state is missing or unreadable."),
        ("leader", "int", "Leader named by the state; null when none, or unknown."),
        ("leader_epoch", "int", "Leader epoch of the state."),
        ("controller_epoch", "int", "Epoch of the controller that last wrote the state."),
        ("state_version", "int", "Version of the state znode: counts its writes, of the leader's and the controller's."),
        ("live_replicas", "ints", "Replicas on registered brokers."),
        ("state", "text", "online, leaderless, leader_dead, uninitialised, deleting, reassigning or unknown."),
        ("rule", "text", "Id of the rule that blocks an election; null when nothing is blocked."),
        ("clean_winner", "int", "Whom a clean election held now would choose; null when it could choose nobody."),
        (
            "unclean_winner",
            "int",
            "Whom an unclean one would choose if it were allowed; null with a clean winner or no live replica.",
        ),
        ("waits_for", "ints", "Dead brokers, each of which would bring the partition back by starting alone."),
        ("min_isr", "int", "Effective min.insync.replicas."),
        ("min_isr_origin", "text", "Where min_isr comes from."),
        ("unclean_allowed", "flag", "Effective unclean.leader.election.enable."),
        ("unclean_origin", "text", "Where unclean_allowed comes from."),
        (
            "under_replicated",
            "flag",
            "Fewer replicas in sync than the replication factor, without those being added; null also for a deleted topic.",
        ),
        ("under_min_isr", "flag", "No leader, or fewer replicas in sync than min_isr: acks=all is refused."),
        ("at_min_isr", "flag", "Online with exactly min_isr replicas in sync."),
        ("since", "text", "Last write of the state znode, ISO-8601 UTC by ZooKeeper's clock."),
        ("why", "text", "The verdict in one sentence."),
    ),
    "plan": _columns(
        ("act", "text", "What is ordered, e.g. start, back_up, wait, restart."),
        ("brokers", "ints", "Whom it is about, in order."),
        ("text", "text", "The order, with its object and reason."),
        ("command", "text", "The exact command, where there is one."),
        ("never", "texts", "What not to do meanwhile, each with its price."),
        ("checks", "texts", "Those whose findings it answers."),
    ),
    "start_first": _columns(
        ("step", "int", "1 for the first broker to start, 2 for the second, and so on."),
        ("broker", "int", "A broker that is dead at this step."),
        ("heals", "int", "Partitions that get a leader by starting it at this step."),
        ("chosen", "flag", "Whether it is the best choice of its step; the next step begins after it."),
        ("still_offline_after", "int", "Partitions without leader after it."),
    ),
    "controller_epochs": _columns(
        ("controller_epoch", "int", "A controller epoch found in partition states."),
        ("partitions", "int", "Partitions whose state was last written under it."),
        ("first_write", "text", "Earliest of those writes, ISO-8601 UTC by ZooKeeper's clock."),
        ("last_write", "text", "Latest of those writes."),
    ),
    "what_if": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("leader_before", "int", "Leader in the evidence; null for none."),
        ("leader_before_dead", "flag", "That leader is not registered."),
        ("leader_after", "int", "Leader after; null for none."),
        ("isr_before", "ints", "In-sync replicas in the evidence."),
        ("isr_after", "ints", "In-sync replicas after."),
        ("healed", "flag", "Had no living leader and gets one whose log dirs hold it, as far as they were listed."),
        ("offline", "flag", "Has no living leader after."),
        ("unclean", "flag", "Its leader comes from an unclean election."),
        ("dropped", "int", "Records that are dropped; null for an unknown number."),
        ("why", "text", "One short sentence."),
    ),
    "coordinators": _columns(
        ("group", "text", "Group id; null for an offsets partition of which no group is known."),
        ("partition", "int", "Partition of __consumer_offsets."),
        ("coordinator", "int", "Broker id; null when there is none, or nothing says."),
        ("state", "text", "served, loading, queued, failed, moved, leaderless, loading_for_ever or unknown."),
        (
            "since",
            "text",
            "From when on, ISO-8601 UTC: by the broker's clock, or ZooKeeper's where its znode says.",
        ),
        ("eta_low", "text", "Served at the earliest, ISO-8601 UTC by the broker's clock; nine times of ten within the bounds."),
        ("eta", "text", "Served at, best guess."),
        ("eta_high", "text", "Served at the latest; null without bound."),
        ("bytes", "int", "Of the partition's log, in the coordinator's copy, else the largest."),
        ("client_sees", "text", "What the group's clients are answered."),
        ("rests_on", "text", "What the estimate rests on, or why there is none."),
        ("why", "text", "The state in one sentence."),
        ("proof", "text", "Line of a log, or znode."),
        ("group_proof", "text", "Line of a log that names the group, where no segment does."),
    ),
    "blast_radius": _columns(
        ("broker", "int", "Broker that coordinates."),
        ("partitions", "int", "Offsets partitions it coordinates."),
        ("groups", "int", "Known groups among them."),
        ("bytes", "int", "What others would have to load before they serve them; null when a size is unknown."),
        ("alone", "ints", "Partitions that nobody else in sync could take over."),
    ),
    "offsets_partitions": _columns(
        ("partition", "int", "Partition of __consumer_offsets."),
        ("broker", "int", "Whose copy it is."),
        ("coordinator", "flag", "Whether that broker leads the partition; null when the leader is unknown."),
        ("segments", "int", "Segment files."),
        ("bytes", "int", "Of them."),
        ("records", "int", "In them, with transaction markers; null where no scan read them."),
        ("unread_bytes", "int", "Of the bytes: what the scan could not read; null where no scan read any."),
        ("live_bytes", "int", "Of the latest record of every key, tombstones included."),
        ("live_records", "int", "Those records."),
        ("superseded_bytes", "int", "All others that were read."),
        ("commits", "int", "Commits that OffsetFetch answers."),
        ("groups", "int", "Groups with a commit or metadata."),
        (
            "cleaner_point",
            "int",
            "First offset that was never cleaned, by cleaner-offset-checkpoint; null: no line, or not read.",
        ),
        ("dirty_ratio", "real", "By the broker's own formula; null when there is nothing to clean, or the log dir is not known."),
        ("limit", "real", "Effective min.cleanable.dirty.ratio."),
        ("next_clean_gains", "int", "Bytes that a clean of all that may be cleaned would free."),
        ("safe_segments", "int", "Segments provably safe to do without."),
        ("safe_bytes", "int", "Their size."),
        ("load_ms", "int", "What a coordinator's load of this copy takes; null when nothing tells."),
        ("rule", "text", "Verdict on its cleaning: id of a rule."),
        ("why", "text", "The verdict in one sentence."),
        ("since", "time", "From when it holds, ISO-8601 UTC by the broker's clock."),
        ("oldest", "time", "Time of its first record."),
        ("newest", "time", "Time of its last record."),
    ),
    "offsets_segments": _columns(
        ("topic", "text", "__consumer_offsets."),
        ("partition", "int", "Its partition."),
        ("broker", "int", "Whose copy it is."),
        ("base_offset", "int", "From the file's name."),
        ("bytes", "int", "Of its sound batches."),
        ("records", "int", "Without transaction markers."),
        ("live_records", "int", "Latest of their key in the partition, tombstones included."),
        ("live_bytes", "int", "Their share of the segment."),
        ("tombstones", "int", "Records without value."),
        ("markers", "int", "Transaction markers."),
        ("open_transactional", "int", "Records of transactions without marker."),
        ("first_time", "time", "Earliest record or commit time, ISO-8601 UTC; in compacted logs, of what is left."),
        ("last_time", "time", "Latest record or commit time."),
        ("largest_batch", "int", "Bytes."),
        ("keepers", "int", "Records for which it is not safe to do without it, tombstones aside."),
        ("safe_to_do_without", "flag", "Without it, and all others so marked, every answer stays the same."),
        ("damaged_bytes", "int", "Bytes that no batch could be read from."),
    ),
    "group_bytes": _columns(
        ("broker", "int", "Whose copy was read."),
        ("partition", "int", "Partition of __consumer_offsets."),
        ("group", "text", "Group id; null for records that name none."),
        ("topic", "text", "Whose offsets it commits; null for its own metadata."),
        ("hour", "time", "Start of the hour of the commits, ISO-8601 UTC; null for smaller groups, whose hours are summed up."),
        ("records", "int", "Commits, tombstones and metadata records."),
        ("bytes", "int", "Their share of the segments."),
        ("live_bytes", "int", "Of those that are the latest of their key."),
        ("client", "text", "Client ids of the group's latest members."),
    ),
    "commits": _columns(
        ("group", "text", "Group id."),
        ("topic", "text", "Committed topic."),
        ("partition", "int", "Committed partition."),
        ("offset", "int", "What OffsetFetch answers."),
        ("commit_time", "time", "By the broker's clock, ISO-8601 UTC."),
        ("expire_time", "time", "When the coordinator may forget it; null when it does not, or that is not known."),
        ("broker", "int", "Whose copy was read."),
        ("log_partition", "int", "Partition of __consumer_offsets that holds it."),
        ("source_offset", "int", "Offset of the record there."),
        ("segment", "int", "Base offset of the record's segment."),
    ),
    "damage": _columns(
        ("file", "text", "Path or URI of the segment."),
        ("position", "int", "First byte."),
        ("bytes", "int", "How many were skipped."),
        ("offset", "int", "Offset that the first header states; null when it makes no sense."),
        ("reason", "text", "In words."),
        ("tail", "flag", "The file ends in it, torn or in zeros, as a copy of a segment that is being written does."),
    ),
    "deletion": _columns(
        ("partition", "int", "Partition of __consumer_offsets."),
        ("choice", "text", "The set: nothing, provably safe, older, below an offset, all but the active, picked."),
        ("segments", "int", "How many segments it has."),
        ("bytes", "int", "Their size."),
        ("load_ms", "int", "What a load would then take; null when no load was measured."),
        ("commits_lost", "int", "Commits that OffsetFetch would no longer answer."),
        ("fell_back", "int", "Commits that would be answered with an older record."),
        ("again", "int", "Records that would be consumed again for these."),
        ("revived", "int", "Removed or expired commits that would be answered again."),
        ("groups_emptied", "int", "Groups that would have no commit left."),
        ("metadata_lost", "int", "Groups whose latest metadata would go."),
        ("open_lost", "int", "Records of open transactions that would go."),
        ("verdict", "text", "same answers, what is worst about it, or that it is not known."),
    ),
    "lost_commits": _columns(
        ("choice", "text", "The set of segments that would go, as in deletion; ten thousand rows of each set at most."),
        ("group", "text", "Group id."),
        ("topic", "text", "Committed topic."),
        ("partition", "int", "Committed partition."),
        ("change", "text", "lost, falls back to an older commit, or comes back though it was removed or had expired."),
        ("offset", "int", "What OffsetFetch answers now; null for none."),
        ("commit_time", "time", "When that was committed, by the broker's clock."),
        ("remains", "int", "What OffsetFetch would answer; null for none: its consumer starts by auto.offset.reset."),
        ("remains_time", "time", "When that was committed."),
        ("log_partition", "int", "Partition of __consumer_offsets that holds it."),
    ),
    "events": _columns(
        ("time", "time", "By the clock of who wrote it, ISO-8601 UTC; null where the line bears no date."),
        ("at", "time", "The same moment by the reference clock, ZooKeeper's where that is known: the order of the rows."),
        ("source", "text", "broker, zookeeper or client: whose log; history: ZooKeeper's transactions."),
        ("broker", "int", "Whose log, or whom a transaction is about."),
        ("file", "text", "Path inside the case."),
        ("line", "int", "Line in it; null for a transaction."),
        ("zxid", "int", "Of a transaction."),
        ("level", "text", "As printed."),
        ("kind", "text", "What it means: a kind of lib/casebook/formats/broker/log_patterns.tsv."),
        ("topic", "text", "The partition it is about."),
        ("partition", "int", "The partition it is about."),
        ("group", "text", "The consumer group it is about."),
        ("fields", "json", "Everything else that it tells, by name, as printed."),
        ("text", "text", "The entry: its message and the lines after it."),
    ),
    "windows": _columns(
        ("kind", "text", "two_leaders, leaderless, under_min_isr or loading."),
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("opened", "time", "By the reference clock, ISO-8601 UTC, at the latest; null: before the evidence begins."),
        ("closed", "time", "At the latest; null: not before the evidence ends."),
        ("old_leader", "int", "Who led before, or believed to; null where nobody did."),
        ("new_leader", "int", "Who led next; of loading the coordinator."),
        ("opened_proof", "text", "Line or transaction that tells of its begin; of an open end where the evidence begins."),
        ("closed_proof", "text", "Line or transaction that tells of its end; of an open end where the evidence ends."),
        ("silent", "time", "Up to here the old leader printed nothing and may have stood still; null where nothing tells."),
        ("at_most", "flag", "It may have been shorter: evidence that tells its begin or end is missing, or was not read."),
        ("opened_earliest", "time", "It may have opened since then; null where opened is when it did, as far as is known."),
        ("closed_earliest", "time", "It may have closed since then; null where closed is when it did."),
        ("possible", "flag", "Nobody knows whether it was open at all: what the old leader did was not read."),
    ),
    "partition_history": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("time", "time", "When the state was written, ISO-8601 UTC by the reference clock."),
        ("zxid", "int", "Transaction; null where only a log tells of it."),
        ("leader", "int", "Null for -1, and from a deletion on."),
        ("leader_epoch", "int", "Null where unknown."),
        ("isr", "ints", "In-sync replicas as stored; null where unknown."),
        ("controller_epoch", "int", "Of the controller that wrote it."),
        ("until", "time", "The last moment that is known of it, where transactions are missing; null: it was so until the next."),
    ),
    "reconciliation": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number; null where nothing tells it."),
        ("class", "text", "What became of the records: docs/rules.md; reordered ones are counted beside the others."),
        ("records", "int", "So many."),
    ),
    "lost": _columns(
        ("id", "text", "Record id, as the ledger has it."),
        ("topic", "text", "Topic name."),
        ("partition", "int", "As acknowledged; null when the ledger does not say."),
        ("offset", "int", "As acknowledged; null when the ledger does not say."),
        ("acked_at", "time", "When its producer was told, or else when it was sent; by the application's clock, ISO-8601 UTC."),
        ("class", "text", "lost, or alarm: outside every window."),
        (
            "cause",
            "text",
            "deposed_leader, isr_of_one, unclean_election, cut_at_start, disk_lost, never_received, acks_0, either_window; null: "
            "alarm.",
        ),
        ("window", "text", "The change of leader that took it, UTC; of several that may have, either or; empty without."),
        ("evidence", "text", "What proves it, with path:line or transaction; empty for nothing."),
        ("there_id", "text", "Id of the record that lies at its offset today; null where none does."),
        ("there_epoch", "int", "Leader epoch of that record; null in formats 0 and 1."),
        ("acks", "text", "The producer's setting, as the ledger has it."),
        ("key", "text", "As the ledger has it."),
        ("producer", "text", "As the ledger has it."),
    ),
    "group_offsets": _columns(
        ("group", "text", "Consumer group that keeps its offsets in ZooKeeper."),
        ("topic", "text", "Committed topic."),
        ("partition", "int", "Committed partition."),
        ("offset", "int", "The next that it would read."),
        ("at", "time", "When it was committed, by ZooKeeper's clock, ISO-8601 UTC."),
    ),
    "cut_ranges": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("broker", "int", "The old leader."),
        ("from_offset", "int", "First offset that may have gone."),
        ("to_offset", "int", "Offset after the last known to have been there: at least so many went; null: perhaps none."),
        ("at", "time", "When the old leader gave up, by the reference clock, ISO-8601 UTC."),
        ("epoch", "int", "Leader epoch that wrote them."),
        ("next_epoch", "int", "Leader epoch that took their place."),
        ("why", "text", "In words."),
        ("proof", "text", "Line or transaction."),
    ),
    "loss_estimates": _columns(
        ("change", "int", "Number of the change of leader."),
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("milliseconds", "int", "For how long records may have been missing; null when its end is unknown."),
        ("slowest", "real", "Records a millisecond, the slowest growth of the log seen around it; null when none was seen."),
        ("fastest", "real", "The fastest."),
        ("least", "int", "Known to have been cut away; 0 where nothing is known of that."),
        ("most", "int", "At the fastest growth for all of that time: an estimate; null when unknown."),
        ("why", "text", "Why there is no upper bound; empty with one."),
    ),
    "divergence": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("first_offset", "int", "First offset over which the copies differ in this way."),
        ("last_offset", "int", "Last one."),
        ("brokers", "ints", "Whose copies were held against each other."),
        ("holds", "json", "What each of them holds there, in words, by broker."),
        ("kind", "text", "different, missing, other_epochs or behind."),
        ("silent", "flag", "Other records and equal ends: no lag shows it."),
    ),
    "unclean_price": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("candidate", "int", "Broker that would lead."),
        ("records", "int", "What the best copy holds and the candidate does not; null when it cannot be told."),
        ("bytes", "int", "Their share of their batches."),
        ("from_time", "time", "Earliest record time of them, ISO-8601 UTC."),
        ("to_time", "time", "Latest."),
        ("best", "int", "Broker whose copy is the measure."),
        ("end", "int", "Where the candidate's log ends."),
        ("why", "text", "Why there is no price; empty when there is."),
    ),
    "unprocessed": _columns(
        ("id", "text", "As it is stored; null where none was found in it."),
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("offset", "int", "Its own."),
        ("group", "text", "Who committed it, and never processed it."),
        ("how", "text", "committed_before_processing, crash, another_thread, skipped_by_reset, passed_over or cannot tell."),
        ("committed_at", "time", "When the commit came that passed it for good, by the broker's clock, ISO-8601 UTC."),
        ("since", "int", "From where that commit went on."),
        ("until", "int", "What it committed."),
        ("log_partition", "int", "Of __consumer_offsets, where the commit lies."),
        ("source_offset", "int", "Its offset there."),
        ("segment", "int", "Base offset of its segment."),
    ),
    "commit_steps": _columns(
        ("group", "text", "Who committed."),
        ("topic", "text", "Committed topic."),
        ("partition", "int", "Committed partition."),
        ("before", "int", "What was committed before."),
        ("offset", "int", "What it commits."),
        ("before_at", "time", "When the one before was, ISO-8601 UTC."),
        ("at", "time", "When it was."),
        ("kind", "text", "reset, again, to_start, stale, back or late."),
        ("log_partition", "int", "Of __consumer_offsets, where it lies."),
        ("source_offset", "int", "Its offset there."),
        ("segment", "int", "Base offset of its segment."),
    ),
    "host_samples": _columns(
        ("broker", "int", "Whose host, as the file was given for it."),
        ("host", "text", "As the file names it; empty where it does not."),
        ("at", "time", "End of the interval, by the reference clock, ISO-8601 UTC; null: unknown."),
        ("metric", "text", "What was measured: a key of METRICS in lib/casebook/facts/host_metrics.py."),
        ("device", "text", "Interface, disk, or which CPUs; empty where there is but one."),
        ("value", "real", "Mean of the interval, or, of what is counted at a moment, that."),
        ("unit", "text", "bit/s, B/s, %, ms, /s, or empty for a count."),
        ("span", "int", "Milliseconds of the interval; 0 for a moment; null where nothing tells."),
        ("zoned", "flag", "Its time is known in UTC; else it was read in the zone of the broker's log."),
        ("proof", "text", "path:line of the file in the case."),
    ),
    "host_clues": _columns(
        ("broker", "int", "Whose host."),
        ("kind", "text", "high, low, full or started: docs/rules.md."),
        ("metric", "text", "As in host_samples; empty of a start."),
        ("device", "text", "As in host_samples; of a start who tells of it, kernel or sysstat."),
        ("value", "real", "The most of it, or of low the least; null of a start."),
        ("usual", "real", "Median of all its samples; null of a start."),
        ("unit", "text", "Of both."),
        ("samples", "int", "How many there are; 0 of a start."),
        ("since", "time", "It began then or later, by the reference clock, ISO-8601 UTC; null: before the samples begin."),
        ("by", "time", "It had begun."),
        ("until", "time", "It lasted at least until then."),
        ("during", "text", "What happened meanwhile."),
        ("proof", "text", "path:line of the sample that is farthest out."),
    ),
    "untyped": _columns(
        ("logger", "text", "As printed; null where the lines do not tell."),
        ("level", "text", "As printed."),
        ("shape", "text", "The message's first line, every word with a digit as #."),
        ("count", "int", "How many lines."),
        ("example", "text", "path:line of one of them."),
    ),
    "restart_sets": _columns(
        ("brokers", "ints", "Stopped together: every living broker, every two, the chosen ones, steps of the rolling order."),
        ("safe", "flag", "Nothing breaks that is not broken as it is; null when that cannot be told of every partition."),
        ("goes_offline", "int", "Partitions that nobody would lead."),
        ("unclean", "int", "Partitions that somebody out of sync would lead: records are lost."),
        ("falls_under_min_isr", "int", "Partitions that would refuse acks=all."),
        ("already_broken", "int", "Partitions of these brokers that are offline or under min ISR as it is, and not worse off."),
        ("unknown", "int", "Partitions of which nothing can be told, wherever their replicas are."),
        ("offsets_partitions", "int", "Partitions of __consumer_offsets that change their coordinator."),
        ("transaction_partitions", "int", "Partitions of __transaction_state that do; null when leaders are not known."),
        ("groups_without_coordinator", "int", "Known groups that wait meanwhile; null when the case names no group."),
        ("seconds_without_coordinator", "real", "Until the last is loaded, best guess; null when unknown or without end."),
        ("why", "text", "Why there are no seconds; empty when there are."),
    ),
    "drain_plan": _columns(
        ("step", "int", "Counted from 1; each waits until the one before it has ended."),
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("from_replicas", "ints", "Assignment before; that which a running reassignment leads to."),
        ("to_replicas", "ints", "Assignment after, the preferred leader first."),
        ("bytes", "int", "To be copied; null when the size of a replica is unknown."),
        ("leader_after", "int", "Who leads once it has ended."),
    ),
    "leftovers": _columns(
        (
            "kind",
            "text",
            "nothing_to_move, unknown_partition, waits_for_dead, throttle, not_preferred, deletion_stuck or ghost.",
        ),
        ("subject", "text", "A partition, a topic, or broker and its id."),
        ("brokers", "ints", "Those that it is about; of not_preferred the preferred leader and the one that leads."),
        ("detail", "text", "The setting, where it is one."),
    ),
    "settings": _columns(
        ("entity", "text", "broker and its id, or topic and its name."),
        ("key", "text", "The setting, as the entity names it."),
        ("value", "text", "The value that counts; empty: not set; null: unknown."),
        ("origin", "text", "Where it comes from; in brackets the broker's name for it, where that is another."),
        ("overridden", "text", "What it hides, the strongest first."),
        ("brokers", "ints", "On which brokers; of a topic, brokers that see different values have a row each."),
    ),
    "loss_verdicts": _columns(
        ("topic", "text", "Null: every topic."),
        ("producer", "text", "Null: every producer."),
        ("consumer", "text", "Null: every consumer."),
        ("rule", "text", "D1 to D24; see docs/rules.md."),
        (
            "severity",
            "text",
            "critical: one failure is enough; warning: it takes two, or a habit; info: nothing acknowledged is lost, or only in "
            "a disaster; null: not known.",
        ),
        ("sentence", "text", "What is lost when; or what is not known."),
        ("smallest_change", "text", "What ends it; empty where it is not known to hold."),
        ("cost", "text", "Of the change: latency, availability, space."),
        ("proof", "text", "Znode, file, line of a file, or table."),
    ),
    "client_settings": _columns(
        ("client", "text", "Its name, as it was collected."),
        ("kind", "text", "producer or consumer."),
        ("key", "text", "The setting, as Java's client names it."),
        ("value", "text", "The value that counts; empty: not set; null: unknown."),
        ("origin", "text", "Line of its file, default of a release, or why it is unknown."),
    ),
    "single_copies": _columns(
        ("broker", "int", "Broker that holds the only copy of partitions."),
        ("partitions", "int", "How many."),
        ("topics", "texts", "Of these topics."),
        ("bytes", "int", "Of these copies; null where the size of one is unknown."),
        ("unknown", "int", "Copies of unknown size."),
    ),
    "isr_alone": _columns(
        ("topic", "text", "Topic name."),
        ("partition", "int", "Partition number."),
        ("milliseconds", "int", "How long the ISR is known to have been the leader alone, and min.insync.replicas 1 or unknown."),
        ("at_most", "int", "How long it can have been to the end of the history: more where transactions are missing."),
        ("times", "int", "How often that began."),
        ("first", "time", "When it first began, by ZooKeeper's clock."),
        ("last", "time", "When it last ended, or the history did."),
        ("open", "flag", "Whether it still was so at the end of the history."),
        ("min_isr", "text", "min.insync.replicas of then, by which it was judged; null: not known, so neither is acks=1."),
        ("proof", "text", "Transaction that began the first of them."),
    ),
    "audit_changes": _columns(
        ("what", "text", "verdict or setting."),
        ("entity", "text", "Whose setting; or which topic, producer, consumer, or cluster."),
        ("key", "text", "The setting, or the rule."),
        ("before", "text", "Sentence, or value and origin, in the earlier case; null: there was none."),
        ("after", "text", "The same of now."),
        ("severity", "text", "Of a verdict, as it is now or was before it was gone; null for settings, or where not known."),
    ),
    "measures": _columns(
        ("name", "text", "What is followed from run to run, e.g. leaderless, offsets_bytes."),
        ("partition", "int", "Partition of __consumer_offsets; null where it is about none."),
        ("broker", "int", "Whose; null where it is about none."),
        ("value", "real", "Bytes, milliseconds (load_ms), a ratio, an epoch, an offset, or a count."),
    ),
    "changes": _columns(
        ("how", "text", "new, worse, others, no_longer_checked, better, gone, no_longer_applies or checked_again."),
        ("check", "text", "Whose answer it is."),
        ("severity", "text", "Of the finding, as it is now, else as it was; null where there was none."),
        ("title", "text", "What is said now; what was said, where that is gone, no longer applies or is not looked at."),
        ("before", "text", "The number it was about in the run before, else how the check had ended."),
        ("now", "text", "The same of now."),
        ("came", "texts", "What the finding names now and did not name before."),
        ("went", "texts", "What it named before and does not name now; of no_longer_checked, what is not looked at any more."),
    ),
    "problems": _columns(
        ("path", "text", "The znode or file."),
        ("reason", "text", "Why it cannot be taken at its word."),
    ),
}
"""Every table by name."""


def write(folder: Path, name: str, rows: Sequence[object]) -> None:
    """Write ``<folder>/<name>.parquet``, whole: rows in the order given, one column for each attribute of the contract."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(TABLES[name])
    columns = zip(TABLES[name], schema, strict=True)
    table = pa.table([pa.array(_values(rows, column), field.type) for column, field in columns], schema=schema)
    private.folder(folder)
    with whole.beside(folder / f"{name}.parquet") as partial:
        pq.write_table(table, partial, compression="zstd")


def _schema(columns: Sequence[Column]) -> "pyarrow.Schema":
    import pyarrow as pa

    types = {
        "int": pa.int64(), "ints": pa.list_(pa.int64()), "real": pa.float64(), "text": pa.string(), "time": pa.string(),
        "texts": pa.list_(pa.string()), "flag": pa.bool_(), "json": pa.string(),
    }  # fmt: skip
    return pa.schema([pa.field(c.name, types[c.type], metadata={"meaning": c.meaning}) for c in columns])


def rewrite(folder: Path, name: str, source: Path) -> None:
    """Write ``<folder>/<name>.parquet``, whole, out of a folder of Parquet, however large, with the columns of the contract.

    Args:
        folder: Made when it is not there.
        name: Of the table.
        source: Its files, in order; columns of the type ``time`` are texts already.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = _schema(TABLES[name])
    private.folder(folder)
    rows = ds.dataset(sorted(map(str, source.glob("*.parquet"))), format="parquet")
    with whole.beside(folder / f"{name}.parquet") as partial, pq.ParquetWriter(partial, schema, compression="zstd") as target:
        for batch in rows.to_batches(columns=schema.names):
            target.write_table(pa.Table.from_batches([batch]).cast(schema))


def _values(rows: Sequence[object], column: Column) -> list[object]:
    name = _ATTRIBUTES.get(column.name, column.name)
    values = [getattr(row, name) for row in rows]
    if column.type == "json":
        return [None if value is None else json.dumps(dict(value), ensure_ascii=False, sort_keys=True) for value in values]
    return [instant(value) for value in values] if column.type == "time" else values
