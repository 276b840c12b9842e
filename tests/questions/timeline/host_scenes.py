"""What sar would have printed on the hosts of an incident."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

STEP = 60_000
Usual = Callable[[int], float]


def usual(mean: float) -> Usual:
    """A quiet day: up and down by a tenth."""
    return lambda number: mean * (1 + ((number * 37) % 11 - 5) / 50)


def during(since: int, until: int, value: float, otherwise: Usual) -> Callable[[int, int], float]:
    """A value in each interval that lies between two moments, epoch milliseconds, as far as that goes; otherwise the usual one."""
    return lambda number, at: value if since < at and at - STEP < until else otherwise(number)


def sar(begin: int, minutes: int, *, received=None, disk=None, idle=None, ahead: int = 0, restart: int | None = None) -> str:
    """Tables of ``sar -n DEV -d -u``, a sample a minute.

    Args:
        begin: Epoch milliseconds of the first interval.
        received: kB/s, ``disk`` and ``idle`` percent: of the number of a sample, and the moment of its end.
        ahead: Milliseconds by which the host's clock, or its zone, is ahead.
        restart: Minute after which the host was started again.
    """
    received, disk, idle = (
        each or (lambda number, _at, mean=mean: usual(mean)(number)) for each, mean in ((received, 9500), (disk, 12), (idle, 70))
    )
    tables = (
        ("IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil",
         lambda n, at: f"eth0 900.00 800.00 {received(n, at):.2f} {usual(3000)(n):.2f} 0.00 0.00 0.00 {received(n, at) * 8192 / 1e7:.2f}"),
        ("DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util",
         lambda n, at: f"sda 100.00 0.00 4000.00 40.00 0.20 1.10 {disk(n, at):.2f}"),
        ("CPU     %user     %nice   %system   %iowait    %steal     %idle",
         lambda n, at: f"all {99 - idle(n, at):.2f} 0.00 0.00 1.00 0.00 {idle(n, at):.2f}"),
    )  # fmt: skip

    def clock(at: int) -> str:
        return f"{_local(at, ahead):%H:%M:%S}"

    lines = [f"Linux 6.1.0 (host-1) \t{_local(begin, ahead):%m/%d/%y} \t_x86_64_\t(8 CPU)", ""]
    for head, row in tables:
        lines.append(f"{clock(begin)} {head}")
        for number in range(1, minutes + 1):
            at = begin + number * STEP
            if restart == number:
                lines += ["", f"{clock(at - 20_000)}  LINUX RESTART\t(8 CPU)", "", f"{clock(at - 20_000)} {head}"]
            lines.append(f"{clock(at)} {row(number, at)}")
        lines.append("")
    return "\n".join(lines)


def _local(at: int, ahead: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC) + timedelta(milliseconds=ahead)
