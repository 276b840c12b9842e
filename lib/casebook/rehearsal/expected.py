"""Expected content of a case, from the truth that the incident's script recorded, independent of any analysis."""

from collections.abc import Collection, Mapping, Sequence

from casebook.facts.disks import OFFSETS_TOPIC

_GROWN = 1 << 20
"""Bytes from which more in a copy counts as growth."""


def expected(truth: Mapping, phase: str) -> dict[str, object]:
    """Return the actions, the resulting state of every partition, and the expected findings."""
    left, facts = truth["phases"][phase], truth.get("facts", {})
    until = next(number for number, action in enumerate(truth["actions"], start=1) if phase in action["did"])
    actions = truth["actions"][:until]
    return {
        "schema": truth["schema"],
        "kafka": truth["kafka"],
        "incident": truth["incident"],
        "phase": phase,
        "actions": actions,
        "not_online": {
            f"{row['topic']}-{row['partition']}": row["state"] for row in left["partitions"] if row["state"] != "online"
        },
        "partitions": left["partitions"],
        "start_first": left["start_first"],
        "start_first_verified_by_starting": truth["start_first_verified_by_starting"],
        "findings": _leadership(left)
        | _maintenance(left)
        | _offsets_topic(left, facts)
        | _coordinators(left, facts, actions[-1]["at"])
        | _timeline(left, facts, phase)
        | _loss(facts)
        | _overnight(facts, phase),
    } | ({"facts": facts} if facts else {})


def _leadership(left: Mapping) -> dict[str, object]:
    """Return the expected checks of notebook 20."""
    rows: Sequence[Mapping] = left["partitions"]
    online = [row for row in rows if row["state"] == "online"]
    offline = [row for row in rows if row["state"] in ("leaderless", "leader_dead")]
    deleting = [row for row in rows if row["state"] == "deleting"]
    under_min_isr = [row for row in online if row["under_min_isr"]]
    at_min_isr = [row for row in online if row["at_min_isr"] and row["under_replicated"]]
    lagging = [row for row in online if row["under_replicated"]]
    chosen = [step for step in left["start_first"] if step["chosen"] and offline]
    return {
        "leadership.offline": _found(
            offline,
            severity="critical",
            partitions=len(rows),
            offline=len(offline),
            leaderless=sum(row["state"] == "leaderless" for row in offline),
            topics=_topics(offline),
            start_first=[step["broker"] for step in chosen],
            heals=[step["heals"] for step in chosen],
        ),
        "leadership.under_min_isr": _found(under_min_isr, under_min_isr=len(under_min_isr), topics=_topics(under_min_isr)),
        "leadership.at_min_isr": _found(at_min_isr, at_min_isr=len(at_min_isr), topics=_topics(at_min_isr)),
        "leadership.under_replicated": _found(
            lagging,
            under_replicated=len(lagging),
            missing_brokers=sorted({broker for row in lagging for broker in row["replicas"] if broker not in row["isr"]}),
        ),
        "leadership.deleting": _found(
            deleting,
            topics=_topics(deleting),
            waits_for=sorted({broker for row in deleting for broker in row["replicas"] if broker in left["dead"]}),
        ),
        "leadership.brokers": _found(left["dead"], registered=left["live"], dead=left["dead"]),
        "leadership.controller": {"status": "ok", "facts": {"broker": left["controller"]}},
    }


def _maintenance(left: Mapping) -> dict[str, object]:
    """Return the check of notebook 30 that depends only on assignments while all are in sync: brokers that cannot be spared."""
    rows: Sequence[Mapping] = left["partitions"]
    if any(row["state"] != "online" or sorted(row["isr"]) != sorted(row["replicas"]) for row in rows):
        return {}
    offline, refuses = {}, {}
    for broker in left["live"]:
        on_it = [row for row in rows if broker in row["replicas"]]
        offline[broker] = sum(len(row["replicas"]) == 1 for row in on_it)
        refuses[broker] = sum(1 < len(row["replicas"]) <= row["min_isr"] for row in on_it)
    unsafe = [broker for broker in left["live"] if offline[broker] or refuses[broker]]
    return {
        "maintenance.restart_one": _found(
            unsafe,
            severity="info",
            brokers=len(left["live"]),
            unsafe=unsafe,
            goes_offline={str(broker): offline[broker] for broker in unsafe},
            falls_under_min_isr={str(broker): refuses[broker] for broker in unsafe},
        )
    }


def _offsets_topic(left: Mapping, facts: Mapping) -> dict[str, object]:
    """Return the expected checks of notebook 40, as far as the script determines them."""
    rows = _of_offsets_topic(left)
    if not rows:
        return {}
    single = [row for row in rows if len(row["replicas"]) == 1]
    found = {"offsets_topic.replicated": _found(single, partitions=len(rows), single=len(single))}
    if "offsets_topic" not in facts:
        return found
    cleaner = facts["offsets_topic"]["cleaner"]
    if cleaner.get("enabled") is False:
        return found | {"offsets_topic.compacted": _found(rows, severity="critical", verdict="C2")}
    return found | {
        "offsets_topic.compacted": _found(rows, severity="critical", verdict="C3", died_on=cleaner["killed_by"]),
        "offsets_topic.cleaner_map": _found(rows, severity="warning", segments=[f"{cleaner['killed_by']}/{0:020}.log"]),
        "offsets_topic.safe_segments": _found(rows, severity="info"),
        "offsets_topic.open_transactions": _found((), records=0),
        "offsets_topic.decoded": _found((), unknown=0),
        "offsets_topic.damage": _found((), ranges=0),
        "offsets_topic.expiring": _found((), expired=0),
    }


def _coordinators(left: Mapping, facts: Mapping, captured: str) -> dict[str, object]:
    """Return the expected checks of notebook 50, as far as the script determines them.

    Args:
        left: State of the cluster after the script.
        facts: Observations of the script.
        captured: Time of the capture.
    """
    rows = _of_offsets_topic(left)
    if not rows:
        return {}
    offline = [row for row in rows if row["state"] in ("leaderless", "leader_dead")]
    alone = [row for row in rows if row["isr"] == [row["leader"]]]
    groups = facts.get("coordinators", {}).get("groups", {}).values()
    waiting = sorted(group["partition"] for group in groups if group["served_at"] > captured)
    return {
        "coordinators.leaderless": _found(offline, partitions=[row["partition"] for row in offline]),
        "coordinators.waiting": _found(waiting, partitions=waiting),
        "coordinators.failed": _found((), partitions=[]),
        "coordinators.alone": _found(
            alone, partitions=[row["partition"] for row in alone], brokers=sorted({row["leader"] for row in alone})
        ),
        "coordinators.partition_count": _found((), partitions=len(rows)),
        "coordinators.log_lines": _found((), unreadable=0),
    }


def _timeline(left: Mapping, facts: Mapping, phase: str) -> dict[str, object]:
    """Return the expected checks of notebook 60, as far as the script determines them."""
    if moved := facts.get("acks1_loss", {}).get("moved"):
        wanting = [row for row in left["partitions"] if row["min_isr"] > 1]
        return {
            "timeline.two_leaders": _found(
                moved, severity="critical", partitions=len(moved), old_leaders=sorted({move["old_leader"] for move in moved})
            ),
            "timeline.under_min_isr": _found(wanting, partitions=len(wanting)),
            "timeline.unknown_requests": _found((), requests=0),
        }
    if "isr_shrunk_loss" in facts:
        loss = facts["isr_shrunk_loss"]
        died = loss["moved"][0]["old_leader"]
        planned = [move for move in loss["moved"] if move["planned"]]
        led = {row["partition"] for row in loss["states"] if row["leader"] == died}
        least = {f"{row['topic']}-{row['partition']}": row["min_isr"] for row in left["partitions"]}
        wanting = {row["partition"] for row in loss["states"] if len(row["isr"]) < least[row["partition"]]}
        return {
            "timeline.two_leaders": _found(
                planned, severity="warning", partitions=len(planned), old_leaders=sorted({move["old_leader"] for move in planned})
            ),
            "timeline.leaderless": _found(led, severity="warning", partitions=len(led)),
            "timeline.under_min_isr": _found(wanting, partitions=len(wanting)),
            "timeline.unknown_requests": _found((), requests=0),
        }
    if "api_versions_storm" in facts:
        storm = facts["api_versions_storm"]
        told = {connection["from"].partition(":")[0] for connection in storm["alone"][phase]}
        named = sorted(address for address in told if storm["culprit_named_in"][phase]["address"])
        return {"timeline.unknown_requests": _found(told, severity="critical", api_keys=[18], senders=named)}
    return {}


def _loss(facts: Mapping) -> dict[str, object]:
    """Return the expected checks of notebook 70: counted by reading everything back, or withheld from all workers."""
    if groups := facts.get("commit_before_processing", {}).get("groups"):
        missed = {group: len(told["unprocessed"]) for group, told in groups.items() if told["unprocessed"]}
        return {
            "loss.lost": _found(()),
            "loss.unprocessed": _found(missed, severity="critical", unprocessed=sum(missed.values()), groups=sorted(missed)),
        }
    found = facts.get("acks1_loss") or facts.get("isr_shrunk_loss")
    if not found or "lost_ids" not in found:
        return {}
    failed = found["failed_but_stored"]
    return {
        "loss.lost": _found(
            found["lost_ids"], severity="critical", acked=found["acked"], lost=len(found["lost_ids"]), unexplained=0
        ),
        "loss.outside_every_window": _found((), records=0),
        "loss.looked_everywhere": _found(()),
        "loss.stored_though_failed": _found(range(failed), severity="info", stored_though_failed=failed, duplicated=0),
    }


def _overnight(facts: Mapping, phase: str) -> dict[str, object]:
    """Return the expected checks of notebook 90, as far as the script determines them, and of 40 on the cleaner that died."""
    if "overnight" not in facts:
        return {}
    if phase == "evening":
        return {"offsets_topic.compacted": _found(()), "offsets_topic.cleaner_map": _found(())}
    night = facts["overnight"]
    grown = [
        f"{partition} of broker {broker}"
        for broker, sizes in night["sizes"]["morning"].items()
        for partition, size in sizes.items()
        if size > night["sizes"]["evening"][broker][partition] + _GROWN
    ]
    return {
        "offsets_topic.compacted": _found(grown, severity="critical", verdict="C3", died_on=night["killed_by"]),
        "offsets_topic.cleaner_map": _found(grown, severity="warning", segments=[f"{night['killed_by']}/{0:020}.log"]),
        "since.same_cluster": _found(()),
        "since.offsets_growth": _found(grown, severity="warning", copies=grown),
        "since.controller": _found((1,), severity="info", changes=1),
    }


def _of_offsets_topic(left: Mapping) -> list[Mapping]:
    return [row for row in left["partitions"] if row["topic"] == OFFSETS_TOPIC]


def _found(hits: Collection, *, severity: str | None = None, **facts: object) -> dict[str, object]:
    status = {"status": "finding" if hits else "ok"}
    return status | ({"severity": severity} if hits and severity else {}) | {"facts": facts}


def _topics(rows: Sequence[Mapping]) -> list[str]:
    return sorted({row["topic"] for row in rows})
