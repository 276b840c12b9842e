"""A broker behind Kerberos (GSSAPI) is asked with the properties and ``KAFKA_OPTS`` of Kafka's own tools; needs Debian's krb5-kdc."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest

from casebook.collect.collection import collect_case
from casebook.errors import CollectError
from casebook.rehearsal.servers.ports import HOST, free_port, listens
from casebook.rehearsal.servers.processes import Guarded
from casebook.rehearsal.servers.waiting import wait_until
from tests.collect.secured_brokers import Secured, write
from tests.collect.test_wire_auth import topics

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
_KDC = shutil.which("krb5kdc", path=_PATH)

pytestmark = [
    pytest.mark.usefixtures("quick_java"),
    pytest.mark.skipif(_KDC is None, reason="no krb5kdc on this machine: apt-get install krb5-kdc krb5-admin-server"),
]

REALM = "CASEBOOK.TEST"
_MODULE = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true"
_CONFIG = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = {host}:{port}
 }}
"""
_KDC_CONFIG = """[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = {host}:{port}
[realms]
 {realm} = {{
  database_name = {folder}/principals
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
 }}
[dbmodules]
 db_module_dir = {modules}
[logging]
 kdc = FILE:{folder}/kdc.log
"""


class Kerberos:
    """A Kerberos server with a realm of its own.

    Args:
        folder: Empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.config = folder / "krb5.conf"
        self._environment = os.environ | {"KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}

    def __enter__(self) -> Self:
        modules = next(Path(_KDC).resolve().parents[1].glob("lib/*/krb5/plugins/kdb"))
        own = {"realm": REALM, "host": HOST, "port": self.port, "folder": self.folder, "modules": modules}
        self.config.write_text(_CONFIG.format(**own))
        (self.folder / "kdc.conf").write_text(_KDC_CONFIG.format(**own))
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master-of-the-realm")
        with ExitStack() as leaving:
            guarded = Guarded()
            leaving.callback(guarded.close)
            command = ["env", *(f"{name}={self._environment[name]}" for name in ("KRB5_CONFIG", "KRB5_KDC_PROFILE")), _KDC, "-n"]
            guarded.start(command, folder=self.folder, output=self.folder / "kdc.out")
            wait_until(lambda: listens(self.port), what="the Kerberos server", home=self.folder)
            self._leaving = leaving.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving.close()

    def key_tab(self, principal: str, file: str) -> Path:
        """Return a key tab with a new key of a principal, which is created unless it exists."""
        path = self.folder / file
        self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self._run("kadmin.local", "-q", f"ktadd -k {path} {principal}")
        return path

    def _run(self, command: str, *arguments: str) -> None:
        found = [shutil.which(command, path=_PATH) or command, *arguments]
        done = subprocess.run(
            found, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def kerberos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberos]:
    """A Kerberos server."""
    with Kerberos(tmp_path_factory.mktemp("kerberos")) as server:
        yield server


@pytest.fixture(scope="module")
def broker(kerberos: Kerberos) -> Iterator[str]:
    """The address of a broker's listener for GSSAPI."""
    port, other = free_port(), free_port()
    settings = {
        "listeners": f"PLAINTEXT://{HOST}:{other},KERBEROS://localhost:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.name.kerberos.sasl.enabled.mechanisms": "GSSAPI",
        "listener.name.kerberos.gssapi.sasl.jaas.config": jaas(
            kerberos.key_tab("kafka/localhost", "kafka.keytab"), "kafka/localhost"
        ),
        "sasl.kerberos.service.name": "kafka",
    }
    cluster = Secured(kafka="3.9.2", brokers=1, settings=settings)
    cluster.options = (f"-Djava.security.krb5.conf={kerberos.config}",)
    with cluster:
        cluster.wait_until(lambda: listens(port), what="the listener")
        cluster.create_topic("orders", {0: (1,)})
        yield f"localhost:{port}"


def jaas(key_tab: Path, principal: str) -> str:
    """Return a line of JAAS."""
    return f'{_MODULE} keyTab="{key_tab}" principal="{principal}@{REALM}";'


def client(key_tab: Path, principal: str = "casebook", **others: str) -> Mapping[str, str]:
    """Return a client's settings."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": jaas(key_tab, principal),
        **others,
    }


@pytest.fixture
def options(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of Kafka's own tools."""
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.krb5.conf={kerberos.config}")


@pytest.mark.usefixtures("options")
class TestKerberos:
    def test_accepted(self, broker: str, kerberos: Kerberos, tmp_path: Path):
        """A principal with a key tab gets a case."""
        file = write(tmp_path, "client", client(kerberos.key_tab("casebook", "casebook.keytab")))
        assert topics(collect_case(tmp_path / "case", bootstrap=broker, client_config=file)) == {"orders"}

    def test_old_key(self, broker: str, kerberos: Kerberos, tmp_path: Path):
        """A key tab from before the last change of the key is named."""
        old = kerberos.key_tab("changed", "old.keytab")
        kerberos.key_tab("changed", "new.keytab")
        with pytest.raises(CollectError, match="Kerberos does not accept the client's principal or its key tab"):
            collect_case(tmp_path / "case", bootstrap=broker, client_config=write(tmp_path, "client", client(old, "changed")))

    def test_unknown_service(self, broker: str, kerberos: Kerberos, tmp_path: Path):
        """A service name that Kerberos does not know is named."""
        settings = client(kerberos.key_tab("other", "other.keytab"), "other") | {"sasl.kerberos.service.name": "kafkaesque"}
        with pytest.raises(
            CollectError, match=r"Kerberos does not know the broker's service principal\..*sasl\.kerberos\.service"
        ):
            collect_case(tmp_path / "case", bootstrap=broker, client_config=write(tmp_path, "client", settings))

    def test_no_server(self, broker: str, kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """A Kerberos server that does not answer is named."""
        gone = tmp_path / "krb5.conf"
        gone.write_text(_CONFIG.format(realm=REALM, host=HOST, port=free_port()))
        monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.krb5.conf={gone}")
        settings = client(kerberos.key_tab("third", "third.keytab"), "third")
        with pytest.raises(CollectError, match=r"Kerberos server \(KDC\) is not reachable"):
            collect_case(tmp_path / "case", bootstrap=broker, client_config=write(tmp_path, "client", settings))
