"""The command ``casebook``. Every command has a Python equivalent; this module only parses arguments and prints."""

import io
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from casebook import __version__
from casebook.cli.collection import collect
from casebook.cli.terminal import complain, say, seconds
from casebook.errors import CasebookError
from casebook.findings.finding import Severity
from casebook.machine import places, workshop

if TYPE_CHECKING:
    from casebook.runs.runner import Ran

_COULD_NOT_COMPLETE = 3
_MARKS = {True: "ok  ", False: "FAIL", None: "?   "}
"""Doctor's marks for good, bad and unknown."""


def main() -> None:
    """Run the command line. Any error ends in exit code 3: 1 and 2 are severities."""
    workshop.begin()
    try:
        cli.main(standalone_mode=False)
    except CasebookError as error:
        complain(error)
        sys.exit(_COULD_NOT_COMPLETE)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        say(shown.getvalue(), err=True, nl=False)
        sys.exit(_COULD_NOT_COMPLETE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        sys.exit(_COULD_NOT_COMPLETE)
    except BrokenPipeError:  # the reader of our output has closed it: nothing left to print
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_COULD_NOT_COMPLETE)
    except Exception as error:  # an internal error, which must not look like a warning
        complain(CasebookError(f"An unexpected error in casebook: {type(error).__name__}.", try_="Report the output below."))
        say(traceback.format_exc(), err=True, nl=False)
        sys.exit(_COULD_NOT_COMPLETE)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="casebook")
def cli() -> None:
    """Explain Kafka incidents from evidence alone."""


cli.add_command(collect)


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
@click.option("-f", "file", type=click.Path(path_type=Path), help="A YAML file of parameters; -p has priority.")
@click.option(
    "--runs", "runs_dir", type=click.Path(path_type=Path), help="The folder of all runs [default: $CASEBOOK_RUNS, else runs]."
)
@click.option("--fail-on", type=click.Choice([s.value for s in Severity]), default="warning", show_default=True,
              help="The lowest severity that makes the exit code 1 or 2.")  # fmt: skip
@click.option("--timeout", metavar="30m", help="End the notebook after this time (s, m, h), with everything that it started.")
@click.option("--one-at-a-time", is_flag=True, help="Do not start while another run of NOTEBOOK on the same source is active.")
@click.option("--publish", "where", metavar="PLACE",
              help="A folder or object store (s3://, gs://, abfs://) for the latest report and its summary.")  # fmt: skip
@click.option("--progress/--quiet", "wanted", default=None,
              help="Show progress on standard error [default: on a terminal].")  # fmt: skip
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
            timeout=seconds("--timeout", timeout) if timeout else None,
            one_at_a_time=one_at_a_time,
            publish=publishing.place(where) if where else None,
            progress=tell,
        )
    if "source" not in given and ran.source.startswith("sample:"):
        say(f"casebook: no --source was given; this run is about the shipped {ran.source}, not about your cluster.", err=True)
    _print_result(ran)
    sys.exit(ran.exit_code)


def _print_result(ran: "Ran") -> None:
    """Print the result of a run; the last line is the run's folder."""
    if ran.failed:
        say(f"casebook: {ran.title}", err=True)
    else:
        for told in (ran.title, *(f"{name}: {text}" for name, text in ran.below.items()), f"source: {ran.source}"):
            say(told)
    for failed in ran.unpublished:
        say(f"casebook: {failed}", err=True)
    if ran.report:
        click.echo(f"report: {ran.report}")
    if ran.folder:
        click.echo(str(ran.folder))


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
@click.option("--out", type=click.Path(path_type=Path), help="Replace this file completely instead of printing.")
@click.option("--max-age", metavar="20h", help="End with 3, and say so, if the run ended longer ago (s, m, h).")
def summary(run_or_place: str, form: str, out: Path | None, max_age: str | None) -> None:
    """Tell what a RUN came to, for alerting; RUN is a run folder, or a place that runs publish to."""
    from casebook.machine import whole
    from casebook.runs import publishing, summary

    oldest = seconds("--max-age", max_age) if max_age else None
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
        say(said, nl=False)
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
              help="For each notebook and cluster, keep the newest N completed runs, and remove the rest.")  # fmt: skip
def runs(runs_dir: Path | None, keep: int | None) -> None:
    """List the runs, newest first; or remove old ones, and name them."""
    from casebook.machine import places
    from casebook.runs import retention

    folder = runs_dir or places.runs_dir()
    if keep is None:
        for run in retention.listed_anew(folder):
            say(f"{run.name}  {run.case or '?'}  {run.kind}: {run.says}")
        return
    removed = retention.keep(folder, keep)
    for run in removed:
        say(f"removed {run.name}  {run.case or '?'}")
    click.echo(f"{len(removed)} removed, {len(retention.listed(folder))} kept in {folder}")


@cli.command()
@click.argument("incident", required=False)
@click.option("--list", "listing", is_flag=True, help="Name the incidents.")
@click.option("--kafka", metavar="VERSION", help="The Kafka release to use.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("rehearsal"), show_default=True,
              help="Where the captured cases go.")  # fmt: skip
@click.option("--keep-running", is_flag=True, help="Leave the broken cluster running until Ctrl-C.")
@click.option("--practice", is_flag=True, help="Leave the repair to you, with Kafka's own tools, and report when it is healed.")
def rehearse(incident: str | None, listing: bool, kafka: str | None, out: Path, keep_running: bool, practice: bool) -> None:
    """Play INCIDENT on a real cluster on this machine and capture its cases."""
    from casebook import rehearsal

    if listing or incident is None:
        for known in rehearsal.list_incidents():
            click.echo(f"{known.name:<20} {known.story}  [{', '.join(known.kafka)}]{' --practice' if known.practice else ''}")
        return
    if practice:
        rehearsal.practise(incident, kafka=kafka, out=out, tell=say)
        return
    rehearsal.play(incident, kafka=kafka, keep_running=keep_running, out=out, progress=lambda text: say(text, err=True))
    click.echo(str(out))


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def lab(options: tuple[str, ...]) -> None:
    """Open JupyterLab on working copies of the notebooks.

    What you write into a copy lasts. Further OPTIONS are JupyterLab's, e.g. --no-browser.
    """
    from casebook.runs import lab as copies

    folder = places.lab_dir()
    for kept in copies.refresh(folder):
        say(f"The shipped notebook has changed; yours was kept as {kept.name}.")
    command, environment = copies.command(folder, options)
    os.execve(command[0], command, environment)


@cli.command()
def prepare() -> None:
    """Do now what a first run would, and let Spark start faster: for images, schedules and places without network."""
    from casebook.machine import progress
    from casebook.notebook import preparation

    with progress.shown() as tell:
        preparation.prepare(progress=tell)
    click.echo("Prepared: the parts that scans need are fetched and compiled, and Spark starts from an archive of its classes.")


@cli.command()
@click.option("--zookeeper", metavar="HOST:PORT[,..]/CHROOT",
              help="Also try to reach this ensemble, and the brokers registered there; reads only.")  # fmt: skip
@click.option("--bootstrap", metavar="HOST:PORT[,..]", help="Also try to connect to these brokers; no request is sent.")
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
        say(f"{_MARKS[result.ok]}  {result.what}: {result.found}")
        if not result.ok:
            say(f"      without it: {result.without}")
            say(f"      try: {result.try_}")
    sys.exit(_COULD_NOT_COMPLETE if any(result.ok is False for result in results) else 0)
