"""The checks: three outcomes, and never *ok* about what nobody saw."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casebook.facts.cluster import Cluster, Problem
from casebook.facts.znodes import ReadOutcome, Stat, Znode
from casebook.findings import evidence, tables
from casebook.findings.finding import Severity, Status
from casebook.formats.zookeeper import cluster
from casebook.kafka.release import release
from casebook.kafka.verdict import PartitionCondition
from casebook.questions.leadership.analysis import leadership, what_if
from casebook.questions.triage.analysis import plan
from tests.evidence import made, override, rows, state, state_path, znode

GOOD = {"t": {0: ([1, 2], state(1, [1, 2])), 1: ([2, 1], state(2, [2, 1]))}}
OFF = override("t", unclean_leader_election_enable="false")


def examined(found: Cluster, version: str = "") -> dict:
    """Findings by check."""
    lead = leadership.examine(found, release(found, given=version))
    return {f.check: f for f in plan.make(lead).advise(lead.findings)}


class TestChecks:
    def test_healthy(self):
        """A whole and healthy cluster: nothing is found, nothing is left open."""
        collected = replace(made(topics=GOOD, extra=[OFF]), server_properties={b: {"broker.id": str(b)} for b in (1, 2, 3)})
        statuses = {check: f.status for check, f in examined(collected).items()}
        assert statuses.pop("leadership.unclean_price") is Status.NOT_APPLICABLE
        assert set(statuses.values()) == {Status.OK}

    def test_what_rests_on_assumed_defaults(self):
        """Without server.properties nobody knows how many must be in sync: that is open, and everything else as before."""
        found = examined(made(topics=GOOD, extra=[OFF]))
        open_ = {check for check, f in found.items() if f.status is Status.COULD_NOT_CHECK}
        assert open_ == {"leadership.under_min_isr", "leadership.at_min_isr"}
        assert "server.properties was not collected" in found["leadership.under_min_isr"].why

    def test_an_assumed_default_allows_nothing(self):
        """Up to 0.10.2 unclean election is on where nobody set it: possible, and a finding only of brokers whose file says nothing."""
        bare = made(topics=GOOD)
        told = examined(bare, version="0.9.0.1")["leadership.unclean_allowed"]
        assert (told.status, told.facts["unknown"]) == (Status.COULD_NOT_CHECK, sorted(bare.topics))
        assert "may allow unclean election" in told.title
        collected = replace(bare, server_properties={b: {"broker.id": str(b)} for b in (1, 2, 3)})
        assert examined(collected, version="0.9.0.1")["leadership.unclean_allowed"].status is Status.FINDING

    def test_offline(self):
        """Both kinds of offline are counted, and the first broker to start is named."""
        topics = {
            "t": {0: ([5, 1], state(-1, [5])), 1: ([6, 1], state(6, [6])), 2: ([6], state(-1, [6])), 3: ([1], state(1, [1]))}
        }
        found = examined(made(topics=topics, extra=[OFF]))["leadership.offline"]
        assert (found.status, found.severity) == (Status.FINDING, Severity.CRITICAL)
        assert found.title == "3 of 4 partitions have no leader; start broker 6 first: heals 2"
        expected = {
            "offline": 3,
            "leaderless": 2,
            "leader_dead": 1,
            "start_first": [6, 5],
            "heals": [2, 1],
            "rules": {"R1": 1, "R3": 2},
        }
        assert expected == {name: found.facts[name] for name in expected}

    @pytest.mark.parametrize(
        ("extra", "properties", "rules", "said"),
        [
            ([], {}, {"R3": 1}, "the default of Kafka 2.8.2"),
            ([override("t", unclean_leader_election_enable="false")], {}, {"R3": 1}, ""),
            ([], {1: {"unclean.leader.election.enable": "false"}}, {"R3": 1}, ""),
            ([Znode(path="/config/topics/t", outcome=ReadOutcome.DENIED)], {}, {}, "is unknown; it is taken as not allowed"),
        ],
        ids=["assumed", "override", "file", "unread"],
    )
    def test_what_a_rule_rests_on_is_said(self, extra, properties, rules, said):
        """R3 says that unclean election is not allowed: a default that nobody collected is no fact, a setting that nobody read no rule."""
        found = made(topics={"t": {0: ([3, 1], state(-1, [3]))}}, live=[1], extra=extra)
        lead = leadership.examine(replace(found, server_properties=properties), release(found, given="2.8.2"))
        offline = next(finding for finding in lead.findings if finding.check == "leadership.offline")
        assert (offline.facts["rules"], offline.facts["unknown_rules"]) == (rules, int(not rules))
        assert said in " ".join(offline.caveats)
        assert bool(offline.caveats) is bool(said)

    def test_no_controller(self):
        """A missing controller is critical; an unreadable one could not be checked."""
        assert examined(made(topics=GOOD, controller=None))["leadership.controller"].severity is Severity.CRITICAL
        unreadable = made(topics=GOOD, extra=[znode("/controller", b"?")])
        assert examined(unreadable)["leadership.controller"].status is Status.COULD_NOT_CHECK

    def test_newer_controller_epoch(self):
        """A state of a newer controller than the current one is critical."""
        found = made(topics={"t": {0: ([1], state(1, [1], controller_epoch=6))}})
        assert examined(found)["leadership.controller_epoch"].severity is Severity.CRITICAL

    def test_leader_outside_its_isr(self):
        """A state that contradicts itself is told."""
        found = examined(made(topics={"t": {0: ([1, 2], state(1, [2]))}}))["leadership.isr_in_assignment"]
        assert found.facts == {"disagree": 1}

    def test_offline_while_reassigned(self):
        """A reassignment is under way also where the partition has lost its leader."""
        entry = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [5, 1]}]}
        found = made(topics={"t": {0: ([5, 2, 1], state(-1, [5]))}}, extra=[OFF, znode("/admin/reassign_partitions", entry)])
        assert examined(found)["leadership.reassigning"].facts == {"reassigning": 1}

    def test_deleting_without_partitions(self):
        """A topic marked for deletion is told, though its partitions cannot be read."""
        extra = [znode("/brokers/topics/u", b"?"), znode("/admin/delete_topics/u")]
        assert examined(made(topics=GOOD, extra=extra))["leadership.deleting"].facts["topics"] == ["u"]

    def test_empty_cluster(self):
        """A cluster without topics: the question does not arise."""
        assert examined(made())["leadership.offline"].status is Status.NOT_APPLICABLE

    def test_controller_epochs(self):
        """Which controller wrote what, by epoch; an unknown time is unknown."""
        topics = {"t": {0: ([1], state(1, [1], controller_epoch=4)), 1: ([1], None)}}
        written = znode(state_path("t", 1), state(1, [1], controller_epoch=5), stat=Stat(mtime=1000))
        epochs = leadership.controller_epochs(made(topics=topics, extra=[written]))
        assert [(e.controller_epoch, e.partitions, e.first_write) for e in epochs] == [
            (4, 1, None),
            (5, 1, "1970-01-01T00:00:01.000Z"),
        ]


ABOUT_PARTITIONS = {
    "leadership.offline", "leadership.under_min_isr", "leadership.at_min_isr", "leadership.under_replicated", "leadership.uninitialised",
    "leadership.isr_in_assignment", "leadership.unclean_price", "leadership.controller_epoch", "leadership.brokers",
}  # fmt: skip


class TestNeverAllGood:
    @pytest.mark.parametrize(
        "extra",
        [
            znode(state_path("t", 0), b""),
            znode(state_path("t", 0), state(1, [1, 1])),
            znode(state_path("t", 0), state(1, [1]) | {"version": 99}),
            znode(state_path("t", 0), outcome=ReadOutcome.DENIED),
            znode("/brokers/topics/t", b"null"),
            znode("/brokers/topics/u", outcome=ReadOutcome.DENIED),
            znode("/brokers/topics", stat=Stat(numChildren=8)),
            znode("/brokers/ids", outcome=ReadOutcome.FAILED),
        ],
    )
    def test_one_thing_unread(self, extra):
        """One thing that nobody could read, and no check on partitions says ok."""
        found = examined(made(topics=GOOD, extra=[OFF, extra]))
        assert {Status.COULD_NOT_CHECK} == {found[check].status for check in ABOUT_PARTITIONS}

    def test_nothing_collected(self):
        """No evidence at all: every check says that it could not."""
        found = cluster.from_znodes([], not_collected=[Problem(path="/", reason="no znodes")])
        version = release(found)
        answers = leadership.examine(found, version).findings + evidence.checks(found, version)
        assert [a.check for a in answers if a.status is not Status.COULD_NOT_CHECK] == []

    def test_a_finding_stays_one(self):
        """What is known to be broken is told, with how much is unknown."""
        topics = {"t": {0: ([5], state(-1, [5])), 1: ([1], b"?")}}
        found = examined(made(topics=topics, extra=[OFF]))["leadership.offline"]
        assert (found.status, found.caveats) == (Status.FINDING, ("1 more partition could not be judged.",))


KINDS = st.sampled_from([
    "/brokers/ids", "/brokers/ids/1", "/brokers/ids/2", "/brokers/topics", "/brokers/topics/t", "/brokers/topics/t/partitions/0/state",
    "/brokers/topics/t/partitions/1/state", "/brokers/topics/u/partitions/7/state", "/controller", "/controller_epoch", "/config/topics/t",
    "/config/brokers/<default>", "/config/brokers/1", "/config/topics", "/config", "/admin/delete_topics/t", "/admin/reassign_partitions",
    "/admin/preferred_replica_election", "/cluster/id", "/feature", "/log_dir_event_notification/log_dir_event_1", "/",
])  # fmt: skip
PATHS = (
    KINDS
    | st.text().map("/".__add__)
    | st.lists(st.sampled_from(["brokers", "ids", "topics", "partitions", "state", "0", "9" * 30, "-1"])).map(
        lambda parts: "/" + "/".join(parts)
    )
)
NUMBERS = st.sampled_from([-2, -1, 0, 1, 2, 3, True, 1.5, 2**31, 10**30, float("nan"), None, "1", [], [1], [1, 2], [2, 2], [-1]])
FIELDS = ["leader", "isr", "version", "leader_epoch", "controller_epoch", "brokerid", "host", "port", "timestamp", "id", "broker"]
VALUES = st.recursive(
    NUMBERS,
    lambda inner: st.dictionaries(st.sampled_from([*FIELDS, "0", "1", "partitions", "config", "topic"]), inner),
    max_leaves=8,
)
NEARLY = st.builds(lambda good, key, value: good | {key: value}, st.sampled_from([
    state(1, [1]), state(-1, [2]), state(2, [2, 1]), {"version": 1, "partitions": {"0": [1, 2], "1": [2]}}, {"version": 1, "brokerid": 1},
    {"version": 1, "config": {"min.insync.replicas": "2"}}, {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [2]}]},
]), st.sampled_from(FIELDS), VALUES)  # fmt: skip
DATA = st.none() | st.binary() | (VALUES | NEARLY).map(lambda value: json.dumps(value).encode())
STATS = st.none() | st.builds(
    Stat, **dict.fromkeys(Stat._fields, st.none())
    | {"mtime": st.none() | st.integers(-(2**63), 2**63 - 1), "numChildren": st.none() | st.integers(0, 4)},
)  # fmt: skip
ANY = st.builds(
    Znode, path=PATHS, data=DATA, stat=STATS, outcome=st.sampled_from(ReadOutcome), read_at=st.none(), redacted=st.just(False)
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(znodes=st.lists(ANY, max_size=12), whole=st.booleans(), unclean=st.sampled_from(what_if.UNCLEAN))
def test_any_znodes(znodes, whole, unclean):
    """Whatever ZooKeeper holds: an answer to every check, tables that can be written, and nothing unknown called ok."""
    found = cluster.from_znodes(rows(topics=GOOD, extra=znodes) if whole else znodes)
    version = release(found)
    looked = leadership.examine(found, version)
    answers = {f.check: f for f in (*looked.findings, *evidence.checks(found, version))}
    json.dumps([f.as_json() for f in answers.values()], ensure_ascii=False).encode()
    if found.unlisted or any(v.state is PartitionCondition.UNKNOWN for v in looked.verdicts):
        assert {answers[check].status for check in ABOUT_PARTITIONS} <= {Status.COULD_NOT_CHECK, Status.FINDING}
    if found.problems:
        assert answers["evidence.decoded"].status is Status.FINDING
    supposed = what_if.suppose(found, found.live, unclean=unclean)
    answer = what_if.replay(found, version.version, looked.verdicts, supposed)
    with TemporaryDirectory() as folder:
        for name, content in {
            "partitions": looked.verdicts, "start_first": looked.start_first, "controller_epochs": looked.controller_epochs,
            "what_if": answer.changes, "problems": found.problems,
        }.items():  # fmt: skip
            tables.write(Path(folder), name, content)
