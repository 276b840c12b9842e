"""The questions on leadership and their answers: one function a check, in the order they are asked."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from casebook.analysis.evidence import ZNODES
from casebook.analysis.settings import BUILT_IN_ASSUMED
from casebook.analysis.start_first import StartChoice, order
from casebook.analysis.verdicts import OFFLINE, ONLINE, RULES, State, Verdict, ids, instant, is_reassigning
from casebook.facts import Cluster
from casebook.findings import Evidence, Finding, Severity, Status, Step
from casebook.versions import KafkaVersion, VersionInUse

_SHOWN = 5
_COLLECT_AGAIN = "Collect the case again, or read these znodes with an account that may."
_START = "bin/kafka-server-start.sh -daemon config/server.properties"
_PARTITIONS = Evidence(file="tables/partitions")


def checks(
    cluster: Cluster, version: VersionInUse, verdicts: Sequence[Verdict], dead: Sequence[int], choices: Sequence[StartChoice]
) -> tuple[Finding, ...]:
    """Every check on leadership, each with its outcome."""
    answers = (
        offline(verdicts, choices, version.version),
        unclean_price(verdicts),
        under_min_isr(verdicts),
        at_min_isr(verdicts),
        under_replicated(verdicts),
        uninitialised(verdicts),
        deleting(cluster, verdicts),
        reassigning(cluster),
        isr_in_assignment(verdicts),
        unclean_allowed(cluster, verdicts),
        brokers_registered(cluster, verdicts, dead),
    )
    doubt = _doubt(cluster, verdicts)
    return (*(_unless(doubt, answer) for answer in answers), controller(cluster), _unless(doubt, controller_epoch(cluster)))


def _doubt(cluster: Cluster, verdicts: Sequence[Verdict]) -> str | None:
    """Why no check may say that all partitions are well; ``None`` when every one of them was judged."""
    unknown = [v for v in verdicts if v.state is State.UNKNOWN]
    if unknown:
        return f"{_unjudged(unknown, verdicts)}. {unknown[0].topic}-{unknown[0].partition}: {unknown[0].why}"
    if cluster.unlisted:
        return f"There may be partitions that nobody saw. {cluster.unlisted[0].path}: {cluster.unlisted[0].reason}."
    return None


def _unless(doubt: str | None, answer: Finding) -> Finding:
    """The answer; one that found nothing becomes *could not check* where not everything could be looked at."""
    if doubt is None or answer.status not in (Status.OK, Status.NOT_APPLICABLE):
        return answer
    title = (
        f"{answer.title}, as far as could be checked" if answer.status is Status.OK else "There is nothing that could be checked"
    )
    return replace(answer, status=Status.COULD_NOT_CHECK, title=title, why=doubt, settle=_COLLECT_AGAIN)


def offline(verdicts: Sequence[Verdict], choices: Sequence[StartChoice], version: KafkaVersion) -> Finding:
    """Does every partition have a living leader?"""
    hit = [v for v in verdicts if v.state in OFFLINE]
    unknown = [v for v in verdicts if v.state is State.UNKNOWN]
    known = len(verdicts) - len(unknown)
    started = order(choices)
    common = {
        "check": "leadership.offline",
        "question": "Does every partition have a living leader?",
        "looked_at": f"{known} of {len(verdicts)} partitions",
        "threshold": "1 or more without",
        "facts": {
            "partitions": len(verdicts),
            "offline": len(hit) if known else None,
            "leaderless": sum(v.state is State.LEADERLESS for v in hit),
            "leader_dead": sum(v.state is State.LEADER_DEAD for v in hit),
            "unknown": len(unknown),
            "topics": sorted({v.topic for v in hit}),
            "rules": dict(sorted(Counter(v.rule for v in hit).items())),
            "start_first": [choice.broker for choice in started],
            "heals": [choice.heals for choice in started],
        },
    }
    if hit:
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.CRITICAL,
            title=f"{_of(len(hit), len(verdicts))} {'has' if len(hit) == 1 else 'have'} no leader" + _start_clause(started),
            why=_why_offline(hit),
            since=min((v.since for v in hit if v.since), default=None),
            evidence=_proof(hit),
            next=tuple(_steps(hit, started, version)),
            caveats=_unknown_caveat(unknown),
        )
    if unknown:
        return Finding(
            **common,
            status=Status.COULD_NOT_CHECK,
            title=_unjudged(unknown, verdicts),
            why=unknown[0].why,
            evidence=_proof(unknown),
            settle=_COLLECT_AGAIN,
        )
    return _nothing_or(common, verdicts, "Every partition has a living leader")


def unclean_price(verdicts: Sequence[Verdict]) -> Finding:
    """What would an unclean election cost?"""
    could = [v for v in verdicts if v.state in OFFLINE and v.unclean_winner is not None]
    common = {
        "check": "leadership.unclean_price",
        "question": "What would an unclean election cost in records?",
        "facts": {"could_elect": len(could), "records": None if could else 0},
    }
    if not could:
        return Finding(**common, status=Status.NOT_APPLICABLE, title="No offline partition could be elected unclean")
    return Finding(
        **common,
        status=Status.COULD_NOT_CHECK,
        title=f"An unclean election could elect {_n(len(could), 'partition')}; how many records it would drop is unknown",
        why="The ends of the replicas' logs are not part of the znodes.",
        evidence=_proof(could),
        settle="The log dirs of the dead and the living replicas.",
    )


def under_min_isr(verdicts: Sequence[Verdict]) -> Finding:
    """Can every online partition take acks=all writes?"""
    online = _online(verdicts)
    hit = [v for v in online if v.under_min_isr]
    unknown = [v for v in online if v.under_min_isr is None]
    impossible = sorted({v.topic for v in hit if v.min_isr is not None and len(v.replicas) < v.min_isr})
    common = {
        "check": "leadership.under_min_isr",
        "question": "Can every online partition take acks=all writes?",
        "looked_at": f"{len(online) - len(unknown)} online partitions",
        "threshold": "ISR smaller than min.insync.replicas",
        "facts": {
            "under_min_isr": len(hit),
            "unknown": len(unknown),
            "topics": sorted({v.topic for v in hit}),
            "origins": sorted({v.min_isr_origin for v in hit if v.min_isr_origin}),
            "min_isr_above_replication_factor": impossible,
        },
        "caveats": _assumed(v.min_isr_origin for v in online),
    }
    if hit:
        first = hit[0]
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.WARNING,
            title=f"{_n(len(hit), 'partition')} {'is' if len(hit) == 1 else 'are'} under min ISR: acks=all is refused",
            why=f"{first.topic}-{first.partition} has {len(first.isr or ())} in sync and needs {first.min_isr} ({first.min_isr_origin}). "
            "Writes with acks=1 still pass and are at risk.",
            since=min((v.since for v in hit if v.since), default=None),
            evidence=_proof(hit),
            next=tuple(_min_isr_steps(hit, impossible)),
        )
    if unknown:
        return Finding(
            **common,
            status=Status.COULD_NOT_CHECK,
            title=f"min.insync.replicas of {_n(len(unknown), 'partition')} is unknown",
            why=f"{unknown[0].topic}: {unknown[0].min_isr_origin}.",
            settle="Read /config/topics with an account that may.",
        )
    return _nothing_or(common, online, "Every online partition has min.insync.replicas in sync")


def at_min_isr(verdicts: Sequence[Verdict]) -> Finding:
    """Is any partition one broker away from refusing acks=all, having lost replicas?"""
    online = _online(verdicts)
    hit = [v for v in online if v.at_min_isr and v.under_replicated]
    common = {
        "check": "leadership.at_min_isr",
        "question": "Is any partition one broker away from refusing acks=all?",
        "looked_at": f"{len(online)} online partitions",
        "threshold": "replicas missing and ISR = min.insync.replicas",
        "facts": {"at_min_isr": len(hit), "topics": sorted({v.topic for v in hit})},
        "caveats": _assumed(v.min_isr_origin for v in online),
    }
    if not hit:
        return _nothing_or(common, online, "No partition has lost all its spare replicas")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.INFO,
        title=f"{_n(len(hit), 'partition')} {'has' if len(hit) == 1 else 'have'} no replica to spare",
        why="One more broker out of their ISR, and acks=all writes are refused or, with min ISR 1, the partition goes offline.",
        evidence=_proof(hit),
    )


def under_replicated(verdicts: Sequence[Verdict]) -> Finding:
    """Are all replicas of the online partitions in sync?"""
    online = _online(verdicts)
    hit = [v for v in online if v.under_replicated]
    missing = sorted({r for v in hit for r in v.replicas if r not in (v.isr or ())})
    common = {
        "check": "leadership.under_replicated",
        "question": "Are all replicas of the online partitions in sync?",
        "looked_at": f"{len(online)} online partitions",
        "threshold": "a replica missing from an ISR",
        "facts": {"under_replicated": len(hit), "missing_brokers": missing},
    }
    if not hit:
        return _nothing_or(common, online, "Every replica of every online partition is in sync")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.INFO,
        title=f"{_n(len(hit), 'online partition')} {'is' if len(hit) == 1 else 'are'} under-replicated",
        why=f"They miss broker {ids(missing)}. They catch up by themselves once it is back.",
        since=min((v.since for v in hit if v.since), default=None),
        evidence=_proof(hit),
    )


def uninitialised(verdicts: Sequence[Verdict]) -> Finding:
    """Was every partition initialised?"""
    hit = [v for v in verdicts if v.state is State.UNINITIALISED]
    common = {
        "check": "leadership.uninitialised",
        "question": "Was every partition initialised?",
        "looked_at": f"{len(verdicts)} partitions",
        "threshold": "a partition without state znode",
        "facts": {"uninitialised": len(hit), "topics": sorted({v.topic for v in hit})},
    }
    if not hit:
        return _nothing_or(common, verdicts, "Every partition has a state")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.WARNING,
        title=f"{_n(len(hit), 'partition')} {'was' if len(hit) == 1 else 'were'} never initialised",
        why=hit[0].why,
        evidence=_proof(hit),
        next=(Step(kind="first", text=f"Start broker {ids(hit[0].waits_for)}: it becomes the leader.", command=_START),)
        if hit[0].waits_for
        else (),
    )


def deleting(cluster: Cluster, verdicts: Sequence[Verdict]) -> Finding:
    """Is a topic stuck in deletion?"""
    hit = [v for v in verdicts if v.state is State.DELETING]
    topics = sorted(name for name, topic in cluster.topics.items() if topic.deleting)
    waits = sorted({r for v in hit for r in v.replicas if r not in v.live_replicas})
    common = {
        "check": "leadership.deleting",
        "question": "Is a topic stuck in deletion?",
        "looked_at": f"{len(cluster.topics)} topics",
        "threshold": "a topic marked for deletion",
        "facts": {"topics": topics, "waits_for": waits},
    }
    if not topics:
        return _nothing_or(common, verdicts, "No topic is marked for deletion")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.INFO,
        title=f"{_n(len(topics), 'topic')} {'is' if len(topics) == 1 else 'are'} marked for deletion"
        + (f" and {'waits' if len(topics) == 1 else 'wait'} for broker {ids(waits)}" if waits else ""),
        why="Deletion ends once every replica's broker has deleted its copy; its partitions are not counted as offline.",
        evidence=tuple(Evidence(file=ZNODES, znode=f"/admin/delete_topics/{topic}") for topic in topics[:_SHOWN]),
    )


def reassigning(cluster: Cluster) -> Finding:
    """Is a reassignment under way?"""
    hit = [p for p in cluster.partitions if is_reassigning(p, cluster)]
    unread = [p for p in cluster.problems if p.path == "/admin/reassign_partitions"]
    common = {
        "check": "leadership.reassigning",
        "question": "Is a reassignment under way?",
        "looked_at": f"{len(cluster.partitions)} partitions",
        "threshold": "adding or removing replicas, or an entry in /admin/reassign_partitions",
        "facts": {"reassigning": len(hit)},
    }
    if not hit and unread:
        return Finding(**common, status=Status.COULD_NOT_CHECK, title="What is being reassigned is unknown",
                       why=f"{unread[0].path} {unread[0].reason}.", settle=_COLLECT_AGAIN)  # fmt: skip
    if not hit:
        return _nothing_or(common, cluster.partitions, "No partition is being reassigned")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.INFO,
        title=f"{_n(len(hit), 'partition')} {'is' if len(hit) == 1 else 'are'} being reassigned",
        why="Until it ends, the replicas listed are old and new together.",
        evidence=(
            *(Evidence(file=ZNODES, znode=f"/brokers/topics/{t}") for t in sorted({p.topic for p in hit})[:_SHOWN]),
            _PARTITIONS,
        ),
    )


def isr_in_assignment(verdicts: Sequence[Verdict]) -> Finding:
    """Does every ISR agree with its assignment?"""
    readable = [v for v in verdicts if v.isr is not None and v.state is not State.UNKNOWN]
    hit = [
        v for v in readable if not set(v.isr or ()) <= set(v.replicas) or (v.leader is not None and v.leader not in (v.isr or ()))
    ]
    common = {
        "check": "leadership.isr_in_assignment",
        "question": "Does every leader and ISR agree with its assignment?",
        "looked_at": f"{len(readable)} states",
        "threshold": "a leader outside its ISR, or an ISR member outside the replicas",
        "facts": {"disagree": len(hit)},
    }
    if not hit:
        return _nothing_or(common, readable, "Every leader and ISR agrees with its assignment")
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.WARNING,
        title=f"{_n(len(hit), 'state')} {'disagrees' if len(hit) == 1 else 'disagree'} with the assignment",
        why=f"{hit[0].topic}-{hit[0].partition} has leader {hit[0].leader}, ISR {ids(hit[0].isr or ())} and replicas {ids(hit[0].replicas)}.",
        evidence=_proof(hit),
    )


def unclean_allowed(cluster: Cluster, verdicts: Sequence[Verdict]) -> Finding:
    """May an unclean election drop records?"""
    origin_of = {v.topic: v.unclean_origin for v in verdicts if v.unclean_allowed and len(v.replicas) > 1}
    unknown = {v.topic for v in verdicts if v.unclean_allowed is None}
    common = {
        "check": "leadership.unclean_allowed",
        "question": "May an unclean election drop records?",
        "looked_at": f"{len(cluster.topics)} topics",
        "threshold": "unclean.leader.election.enable=true on a topic with more than one replica",
        "facts": {
            "topics": sorted(origin_of),
            "origins": sorted({o for o in origin_of.values() if o}),
            "unknown": sorted(unknown),
        },
        "caveats": _assumed(v.unclean_origin for v in verdicts),
    }
    if origin_of:
        assumed = set(origin_of.values()) == {BUILT_IN_ASSUMED}
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.INFO if assumed else Severity.WARNING,
            title=f"{_n(len(origin_of), 'topic')} {'allows' if len(origin_of) == 1 else 'allow'} unclean election",
            why=f"Origin: {', '.join(sorted({o for o in origin_of.values() if o}))}. When a whole ISR dies, a replica that is behind "
            "becomes leader, and what it lacks is gone.",
            evidence=tuple(
                Evidence(file=ZNODES, znode=f"/config/topics/{t}") for t in sorted(origin_of) if t in cluster.topic_configs
            )[:_SHOWN],
        )
    if unknown:
        return Finding(**common, status=Status.COULD_NOT_CHECK, title=f"Settings of {_n(len(unknown), 'topic')} could not be read",
                       settle="Read /config/topics with an account that may.")  # fmt: skip
    return _nothing_or(common, verdicts, "Unclean election is allowed nowhere")


def brokers_registered(cluster: Cluster, verdicts: Sequence[Verdict], dead: Sequence[int]) -> Finding:
    """Is every broker that holds replicas registered?"""
    common = {
        "check": "leadership.brokers",
        "question": "Is every broker that holds replicas registered?",
        "looked_at": f"{len(cluster.brokers)} registrations",
        "threshold": "a replica on an unregistered broker",
        "facts": {
            "registered": sorted(cluster.live) if cluster.brokers_known else None,
            "dead": list(dead) if cluster.brokers_known else None,
        },
        "evidence": (Evidence(file=ZNODES, znode="/brokers/ids"),),
    }
    if not cluster.brokers_known:
        return Finding(**common, status=Status.COULD_NOT_CHECK, title="Which brokers are registered is not known",
                       settle="The children of /brokers/ids.")  # fmt: skip
    if not dead:
        return _nothing_or(common, verdicts, "Every broker that holds replicas is registered")
    held = Counter(r for v in verdicts for r in v.replicas if r in dead)
    return Finding(
        **common,
        status=Status.FINDING,
        severity=Severity.WARNING,
        title=f"Broker {ids(dead)} {'is' if len(dead) == 1 else 'are'} not registered",
        why=f"{_n(len(dead), 'broker')} hold {_n(held.total(), 'replica')}: "
        + ", ".join(f"broker {broker} {held[broker]}" for broker in dead[:_SHOWN])
        + ".",
        next=(Step(kind="first", text=f"Start broker {ids(dead)}.", command=_START),),
    )


def controller(cluster: Cluster) -> Finding:
    """Is there one controller?"""
    found = cluster.controller
    common = {
        "check": "leadership.controller",
        "question": "Is there a controller?",
        "looked_at": "/controller",
        "threshold": "none, or one that is not registered",
        "facts": {"broker": found.broker, "epoch": found.epoch, "elected_at": instant(found.elected_at),
                  "changes": found.epoch_stat.version if found.epoch_stat else None},
        "evidence": (Evidence(file=ZNODES, znode="/controller"), Evidence(file=ZNODES, znode="/controller_epoch")),
    }  # fmt: skip
    if not found.readable:
        return Finding(**common, status=Status.COULD_NOT_CHECK, title="Whether there is a controller is not known",
                       settle="The znodes /controller and /controller_epoch.")  # fmt: skip
    if found.broker is None or (cluster.brokers_known and found.broker not in cluster.live):
        who = "There is no controller" if found.broker is None else f"Controller {found.broker} is not registered"
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.CRITICAL,
            title=f"{who}: nobody holds elections",
            why="Without a controller no leader is elected and no ISR change is passed on.",
            next=(
                Step(
                    kind="first",
                    text="Start any broker, or wait for a living one to take the controller over (one session timeout).",
                    command=_START,
                ),
            ),  # fmt: skip
        )
    since = f" since {at}" if (at := instant(found.elected_at)) else ""
    return Finding(
        **common, status=Status.OK, title=f"Broker {found.broker} is the controller{since}, epoch {_or_unknown(found.epoch)}"
    )


def controller_epoch(cluster: Cluster) -> Finding:
    """Was any state written by a controller newer than the current one?"""
    epoch = cluster.controller.epoch
    states = [p for p in cluster.partitions if p.state is not None]
    newer = [p for p in states if epoch is not None and p.state.controller_epoch > epoch]
    older = sum(epoch is not None and p.state.controller_epoch < epoch for p in states)
    common = {
        "check": "leadership.controller_epoch",
        "question": "Was any state written under a newer controller epoch than the current one?",
        "looked_at": f"{len(states)} states",
        "threshold": "a state of a newer epoch",
        "facts": {
            "epoch": epoch,
            "newer": len(newer) if epoch is not None else None,
            "older": older if epoch is not None else None,
        },
    }
    if epoch is None:
        return Finding(
            **common,
            status=Status.COULD_NOT_CHECK,
            title="The controller epoch is unknown",
            settle="The znode /controller_epoch.",
        )
    if newer:
        return Finding(
            **common,
            status=Status.FINDING,
            severity=Severity.CRITICAL,
            title=f"{_n(len(newer), 'state')} {'was' if len(newer) == 1 else 'were'} written under a newer controller epoch than {epoch}",
            why="The controller must not elect for these partitions: another controller is, or was, ahead of it.",
            evidence=tuple(Evidence(file=ZNODES, znode=p.state_path) for p in newer[:_SHOWN]),
        )
    return _nothing_or(common, states, f"No state is newer than controller epoch {epoch}; {older} are older, which is normal")


def _why_offline(hit: Sequence[Verdict]) -> str:
    rules = Counter(v.rule for v in hit)
    return " ".join(f"{count} by rule {rule}: {_uncapitalised(RULES[rule])}" for rule, count in rules.most_common())


def _uncapitalised(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _start_clause(started: Sequence[StartChoice]) -> str:
    return f"; start broker {started[0].broker} first: heals {started[0].heals}" if started else ""


def _steps(hit: Sequence[Verdict], started: Sequence[StartChoice], version: KafkaVersion) -> Iterable[Step]:
    if started:
        first, *then = started
        yield Step(
            kind="first", text=f"Start broker {first.broker}: {_n(first.heals, 'partition')} elect at once.", command=_START
        )
        if then:
            yield Step(kind="then", text="; ".join(f"broker {c.broker}: {c.heals} more" for c in then[:_SHOWN]) + ".")
    if stuck := len(hit) - sum(choice.heals for choice in started):
        yield Step(
            kind="then",
            text=f"{_n(stuck, 'partition')} {'is' if stuck == 1 else 'are'} not healed by starting any broker: see the rule of each.",
        )
    if could := sum(v.unclean_winner is not None for v in hit):
        yield Step(
            kind="not",
            text=f"Do not turn on unclean election: it elects {could} of {len(hit)} and drops an unknown number of records.{_halts(version)}",
        )


def _halts(version: KafkaVersion) -> str:
    if version < KafkaVersion.parse("2.0.0"):
        return " On this release it can also make the old leaders halt when they come back (log truncation is not allowed)."
    return ""


def _min_isr_steps(hit: Sequence[Verdict], impossible: Sequence[str]) -> Iterable[Step]:
    missing = sorted({r for v in hit for r in v.replicas if r not in v.live_replicas})
    if missing:
        yield Step(kind="first", text=f"Start broker {ids(missing)} and wait until it has caught up.", command=_START)
    if impossible:
        yield Step(
            kind="then",
            text=f"{', '.join(impossible[:_SHOWN])}: min.insync.replicas is above the replication factor; lower it or add replicas.",
        )


def _online(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [v for v in verdicts if v.state in ONLINE]


def _nothing_or(common: dict[str, object], looked_at: Sequence[object], title: str) -> Finding:
    """OK when there was something to look at; not applicable on an empty cluster."""
    if looked_at:
        return Finding(**common, status=Status.OK, title=title)
    return Finding(**common, status=Status.NOT_APPLICABLE, title="There is no such partition to look at")


def _proof(hit: Sequence[Verdict]) -> tuple[Evidence, ...]:
    states = (Evidence(file=ZNODES, znode=f"/brokers/topics/{v.topic}/partitions/{v.partition}/state") for v in hit[:_SHOWN])
    return (*states, _PARTITIONS)


def _assumed(origins: Iterable[str | None]) -> tuple[str, ...]:
    if BUILT_IN_ASSUMED in set(origins):
        return ("Where no override exists the release's built-in default is assumed: server.properties was not collected.",)
    return ()


def _unjudged(unknown: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    return f"Whether {_of(len(unknown), len(verdicts))} {'has' if len(unknown) == 1 else 'have'} a leader is unknown"


def _unknown_caveat(unknown: Sequence[Verdict]) -> tuple[str, ...]:
    return (f"{_n(len(unknown), 'partition')} more could not be judged.",) if unknown else ()


def _of(count: int, total: int) -> str:
    return f"{count} of {_n(total, 'partition')}"


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _or_unknown(value: object) -> str:
    return "unknown" if value is None else str(value)
