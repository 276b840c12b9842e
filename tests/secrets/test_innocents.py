"""Evidence is not taken for a secret: ids, names, paths, classes and hosts stay, whoever prints them."""

import pytest

from casebook.collect.redaction import redact_ledger, redact_log
from tests.secrets import sentences


def eaten(lines):
    """Lines that lost anything."""
    return [
        line
        for line, kept in zip(lines, redact_log(f"{line}\n".encode() for line in lines), strict=True)
        if f"{line}\n".encode() != kept
    ]


class TestTokens:
    def test_there_are_enough(self):
        """Ten thousand different ones at least."""
        real = {token for line in sentences.real() for token in sentences.tokens(line)}
        assert len({token for token, _ in sentences.made()} | real) >= 10_000

    def test_of_kafkas_own_forms(self):
        """Each in a sentence of Kafka, ZooKeeper or a client: no line loses anything."""
        assert eaten([line for _, line in sentences.made()]) == []

    def test_of_the_samples(self):
        """No line of a log of a shipped case loses anything."""
        assert eaten(sentences.real()) == []

    def test_of_ledgers(self):
        """Ids of records, random as they are, stay in each format."""
        ids = sentences.ids(3, 50)["long id"]
        rows = [f"{one},orders,1\n".encode() for one in ids] + [f'{{"id": "{one}", "offset": 1}}\n'.encode() for one in ids]
        assert list(redact_ledger([b"record_key,topic,partition\n", *rows]))[1:] == rows


@pytest.mark.parametrize("line", [
    "Getting Token for tokenId :vPeOCWypqUOSepEvx0cbog",
    "RequestHeader(apiKey=FETCH, apiVersion=12, clientId=broker-1-fetcher-0, correlationId=7)",
    "Error getting request for apiKey: 18 and apiVersion: 2",
    "Unsupported apiKey: JoinGroup in ApiVersions",
    "apiKey: <regex>",
    "[AddPartitionsToTxnSenderThread-1]: Starting (kafka.server.AddPartitionsToTxnManager)",
    "SSL key store is not specified, but key store password is specified.",
    "password authentication is not configured for user admin",
    "Authentication failed: Invalid username or password",
    "sasl.jaas.config = null",
    "ssl.key.password = [hidden]",
    "Successfully authenticated client: authenticationID=app; authorizationID=app.",
    "authorizer.class.name = kafka.security.authorizer.AclAuthorizer",
    "Token authentication is not available",
    "java.lang.Object@6d311334[Locked by thread main]",
    "Completed request:RequestHeader(...) securityProtocol:PLAINTEXT,principal:User:ANONYMOUS",
    "key.deserializer = class org.apache.kafka.common.serialization.StringDeserializer",
    "TopicAuthorizationException: Not authorized to access topics: [orders]",
    "Compacting log with key map of 128 MB and dirty keys 17",
    "Client environment:java.io.tmpdir=/var/folders/x7/whbs7htd3213y8m98kl3y4wh0000gn/T/ (org.apache.zookeeper.ZooKeeper)",
    "Loaded log orders-0 in /private/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/kafka-1234567890123456789/orders-0",
])  # fmt: skip
def test_words_that_only_sound_like_secrets(line):
    """What Kafka says about keys, tokens and passwords without telling one."""
    assert eaten([line]) == []
