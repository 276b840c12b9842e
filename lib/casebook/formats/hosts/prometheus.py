"""Host metrics of Prometheus and its exporters: scrapes of node_exporter and jmx_exporter, and responses of ``query_range``.

Counters give rates between two values; a smaller value is a reset, and gives none.

Names: ``collector/netdev_linux.go``, ``netclass_linux.go``, ``diskstats_linux.go``, ``cpu_linux.go``, ``loadavg.go``, ``time.go``
and ``stat_linux.go`` (prometheus/node_exporter@v1.5.0); for Kafka the common exporter names of
``kafka.server:type=BrokerTopicMetrics`` and ``kafka.network:type=RequestChannel``.
"""

import json
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from casebook.facts.host_metrics import HostSample, HostStart, is_passed_over

_TIME, _BOOT, _CPU = "node_time_seconds", "node_boot_time_seconds", "node_cpu_seconds_total"
_MODES = {"idle": ("cpu_busy", -100), "iowait": ("cpu_iowait", 100), "steal": ("cpu_steal", 100)}
_COUNTERS = {
    "node_network_receive_bytes_total": ("net_in", 8),
    "node_network_transmit_bytes_total": ("net_out", 8),
    "node_network_receive_errs_total": ("net_in_errors", 1),
    "node_network_transmit_errs_total": ("net_out_errors", 1),
    "node_network_receive_drop_total": ("net_in_drops", 1),
    "node_network_transmit_drop_total": ("net_out_drops", 1),
    "node_network_carrier_down_changes_total": ("link_downs", 1),
    "node_disk_io_time_seconds_total": ("disk_busy", 100),
    "node_disk_read_bytes_total": ("disk_read", 1),
    "node_disk_written_bytes_total": ("disk_write", 1),
    "node_disk_io_time_weighted_seconds_total": ("disk_queue", 1),
}
_GAUGES = {"node_load1": "load", "node_procs_running": "run_queue", "node_procs_blocked": "blocked"}
_BYTES = re.compile(r"kafka_server_brokertopicmetrics_bytes(in|out)(?:persec)?_(?:total|count)", re.IGNORECASE)
_QUEUE = re.compile(r"kafka_network_requestchannel_requestqueuesize(?:_value)?", re.IGNORECASE)

LINE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?P<labels>\{.*\})?[ \t]+(?P<value>[-+.\w]+)(?:[ \t]+(?P<at>-?\d+))?")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_METRIC, _VALUES = re.compile(r'"metric"\s*:\s*(?=\{)'), re.compile(r'\s*,\s*"values"\s*:\s*\[')
_VALUE = re.compile(r'\s*\[\s*(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*,\s*"([^"]*)"\s*\]\s*([,\]])')
_BEGIN = re.compile(rb'(?<=[\[,])\s*(?=\[\s*[\d.eE+]+\s*,\s*")')
_SCANNER = json.JSONDecoder(strict=False)
_SAME_BOOT = 60_000
"""Milliseconds by which the kernel's boot time varies with clock corrections."""


class SeriesPoint(NamedTuple):
    """A value of a series.

    Args:
        at: Epoch milliseconds; ``None`` when unknown.
        host: Label ``instance``, without the port; ``""`` without one.
    """

    name: str
    labels: Mapping[str, str]
    at: int | None
    value: float
    proof: str
    host: str = ""


def spread(line: bytes) -> Iterator[bytes]:
    """Split a line of a ``query_range`` response into one per value; yield any other line unchanged."""
    begin = 0
    for match in _BEGIN.finditer(line):
        yield line[begin : match.start()] + b"\n"
        begin = match.end()
    yield line[begin:]


def scrapes(lines: Iterable[str], *, file: str) -> Iterator[SeriesPoint]:
    """Yield values of one scrape, or of several concatenated ones: a repeated series starts the next.

    A value has the time after it, else the scrape time according to the host.
    """
    seen: set[str] = set()
    scrape: list[SeriesPoint] = []
    for number, line in enumerate(lines, start=1):
        match = LINE.fullmatch(line.rstrip()) if line.endswith("\n") else None
        value = None if match is None else _number(match["value"])
        if value is None or not (_is_known(match["name"]) or match["name"] == _TIME):
            continue
        series = f"{match['name']}{match['labels'] or ''}"
        if series in seen:
            yield from _timed(scrape)
            seen, scrape = set(), []
        seen.add(series)
        at = int(match["at"]) if match["at"] else None
        labels = dict(_LABEL.findall(match["labels"] or ""))
        scrape.append(SeriesPoint(match["name"], labels, at, value, f"{file}:{number}"))
    yield from _timed(scrape)


def _timed(scrape: Sequence[SeriesPoint]) -> Iterator[SeriesPoint]:
    at = next((round(point.value * 1000) for point in scrape if point.name == _TIME), None)
    return (point if point.at is not None else point._replace(at=at) for point in scrape if point.name != _TIME)


def answers(text: str, *, file: str) -> Iterator[SeriesPoint]:
    """Yield values of the series in a ``query_range`` response, also of a cut one."""
    ends = [match.start() for match in re.finditer("\n", text)]
    for match in _METRIC.finditer(text):
        try:
            labels, place = _SCANNER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        values = _VALUES.match(text, place)
        if values is None or not all(isinstance(label, str) for label in labels.values()):
            continue
        host = labels.get("instance", "").rpartition(":")[0] or labels.get("instance", "")
        place = values.end()
        while one := _VALUE.match(text, place):
            value, line = _number(one[2]), bisect_right(ends, one.start(1)) + 1
            if value is not None:
                yield SeriesPoint(labels.get("__name__", ""), labels, _ms(one[1]), value, f"{file}:{line}", host)
            if one[3] == "]":
                break
            place = one.end()


def samples(points: Iterable[SeriesPoint], *, broker: int) -> Iterator[HostSample | HostStart]:
    """Yield samples of a host's known values, and its kernel's boot."""
    series: dict[tuple, list[SeriesPoint]] = defaultdict(list)
    for point in points:
        if point.at is not None and _is_known(point.name) and not is_passed_over(point.labels.get("device", "")):
            series[point.name, tuple(sorted(point.labels.items()))].append(point)
    of_cpus: list[tuple[SeriesPoint, float, int]] = []
    for (name, _), values in sorted(series.items()):
        values.sort(key=lambda point: point.at)
        metric, factor = _meaning(name)
        if name == _BOOT:
            yield from _starts(values, broker)
        elif name == _CPU:
            of_cpus += _rates(values)
        elif factor is None:
            yield from (_sample(broker, one, metric, one.value, 0) for one in values)
        else:
            yield from (_sample(broker, one, metric, rate * factor, span) for one, rate, span in _rates(values))
    yield from _of_cpus(of_cpus, broker)


def _of_cpus(rates: Iterable[tuple[SeriesPoint, float, int]], broker: int) -> Iterator[HostSample]:
    """Yield means over the CPUs with values; none for a moment at which one of them lacks a value."""
    by_moment: dict[tuple[str, int, int], dict[str, tuple[SeriesPoint, float]]] = defaultdict(dict)
    for point, rate, span in rates:
        by_moment[point.labels.get("mode", ""), point.at, span][point.labels.get("cpu", "")] = point, rate
    cpus: dict[str, set[str]] = defaultdict(set)
    for (mode, _, _), found in by_moment.items():
        cpus[mode] |= found.keys()
    for (mode, _, span), found in sorted(by_moment.items()):
        if mode in _MODES and found.keys() == cpus[mode]:
            (metric, factor), names = _MODES[mode], sorted(found)
            mean = sum(rate for _, rate in found.values()) / len(found)
            share = min(100.0, max(0.0, (100 if factor < 0 else 0) + factor * mean))
            which = f"CPU {names[0]}" if len(names) == 1 else f"{len(names)} CPUs"
            yield _sample(broker, found[names[0]][0], metric, share, span)._replace(device=which)


def _sample(broker: int, point: SeriesPoint, metric: str, value: float, span: int) -> HostSample:
    device = point.labels.get("device", "")
    return HostSample(broker, point.host, point.at, metric, device, round(value, 3), point.proof, span, zoned=True)


def _rates(values: Sequence[SeriesPoint]) -> Iterator[tuple[SeriesPoint, float, int]]:
    """Yield each value but the first as a rate per second, with milliseconds since the previous one."""
    for before, after in pairwise(values):
        if after.at > before.at and after.value >= before.value:
            yield after, (after.value - before.value) * 1000 / (after.at - before.at), after.at - before.at


def _starts(values: Sequence[SeriesPoint], broker: int) -> Iterator[HostStart]:
    last = None
    for point in values:
        at = round(point.value * 1000)
        if last is None or abs(at - last) > _SAME_BOOT:
            yield HostStart(broker, at, point.proof, of_kernel=True, zoned=True)
        last = at


def is_counter(name: str) -> bool:
    """Return whether a value is meaningless without the next one."""
    return name == _CPU or _meaning(name)[1] is not None


def _is_known(name: str) -> bool:
    return name in (_BOOT, _CPU) or _meaning(name)[0] is not None


def _meaning(name: str) -> tuple[str | None, float | None]:
    """Return the metric, and for a counter its factor to the metric's unit; ``None`` twice when unknown."""
    if name in _COUNTERS:
        return _COUNTERS[name]
    if moved := _BYTES.fullmatch(name):
        return f"kafka_{moved[1].lower()}", 1
    return "request_queue" if _QUEUE.fullmatch(name) else _GAUGES.get(name), None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _ms(text: str) -> int | None:
    seconds = _number(text)
    return None if seconds is None or seconds > 253402300799 else round(seconds * 1000)
