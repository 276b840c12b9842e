"""Requests of Kafka's protocol: the bodies of those that read, and the parts of their answers.

A body has the fields of all versions; the version is chosen when it is sent. Field names and meanings:
``clients/src/main/resources/common/message/*.json@3.9.2``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from casebook.collect.redaction import redact_message
from casebook.collect.redaction.broker_settings import ALLOWED, is_of_its_kind
from casebook.collect.redaction.entities import may_stay
from casebook.facts.disks import METADATA_TOPIC

Fields = Mapping[str, object]

_TOPIC, _BROKER = 2, 4
_KINDS = {_TOPIC: "topics", _BROKER: "brokers"}
_PARTITIONS_AT_ONCE = 2000


class Request(NamedTuple):
    """A request to one broker.

    Args:
        node: Broker id; a negative number for a bootstrap address.
        api: Name of the request.
        fields: Its body.
        oldest: Oldest version with all that is needed.
        latest: Newest version.
        blind: Send it without an ApiVersions request before it, which harms Kafka 0.9.
    """

    node: int
    api: str
    fields: Fields
    oldest: int = 0
    latest: int = 999
    blind: bool = False


def probe(node: int) -> Request:
    """Return a request that Kafka 0.9 answers in another format than all later releases, and that harms none.

    0.9 ignores its version and answers in version 0 (``TopicMetadataRequest.scala@0.9.0.1``).
    """
    return _metadata(node, [])._replace(oldest=1, latest=1, blind=True)


def membership(node: int) -> Request:
    """Return the request for the live brokers and the controller, without topics."""
    return _metadata(node, [])


def metadata(node: int) -> Request:
    """Return the request for all brokers, topics and partitions."""
    return _metadata(node, None)


def _metadata(node: int, topics: Sequence[str] | None) -> Request:
    """Return a request that names no topic, so that none is created: only version 4 and later can forbid that."""
    fields = {
        "topics": topics,
        "allowAutoTopicCreation": True,
        "includeClusterAuthorizedOperations": False,
        "includeTopicAuthorizedOperations": False,
    }
    return Request(node, "METADATA", fields, oldest=1)


def api_versions(node: int) -> Request:
    """Return the request for the requests and features that a broker supports."""
    return Request(node, "API_VERSIONS", {"clientSoftwareName": "kafka-casebook", "clientSoftwareVersion": "1"})


def topic_configs(node: int, topics: Sequence[str]) -> Request:
    """Return the request for the settings of topics."""
    return _configs(node, _TOPIC, topics, synonyms=False)


def broker_configs(node: int, *, synonyms: bool) -> Request:
    """Return the request for a broker's own settings.

    Args:
        synonyms: Whether to ask for all layers of each, which needs version 1.
    """
    return _configs(node, _BROKER, [str(node)], synonyms=synonyms)


def _configs(node: int, kind: int, names: Sequence[str], *, synonyms: bool) -> Request:
    resources = [{"resourceType": kind, "resourceName": name, "configurationKeys": None} for name in names]
    fields = {"resources": resources, "includeSynonyms": synonyms, "includeDocumentation": False}
    return Request(node, "DESCRIBE_CONFIGS", fields)


def log_dirs(node: int) -> Request:
    """Return the request for the size of each replica on a broker."""
    return Request(node, "DESCRIBE_LOG_DIRS", {"topics": None})


def reassignments(node: int, milliseconds: int) -> Request:
    """Return the request for all running reassignments."""
    return Request(node, "LIST_PARTITION_REASSIGNMENTS", {"timeoutMs": milliseconds, "topics": None})


def quorum(node: int) -> Request:
    """Return the request for the state of the controllers' quorum."""
    topics = [{"topicName": METADATA_TOPIC, "partitions": [{"partitionIndex": 0}]}]
    return Request(node, "DESCRIBE_QUORUM", {"topics": topics})


def topic_partitions(node: int, topics: Sequence[str], cursor: Fields | None) -> Request:
    """Return the request for eligible leader replicas.

    Args:
        topics: In order; those before the cursor may be left out.
        cursor: Where the last answer ended; ``None`` for the first.
    """
    fields = {"topics": [{"name": name} for name in topics], "responsePartitionLimit": _PARTITIONS_AT_ONCE, "cursor": cursor}
    return Request(node, "DESCRIBE_TOPIC_PARTITIONS", fields)


def parts(api: str, fields: Fields, node: int) -> Iterator[tuple[str, Fields]]:
    """Yield subject and fields of each part of an answer, without secrets; a setting passes an allow-list."""
    if api in ("METADATA", "DESCRIBE_TOPIC_PARTITIONS"):
        yield from _of_topics(fields)
    elif api == "DESCRIBE_CONFIGS":
        for result in fields["results"]:
            yield f"{_KINDS[result['resourceType']]}/{result['resourceName']}", _settings(result)
    elif api == "DESCRIBE_LOG_DIRS":
        for result in fields["results"]:
            yield f"brokers/{node}", result
    else:
        yield f"brokers/{node}" if api == "API_VERSIONS" and node >= 0 else "cluster", fields


def _of_topics(fields: Fields) -> Iterator[tuple[str, Fields]]:
    yield "cluster", {name: value for name, value in fields.items() if name != "topics"}
    for topic in fields["topics"]:
        yield f"topics/{topic['name']}", {name: value for name, value in topic.items() if name != "partitions"}
        for partition in topic["partitions"]:
            yield f"topics/{topic['name']}/{partition['partitionIndex']}", partition


def _settings(result: Mapping[str, object]) -> Fields:
    """Return the settings that analyses use. Of a topic only its own: the others are those of the broker that answered."""
    kind = _KINDS[result["resourceType"]]
    kept = [
        {**config, "synonyms": [one for one in config.get("synonyms") or () if _may_stay(kind, one["name"], one["value"])]}
        for config in result["configs"]
        if _may_stay(kind, config["name"], config["value"]) and (kind == "brokers" or is_own(config))
    ]
    return {"errorCode": result["errorCode"], "errorMessage": redact_message(result["errorMessage"] or ""), "configs": kept}


def is_own(config: Mapping[str, object]) -> bool:
    """Whether a topic's setting is its own: by its source, before 1.1 by not being a default."""
    return config["configSource"] == 1 if config.get("configSource", -1) >= 0 else not config["isDefault"]


def _may_stay(kind: str, name: str, value: object) -> bool:
    if kind == "brokers" and isinstance(value, str) and name in ALLOWED and is_of_its_kind(name, value):
        return True
    return may_stay(kind, name, value)
