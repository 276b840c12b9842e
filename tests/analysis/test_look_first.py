"""A report that names a dead broker with records of its own: wherever that is to be started, a look comes before."""

import re
from dataclasses import replace

import pytest

from casebook import places
from casebook.analysis import leadership, look_first, maintenance, release, timeline
from casebook.case import Case
from casebook.findings import Status
from casebook.scans import logs


@pytest.fixture(scope="module")
def told():
    """Everything that is found on the shipped incident in which broker 1 has more than the leader of sessions-0."""
    case = Case.open(places.samples_dir() / "leader_minus_one")
    read, of = logs.read(case), case.cluster()
    version = release.release(of, logged=case.logged_versions())
    lead = leadership.examine(of, version)
    past = timeline.examine(of, version, events=read.events(), files=read.files)
    found = (*lead.findings, *maintenance.in_short(of, version, lead.verdicts).findings, *past.findings)
    return {finding.check: finding for finding in found}


def starts(step, broker):
    """Whether a person who does what a step says starts that broker."""
    return re.match(rf"(Start|Broker)\b[^:]*\b{broker}\b", step.text) is not None


def test_who_has_more_is_never_started_unseen(told):
    """Offline, short of replicas, gone from the cluster: each of them says so before it says to start broker 1."""
    assert told["timeline.unclean"].facts["brokers"] == [1]
    orders = {check for check, finding in told.items() if any(starts(step, 1) for step in finding.next)}
    orders -= {"timeline.unclean"}
    assert orders >= {"leadership.offline", "leadership.under_replicated", "maintenance.unregistered_replicas"}
    together = {finding.check: finding for finding in look_first.ordered(tuple(told.values()))}
    for check in orders:
        steps, start = together[check].next, next(n for n, step in enumerate(together[check].next) if starts(step, 1))
        assert any("Before broker 1 is started" in step.text for step in steps[:start]), check
        assert [step.kind for step in steps].count("first") == 1, check
        assert any("timeline.unclean" in caveat for caveat in together[check].caveats), check


def test_whom_it_does_not_concern_starts_at_once(told):
    """Broker 5 heals most, and nothing of it is at stake: it still comes first."""
    together = {finding.check: finding for finding in look_first.ordered(tuple(told.values()))}
    assert together["leadership.offline"].title == told["leadership.offline"].title
    assert together["leadership.offline"].next[0] == told["leadership.offline"].next[0]


def test_the_title_says_it_of_whom_it_names_first(told):
    """It is all that an alert shows."""
    unclean = told["timeline.unclean"]
    both = (told["leadership.offline"], replace(unclean, facts=unclean.facts | {"brokers": [5]}))
    offline, _ = look_first.ordered(both)
    assert offline.title == f"{told['leadership.offline'].title}; before that, see what it has"
    assert [step.kind for step in offline.next[:2]] == ["first", "then"]
    assert "Before broker 5 is started" in offline.next[0].text


def test_where_nobody_asked_the_past_that_is_said(told):
    """Broker 1 is replica, out of sync, of partitions that broker 3 or 4 lead; whom no leader waits for needs no word."""
    of = Case.open(places.samples_dir() / "leader_minus_one").cluster()
    asked = tuple(finding for check, finding in told.items() if not check.startswith("timeline."))
    warned = {finding.check: finding for finding in look_first.unasked(asked, of)}
    behind = {b for p in of.partitions if p.state and p.state.leader in of.live for b in p.replicas if b not in p.state.isr}
    assert behind
    for check, finding in warned.items():
        started = {broker for step in finding.next for broker in step.starts}
        assert any("(timeline.unclean)" in caveat for caveat in finding.caveats) == (not started.isdisjoint(behind)), check
    assert look_first.unasked(tuple(warned.values()), of) == tuple(warned.values())
    assert look_first.unasked(tuple(told.values()), of) == tuple(told.values())


def test_the_root_is_who_is_still_dead(told):
    """Broker 2 was killed as well and is back; what is wrong now waits for those to be started, in the order to start them."""
    start = told["leadership.offline"].facts["start_first"]
    said = told["timeline.root"].title
    assert f"broker {start[0]} was killed" in said
    assert [f"broker {broker}, still down" in said for broker in start] == [True, True]
    assert "broker 2, back since 13:28:10" in said
    offline = told["leadership.offline"]
    more = offline.facts["offline"] - offline.facts["heals"][0]
    assert offline.next[1].text == f"Start broker {start[1]}, which brings back {more} more."


def test_what_healed_is_not_what_explains(told):
    """As many are without leader to the end as the verdicts count, and it is one of them that is told of; audit-1 healed at once."""
    why, offline = told["timeline.leaderless"].why, told["leadership.offline"]
    assert told["timeline.leaderless"].facts["still"] == offline.facts["offline"]
    assert {name.rpartition("-")[0] for name in re.findall(r"[a-z]+-\d+", why)} <= set(offline.facts["topics"])
    assert "audit" not in why


def test_without_such_a_broker_nothing_changes(told):
    """Also where nobody could tell."""
    unknown = replace(told["timeline.unclean"], status=Status.COULD_NOT_CHECK, severity=None)
    found = tuple(finding for check, finding in told.items() if check != unknown.check)
    assert look_first.ordered(found) == found
    assert look_first.ordered((*found, unknown)) == (*found, unknown)
