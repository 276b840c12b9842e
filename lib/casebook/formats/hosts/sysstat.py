"""Parse the output of ``sar``, ``sadf -d`` and ``iostat`` into samples of hosts.

Supported tables: ``sar -n DEV``, ``-n EDEV``, ``-d``, ``-u`` and ``-q``, the same of ``sadf -d``, and those of ``iostat``; others
are skipped. Source: ``pr_stats.c``, ``iostat.c`` (sysstat 12.6.1), and their columns of 10 and 11.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta, tzinfo
from typing import NamedTuple

from casebook.facts.host_metrics import HostSample, HostStart, is_passed_over
from casebook.formats.hosts import times

HEAD = re.compile(r"Linux \S+ \((?P<host>[^)]*)\)\s+(?P<date>[\d./-]+)")
SADF = "# hostname;interval;timestamp"
AVG_CPU, DEVICE = "avg-cpu:", "Device"
TIMED = re.compile(r"(?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?\s+(?P<rest>\S.*)")
_RESTART = re.compile(r"LINUX[ -]RESTART\b")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_HALF_A_DAY = 43_200
_KIB = 1024
ALL_CPUS = "all CPUs"

_COLUMNS = {
    "rxkB/s": ("net_in", 8 * _KIB), "txkB/s": ("net_out", 8 * _KIB), "rxbyt/s": ("net_in", 8), "txbyt/s": ("net_out", 8),
    "%ifutil": ("net_busy", 1), "rxerr/s": ("net_in_errors", 1), "txerr/s": ("net_out_errors", 1),
    "rxdrop/s": ("net_in_drops", 1), "txdrop/s": ("net_out_drops", 1), "rkB/s": ("disk_read", _KIB),
    "wkB/s": ("disk_write", _KIB), "rMB/s": ("disk_read", _KIB * _KIB), "wMB/s": ("disk_write", _KIB * _KIB),
    "rd_sec/s": ("disk_read", 512), "wr_sec/s": ("disk_write", 512), "rsec/s": ("disk_read", 512),
    "wsec/s": ("disk_write", 512), "kB_read/s": ("disk_read", _KIB), "kB_wrtn/s": ("disk_write", _KIB),
    "MB_read/s": ("disk_read", _KIB * _KIB), "MB_wrtn/s": ("disk_write", _KIB * _KIB), "%util": ("disk_busy", 1),
    "await": ("disk_wait", 1), "r_await": ("disk_read_wait", 1), "w_await": ("disk_write_wait", 1),
    "avgqu-sz": ("disk_queue", 1), "aqu-sz": ("disk_queue", 1), "%idle": ("cpu_busy", -1), "%iowait": ("cpu_iowait", 1),
    "%steal": ("cpu_steal", 1), "runq-sz": ("run_queue", 1), "ldavg-1": ("load", 1), "blocked": ("blocked", 1),
}  # fmt: skip
"""Metric of a column, with the factor to the metric's unit; busy is 100 % minus idle."""
_OF_WHAT = ("IFACE", "DEV", "CPU", "Device", "Device:")

Told = Iterator[HostSample | HostStart]


class _Place(NamedTuple):
    """Source of printed values."""

    broker: int
    file: str
    host: str = ""

    def proof(self, number: int) -> str:
        return f"{self.file}:{number}"


def sar(lines: Iterable[str], *, broker: int, file: str, zone: tzinfo) -> Told:
    """Yield samples and restarts printed by ``sar``; those without a date above them have no time.

    Args:
        lines: With line ends; a line without one is cut, and skipped.
        zone: Zone of its times, which it does not print.
    """
    place, clock, columns = _Place(broker, file), _Clock(None, zone), ()
    for number, line in _whole(lines):
        if head := HEAD.match(line):
            place, columns = place._replace(host=head["host"]), ()
            clock = _Clock(head["date"], zone)
        elif timed := TIMED.fullmatch(line.rstrip()):
            if _RESTART.match(timed["rest"]):
                at, _ = clock.read(timed, columns)
                yield HostStart(broker, at, place.proof(number), of_kernel=False, zoned=False)
                continue
            cells = timed["rest"].split()
            if not any(map(_NUMBER.fullmatch, cells)):
                columns = tuple(cells)
                clock.read(timed, columns)
                continue
            at, span = clock.read(timed, columns)
            for metric, device, value in _cells(columns, cells):
                yield HostSample(broker, place.host, at, metric, device, value, place.proof(number), span)


class _Clock:
    """Day of a clock without dates: midnight has passed when a table's time decreases by half a day or more.

    A smaller decrease is a clock step or the end of summer time: until it has caught up, times are unknown.
    """

    def __init__(self, of: str | None, zone: tzinfo) -> None:
        self._of, self._zone = of, zone
        self._begin: int | None = None  # every table starts with the same moment
        self._tables: dict[Sequence[str], tuple[date, int]] = {}
        self._moments: dict[Sequence[str], tuple[int | None, int | None]] = {}

    def read(self, timed: re.Match, table: Sequence[str]) -> tuple[int | None, int | None]:
        """Return the moment of a line, and milliseconds since the previous one in its table."""
        first = times.day(self._of, halves=timed["half"] is not None) if self._of else None
        second = times.seconds(timed["clock"], timed["half"])
        if first is None or second is None:
            return None, None
        self._begin = second if self._begin is None else self._begin
        of, last = self._tables.get(table, (first, self._begin))
        if last - second >= _HALF_A_DAY:
            of += timedelta(days=1)
        elif second < last:
            return None, None
        self._tables[table] = of, second
        at = times.at(of, second, self._zone)
        before, now = self._moments.get(table, (None, None))
        if at != now:
            before, now = now, at
            self._moments[table] = before, now
        return at, None if before is None or at is None else at - before


def sadf(lines: Iterable[str], *, broker: int, file: str, zone: tzinfo) -> Told:
    """Yield the same from ``sadf -d``, which prints UTC by default."""
    place, columns = _Place(broker, file), ()
    for number, line in _whole(lines):
        cells = line.rstrip().split(";")
        if line.startswith(SADF):
            columns = tuple(cells[3:])
            continue
        stamp = times.stamp(cells[2], zone) if len(cells) > 3 else None
        if stamp is None:
            continue
        if _RESTART.match(cells[3]):
            yield HostStart(broker, stamp.at, place.proof(number), of_kernel=False, zoned=stamp.zoned)
            continue
        span = int(cells[1]) * 1000 if cells[1].isdecimal() else None
        for metric, device, value in _cells(columns, cells[3:]):
            yield HostSample(broker, cells[0], stamp.at, metric, device, value, place.proof(number), span, stamp.zoned)


def iostat(lines: Iterable[str], *, broker: int, file: str, zone: tzinfo) -> Told:
    """Yield samples printed by ``iostat``; without ``-t`` they have no time.

    The first report of each run is skipped: it is a mean since the boot.
    """
    place, columns, stamp, before = _Place(broker, file), (), None, None
    report, begun_by = 0, ""
    for number, line in _whole(lines):
        cells = line.split()
        if head := HEAD.match(line):
            place, columns, report, begun_by, stamp, before = place._replace(host=head["host"]), (), 0, "", None, None
        elif found := times.stamp(line, zone):
            before, stamp, columns, begun_by = stamp, found, (), "time"
            report += 1
        elif cells and (cells[0] == AVG_CPU or cells[0].startswith(DEVICE)):
            of_cpu = cells[0] == AVG_CPU
            report += begun_by != "time" if of_cpu else not begun_by
            begun_by, columns = (AVG_CPU, tuple(cells[1:])) if of_cpu else ("", tuple(cells))
        elif not cells:
            columns = ()
        elif columns and report > 1:
            span = stamp.at - before.at if stamp and before and stamp.at > before.at else None
            at, zoned = (stamp.at, stamp.zoned) if stamp else (None, False)
            for metric, device, value in _cells(columns, cells):
                yield HostSample(broker, place.host, at, metric, device, value, place.proof(number), span, zoned)


def _whole(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield complete lines with their number: a number in a cut line is wrong."""
    return ((number, line) for number, line in enumerate(lines, start=1) if line.endswith("\n"))


def _cells(columns: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Yield metric, device and value of the known cells in a row; nothing for a row of another length than its header."""
    if len(columns) != len(cells):
        return
    named = next((name for name in columns if name in _OF_WHAT), None)
    device = cells[columns.index(named)] if named else ""
    if named == "CPU" and device not in ("all", "-1"):
        return
    if is_passed_over(device):
        return
    for name, cell in zip(columns, cells, strict=True):
        metric, factor = _COLUMNS.get(name, (None, 1))
        if metric is not None and _NUMBER.fullmatch(cell):
            value = float(cell.replace(",", "."))
            of = ALL_CPUS if metric.startswith("cpu_") else device
            yield metric, of, round(100 - value, 2) if factor < 0 else value * factor
