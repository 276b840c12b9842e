"""Source of a notebook's evidence: ``sample:<name>``, a case folder, or ``live:<profile>``.

A profile is a file ``<profile>.toml`` in the profiles folder (``casebook doctor`` names it)::

    zookeeper = "zk1:2181,zk2:2181/kafka"            # or, without ZooKeeper's address:
    bootstrap = "kafka1:9092,kafka2:9092"
    client_config = "/path/to/client.properties"     # optional: of Kafka's own tools, with bootstrap
    credentials = "/path/to/zookeeper.properties"    # optional
    zookeeper_data = "/var/zookeeper/data"           # optional: a folder of ZooKeeper's own files, or a list of them
    [properties]                                     # optional, by broker id
    1 = "/path/to/server.properties"
    [logs]                                           # optional, by broker id: a file, or a folder of them
    1 = "/var/log/kafka"
    [metrics]                                        # optional, by broker id: metrics of its host; files, or folders of them
    1 = "/var/log/sysstat/sar.txt"
    [log_dirs]                                       # optional, by broker id: a path or URI, or a list of them
    1 = "/var/kafka-logs"
    [clients]                                        # optional, by client: properties or YAML files, or folders of them
    billing = ["/etc/billing/producer.properties"]
    [ledgers]                                        # optional, by client: its own records of what it sent
    billing = "/var/billing/sent.csv"
    [processed]                                      # optional, by consumer group: its own records of what it processed
    billing = "/var/billing/done.csv"
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from casebook.case import folder as case_folder
from casebook.case.case import Case
from casebook.errors import CaseError, UsageError, did_you_mean
from casebook.machine import places

_SAMPLE, _LIVE = "sample:", "live:"
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A live cluster: its addresses, and the locations of its files.

    Args:
        zookeeper: Connect string; ``None`` with ``bootstrap``.
        bootstrap: Addresses of brokers; ``None`` with ``zookeeper``.
        client_config: The ``client.properties`` of Kafka's own tools.
        zookeeper_data: Folders of ZooKeeper's own files.
        credentials: File of ZooKeeper credentials.
        properties: ``server.properties`` by broker id.
        logs: File or folder by broker id.
        metrics: Files or folders of host metrics by broker id.
        log_dirs: Pairs of broker id and path or URI.
        clients: Settings by client name.
        ledgers: Ledgers by client name.
        processed: Ledgers of processed records by consumer group.
    """

    zookeeper: str | None
    bootstrap: str | None
    client_config: Path | None
    zookeeper_data: Sequence[Path]
    credentials: Path | None
    properties: Mapping[int, Path]
    logs: Mapping[int, Path]
    metrics: Mapping[int, Sequence[Path]]
    log_dirs: Sequence[tuple[int, str]]
    clients: Mapping[str, Sequence[Path]]
    ledgers: Mapping[str, Sequence[Path]]
    processed: Mapping[str, Sequence[Path]]


def open_source(source: str, *, evidence: Callable[[], Path], progress: Progress | None = None) -> Case:
    """Open the case of a source.

    Args:
        source: Source, as given to the notebook.
        evidence: Returns the folder for a live collection; not called for other sources.
        progress: Receives the progress of the collection.

    Raises:
        CasebookError: The source does not exist, is not a case, or cannot be collected.
    """
    if source.startswith(_LIVE):
        return replace(Case.open(_collect(source.removeprefix(_LIVE), evidence(), progress)), name=source)
    return _open_kept(source)


def open_earlier(source: str) -> Case:
    """Open a previously collected case.

    Args:
        source: ``sample:<name>`` or a folder.

    Raises:
        CasebookError: It does not exist.
    """
    if source.startswith(_LIVE):
        raise UsageError("An earlier case cannot be a live cluster.", try_="Use the folder of the case, or a sample.")
    return _open_kept(source)


def earlier_moment(source: str) -> str:
    """Return the sample of an earlier moment of the same cluster, ``sample:<name>_before``; ``""`` without one."""
    before = f"{source}_before"
    return before if source.startswith(_SAMPLE) and before.removeprefix(_SAMPLE) in samples() else ""


def check(source: str) -> None:
    """Check a source before anything is started for it; nothing is collected.

    Raises:
        CasebookError: The case or profile does not exist.
    """
    if source.startswith(_LIVE):
        profile(source.removeprefix(_LIVE))
        return
    folder = _folder(source)
    case_folder.manifest(case_folder.manifest_bytes(folder), folder)


def is_missing_profile(source: str) -> bool:
    """Return whether a source is a live profile that does not exist: a mistyped name, not lost evidence."""
    return source.startswith(_LIVE) and not (places.profiles_dir() / f"{source.removeprefix(_LIVE)}.toml").exists()


def _open_kept(source: str) -> Case:
    return Case.open(_folder(source))


def _folder(source: str) -> Path:
    """Return the folder of a previously collected case.

    Raises:
        CasebookError: It does not exist.
    """
    if source.startswith(_SAMPLE):
        return _sample(source.removeprefix(_SAMPLE))
    if not source:
        raise UsageError("No source is given.", try_="Set -p source=sample:leader_minus_one, a case folder, or live:<profile>.")
    folder = Path(source)
    with suppress(RuntimeError):  # the home of an unknown user
        folder = folder.expanduser()
    beside = places.checkout() / folder  # JupyterLab runs a notebook in the notebooks' folder, a terminal in the checkout
    for found in (folder, beside):
        with suppress(OSError):  # an invalid file name, or an inaccessible folder
            if found.exists():
                return found
    raise CaseError(f"There is no case at {folder}.", try_=_perhaps(folder))


def _perhaps(folder: Path) -> str:
    """Suggest cases, samples and profiles for a folder that does not exist."""
    known = {name: kind + name for kind, names in ((_LIVE, profiles()), (_SAMPLE, samples())) for name in names}
    with suppress(OSError):
        beside = [manifest.parent.name for manifest in folder.parent.glob(f"*/{case_folder.MANIFEST}")]
        known |= {name: str(folder.with_name(name)) for name in beside}
    close = difflib.get_close_matches(folder.name.rpartition(":")[2], known, n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(known[name] for name in close)}?"
    return "`casebook list` names the shipped samples."


def samples() -> tuple[str, ...]:
    """Return the names of the shipped cases."""
    return tuple(sorted(path.parent.name for path in places.samples_dir().glob("*/case.json")))


def _sample(name: str) -> Path:
    if name not in samples():
        raise UsageError(f"There is no sample {name}.", try_=did_you_mean(name, samples()))
    return places.samples_dir() / name


def _collect(name: str, evidence: Path, progress: Progress | None) -> Path:
    from casebook.collect.collection import collect_case

    found = profile(name)
    return collect_case(
        evidence,
        zookeeper=found.zookeeper,
        bootstrap=found.bootstrap,
        client_config=found.client_config,
        zookeeper_data=found.zookeeper_data,
        credentials=found.credentials,
        properties=found.properties,
        logs={broker: [path] for broker, path in found.logs.items()},
        metrics=found.metrics,
        log_dirs=found.log_dirs,
        clients=found.clients,
        ledgers=found.ledgers,
        processed=found.processed,
        progress=progress,
    )


def _understood(profile: dict) -> Profile:
    return Profile(
        zookeeper=profile.get("zookeeper"),
        bootstrap=profile.get("bootstrap"),
        client_config=Path(profile["client_config"]).expanduser() if "client_config" in profile else None,
        zookeeper_data=[Path(place).expanduser() for place in _listed(profile.get("zookeeper_data", []))],
        credentials=Path(profile["credentials"]).expanduser() if "credentials" in profile else None,
        properties={broker: Path(path).expanduser() for broker, path in _by_broker(profile, "properties")},
        logs={broker: Path(path).expanduser() for broker, path in _by_broker(profile, "logs")},
        metrics={
            broker: [Path(place).expanduser() for place in _listed(places)] for broker, places in _by_broker(profile, "metrics")
        },
        log_dirs=[(broker, place) for broker, places in _by_broker(profile, "log_dirs") for place in _listed(places)],
        clients=_by_client(profile, "clients"),
        ledgers=_by_client(profile, "ledgers"),
        processed=_by_client(profile, "processed"),
    )


def _by_client(profile: dict, table: str) -> dict[str, list[Path]]:
    """Return a table of the profile by client name.

    Raises:
        UsageError: It is not a table, or a key is not a name.
    """
    named = profile.get(table, {})
    if not isinstance(named, dict) or not all(re.fullmatch(r"[A-Za-z_][\w.-]*", name, re.ASCII) for name in named):
        raise UsageError(
            f"[{table}] of the profile is not a table by client name.", try_='Write a line such as: billing = "/path"'
        ) from None
    return {name: [Path(place).expanduser() for place in _listed(places)] for name, places in named.items()}


def _by_broker(profile: dict, table: str) -> list[tuple[int, object]]:
    """Return a table of the profile by broker id.

    Raises:
        UsageError: A key is not a broker id.
    """
    try:
        return [(int(broker), value) for broker, value in profile.get(table, {}).items()]
    except (AttributeError, ValueError):
        raise UsageError(
            f"[{table}] of the profile is not a table by broker id.", try_='Write a line such as: 1 = "/path"'
        ) from None


def _listed(places: object) -> list[str]:
    return [str(place) for place in (places if isinstance(places, list) else [places])]


def profiles() -> tuple[str, ...]:
    """Return the names of the existing profiles."""
    return tuple(sorted(path.stem for path in places.profiles_dir().glob("*.toml")))


def profile(name: str) -> Profile:
    """Read a profile.

    Raises:
        UsageError: It does not exist, or is invalid.
    """
    folder = places.profiles_dir()
    path = folder / f"{name}.toml"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = profiles()
        raise UsageError(
            f"There is no profile {name} in {folder}.",
            try_=did_you_mean(name, known) if known else f'Write {path} with the line: bootstrap = "host:9092"',
        ) from None
    except (OSError, ValueError):
        raise UsageError(f"The profile {path} cannot be read as TOML.") from None
    if [isinstance(found.get(key), str) for key in ("zookeeper", "bootstrap")].count(True) != 1:
        raise UsageError(
            f"The profile {path} needs one line zookeeper or bootstrap.",
            try_='Add: bootstrap = "host:9092" or zookeeper = "host:2181/chroot"',
        )
    return _understood(found)
