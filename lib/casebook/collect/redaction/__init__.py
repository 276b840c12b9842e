"""Secrets are taken out before anything is written. Pure functions; when in doubt, out it goes.

Settings of brokers and clients pass by an allow-list: what analyses read, nothing else. Free text (logs, pastes, ledgers, data of
znodes, what is said to people) passes three sieves: structured rules (:mod:`.rules`: what is assigned to a name that means a
secret), what a token's own form gives away (:mod:`.scanner` with the public rules of detect-secrets, :mod:`.prefixed`), and what
is too random to be anything else (:mod:`.shapes`). Addresses with passwords are refused (:mod:`.addresses`).

Where Kafka keeps secrets: SCRAM credentials under ``/config/users``, encrypted passwords under ``/config/brokers``
(``ZkData.SensitiveRootPaths``, core/src/main/scala/kafka/zk/ZkData.scala@3.9.0), JAAS lines and the passwords of key
stores in ``server.properties``. Logs hold whatever someone put on a command line or into a URL.
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
