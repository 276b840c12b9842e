"""Keys, certificates and stores of a rehearsed company: made with openssl and keytool, as an operator makes them."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

STORE_PASSWORD = "store-Tr4ub4dor"
_EXTENSIONS = "basicConstraints=critical,CA:false\nsubjectAltName={names}\n"
_HERE = "DNS:localhost,IP:127.0.0.1"


class Certificates:
    """A company's authority, what it signed, and another authority that nobody trusts.

    Args:
        folder: Empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for authority in ("company", "stranger"):
            self._made("req", "-x509", "-new", *self._fresh(authority), "-days", "30", "-subj", f"/CN={authority}")

    @property
    def trusted(self) -> Path:
        """The company's own certificate, PEM."""
        return self.folder / "company.crt"

    @property
    def stranger(self) -> Path:
        """The other authority's, PEM."""
        return self.folder / "stranger.crt"

    def signed(self, name: str, *, names: str = _HERE, days: int = 30) -> Path:
        """Return a PEM file with a key (PKCS 8) and its certificate; with negative days it has expired."""
        request, extensions, store = (self.folder / f"{name}.{ending}" for ending in ("csr", "ext", "pem"))
        extensions.write_text(_EXTENSIONS.format(names=names))
        key, certificate = self.folder / f"{name}.key", self.folder / f"{name}.crt"
        self._made("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        by = ("-CA", self.trusted, "-CAkey", self.folder / "company.key", "-CAcreateserial")
        self._made("x509", "-req", "-in", request, *by, "-days", str(days), "-extfile", extensions, "-out", certificate)
        store.write_text(key.read_text() + certificate.read_text())
        return store

    def self_signed(self, name: str) -> Path:
        """Return a PEM file with a key and a certificate that no authority signed."""
        self._made("req", "-x509", "-new", *self._fresh(name), "-days", "30", "-subj", f"/CN={name}")
        store, key, certificate = (self.folder / f"{name}.{ending}" for ending in ("pem", "key", "crt"))
        store.write_text(key.read_text() + certificate.read_text())
        return store

    def jks(self, store: Path) -> Path:
        """Return the key and certificate of a PEM file as a JKS key store with :data:`STORE_PASSWORD`."""
        between, made = store.with_suffix(".p12"), store.with_suffix(".jks")
        secret = f"pass:{STORE_PASSWORD}"
        self._made("pkcs12", "-export", "-in", store, "-name", "client", "-out", between, "-passout", secret)
        both = ("-srcstorepass", STORE_PASSWORD, "-deststorepass", STORE_PASSWORD, "-noprompt")
        _run("keytool", "-importkeystore", "-srckeystore", between, "-destkeystore", made, "-deststoretype", "JKS", *both)
        return made

    def trust_store(self) -> Path:
        """Return a JKS trust store with the company's certificate, with :data:`STORE_PASSWORD`."""
        made = self.folder / "trusted.jks"
        how = ("-storetype", "JKS", "-storepass", STORE_PASSWORD, "-noprompt", "-alias", "company")
        _run("keytool", "-importcert", "-file", self.trusted, "-keystore", made, *how)
        return made

    def _fresh(self, name: str) -> tuple[object, ...]:
        return ("-newkey", "rsa:2048", "-nodes", "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.crt")

    def _made(self, *command: object) -> None:
        _run("openssl", *command)


def one_line(pem: Path) -> str:
    """Return a PEM file as a value of a properties file."""
    return pem.read_text().strip().replace("\n", "\\n")


def _run(*command: object) -> None:
    told: Sequence[str] = tuple(map(str, command))
    done = subprocess.run(told, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
