"""Incidents for rehearsals, and how to play one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from casebook.errors import RehearsalError
from casebook.rehearsal.plays import (
    acks1_loss,
    api_versions_storm,
    commit_before_processing,
    controller_dies,
    coordinators_loading,
    full_restart_loss,
    healthy,
    isr_shrunk_loss,
    kill_before_drain,
    leader_minus_one,
    load_never_ends,
    offsets_bloat,
    overnight,
    restart_all_coordinators,
)
from casebook.rehearsal.servers import jars
from casebook.rehearsal.servers.processes import guarded_folder
from casebook.rehearsal.stage import Stage, Visitor
from casebook.rehearsal.truth import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """An incident for practice.

    Args:
        alarm: First information on the symptom, not the cause.
        task: What to do.
        healed: Checks of :data:`casebook.rehearsal.health.CHECKS` that hold once it is healed.
        script: Plays it up to its height; the incident's own script when ``None``.
        clients: Properties of applications that a person may change, by name.
        topics: Topics whose settings count; empty for all.
        kafka: Releases with their own tools in the server jars.
    """

    alarm: str
    healed: tuple[str, ...]
    task: str = "Find out why, and heal it without losing a record."
    script: Callable[[Stage], None] | None = None
    clients: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    kafka: tuple[str, ...] = ("0.9.0.1", "2.8.2")


_LED = ("leadership.offline", "leadership.under_min_isr", "leadership.under_replicated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An incident of a real cluster, as a script.

    Args:
        name: Name on the command line.
        story: One sentence.
        phases: Captured cases, in order.
        script: Plays it on a stage.
        kafka: Possible versions.
        default: Default version.
        practice: Practice; ``None`` when it cannot be healed: it ends on its own, or the loss is final.
    """

    name: str
    story: str
    phases: tuple[str, ...]
    script: Callable[[Stage], None]
    kafka: tuple[str, ...] = ("0.9.0.1", "2.8.2", "3.9.2")
    default: str = "0.9.0.1"
    practice: Practice | None = None


INCIDENTS: Mapping[str, Incident] = {
    incident.name: incident
    for incident in (
        Incident(
            name="healthy",
            story="Three brokers and nothing wrong with them.",
            phases=("now",),
            script=healthy.play,
        ),
        Incident(
            name="leader-minus-one",
            story="Brokers are shut down one after the other, and partitions are left without leader.",
            phases=("before", "during", "after"),
            script=leader_minus_one.play,
            practice=Practice(
                alarm="Producers and consumers of several topics report errors, each only for some partitions.", healed=_LED
            ),
        ),
        Incident(
            name="controller-dies",
            story="The controller dies together with leaders, and 0.9 still names the dead ones.",
            phases=("before", "during", "after"),
            script=controller_dies.play,
            practice=Practice(
                alarm="Two machines have failed at the same moment. Some clients time out, and others notice nothing.",
                healed=_LED,
            ),
        ),
        Incident(
            name="kill-before-drain",
            story="Two slow brokers are killed before their partitions are moved away, and partitions are left without leader.",
            phases=("before", "during", "after"),
            script=kill_before_drain.play,
            practice=Practice(
                alarm=(
                    "An operator has begun to make the cluster smaller. Since then, some writes have been refused, and "
                    "others have timed out."
                ),
                healed=_LED,
            ),
        ),
        Incident(
            name="offsets-bloat",
            story="The log cleaner dies of one topic, and __consumer_offsets grows for ever after.",
            phases=("during", "after"),
            script=offsets_bloat.play,
            practice=Practice(
                alarm="The disk of one broker fills up faster than that of another that holds the same.",
                healed=("coordinators.leaderless", "coordinators.waiting", "offsets_topic.compacted"),
            ),
            kafka=("0.9.0.1", "2.8.2"),
        ),
        Incident(
            name="overnight",
            story="A night in seconds: a broker returns, another is restarted, and the log cleaner of a third dies.",
            phases=("evening", "morning"),
            script=overnight.play,
            kafka=("0.9.0.1",),
        ),
        Incident(
            name="coordinators-loading",
            story="All brokers that hold __consumer_offsets are restarted together, and groups wait for their coordinators.",
            phases=("during", "after"),
            script=coordinators_loading.play,
            kafka=("0.9.0.1", "2.8.2"),
        ),
        Incident(
            name="restart-all-coordinators",
            story=("One broker that holds __consumer_offsets is restarted, then all of them at once, and no broker coordinates."),
            phases=("before", "copied", "after"),
            script=restart_all_coordinators.play,
            kafka=("0.9.0.1", "2.8.2"),
        ),
        Incident(
            name="load-never-ends",
            story="A commit larger than the load buffer keeps a coordinator busy for ever, and its queued groups wait.",
            phases=("during", "after"),
            script=load_never_ends.play,
            kafka=("0.9.0.1",),
        ),
        Incident(
            name="acks1-loss",
            story="A leader is paused for longer than its session, returns, and truncates what it has acknowledged.",
            phases=("after",),
            script=acks1_loss.play,
            kafka=("0.9.0.1", "2.8.2"),
            practice=Practice(
                alarm=(
                    "A leader was replaced while it still took writes. Records of topic payments that it acknowledged are lost, "
                    "and stay lost."
                ),
                task="Find out which setting allowed it, and change what is needed: the next change of leader must lose nothing.",
                healed=(*_LED, "durability.acks_1", "durability.isr_of_one"),
                script=acks1_loss.practise,
                clients={"billing": acks1_loss.CLIENT},
                topics=("payments",),
            ),
        ),
        Incident(
            name="isr-shrunk-loss",
            story=(
                "A leader alone in sync acknowledges with acks=all, and dies; a follower that lacks these records is elected."
            ),
            phases=("after",),
            script=isr_shrunk_loss.play,
            practice=Practice(
                alarm="Two brokers are down, one after the other. Several topics have no leader for some partitions.",
                task="Heal it without losing a record. Then make sure that one broker alone never acknowledges a record again.",
                healed=(*_LED, "durability.isr_of_one", "durability.unclean_election"),
                script=isr_shrunk_loss.practise,
            ),
        ),
        Incident(
            name="full-restart-loss",
            story=(
                "All brokers die at once; an in-sync replica is elected before it has fetched again what it had "
                "truncated at its start."
            ),
            phases=("after",),
            script=full_restart_loss.play,
            kafka=("0.9.0.1",),
        ),
        Incident(
            name="api-versions-storm",
            story=(
                "A newer client sends requests that a 0.9 broker does not support, and requests of others are never answered."
            ),
            phases=("during", "after"),
            script=api_versions_storm.play,
            kafka=("0.9.0.1",),
        ),
        Incident(
            name="commit-before-processing",
            story="Consumers commit offsets of records that they have not processed and never process.",
            phases=("after",),
            script=commit_before_processing.play,
            kafka=("0.9.0.1", "2.8.2"),
        ),
    )
}


def list_incidents() -> tuple[Incident, ...]:
    """Return the incidents by name."""
    return tuple(INCIDENTS[name] for name in sorted(INCIDENTS))


def play(
    name: str,
    *,
    out: Path,
    kafka: str | None = None,
    keep_running: bool = False,
    home: Path | None = None,
    progress: jars.Progress = lambda _: None,
    visitor: Visitor | None = None,
) -> Path:
    """Play an incident on real servers: a case for each phase, and ``truth.json`` with the actions and the expected findings.

    Args:
        name: One of :data:`INCIDENTS`.
        out: New folder for cases and truth.
        kafka: Kafka version; the incident's own choice when ``None``.
        keep_running: Keep the servers running at the incident's height until Ctrl-C, and end there.
        home: New folder for the servers, removed at the end; a temporary one when ``None``.
        progress: Receives one sentence per step.
        visitor: Called at the incident's height with the cluster and what it had acknowledged; when it returns, the play ends.

    Returns:
        ``out``.

    Raises:
        RehearsalError: The incident or version does not exist, ``out`` is not new, or the cluster deviated from the script.
    """
    incident = find(name, kafka)
    if out.exists() and any(out.iterdir()):
        raise RehearsalError(f"{out} is not empty.", try_="Choose a new folder.")
    out.mkdir(parents=True, exist_ok=True)
    truth = Truth(incident=name, kafka=kafka or incident.default, story=incident.story)
    with guarded_folder() as memory:
        stage = Stage(
            truth=truth,
            out=out,
            capture=capture,
            progress=progress,
            memory=memory,
            keep_running=keep_running,
            home=home,
            visitor=visitor,
        )
        script = incident.practice.script if visitor is not None and incident.practice is not None else None
        try:
            (script or incident.script)(stage)
        finally:
            truth.write(out / "truth.json")
    return out


def find(name: str, kafka: str | None) -> Incident:
    """Return an incident that can be played on a release.

    Raises:
        RehearsalError: It does not exist, or not for that release.
    """
    if name not in INCIDENTS:
        raise RehearsalError(f"There is no incident {name!r}.", try_=f"Choose one of {', '.join(sorted(INCIDENTS))}.")
    incident = INCIDENTS[name]
    if kafka is not None and kafka not in incident.kafka:
        raise RehearsalError(f"{name} cannot be played on Kafka {kafka}.", try_=f"Choose one of {', '.join(incident.kafka)}.")
    return incident


def capture(out: Path, **evidence: object) -> None:
    """Collect a case."""
    from casebook.collect.collection import collect_case

    collect_case(out, **evidence, command="casebook rehearse")
