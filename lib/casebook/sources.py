"""Where a notebook's evidence comes from: ``sample:<name>``, a case folder, or ``live:<profile>``.

A profile is a file ``<profile>.toml`` in the profiles folder (``casebook doctor`` names it)::

    zookeeper = "zk1:2181,zk2:2181/kafka"
    credentials = "/path/to/zookeeper.properties"    # optional
    [properties]                                     # optional, by broker id
    1 = "/path/to/server.properties"
"""

import tomllib
from collections.abc import Callable
from pathlib import Path

from casebook import parameters, places
from casebook.case import Case
from casebook.errors import UsageError

Progress = Callable[[int, int | None], None]


def open_source(source: str, *, evidence: Callable[[], Path], progress: Progress | None = None) -> Case:
    """Open the case that a source names.

    Args:
        source: What the notebook was given.
        evidence: Gives the folder that a live source is collected into; not called for others.
        progress: Told how far the collecting is.

    Raises:
        CasebookError: There is no such source, it is no case, or it cannot be collected.
    """
    kind, colon, name = source.partition(":")
    if colon and kind == "sample":
        return Case.open(_sample(name))
    if colon and kind == "live":
        return Case.open(_collect(name, evidence(), progress))
    if not source:
        raise UsageError("No source is given.", try_="Give -p source=sample:leader_minus_one, a case folder, or live:<profile>.")
    folder = Path(source).expanduser()
    beside = places.checkout() / folder  # JupyterLab runs a notebook in the notebooks' folder, a terminal in the checkout
    return Case.open(beside if not folder.exists() and beside.exists() else folder)


def samples() -> tuple[str, ...]:
    """Names of the shipped cases."""
    return tuple(sorted(path.parent.name for path in places.samples_dir().glob("*/case.json")))


def _sample(name: str) -> Path:
    if name not in samples():
        raise UsageError(f"There is no sample {name}.", try_=parameters.did_you_mean(name, samples()))
    return places.samples_dir() / name


def _collect(name: str, evidence: Path, progress: Progress | None) -> Path:
    from casebook.collect import collect_case

    profile = _profile(name)
    return collect_case(
        evidence,
        zookeeper=profile["zookeeper"],
        credentials=Path(profile["credentials"]).expanduser() if "credentials" in profile else None,
        properties={int(broker): Path(path).expanduser() for broker, path in profile.get("properties", {}).items()},
        progress=progress,
    )


def _profile(name: str) -> dict:
    folder = places.profiles_dir()
    path = folder / f"{name}.toml"
    try:
        profile = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = [found.stem for found in folder.glob("*.toml")]
        raise UsageError(
            f"There is no profile {name} in {folder}.",
            try_=parameters.did_you_mean(name, known) if known else f'Write {path} with the line: zookeeper = "host:2181/chroot"',
        ) from None
    except (OSError, ValueError):
        raise UsageError(f"The profile {path} cannot be read as TOML.") from None
    if not isinstance(profile.get("zookeeper"), str):
        raise UsageError(f"The profile {path} has no line zookeeper.", try_='Add: zookeeper = "host:2181/chroot"')
    return profile
