"""Real brokers with a listener for each way of authentication, the ``client.properties`` of each, and a token server."""

import base64
import json
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Self

from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.installation import LIGHT
from casebook.rehearsal.servers.kraft import KraftCluster
from casebook.rehearsal.servers.ports import HOST, free_port, listens
from tests.collect.certificates import Certificates

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

KAFKA = "3.9.2"
PASSWORD = "Hu6-tree-Mxq9w"
"""Of every user; it must appear nowhere."""
SECRETS = (PASSWORD, "store-Tr4ub4dor", "LoginModule required", "PRIVATE KEY")
LISTENERS = {"PLAIN": "SASL_PLAINTEXT", "SCRAM": "SASL_SSL", "MTLS": "SSL", "EXPIRED": "SSL", "TOKENS": "SASL_PLAINTEXT"}
_MODULES = "org.apache.kafka.common.security"
_PLAIN = f"{_MODULES}.plain.PlainLoginModule"
_SCRAM = f"{_MODULES}.scram.ScramLoginModule"
_OAUTH = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule"
_UNSECURED = f"{_MODULES}.oauthbearer.internals.unsecured.OAuthBearerUnsecured"
_SECURED = f"{_MODULES}.oauthbearer.secured.OAuthBearer"
_ALLOWED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
_USERS = f'{_PLAIN} required user_admin="{PASSWORD}" user_reader="{PASSWORD}";'


class Secured(PlayedCluster):
    """A cluster whose brokers get further Java options."""

    options: tuple[str, ...] = ()

    def _command(self, place: object, options: Sequence[str] = ()) -> list[str]:
        return super()._command(place, [*options, *self.options])


class _SecuredKraft(KraftCluster):
    """The broker is also the controller, and has one more listener, with PLAIN."""

    def _node_settings(self, node: int) -> dict[str, str]:
        settings = super()._node_settings(node)
        settings["listeners"] += f",PLAIN://{HOST}:{self.plain}"
        settings["listener.security.protocol.map"] += ",PLAIN:SASL_PLAINTEXT"
        return settings


class SecuredBrokers:
    """One broker in ZooKeeper mode with all listeners.

    Args:
        made: Certificates.
        tokens: Token server.
    """

    def __init__(self, made: Certificates, tokens: "TokenServer") -> None:
        self.ports = {name: free_port() for name in ("PLAINTEXT", *LISTENERS)}
        server = made.signed("server")
        stores = {"SCRAM": server, "MTLS": made.signed("named", names="DNS:localhost"), "EXPIRED": made.signed("old", days=-1)}
        told = {
            "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in self.ports.items()),
            "listener.security.protocol.map": ",".join(f"{name}:{how}" for name, how in _all_listeners().items()),
            "advertised.listeners": ",".join(f"{name}://{_told_host(name)}:{port}" for name, port in self.ports.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin;User:scram;User:CN=client",
            **{f"listener.name.{name.lower()}.ssl.keystore.{key}": value
               for name, store in stores.items() for key, value in (("type", "PEM"), ("location", str(store)))},
            "listener.name.mtls.ssl.client.auth": "required",
            "listener.name.mtls.ssl.truststore.type": "PEM",
            "listener.name.mtls.ssl.truststore.location": str(made.trusted),
            "listener.name.plain.sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
            "listener.name.plain.plain.sasl.jaas.config": _USERS,
            "listener.name.plain.oauthbearer.sasl.jaas.config": f"{_OAUTH} required;",
            "listener.name.plain.oauthbearer.sasl.server.callback.handler.class": f"{_UNSECURED}ValidatorCallbackHandler",
            "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
            "listener.name.scram.scram-sha-256.sasl.jaas.config": f"{_SCRAM} required;",
            "listener.name.scram.scram-sha-512.sasl.jaas.config": f"{_SCRAM} required;",
            "listener.name.tokens.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.tokens.oauthbearer.sasl.jaas.config": f"{_OAUTH} required;",
            "listener.name.tokens.oauthbearer.sasl.server.callback.handler.class": f"{_SECURED}ValidatorCallbackHandler",
            "listener.name.tokens.sasl.oauthbearer.jwks.endpoint.url": f"{tokens.url}/keys",
            "listener.name.tokens.sasl.oauthbearer.expected.audience": "kafka",
            "listener.name.tokens.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": f"{tokens.url}/keys",
        }  # fmt: skip
        self.cluster = Secured(kafka=KAFKA, brokers=1, settings=told)
        self.cluster.options = (f"{_ALLOWED}{tokens.url}/keys",)

    def __enter__(self) -> Self:
        with ExitStack() as leaving:
            cluster = leaving.enter_context(self.cluster)
            cluster.wait_until(lambda: all(map(listens, self.ports.values())), what="all listeners")
            cluster.create_topic("orders", {0: (1,)})
            cluster.create_topic("secret", {0: (1,)})
            admin = admin_of(self.address("PLAINTEXT"))
            allow_reader(admin)
            _make_scram_user(admin)
            self._leaving = leaving.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving.close()

    def address(self, listener: str, host: str | None = None) -> str:
        """Return ``host:port`` of a listener."""
        return f"{host or _told_host(listener)}:{self.ports[listener]}"


def kraft() -> KraftCluster:
    """Return a cluster in KRaft mode whose broker has the authorizer of that mode; its port ``plain`` wants PLAIN."""
    told = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin",
        "listener.name.plain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plain.plain.sasl.jaas.config": _USERS,
    }
    cluster = _SecuredKraft(kafka=KAFKA, brokers=1, combined=True, settings=told)
    cluster.plain = free_port()
    return cluster


def admin_of(bootstrap: str) -> "AdminClient":
    """Return a client of librdkafka for what a cluster must have before it is asked."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap, "topic.metadata.refresh.interval.ms": "1000"})
    assert admin.list_topics(timeout=30).brokers
    return admin


def allow_reader(admin: "AdminClient") -> None:
    """Allow the user ``reader`` only to describe the topic ``orders``."""
    from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

    binding = AclBinding(
        ResourceType.TOPIC,
        "orders",
        ResourcePatternType.LITERAL,
        "User:reader",
        "*",
        AclOperation.DESCRIBE,
        AclPermissionType.ALLOW,
    )
    for done in admin.create_acls([binding]).values():
        done.result(30)


def _make_scram_user(admin: "AdminClient") -> None:
    from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        row = UserScramCredentialUpsertion("scram", ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
        admin.alter_user_scram_credentials([row])["scram"].result(30)


def _all_listeners() -> Mapping[str, str]:
    return {"PLAINTEXT": "PLAINTEXT", **LISTENERS}


def _told_host(listener: str) -> str:
    return "localhost" if listener == "MTLS" else HOST


# Settings of clients, by Kafka's names.


def plain(user: str, password: str = PASSWORD) -> dict[str, str]:
    """Return the settings of a user with PLAIN."""
    return _sasl("PLAIN", f'{_PLAIN} required username="{user}" password="{password}";')


def scram(mechanism: str, trusted: Mapping[str, str], password: str = PASSWORD) -> dict[str, str]:
    """Return the settings of the SCRAM user."""
    told = _sasl(mechanism, f'{_SCRAM} required username="scram" password="{password}";')
    return {**told, "security.protocol": "SASL_SSL", **trusted}


def unsecured() -> dict[str, str]:
    """Return the settings of a client that makes its token."""
    return _sasl("OAUTHBEARER", f'{_OAUTH} required unsecuredLoginStringClaim_sub="admin";')


def tokens_of(url: str, secret: str = PASSWORD) -> dict[str, str]:
    """Return the settings of a client that gets its token from a server."""
    return {
        **_sasl("OAUTHBEARER", f'{_OAUTH} required clientId="admin" clientSecret="{secret}";'),
        "sasl.login.callback.handler.class": f"{_SECURED}LoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": url,
    }


def _sasl(mechanism: str, jaas: str) -> dict[str, str]:
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}


class TokenServer:
    """A token server with one client, ``admin``, and RS256."""

    def __init__(self, made: Certificates) -> None:
        made.signed("tokens")
        self._key = made.folder / "tokens.key"
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self.url = f"http://{HOST}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _token(self) -> str:
        now = int(time.time())
        header = {"alg": "RS256", "kid": "one", "typ": "JWT"}
        claims = {"sub": "admin", "scope": "kafka", "aud": "kafka", "iat": now, "exp": now + 600}
        text = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", str(self._key)],
            input=text.encode(),
            capture_output=True,
            check=True,
            timeout=30,
        )
        return f"{text}.{_encoded(signature.stdout)}"

    def _keys(self) -> Mapping[str, object]:
        command = ["openssl", "rsa", "-in", str(self._key), "-noout", "-modulus"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
        modulus = bytes.fromhex(printed.strip().partition("=")[2])
        key = {"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": _encoded(modulus), "e": "AQAB"}
        return {"keys": [key]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self
        right = "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, server._keys())

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Authorization") == right:
                    self._answer(200, {"access_token": server._token(), "token_type": "Bearer", "expires_in": 600})
                else:
                    self._answer(401, {"error": "invalid_client"})

            def _answer(self, code: int, row: Mapping[str, object]) -> None:
                body = json.dumps(row).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def command_lines() -> set[str]:
    """Return the command lines of all processes."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            found.add(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def printed_by_kafka(bootstrap: str, file: Path) -> str:
    """Return what ``kafka-broker-api-versions.sh`` prints with this ``client.properties``."""
    urls = [line.partition("=")[2] for line in file.read_text().splitlines() if line.startswith("sasl.oauthbearer.token.")]
    options = [*LIGHT, "-Xmx128m", *(f"{_ALLOWED}{url}" for url in urls)]
    main = ["kafka.admin.BrokerApiVersionsCommand", "--bootstrap-server", bootstrap, "--command-config", str(file)]
    command = [jars.java(), *options, "-cp", ":".join(map(str, jars.jars(KAFKA))), *main]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(folder: Path, name: str, settings: Mapping[str, str]) -> Path:
    """Write a ``client.properties``."""
    path = folder / f"{name}.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path
