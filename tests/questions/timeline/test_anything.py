"""Whatever logs say, a timeline comes of it: no field is taken for granted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.events import Event
from casebook.questions.timeline.analysis import story, timeline
from tests.questions.timeline.scenes import NEW, OLD, T0, cluster, files, history

KINDS = [
    "zk_silent",
    "zk_session_expired",
    "zk_session_established",
    "zks_session_expiring",
    "zks_fsync_slow",
    "broker_registered",
    "broker_change",
    "broker_failure",
    "broker_starting",
    "broker_started",
    "broker_stopping",
    "broker_stopped",
    "controlled_shutdown_done",
    "unclean_start",
    "log_dir_unused",
    "recovering_segment",
    "partition_changed",
    "leader_elected",
    "leader_selected",
    "isr_removed",
    "isr_shrunk",
    "isr_updated",
    "leader_request_received",
    "become_leader",
    "become_follower",
    "role_changed",
    "no_leader_possible",
    "truncated",
    "fetch_reset",
    "loading",
    "load_scheduled",
    "loaded",
    "load_failed",
    "cleaner_died",
    "segment_rolled",
    "log_dir_failed",
    "processor_failed",
    "unknown_api_key",
    "bad_request",
    "connection_opened",
    "fetch_failed",
    "controller_request_failed",
    "not_coordinator",
    "gc_pause",
    "quiet",
]
NAMES = [
    "leader",
    "leader_epoch",
    "isr",
    "old",
    "new",
    "ms",
    "secs",
    "session",
    "broker",
    "brokers",
    "added",
    "deleted",
    "live",
    "client",
    "api_key",
    "role",
    "timeout_ms",
    "offset",
    "from",
    "to",
]
VALUES = (
    "1",
    "57",
    "-1",
    "",
    "x",
    "1,2",
    "List(1, 2)",
    "396c",
    "9" * 30,
    "OnlinePartition",
    "follower",
    "inf",
    "nan",
    "/1.2.3.4:5",
)
PLACES = ((None, None), ("orders", 0), ("orders", 1), ("__consumer_offsets", 3))


@st.composite
def events(draw):
    """A line that says anything."""
    broker = draw(st.sampled_from((None, 1, 55, 57)))
    file = (
        f"brokers/{broker}/logs/server.log"
        if broker is not None
        else draw(st.sampled_from(("zookeeper/logs/1/z.log", "clients/a/logs/a.log")))
    )
    time = draw(st.none() | st.integers(T0 - 9000, T0 + 20_000))
    topic, partition = draw(st.sampled_from(PLACES))
    fields = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=6))
    return Event(
        draw(st.sampled_from(KINDS)),
        time,
        broker,
        file,
        draw(st.integers(1, 99)),
        "WARN",
        None,
        topic,
        partition,
        None,
        fields,
        "a\n=b",
    )


@settings(max_examples=150, deadline=None)
@given(told=st.lists(events(), max_size=40), past=st.booleans(), read=st.booleans(), version=st.sampled_from((OLD, NEW)))
def test_anything(told, past, read, version):
    """No line breaks it, no window ends before it begins, and all rows are there."""
    known = history(3).rows if past else ()
    found = timeline.examine(cluster(), version, events=told, files=files() if read else (), history=known)
    assert sum(row.source != "history" for row in found.rows) == len(told)
    assert all(window.length is None or window.length >= 0 for window in found.windows)
    assert story.markdown(found).startswith("## What happened")
    assert story.csv(found).startswith("time,as_printed")
