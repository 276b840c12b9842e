"""Failures of Kafka's client in words: what happened, likely cause, what to try.

The patterns are Kafka's and Java's own messages (``clients/src/main/java/org/apache/kafka/common/**@3.9.2``, OpenJDK 17).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from casebook.collect.wire.addresses import Address
from casebook.collect.wire.listeners import Listener, Speech, listener_at
from casebook.errors import CollectError

_CHECK = "Check the file of --client-config with Kafka's own tools, which take the same."
_TRUST = (
    "Set ssl.truststore.location (or ssl.truststore.certificates) in the file of --client-config to the authority of the brokers."
)
_OWN = "Check ssl.keystore.location (or ssl.keystore.certificate.chain) in the file of --client-config."
_PROTOCOL = "Set security.protocol in the file of --client-config to {}."


class _Known(NamedTuple):
    """A message that has a known cause.

    Args:
        pattern: Of the message.
        cause: Of the failure; with groups of the pattern.
        remedy: Step to try.
    """

    pattern: re.Pattern[str]
    cause: str
    remedy: str


_KNOWN = tuple(
    _Known(re.compile(pattern), cause, remedy)
    for pattern, cause, remedy in (
        (r"CertificateExpiredException NotAfter: ([^:]+:\d\d:\d\d[ \w]*)", "The broker's certificate has expired ({}).",
         "Renew the broker's certificate. If it is valid, correct the clock of this machine."),
        (r"CertificateNotYetValidException NotBefore: ([^:]+:\d\d:\d\d[ \w]*)", "The broker's certificate is valid only from {}.",
         "Correct the clock of this machine, or of the one that made the certificate."),
        (r"unable to find valid certification path|Path does not chain|trustAnchors parameter must be non-empty",
         "The broker's certificate is signed by an authority that the client does not trust.", _TRUST),
        (r"No subject alternative|No name matching",
         "The broker's certificate is for other host names than the address of the broker.",
         "Use a host name of the certificate in --bootstrap and in advertised.listeners of the brokers."),
        (r"fatal alert: (?:certificate_required|bad_certificate)",
         "The broker requires a certificate of the client, and got none that it accepts.", _OWN),
        (r"fatal alert: (certificate_\w+|unknown_ca|access_denied)",
         "The broker does not accept the client's certificate ({}): it has expired, or the broker does not know its authority.",
         _OWN),
        (r"fatal alert: (handshake_failure|protocol_version)|No appropriate protocol",
         "Client and broker have no TLS version or cipher suite in common, or the broker requires a certificate of the client.",
         "Compare ssl.enabled.protocols and ssl.cipher.suites with those of the broker, and give ssl.keystore.location."),
        (r"Invalid username or password|invalid credentials", "User or password is wrong, or the broker does not know the user.",
         "Check sasl.jaas.config in the file of --client-config."),
        (r"Client SASL mechanism '([\w-]+)' not enabled in the server, enabled mechanisms are \[([\w, -]*)\]",
         "The listener does not have the SASL mechanism {}; it has {}.", "Set sasl.mechanism in the file of --client-config."),
        (r"enabled mechanisms are \[\]", "The listener does not use SASL.", _PROTOCOL.format("PLAINTEXT, or SSL with TLS")),
        (r"Value not specified for key|control flag|JAAS config property does not contain",
         "sasl.jaas.config is not a JAAS line: an unescaped quote in a value is the usual cause.",
         "Check the quotes in sasl.jaas.config in the file of --client-config."),
        (r"response code (40[0-9])", "The token server refuses the client ({}): its id or secret is wrong, or its scope.",
         "Check clientId, clientSecret and scope in sasl.jaas.config."),
        (r"retrieving token from callback handler",
         "The token server gives no token: it is not reachable, or refuses the client.",
         "Check sasl.oauthbearer.token.endpoint.url and sasl.jaas.config in the file of --client-config, from this machine."),
        (r"the login did not end in time",
         "The login did not end in time: the token server or the Kerberos server does not answer.",
         "Check sasl.oauthbearer.token.endpoint.url, or java.security.krb5.conf in KAFKA_OPTS, from this machine."),
        (r"(?i)cannot locate KDC|Receive timed out|ICMP Port Unreachable|LoginException:? connect(?:ion refused| timed out)",
         "The Kerberos server (KDC) is not reachable.",
         "Check java.security.krb5.conf in KAFKA_OPTS."),
        (r"(?i)unable to obtain password from user|Client not found in Kerberos|Checksum failed|Pre-authentication",
         "Kerberos does not accept the client's principal or its key tab.",
         "Check principal and keyTab in sasl.jaas.config, e.g. with kinit -kt."),
        (r"(?i)Server not found in Kerberos database", "Kerberos does not know the broker's service principal.",
         "Check sasl.kerberos.service.name, and that the host name of the broker is that of its principal."),
    )
)  # fmt: skip
_CLASS = re.compile(r"(?<![\w.])(?:[a-z]\w*\.)*[A-Z]\w*(?:Exception|Error):? ")


def cause_of(message: str) -> tuple[str, str]:
    """Return the likely cause of a failure by its message, and what to try; without a known one, the message."""
    for known in _KNOWN:
        if match := known.pattern.search(message):
            return known.cause.format(*(group or "" for group in match.groups())), known.remedy
    return f"{_CLASS.sub('', message).rstrip('.')}.", _CHECK


def no_client(message: str) -> CollectError:
    """Return the error of a client that could not be made, by its message."""
    cause, remedy = cause_of(message)
    return CollectError("The brokers could not be asked.", cause=cause, try_=remedy)


def no_answer(address: Address, failure: str, why: str, settings: Mapping[str, str]) -> CollectError:
    """Return the error of a bootstrap address that gives no metadata.

    Args:
        address: The address.
        failure: Its kind; see :class:`casebook.collect.wire.connection.BrokerReply`.
        why: The failure in words.
        settings: Settings of the client.
    """
    if failure == "UNREADABLE":
        return CollectError(
            f"{address} is a broker of Kafka 0.9, which cannot be asked.",
            cause="Its answers have the format of 0.9. Newer requests would harm it, so none was sent.",
            try_="Read its ZooKeeper: casebook collect --zookeeper HOST:2181.",
        )
    if failure == "AUTHENTICATION":
        cause, remedy = cause_of(why)
        return CollectError(f"{address} and the client did not accept each other.", cause=cause, try_=remedy)
    listener = Listener(speech=Speech.SILENT) if failure == "TIMEOUT" else listener_at(address)
    if listener.unreachable:
        return CollectError(
            f"{address} could not be reached.",
            cause=listener.unreachable,
            try_="Check address and port of --bootstrap from this machine.",
        )
    cause, remedy = _mismatch(listener, settings)
    return CollectError(f"{address} does not answer: {why}.", cause=cause, try_=remedy)


def _mismatch(listener: Listener, settings: Mapping[str, str]) -> tuple[str, str]:
    """Return why a listener does not serve a client with these settings, and what to try."""
    protocol = settings.get("security.protocol", "PLAINTEXT").upper()
    sasl, tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    asked = f"the client asked with security.protocol={protocol}"
    if listener.speech == Speech.SILENT and not listener.tls:
        return (
            "It accepts connections and is silent: no listener of Kafka, a proxy without a broker, or a broker that hangs.",
            "Check the port, and the log of the broker.",
        )
    if listener.tls and not tls:
        return f"The listener uses TLS, and {asked}.", _PROTOCOL.format("SASL_SSL" if sasl else "SSL or SASL_SSL")
    if tls and not listener.tls:
        wanted = "SASL_PLAINTEXT" if sasl or listener.speech == Speech.SASL else "PLAINTEXT"
        return f"The listener does not use TLS, and {asked}.", _PROTOCOL.format(wanted)
    if listener.certificate:
        has_own = any(key.startswith("ssl.keystore.") for key in settings)
        what = "does not accept that of the client" if has_own else "the client has none"
        return f"The listener requires a certificate of the client, and {what}.", _OWN
    if listener.speech == Speech.SASL and not sasl:
        return f"The listener requires SASL, and {asked}.", _PROTOCOL.format("SASL_SSL" if tls else "SASL_PLAINTEXT")
    if listener.speech == Speech.SASL:
        return _ended_early(settings)
    if listener.speech == Speech.ANSWERS:
        return (
            "It answers other connections: the broker restarts, or limits connections.",
            "Try again; then look at the broker's log.",
        )
    return (
        "It closes each connection: no listener of Kafka, or a broker that limits connections (max.connections).",
        "Check the port, and the log of the broker.",
    )


def _ended_early(settings: Mapping[str, str]) -> tuple[str, str]:
    """Return why a connection ended during its authentication, without an error of the broker, and what to try."""
    if settings.get("sasl.mechanism", "GSSAPI") != "GSSAPI":  # the default of Kafka
        return "The connection ended during the authentication.", "Look at the log of the broker."
    return (
        "The connection ended during the authentication. The usual cause is that Kerberos does not know the broker's service "
        "principal.",
        "Check sasl.kerberos.service.name, and that the host name in --bootstrap is that of the principal.",
    )
