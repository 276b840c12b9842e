"""``casebook collect``: collect evidence into a case folder, and print what was collected."""

import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from casebook.cli.terminal import say, seconds
from casebook.errors import CasebookError, UsageError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.pasted import NOT_PASTED

if TYPE_CHECKING:
    from casebook.collect.outside import Given
    from casebook.facts.cluster import Problem


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The case folder to create; it must not exist.")
@click.option("--zookeeper", metavar="HOST:PORT[,..]/CHROOT", help="Walk a live ensemble; reads only.")
@click.option("--bootstrap", metavar="HOST:PORT[,..]", help="Ask the brokers of a live cluster, 0.10 to 4.x; reads only.")
@click.option("--client-config", metavar="FILE", type=click.Path(path_type=Path),
              help="The client.properties of Kafka's own tools, for --bootstrap.")  # fmt: skip
@click.option("--client-jar", "client_jars", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
              help="A jar with classes that the client.properties name, e.g. of MSK IAM.")  # fmt: skip
@click.option("--zookeeper-dump", type=click.Path(path_type=Path), help="A znode dump as JSON lines (docs/dump_znodes.md).")
@click.option(
    "--zookeeper-data",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="dataDir and dataLogDir of a ZooKeeper server, or copies: the history of every znode.",
)
@click.option("--chroot", default="", help="The chroot inside the dump or the files, e.g. /kafka.")
@click.option("--credentials", type=click.Path(path_type=Path), help="A properties file with ZooKeeper credentials.")
@click.option("--properties", multiple=True, metavar="BROKER=FILE", help="A broker's server.properties; secrets are removed.")
@click.option("--logs", multiple=True, metavar="OWNER=GLOB",
              help="Log files of a broker (its id), of a ZooKeeper server (zookeeper, zookeeper-2) or of a client (any"
                   " other name); secrets are removed.")  # fmt: skip
@click.option("--metrics", multiple=True, metavar="BROKER=GLOB",
              help="Metrics of a broker's host: text of sar, sadf -d or iostat -x -t, scrapes of node_exporter, "
                   "answers of Prometheus to query_range.")  # fmt: skip
@click.option("--ledger", "ledgers", multiple=True, metavar="NAME=GLOB",
              help="A client's ledger of the records that it produced or processed: CSV, JSON lines or a text log; "
                   "secrets are removed.")  # fmt: skip
@click.option("--processed", multiple=True, metavar="GROUP=GLOB",
              help="A ledger of records that consumers of GROUP processed, as --ledger; kept apart from produced "
                   "records.")  # fmt: skip
@click.option("--client", "clients", multiple=True, metavar="NAME=GLOB",
              help="Properties or YAML files of a producer or consumer; secrets are removed.")  # fmt: skip
@click.option(
    "--log-dirs",
    multiple=True,
    metavar="[BROKER=]DIR-or-URI",
    help="A broker's log dir: its inventory and checkpoints; BROKER can be left out if meta.properties names it.",
)
@click.option(
    "--copy-segments",
    multiple=True,
    is_flag=False,
    flag_value=OFFSETS_TOPIC,
    metavar="[TOPIC]",
    help=f"Also copy the segments of TOPIC ({OFFSETS_TOPIC}) into the case; for small topics.",
)
@click.option("--timeout", metavar="15m", default="15m", show_default=True,
              help="End the collection after this time (s, m, h); the case then has what was collected until then.")  # fmt: skip
@click.option("--pasted", metavar="FILE", type=click.Path(path_type=Path),
              help="Pasted output of commands and logs, - for the standard input (docs/pasted.md).")  # fmt: skip
def collect(
    out: Path, zookeeper: str | None, bootstrap: str | None, client_config: Path | None, client_jars: tuple[Path, ...],
    zookeeper_dump: Path | None, zookeeper_data: tuple[Path, ...], chroot: str,
    credentials: Path | None, properties: tuple[str, ...], logs: tuple[str, ...], metrics: tuple[str, ...],
    ledgers: tuple[str, ...], processed: tuple[str, ...], clients: tuple[str, ...], log_dirs: tuple[str, ...],
    copy_segments: tuple[str, ...], pasted: Path | None, timeout: str,
) -> None:  # fmt: skip
    """Collect evidence into a case folder. Nothing is ever written to the cluster.

    Exit code: 0 all that was given is in the case, 3 not all of it, or nothing that casebook understands. What nobody
    understands of a paste is told, and is in the case: whoever pastes a screen has words of their own in it.
    """
    from casebook.collect.collection import PATIENCE, collect_case
    from casebook.collect.redaction.addresses import refuse_passwords
    from casebook.machine import progress

    of_cluster = zookeeper or bootstrap or zookeeper_dump or zookeeper_data
    if not (of_cluster or properties or logs or metrics or ledgers or processed or clients or log_dirs or pasted):
        raise UsageError(
            "Nothing to collect.",
            try_="Give --bootstrap, --zookeeper, --zookeeper-dump, --zookeeper-data, --properties, --logs, --metrics, --ledger, "
            "--processed, --client, --log-dirs or --pasted.",
        )
    if copy_segments and not log_dirs:
        raise UsageError("There are no segments to copy.", try_="Add --log-dirs with their folders.")
    settings = {broker: _path(value) for broker, value in _by_broker(properties)}
    measured = _globbed(_by_broker(metrics, example="--metrics 1=sar.txt"))
    files = [_globbed(map(_of_owner, given)) for given in (logs, ledgers, clients, processed)]
    places = [_log_dir(text) for text in log_dirs]
    time_limit = seconds("--timeout", timeout)
    refuse_passwords("--zookeeper", zookeeper)  # before it is printed
    refuse_passwords("--bootstrap", bootstrap)
    live, what = (zookeeper, "Reading ZooKeeper: {} of about {} znodes") if zookeeper else (bootstrap, "Asking brokers: {} of {}")
    with progress.shown() as tell:
        tell(f"Connecting to {live} (up to {PATIENCE:g} s)" if live else "Reading the given files")
        collect_case(
            out,
            zookeeper=zookeeper,
            bootstrap=bootstrap,
            client_config=client_config,
            client_jars=client_jars,
            zookeeper_dump=zookeeper_dump,
            zookeeper_data=zookeeper_data,
            chroot=chroot,
            credentials=credentials,
            properties=settings,
            logs=files[0],
            ledgers={str(client): paths for client, paths in files[1].items()},
            clients={str(client): paths for client, paths in files[2].items()},
            metrics=measured,
            processed={str(group): paths for group, paths in files[3].items()},
            log_dirs=places,
            copy_segments=copy_segments,
            pasted=pasted,
            time_limit=time_limit,
            progress=lambda done, total: tell(what.format(done, total)),
        )
    _tell_what_was_taken(out)


def _tell_what_was_taken(out: Path) -> None:
    """Print what a case has and lacks; its folder is the last line.

    Raises:
        CasebookError: It has nothing decodable, or lacks something given: a script must not treat it as complete.
    """
    from casebook.case import folder as case_folder
    from casebook.case.case import Case
    from casebook.collect import taken

    case = Case.open(out)
    left_out = case_folder.left_out(case_folder.manifest(case_folder.manifest_bytes(out), out))
    unpasted = [problem.path for problem in case.could_not_collect if _is_hole(problem)]
    open_ends = [problem for problem in case.could_not_collect if not _is_hole(problem)]
    open_ends.sort(key=lambda problem: problem.path not in left_out)
    for problem in open_ends[:5]:
        say(f"casebook: {_described(problem, case.items)}", err=True)
    if len(open_ends) > 5:
        say(f"casebook: and {len(open_ends) - 5} more, all in {out / 'case.json'}", err=True)
    if unpasted:
        more = f" and {len(unpasted) - 3} more" if len(unpasted) > 3 else ""
        say(f"casebook: {NOT_PASTED}: {', '.join(unpasted[:3])}{more}; triage says what to paste next", err=True)
    understood = taken.is_understood(case)
    say(f"taken: {taken.in_words(case)}")
    if case.redacted:
        more = f"; and {len(case.redacted) - 3} more, all in {out / 'case.json'}" if len(case.redacted) > 3 else ""
        say(f"removed: secrets, in {'; '.join(case.redacted[:3])}{more}")
    if understood:
        say(f"next: casebook run triage --source {shlex.quote(str(out))}")
    click.echo(str(out).encode(errors="replace").decode())  # unchanged: scripts read it
    if not understood:
        raise CasebookError(
            f"Nothing was collected that casebook understands; no notebook can answer anything from {out}.",
            try_="Check the given paths. In a paste, include each command with its output (docs/pasted.md).",
        )
    if left_out:
        more = f", and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise CasebookError(
            f"Collected only in part; missing or cut: {', '.join(left_out[:3])}{more}.",
            cause=(
                "The lines above give each reason: a misspelt path, a pattern without a file, or a server that did not answer."
            ),
            try_=f"{out} holds the rest and is readable. To get everything, collect again with another --out.",
        )


def _described(problem: "Problem", taken: Collection[str]) -> str:
    """Format what is missing, or what is wrong in the case; a problem may concern one line."""
    if problem.path in taken or problem.path.rpartition(":")[0] in taken:
        return f"{problem.path} is taken, but: {problem.reason}"
    return f"could not collect {problem.path}: {problem.reason}"


def _is_hole(problem: "Problem") -> bool:
    """Whether a znode is only missing from a paste: a paste is never complete, and the omission was not a choice."""
    return problem.path.startswith("/") and NOT_PASTED in problem.reason


def _by_broker(texts: tuple[str, ...], *, example: str = "--properties 1=/etc/kafka/server.properties") -> list[tuple[int, str]]:
    pairs = []
    for text in texts:
        broker, equals, value = text.partition("=")
        if not equals or not broker.isdecimal() or not value:
            raise UsageError(f"{text!r} is not BROKER=PATH.", try_=f"For example {example}.")
        pairs.append((int(broker), value))
    return pairs


def _log_dir(text: str) -> tuple[int | None, str]:
    broker, equals, place = text.partition("=")
    if equals and broker.isascii() and broker.isdecimal():
        return int(broker), place
    return None, text


def _globbed(pairs: Iterable[tuple[int | str, str]]) -> dict[int | str, list["Given"]]:
    """Return the files matching patterns, by owner."""
    from casebook.collect import outside

    found: dict[int | str, list[Given]] = {}
    for owner, pattern in pairs:
        found.setdefault(owner, []).extend(outside.matches(_path(pattern)))
    return found


def _path(text: str) -> Path:
    """Parse a path with ``~`` for the user's home, which no shell expands after an equals sign."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # an unknown user
        return Path(text)


def _of_owner(text: str) -> tuple[int | str, str]:
    owner, equals, pattern = text.partition("=")
    if not equals or not pattern or not re.fullmatch(r"\w[\w.-]*", owner, re.ASCII):
        raise UsageError(
            f"{text!r} is not NAME=GLOB.", try_="For example --logs '1=/var/log/kafka/*.log*' or --ledger billing=sent.csv."
        )
    return (int(owner) if owner.isdecimal() else owner), pattern
