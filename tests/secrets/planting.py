"""A shipped case's evidence as it was before it was collected, with secrets planted at every place and in every encoding."""

import base64
import codecs
import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from casebook.case.case import Case
from casebook.formats.zookeeper import znode_lines
from casebook.machine import places
from tests.secrets import forms, kinds

SAMPLE = "healthy"
ORDINARY = (
    "[2026-11-22 10:00:00,001] INFO [Log partition=orders-0, dir=/d] Rolled new log segment at offset 17 in 3 ms. (kafka.log.Log)"
)
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16 LE with a mark": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-16 BE with a mark": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-16 LE": lambda text: text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "Latin-1": lambda text: text.encode("latin-1", errors="ignore"),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zstd": lambda text: zstandard.compress(text.encode()),
}
_PACKED = {"gzip": ".gz", "zstd": ".zst"}


class Planted(NamedTuple):
    """A secret, and where it was planted."""

    place: str
    encoding: str
    form: str
    kind: str
    secret: str


class Planting:
    """Plants secrets into files below a folder, and remembers them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self._chance = folder, random.Random(seed)
        self.planted: list[Planted] = []
        folder.mkdir()

    def secret(self, place: str, form: str, kind: str = "", encoding: str = "UTF-8") -> str:
        """A new secret, noted; of any kind unless told."""
        kind = kind or self._chance.choice(list(kinds.ANY))
        make = kinds.private_key if kind == "private key" else {**kinds.ANY, **kinds.TYPED}[kind]
        made = make(self._chance)
        self.planted.append(Planted(place, encoding, form, kind, made))
        return made

    def file(self, name: str, content: bytes) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def logs(self, place: str, *, lone: bool = True) -> list[Path]:
        """Logs in all encodings, which share all forms; one ordinary line stands between two secrets."""
        share: dict[str, list[str]] = {encoding: [ORDINARY] for encoding in ENCODINGS}
        for number, (form, kind) in enumerate(self._forms(lone)):
            encoding = list(ENCODINGS)[(number + len(place)) % len(ENCODINGS)]
            if encoding == "Latin-1" and not _is_latin(form):
                encoding = "UTF-8"
            text = forms.planted(form, self.secret(place, form, kind, encoding))
            share[encoding] += [text, ORDINARY]
        return [
            self.file(
                f"{place}/{encoding.replace(' ', '-')}.log{_PACKED.get(encoding, '')}", encode("\n".join(share[encoding]) + "\n")
            )
            for encoding, encode in ENCODINGS.items()
        ]

    def _forms(self, lone: bool) -> Iterator[tuple[str, str]]:
        """Each form with a kind of secret that it can hold."""
        every = list(kinds.ANY)
        yield from ((form, every[(number + len(self.planted)) % len(every)]) for number, form in enumerate(forms.NAMED))
        if lone:
            yield from ((self._chance.choice(forms.LONE), kind) for kind in kinds.TYPED)
            yield from ((form, "private key") for form in forms.KEYS)


def _is_latin(form: str) -> bool:
    try:
        form.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def everything(folder: Path) -> tuple[list[str], Planting]:
    """Evidence of a whole cluster, and what ``casebook collect`` is given of it."""
    planting = Planting(folder, 1)
    arguments = []
    for owner, place in (("1", "a broker's log"), ("zookeeper", "ZooKeeper's log"), ("app", "a client's log")):
        arguments += [part for path in planting.logs(place) for part in ("--logs", f"{owner}={path}")]
    arguments += _names(planting)
    for path in planting.logs("a ledger in lines", lone=False):
        arguments += ["--ledger", f"app={path}"]
    arguments += ["--ledger", f"app={_table(planting)}", "--ledger", f"app={_objects(planting)}"]
    for path in _settings(planting):
        arguments += ["--client", f"app={path}"]
    arguments += ["--properties", f"1={_properties(planting)}", "--zookeeper-dump", str(_dump(planting))]
    for path in planting.logs("what a host measured"):
        arguments += ["--metrics", f"1={path}"]
    for broker in ("2", "3"):
        arguments += ["--logs", f"{broker}={places.samples_dir() / SAMPLE / 'brokers' / broker / 'logs'}"]
    return arguments, planting


def paste(folder: Path) -> tuple[list[str], Planting]:
    """The same forms in a paste, in UTF-16 as Windows' clipboard writes it; and logs beside it."""
    planting = Planting(folder, 2)
    lines = [ORDINARY]
    for form, kind in planting._forms(lone=True):
        lines += [forms.planted(form, planting.secret("a paste", form, kind, "UTF-16 LE with a mark")), ORDINARY]
    znode = {"version": 1, "config": {"SCRAM-SHA-256": f"salt=x,stored_key={planting.secret('a paste', 'a znode')}"}}
    lines += ["get /config/users/alice", json.dumps(znode), "get /brokers/ids/1", '{"host":"h","port":9092,"version":4}']
    path = planting.file("paste.txt", ENCODINGS["UTF-16 LE with a mark"]("\n".join(lines) + "\n"))
    return ["--pasted", str(path)], planting


def _names(planting: Planting) -> list[str]:
    """Files and folders whose own names hold secrets."""

    def new(form: str, kind: str) -> str:
        return planting.secret("a file's name", form, kind)

    log = planting.file(f"x-password={new('named', 'generated')}.log", f"{ORDINARY}\n".encode())
    below = planting.file(f"{new('a folder', 'npm token')}/app.log", f"{ORDINARY}\n".encode())
    ledger = planting.file(f"sent-{new('lone', 'a token with a prefix')}.csv", b"id,topic\nr-1,orders\n")
    client = planting.file(f"app-{new('lone', 'GitHub token')}.properties", b"acks=all\n")
    return ["--logs", f"2={log}", "--logs", f"3={below}", "--ledger", f"app={ledger}", "--client", f"app={client}"]


def _table(planting: Planting) -> Path:
    heads = ("password", "api_key", "Auth-Token", "client secret", "sasl_pwd")
    rows = ["id,topic," + ",".join(heads)]
    rows += [f"r-{row},orders," + ",".join(planting.secret("a column", head, "generated") for head in heads) for row in range(8)]
    return planting.file("sent.csv", "\n".join(rows).encode())


def _objects(planting: Planting) -> Path:
    def row(number: int) -> str:
        told = {
            "id": f"r-{number}",
            "topic": "orders",
            "headers": [{"authorization": f"Bearer {planting.secret('JSON lines', 'header', 'JWT')}"}],
        }
        told["error"] = f'login with {{"password": "{planting.secret("JSON lines", "escaped", "generated")}"}} failed'
        return json.dumps(told | {"token": planting.secret("JSON lines", "field")})

    return planting.file("sent.jsonl", "\n".join(map(row, range(8))).encode())


def _settings(planting: Planting) -> Iterator[Path]:
    """Files of clients: settings nobody knows, comments, nested ones."""

    def new(form: str) -> str:
        return planting.secret("a client's file", form)

    lines = ["acks=all", f"# {new('a comment')}", f"ssl.keystore.password={new('a password')}", f"my.thing={new('an unknown one')}",
             f"sasl.jaas.config=X required \\\n  password=\"{new('on the next line')}\";", f"bootstrap.servers=u:{new('servers')}@h:9092"]  # fmt: skip
    for encoding in ("UTF-8", "UTF-16 LE with a mark", "UTF-16 BE", "CR", "CRLF"):
        yield planting.file(f"app-{encoding.replace(' ', '-')}.properties", ENCODINGS[encoding]("\n".join(lines) + "\n"))
    nested = {
        "spring": {"kafka": {"producer": {"acks": "all"}, "ssl": {"key-store-password": new("nested")}}, "list": [new("a list")]}
    }
    yield planting.file("app.json", json.dumps(nested).encode())
    yield planting.file(
        "app.yml",
        f"# {new('a comment')}\nacks: all\nx: &a {new('an anchor')}\ny: *a\n? {new('a key')}\n: 1\nz: |\n  {new('a block')}\n".encode(),
    )
    yield planting.file(".env", f"KAFKA_ACKS=all\nexport DB_PASS={new('a shell')}\nTOKEN='{new('quoted')}'\n".encode())


def _properties(planting: Planting) -> Path:
    def new(form: str) -> str:
        return planting.secret("server.properties", form)

    lines = ["broker.id=1", f"ssl.key.password={new('a password')}", f"# old: {new('a comment')}", f"my.plugin.thing={new('unknown')}",
             f"listener.name.sasl_ssl.plain.sasl.jaas.config=X required \\\n user_a=\"{new('continued')}\";", f"min.insync.replicas={new('a known one')}",
             f"ssl.keystore.p\\u0061ssword={new('escaped')}", f"log.dirs=s3a://k:{new('a URI')}@bucket/"]  # fmt: skip
    return planting.file("server.properties", "\n".join(lines).encode())


def _dump(planting: Planting) -> Path:
    """The znodes of the sample, and others: SCRAM, parents with data, kinds of entities that nobody knows."""

    def new(form: str, kind: str = "base64") -> str:
        return planting.secret("a znode", form, kind)

    def scram() -> str:
        return f"salt={new('salt')},stored_key={new('stored_key')},server_key={new('server_key')},iterations=4096"

    rows = [json.loads(znode_lines.encode(znode)) for znode in Case.open(places.samples_dir() / SAMPLE).znodes()]
    data = {f"/config/users/u{number}": json.dumps({"version": 1, "config": {"SCRAM-SHA-512": scram()}}) for number in range(5)}
    data |= {
        f"/config/brokers/{number}": json.dumps({"version": 1, "config": {"ssl.key.password": new("encrypted")}})
        for number in (1, 2)
    }
    data |= {
        f"/config/{kind}/x": json.dumps({"version": 1, "config": {"thing": new("unknown", "spoken")}})
        for kind in ("vault", "jobs")
    }
    data |= {
        path: new("on a parent", "spoken")
        for path in ("/config", "/config/users", "/brokers", "/brokers/topics", "/admin", "/cluster")
    }
    data["/config/topics/orders-x"] = json.dumps(
        {"version": 1, "config": {"my.password": new("of a topic"), "cleanup.policy": "compact"}}
    )
    data |= {
        f"/config/{entity}": json.dumps({"version": 1, "config": {"a.thing": new("an unknown setting", "spoken")}})
        for entity in ("topics/orders-y", "clients/app", "ips/10.0.0.1", "brokers/7", "users/u9/clients/app")
    }
    data["/config/topics/orders-z"] = json.dumps(
        {"version": 1, "config": {"retention.ms": new("a known setting", "spoken")}, "more": new("beside settings", "spoken")}
    )
    data["/config/changes/config_change_9"] = json.dumps({"version": 2, "entity_path": "users/u", "password": new("a change")})
    data["/brokers/ids/9"] = json.dumps(
        {"endpoints": [f"SASL://u:{new('an endpoint', 'generated')}@h:9092"], "host": "h", "port": 9092, "version": 4}
    )
    known = {row["path"]: row for row in rows}
    known |= {path: {"path": path, "data": text} for path, text in data.items()}
    binary = {"path": "/config/users/b", "data_b64": base64.b64encode(b"\xff\xfe" + new("binary").encode("utf-16-le")).decode()}
    return planting.file("znodes.jsonl", "\n".join(map(json.dumps, [*known.values(), binary])).encode())
