"""Requirements of scans, compiled and fetched on first use."""

from collections.abc import Iterator, Sequence

from casebook.doctor.examined import Examined
from casebook.errors import CasebookError, ScanError
from casebook.machine import jars
from casebook.machine.places import cache_dir

_PATIENCE = 3.0
"""Seconds to fetch a jar of half a megabyte, including the start of Java."""

_WITHOUT = (
    "segments and logs stay unread: notebooks 40, 50 and 60 answer little, 70 may not complete, 10 and 90 leave questions open."
    " 00, 05, 20, 30 and 80 work."
)


def examine() -> Iterator[Examined]:
    """Examine the compiler, and the jars, present or fetchable."""
    from casebook.spark import class_archive, jvm

    try:
        lacks = jvm.lacking()
    except ScanError as error:
        yield Examined(what="Data sources", ok=False, found=error.what, without=_WITHOUT, try_=error.try_ or "")
        return
    yield _javac(compiled=not lacks.compiled)
    yield _jars(lacks.fetched)
    how = "from an archive of its classes" if class_archive.exists() else "slowly; `casebook prepare` makes it start faster"
    yield Examined(what="Start of Spark", ok=True, found=how)


def _javac(*, compiled: bool) -> Examined:
    try:
        found = jars.java(CasebookError, "javac")
    except CasebookError:
        found = ""
    if not found and compiled:
        return Examined(what="Java compiler", ok=True, found="none; the needed parts are already compiled")
    return Examined(
        what="Java compiler",
        ok=bool(found),
        found=found or "none",
        without=_WITHOUT,
        try_="Install a JDK 17 or newer, not a JRE: scans compile their data sources on first use.",
    )


def _jars(wanted: Sequence[str]) -> Examined:
    where = cache_dir() / "scans"
    if not wanted:
        return Examined(what="Jars for scans", ok=True, found=f"all in {where}")
    try:
        why_not = jars.can_be_fetched(wanted[-1], seconds=_PATIENCE, error=CasebookError)
        ok, told = why_not is None, f"cannot be reached: {why_not}" if why_not else "answers: fetched on first use"
    except TimeoutError:
        ok, told = None, f"did not answer within {_PATIENCE:g} s"
    except CasebookError as error:
        ok, told = False, f"could not be contacted: {error.what}"
    return Examined(
        what="Jars for scans",
        ok=ok,
        found=f"{len(wanted)} are not here yet; Maven Central {told}",
        without=_WITHOUT,
        try_=f"Set the proxy in JAVA_TOOL_OPTIONS, or copy {where} from a machine that has it.",
    )
