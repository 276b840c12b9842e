"""No two notebooks order another first step, forbid what another orders, or give two values of one number."""

import re
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.case.case import Case
from casebook.findings.finding import Status
from casebook.kafka.release import release
from casebook.kafka.verdict import offline, online
from casebook.notebook.examination import Examination
from casebook.questions.durability.analysis import durability
from casebook.questions.leadership.analysis import leadership
from casebook.questions.maintenance.analysis import maintenance
from casebook.questions.morning.analysis import measures
from casebook.questions.triage.analysis import plan
from tests.case_copies import CaseCopy
from tests.drawn_cases import DrawnCase
from tests.evidence import made, override, state, znode
from tests.questions.agreement import disagreements
from tests.questions.leadership.test_start_first import STATES
from tests.unreadable import lesser, matrix
from tests.unreadable.answers import answers

PLAIN = ("10", "20", "30", "40", "50", "60", "80", "90")
"""Those that answer without Spark, where there is no ledger."""
LESSER = [
    ("leader_minus_one", "state-change logs", "left out"),
    ("leader_minus_one", "all logs", "left out"),
    ("leader_minus_one", "server.properties", "left out"),
    ("leader_minus_one", "states", "denied"),
    ("leader_minus_one", "broker ids", "denied"),
    ("leader_minus_one", "server logs", "torn"),
    ("coordinators_loading", "server logs of one broker", "cut"),
    ("coordinators_loading", "log dirs of one broker", "left out"),
    ("coordinators_loading", "server.properties", "left out"),
    ("offsets_bloat", "cleaner logs", "left out"),
]


@pytest.mark.parametrize("sample", matrix.QUICK)
def test_shipped_cases(sample, tmp_path):
    shutil.copytree(matrix.SAMPLES / sample, tmp_path / sample)
    assert disagreements(answers(tmp_path / sample, PLAIN)) == []


@pytest.mark.parametrize(("sample", "kind", "way"), LESSER)
def test_lesser_cases(sample, kind, way, tmp_path):
    """Where evidence is missing, it is missing to all of them."""
    case = lesser.make(matrix.SAMPLES / sample, tmp_path / sample, kind, way)
    assert case is not None
    assert disagreements(answers(case, PLAIN)) == []


@pytest.mark.parametrize("seed", range(30))
def test_drawn_cases(seed, tmp_path):
    """Of brokers that come and go, with loads, elections and cleaners in what is left of their logs."""
    drawn = DrawnCase(seed)
    pages = answers(drawn.write(tmp_path / "case"), PLAIN)
    assert disagreements(pages) == []
    assert pages["20"]["leadership.offline"].facts["offline"] == drawn.offline
    if drawn.offline:
        assert pages["60"]["timeline.leaderless"].facts["still"] == drawn.offline


def examination(folder, timezone="UTC"):
    case = Case.open(folder)
    cluster, progress = case.cluster(), lambda *_, **__: lambda *_: None
    return Examination(case=case, cluster=cluster, version=release(cluster), at=None, timezone=timezone, progress=progress)


@pytest.mark.parametrize("sample", ["offsets_bloat", "coordinators_loading"])
def test_the_plan_mends_what_was_found(sample, tmp_path):
    """Log dirs hours newer than the znodes: what could not be checked for that, no step of the plan mends."""
    copy = CaseCopy(matrix.SAMPLES / sample, tmp_path / sample)
    for path in [path for path in copy.paths if path.endswith("log_dirs.json")]:
        copy.store(path, re.sub(rb'(?<="listed_at":)\d+', lambda found: b"%d" % (int(found[0]) + 6 * 3_600_000), copy.read(path)))
    book = examination(copy.done())
    found = book.everything()
    told = {finding.check: finding.status for finding in (*book.evidence, *found)}
    assert told["evidence.moments"] is Status.COULD_NOT_CHECK
    assert [
        step.text for step in book.plan(found).steps if Status.FINDING not in {told.get(check) for check in step.checks}
    ] == []


def test_one_time_zone(tmp_path):
    """A zone that znodes refute moves no time."""
    shutil.copytree(matrix.SAMPLES / "coordinators_loading", tmp_path / "case")
    asked = {zone: examination(tmp_path / "case", zone) for zone in ("UTC", "Asia/Shanghai")}
    orders = {}
    for zone, book in asked.items():
        lead = book.leadership()
        found = (*lead.findings, *book.maintenance_in_short(lead), *book.groups())
        orders[zone] = {step.text for finding in book.together(found) for step in finding.next}
        assert book.plan().first.text in orders[zone]
    assert asked["UTC"].plan().texts == asked["Asia/Shanghai"].plan().texts
    assert orders["UTC"] == orders["Asia/Shanghai"]


TOPIC = st.lists(STATES, min_size=1, max_size=3)


@settings(max_examples=150, deadline=None)
@given(
    topics=st.tuples(TOPIC, TOPIC), live=st.sets(st.integers(1, 5)), unclean=st.booleans(), least=st.integers(1, 3),
    deleting=st.booleans(), offsets=st.booleans(),
)  # fmt: skip
def test_any_cluster(topics, live, unclean, least, deleting, offsets):
    """Each page makes its plan for itself; what one counts another counts alike, also from run to run."""
    names = ("t", "__consumer_offsets" if offsets else "u")
    told = {
        name: {number: (replicas, state(leader, isr)) for number, (replicas, leader, isr) in enumerate(of)}
        for name, of in zip(names, topics, strict=True)
    }
    extra = [
        override(name, unclean_leader_election_enable=str(unclean).lower(), min_insync_replicas=str(least)) for name in names
    ]
    extra += [znode("/admin/delete_topics/t")] * deleting
    cluster = made(topics=told, extra=extra, live=tuple(live))
    version = release(cluster)
    lead = leadership.examine(cluster, version)
    asked = {
        "20": lead.findings,
        "30": maintenance.examine(cluster, version).findings,
        "10": (*lead.findings, *maintenance.in_short(cluster, version, lead.verdicts).findings),
        "80": durability.examine(cluster, version).findings,
    }
    made_anew = leadership.examine(cluster, version)
    pages = {
        notebook: {finding.check: finding for finding in plan.make(made_anew).advise(found)} for notebook, found in asked.items()
    }
    assert disagreements(pages) == []
    numbers = {one.name: one.value for one in measures.measures(cluster, lead.verdicts, (), None)}
    facts = {check: finding.facts for page in pages.values() for check, finding in page.items()}
    if all(verdict.state != "unknown" for verdict in lead.verdicts):
        assert numbers["leaderless"] == facts["leadership.offline"]["offline"] == len(offline(lead.verdicts))
        assert numbers["under_replicated"] == facts["leadership.under_replicated"]["under_replicated"]
        assert numbers["under_min_isr"] == facts["leadership.under_min_isr"]["under_min_isr"] <= len(online(lead.verdicts))
    assert numbers["single_copy"] == sum(facts["durability.exposure"]["partitions"])
    first = plan.make(lead).first
    for finding in (finding for page in pages.values() for finding in page.values()):
        orders = [step.text for step in finding.next if step.kind != "not"]
        if first and orders and finding.check in plan.CHECKS:
            assert orders[0] == first.text, finding.check
