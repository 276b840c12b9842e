"""Brokers behind every way of authentication are asked with the properties of Kafka's own tools, and each refusal has its cause."""

import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from casebook.case.writer import CaseWriter
from casebook.collect.collection import collect_case
from casebook.collect.wire.collect import collect
from casebook.errors import CollectError
from casebook.rehearsal.servers.ports import HOST, free_port
from tests.collect import secured_brokers as secured
from tests.collect.certificates import STORE_PASSWORD, Certificates, one_line
from tests.collect.secured_brokers import PASSWORD, SecuredBrokers, TokenServer

pytestmark = pytest.mark.usefixtures("quick_java")

WRONG = "no-Such-pw4x"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of brokers and clients."""
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tokens(made: Certificates) -> Iterator[TokenServer]:
    """A token server."""
    with TokenServer(made) as server:
        yield server


@pytest.fixture(scope="module")
def brokers(made: Certificates, tokens: TokenServer) -> Iterator[SecuredBrokers]:
    """A broker with a listener for each way."""
    with SecuredBrokers(made, tokens) as running:
        yield running


@pytest.fixture(scope="module")
def clients(made: Certificates, tokens: TokenServer) -> Mapping[str, Mapping[str, str]]:
    """Settings of clients by what they are for."""
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(made.trusted)}
    stranger = {**trusted, "ssl.truststore.location": str(made.stranger)}
    own = made.signed("client")
    pem = {"security.protocol": "SSL", **trusted, "ssl.keystore.type": "PEM", "ssl.keystore.location": str(own)}
    return {
        "none": {},
        "plain": secured.plain("admin"),
        "scram 256": secured.scram("SCRAM-SHA-256", trusted),
        "scram 512": secured.scram("SCRAM-SHA-512", trusted),
        "ssl": {"security.protocol": "SSL", **trusted},
        "mtls pem": pem,
        "mtls pem in the file": {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": one_line(made.trusted),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": one_line(own.with_suffix(".crt")),
            "ssl.keystore.key": one_line(own.with_suffix(".key")),
        },
        "mtls jks": {
            "security.protocol": "SSL",
            "ssl.truststore.location": str(made.trust_store()),
            "ssl.truststore.password": STORE_PASSWORD,
            "ssl.keystore.location": str(made.jks(own)),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
        },
        "mtls of a stranger": {**pem, "ssl.keystore.location": str(made.self_signed("unknown"))},
        "unsecured token": secured.unsecured(),
        "token": secured.tokens_of(f"{tokens.url}/token"),
        "token, wrong secret": secured.tokens_of(f"{tokens.url}/token", WRONG),
        "plain, wrong password": secured.plain("admin", WRONG),
        "scram, wrong password": secured.scram("SCRAM-SHA-512", trusted, WRONG),
        "scram, another authority": secured.scram("SCRAM-SHA-512", stranger),
        "scram without tls": {**secured.scram("SCRAM-SHA-512", {}), "security.protocol": "SASL_PLAINTEXT"},
        "plain with tls": {**secured.plain("admin"), "security.protocol": "SASL_SSL", **trusted},
        "unquoted": {**secured.plain("admin"), "sasl.jaas.config": secured.plain("admin")["sasl.jaas.config"].rstrip(";")},
        "wrong store password": {**pem, "ssl.keystore.type": "JKS", "ssl.keystore.location": str(own.with_suffix(".jks")),
                                 "ssl.keystore.password": WRONG},
    }  # fmt: skip


Ask = Callable[..., dict]


@pytest.fixture
def ask(clients: Mapping[str, Mapping[str, str]], tmp_path: Path) -> Ask:
    """Collects with a client's file; gives the case's own description, once no secret was found in it or any command line."""

    def asked(address: str, client: str = "none", progress: Callable[[int, int], None] | None = None) -> dict:
        file = secured.write(tmp_path, "client", clients[client]) if clients[client] else None
        out = tmp_path / "case"
        collect_case(out, bootstrap=address, client_config=file, progress=progress)
        for path in filter(Path.is_file, out.rglob("*")):
            assert hidden(path.read_text())
        return json.loads((out / "case.json").read_text()) | {"topics": topics(out)}

    return asked


def hidden(text: str) -> bool:
    """Whether no secret is in it."""
    return not any(secret in text for secret in (*secured.SECRETS, WRONG))


def topics(case: Path) -> set[str]:
    """Names of a case's topics."""
    rows = map(json.loads, (case / "wire" / "answers.jsonl").read_text().splitlines())
    return {row["fields"]["name"] for row in rows if row["api"] == "METADATA" and re.fullmatch("topics/[a-z]+", row["subject"])}


def missing(description: dict) -> dict[str, str]:
    """Reasons of the parts that a case lacks."""
    return {row["part"]: row["reason"] for row in description["could_not_collect"]}


WAYS = {
    "none": "PLAINTEXT",
    "plain": "PLAIN",
    "scram 256": "SCRAM",
    "scram 512": "SCRAM",
    "mtls pem": "MTLS",
    "mtls pem in the file": "MTLS",
    "mtls jks": "MTLS",
    "unsecured token": "PLAIN",
    "token": "TOKENS",
}


@pytest.mark.parametrize("client", WAYS)
def test_accepted(brokers: SecuredBrokers, ask: Ask, client: str):
    """Each way gives a whole case; no secret is in the case, or meanwhile in any command line of the machine."""
    lines = set[str]()
    case = ask(brokers.address(WAYS[client]), client, lambda *_: lines.update(secured.command_lines()))
    assert case["topics"] == {"orders", "secret"}
    assert set(missing(case)) == {"wire/topics"}  # there is an authorizer
    assert [line for line in lines if "casebook.wire.Main" in line]
    assert all(map(hidden, lines))


@pytest.mark.parametrize("client", ["scram 512", "mtls jks", "token"])
def test_kafkas_own_tool_takes_it(brokers: SecuredBrokers, clients: Mapping[str, Mapping[str, str]], tmp_path: Path, client: str):
    """The same file serves ``kafka-broker-api-versions.sh``."""
    file = secured.write(tmp_path, "client", clients[client])
    assert "(id: 1 rack: null)" in secured.printed_by_kafka(brokers.address(WAYS[client]), file)


REFUSED = {
    ("PLAIN", "plain, wrong password"): "User or password is wrong",
    ("SCRAM", "scram, wrong password"): "User or password is wrong",
    ("TOKENS", "token, wrong secret"): r"token server refuses the client \(401\)",
    ("EXPIRED", "ssl"): r"broker's certificate has expired \(\w+ \w+ \d+",
    ("SCRAM", "scram, another authority"): "signed by an authority that the client does not trust",
    ("MTLS", "ssl"): "requires a certificate of the client, and (?:the client has none|got none)",
    ("MTLS", "mtls of a stranger"): "does not accept (?:the client's certificate|that of the client)|got none that it accepts",
    ("MTLS on 127.0.0.1", "mtls pem"): "certificate is for other host names",
    ("EXPIRED", "none"): r"uses TLS, .* security\.protocol=PLAINTEXT\. Set .* SSL or SASL_SSL",
    ("SCRAM", "scram without tls"): r"uses TLS, .* security\.protocol=SASL_PLAINTEXT\. Set .* SASL_SSL",
    ("PLAINTEXT", "ssl"): r"does not use TLS, .* security\.protocol=SSL\. Set .* PLAINTEXT",
    ("PLAIN", "plain with tls"): r"does not use TLS, .* security\.protocol=SASL_SSL\. Set .* SASL_PLAINTEXT",
    ("PLAIN", "none"): r"requires SASL, .* security\.protocol=PLAINTEXT\. Set .* SASL_PLAINTEXT",
    ("SCRAM", "ssl"): r"requires SASL, .* security\.protocol=SSL\. Set .* SASL_SSL",
    ("PLAINTEXT", "plain"): "listener does not use SASL",
    ("PLAIN", "scram without tls"): "does not have the SASL mechanism SCRAM-SHA-512; it has PLAIN, OAUTHBEARER",
    ("PLAIN", "unquoted"): "JAAS config entry not terminated by semi-colon",
    ("MTLS", "wrong store password"): "Failed to load SSL keystore .* password was incorrect",
}


@pytest.mark.parametrize(("listener", "client"), REFUSED)
def test_refused(brokers: SecuredBrokers, ask: Ask, listener: str, client: str):
    """Each refusal has a sentence with its cause, and no secret."""
    name, _, host = listener.partition(" on ")
    with pytest.raises(CollectError, match=REFUSED[listener, client]) as refused:
        ask(brokers.address(name, host or None), client)
    assert hidden(str(refused.value))


def test_nobody_there(ask: Ask):
    """A port where nothing listens, and a host that does not exist, are named as such."""
    with pytest.raises(CollectError, match="connection is refused: no process listens on this port"):
        ask(f"{HOST}:{free_port()}")
    with pytest.raises(CollectError, match=r"The host nowhere\.invalid is not known"):
        ask("nowhere.invalid:9092")


@pytest.mark.parametrize("client", ["none", "ssl", "plain"])
def test_silence(clients: Mapping[str, Mapping[str, str]], tmp_path: Path, client: str):
    """A socket that accepts connections and is silent ends the attempt when the patience does."""
    file = secured.write(tmp_path, "client", clients[client])
    with socket.create_server((HOST, 0)) as silent, CaseWriter.create(tmp_path / "case", command="", clean=str) as case:
        address = f"{HOST}:{silent.getsockname()[1]}"
        with pytest.raises(CollectError, match="It accepts connections and is silent") as refused:
            collect(case, address, client_config=file, patience=1.0)
    assert hidden(str(refused.value))


def test_silent_token_server(tmp_path: Path):
    """So does a token server that accepts connections and is silent."""
    with socket.create_server((HOST, 0)) as silent, CaseWriter.create(tmp_path / "case", command="", clean=str) as case:
        settings = secured.tokens_of(f"http://{HOST}:{silent.getsockname()[1]}/token")
        with pytest.raises(CollectError, match="the token server or the Kerberos server does not answer"):
            collect(case, f"{HOST}:{free_port()}", client_config=secured.write(tmp_path, "client", settings), patience=1.0)


LACKS = {
    "wire/settings/brokers/1": "DescribeConfigs on the cluster",
    "wire/settings/topics/orders": "DescribeConfigs on the topic",
    "wire/log_dirs/1": "Describe on the cluster",
    "wire/reassignments": "Describe on the cluster",
    "wire/topics": "topics without the ACL Describe are not listed",
}


def test_missing_acls(brokers: SecuredBrokers, tmp_path: Path):
    """A user of AclAuthorizer that may only describe one topic gets that; each other part names the missing ACL."""
    check_reader(brokers.address("PLAIN"), tmp_path, LACKS)


def test_missing_acls_kraft(tmp_path: Path):
    """The same with StandardAuthorizer."""
    with secured.kraft() as cluster:
        cluster.create_topic("orders", {0: (1,)})
        cluster.create_topic("secret", {0: (1,)})
        secured.allow_reader(secured.admin_of(cluster.bootstrap))
        check_reader(f"{HOST}:{cluster.plain}", tmp_path, LACKS | {"wire/quorum": "Describe on the cluster"})


def check_reader(address: str, folder: Path, lacks: Mapping[str, str]) -> None:
    """Collect as the user ``reader``."""
    out = folder / "case"
    collect_case(out, bootstrap=address, client_config=secured.write(folder, "client", secured.plain("reader")))
    reasons = missing(json.loads((out / "case.json").read_text()))
    assert topics(out) == {"orders"}
    assert reasons.keys() == lacks.keys()
    assert [part for part, reason in reasons.items() if lacks[part] not in reason] == []


def test_key_without_backslashes(brokers: SecuredBrokers, made: Certificates, tmp_path: Path):
    """Lines of a key whose file lacks the backslashes are counted in the case, and not one is there."""
    key = (made.folder / "company.key").read_text()
    file = tmp_path / "client.properties"
    file.write_text(f"security.protocol=PLAINTEXT\nmetadata.max.age.ms=1\nssl.keystore.key={key}\npassword={PASSWORD}\n")
    out = collect_case(tmp_path / "case", bootstrap=brokers.address("PLAINTEXT"), client_config=file)
    text = (out / "case.json").read_text()
    assert "these keys were not used: metadata.max.age.ms." in text
    assert re.search(r"\d+ lines have no key of Kafka", text)
    assert not any(line[:20] in text for line in (*key.splitlines(), PASSWORD))
