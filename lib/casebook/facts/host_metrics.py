"""Rows of a broker host's network, disk and CPU metrics, from sar, iostat or Prometheus."""

import re
from typing import NamedTuple

from casebook.facts.times import EpochMs

_NO_HARDWARE = re.compile(r"lo\d*|loop\d+|z?ram\d+|ifb\d+|dummy\d+|sr\d+|veth\w*|docker\d+|br-\w+|cali\w+")
NETWORK, DISK, CPU, KAFKA = "network", "disk", "CPU", "Kafka"
FAMILIES = (NETWORK, DISK, CPU)
"""Families of metrics, in display order."""


class Metric(NamedTuple):
    """A metric.

    Args:
        family: ``NETWORK``, ``DISK``, ``CPU`` or ``KAFKA``.
        name: Description; ``{}`` stands for the device.
        unit: ``bit/s``, ``B/s``, ``%``, ``ms``, ``/s``, or ``""`` for a count.
        least: Values below are insignificant, however unusual.
        full: Values from here on count as saturated; ``None`` when no maximum is known.
        falls: Whether a drop is significant.
    """

    family: str
    name: str
    unit: str
    least: float
    full: float | None = None
    falls: bool = False


METRICS = {
    "net_in": Metric(NETWORK, "traffic received by {}", "bit/s", 10e6, falls=True),
    "net_out": Metric(NETWORK, "traffic sent by {}", "bit/s", 10e6, falls=True),
    "net_busy": Metric(NETWORK, "use of the bandwidth of {}", "%", 50, full=95),
    "net_in_errors": Metric(NETWORK, "receive errors of {}", "/s", 1),
    "net_out_errors": Metric(NETWORK, "send errors of {}", "/s", 1),
    "net_in_drops": Metric(NETWORK, "received packets dropped by {}", "/s", 1),
    "net_out_drops": Metric(NETWORK, "sent packets dropped by {}", "/s", 1),
    "link_downs": Metric(NETWORK, "times that the link of {} went down", "/s", 1e-9),
    "disk_busy": Metric(DISK, "use of {}", "%", 50, full=95),
    "disk_read": Metric(DISK, "reads from {}", "B/s", 20e6),
    "disk_write": Metric(DISK, "writes to {}", "B/s", 20e6),
    "disk_wait": Metric(DISK, "wait for {}", "ms", 50),
    "disk_read_wait": Metric(DISK, "wait for reads from {}", "ms", 50),
    "disk_write_wait": Metric(DISK, "wait for writes to {}", "ms", 50),
    "disk_queue": Metric(DISK, "queue of {}", "", 4),
    "cpu_busy": Metric(CPU, "use of {}", "%", 50, full=95),
    "cpu_iowait": Metric(CPU, "share of {} that waits for disks", "%", 20),
    "cpu_steal": Metric(CPU, "share of {} taken by other machines of the hypervisor", "%", 10),
    "run_queue": Metric(CPU, "runnable processes", "", 8),
    "load": Metric(CPU, "load of one minute", "", 8),
    "blocked": Metric(CPU, "processes that wait for disks", "", 4),
    "kafka_in": Metric(KAFKA, "bytes sent to the broker", "B/s", 10e6, falls=True),
    "kafka_out": Metric(KAFKA, "bytes requested from the broker", "B/s", 10e6, falls=True),
    "request_queue": Metric(KAFKA, "requests that wait in the broker", "", 50),
}
"""Metrics by their name in tables. The first of each family is its lane's default."""


class HostSample(NamedTuple):
    """A value of a metric: a row of ``tables/host_samples``.

    Columns:
        broker: Broker that the file was collected for.
        host: Host name in the file; empty for none.
        at: End of the interval, by the reference clock, ISO-8601 UTC; null: unknown.
        metric: What was measured: a key of METRICS in lib/casebook/facts/host_metrics.py.
        device: Interface, disk, or which CPUs; empty where there is but one.
        value: Mean of the interval, or the value at that moment.
        unit: bit/s, B/s, %, ms, /s, or empty for a count.
        span: Milliseconds of the interval; 0 for a moment; null if unknown.
        zoned: Its time is known in UTC; else it was read in the zone of the broker's log.
        proof: path:line of the file in the case.
    """

    broker: int
    host: str
    at: EpochMs | None
    metric: str
    device: str
    value: float
    proof: str
    span: int | None = None
    zoned: bool = False

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return METRICS[self.metric].unit


class HostStart(NamedTuple):
    """Start of a host, or of its measuring tool.

    Args:
        at: As in :class:`HostSample`.
        proof: ``path:line`` inside the case.
        of_kernel: The kernel states its boot time; otherwise sysstat started, as it also does on a boot.
        zoned: Whether the time is known in UTC.
    """

    broker: int
    at: int | None
    proof: str
    of_kernel: bool
    zoned: bool


class HostMetrics(NamedTuple):
    """Content of all files of host metrics.

    Args:
        samples: Samples by broker and file, in file order.
        starts: Starts by broker and file.
        problems: Unusable parts of files with the reason, one sentence each.
        files: Number of files.
    """

    samples: tuple[HostSample, ...] = ()
    starts: tuple[HostStart, ...] = ()
    problems: tuple[str, ...] = ()
    files: int = 0


NOTHING_TOLD = HostMetrics()
"""No host metrics were given."""


def is_passed_over(device: str) -> bool:
    """Whether a device is skipped: it is no network or disk, or another device already counts its traffic."""
    return _NO_HARDWARE.fullmatch(device) is not None


def spelled(value: float, unit: str) -> str:
    """``940 Mbit/s``, ``12.5 MB/s``, ``98.6 %``, ``350 ms``, ``0.4 /s``: three significant digits."""
    scale = ""
    if unit in ("bit/s", "B/s"):
        for larger in ("k", "M", "G"):
            if abs(value) < 1000:
                break
            value, scale = value / 1000, larger
    digits = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits} {scale}{unit}".rstrip()
