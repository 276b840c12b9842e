"""Files of host metrics, recognised by content, as samples of brokers' hosts."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo

from casebook.facts.host_metrics import HostMetrics, HostSample, HostStart
from casebook.formats.hosts import prometheus, sysstat
from casebook.formats.hosts.prometheus import SeriesPoint

_LOOKED_AT = 300
"""Number of lines that decide the format."""
_ANSWER = re.compile(r'\s*\{.*"(?:status|resultType|metric)"', re.DOTALL)
_ERROR = re.compile(r'"error"\s*:\s*"([^"]{1,200})')
_NEXT = "its series have no names, as a function of the query has dropped them: ask for the counter itself"

File = tuple[int, str, Sequence[str]]
"""Broker, path in the case, and lines with their ends."""


def read(files: Iterable[File], zone_of: Callable[[int], tzinfo]) -> HostMetrics:
    """Read all files without duplicates: sar repeats a restart in every table, and files may overlap.

    Args:
        zone_of: Returns the zone of a broker's log, used for host times without a zone.
    """
    told: list[HostSample | HostStart] = []
    problems: list[str] = []
    points: dict[int, list[SeriesPoint]] = defaultdict(list)
    number = 0
    for broker, path, lines in files:
        number += 1
        kind = _kind(lines)
        if kind in _SYSSTAT:
            found = list(_SYSSTAT[kind](lines, broker=broker, file=path, zone=zone_of(broker)))
            told += found
            why = _lack(found)
        elif kind is None:
            why = "it has no layout of sar, sadf -d, iostat, node_exporter or Prometheus that is known"
        else:
            values, why = _points(kind, lines, path)
            points[broker] += values
        problems += [f"{path}: {why}."] if why else []
    for broker, values in points.items():
        found = list(prometheus.samples(values, broker=broker))
        told += found
        counted = any(prometheus.is_counter(one.name) for one in values)
        if counted and not any(isinstance(one, HostSample) and one.span for one in found):
            problems.append(
                f"Of broker {broker} counters are known of one moment alone, which gives no rate: give a later scrape."
            )
    samples = {one[:1] + one[2:6] + (one.at is None and one.proof,): one for one in reversed(told) if isinstance(one, HostSample)}
    starts = {(one.broker, one.at): one for one in reversed(told) if isinstance(one, HostStart)}
    return HostMetrics(tuple(samples.values())[::-1], tuple(starts.values())[::-1], tuple(problems), number)


_SYSSTAT = {"sar": sysstat.sar, "sadf": sysstat.sadf, "iostat": sysstat.iostat}


def _kind(lines: Sequence[str]) -> str | None:
    """Return the tool that wrote a file; ``None`` when unknown."""
    head = lines[:_LOOKED_AT]
    if any(line.startswith(sysstat.SADF) for line in head):
        return "sadf"
    if _ANSWER.match("".join(head)):
        return "answer"
    if any(line.startswith((sysstat.AVG_CPU, sysstat.DEVICE)) for line in head):
        return "iostat"
    if any(sysstat.HEAD.match(line) or sysstat.TIMED.match(line) for line in head):
        return "sar"
    if any(prometheus.LINE.fullmatch(line.rstrip()) for line in head):
        return "scrape"
    return None


def _lack(told: Sequence[HostSample | HostStart]) -> str:
    """Return the problem of a sysstat file; ``""`` for none."""
    if not told:
        return "it holds none of the tables that are read"
    if all(one.at is None for one in told):
        return "its samples have no time: sar prints the day above them, iostat prints times with -t"
    return ""


def _points(kind: str, lines: Sequence[str], path: str) -> tuple[list[SeriesPoint], str]:
    """Return the values of a file, and its problem; ``""`` for none."""
    if kind == "scrape":
        found = list(prometheus.scrapes(lines, file=path))
        if not found:
            return [], "none of its metrics is known"
        timed = any(point.at is not None for point in found)
        return found, "" if timed else "it does not contain the time of the scrape (node_time_seconds)"
    text = "".join(lines)
    found = list(prometheus.answers(text, file=path))
    hosts = sorted({point.host for point in found})
    if len(hosts) > 1:
        named = ", ".join(hosts[:3])
        return [], f"it is of {len(hosts)} hosts ({named}), and the broker's host is unknown; add one file per host"
    if found and not any(point.name for point in found):
        return [], _NEXT
    if not found:
        error = _ERROR.search(text)
        return [], f"Prometheus answered with an error: {error[1]}" if error else "it holds no values of a range"
    return found, ""
