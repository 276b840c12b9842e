"""An incident as logs and ZooKeeper tell it: broker 57 falls silent, its session expires, others lead, it comes back and truncates."""

from casebook.facts.cluster import Cluster, PartitionState
from casebook.facts.events import Event, LogFile
from casebook.facts.history import Happened, What
from casebook.facts.stamp import Stamp
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.questions.timeline.analysis import timeline

T0 = 1_570_878_219_000  # 2019-10-12T11:03:39Z
OLD, NEW = (VersionInUse(version=KafkaVersion.parse(v), origin=VersionOrigin.PARAMETER) for v in ("0.9.0.1", "2.8.2"))
LIVE = (55, 56, 57)
SESSION = {55: 0x1655, 56: 0x1656, 57: 0x396C}
NEXT = 0x396D
GONE, ELECTED, BACK, CUT = 3000, 3800, 4500, 5100
"""Milliseconds after T0: session expired, leaders elected, registered again, truncated."""


def state(leader, isr, epoch, version, controller_epoch=7):
    return PartitionState(leader, tuple(isr), epoch, controller_epoch, stamp=Stamp(version=version))


class History:
    """A history that is written transaction by transaction."""

    def __init__(self):
        self.rows, self.zxid, self.versions = [Happened(What.BEGIN, 1, T0 - 600_000)], 1, {}

    def add(self, what, after, **more):
        self.zxid += 1
        self.rows.append(Happened(what, self.zxid, T0 + after, **more))
        return self.zxid

    def register(self, broker, after, session=None, *, skew=0):
        """The stamp is by the broker's own clock; zones do not count."""
        session = session or SESSION[broker]
        self.add(What.SESSION_OPENED, after - 40, session=session, timeout=6000)
        stamp = T0 + after - 5 + skew - round(skew / 900_000) * 900_000
        return self.add(What.BROKER_REGISTERED, after, broker=broker, session=session, stamp=stamp)

    def lose(self, broker, after, session=None):
        zxid = self.add(What.SESSION_CLOSED, after, session=session or SESSION[broker])
        self.rows.append(Happened(What.BROKER_GONE, zxid, T0 + after, broker=broker, session=session or SESSION[broker]))
        return zxid

    def configure(self, topic, config, after):
        return self.add(What.TOPIC_CONFIG, after, topic=topic, config=config)

    def write(self, topic, partition, leader, isr, epoch, after, by=56):
        version = self.versions[topic, partition] = self.versions.get((topic, partition), -1) + 1
        return self.add(
            What.STATE,
            after,
            session=SESSION.get(by),
            topic=topic,
            partition=partition,
            state=state(leader, isr, epoch, version),
        )


def event(kind, after, broker=None, *, file="server.log", line=1, skew=0, topic=None, partition=None, text="", **fields):
    """A line of a broker's log, printed by a clock that is ahead by so much."""
    path = file if "/" in file else f"brokers/{broker}/logs/{file}"
    told = {name.rstrip("_"): str(value) for name, value in fields.items()}
    time = None if after is None else T0 + after + skew
    return Event(kind, time, broker, path, line, "INFO", None, topic, partition, None, told, text)


def log(broker, name="server.log", *, begins=-500_000, ends=60_000, skew=0):
    return LogFile(f"brokers/{broker}/logs/{name}", broker, T0 + begins + skew, T0 + ends + skew, 900, 800, 700)


def cluster(**more):
    return Cluster(**more)


def examined(*events, told=None, version=NEW, covered=(), of=None, timezone="UTC"):
    """A timeline of a few events, and of a history; the logs that hold the events are whole unless others are named."""
    covered = covered or [log(broker) for broker in sorted({one.broker for one in events if one.broker is not None})]
    past = told.rows if told else ()
    return timeline.examine(of or cluster(), version, events=events, files=covered, history=past, timezone=timezone)


def history(partitions=24, skew=None):
    """ZooKeeper's side of the incident."""
    told, skew = History(), skew or {}
    for broker in LIVE:
        told.register(broker, -500_000 + broker, skew=skew.get(broker, 0))
    told.add(What.CONTROLLER_ELECTED, -499_000, broker=56, session=SESSION[56], stamp=T0 - 499_004)
    told.add(What.CONTROLLER_EPOCH, -498_999, epoch=7, session=SESSION[56])
    for number in range(partitions):
        told.write("orders", number, 57, (57, 55, 56), 0, -400_000 + number)
    told.lose(57, GONE)
    for number in range(partitions):
        told.write("orders", number, 55, (55, 56), 1, ELECTED + number)
    told.register(57, BACK, NEXT, skew=skew.get(57, 0))
    for number in range(partitions):
        told.write("orders", number, 55, (55, 56, 57), 1, CUT + 2000 + number, by=55)
    return told


def lines(partitions=24, skew=None, *, silent=True):
    """The brokers' side, each by its own clock."""
    skew = dict.fromkeys(LIVE, 0) | (skew or {})
    told = []
    for broker in LIVE:
        told.append(event("broker_starting", -500_200 + broker, broker, skew=skew[broker], line=1))
        told.append(event("broker_registered", -500_000 + broker + 6, broker, skew=skew[broker], line=2))
    old, controller, new = ({"broker": b, "skew": skew[b]} for b in (57, 56, 55))
    if silent:
        told.append(event("zk_silent", -573 + 1000, **old, line=5521, ms=4034, session="396c"))
    told.append(event("fetch_failed", 1500, **old, line=5525, leader=55))
    told.append(
        event("broker_change", GONE + 100, **controller, file="controller.log", line=902, deleted=57, added="", live="55,56")
    )
    told.append(event("broker_failure", GONE + 150, **controller, file="controller.log", line=903, brokers=57))
    for number in range(partitions):
        place = {"topic": "orders", "partition": number}
        told.append(event("partition_changed", ELECTED + number + 3, **controller, **place, file="state-change.log", line=40 + number,
                          from_="OfflinePartition", to="OnlinePartition", leader=55, leader_epoch=1, isr="55,56"))  # fmt: skip
        told.append(event("become_leader", ELECTED + number + 5, **new, **place, line=100 + number, leader_epoch=1))
        told.append(event("become_follower", CUT - 100 + number, **old, **place, line=5535 + number, leader=55, leader_epoch=1))
        told.append(event("truncated", CUT + number, **old, **place, line=5561 + number, offset=88_120_417))
        told.append(
            event("isr_expanded", CUT + 2000 + number - 4, **new, **place, line=300 + number, old="55,56", new="55,56,57")
        )
    told.append(event("zk_session_expired", BACK - 207, **old, line=5528, session="396c"))
    told.append(event("broker_registered", BACK + 6, **old, line=5534))
    return told


def files(skew=None):
    skew = dict.fromkeys(LIVE, 0) | (skew or {})
    names = [log(b, skew=skew[b]) for b in LIVE]
    return [*names, log(56, "controller.log", skew=skew[56]), log(56, "state-change.log", skew=skew[56])]


def incident(partitions=24, skew=None, **more):
    """All of it."""
    told = {"events": lines(partitions, skew), "files": files(skew), "history": history(partitions, skew).rows} | more
    return timeline.examine(cluster(), NEW, **told)


def finding(found, check):
    return next(one for one in found.findings if one.check == f"timeline.{check}")


def windows(found, kind):
    return [window for window in found.windows if window.kind == kind]
