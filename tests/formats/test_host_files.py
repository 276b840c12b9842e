"""What hosts measured: text that sysstat 12.6.1, node_exporter 1.5.0 and Prometheus 2.42 wrote of one machine at the same time.

One record of sysstat is printed in several locales, zones and forms: all of them must tell the same.
"""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.host_metrics import METRICS, spelled
from casebook.formats.hosts import files as host_files
from casebook.formats.hosts import prometheus
from casebook.formats.hosts import times as host_times

FOLDER = Path(__file__).parent / "hosts"
MIDNIGHT = timezone(timedelta(hours=4, minutes=37, seconds=40))
"""Where it was midnight when it was recorded."""
ZONES = {"sar_midnight_us.txt": MIDNIGHT}
SYSSTAT = ("sar.txt", "sar_midnight_us.txt", "sar_de.txt", "sadf.csv", "iostat.txt", "iostat_iso.txt", "iostat_us.txt")
PROMETHEUS = ("range.json", "cpu.json", "scrape_1.prom")


def text(name):
    return (FOLDER / name).read_text()


def told(*texts, zone=UTC):
    """What files of broker 1 with these texts tell."""
    files = [(1, f"brokers/1/metrics/{n}", one.splitlines(keepends=True)) for n, one in enumerate(texts)]
    return host_files.read(files, lambda broker: zone)


def of(name):
    return told(text(name), zone=ZONES.get(name, UTC))


def values(found, prefix="", *, timed=True):
    """Each value with its metric, device and moment."""
    return {
        (one.metric, one.device, one.at if timed else None): one.value for one in found.samples if one.metric.startswith(prefix)
    }


def ms(moment):
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


class TestSysstat:
    def test_every_form_of_a_record_tells_the_same(self):
        """24 h and 12 h, before and after midnight, decimal commas, the device in the first or the last column, sadf."""
        whole = values(of("sar.txt"))
        assert values(of("sar_midnight_us.txt")) == whole
        assert values(of("sadf.csv")) == whole
        disk = {key: value for key, value in whole.items() if key[0].startswith("disk_")}
        assert values(of("sar_de.txt")) == disk
        assert len(disk) == 10 * 5

    def test_values(self):
        """As printed: rxkB/s 150.76 of 1024 bytes each, %idle 10.10, wkB/s 775675, runq-sz 3, at the end of their intervals."""
        found, at = values(of("sar.txt")), ms("2026-11-26T19:22:02Z")
        assert found["net_in", "eth0", at] == pytest.approx(150.76 * 1024 * 8)
        assert found["cpu_busy", "all CPUs", at] == pytest.approx(89.9)
        assert found["run_queue", "", at] == 3
        assert found["disk_write", "vda", ms("2026-11-26T19:22:26Z")] == 775675 * 1024
        assert {one.span for one in of("sar.txt").samples} == {4000}

    def test_nobody_is_behind_a_loopback_device(self):
        """It is in the file, and not read."""
        assert " lo " in text("sar.txt")
        assert "lo" not in {one.device for one in of("sar.txt").samples}

    def test_averages_are_no_samples(self):
        """Ten moments, twice five."""
        assert len({one.at for one in of("sar.txt").samples}) == 10

    @pytest.mark.parametrize("name", ["sar.txt", "sar_midnight_us.txt", "sar_de.txt", "sadf.csv"])
    def test_a_restart_is_told_once(self, name):
        """Though every table has its line."""
        (start,) = of(name).starts
        assert (start.at, start.of_kernel, start.zoned) == (ms("2026-11-26T19:22:18Z"), False, name == "sadf.csv")

    def test_zone(self):
        """sar and iostat print local time; sadf prints UTC, and iostat in ISO form the offset."""
        berlin = ZoneInfo("Europe/Berlin")
        apart = {}
        for name in ("sar.txt", "sadf.csv", "iostat.txt", "iostat_iso.txt"):
            here, there = told(text(name)).samples[0], told(text(name), zone=berlin).samples[0]
            assert here.zoned is (here.at == there.at)
            apart[name] = here.at - there.at
        assert apart == {"sar.txt": 3_600_000, "sadf.csv": 0, "iostat.txt": 3_600_000, "iostat_iso.txt": 0}

    def test_iostat(self):
        """The first report is a mean since the boot; the next are those that follow it, in three spellings of time."""
        found = of("iostat.txt")
        assert min(one.at for one in found.samples) == ms("2026-11-26T19:22:02Z")
        assert values(found)["disk_busy", "vda", ms("2026-11-26T19:22:02Z")] == pytest.approx(
            float(re.findall(r"^vda .* ([\d.]+)$", text("iostat.txt"), re.MULTILINE)[1])
        )
        for name in ("iostat_us.txt", "iostat_iso.txt"):
            assert values(of(name)).keys() == values(found).keys()

    def test_without_time(self):
        """iostat without -t: samples, and that they have none."""
        found = of("iostat_untimed.txt")
        assert {one.at for one in found.samples} == {None}
        assert "no time" in found.problems[0]

    def test_without_its_head(self):
        """sar prints the day in its first line."""
        cut = text("sar.txt").partition("\n")[2]
        assert values(told(cut), timed=False) == values(of("sar.txt"), timed=False)
        assert {one.at for one in told(cut).samples} == {None}
        assert "no time" in told(cut).problems[0]

    def test_clock_set_back(self):
        """The hour that comes twice: the second time nobody knows which it is; from its end on all is known again."""
        head = "Linux 6.1.0 (host-1) \t10/25/26 \t_x86_64_\t(2 CPU)\n\n01:30:00        CPU     %user     %idle\n"
        clocks = ("01:40:00", "02:50:00", "02:10:00", "02:40:00", "02:50:00", "03:00:00")
        rows = "".join(f"{clock}        all      1.00     {n}0.00\n" for n, clock in enumerate(clocks, start=1))
        moments = [one.at and datetime.fromtimestamp(one.at / 1000, UTC).strftime("%H:%M") for one in told(head + rows).samples]
        assert moments == ["01:40", "02:50", None, None, "02:50", "03:00"]

    @pytest.mark.parametrize(
        ("printed", "halves", "day"),
        [
            ("11/26/26", False, (2026, 11, 26)),
            ("03/04/26", False, (2026, 3, 4)),
            ("26/11/2026", False, (2026, 11, 26)),
            ("26.11.2026", False, (2026, 11, 26)),
            ("04.03.26", False, (2026, 3, 4)),
            ("2026-11-26", False, (2026, 11, 26)),
            ("03/04/2026", True, (2026, 3, 4)),
            ("26/11/2026", True, None),
            ("2026-13-01", False, None),
            ("11-26/26", False, None),
        ],
    )
    def test_days(self, printed, halves, day):
        """The C locale and America put the month first."""
        found = host_times.day(printed, halves=halves)
        assert found == (day and datetime(*day).date())


class TestPrometheus:
    def test_rates(self):
        """Bytes received, as bits a second, between each two values that Prometheus gave."""
        series = {one["metric"]["__name__"]: one["values"] for one in json.loads(text("range.json"))["data"]["result"]}
        points = series["node_network_receive_bytes_total"]
        wanted = [
            (int(after[0] * 1000), (float(after[1]) - float(before[1])) / (after[0] - before[0]) * 8)
            for before, after in pairwise(points)
        ]
        found = sorted((one.at, one.value) for one in of("range.json").samples if one.metric == "net_in")
        assert found == [(at, pytest.approx(value)) for at, value in wanted]
        assert all(one.zoned for one in of("range.json").samples)

    def test_cpus(self):
        """What both CPUs were not idle, of two times an interval."""
        result = json.loads(text("cpu.json"))["data"]["result"]
        idle = [one["values"] for one in result if one["metric"]["mode"] == "idle"]
        spent = sum(float(values[1][1]) - float(values[0][1]) for values in idle)
        found = {one.at: one.value for one in of("cpu.json").samples if one.metric == "cpu_busy"}
        assert found[round(idle[0][1][0] * 1000)] == pytest.approx(100 - 100 * spent / (2 * 4))
        assert {one.device for one in of("cpu.json").samples} == {"2 CPUs"}

    def test_boot(self):
        """The kernel says when it was booted."""
        (start,) = of("range.json").starts
        assert (start.at, start.of_kernel) == (1795720321000, True)

    def test_spread(self):
        """An answer is one line; in a case each value has its own, and each sample is proven by it."""
        lines = list(prometheus.spread((FOLDER / "range.json").read_bytes()))
        assert json.loads(b"".join(lines)) == json.loads(text("range.json"))
        found = told(b"".join(lines).decode())
        assert values(found) == values(of("range.json"))
        for one in found.samples:
            line = lines[int(one.proof.rpartition(":")[2]) - 1].decode()
            assert json.loads(re.match(r"\[[^\]]*\]", line)[0])[0] * 1000 == one.at

    def test_functions_drop_names(self):
        """rate() leaves no name: nobody knows what its values are."""
        found = of("rate.json")
        assert not found.samples
        assert "ask for the counter itself" in found.problems[0]

    def test_several_hosts(self):
        """Which of them is the broker's only a person knows."""
        two = text("range.json").replace("127.0.0.1:19100", "10.0.0.1:9100", 1)
        found = told(two)
        assert not found.samples
        assert "10.0.0.1, 127.0.0.1" in found.problems[0]

    def test_error(self):
        """What Prometheus answers when it cannot."""
        found = told('{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}')
        assert "exceeded maximum resolution" in found.problems[0]

    def test_one_scrape_gives_no_rate(self):
        """What is counted at a moment is told all the same."""
        found = of("scrape_1.prom")
        assert {one.metric for one in found.samples} == {"load", "run_queue", "blocked"}
        assert "no rate" in found.problems[0]

    def test_what_is_counted_at_a_moment_needs_no_other(self):
        """Nothing is missing of a load."""
        assert told("node_load1 0.5\nnode_time_seconds 1795720924\n").problems == ()

    @pytest.mark.parametrize("apart", [True, False])
    def test_two_scrapes(self, apart):
        """In two files or in one: the time of each is what the host says."""
        one, two = text("scrape_1.prom"), text("scrape_2.prom")
        found = told(one, two) if apart else told(one + two)
        busy = [float(re.search(r"^node_disk_io_time_seconds_total.* ([\d.e+]+)$", each, re.MULTILINE)[1]) for each in (one, two)]
        times = [float(re.search(r"^node_time_seconds ([\d.e+]+)$", each, re.MULTILINE)[1]) for each in (one, two)]
        (sample,) = (one for one in found.samples if one.metric == "disk_busy")
        assert sample.value == pytest.approx(100 * (busy[1] - busy[0]) / (times[1] - times[0]), abs=0.001)
        assert (sample.at, sample.span) == (round(times[1] * 1000), round(times[1] * 1000) - round(times[0] * 1000))

    def test_without_time(self):
        """A scrape that does not say when it was has none."""
        cut = "".join(line for line in text("scrape_1.prom").splitlines(keepends=True) if not line.startswith("node_time"))
        found = told(cut)
        assert not found.samples
        assert "node_time_seconds" in found.problems[0]

    def test_a_counter_that_was_set_to_0(self):
        """Nothing is known of the interval; the next ones are right again."""
        rows = "".join(f'[{100 + 10 * n},"{value}"],' for n, value in enumerate((1000, 2000, 100, 1100)))
        answer = f'{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"node_disk_read_bytes_total","device":"sda"}},"values":[{rows.rstrip(",")}]}}]}}}}'
        assert values(told(answer)) == {("disk_read", "sda", 110_000): 100, ("disk_read", "sda", 130_000): 100}

    @pytest.mark.parametrize(
        ("name", "metric"),
        [
            ("kafka_server_brokertopicmetrics_bytesin_total", "kafka_in"),
            ("kafka_server_BrokerTopicMetrics_BytesOutPerSec_Count", "kafka_out"),
        ],
    )
    def test_kafka(self, name, metric):
        """As exporters commonly name them."""
        answer = f'{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"{name}"}},"values":[[10,"0"],[20,"500"]]}}]}}}}'
        assert values(told(answer)) == {(metric, "", 20_000): 50}


class TestAnything:
    @given(st.sampled_from(SYSSTAT + PROMETHEUS), st.floats(0, 1), st.booleans())
    @settings(deadline=None)
    def test_cut_files_state_nothing_else(self, name, share, head):
        """Whatever is left of a file tells what the whole file tells, or not when it was."""
        whole, place = text(name), round(share * len(text(name)))
        found = told(whole[:place] if head else whole[place:], zone=ZONES.get(name, UTC))
        known = Counter((one.metric, one.device, one.value) for one in of(name).samples)
        if name == "cpu.json":  # of one CPU, and named so, where the other is cut away
            found = found._replace(samples=[one for one in found.samples if one.device == "2 CPUs"])
        assert not Counter((one.metric, one.device, one.value) for one in found.samples) - known
        assert {(one.metric, one.device, one.at) for one in found.samples if one.at is not None} <= values(of(name)).keys()

    @given(st.lists(st.sampled_from(SYSSTAT + PROMETHEUS), min_size=2, max_size=3), st.randoms(use_true_random=False))
    @settings(deadline=None)
    def test_mixed_files_never_crash(self, names, chance):
        """Lines of several files, in any order."""
        lines = [line for name in names for line in text(name).splitlines(keepends=True)]
        chance.shuffle(lines)
        found = told("".join(lines))
        assert {one.metric for one in found.samples} <= METRICS.keys()

    @given(st.text(max_size=400))
    def test_any_text(self, anything):
        """No text is a crash; what is of no layout is told."""
        found = told(anything)
        assert found.samples or found.starts or found.problems


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (940e6, "bit/s", "940 Mbit/s"),
        (78_300_000, "bit/s", "78.3 Mbit/s"),
        (12.5e6, "B/s", "12.5 MB/s"),
        (99.8, "%", "99.8 %"),
        (7, "", "7"),
    ],
)
def test_spelled(value, unit, said):
    assert spelled(value, unit) == said
