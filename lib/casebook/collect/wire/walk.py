"""Ask the brokers of a cluster for all that an analysis uses. Only requests that read are sent, and no group is joined.

Every refusal, missing answer and unsupported request becomes a problem that names its part of the case; the walk goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from confluent_kafka import KafkaError

from casebook.collect import bounds
from casebook.collect.wire import messages, refusals
from casebook.collect.wire.addresses import Address
from casebook.collect.wire.connection import BrokerReply, Brokers
from casebook.collect.wire.listeners import why_not_connected
from casebook.collect.wire.messages import Fields, Request
from casebook.errors import CollectError
from casebook.facts.cluster import Problem
from casebook.facts.wire import BrokerAnswer

_TOPICS_AT_ONCE = 200
_TRIED = 3
"""Brokers that are tried for an answer that any of them can give."""
_DESCRIBE_CONFIGS, _DESCRIBE_QUORUM = 32, 55  # ApiKeys.java@3.9.2
_LACKS_API = "this release has no such request"
_NOT_THERE = 3  # UNKNOWN_TOPIC_OR_PARTITION
_RESOURCES = {29: "topic", 31: "cluster"}  # TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED

Progress = Callable[[int, int], None]


class BrokerWalk:
    """One walk; read :meth:`answers` first.

    Args:
        connection: Connections to the brokers.
        bootstrap: Addresses to start with, in order.
        settings: Settings of the client, for the reasons of failures.
        patience: Seconds that a broker may take for an answer.
        progress: Receives the number of answers and the number of requests so far.

    Attributes:
        problems: Parts that could not be collected, after reading the answers.
    """

    def __init__(
        self,
        connection: Brokers,
        bootstrap: Sequence[Address],
        *,
        settings: Mapping[str, str],
        patience: float,
        progress: Progress | None,
    ) -> None:
        self.problems: list[Problem] = []
        self._connection, self._bootstrap, self._settings = connection, bootstrap, settings
        self._milliseconds = int(patience * 1000)
        self._progress = progress or (lambda _done, _total: None)
        self._done = self._total = 0
        self._supports: dict[int, dict[int, int]] = {}
        self._places: dict[int, Address] = {}

    def answers(self) -> Iterator[BrokerAnswer]:
        """Yield all answers.

        Raises:
            CollectError: No bootstrap address answers, or it is a broker of Kafka 0.9.
        """
        node = self._entry()
        yield from self._versions([node])
        reply = self._connection.ask_one(messages.metadata(node))
        if reply.failure:
            raise self._refused(node, reply)
        brokers = {row["nodeId"]: Address(row["host"], row["port"]) for row in reply.fields["brokers"]}
        for broker, address in brokers.items():
            self._places[broker] = address
            self._connection.introduce(broker, *address)
        yield from _rows(messages.metadata(node), reply)
        try:
            yield from self._rest(node, sorted(brokers), reply.fields)
        except (bounds.TimeIsUpError, CollectError) as end:
            self._lacks("rest", end.strerror if isinstance(end, OSError) else str(end))

    def _entry(self) -> int:
        """Return the first bootstrap address that answers, as a node."""
        failed = []
        for node, address in enumerate(self._bootstrap, start=1):
            self._places[-node] = address
            self._connection.introduce(-node, *address)
            reply = self._connection.ask_one(messages.probe(-node))
            if not reply.failure:
                return -node
            failed.append((-node, reply))
        raise self._refused(*failed[0])

    def _rest(self, entry: int, nodes: Sequence[int], metadata: Fields) -> Iterator[BrokerAnswer]:
        """Yield what each broker answers of itself, and what any answers of all; the entry does where no other is reachable."""
        topics = sorted(topic["name"] for topic in metadata["topics"])
        yield from self._versions(self._newer(nodes))
        reachable = sorted(node for node in self._supports if node >= 0)
        is_kraft = any(_DESCRIBE_QUORUM in apis for apis in self._supports.values())
        any_broker, controller = next(iter(reachable), entry), metadata["controllerId"]
        self._compare(reachable, metadata, is_kraft=is_kraft)
        yield from self._configs(reachable, topics, reachable or [entry])
        yield from self._all("log_dirs", map(messages.log_dirs, reachable))
        asked = any_broker if is_kraft or controller not in self._supports else controller
        others = [broker for broker in reachable[:_TRIED] if broker != asked] if is_kraft else []
        yield from self._any("reassignments", [messages.reassignments(one, self._milliseconds) for one in (asked, *others)])
        if is_kraft:
            brokers = reachable[:_TRIED] or [entry]
            yield from self._any("quorum", list(map(messages.quorum, brokers)))
            yield from self._eligible(brokers, topics)

    def _compare(self, nodes: Sequence[int], metadata: Fields, *, is_kraft: bool) -> None:
        """Note a broker that knows others than the answered ones: one of both is cut off, or the cluster changes."""
        first = _membership(metadata, is_kraft=is_kraft)
        for request, reply in self._asked(map(messages.membership, nodes)):
            if not reply.failure and (other := _membership(reply.fields, is_kraft=is_kraft)) != first:
                self._lacks("brokers", f"broker {request.node} knows {_said(*other)}; the one asked first knows {_said(*first)}")
                return

    def _versions(self, nodes: Sequence[int]) -> Iterator[BrokerAnswer]:
        for request, reply in self._asked(map(messages.api_versions, nodes)):
            if not reply.failure and not reply.fields["errorCode"]:
                self._supports[request.node] = {api["apiKey"]: api["maxVersion"] for api in reply.fields["apiKeys"]}
                yield from _rows(request, reply)
            else:
                self._lacks(f"brokers/{request.node}", _reason(request, reply, self._places[request.node]))

    def _newer(self, nodes: Sequence[int]) -> Sequence[int]:
        """Return the brokers that are not of Kafka 0.9: one of those may be left in a cluster that is being upgraded."""
        found = []
        for request, reply in self._asked(map(messages.probe, nodes)):
            if not reply.failure:
                found.append(request.node)
            elif reply.failure == "UNREADABLE":
                self._lacks(f"brokers/{request.node}", "it is of Kafka 0.9, which newer requests would harm: it was not asked")
            else:
                self._lacks(f"brokers/{request.node}", _reason(request, reply, self._places[request.node]))
        return found

    def _configs(self, nodes: Sequence[int], topics: Sequence[str], any_broker: Sequence[int]) -> Iterator[BrokerAnswer]:
        hides: bool | None = None
        for request, reply in self._asked(self._of_brokers(nodes)):
            for row in self._taken("settings/brokers", request, reply):
                hides = bool(hides) or _has_authorizer(reply.fields)
                yield row
        if hides is not False:
            which = "may leave out topics that this user may not describe" if hides is None else "have an authorizer"
            self._lacks("topics", f"the brokers {which}: topics without the ACL Describe are not listed")
        several = [topics[start : start + _TOPICS_AT_ONCE] for start in range(0, len(topics), _TOPICS_AT_ONCE)]
        requests = (messages.topic_configs(any_broker[place % len(any_broker)], names) for place, names in enumerate(several))
        yield from self._all("settings/topics", requests)

    def _of_brokers(self, nodes: Sequence[int]) -> Iterator[Request]:
        for node in nodes:
            yield messages.broker_configs(node, synonyms=self._supports[node].get(_DESCRIBE_CONFIGS, 0) > 0)

    def _eligible(self, nodes: Sequence[int], topics: Sequence[str]) -> Iterator[BrokerAnswer]:
        """Yield eligible leader replicas, page by page."""
        cursor: Mapping[str, object] | None = None
        while topics:
            request, reply = self._first([messages.topic_partitions(node, topics, cursor) for node in nodes])
            yield from self._taken("eligible_leader_replicas", request, reply)
            cursor = (reply.fields or {}).get("nextCursor")
            if cursor is None:
                return
            topics = [topic for topic in topics if topic >= cursor["topicName"]]

    def _any(self, part: str, requests: Sequence[Request]) -> Iterator[BrokerAnswer]:
        """Yield the first answer among requests that any broker can answer."""
        yield from self._taken(part, *self._first(requests))

    def _first(self, requests: Sequence[Request]) -> tuple[Request, BrokerReply]:
        """Return the first request with an answer; without one, the first of them."""
        asked = []
        for request in requests:
            asked += self._asked([request])
            if not asked[-1][1].failure:
                return asked[-1]
        return asked[0]

    def _all(self, part: str, requests: Iterable[Request]) -> Iterator[BrokerAnswer]:
        for request, reply in self._asked(requests):
            yield from self._taken(part, request, reply)

    def _asked(self, requests: Iterable[Request]) -> Iterator[tuple[Request, BrokerReply]]:
        known = list(requests)
        self._total += len(known)
        for request, reply in self._connection.ask(known):
            self._done += 1
            self._progress(self._done, self._total)
            yield request, reply

    def _taken(self, part: str, request: Request, reply: BrokerReply) -> Iterator[BrokerAnswer]:
        """Yield the parts of an answer, and note those that it refuses."""
        whole = f"{part}/{request.node}" if part in _BY_BROKER else part
        if reply.failure:
            self._lacks(whole, _reason(request, reply))
            return
        if code := reply.fields.get("errorCode"):
            self._lacks(whole, _refusal(request, code))
            return
        if request.api == "DESCRIBE_LOG_DIRS" and not reply.fields["results"]:
            self._lacks(whole, f"{request.api} has an empty answer: the usual cause is a missing ACL, Describe on the cluster")
        if request.api == "DESCRIBE_QUORUM" and (code := _code_of_quorum(reply.fields)):
            self._lacks(whole, _refusal(request, code))
            return
        for row in _rows(request, reply):
            code = row.fields.get("errorCode")
            if code and request.api == "DESCRIBE_CONFIGS":
                if code != _NOT_THERE:  # a topic may have been deleted since
                    self._lacks(f"settings/{row.subject}", _refusal(request, code))
            else:
                yield row

    def _lacks(self, part: str, reason: str) -> None:
        self.problems.append(Problem(path=f"wire/{part}", reason=reason))

    def _refused(self, node: int, reply: BrokerReply) -> CollectError:
        """Return the error of a bootstrap address that gives no metadata."""
        return refusals.no_answer(self._bootstrap[-node - 1], reply.failure, reply.why, self._settings)


_BY_BROKER = ("log_dirs", "settings/brokers")


def _rows(request: Request, reply: BrokerReply) -> Iterator[BrokerAnswer]:
    broker = request.node if request.node >= 0 else None
    for subject, fields in messages.parts(request.api, reply.fields, request.node):
        yield BrokerAnswer(request.api, subject, broker, reply.at, reply.version, fields)


def _membership(fields: Fields, *, is_kraft: bool) -> tuple[frozenset[int], int | None]:
    """Return the live brokers and the controller that a broker knows; with KRaft, it names any broker as controller."""
    return frozenset(row["nodeId"] for row in fields["brokers"]), None if is_kraft else fields["controllerId"]


def _said(brokers: Iterable[int], controller: int | None) -> str:
    return f"brokers {', '.join(map(str, sorted(brokers)))}" + ("" if controller is None else f" with controller {controller}")


def _code_of_quorum(fields: Fields) -> int:
    """Return the error of its only partition: beside one, leader and epoch are 0 (``DescribeQuorumResponse.java@3.9.2``)."""
    return next((row["errorCode"] for topic in fields["topics"] for row in topic["partitions"]), _NOT_THERE)


def _has_authorizer(fields: Fields) -> bool:
    told = {config["name"]: config["value"] for result in fields["results"] for config in result["configs"]}
    return told.get("authorizer.class.name") != ""


def _reason(request: Request, reply: BrokerReply, address: Address | None = None) -> str:
    if reply.failure == "UNSUPPORTED":
        return f"{request.api}: {_LACKS_API}"
    if reply.failure == "NOT_CONNECTED" and address is not None:
        why = why_not_connected(address) or "It closed the connection."
        return f"broker {request.node} at {address} could not be reached: {why}"
    if reply.failure == "AUTHENTICATION":
        return f"{request.api}: {refusals.cause_of(reply.why)[0]}"
    return f"{request.api}: {reply.why}"


def _refusal(request: Request, code: int) -> str:
    name = KafkaError(code).name()
    if code not in _RESOURCES:
        return f"{request.api} was refused: {name}"
    operation = "DescribeConfigs" if request.api == "DESCRIBE_CONFIGS" else "Describe"
    return f"{request.api} was refused ({name}), as the user lacks the ACL {operation} on the {_RESOURCES[code]}"
