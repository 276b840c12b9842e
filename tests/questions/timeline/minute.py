"""The minute of an incident, made by hand: broker 57 lost its session, others were elected, it went on as leader for 1.257 s."""

from dataclasses import replace
from datetime import UTC

from casebook.facts.cluster import Cluster
from casebook.facts.events import LogFile, Untyped
from casebook.formats.hosts import files as host_files
from casebook.kafka.past_rows import HISTORY, Clock, EventRow, Sentence, Silence, Span, StateRow, Window, WindowKind, transaction
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.timeline.analysis.causal_chain import CausalLink, Chain, Indication, Root
from casebook.questions.timeline.analysis.causes import host_clues
from casebook.questions.timeline.analysis.causes.host_checks import Hosts
from casebook.questions.timeline.analysis.timeline import Timeline
from tests.questions.timeline.host_scenes import during, sar, usual

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
MINUTE = 1_570_878_180_000  # 2019-10-12T11:03:00Z
VERSION = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)
NEXT = (55, 58, 59)


def at(second: float) -> int:
    """Epoch milliseconds of a second of that minute."""
    return MINUTE + round(second * 1000)


def log(second: float | None, broker: int | None, line: int, kind: str, text: str = "", **more: object) -> EventRow:
    """A line of a broker's server.log."""
    time = None if second is None else at(second)
    file = more.pop("file", f"brokers/{broker}/logs/server.log")
    common = {"source": "broker", "level": "INFO", "text": text or kind.replace("_", " ")}
    return EventRow(time=time, at=time, broker=broker, file=file, line=line, kind=kind, **(common | more))


def transacted(second: float, zxid: int, kind: str, broker: int, **more: object) -> EventRow:
    """A transaction of ZooKeeper."""
    return EventRow(
        time=at(second), at=at(second), source="history", broker=broker, file=HISTORY, line=None, kind=kind, zxid=zxid, **more
    )


ROWS = (
    log(39.427, 57, 5521, "zk_silent", "Client session timed out, have not heard from server in 4034ms"),
    transacted(42.0, 0x2F0001A7C, "znode_session_closed", 57),
    log(42.293, 57, 5528, "zk_session_expired", "Unable to reconnect to ZooKeeper service, session 0x396c has expired"),
    log(42.671, 56, 902, "broker_change", "Newly added brokers: , deleted brokers: 57", file="brokers/56/logs/controller.log"),
    transacted(42.861, 0x2F0001A81, "znode_leader_changed", 56, topic="orders", partition=3),
    *(
        log(43.02 + n / 7, None, 310 + n, "not_coordinator", "This is not the correct coordinator.", level="WARN", source="client", file="clients/app-7/logs/app.log")
        for n in range(6)
    ),
    log(43.516, 57, 5534, "zk_session_established", "Session establishment complete, negotiated timeout = 6000"),
    log(44.118, 57, 5561, "truncated", "Truncating log orders-3 to offset 88120417", topic="orders", partition=3),
    log(44.5, 55, 77, "processor_failed", HOSTILE, level="ERROR"),
    log(None, 55, 1, "quiet", "no date"),
)  # fmt: skip


def strips(topics: dict[str, int], *, epoch: int = 12) -> tuple[StateRow, ...]:
    """Every partition led by 57, then by one of the others."""
    return tuple(
        StateRow(topic=topic, partition=number, time=at(time), zxid=0x2F0001A81 + turn, leader=leader, leader_epoch=epoch + turn,
                 isr=(leader, 56), controller_epoch=7, proof=transaction(0x2F0001A81 + turn))
        for topic in sorted(topics)
        for number in range(topics[topic])
        for turn, (time, leader) in enumerate(((-600.0, 57), (42.861 + number / 100, NEXT[number % 3])))
    )  # fmt: skip


def two_leaders(topic: str, number: int, *, closed: float | None = 44.118) -> Window:
    """The window of one partition."""
    return Window(
        kind=WindowKind.TWO_LEADERS,
        topic=topic,
        partition=number,
        opened=at(42.861 + number / 100),
        closed=None if closed is None else at(closed),
        old_leader=57,
        new_leader=NEXT[number % 3],
        opened_proof=transaction(0x2F0001A82),
        closed_proof="brokers/57/logs/server.log:5561",
        opened_by="the controller elects",
        closed_by="57 truncates" if closed is not None else "its log ends",
    )


STORY = (
    (39.427, "Broker 57 has received nothing from ZooKeeper for 4.034 s and disconnects; its last answer was at 35.393.", 0, "zk_silent", 57, False),
    (42.0, "ZooKeeper expires its session 0x396c0000000; its timeout was 6 s. /brokers/ids/57 is gone.", 1, "znode_session_closed", 57, True),
    (42.293, "Broker 57 learns of it only now, 0.3 s later.", 2, "zk_session_expired", 57, False),
    (42.671, "Controller 56 sees “deleted brokers: 57”.", 3, "broker_change", 56, False),
    (42.861, "24 leaders move to 55, 58, 59 until 42.972, all by clean election.", 4, "znode_leader_changed", 56, True),
    (43.02, "Consumers get “not the correct coordinator” 6 times: a symptom of the same move, not its cause.", 5, "not_coordinator", None, False),
    (43.516, "Broker 57 is back with a new session; it still leads 24 partitions in its own eyes.", 11, "zk_session_established", 57, False),
    (44.118, "It becomes a follower and truncates: orders-3 to offset 88120417, 3 records.", 12, "truncated", 57, True),
)  # fmt: skip


def measured() -> Hosts:
    """What hosts of brokers 56 and 57 measured, minute by minute: 57 received 12 times as much as else from 11:02 on."""
    begin, burst = MINUTE - 60 * 60_000, {"received": during(MINUTE - 60_000, MINUTE + 4 * 60_000, 114_000, usual(9500))}
    texts = {56: sar(begin, 80), 57: sar(begin, 80, **burst)}
    files = [(broker, f"brokers/{broker}/metrics/sar.txt", text.splitlines(keepends=True)) for broker, text in texts.items()]
    told = host_files.read(files, lambda _broker: UTC)
    series = host_clues.series(told)
    lost = [host_clues.WatchedTime(at(39.427), at(44.118), "Broker 57 lost its session, and 24 leaders moved", 0)]
    return Hosts(told=told, series=series, incidents=lost, clues=host_clues.clues(told, series, lost))


def minute(topics: dict[str, int] | None = None, **changed: object) -> Timeline:
    """The timeline of that minute.

    Args:
        topics: Partitions of each topic.
        changed: Fields that are otherwise.
    """
    topics = {"orders": 10, "payments": 2} if topics is None else topics
    windows = tuple(two_leaders(topic, number) for topic in topics for number in range(topics[topic]))
    sentences = tuple(
        Sentence(at=at(second), time=at(second), text=text, proof=ROWS[row].proof, kind=kind, broker=broker, chain=0, key=key)
        for second, text, row, kind, broker, key in STORY
    )
    links = tuple(
        CausalLink(cause=ROWS[cause], effect=ROWS[effect], rule=rule, seconds=(ROWS[effect].at - ROWS[cause].at) / 1000, count=1, examples=(ROWS[effect],), last=ROWS[effect])
        for cause, effect, rule in ((1, 3, "the controller watches /brokers/ids"), (3, 4, "same controller, next in time"), (4, 12, "same partition"))
    )  # fmt: skip
    chain = Chain(
        kind="broker_lost", title="Broker 57 lost its session, and 24 leaders moved", broker=57, links=links,
        opened=at(39.427), closed=at(44.118), partitions=24,
    )  # fmt: skip
    session = {"kind": "session", "broker": 57, "opened_proof": ROWS[0].proof, "closed_proof": ROWS[1].proof}
    spans = (
        Span(name="0x396c0000000", opened=at(-900), closed=at(42), silent=at(35.393), timeout=6000, **session),
        Span(name="0x396c0000001", opened=at(43.516), closed=None, timeout=6000, **session),
        Span(kind="registered", name="", broker=57, opened=at(-900), closed=at(42), opened_proof="", closed_proof=ROWS[1].proof),
        Span(kind="registered", name="", broker=57, opened=at(43.6), closed=None, opened_proof="", closed_proof=""),
        *(Span(kind="registered", name="", broker=b, opened=at(-900), closed=None, opened_proof="", closed_proof="") for b in (55, 56, 58, 59)),
        Span(kind="controller", name="7", broker=56, opened=at(-900), closed=None, opened_proof="", closed_proof=""),
    )  # fmt: skip
    roots = (
        Root(kind="network", name="Network of the host of broker 57", broker=57, chain=0, weight=5,
             pro=(Indication("silence begins for ZooKeeper and for 56's request thread within 40 ms", ROWS[0].proof),),
             contra=(Indication("11 acks still left 57 before it truncated"),), unchecked=("switch logs",)),
        Root(kind="gc", name="Long GC pause of broker 57", broker=57, chain=0, weight=2, pro=(Indication("4 s without heartbeat"),),
             contra=(Indication("57 kept logging in those 4 s, no gap over 0.2 s"),), unchecked=("GC log missing",)),
        Root(kind="zookeeper", name="ZooKeeper fsync", broker=57, chain=0, weight=1, pro=(),
             contra=(Indication("other sessions kept their beat; longest fsync 38 ms"),), unchecked=()),
    )  # fmt: skip
    clocks = tuple(
        Clock(
            owner=f"broker {b}", broker=b, skew=skew, uncertainty=6, pairs=24, reference="ZooKeeper", zone=False, why="24 pairs"
        )
        for b, skew in ((55, -3), (57, 12), (58, 1), (59, -2))
    )
    unknown = Silence(
        kind="level_off", broker=56, what="The offline moment itself is not logged at this level.",
        unknown="when each partition went offline", settle="state-change.log at TRACE", proof=ROWS[3].proof,
    )  # fmt: skip
    files = tuple(
        LogFile(file=f"brokers/{b}/logs/server.log", broker=b, first=at(0), last=at(59), lines=900, entries=800, typed=780)
        for b in (55, 56, 57, 58, 59)
    )
    shape = Untyped(
        logger="kafka.x", level="WARN", shape="Something <n>", count=7, example="brokers/57/logs/server.log:9", text="Something 7"
    )
    found = Timeline(
        cluster=Cluster(brokers_known=False), version=VERSION, reference="ZooKeeper", rows=ROWS, partition_history=strips(topics),
        clocks=clocks, windows=windows, spans=spans, chains=(chain,), roots=roots, silences=(unknown,), story=sentences,
        files=files, untyped=(shape,), findings=(),
    )  # fmt: skip
    return replace(found, **changed)
