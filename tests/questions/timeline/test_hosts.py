"""What hosts measured while a broker was lost: what stood out is told within its bounds, as a clue and no more."""

import random
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.host_metrics import HostMetrics
from casebook.findings.finding import Severity, Status
from casebook.formats.hosts import files as host_files
from casebook.questions.timeline.analysis import timeline
from tests.questions.timeline.host_scenes import STEP, during, sar, usual
from tests.questions.timeline.scenes import LIVE, NEW, T0, cluster, event, finding, incident, lines

HOUR = 3_600_000
BEGIN = T0 - 3 * HOUR + 21_000  # at whole minutes
MINUTES = 210
BURST = (T0 - 2 * STEP, T0 + 5 * STEP)
"""Epoch milliseconds of what befell a host."""


def told(texts, zone=UTC):
    """Of texts by broker."""
    files = [(broker, f"brokers/{broker}/metrics/sar.txt", text.splitlines(keepends=True)) for broker, text in texts.items()]
    return host_files.read(files, lambda _broker: zone)


def quiet(**more):
    return sar(BEGIN, MINUTES, **more)


def everywhere(**of_57):
    """All hosts, 57 with something of its own."""
    return {broker: quiet(**(of_57 if broker == 57 else {})) for broker in LIVE}


_ROWS = ",".join(f'[{(BEGIN + n * STEP) // 1000},"{40 if BEGIN + n * STEP in range(*BURST) else 1}"]' for n in range(MINUTES))
LOADED = f'{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"node_load1"}},"values":[{_ROWS}]}}]}}}}'
"""What Prometheus says of a host that was loaded at that time."""
BUSY = {"received": during(*BURST, 114_000, usual(9500))}


@pytest.fixture(scope="module")
def busy():
    return incident(hosts=told(everywhere(**BUSY)))


def shown(found):
    return {(clue.broker, clue.metric, clue.kind) for clue in found.hosts.clues}


class TestClues:
    def test_a_burst(self, busy):
        """934 Mbit/s, 12 times the median, within the bounds that samples of a minute give."""
        clue = next(clue for clue in busy.hosts.clues if clue.metric == "net_in")
        assert (clue.broker, clue.device, clue.value) == (57, "eth0", pytest.approx(114_000 * 8192))
        assert 11.5 < clue.value / clue.usual < 12.5
        assert clue.since <= BURST[0] < clue.by <= clue.since + STEP
        assert BURST[1] - STEP <= clue.until <= BURST[1] <= clue.last
        assert "rose to 934 Mbit/s, 12 times its median" in clue.text
        assert shown(busy) == {(57, "net_in", "high"), (57, "net_busy", "high")}

    def test_it_is_told_and_proven(self, busy):
        """As a clue: neither cause nor effect."""
        told_of = finding(busy, "hosts")
        assert (told_of.status, told_of.severity) == (Status.FINDING, Severity.INFO)
        assert "whether it is a cause or a consequence" in told_of.why
        line = everywhere(**BUSY)[57].splitlines()[told_of.evidence[0].line - 1]
        assert " eth0 " in line and " 114000.00 " in line
        assert "averages over up to 1 min 0 s" in told_of.caveats[0]

    def test_beside_the_root(self, busy):
        """The network is the likeliest root without it, too; only what was not looked at is less."""
        before = incident()
        assert [(root.kind, root.weight) for root in busy.roots] == [(root.kind, root.weight) for root in before.roots]
        network, *others = busy.roots
        assert network.pro[:-2] == before.roots[0].pro
        assert "on the host of broker 57 rose to" in network.pro[-1].text
        assert network.unchecked == ("the network itself: there is no switch log",)
        assert [root.pro for root in others] == [root.pro for root in before.roots[1:]]

    def test_nobody_asked(self, busy):
        """Without host metrics nothing is said of hosts, and all other answers are the same."""
        before = {one.check: one.status for one in incident().findings}
        after = {one.check: one.status for one in busy.findings}
        assert after.pop("timeline.hosts") is Status.FINDING
        assert after == before

    @pytest.mark.parametrize(
        ("of_57", "clue"),
        [
            ({"disk": during(*BURST, 99.6, usual(12))}, (57, "disk_busy", "full")),
            ({"idle": during(*BURST, 2.5, usual(70))}, (57, "cpu_busy", "full")),
            ({"received": during(*BURST, 12, usual(9500))}, (57, "net_in", "low")),
        ],
    )
    def test_saturated_or_ceased(self, of_57, clue):
        """A disk at 99.6 %, CPUs that are 2.5 % idle, an interface that receives a hundredth of what it did."""
        assert shown(incident(hosts=told(everywhere(**of_57)))) == {clue}

    def test_saturated_as_ever(self):
        """What is so all day is said to be."""
        (clue,) = incident(hosts=told(everywhere(disk=lambda _n, _at: 98.0))).hosts.clues
        assert "as usual" in clue.text

    @pytest.mark.parametrize("moved", [-HOUR, -10 * STEP, 10 * STEP])
    def test_at_another_time(self, moved):
        """What stood out long before, or after, has nothing to do with it."""
        elsewhere = {"received": during(BURST[0] + moved, BURST[1] + moved - 4 * STEP, 114_000, usual(9500))}
        found = incident(hosts=told(everywhere(**elsewhere)))
        assert not found.hosts.clues
        assert finding(found, "hosts").status is Status.OK

    def test_shortly_before(self):
        """A minute may lie between what led to it and what it led to."""
        assert shown(incident(hosts=told(everywhere(disk=during(T0 - STEP, T0 - 30_000, 99.0, usual(12))))))

    def test_often(self):
        """What happens every few minutes is within its range."""
        bursts = {"received": lambda number, _at: 114_000 if number % 3 == 0 else usual(9500)(number)}
        assert not incident(hosts=told(everywhere(**bursts))).hosts.clues

    def test_few_samples(self):
        """Nobody knows the range of eleven samples; a disk that is saturated is, all the same."""
        burst = {"received": during(*BURST, 114_000, usual(9500)), "disk": during(*BURST, 99.0, usual(12))}
        short = {57: sar(T0 - 6 * STEP + 21_000, 11, **burst)}
        assert shown(incident(hosts=told(short))) == {(57, "disk_busy", "full")}


class TestStarts:
    def test_a_host_that_was_started(self):
        """sysstat's line is written at a boot, and when it is started itself."""
        minute = (T0 - BEGIN) // STEP + 1
        found = incident(hosts=told(everywhere(restart=minute)))
        clue = found.hosts.clues[0]
        assert (clue.broker, clue.kind) == (57, "started")
        assert clue.by == BEGIN + minute * STEP - 20_000
        assert clue.since == BEGIN + (minute - 1) * STEP
        assert "was booted, or sysstat on it was started, at" in clue.text
        assert not any(clue.text in point.text for root in found.roots for point in root.pro)  # its process lived on

    def test_the_kernel_says_so(self):
        """node_exporter tells when the kernel was booted: no other reading is possible."""
        boot = (T0 + 2000) / 1000
        scrape = f"node_boot_time_seconds {boot}\nnode_load1 0.5\nnode_time_seconds {boot + 60}\n"
        (clue,) = incident(hosts=told({57: scrape})).hosts.clues
        assert clue.text.startswith("The host of broker 57 was booted at 2019-10-12 11:03:41 UTC")


class TestCoverage:
    def test_well(self):
        """Only when every host measured network, disks and CPU all of the time."""
        assert finding(incident(hosts=told(everywhere())), "hosts").status is Status.OK

    @pytest.mark.parametrize(
        ("texts", "lack"),
        [
            ({57: quiet(), 56: quiet()}, "No samples of the network from broker 55"),
            ({b: quiet().partition("CPU")[0] if b == 57 else quiet() for b in LIVE}, "No samples of CPU from broker 57"),
            ({b: sar(BEGIN, 170) if b == 57 else quiet() for b in LIVE}, "No samples of the network from broker 57"),
            ({b: sar(T0 - 5 * STEP, 12) if b == 57 else quiet() for b in LIVE} | {55: quiet()}, None),
            ({**everywhere(), 56: "nothing of the kind\n"}, "No samples of "),
        ],
    )  # fmt: skip
    def test_less(self, texts, lack):
        """Could not check, and which host is missing."""
        found = finding(incident(hosts=told(texts)), "hosts")
        if lack is None:
            assert found.status is Status.OK
        else:
            assert found.status is Status.COULD_NOT_CHECK
            assert lack in found.why

    def test_a_hole(self):
        """Samples before and after do not tell of the minutes between."""
        without = [f" {11:02}:{minute:02}:00 " for minute in range(1, 9)]
        text = "".join(line for line in quiet().splitlines(keepends=True) if not any(one.strip() == line[:8] for one in without))
        found = finding(incident(hosts=told({**everywhere(), 57: text})), "hosts")
        assert found.status is Status.COULD_NOT_CHECK

    def test_without_times(self):
        """What cannot be held against anything is told."""
        found = finding(incident(hosts=told({57: quiet().partition("\n")[2]})), "hosts")
        assert found.status is Status.COULD_NOT_CHECK
        assert "no time" in found.why

    def test_nothing_happened(self):
        """There is nothing to hold them against."""
        found = timeline.examine(cluster(), NEW, events=[event("broker_started", 0, 57)], hosts=told(everywhere(**BUSY)))
        assert not found.hosts.clues
        assert finding(found, "hosts").status in (Status.NOT_APPLICABLE, Status.COULD_NOT_CHECK)


class TestClocks:
    @pytest.mark.parametrize("ahead", [8 * HOUR, -5 * HOUR - 30 * STEP, 95_000])
    def test_by_the_clock_of_the_brokers_log(self, ahead):
        """A zone that nobody told, or a clock that is wrong: sar prints the time that the broker on the same host prints."""
        burst = {"received": during(*BURST, 114_000, usual(9500))}
        texts = {b: sar(BEGIN, MINUTES, ahead=ahead if b == 57 else 0, **(burst if b == 57 else {})) for b in LIVE}
        (clue, *_) = incident(skew={57: ahead}, hosts=told(texts)).hosts.clues
        right = incident(hosts=told(everywhere(**burst))).hosts.clues[0]
        for moment, wanted in ((clue.since, right.since), (clue.by, right.by), (clue.until, right.until)):
            assert abs(moment - wanted) < 1000

    def test_by_the_zone_that_is_given(self):
        """Read as the logs are."""
        shanghai = timezone(timedelta(hours=8))
        texts = {b: sar(BEGIN, MINUTES, ahead=8 * HOUR, **(BUSY if b == 57 else {})) for b in LIVE}
        assert incident(hosts=told(texts, shanghai)).hosts.clues == incident(hosts=told(everywhere(**BUSY))).hosts.clues

    def test_utc_stays(self):
        """Prometheus knows its zone: the clock of a log that is read in another one moves nothing of it."""
        plain, skewed = (incident(hosts=told({57: LOADED}), **more).hosts.clues for more in ({}, {"skew": {57: 8 * HOUR}}))
        assert plain == skewed != ()

    def test_without_the_brokers_log(self):
        """Nothing tells the zone then, and what would stand out by the one that is taken is no more than a possibility."""
        more = {"events": [one for one in lines() if one.broker != 57], "hosts": told(everywhere(**BUSY))}
        found = finding(incident(**more), "hosts")
        assert found.status is Status.COULD_NOT_CHECK
        assert "With times read as UTC: Traffic received by eth0 on the host of broker 57 rose" in found.why
        assert not any("rose to" in point.text for root in incident(**more).roots for point in root.pro)
        assert finding(incident(timezone="UTC, 57=UTC", **more), "hosts").status is Status.FINDING

    def test_prometheus_beside_logs_of_no_known_zone(self):
        """Without ZooKeeper's files nobody knows in which zone the logs are written."""
        assert finding(incident(hosts=told({57: LOADED})), "hosts").status is Status.FINDING
        assert finding(incident(history=(), hosts=told({57: LOADED})), "hosts").status is Status.COULD_NOT_CHECK
        assert finding(incident(history=(), timezone="Europe/Berlin", hosts=told({57: LOADED})), "hosts").status is Status.FINDING


class TestLess:
    @given(st.integers(0, 2**32), st.sampled_from([BUSY, {"disk": during(*BURST, 99.6, usual(12))}, {}]))
    @settings(deadline=None, max_examples=25)
    def test_fewer_lines_tell_nothing_else(self, seed, of_57):
        """Whatever is cut out of a file: never well where it was not, and what stands out does so within the true bounds."""
        chance, texts = random.Random(seed), everywhere(**of_57)
        rows = texts[57].splitlines(keepends=True)
        begin = chance.randrange(len(rows))
        texts[57] = "".join(rows[:begin] + rows[begin + chance.randrange(len(rows) - begin) :])
        found = incident(hosts=told(texts))
        assert {clue.broker for clue in found.hosts.clues} <= ({57} if of_57 else set())
        for clue in found.hosts.clues:
            assert (clue.since is None or clue.since <= BURST[0]) or clue.since < BURST[1]
            assert clue.until <= BURST[1]
        if of_57:
            assert finding(found, "hosts").status is not Status.OK

    @given(st.integers(0, 2**32))
    @settings(deadline=None, max_examples=40)
    def test_any_values(self, seed):
        """Nothing is a crash: no times, times of any year, no spans, any values."""
        chance = random.Random(seed)
        known = told(everywhere(**BUSY)).samples
        moments = (None, 0, -5, 10**18, *range(T0 - HOUR, T0 + HOUR, 7 * STEP))
        strange = tuple(
            one._replace(
                at=chance.choice((one.at, chance.choice(moments))),
                span=chance.choice((one.span, None, 0)),
                value=chance.choice((one.value, 0.0, 1e12)),
            )
            for one in chance.sample(known, chance.randrange(len(known)))
        )
        found = incident(hosts=HostMetrics(strange, (), (), 1))
        assert all(clue.text and clue.by for clue in found.hosts.clues)
        assert finding(found, "hosts")
