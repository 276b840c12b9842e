"""The Java process of scans: its exit, and a new one for the next scan."""

import signal
import socket
from contextlib import suppress
from subprocess import TimeoutExpired

from casebook.errors import ScanError

_PATIENCE = 1.0
"""Seconds until the system reports the exit of a process that has just closed its sockets."""
_CERTAIN = 15.0
"""The same for one that refuses connections; a busy machine needs time to end a large process."""

_LESS = "free memory, raise the container's limit, or lower spark.driver.memory"
_KNOWN = {
    -signal.SIGKILL: (
        "The usual cause: the machine or container ran out of memory, and the system killed its largest process.",
        _LESS,
    ),
    52: ("Java itself ran out of memory: Spark then ends with this code.", "free memory, and raise spark.driver.memory"),
}
"""Cause and remedy by code; 52 is ``SparkExitCode.OOM``."""
_OTHERS = ("It was stopped, or Java failed.", _LESS)


def ended(code: int) -> ScanError:
    """Return the error for a Java process that exited or was killed.

    Args:
        code: As in :mod:`subprocess`: a signal is negative.
    """
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    cause, remedy = _KNOWN.get(code, _OTHERS)
    return ScanError(
        f"The Java process of a scan ended: {how}.",
        cause=cause,
        try_=f"Run the notebook again: a new Java process starts. If it ends again, {remedy}. `casebook doctor` "
        "compares free memory with the needs of a scan.",
    )


def watch() -> None:
    """Make every call of the running Java process report its exit. All calls of a scan go through here."""
    from pyspark import SparkContext

    client = SparkContext._gateway._gateway_client
    connection, may_retry = client._get_connection, client._should_retry

    def connected() -> object:
        try:
            return connection()
        except OSError as error:
            _refuse_ended(error, _CERTAIN if isinstance(error, ConnectionRefusedError) else _PATIENCE)
            raise

    def asked_again(retry: bool, of: object, failed: Exception | None = None) -> bool:
        _refuse_ended(failed)
        if _takes_nobody((client.java_parameters.address, client.java_parameters.port)):
            _refuse_ended(failed, _CERTAIN)
        return may_retry(retry, of, failed)

    client._get_connection, client._should_retry = connected, asked_again


def forget_ended() -> None:
    """Drop Python's state of an exited Java process: the next session starts another."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.context import SQLContext

    if _code() is None:
        return
    gateway, context = SparkContext._gateway, SparkContext._active_spark_context
    if context is not None:
        context._jsc = None  # the process has ended
        context.stop()
    with suppress(Exception):
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = SQLContext._instantiatedContext = None


def _refuse_ended(found: Exception | None, patience: float = _PATIENCE) -> None:
    """Raise the error of an exited process, if any."""
    if (code := _code(patience)) is not None:
        raise ended(code) from found


def _takes_nobody(address: tuple[str, int]) -> bool:
    """Whether the address refuses connections, as when the process is ending."""
    try:
        socket.create_connection(address, _PATIENCE).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _code(patience: float = 0) -> int | None:
    """Exit code of our Java process; ``None`` while it runs, or when others started it."""
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    with suppress(TimeoutExpired):
        process.wait(patience)
    return process.returncode
