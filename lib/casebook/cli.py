"""The command ``casebook``. Every command has its Python twin; this module only reads arguments and prints."""

import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from casebook import __version__
from casebook.errors import CasebookError, UsageError
from casebook.facts.disks import OFFSETS_TOPIC
from casebook.facts.pasted import NOT_PASTED
from casebook.findings.finding import Severity
from casebook.machine import workshop

if TYPE_CHECKING:
    from casebook.collect.outside import Given
    from casebook.facts.cluster import Problem
    from casebook.runs.runner import Ran

_COULD_NOT_COMPLETE = 3
_MARKS = {True: "ok  ", False: "FAIL", None: "?   "}
"""How the doctor marks what is as needed, what is not, and what could not be told."""


def main() -> None:
    """Run the command line. Whatever goes wrong ends in exit code 3: 1 and 2 are severities."""
    workshop.begin()
    try:
        cli.main(standalone_mode=False)
    except CasebookError as error:
        _complain(error)
        sys.exit(_COULD_NOT_COMPLETE)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        _say(shown.getvalue(), err=True, nl=False)
        sys.exit(_COULD_NOT_COMPLETE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        sys.exit(_COULD_NOT_COMPLETE)
    except BrokenPipeError:  # the reader of our output has gone: nothing left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_COULD_NOT_COMPLETE)
    except Exception as error:  # a fault of ours, which must not look like a warning
        _complain(CasebookError(f"An error that casebook did not expect: {type(error).__name__}.", try_="Report what follows."))
        _say(traceback.format_exc(), err=True, nl=False)
        sys.exit(_COULD_NOT_COMPLETE)


def _complain(error: CasebookError) -> None:
    _say(f"casebook: {error.what}", err=True)
    if error.cause:
        _say(f"  likely cause: {error.cause}", err=True)
    if error.try_:
        _say(f"  try: {error.try_}", err=True)


def _say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print what others wrote, without secrets: the one door to the terminal. Half a surrogate pair becomes a question mark."""
    from casebook.collect.redaction import redact_message

    click.echo(redact_message(text).encode(errors="replace").decode(), err=err, nl=nl)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="casebook")
def cli() -> None:
    """Explain Kafka incidents from evidence alone."""


@cli.command("list")
def list_() -> None:
    """Name the notebooks and the shipped cases."""
    from casebook.collect import sources
    from casebook.rehearsal import samples
    from casebook.runs import notebooks

    for notebook in notebooks.every():
        click.echo(f"{notebook.stem:<24} {notebook.title()}")
    click.echo()
    for sample in sources.samples():
        click.echo(f"{f'sample:{sample}':<31} {samples.told(sample)}")


@cli.command()
@click.argument("notebook")
def describe(notebook: str) -> None:
    """Tell what NOTEBOOK answers and which parameters it takes."""
    from casebook.runs import notebooks, parameters

    found = notebooks.find(notebook)
    click.echo(f"{found.stem}: {found.title()}\n\n{found.about()}\n")
    for parameter in parameters.of_notebook(found.path):
        click.echo(f"  -p {parameter.name}={parameter.default}  ({parameter.type}) {parameter.help}")


@cli.command()
@click.argument("notebook")
@click.option("--source", help="sample:<name>, a case folder, or live:<profile>.")
@click.option("-p", "pairs", multiple=True, metavar="NAME=VALUE", help="A parameter; `casebook describe NOTEBOOK` lists them.")
@click.option("-f", "file", type=click.Path(path_type=Path), help="A YAML file of parameters; -p goes before it.")
@click.option(
    "--runs", "runs_dir", type=click.Path(path_type=Path), help="The folder of all runs [default: $CASEBOOK_RUNS, else runs]."
)
@click.option("--fail-on", type=click.Choice([s.value for s in Severity]), default="warning", show_default=True,
              help="The lowest severity that makes the exit code 1 or 2.")  # fmt: skip
@click.option("--timeout", metavar="30m", help="End the notebook after so long (s, m, h), with all that it started.")
@click.option("--one-at-a-time", is_flag=True, help="Do not run while another run of NOTEBOOK on the same source goes on.")
@click.option("--publish", "where", metavar="PLACE",
              help="A folder or object store (s3://, gs://, abfs://) for the latest report and its summary.")  # fmt: skip
@click.option("--progress/--quiet", "wanted", default=None,
              help="Tell on standard error what is being done [default: on a terminal].")  # fmt: skip
def run(
    notebook: str, source: str | None, pairs: tuple[str, ...], file: Path | None, runs_dir: Path | None, fail_on: str,
    timeout: str | None, one_at_a_time: bool, where: str | None, wanted: bool | None,
) -> None:  # fmt: skip
    """Run NOTEBOOK headless; the last line printed is the run's folder.

    Exit code: 0 nothing at or above --fail-on, 1 warning, 2 critical, 3 could not complete or not publish.
    """
    from casebook.machine import places, progress
    from casebook.runs import notebooks, parameters, publishing, runner

    given = (parameters.from_yaml(file) if file else {}) | parameters.from_pairs(pairs)
    if source is not None:
        given["source"] = source
    with progress.shown(wanted) as tell:
        ran = runner.run(
            notebooks.find(notebook),
            given,
            runs_dir=runs_dir or places.runs_dir(),
            fail_on=Severity(fail_on),
            timeout=_seconds("--timeout", timeout) if timeout else None,
            one_at_a_time=one_at_a_time,
            publish=publishing.place(where) if where else None,
            progress=tell,
        )
    if "source" not in given and ran.source.startswith("sample:"):
        _say(f"casebook: no --source was given; this is about the shipped {ran.source}, not about a cluster of yours.", err=True)
    _tell(ran)
    sys.exit(ran.exit_code)


def _tell(ran: "Ran") -> None:
    """What a run came to; its last line is the run's folder."""
    if ran.failed:
        _say(f"casebook: {ran.title}", err=True)
    else:
        _say(ran.title)
        _say(f"source: {ran.source}")
    for failed in ran.unpublished:
        _say(f"casebook: {failed}", err=True)
    if ran.report:
        click.echo(f"report: {ran.report}")
    if ran.folder:
        click.echo(str(ran.folder))


def _seconds(option: str, text: str) -> float:
    match = re.fullmatch(r"(\d+)\s*([smh])", text)
    if not match or not int(match[1]):
        raise UsageError(f"{text!r} is no length of time.", try_=f"For example {option} 30m, 90s or 2h.")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


@cli.command()
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
def report(run_folder: Path) -> None:
    """Write report.html and summary.json of a RUN again from its notebook."""
    from casebook.runs import runner

    click.echo(str(runner.rewrite_report(run_folder)))


@cli.command()
@click.argument("run_or_place", metavar="RUN")
@click.option("--format", "form", type=click.Choice(["line", "json", "prometheus", "webhook"]), default="line", show_default=True,
              help="For people, scripts, node_exporter's textfile collector, or a webhook's body.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), help="Replace this file, whole, instead of printing.")
@click.option("--max-age", metavar="20h", help="End with 3, and say so, when the run ended longer ago (s, m, h).")
def summary(run_or_place: str, form: str, out: Path | None, max_age: str | None) -> None:
    """Tell what a RUN came to, for alerting; RUN is a run folder, or a place that runs publish to."""
    from casebook.machine import whole
    from casebook.runs import publishing, summary

    oldest = _seconds("--max-age", max_age) if max_age else None
    is_run = (Path(run_or_place) / "run.json").is_file()
    document = summary.of_folder(Path(run_or_place)) if is_run else publishing.read(publishing.place(run_or_place))
    overdue = oldest is not None and summary.is_overdue(document, oldest)
    said = {
        "line": lambda found: summary.line(found, overdue=overdue) + "\n",
        "json": summary.encoded,
        "prometheus": summary.prometheus,
        "webhook": lambda found: summary.webhook(found, overdue=overdue),
    }[form](document)
    if out is None:
        _say(said, nl=False)
    else:
        try:
            whole.write(out, said, for_others=True)
        except OSError as error:
            raise CasebookError(f"{out} cannot be written: {error.strerror}.") from None
    if overdue:
        sys.exit(_COULD_NOT_COMPLETE)


@cli.command()
@click.option(
    "--runs", "runs_dir", type=click.Path(path_type=Path), help="The folder of all runs [default: $CASEBOOK_RUNS, else runs]."
)
@click.option("--keep", type=click.IntRange(min=1), metavar="N",
              help="Of each notebook and cluster, remove all but the newest N that completed; others push out none.")  # fmt: skip
def runs(runs_dir: Path | None, keep: int | None) -> None:
    """List the runs, newest first; or remove old ones, and name them."""
    from casebook.machine import places
    from casebook.runs import retention

    folder = runs_dir or places.runs_dir()
    if keep is None:
        for run in retention.listed_anew(folder):
            _say(f"{run.name}  {run.case or '?'}  {run.kind}: {run.says}")
        return
    removed = retention.keep(folder, keep)
    for run in removed:
        _say(f"removed {run.name}  {run.case or '?'}")
    click.echo(f"{len(removed)} removed, {len(retention.listed(folder))} kept in {folder}")


@cli.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The case folder to make; it must not exist.")
@click.option("--zookeeper", metavar="HOST:PORT[,..]/CHROOT", help="Walk a live ensemble; reads only.")
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
              help="What a broker's host measured: text of sar, sadf -d or iostat -x -t, scrapes of node_exporter, answers of"
                   " Prometheus to query_range.")  # fmt: skip
@click.option("--ledger", "ledgers", multiple=True, metavar="NAME=GLOB",
              help="What a client wrote down of the records that it produced or processed: CSV, JSON lines or a text log;"
                   " secrets are removed.")  # fmt: skip
@click.option("--processed", multiple=True, metavar="GROUP=GLOB",
              help="What consumers of GROUP wrote down of the records that they processed, as --ledger; kept apart from what was"
                   " produced.")  # fmt: skip
@click.option("--client", "clients", multiple=True, metavar="NAME=GLOB",
              help="Properties or YAML files of a producer or consumer; secrets are removed.")  # fmt: skip
@click.option(
    "--log-dirs",
    multiple=True,
    metavar="[BROKER=]DIR-or-URI",
    help="A broker's log dir: its inventory and checkpoints; BROKER can be left out where meta.properties tells it.",
)
@click.option(
    "--copy-segments",
    multiple=True,
    is_flag=False,
    flag_value=OFFSETS_TOPIC,
    metavar="[TOPIC]",
    help=f"Also copy the segments of TOPIC ({OFFSETS_TOPIC}) into the case; for small ones.",
)
@click.option("--timeout", metavar="15m", default="15m", show_default=True,
              help="End the collection after so long (s, m, h); the case is made of what was had until then.")  # fmt: skip
@click.option("--pasted", metavar="FILE", type=click.Path(path_type=Path),
              help="What somebody pasted of commands' output and logs, - for the standard input (docs/pasted.md).")  # fmt: skip
def collect(
    out: Path, zookeeper: str | None, zookeeper_dump: Path | None, zookeeper_data: tuple[Path, ...], chroot: str,
    credentials: Path | None, properties: tuple[str, ...], logs: tuple[str, ...], metrics: tuple[str, ...],
    ledgers: tuple[str, ...], processed: tuple[str, ...], clients: tuple[str, ...], log_dirs: tuple[str, ...],
    copy_segments: tuple[str, ...], pasted: Path | None, timeout: str,
) -> None:  # fmt: skip
    """Collect evidence into a case folder. Nothing is ever written to the cluster.

    Exit code: 0 all that was given is in the case, 3 not all of it, or nothing that casebook understands. What nobody
    understands of a paste is told, and is in the case: whoever pastes a screen has words of their own in it.
    """
    from casebook.collect import PATIENCE, collect_case
    from casebook.collect.redaction.addresses import refuse_passwords
    from casebook.machine import progress

    from_zookeeper = zookeeper or zookeeper_dump or zookeeper_data
    if not (from_zookeeper or properties or logs or metrics or ledgers or processed or clients or log_dirs or pasted):
        raise UsageError(
            "Nothing to collect.",
            try_="Give --zookeeper, --zookeeper-dump, --zookeeper-data, --properties, --logs, --metrics, --ledger, --processed, "
            "--client, --log-dirs or --pasted.",
        )
    if copy_segments and not log_dirs:
        raise UsageError("There are no segments to copy.", try_="Say with --log-dirs where they lie.")
    settings = {broker: _path(value) for broker, value in _by_broker(properties)}
    measured = _globbed(_by_broker(metrics, example="--metrics 1=sar.txt"))
    files = [_globbed(map(_of_owner, given)) for given in (logs, ledgers, clients, processed)]
    places = [_log_dir(text) for text in log_dirs]
    time_limit = _seconds("--timeout", timeout)
    refuse_passwords("--zookeeper", zookeeper)  # before it is told that it is tried
    with progress.shown() as tell:
        tell(f"Connecting to {zookeeper} (up to {PATIENCE:g} s)" if zookeeper else "Reading what was given")
        collect_case(
            out,
            zookeeper=zookeeper,
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
            progress=lambda done, total: tell(f"Reading ZooKeeper: {done} of about {total} znodes"),
        )
    _tell_what_was_taken(out)


def _tell_what_was_taken(out: Path) -> None:
    """What a case holds and lacks; its folder is the last line.

    Raises:
        CasebookError: There is nothing in it that anybody understands, or it lacks something that was given: a script must not
            take it for whole.
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
        _say(f"casebook: {_told(problem, case.items)}", err=True)
    if len(open_ends) > 5:
        _say(f"casebook: and {len(open_ends) - 5} more, all in {out / 'case.json'}", err=True)
    if unpasted:
        more = f" and {len(unpasted) - 3} more" if len(unpasted) > 3 else ""
        _say(f"casebook: {NOT_PASTED}: {', '.join(unpasted[:3])}{more}; triage says what to paste next", err=True)
    understood = taken.is_understood(case)
    _say(f"taken: {taken.in_words(case)}")
    if case.redacted:
        more = f"; and {len(case.redacted) - 3} more, all in {out / 'case.json'}" if len(case.redacted) > 3 else ""
        _say(f"removed: secrets, in {'; '.join(case.redacted[:3])}{more}")
    if understood:
        _say(f"next: casebook run triage --source {shlex.quote(str(out))}")
    click.echo(str(out).encode(errors="replace").decode())  # as it is: scripts read it
    if not understood:
        raise CasebookError(
            f"Nothing was collected that casebook understands; no notebook can tell anything of {out}.",
            try_="Check the places that were given; of a paste, paste commands together with what they printed (docs/pasted.md).",
        )
    if left_out:
        more = f", and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        raise CasebookError(
            f"Collected only in part; missing or cut: {', '.join(left_out[:3])}{more}.",
            cause="Above is said of each why: a path was misspelt, a pattern fits no file, a server did not answer.",
            try_=f"{out} holds the rest and can be read. To have all, collect again with another --out.",
        )


def _told(problem: "Problem", taken: Collection[str]) -> str:
    """What is missing, or, of what is in the case, what is wrong with it; a problem may be of a line of it."""
    if problem.path in taken or problem.path.rpartition(":")[0] in taken:
        return f"{problem.path} is taken, but: {problem.reason}"
    return f"could not collect {problem.path}: {problem.reason}"


def _is_hole(problem: "Problem") -> bool:
    """Whether a znode is only what a paste left out: a paste never has all, and nobody chose what it lacks."""
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
    """What patterns fit, by owner."""
    from casebook.collect import outside

    found: dict[int | str, list[Given]] = {}
    for owner, pattern in pairs:
        found.setdefault(owner, []).extend(outside.matches(_path(pattern)))
    return found


def _path(text: str) -> Path:
    """A path with the user's home for ``~``, which no shell expands behind an equals sign."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # of somebody who is not known here
        return Path(text)


def _of_owner(text: str) -> tuple[int | str, str]:
    owner, equals, pattern = text.partition("=")
    if not equals or not pattern or not re.fullmatch(r"\w[\w.-]*", owner, re.ASCII):
        raise UsageError(
            f"{text!r} is not NAME=GLOB.", try_="For example --logs '1=/var/log/kafka/*.log*' or --ledger billing=sent.csv."
        )
    return (int(owner) if owner.isdecimal() else owner), pattern


@cli.command()
@click.argument("incident", required=False)
@click.option("--list", "listing", is_flag=True, help="Name the incidents.")
@click.option("--kafka", metavar="VERSION", help="The Kafka release to play it on.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("rehearsal"), show_default=True,
              help="Where the captured cases go.")  # fmt: skip
@click.option("--keep-running", is_flag=True, help="Leave the broken cluster running until Ctrl-C.")
@click.option("--practice", is_flag=True, help="Leave it to you to heal, with Kafka's own tools, and tell when it is healed.")
def rehearse(incident: str | None, listing: bool, kafka: str | None, out: Path, keep_running: bool, practice: bool) -> None:
    """Play INCIDENT on a real cluster on this machine and capture its cases."""
    from casebook import rehearsal

    if listing or incident is None:
        for known in rehearsal.list_incidents():
            click.echo(f"{known.name:<20} {known.story}  [{', '.join(known.kafka)}]{' --practice' if known.practice else ''}")
        return
    if practice:
        rehearsal.practise(incident, kafka=kafka, out=out, tell=_say)
        return
    rehearsal.play(incident, kafka=kafka, keep_running=keep_running, out=out, progress=lambda text: _say(text, err=True))
    click.echo(str(out))


@cli.command()
def prepare() -> None:
    """Do now what a first run would, and let Spark start faster: for images, schedules and places without network."""
    from casebook.machine import progress
    from casebook.notebook import preparation

    with progress.shown() as tell:
        preparation.prepare(progress=tell)
    click.echo("Prepared: what scans need is fetched and compiled, and Spark starts from an archive of its classes.")


@cli.command()
@click.option("--zookeeper", metavar="HOST:PORT[,..]/CHROOT",
              help="Also try to reach this ensemble, and the brokers registered there; reads only.")  # fmt: skip
@click.option("--bootstrap", metavar="HOST:PORT[,..]", help="Also try to connect to these brokers; they are asked nothing.")
def doctor(zookeeper: str | None, bootstrap: str | None) -> None:
    """Tell what will work here and what will not, and why."""
    from casebook import doctor as checks
    from casebook.collect.redaction.addresses import refuse_passwords
    from casebook.doctor.neighbours import PATIENCE
    from casebook.machine import progress

    refuse_passwords("--zookeeper or --bootstrap", zookeeper, bootstrap)
    with progress.shown() as tell:
        tell("Looking at this machine" + (f", and connecting to {zookeeper} (up to {PATIENCE:g} s)" if zookeeper else ""))
        results = checks.examine(zookeeper, bootstrap)
    for result in results:
        _say(f"{_MARKS[result.ok]}  {result.what}: {result.found}")
        if not result.ok:
            _say(f"      without it: {result.without}")
            _say(f"      try: {result.try_}")
    sys.exit(_COULD_NOT_COMPLETE if any(result.ok is False for result in results) else 0)
