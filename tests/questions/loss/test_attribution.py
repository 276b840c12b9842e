"""Which change of leader took a record: of generated partitions whose truth is known, the changes that may have include it."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.facts.losses import Cause, LeaderChange, LostCount
from casebook.questions.loss.analysis.causes import Missing, explained, in_solitude, takers
from casebook.questions.timeline.analysis import loss_events

STEP = 500
"""Milliseconds between two things that happen."""


@dataclass
class Partition:
    """A partition that is played: who leads by whose account, what each has, and what each change of leader took."""

    logs: dict[int, list[str]] = field(default_factory=lambda: {broker: [] for broker in range(4)})
    leader: int = 0
    deposed: dict[int, int] = field(default_factory=dict)
    changes: list[dict] = field(default_factory=list)
    fetched: int = 0
    now: int = 1_000_000
    told: list[tuple[str, int, int, int]] = field(default_factory=list)
    took: dict[str, int] = field(default_factory=dict)

    def write(self, broker):
        """A leader, by its own account, takes a record with acks=1."""
        if broker != self.leader and broker not in self.deposed:
            return
        name = f"r{len(self.told)}"
        self.told.append((name, len(self.logs[broker]), self.now, broker))
        self.logs[broker].append(name)

    def fetch(self):
        """All who know the leader have what it has."""
        for broker in self.logs:
            if broker != self.leader and broker not in self.deposed:
                self.logs[broker] = list(self.logs[self.leader])
        self.fetched = self.now

    def elect(self, broker):
        """Another leads, clean: it is no deposed one; the old one does not know yet."""
        if broker == self.leader or broker in self.deposed:
            return
        old, number = self.leader, len(self.changes)
        self.changes.append({"number": number, "opened": self.now, "closed": None, "since": self.fetched, "old_leader": old,
                             "new_leader": broker, "epoch": number + 1, "cut": len(self.logs[broker])})  # fmt: skip
        self.deposed[old], self.leader = number, broker

    def return_(self, broker):
        """A deposed one learns that it is, and truncates to what the leader has."""
        if broker not in self.deposed:
            return
        number = self.deposed.pop(broker)
        self.changes[number]["closed"] = self.now
        gone = set(self.logs[broker]) - set(self.logs[self.leader])
        self.took |= {name: self._taken_by(name, number) for name in gone if name not in self.took}
        self.logs[broker] = list(self.logs[self.leader])

    def _taken_by(self, name, number):
        """The change that deposed the broker which had taken it."""
        return number


STEPS = st.lists(
    st.tuples(st.sampled_from(("write", "write", "write", "fetch", "elect", "return_")), st.integers(0, 3)),
    min_size=10,
    max_size=60,
)
BLIND = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=60, max_size=60)


def played(steps):
    of = Partition()
    for what, broker in steps:
        of.now += STEP
        of.fetch() if what == "fetch" else getattr(of, what)(broker)
    for broker in list(of.deposed):
        of.now += STEP
        of.return_(broker)
    return of


def known(of, blind):
    """What the evidence tells of the changes: of some neither cut nor end, of some only bounds."""
    for change, (no_cut, no_end) in zip(of.changes, blind, strict=False):
        yield LeaderChange(
            **change | ({"cut": None} if no_cut else {}) | ({"closed": None} if no_end else {}), topic="t", partition=0, isr=(0, 1),
            alone=None, unclean=False, cut_at_start=False, disk=False, planned=False, opened_proof="", closed_proof="",
            event=f"event {change['number']}",
        )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(steps=STEPS, blind=BLIND)
def test_the_true_change_is_among_them(steps, blind):
    """Windows overlap, offsets are used twice, cuts and ends are unknown: whatever took a record is among those that may have."""
    of = played(steps)
    changes = tuple(known(of, blind))
    for name, offset, moment, _ in of.told:
        if name not in of.took:
            continue
        for told_offset in (offset, None):
            took = takers(changes, told_offset, moment)
            assert of.took[name] in {change.number for change in took}, name
            missing = Missing(tuple((one.number, in_solitude(one, moment)) for one in took), "1", told_offset is not None, True)
            why = explained(missing, dict(enumerate(changes)))
            assert of.took[name] in why.changes
            assert why.cause is Cause.DEPOSED_LEADER
            assert why.window.startswith("either ") == (len({(c.opened, c.closed) for c in took}) > 1)


class TestEither:
    def change(self, number, **more):
        common = {"number": number, "topic": "t", "partition": 0, "opened": 10_000 + number * 1000, "closed": 20_000, "since": 5000,
                  "old_leader": number, "new_leader": number + 1, "epoch": number, "cut": 100, "isr": (1, 2), "alone": None,
                  "unclean": False, "cut_at_start": False, "disk": False, "planned": False, "opened_proof": f"o:{number}",
                  "closed_proof": ""}  # fmt: skip
        return LeaderChange(**common | more)

    def test_causes_that_differ(self):
        """One window took it, nobody knows which, and each has another cause: that is said."""
        both = {0: self.change(0), 1: self.change(1, unclean=True)}
        why = explained(Missing(((0, None), (1, None)), "1", True, True), both)
        assert (why.cause, why.changes) == (Cause.EITHER_WINDOW, (0, 1))
        assert why.window.startswith("either ")
        assert " or " in why.evidence

    def test_one_that_explains_nothing(self):
        """A clean election loses nothing of acks=all: the unclean one took it, though the other came first."""
        both = {0: self.change(0), 1: self.change(1, unclean=True)}
        why = explained(Missing(((0, None), (1, None)), "all", True, True), both)
        assert (why.cause, why.changes) == (Cause.UNCLEAN_ELECTION, (1,))

    def test_one_line_an_event(self):
        """What is sure of each event, and apart what may belong to either."""
        changes = [self.change(0, event="broker 57 stood still"), self.change(1, event="broker 58 was cut off"),
                   self.change(2, event="preferred election")]  # fmt: skip
        counts = [
            LostCount("t", 0, None, Cause.DEPOSED_LEADER, 0, 1, 1168), LostCount("t", 0, None, Cause.DEPOSED_LEADER, 1, 1, 558),
            LostCount("t", 0, None, Cause.DEPOSED_LEADER, 0, 1, 19, (0, 1)), LostCount("t", 0, None, Cause.DEPOSED_LEADER, 2, 1, 2),
            LostCount("t", 0, None, None, None, 1, 4),
        ]  # fmt: skip
        said = loss_events.line(loss_events.counted(counts, changes))
        assert said.replace("\N{NARROW NO-BREAK SPACE}", ",") == (
            "broker 57 stood still: 1,168 records; broker 58 was cut off: 558 records; "
            "either broker 57 stood still or broker 58 was cut off: 19 records; preferred election: 2 records"
        )
