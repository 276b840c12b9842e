"""Kafka's tools whose output answers no check: what stands behind their command is called by their name (``bin@3.9.0``)."""

import re

_READ = ("topics", "consumer-groups", "configs", "log-dirs", "reassign-partitions", "get-offsets", "metadata-quorum",
         "broker-api-versions", "transactions", "leader-election", "preferred-replica-election", "consumer-offset-checker",
         "run-class")  # fmt: skip
_UNREAD = ("acls", "client-metrics", "cluster", "console-consumer", "console-producer", "console-share-consumer",
           "consumer-perf-test", "delegation-tokens", "delete-records", "dump-log", "e2e-latency", "features", "groups", "jmx",
           "metadata-shell", "mirror-maker", "producer-perf-test", "replay-log-producer", "replica-verification", "server-start",
           "server-stop", "share-groups", "simple-consumer-shell", "storage", "streams-application-reset", "streams-groups",
           "verifiable-consumer", "verifiable-producer")  # fmt: skip
_TOOL = re.compile(rf"(?:.*[\s/\\])?(?P<tool>kafka-(?:{'|'.join((*_READ, *_UNREAD))}))(?:\.sh|\.bat)?\s.*")
_INSTEAD = "leaders and ISRs tells `kafka-topics --describe`, who is registered `ls /brokers/ids`"
_LONGEST = 512


def tool(text: str) -> str | None:
    """The tool that a command line runs; ``None`` for no command line of Kafka's."""
    found = _TOOL.fullmatch(text[:_LONGEST]) if "kafka-" in text[:_LONGEST] else None
    return found["tool"] if found else None


def reason(asked: str | None) -> str:
    """Why lines behind the command of a tool are not understood; ``""`` where the tool is one that is read."""
    if asked is None or asked.removeprefix("kafka-") in _READ:
        return ""
    return f"stands behind {asked}, whose output no check reads: {_INSTEAD}"
