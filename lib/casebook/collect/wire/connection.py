"""Requests to brokers through Kafka's own network client, in a Java process of ours.

Settings go through its standard input: no password is in a command line. Each request gets an answer or a failure; the Java part
(``lib/jvm/src/casebook/wire``) knows only requests that read.
"""

import json
import os
import queue
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from casebook.collect import bounds
from casebook.collect.redaction import REDACTED, redact_message
from casebook.collect.wire import client_config, refusals
from casebook.collect.wire.messages import Fields, Request
from casebook.errors import CollectError
from casebook.machine.jars import java
from casebook.spark import jvm

_IN_FLIGHT = 64
_HANGS = 60.0
"""Seconds beyond the patience after which the Java process hangs: it starts slowly on a busy machine."""
_MEMORY = "-Xmx1g"
_LOGGING = ("slf4j-api", "log4j-api", "log4j-core", "log4j-slf4j2")
_PASSED_ON = re.compile(
    r"-D(java\.security\.(?:auth\.login\.config|krb5\.conf)|sun\.security\.krb5\.\S+?|javax\.net\.ssl\.\S+?)=(\S+)"
)
"""System properties in ``KAFKA_OPTS`` that Kafka's own tools take for Kerberos and TLS, some of them passwords."""


class BrokerReply(NamedTuple):
    """Outcome of a request.

    Args:
        at: Epoch ms by the clock of this machine.
        version: Version of request and answer; -1 without an answer.
        fields: The answer; ``None`` without.
        failure: ``AUTHENTICATION``, ``NOT_CONNECTED``, ``DISCONNECTED``, ``TIMEOUT``, ``UNSUPPORTED``, ``TOO_LARGE`` or
            ``UNREADABLE``; ``""`` for an answer.
        why: The failure in words, without secrets.
    """

    at: int
    version: int
    fields: Fields | None
    failure: str = ""
    why: str = ""


class Brokers:
    """Connections to brokers.

    Args:
        settings: Client settings by Kafka's names.
        properties: Further system properties of Java.
        jars: Jars with further classes.
        patience: Seconds to wait for a connection, and for each answer.

    Raises:
        CollectError: No Java, or the settings are not valid.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        properties: Mapping[str, str] | None = None,
        jars: Iterable[Path] = (),
        patience: float,
    ) -> None:
        self._patience, self._count = patience, 0
        self._secrets = client_config.secrets(settings)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        classes = ":".join((jvm.classpath(*_LOGGING), *map(str, jars)))
        self._java = subprocess.Popen(
            [java(CollectError), _MEMORY, "-XX:+UseSerialGC", "-cp", classes, "casebook.wire.Main"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        given = {**_kafka_options(), **(properties or {})}
        self._tell({"settings": dict(settings), "properties": given, "patience": int(patience * 1000)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._java.kill()
        self._listener.join()
        with suppress(OSError), self._java:  # closes its pipes
            pass

    def introduce(self, node: int, host: str, port: int) -> None:
        """Give the address of a broker, before the first request to it."""
        self._tell({"node": node, "host": host, "port": port})

    def ask_one(self, request: Request) -> BrokerReply:
        """Return the reply to one request."""
        return next(self.ask([request]))[1]

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[Request, BrokerReply]]:
        """Send requests, at most 64 at a time, and yield each with its reply, in the order of the replies.

        Raises:
            CollectError: The Java process ended.
            TimeIsUpError: The collection's time is up.
        """
        remaining = iter(requests)
        pending: dict[int, Request] = {}
        while True:
            for request in islice(remaining, _IN_FLIGHT - len(pending)):
                self._count += 1
                pending[self._count] = request
                self._tell({"id": self._count, **request._asdict()})
            if not pending:
                return
            row = self._next()
            if (request := pending.pop(row["id"], None)) is not None:
                failure, why = row.get("failure", ""), self._clean(row.get("why", ""))
                yield request, BrokerReply(row["at"], row.get("version", -1), row.get("fields"), failure, why)

    def _next(self) -> Mapping[str, object]:
        """Return the next line of Java, which ends each request in time."""
        bounds.check()
        try:
            line = self._lines.get(timeout=min(bounds.left(), self._patience + _HANGS))
        except queue.Empty:
            bounds.check()
            raise CollectError("The Java process that asks the brokers does not answer.") from None
        row = json.loads(line) if line.endswith(b"\n") else {"invalid": "it ended"}
        if "invalid" in row:
            raise refusals.no_client(self._clean(row["invalid"]))
        return row

    def _clean(self, message: str) -> str:
        """Return a message of Kafka or Java without the secrets of the settings."""
        for secret in self._secrets:
            message = message.replace(secret, REDACTED)
        return redact_message(message)

    def _tell(self, row: Mapping[str, object]) -> None:
        try:
            self._java.stdin.write(json.dumps(row).encode() + b"\n")
            self._java.stdin.flush()
        except OSError:  # it has ended; the reader says why
            return

    def _listen(self) -> None:
        with self._java.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")


def _kafka_options() -> dict[str, str]:
    return dict(_PASSED_ON.findall(os.environ.get("KAFKA_OPTS", "")))
