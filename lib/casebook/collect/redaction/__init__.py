"""Remove secrets before anything is written. Pure functions; doubtful text is removed.

Settings of brokers and clients pass an allow-list: only what analyses use. Free text (logs, pastes, ledgers, data of znodes,
messages) passes three filters: structured rules (:mod:`.rules`: values assigned to a sensitive name), known token formats
(:mod:`.scanner` with the public rules of detect-secrets, :mod:`.prefixed`), and strings too random to be anything else
(:mod:`.shapes`). Addresses with passwords are refused (:mod:`.addresses`).

Where Kafka keeps secrets: SCRAM credentials under ``/config/users``, encrypted passwords under ``/config/brokers``
(``ZkData.SensitiveRootPaths``, core/src/main/scala/kafka/zk/ZkData.scala@3.9.0), JAAS lines and key store passwords in
``server.properties``. Logs contain anything from command lines or URLs.
"""

from casebook.collect.redaction.broker_settings import redact_properties
from casebook.collect.redaction.lines import redact_ledger, redact_log
from casebook.collect.redaction.marks import MARK, REDACTED
from casebook.collect.redaction.names import is_sensitive
from casebook.collect.redaction.text import redact_message, redact_name, redact_text
from casebook.collect.redaction.znodes import redact_znode

__all__ = [
    "MARK",
    "REDACTED",
    "is_sensitive",
    "redact_ledger",
    "redact_log",
    "redact_message",
    "redact_name",
    "redact_properties",
    "redact_text",
    "redact_znode",
]
