"""Redact znodes: keep only what Kafka itself writes, at its own paths."""

import json
import re

from casebook.collect.redaction import entities
from casebook.collect.redaction.lines import no_duplicates, redact_log
from casebook.collect.redaction.marks import REDACTED
from casebook.collect.redaction.names import is_sensitive
from casebook.collect.redaction.text import redact_text
from casebook.facts.znodes import Znode

_SECRET_PATHS = ("/config/users/", "/config/brokers/")
_CONFIGURED = ("topics", "clients", "users", "brokers", "ips")
"""Kinds of entities (``ConfigType.java@3.9.0``)."""
_CHANGES = "/config/changes/"
_OF_CHANGES = frozenset({"version", "entity_path", "entity_type", "entity_name"})
_BARE = re.compile(
    r"/brokers(?:/(?:ids|topics|seqid)|/topics/[^/]+/partitions(?:/\d+)?)?|/config(?:/[^/]+)?|/admin(?:/delete_topics(?:/.*)?)?"
    r"|/isr_change_notification|/log_dir_event_notification|/cluster"
)
"""Znodes without data from Kafka (``ZkData.scala@3.9.0``): parents of others, and markers."""
_EMPTY = (b"", b"null")


def redact_znode(znode: Znode) -> Znode:
    """Return the znode without secrets; unknown content at a sensitive path loses its data."""
    if znode.data is None:
        return znode
    if _BARE.fullmatch(znode.path):
        return znode if znode.data.strip() in _EMPTY else _without_data(znode)
    kept = _configured(znode) if znode.path.startswith("/config/") else redact_text(znode.data)
    if kept == znode.data:
        return znode
    return _without_data(znode) if kept is None else znode._replace(data=kept, redacted=True)


def _without_data(znode: Znode) -> Znode:
    return znode._replace(data=None, redacted=True)


def _configured(znode: Znode) -> bytes | None:
    """Return the allowed settings of an entity."""
    is_change = znode.path.startswith(_CHANGES)
    if not is_change and znode.path.split("/")[2] not in _CONFIGURED:
        return None
    secret_path = znode.path.startswith(_SECRET_PATHS)
    try:
        row = json.loads(znode.data, object_pairs_hook=no_duplicates)
        kept = _of_change(row) if is_change else _of_entity(znode.path, row)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None if secret_path or is_change else redact_text(znode.data)
    return znode.data if kept == row else json.dumps(kept).encode()


def _of_change(row: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key in _OF_CHANGES and not _has_secret(value)}


def _of_entity(path: str, row: dict[str, object]) -> dict[str, object]:
    kind = path.split("/")[2]
    settings = {key: value if _may_stay(kind, key, value) else REDACTED for key, value in row["config"].items()}
    return ({"version": row["version"]} if type(row.get("version")) is int else {}) | {"config": settings}


def _may_stay(kind: str, key: str, value: object) -> bool:
    return entities.may_stay(kind, key, value) and not is_sensitive(key) and not _has_secret(value)


def _has_secret(value: object) -> bool:
    text = (value if isinstance(value, str) else json.dumps(value)).encode(errors="surrogatepass")
    return list(redact_log([text])) != [text]
