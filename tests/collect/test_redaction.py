"""Planted secrets never survive, and what is no secret does."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casebook.collect.redaction import is_sensitive, redact_ledger, redact_log, redact_properties, redact_text, redact_znode
from casebook.collect.redaction.broker_settings import ALLOWED
from casebook.facts.znodes import Znode
from casebook.kafka.defaults import DEFAULTS
from tests.ends import growth

SECRET = "hunter2-Xyzzy"
KEYS = (
    "ssl.keystore.password",
    "ssl.key.password",
    "sasl.jaas.config",
    "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config",
    "password.encoder.secret",
    "delegation.token.master.key",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "basic.auth.user.info",
    "SSL.KEYSTORE.PASSWORD",
    "api_key",
)
HARMLESS = (
    "min.insync.replicas",
    "log.dirs",
    "broker.id",
    "zookeeper.connect",
    "key.serializer",
    "unclean.leader.election.enable",
    "ssl.keystore.location",
    "cleanup.policy",
    "log.segment.bytes",
    "retention.ms",
    "inter.broker.protocol.version",
    "offsets.topic.replication.factor",
)

HOSTILE = (
    "password", "password ", "pass=", "p", " ", "-", "--a ", "a.b-", "://", "://a:", "a:b@", "jdbc:oracle:a:", "# ", "\\", '\\"', "<a>", "token ",
    "Bearer ", "-u a", "mysql -", "ldapx ", "eyJ", "xox", "AKIA", "aA1", "aws", "a=", "=\"", "?sig", "cookie ", "</a> <b>", "-----BEGIN ",
    "insert into ", "login -p ", "sasl(", "a_", "snmpx ", "curl -u ", "| user ", "as pass ", "expect ", "\\\\x1b", "set a.b ",
)  # fmt: skip
"""What a pattern may begin with, again and again."""

keys = st.sampled_from(KEYS)
words = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters="\\\"'"), max_size=20)
secrets = words.map(lambda word: f"{SECRET}{word}{SECRET}")


def survives(secret: str, content: bytes) -> bool:
    """Whether any part of a planted secret can be found."""
    return SECRET.encode() in content or secret.encode() in content


class TestNames:
    @pytest.mark.parametrize("key", KEYS)
    def test_sensitive(self, key: str) -> None:
        """Where Kafka and its clients keep secrets."""
        assert is_sensitive(key)

    @pytest.mark.parametrize("key", HARMLESS)
    def test_harmless(self, key: str) -> None:
        """What analyses need stays readable."""
        assert not is_sensitive(key)

    @pytest.mark.parametrize("key", [
        "pass", "sasl.pass", "kafka.pw", "KAFKA_PASS", "KAFKA_PW_2", "kafkaPw", "kafkaPass", "kafkaPW", "pw[0]", "dbpass", "storepass",
        "card.pin", "passCode", "passcode", "Passwort", "KENNWORT", "pass-word",
    ])  # fmt: skip
    def test_short_pieces(self, key: str) -> None:
        """Where they stand alone, in every spelling of a name."""
        assert is_sensitive(key)
        assert list(redact_properties([f"{key}={SECRET}\n".encode()])) == [b"# [redacted]\n"]
        assert not survives(SECRET, redact_text(f"{key}={SECRET}".encode()))

    @pytest.mark.parametrize("key", [
        "spinning", "pinned", "compass", "bypass", "BYPASS", "passive", "passengers", "passThrough", "pass-through", "PASS_THROUGH", "shopping",
        "mapping", "SPINNING", "ssl.keystore.location", "partition.assignment.strategy", "max.in.flight.requests.per.connection",
        "sasl.login.class", "ssl.principal.mapping.rules", "sasl.kerberos.principal.to.local.rules", "connections.max.idle.ms",
        "group.initial.rebalance.delay.ms", "transaction.state.log.num.partitions", "log.message.timestamp.type", "power",
    ])  # fmt: skip
    def test_longer_words_with_such_pieces(self, key: str) -> None:
        """Words that only contain them, and settings of brokers and clients."""
        assert not is_sensitive(key)


class TestValues:
    @pytest.mark.parametrize("text", [
        "app --sasl-password x", "app -storepass x", "-Dkafka.pw=x", '{"pass": "x"}', "https://x:y@host", "jdbc:oracle:thin:scott/x@host",
        "a=b pw: x", "password=x",
    ])  # fmt: skip
    def test_with_a_secret(self, text: str) -> None:
        """Assigned, as an option, in a URL, in PEM."""
        assert b"[redacted]" in redact_text(text.encode())

    @pytest.mark.parametrize("text", [
        "app --acks all", "https://host:8081/a", "kafka/host@REALM.EXAMPLE", "h1:9092,h2:9092", "earliest", "-Xmx1g -Dlinger.ms=5",
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "--compass north", "jdbc:postgresql://host/db",
    ])  # fmt: skip
    def test_without(self, text: str) -> None:
        """Principals, hosts, classes, options."""
        assert redact_text(text.encode()) == text.encode()

    @pytest.mark.parametrize("piece", HOSTILE)
    def test_a_long_line_costs_what_its_length_does(self, piece: str) -> None:
        """Sixteen times the length takes about sixteen times the time, whatever is in it: each pattern passes a text once."""

        def work(length: int) -> None:
            redact_text((piece * (length // len(piece) + 1))[:length].encode())

        work(1 << 12)
        assert growth(work, few=1 << 14, many=1 << 18) < 4 * 16


class TestZnodes:
    @given(
        secret=secrets,
        key=keys,
        entity=st.sampled_from(["users/alice", "users/a/clients/b", "brokers/1", "brokers/<default>", "topics/t", "clients/c"]),
    )
    def test_planted_secret_never_survives(self, secret: str, key: str, entity: str) -> None:
        """Whatever setting of whatever entity holds it."""
        row = {"version": 1, "config": {key: secret, "quota": "5"}}
        clean = redact_znode(Znode(path=f"/config/{entity}", data=json.dumps(row).encode()))
        assert clean.redacted
        assert not survives(secret, clean.data)

    @given(data=st.binary(max_size=60), entity=st.sampled_from(["users/u", "brokers/1"]))
    def test_undecodable_data_is_dropped_where_secrets_live(self, data: bytes, entity: str) -> None:
        """What nobody understands may hold anything."""
        planted = SECRET.encode() + data
        assert redact_znode(Znode(path=f"/config/{entity}", data=planted)).data is None

    @pytest.mark.parametrize("data", [
        b'{"version":1,"config":{"SCRAM-SHA-256":"hunter2-Xyzzy","SCRAM-SHA-256":"x"}}',
        b'{"version":1,"config":{"SCRAM-SHA-256":"hunter2-Xyzzy"},"config":{}}',
        b'{"version":1,"config":{},"backup":"hunter2-Xyzzy"}',
        b'{"version":"hunter2-Xyzzy","config":{}}',
        b'{"version":1,"config":{"SCRAM-SHA-512":["hunter2-Xyzzy"]}}',
        b'{"version":1,"config":"hunter2-Xyzzy"}',
        b'{"version":1,"config":{"SCRAM\\u002dSHA-256":"hunter2-Xyzzy"}}',
        b"[" * 100_000 + b"hunter2-Xyzzy",
    ])  # fmt: skip
    def test_tricks(self, data: bytes) -> None:
        """Duplicate keys, extra fields, other types, escapes, depth."""
        assert not survives(SECRET, redact_znode(Znode(path="/config/users/u", data=data)).data or b"")

    def test_harmless_settings_stay_as_they_are(self) -> None:
        """Without a secret not a byte changes."""
        for path, config in (
            ("/config/topics/t", {"cleanup.policy": "compact"}),
            ("/config/users/u", {"producer_byte_rate": "1024"}),
            ("/config/brokers/1", {"log.cleaner.threads": "2"}),
        ):
            znode = Znode(path=path, data=json.dumps({"version": 1, "config": config}, indent=1).encode())
            assert znode is redact_znode(znode)

    def test_other_znodes_are_not_touched(self) -> None:
        """Registrations, states and assignments stay byte by byte."""
        for path, data in (
            ("/brokers/ids/1", b'{"listener_security_protocol_map":{"SASL_SSL":"SASL_SSL"},"endpoints":["SASL_SSL://h-1.example:9093"],'
             b'"jmx_port":-1,"features":{},"host":"h","timestamp":"1699999999999","port":9093,"version":5}'),
            ("/brokers/topics/password", b'{"partitions":{"0":[1,2]},"topic_id":"a1B2c3D4e5F6g7H8i9J0kQ","version":3}'),
            ("/brokers/topics/t/partitions/0/state", b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}'),
            ("/cluster/id", b'{"version":"1","id":"vPeOCWypqUOSepEvx0cbog"}'),
            ("/brokers/topics", b"null"),
            ("/config/changes/config_change_0000000001", b'{"version":2,"entity_path":"topics/t"}'),
        ):  # fmt: skip
            znode = Znode(path=path, data=data)
            assert znode is redact_znode(znode)

    @pytest.mark.parametrize("path", [
        "/config", "/config/users", "/config/unknown/x", "/config/changes/config_change_1", "/brokers", "/brokers/ids", "/brokers/topics",
        "/brokers/topics/t/partitions", "/admin", "/admin/delete_topics/t", "/isr_change_notification",
    ])  # fmt: skip
    def test_where_kafka_writes_nothing(self, path: str) -> None:
        """Whatever somebody put there is none of Kafka's, and goes."""
        clean = redact_znode(Znode(path=path, data=SECRET.encode()))
        assert clean.redacted
        assert not survives(SECRET, clean.data or b"")


class TestProperties:
    @given(secret=secrets, key=keys, separator=st.sampled_from(["=", " = ", ":", " ", "\t"]), indent=st.sampled_from(["", "  "]))
    def test_planted_secret_never_survives(self, secret: str, key: str, separator: str, indent: str) -> None:
        """Whatever Java accepts between key and value."""
        lines = [b"broker.id=1\n", f"{indent}{key}{separator}{secret}\r\n".encode(), b"min.insync.replicas=2\n"]
        clean = list(redact_properties(lines))
        assert not survives(secret, b"".join(clean))
        assert (lines[0], lines[2]) == (clean[0], clean[2])

    @pytest.mark.parametrize("text", [
        "sasl.jaas.config=org.apache.kafka.PlainLoginModule required \\\n  username=\"a\" \\\n  password=\"hunter2-Xyzzy\";\n",
        "ssl.keystore.password=\\\n  hunter2-Xyzzy\n",
        "ssl.keystore.p\\u0061ssword=hunter2-Xyzzy\n",
        "ssl.key\\store.password=hunter2-Xyzzy\n",
        "custom=pass\\\n  word=hunter2-Xyzzy\n",
        "custom=password=\\\n hunter2-Xyzzy\n",
        "custom=p\\u0061ssword=hunter2-Xyzzy\n",
        "schema.registry.url=https://user:hunter2-Xyzzy@host:8081\n",
        "#ssl.keystore.password=hunter2-Xyzzy\n",
        "! sasl.password : hunter2-Xyzzy",
        "#sasl.jaas.config=x required \\\n#  password=\"hunter2-Xyzzy\";\n",
        "KAFKA_OPTS=-Djavax.net.ssl.keyStorePassword=hunter2-Xyzzy -Dx=y\n",
    ])  # fmt: skip
    def test_tricks(self, text: str) -> None:
        """Continuation, escapes, comments, URLs, options inside a value."""
        clean = b"".join(redact_properties(text.encode().splitlines(keepends=True)))
        assert not survives(SECRET, clean)
        assert b"[redacted]" in clean

    def test_only_what_analyses_read_stays(self) -> None:
        """Line by line as it was; of all else, comments included, only that it was there. Every line keeps its number."""
        read = [
            "min.insync.replicas=2\n",
            "  unclean.leader.election.enable : false\r\n",
            "log.retention.ms=\\\n",
            "  1000\n",
            "\n",
        ]
        other = ["# note\n", "log.dirs=/d\n", "zookeeper.connect=h:2181\\\n", " ,i:2181\n", "min.insync.replicas=hunter2!\n"]
        clean = list(redact_properties([line.encode() for line in read + other]))
        assert clean == [line.encode() for line in read] + [
            b"# [redacted]\n", b"# [redacted]\n", b"# [redacted]\n", b"#\n", b"# [redacted]\n",
        ]  # fmt: skip

    def test_nothing_that_is_read_is_missing(self) -> None:
        """The allow-list holds every setting of brokers that analyses ask for: those with a default, by the list of releases."""
        assert set(DEFAULTS) <= ALLOWED


class TestLogs:
    @given(
        secret=secrets,
        key=keys,
        form=st.sampled_from(["\t{} = {}", "INFO {}={}", "Map({} -> {})", '{{"{}":"{}"}}', "{}: {}", "x {}='{}' y", '{}="{}"']),
    )
    def test_planted_secret_never_survives(self, secret: str, key: str, form: str) -> None:
        """Whatever form a log gives to a setting."""
        (clean,) = redact_log([form.format(key, secret).encode() + b"\n"])
        assert not survives(secret, clean)
        assert clean.endswith(b"\n")

    @given(
        secret=st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters="\"'"), min_size=1).map(
            lambda word: SECRET + word
        )
    )
    def test_user_in_url(self, secret: str) -> None:
        """Credentials before the host are cut."""
        assert not survives(secret, redact_text(f"GET https://me:{secret}@host:8081/x failed".encode()))

    def test_private_key(self) -> None:
        """A key in PEM is removed, over all of its lines; what follows it stays."""
        lines = [
            b"key:\n",
            b"-----BEGIN RSA PRIVATE KEY-----\n",
            b"Proc-Type: 4,ENCRYPTED\n",
            b"aHVudGVyMg==\n",
            b"-----END RSA PRIVATE KEY-----\n",
            b"[x] INFO y\n",
        ]
        clean = list(redact_log(lines))
        assert b"aHVudGVyMg" not in b"".join(clean)
        assert (6, lines[5]) == (len(clean), clean[5])

    @pytest.mark.parametrize(
        "line",
        [
            "Property ssl.keystore.password is overridden to {} (kafka.utils.VerifiableProperties)",
            "The configuration 'ssl.key.password' was supplied with value '{}' but isn't a known config.",
            "ConfigException: Invalid value {} for configuration sasl.jaas.config: JAAS config entry not terminated",
            "AlterableConfig(name='ssl.key.password', configOperation=0, value='{}')",
            '{{"value":"{}","name":"DB_PASSWORD"}}',
            "addAuthInfo scheme=digest auth=super:{}",
            "bindpw: {}",
            "REDIS_AUTH={}",
        ],
    )
    def test_where_the_name_stands_apart(self, line: str) -> None:
        """As Kafka and its neighbours print settings."""
        assert not survives(SECRET, *redact_log([line.format(SECRET).encode()]))

    @pytest.mark.parametrize("token", ["dTpwYXNzd29yZDEyMzQ1Njc4OTAxMQ==", "c3VwZXI6cHdkLXJlYWxseS1sb25nLTk4NzY="])
    def test_padding_is_no_value(self, token: str) -> None:
        """What looks like a name before an equals sign may be the secret itself."""
        assert not survives(token, *redact_log([f'{{"auths":{{"hub":{{"auth":"{token}"}}}}}}'.encode()]))

    @pytest.mark.parametrize(
        "line",
        [
            "\tpassword.encoder.iterations = 4096",
            "\tpassword.encoder.keyfactory.algorithm = PBKDF2WithHmacSHA512",
            "Password rotation completed in 351 ms",
        ],
    )
    def test_how_passwords_are_treated_is_none(self, line: str) -> None:
        assert list(redact_log([line.encode()])) == [line.encode()]

    def test_kafka_lines_stay_as_they_are(self) -> None:
        """Lines that analyses read hold no secret and lose nothing."""
        lines = [
            b"[2015-11-22 10:00:00,001] INFO [Replica Manager on Broker 1]: Shrinking ISR from 1,2 to 1\n",
            b"[2015-11-22 10:00:00,001] TRACE Controller 1 epoch 7 changed partition [t,0] state to OfflinePartition\n",
            b"\tunclean.leader.election.enable = true\n",
            b"[x] WARN Token authentication is not available, PLAINTEXT://h1:9092 (id: 1 rack: null) user@host\n",
            b"\tat org.apache.kafka.common.protocol.ApiKeys.forId(ApiKeys.java:68)\n",
            b"Caused by: InvalidRequestException: Error getting request for apiKey: 18 and apiVersion: 2\n",
        ]
        assert lines == list(redact_log(lines))


class TestLedgers:
    @given(
        secret=secrets,
        told=st.sampled_from(
            [
                lambda secret: {"auth_token": secret},
                lambda secret: {"said": f"password={secret}"},
                lambda secret: {"headers": [{"api_key": secret}]},
                lambda secret: {"said": f"-----BEGIN PRIVATE KEY-----\n{secret}"},
                lambda secret: {"said": f"http://me:{secret}@host/"},
            ]
        ),
        end=st.sampled_from([b"\n", b"\r\n", b""]),
    )
    def test_planted_secret_never_survives(self, secret: str, told: Callable[[str], dict], end: bytes) -> None:
        """Wherever it stands; and what was a JSON object with an id is one still, and ends as it did."""
        (clean,) = redact_ledger([json.dumps({"id": "a-1"} | told(secret)).encode() + end])
        assert not survives(SECRET, clean)
        assert clean.endswith(end)
        assert json.loads(clean)["id"] == "a-1"

    def test_the_keys_of_records_stay(self) -> None:
        """They tell records apart; nor does anything else of a ledger change, in any of its formats."""
        lines = [
            b'{"record_key": "a-1", "order.key": "b-2", "topic": "orders", "acked": 1.50, "caf\xc3\xa9": null}\n',
            b"record_key,topic,acked\n",
            b"a-1,orders,2026-11-22T01:02:03.004Z\n",
            b"[x] INFO sent a-1 to orders-0 at offset 7 (com.example.Sender)\n",
            b"17",
        ]
        assert lines == list(redact_ledger(lines))

    def test_text_is_cut_as_a_log_is(self) -> None:
        """From the secret to the end of the line; a key given twice hides nothing."""
        lines = [f"a-1,password={SECRET},orders\n".encode(), f'{{"token": 1, "token": "{SECRET}"}}\n'.encode()]
        assert list(redact_ledger(lines)) == list(redact_log(lines))
        assert not any(survives(SECRET, line) for line in redact_ledger(lines))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", ["contraseña", "lösenord", "jelszó"])
def test_a_word_with_a_letter_beyond_ascii_in_any_encoding(encoding, name):
    (clean,) = redact_log([f"{name}: {SECRET}".encode(encoding)])
    assert SECRET.encode() not in clean
