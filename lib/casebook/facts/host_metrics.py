"""Rows of what a broker's host measured of its network, disks and CPU, whoever wrote it down: sar, iostat or Prometheus."""

import re
from typing import NamedTuple

from casebook.facts.times import EpochMs

_NO_HARDWARE = re.compile(r"lo\d*|loop\d+|z?ram\d+|ifb\d+|dummy\d+|sr\d+|veth\w*|docker\d+|br-\w+|cali\w+")
NETWORK, DISK, CPU, KAFKA = "network", "disk", "CPU", "Kafka"
FAMILIES = (NETWORK, DISK, CPU)
"""What a host is asked for, in the order in which it is shown."""


class Metric(NamedTuple):
    """What is measured.

    Args:
        family: ``NETWORK``, ``DISK``, ``CPU`` or ``KAFKA``.
        name: In words; ``{}`` stands for the device.
        unit: ``bit/s``, ``B/s``, ``%``, ``ms``, ``/s``, or ``""`` for a count.
        least: What is below says nothing, however unusual it is.
        full: From here on it is as good as saturated; ``None`` where nobody knows what it could be.
        falls: Whether it says something when it ceases.
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
"""By the name that tables have of it. Each family begins with what its lane shows unless another stands out."""


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
        """Of the value."""
        return METRICS[self.metric].unit


class HostStart(NamedTuple):
    """A host was started, or what measures there.

    Args:
        at: As of a sample.
        proof: ``path:line`` inside the case.
        of_kernel: The kernel says when it was booted; else sysstat was started, which a boot does as well.
        zoned: Whether its time is known in UTC.
    """

    broker: int
    at: int | None
    proof: str
    of_kernel: bool
    zoned: bool


class HostsTold(NamedTuple):
    """What files of host metrics tell.

    Args:
        samples: By broker and file, in their order.
        starts: The same way.
        problems: What of which file could not be used, and why; one sentence each.
        files: How many files there were.
    """

    samples: tuple[HostSample, ...] = ()
    starts: tuple[HostStart, ...] = ()
    problems: tuple[str, ...] = ()
    files: int = 0


NOTHING_TOLD = HostsTold()
"""No host metrics were given."""


def is_passed_over(device: str) -> bool:
    """Whether neither a network nor a disk is behind a device, or what another device counts as well: it is not read."""
    return _NO_HARDWARE.fullmatch(device) is not None


def spelled(value: float, unit: str) -> str:
    """``940 Mbit/s``, ``12.5 MB/s``, ``98.6 %``, ``350 ms``, ``0.4 /s``: three digits that count."""
    scale = ""
    if unit in ("bit/s", "B/s"):
        for larger in ("k", "M", "G"):
            if abs(value) < 1000:
                break
            value, scale = value / 1000, larger
    digits = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits} {scale}{unit}".rstrip()
