"""Open the evidence of a notebook: moment, release, widgets, or paste."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from casebook.case.case import Case
from casebook.errors import CaseError, UsageError
from casebook.facts.cluster import epoch_ms
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.releases import VersionInUse
from casebook.machine import places
from casebook.notebook.examination import Examination
from casebook.questions.quiz.analysis import past
from casebook.questions.triage.analysis import next_paste
from casebook.questions.triage.views import pasted as pasted_views

INTERACTIVE: dict[str, bool | None] = {"auto": None, "yes": True, "no": False}


def made_of(text: str) -> pasted_views.Made:
    """Create a case from pasted text, in the folder of cases.

    Raises:
        CasebookError: It is empty, or the folder is not writable.
    """
    from casebook.collect.collection import collect_case

    folder = _new_case("pasted")
    case = Case.open(collect_case(folder, pasted=text.splitlines(), command="notebook 00_start_here"))
    cluster = case.cluster()
    version = release.release(cluster, logged=case.logged_versions())
    return pasted_views.Made(source=_source(folder), findings=next_paste.checks(case.pasted(), cluster, version))


def asked_of(bootstrap: str, client_config: str) -> str:
    """Create a case from the answers of brokers, in the folder of cases; return its source.

    Args:
        bootstrap: ``host:port[,host:port]``.
        client_config: Path of the ``client.properties`` of Kafka's own tools; ``""`` for none.

    Raises:
        CasebookError: No broker answers, or the folder is not writable.
    """
    from casebook.collect.collection import collect_case

    config = Path(client_config).expanduser() if client_config else None
    folder = _new_case("brokers")
    return _source(collect_case(folder, bootstrap=bootstrap, client_config=config, command="notebook 00_start_here"))


def _new_case(kind: str) -> Path:
    return places.cases_dir() / f"{kind}-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}"


def _source(folder: Path) -> str:
    inside = folder.is_relative_to(places.checkout())
    return str(folder.relative_to(places.checkout()) if inside else folder)


def examination(case: Case, *, at: int | None = None, kafka_version: str, **given: object) -> Examination:
    """Return the questions to a case at a moment, with the other parameters of :class:`Examination`.

    Raises:
        UsageError: The release is not one.
    """
    cluster = case.cluster(at=at)
    try:
        version = release.release(
            cluster, given=kafka_version, logged=case.logged_versions(), configured=case.configured_versions()
        )
    except ValueError as error:
        raise UsageError(f"kafka_version: {error}.") from None
    return Examination(case=case, cluster=cluster, version=version, at=at, **given)


def moment(at: str, case: Case) -> int | None:
    """Return a notebook's moment in epoch milliseconds; ``None`` for the time of collection.

    Raises:
        UsageError: It is not a moment.
    """
    if at == past.HEIGHT:
        with suppress(CaseError):  # no history, or a torn one: the time of collection
            deleting = {name for name, topic in case.cluster().topics.items() if topic.deleting}
            return past.height(history_facts.read(case.history()), deleting=deleting)
        return None
    try:
        return epoch_ms(at) if at else None
    except ValueError:
        raise UsageError(f"at={at} is not a valid time.", try_="Give date, time and zone, e.g. 2019-10-12T11:03:42Z.") from None


def applied(version: VersionInUse) -> dict[str, object]:
    """Return the release in use for the run record."""
    return {
        "applied": str(version.version),
        "origin": version.origin.value,
        "known": version.known,
        "proof": version.proof,
        "possible": version.possible,
        "contradictions": list(version.contradictions),
    }


def is_interactive(wanted: str) -> bool:
    """Jupyter Server sets the session in the environment; papermill and nbclient do not."""
    known = INTERACTIVE[wanted]
    return known if known is not None else "JPY_SESSION_NAME" in os.environ
