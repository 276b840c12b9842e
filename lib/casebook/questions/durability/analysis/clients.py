"""Effective settings of a producer or consumer: from its file, else the default of its library and release, if known."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from casebook.errors import UsageError, did_you_mean
from casebook.facts.clients import CONSUMER, JAVA, LIBRARIES, LIBRDKAFKA, PRODUCER, SCALA, SPRING, ClientFile
from casebook.kafka.defaults import CLIENT_DEFAULTS, CLIENT_RELEASES, CONTRADICTION_OF_DEFAULT, IDEMPOTENCE_SINCE, NOT_SET
from casebook.kafka.releases import KafkaVersion
from casebook.kafka.settings import Setting
from casebook.questions.durability.analysis.rows import ClientRow

_OF_PRODUCERS = (
    "acks", "retries", "delivery.timeout.ms", "enable.idempotence", "max.in.flight.requests.per.connection", "linger.ms",
    "transactional.id",
)  # fmt: skip
_OF_CONSUMERS = ("enable.auto.commit", "auto.offset.reset", "isolation.level", "session.timeout.ms")
KEYS = {PRODUCER: _OF_PRODUCERS, CONSUMER: _OF_CONSUMERS}
_MOST_IN_FLIGHT = 5
_CONTRADICTS = ("acks", "retries", "max.in.flight.requests.per.connection")
"""Settings that contradict idempotence."""
_STORE = "enable.auto.offset.store"
_STATED = re.compile(r"(?P<client>[\w.-]+)\s*=\s*(?P<library>[a-z]+)?\s*(?P<version>[0-9][0-9.]*)?\s*(?::(?P<topics>.*))?")


class Stated(NamedTuple):
    """A person's description of a client.

    Args:
        library: One of :data:`casebook.facts.clients.LIBRARIES`.
        version: Its release.
        topics: Topics it writes or reads; empty: any topic.
    """

    library: str | None = None
    version: KafkaVersion | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedClient:
    """A producer or consumer with its effective settings.

    Args:
        name: Name at collection; different files of one client also have the file name.
        kind: :data:`PRODUCER` or :data:`CONSUMER`.
        library: ``None``: unknown.
        version: ``None``: unknown; then a default applies only if all releases have it.
        values: Settings by Java name.
        topics: Described topics; empty: any topic.
        problems: Problems of its file.
        contradictions: Contradicting settings, and the client's reaction.
        starts: Whether it starts with these settings; ``None``: unknown.
        file: Path in the case.
    """

    name: str
    kind: str
    library: str | None
    version: KafkaVersion | None
    values: Mapping[str, Setting]
    topics: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    starts: bool | None = True
    file: str = ""

    def __getitem__(self, key: str) -> Setting:
        return self.values[key]

    def uses(self, topic: str) -> bool:
        """Return whether it may write or read a topic."""
        return not self.topics or topic in self.topics


def stated(text: str) -> dict[str, Stated]:
    """Parse ``billing=java 2.8.1: payments invoices; mailer=librdkafka 1.9.2``.

    Raises:
        UsageError: It has another form, or an unknown library.
    """
    found = {}
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        match = _STATED.fullmatch(entry)
        if match is None:
            example = "clients='billing=java 2.8.1: payments invoices; mailer=librdkafka 1.9.2'"
            raise UsageError(f"clients: {entry!r} is not NAME=LIBRARY RELEASE: TOPICS.", try_=f"For example -p {example}.")
        library = match["library"]
        if library and library not in LIBRARIES:
            raise UsageError(f"clients: {library} is not a known library.", try_=did_you_mean(library, LIBRARIES))
        try:
            version = KafkaVersion.parse(match["version"]) if match["version"] else None
        except ValueError:
            raise UsageError(f"clients: {match['version']} is not a release.", try_="For example 2.8.1, or 1.9.2.") from None
        found[match["client"]] = Stated(library, version, tuple((match["topics"] or "").replace(",", " ").split()))
    return found


def must_be_there(said: Mapping[str, Stated], topics: Collection[str]) -> None:
    """Refuse an unknown topic: after a typing error its client would have no verdicts.

    Raises:
        UsageError: A described topic does not exist.
    """
    for client, one in said.items():
        for topic in one.topics:
            if topic not in topics:
                raise UsageError(f"clients: {client}: there is no topic {topic}.", try_=did_you_mean(topic, topics))


def clients(files: Sequence[ClientFile], said: Mapping[str, Stated]) -> tuple[AuditedClient, ...]:
    """Return every producer, then every consumer, by name.

    Raises:
        UsageError: A described client does not exist.
    """
    known = sorted({file.client for file in files})
    if unknown := sorted(said.keys() - set(known)):
        raise UsageError(f"clients: there is no client {unknown[0]} in this case.", try_=did_you_mean(unknown[0], known))
    several = {(f.client, f.kind) for f in files if sum((g.client, g.kind) == (f.client, f.kind) for g in files) > 1}
    found = [_client(file, said.get(file.client, Stated()), named=(file.client, file.kind) in several) for file in files]
    return tuple(sorted(found, key=lambda client: (client.kind != PRODUCER, client.name)))


def rows(found: Iterable[AuditedClient]) -> tuple[ClientRow, ...]:
    """Return the effective settings of each."""
    return tuple(
        ClientRow(client.name, client.kind, key, value.value, value.origin)
        for client in found
        for key, value in client.values.items()
    )


def _client(file: ClientFile, said: Stated, *, named: bool) -> AuditedClient:
    library = said.library or file.library
    values = {key: _value(file, key, library, said.version) for key in KEYS[file.kind]}
    contradictions, starts = (), True
    if file.kind == PRODUCER:
        values, contradictions, starts = _settled(file, values, library, said.version)
    elif (stored := file.given.get(_STORE)) is not None and stored.value != "true":
        values |= {"enable.auto.commit": _stored_by_hand(file, values["enable.auto.commit"])}
    return AuditedClient(
        name=f"{file.client} ({file.file.rpartition('/')[2]})" if named else file.client,
        kind=file.kind,
        library=library,
        version=said.version,
        values=values,
        topics=said.topics,
        problems=file.problems,
        contradictions=contradictions,
        starts=starts,
        file=file.file,
    )


def _stored_by_hand(file: ClientFile, commit: Setting) -> Setting:
    """librdkafka commits stored offsets; the application may store them itself (``CONFIGURATION.md@v2.11.0``)."""
    if commit.value == "false":
        return commit
    given, place = file.given[_STORE], file.proof(_STORE)
    if given.value is None:
        return Setting(None, f"unknown: {_STORE}: {given.why}", proof=place)
    return Setting("false", f"{_STORE} false: the application chooses what is committed", proof=place)


def _value(file: ClientFile, key: str, library: str | None, version: KafkaVersion | None) -> Setting:
    given = file.given.get(key)
    if given is not None:
        place = file.proof(key)
        if given.value is None:
            return Setting(None, f"unknown: {given.why}", proof=place)
        return Setting(given.value, f"{file.file.rpartition('/')[2]}:{given.line}", proof=place)
    if not file.whole:
        return Setting(None, "unknown: its file could not be read in full")
    return _default(key, library, version)


def _default(key: str, library: str | None, version: KafkaVersion | None) -> Setting:
    """Return the default; with an unknown library or release, the one common to all."""
    if library and version:
        return Setting(str(CLIENT_DEFAULTS[library][key].at(version)), f"default of {library} {version}")
    libraries = (library,) if library else (JAVA, LIBRDKAFKA)
    by_value: dict[str, list[str]] = {}
    for name in libraries:
        for release in CLIENT_RELEASES[name]:
            value = str(CLIENT_DEFAULTS[name][key].at(KafkaVersion.parse(release)))
            told = by_value.setdefault(value, [])
            if name not in told:
                told.append(name)
    if len(by_value) == 1:
        return Setting(next(iter(by_value)), f"default of every release of {' and '.join(libraries)}")
    which = "its release is" if library else "its library and release are"
    return Setting(None, f"unknown: not set, and {which} unknown", possible=tuple(sorted(by_value)))


def _settled(
    file: ClientFile, values: dict[str, Setting], library: str | None, version: KafkaVersion | None
) -> tuple[dict[str, Setting], tuple[str, ...], bool | None]:
    """Apply a producer's rules on idempotence, transactions and contradictions.

    ``KafkaProducer.java@0.11.0.2, 2.8.2`` (configureAcks, configureRetries, configureInflightRequests),
    ``ProducerConfig.java@3.0.0, 3.0.1`` (postProcessAndValidateIdempotenceConfigs), ``rdkafka_conf.c@v1.9.2``.
    """
    asked = file.given.get("enable.idempotence")
    transactional = values["transactional.id"].value
    if (values["retries"].whole or 0) < 0:
        return values, (_fewer_than_none(values["retries"], library),), False
    if library in (JAVA, SPRING) and version is not None and version < KafkaVersion.parse(IDEMPOTENCE_SINCE):
        return values | {"enable.idempotence": Setting("false", f"{library} {version} does not support it")}, (), True
    against = _against(file, values)
    unsure = [key for key in _CONTRADICTS if key in file.given and values[key].value is None]
    starts = None if unsure or not file.whole else True
    if transactional and asked is not None and asked.value == "false":
        return values, ("A transactional.id is set and idempotence is off: the producer does not start.",), False
    wanted = (asked is not None and asked.value == "true") or bool(transactional)
    if wanted and against:
        why = f"Idempotence is on and {' and '.join(against)}: the producer does not start, in any release."
        return values, (why,), False
    if wanted:
        return _idempotent(file, values), (), starts
    idempotent = values["enable.idempotence"]
    if asked is None and against and idempotent.value != "false":
        off = Setting("false", f"switched off by {' and '.join(against)}")
        silent = library in (None, JAVA, SPRING) and (version is None or CONTRADICTION_OF_DEFAULT.at(version) == "off")
        what = f"{' and '.join(against)} switches it off, which is logged in one line"
        why = f"Where idempotence is the default (Java, 3.0.1 and later), {what}."
        return values | {"enable.idempotence": off}, (why,) if silent else (), True
    if idempotent.value == "true" and unsure:
        not_known = Setting(None, f"unknown: the default, unless {' or '.join(unsure)} switches it off")
        return values | {"enable.idempotence": not_known}, (), None
    if idempotent.value == "true":
        return _idempotent(file, values), (), starts
    if idempotent.value == "false" and file.whole:
        return values, (), True
    return values, (), None if against or unsure or not file.whole else True


def _fewer_than_none(retries: Setting, library: str | None) -> str:
    """Source: ``ProducerConfig.java@0.9.0.1, 3.7.0``, ``CONFIGURATION.md@v0.11.6, v2.3.0``.

    ``DefaultEventHandler.scala@0.9.0.1``.
    """
    what = "never sends anything" if library == SCALA else "does not start, in any release"
    return f"retries={retries.value} is not a valid value: the producer {what}."


def _against(file: ClientFile, values: Mapping[str, Setting]) -> list[str]:
    """Return the given settings that contradict idempotence."""
    given = {key: values[key].value for key in file.given if key in values}
    found = [f"acks={given['acks']}"] if given.get("acks") in ("0", "1") else []
    if given.get("retries") == "0":
        found.append("retries=0")
    in_flight = values["max.in.flight.requests.per.connection"]
    if "max.in.flight.requests.per.connection" in given and (in_flight.whole or 0) > _MOST_IN_FLIGHT:
        found.append(f"max.in.flight.requests.per.connection={in_flight.value}")
    return found


def _idempotent(file: ClientFile, values: dict[str, Setting]) -> dict[str, Setting]:
    """Idempotence implies acks=all, unlimited retries and at most five requests in flight, unless set."""
    origin = "follows from idempotence"
    for key, value in (("acks", "all"), ("retries", "2147483647")):
        if key not in file.given:
            values = values | {key: Setting(value, origin)}
    in_flight = values["max.in.flight.requests.per.connection"]
    if "max.in.flight.requests.per.connection" not in file.given and (
        in_flight.whole is None or in_flight.whole > _MOST_IN_FLIGHT
    ):
        values = values | {"max.in.flight.requests.per.connection": Setting(str(_MOST_IN_FLIGHT), origin)}
    if values["enable.idempotence"].value != "true":
        values = values | {"enable.idempotence": Setting("true", "follows from transactional.id")}
    return values


def transactional(client: AuditedClient) -> bool | None:
    """Return whether a producer uses transactions."""
    value = client["transactional.id"].value
    return None if value is None else value != NOT_SET
