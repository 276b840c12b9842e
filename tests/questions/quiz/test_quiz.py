"""The quiz: lenient in form, strict in content, and every answer follows from what ZooKeeper holds."""

import json
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from casebook.case.case import Case
from casebook.collect import sources
from casebook.facts.cluster import PartitionState, epoch_ms
from casebook.facts.history import Happened, What
from casebook.findings.finding import Severity, Status
from casebook.formats.zookeeper import history_facts
from casebook.kafka import release
from casebook.kafka.verdict import RULES
from casebook.machine import places
from casebook.questions.leadership.analysis import leadership
from casebook.questions.quiz.analysis import answers as quiz_answers
from casebook.questions.quiz.analysis import past as quiz_past
from casebook.questions.quiz.analysis import questions as quiz_questions
from casebook.questions.quiz.analysis import quiz
from casebook.questions.quiz.analysis.answers import GIVEN_UP, Unclear
from casebook.questions.quiz.analysis.incident import QuizIncident
from casebook.questions.quiz.analysis.quiz import AnswerOutcome, QuizQuestion
from tests.evidence import made, override, state

IDS = some.frozensets(some.integers(0, 2000), max_size=12)
NAMES = some.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=20)
BETWEEN = some.sampled_from([",", ", ", " ", " and ", ";", " & ", "\n"])

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SPELLED = dict(enumerate(_WORDS)) | {15: "fifteen", 19: "nineteen", 20: "twenty", 40: "forty", 90: "ninety"}
SPELLED |= {21: "twenty-one", 35: "Thirty five", 99: "NINETY-NINE"}
CHOICES = (
    ("R1", "The state names a leader that is not registered."),
    ("R3", "No member of the ISR is alive, and unclean election is not allowed."),
    ("controller", "Delete the znode /controller, so that another broker becomes controller"),
    ("wipe", "Delete the log dirs of a dead broker, so that it starts clean"),
)


class TestForms:
    """The same answer, however it is written."""

    @given(ids=IDS, between=BETWEEN, before=some.sampled_from(["", "broker ", "Broker ", "brokers ", "#", "["]), data=some.data())
    def test_brokers(self, ids, between, before, data):
        """Order, separators and the word broker do not matter."""
        order = data.draw(some.permutations(sorted(ids)))
        written = between.join(f"{before}{broker}" for broker in order) or data.draw(some.sampled_from(["none", "nobody", "–"]))
        assert quiz_answers.brokers(written) == ids

    @given(
        numbers=IDS.filter(bool),
        topic=NAMES,
        form=some.sampled_from(["{t}-{n}", "[{t},{n}]", "{n}", "partition {n}", "{t}-{n} "]),
        between=BETWEEN,
    )
    def test_partitions(self, numbers, topic, form, between):
        """Kafka's own spellings, or numbers alone, whatever the topic is called."""
        assert quiz_answers.partitions(between.join(form.format(t=topic, n=n) for n in numbers), topic) == numbers

    @given(
        numbers=IDS.filter(bool),
        topic=NAMES.filter(lambda name: not name.isdecimal()),
        form=some.sampled_from(["{t} {n}", "{t}/{n}"]),
    )
    def test_loose_spellings(self, numbers, topic, form):
        """A blank or slash does as well, where it can be told from a number."""
        assert quiz_answers.partitions(", ".join(form.format(t=topic, n=n) for n in numbers), topic) == numbers

    @given(
        first=some.integers(0, 500),
        more=some.integers(0, 100),
        dash=some.sampled_from(["-", " - ", "–", "..", " to ", " through "]),
    )
    def test_ranges(self, first, more, dash):
        """From one to another, of partitions and of brokers."""
        meant = frozenset(range(first, first + more + 1))
        assert quiz_answers.partitions(f"orders-{first}{dash}{first + more}", "orders") == meant
        assert quiz_answers.brokers(f"brokers {first}{dash}{first + more}") == meant

    @given(numbers=some.frozensets(some.sampled_from(sorted(SPELLED)), min_size=1, max_size=5), between=BETWEEN.filter(str.strip))
    def test_plain_words(self, numbers, between):
        """A number may be spelled, wherever one is asked for; alone, zero is nobody among brokers and partitions."""
        written = between.join(SPELLED[number] for number in numbers)
        meant = frozenset() if numbers == {0} else numbers
        assert quiz_answers.brokers(written) == quiz_answers.partitions(written, "orders") == meant
        if len(numbers) == 1:
            assert {quiz_answers.number(written)} == {quiz_answers.number(f"{written} partitions")} == numbers
            return
        with pytest.raises(Unclear):
            quiz_answers.number(written)

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            ("wipe it", "wipe"),
            ("Wipe the log dirs.", "wipe"),
            ("the controller", "controller"),
            ("rule three", "R3"),
            ("r 3", "R3"),
        ],
    )
    def test_a_choice_among_words(self, text, key):
        """Words that say nothing, and the option's own, do not matter."""
        assert quiz_answers.choice(text, CHOICES) == key

    @given(two=some.permutations([key for key, _ in CHOICES]), between=BETWEEN)
    def test_two_choices_are_none(self, two, between):
        """Whoever names two has not chosen, and whoever denies one has not named it."""
        first, second, *_ = two
        for text in (f"{first}{between}{second}", f"not {first}", f"{first}, no"):
            with pytest.raises(Unclear):
                quiz_answers.choice(text, CHOICES)

    @given(
        value=some.integers(0, 10**9), form=some.sampled_from(["{}", " {} ", "{} partitions", "{} are left", "still {} offline"])
    )
    def test_numbers(self, value, form):
        """One number, with words around it."""
        assert quiz_answers.number(form.format(value)) == value

    @pytest.mark.parametrize(
        ("judge", "text"),
        [
            (quiz_answers.brokers, "4-2"),
            (quiz_answers.brokers, "1 but not 5"),
            (quiz_answers.brokers, "first"),
            (quiz_answers.brokers, ","),
            (quiz_answers.number, "3 or 4"),
            (quiz_answers.number, "-1"),
            (quiz_answers.number, "1.5"),
            (quiz_answers.number, "many"),
            (quiz_answers.number, "minus one"),
            (quiz_answers.number, "more than three"),
            (quiz_answers.number, "one and a half"),
            (quiz_answers.number, "none of the 6"),
            (quiz_answers.number, "all but one"),
            (quiz_answers.number, "nobody but 3"),
            (quiz_answers.number, "almost 6"),
            (quiz_answers.number, "banana 6"),
            (quiz_answers.number, "6+"),
            (quiz_answers.brokers, "the right one is 5"),
            (lambda text: quiz_answers.partitions(text, "orders"), "payments-0"),
            (lambda text: quiz_answers.partitions(text, "orders"), "9-3"),
            (lambda text: quiz_answers.partitions(text, "orders"), "0-999999999"),
            (lambda text: quiz_answers.choice(text, (("R1", "x"),)), "R9"),
        ],
    )
    def test_what_is_not_understood_is_not_guessed(self, judge, text):
        with pytest.raises(Unclear):
            judge(text)

    def test_one_that_is_no_number(self):
        """It stands for the broker that is named after it."""
        assert quiz_answers.brokers("the one is 5") == {5}
        assert quiz_answers.brokers("one, five") == {1, 5}

    def test_nothing_left(self):
        assert quiz_answers.number("none left") == quiz_answers.number("No partitions.") == 0

    def test_a_full_stop_ends_a_sentence(self):
        """One, and only at the end."""
        assert quiz_answers.brokers("1 & 5.") == {1, 5}
        assert quiz_answers.number("13. ") == 13
        assert quiz_answers.partitions("orders-0, 1 .", "orders") == {0, 1}
        with pytest.raises(Unclear):
            quiz_answers.partitions("0..", "orders")

    @given(text=some.text(max_size=40), topic=NAMES)
    def test_whatever_is_typed(self, text, topic):
        """It is understood or not; nothing else happens."""
        for judge in (quiz_answers.brokers, quiz_answers.number, lambda typed: quiz_answers.partitions(typed, topic)):
            try:
                judge(text)
            except Unclear:
                continue


@dataclass(frozen=True)
class Raw:
    """What is stored, read here once more and with nothing of ours but JSON."""

    registered: frozenset[int]
    assigned: Mapping[str, list[int]]
    states: Mapping[str, dict]
    deleting: frozenset[str]

    @property
    def dead(self) -> set[int]:
        assigned = {broker for replicas in self.assigned.values() for broker in replicas}
        in_sync = {broker for found in self.states.values() for broker in found["isr"]}
        return (assigned | in_sync) - self.registered

    @property
    def offline(self) -> set[str]:
        return {
            name
            for name, found in self.states.items()
            if found["leader"] not in self.registered and name.rpartition("-")[0] not in self.deleting
        }

    def alive_out_of_sync(self, name: str) -> set[int]:
        return (set(self.assigned[name]) & self.registered) - set(self.states[name]["isr"])


def raw(case: Case, at: int | None) -> Raw:
    """Straight from the znodes."""
    registered, assigned, states, deleting = set(), {}, {}, set()
    for znode in case.znodes(at=at):
        parts = znode.path.split("/")[1:]
        if parts[:2] == ["brokers", "ids"] and len(parts) == 3:
            registered.add(int(parts[2]))
        elif parts[:2] == ["brokers", "topics"] and len(parts) == 3:
            assigned |= {f"{parts[2]}-{number}": replicas for number, replicas in json.loads(znode.data)["partitions"].items()}
        elif parts[-1] == "state" and len(parts) == 6:
            states[f"{parts[2]}-{parts[4]}"] = json.loads(znode.data)
        elif parts[:2] == ["admin", "delete_topics"] and len(parts) == 3:
            deleting.add(parts[2])
    return Raw(frozenset(registered), assigned, states, frozenset(deleting))


def asked(case: Case, at: int | None = None) -> dict[str, QuizQuestion]:
    """The questions on a case, by key."""
    cluster = case.cluster(at=at)
    version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
    last = quiz_past.last_in_sync(past(case), at) if at else {}
    found = quiz_questions.questions(QuizIncident(lead=leadership.examine(cluster, version), last_in_sync=last))
    return {question.key: question for question in found}


def of(**cluster: object) -> dict[str, QuizQuestion]:
    """The questions on a small cluster of Kafka 2.8.2, by key."""
    made_up = made(**cluster)
    found = leadership.examine(made_up, release.release(made_up, given="2.8.2"))
    return {question.key: question for question in quiz_questions.questions(QuizIncident(lead=found))}


def led(time: int, topic: str, leader: int) -> Happened:
    """A state of partition 0 that was written."""
    written = PartitionState(leader=None if leader < 0 else leader, isr=(1,), leader_epoch=0, controller_epoch=1)
    return Happened(What.STATE, time, time, topic=topic, partition=0, state=written)


def opened(name: str) -> Case:
    return Case.open(places.samples_dir() / name)


def right(question: QuizQuestion, answer: object) -> bool:
    return quiz.judged(question, str(answer)).outcome is AnswerOutcome.RIGHT


def past(case: Case) -> list[Happened]:
    """What its history tells."""
    return list(history_facts.read(case.history())) if case.has_history else []


INCIDENTS = ("leader_minus_one", "isr_shrunk_loss")


@pytest.fixture(scope="module", params=INCIDENTS)
def incident(request: pytest.FixtureRequest) -> tuple[dict[str, QuizQuestion], Raw]:
    """The questions on an incident, and what is stored of it."""
    case = opened(request.param)
    at = quiz_past.height(past(case))
    return asked(case, at), raw(case, at)


class TestAnswers:
    """The judge accepts what follows from the raw znodes, and nothing else."""

    def test_who_is_dead(self, incident):
        questions, stored = incident
        assert right(questions["brokers"], ",".join(map(str, stored.dead)))
        for broker in stored.registered | {99}:
            assert not right(questions["brokers"], ",".join(map(str, {*stored.dead, broker})))
        for broker in stored.dead:
            assert not right(questions["brokers"], ",".join(map(str, stored.dead - {broker})) or "none")

    def test_what_is_offline(self, incident):
        questions, stored = incident
        topic = questions["leaderless"].asks.split("topic ")[1].split(" ")[0]
        mine = {name for name in stored.states if name.rpartition("-")[0] == topic}
        offline = mine & stored.offline
        assert 0 < len(offline) < len(mine)
        assert right(questions["leaderless"], ", ".join(offline))
        for name in offline:
            assert not right(questions["leaderless"], ", ".join(offline - {name}) or "none")
        for name in {*(mine - offline), f"{topic}-77"}:
            assert not right(questions["leaderless"], ", ".join({*offline, name}))

    def test_why(self, incident):
        """A partition whose ISR is dead, in a topic and on brokers that forbid unclean election: R3, and no other rule."""
        questions, stored = incident
        name = questions["why"].asks.removeprefix("Why does ").removesuffix(" have no leader?")
        assert stored.states[name]["leader"] == -1
        assert stored.states[name]["isr"] and not set(stored.states[name]["isr"]) & stored.registered
        assert [key for key, _ in questions["why"].options if right(questions["why"], key)] == ["R3"]

    def test_an_unclean_election(self, incident):
        questions, stored = incident
        count = sum(bool(stored.alive_out_of_sync(name)) for name in stored.offline)
        assert [answer for answer in range(40) if right(questions["unclean"], answer)] == [count]

    def test_what_must_not_be_done(self, incident):
        """Somewhere a dead broker is alone in the ISR: its disk is the only one that is known to have everything."""
        questions, stored = incident
        assert any(len(stored.states[name]["isr"]) == 1 for name in stored.offline)
        assert [key for key, _ in questions["never"].options if right(questions["never"], key)] == ["wipe"]


class TestStartFirst:
    """Whom to start first was found out by really starting each of them when the sample was made."""

    def test_leader_minus_one(self):
        questions = asked(opened("leader_minus_one"))
        verified = json.loads((places.samples_dir() / "leader_minus_one" / "expected.json").read_text())
        heals = {row["broker"]: row["heals"] for row in verified["start_first_verified_by_starting"]}
        best = max(heals, key=heals.get)
        offline = len([state for state in verified["not_online"].values() if state == "leaderless"])
        assert [broker for broker in range(10) if right(questions["first"], broker)] == [best]
        assert [count for count in range(40) if right(questions["healed"], count)] == [offline - heals[best]]

    def test_isr_shrunk_loss(self):
        """Broker 1 is in the only ISR that is not empty, and a replica of every other partition that is offline."""
        case = opened("isr_shrunk_loss")
        at = quiz_past.height(past(case))
        questions, stored = asked(case, at), raw(case, at)
        assert {member for name in stored.offline for member in stored.states[name]["isr"]} == {1}
        assert all(1 in stored.assigned[name] for name in stored.offline)
        assert [broker for broker in range(10) if right(questions["first"], broker)] == [1]
        assert [count for count in range(10) if right(questions["healed"], count)] == [0]


class TestThePast:
    """What a case's history adds."""

    def test_the_height(self):
        """Both brokers are dead and all is written, and the first that comes back is not yet there: by the script's own clock."""
        case = opened("isr_shrunk_loss")
        noted = json.loads((places.samples_dir() / "isr_shrunk_loss" / "expected.json").read_text())["facts"]["isr_shrunk_loss"]
        elected = {row["partition"]: epoch_ms(row["elected_at"]) for row in noted["moved"]}
        at = quiz_past.height(past(case))
        assert epoch_ms(noted["started"]) < at < elected["payments-1"]
        assert raw(case, at).registered == {3}

    def test_the_longest_and_not_the_largest(self):
        """A single partition for ten seconds, against two for one: what the controller mends at once is no incident."""
        states = [(1000, "a", -1), (1000, "b", -1), (2000, "b", 1), (11_000, "a", 1)]
        registered = Happened(What.BROKER_REGISTERED, 1, 500, broker=1)
        happened = [registered, *(led(time, topic, leader) for time, topic, leader in states)]
        assert quiz_past.height(happened) == 10_999
        assert quiz_past.height(happened[:-1]) is None  # it goes on: the case as it was collected
        assert quiz_past.height(happened[:1]) is None

    def test_a_deletion_that_hangs_is_no_incident(self):
        """It leaves -1 behind for good; the incident that was healed long ago is still found."""
        registered = Happened(What.BROKER_REGISTERED, 1, 500, broker=1)
        happened = [registered, led(1000, "a", -1), led(11_000, "a", 1), led(20_000, "going", -1), led(90_000, "a", 1)]
        assert quiz_past.height(happened, deleting={"going"}) == 10_999
        assert quiz_past.height(happened) is None

    def test_the_same_picture_goes_on(self):
        """A state that is written anew changes nothing, nor does one that names a dead leader first and none then."""
        brokers = [Happened(What.BROKER_REGISTERED, 1, 500, broker=broker) for broker in (1, 2)]
        gone = Happened(What.BROKER_GONE, 2, 1000, broker=2)
        states = [led(600, "a", 2), led(600, "b", 1), gone, led(3000, "a", -1), led(4000, "b", 1), led(6000, "a", 1)]
        short = [led(8000, "b", -1), led(12_000, "b", 1)]
        assert quiz_past.height([*brokers, *states, *short]) == 5999  # 5 s without a leader, against 4
        back = Happened(What.BROKER_REGISTERED, 3, 3500, broker=2)
        parted = [*states[:4], back, *states[4:]]  # 2.5 s twice: another broker is registered
        assert quiz_past.height([*brokers, *parted, *short]) == 11_999

    def test_who_was_in_sync_last(self):
        """Before the ISR was emptied broker 1 was alone in it: the script acknowledged there what broker 2 never got."""
        case = opened("isr_shrunk_loss")
        at = quiz_past.height(past(case))
        assert raw(case, at).states["payments-0"]["isr"] == []
        last = quiz_past.last_in_sync(past(case), at)["payments", 0]
        assert last.isr == (1,)
        assert last.proof in asked(case, at)["first"].cites
        explained = asked(case, at)["first"].explanation
        assert "it named broker 1 and not broker 2, which lacks records that broker 1 acknowledged" in explained
        assert "If broker 2 started before it, broker 2 would lead" in explained

    def test_a_wrong_answer_hears_of_the_loss_first(self):
        """Broker 2 was not in sync when the ISRs were emptied; that it heals fewer is the lesser fault."""
        case = opened("isr_shrunk_loss")
        why = quiz.judged(asked(case, quiz_past.height(past(case)))["first"], "2").why
        assert re.match(r"Started first, it would lead .*payments-0.* without having been in sync: .* It would heal 3", why)

    def test_nobody_knows_who_was_in_sync(self):
        """Without a history it is not guessed."""
        explained = asked(opened("leader_minus_one"))["first"].explanation
        assert "The ISR of sessions-1 is empty" in explained and "The znodes do not show" in explained


class TestExplanations:
    @pytest.mark.parametrize("name", INCIDENTS)
    def test_they_give_away_no_other_answer(self, name):
        """How many each start would heal says how many are left: it is told with that."""
        case = opened(name)
        first = asked(case, quiz_past.height(past(case)))["first"]
        given = quiz.judged(first, GIVEN_UP)
        assert not re.search(r"\d partitions?|heals? \d", given.said(set()))
        assert "would heal" in given.said({"healed"})
        assert "would heal" not in quiz.judged(first, "99").said({"healed"})

    def test_who_is_needed_next_waits_for_who_came_first(self):
        """Of two dead brokers the other one is the answer to the question before."""
        healed = quiz.judged(asked(opened("leader_minus_one"))["healed"], "3")
        assert "broker" not in healed.said({"healed"})
        assert healed.said({"healed", "first"}).endswith("They need broker 1.")

    def test_what_is_as_good_as_what_notebook_20_advises(self):
        """Brokers 1 and 2 heal one partition each. Broker 2 would lead it out of sync, so it is no right answer, though it heals as
        many."""
        allowed = override("t", unclean_leader_election_enable="true")
        found = of(live=(3,), controller=3, topics={"t": {0: ([2, 1], state(-1, [1])), 1: ([3], state(3, [3]))}}, extra=[allowed])
        assert [broker for broker in range(4) if right(found["first"], broker)] == [1]
        assert "lead t-0 without having been in sync" in quiz.judged(found["first"], "2").why

    @pytest.mark.parametrize("clean_of_2", [2, 3], ids=["as many", "more"])
    def test_who_heals_most_at_a_price(self, clean_of_2):
        """Broker 1 heals three partitions in sync. Broker 2 heals as many or more, one of them out of sync: the question asks for what
        is lost first, and the explanation says of nobody that he heals most who does not."""
        allowed = override("t", unclean_leader_election_enable="true")
        mine = {0: ([2, 1], state(-1, [1])), 1: ([1], state(-1, [1])), 2: ([1], state(-1, [1]))}
        other = {3 + n: ([2], state(-1, [2])) for n in range(clean_of_2)}
        found = of(live=(3,), controller=3, topics={"t": {**mine, **other}}, extra=[allowed])
        assert [broker for broker in range(4) if right(found["first"], broker)] == [1]
        assert "lose no record that another order would keep" in found["first"].asks
        explained = found["first"].explanation
        assert "most" not in explained and "no other" not in explained
        assert "broker 2 would heal as many or more, and lead t-0 out of sync" in explained
        assert quiz.judged(found["first"], "1").said({"healed"}).endswith(f"broker 2 would heal {clean_of_2 + 1}.")

    def test_of_equals_who_loses_less_is_right_too(self):
        """Each heals one: broker 1 one whose ISR is empty, broker 2 one in sync."""
        allowed = override("t", unclean_leader_election_enable="true")
        topics = {"t": {0: ([1], state(-1, []))}, "u": {0: ([2], state(-1, [2]))}}
        found = of(live=(3,), controller=3, topics=topics, extra=[allowed])
        assert right(found["first"], 2)


class TestOtherCases:
    """Where there is nothing to solve, and where nobody can know."""

    @pytest.mark.parametrize("name", [name for name in sources.samples() if name != "leader_minus_one"])
    def test_nothing_is_asked_without_an_incident(self, name):
        """No partition is offline in any other sample, so no question arises, and any answer is let be."""
        assert not raw(opened(name), None).offline
        questions = asked(opened(name)).values()
        assert {quiz.judged(question, "1").outcome for question in questions} == {AnswerOutcome.NOT_ASKED}
        assert {finding.status for finding in quiz.findings([quiz.judged(q, "1") for q in questions])} == {Status.NOT_APPLICABLE}

    def test_unknown_registrations(self):
        """Who is dead cannot be told; that is no wrong answer and no right one."""
        cluster = made(live=(1,), topics={"t": {0: ([1, 2], state(-1, [2]))}}, controller=1)
        cluster = replace(cluster, brokers={}, brokers_known=False)
        found = leadership.examine(cluster, release.release(cluster, given="0.9.0.1"))
        judged = [quiz.judged(question, "2") for question in quiz_questions.questions(QuizIncident(lead=found))]
        assert {one.outcome for one in judged} == {AnswerOutcome.CANNOT_TELL}
        assert quiz.findings(judged)[0].status is Status.COULD_NOT_CHECK

    def test_an_unclean_election_that_is_due(self):
        """Whatever makes the controller act loses records then, so there is no single answer to what must not be done."""
        allowed = override("t", unclean_leader_election_enable="true")
        cluster = made(live=(1, 3), topics={"t": {0: ([1, 2], state(-1, [2]))}}, controller=3, extra=[allowed])
        found = leadership.examine(cluster, release.release(cluster, given="0.9.0.1"))
        never = {q.key: q for q in quiz_questions.questions(QuizIncident(lead=found))}["never"]
        assert quiz.judged(never, "wipe").outcome is AnswerOutcome.NOT_ASKED

    @pytest.mark.parametrize(
        ("live", "controller", "named", "replicas"),
        [((1, 3), 3, -1, [1, 2]), ((1,), 2, 2, [2])],
        ids=["R8: nothing is in the way", "R2: no controller"],
    )
    def test_an_election_that_is_merely_due(self, live, controller, named, replicas):
        """t-0 waits for broker 2, the only one in its ISR. In the ISR of t-1 broker 1 is alive: any start makes it lead, and so does
        no unclean election."""
        states = {0: (replicas, state(-1, [2])), 1: ([1, 2], state(named, [1])), 2: ([1, 2], state(1, [1]))}
        found = of(live=live, controller=controller, topics={"t": states})
        assert right(found["first"], 2)
        assert [count for count in range(4) if right(found["healed"], count)] == [0]
        assert found["healed"].explanation.startswith("None is left")
        elected = 1 if 1 in replicas else 0
        assert [count for count in range(4) if right(found["unclean"], count)] == [elected]
        assert "t-1: a member of the ISR is alive" in found["unclean"].explanation
        assert f"{1 - elected} partition{'s' if elected else ''} would stay without leader" in found["unclean"].explanation
        assert "no offline partition has a living replica" not in found["unclean"].explanation

    def test_nobody_is_called_dead_who_lives(self):
        """The only offline partition would be led by broker 1, in sync: an answer of one is wrong for that reason."""
        found = of(live=(1, 3), controller=3, topics={"t": {0: ([1, 2], state(-1, [1]))}})
        why = quiz.judged(found["unclean"], "1").why
        assert "have a living ISR member" in why and "no replica" not in why

    @pytest.mark.parametrize("missing", [2, 5], ids=["on the same broker", "elsewhere"])
    def test_partitions_without_a_state(self, missing):
        """They have no leader and never had one: naming them is no mistake, and where they are not counted the question says so."""
        states = {0: ([missing], None), 1: ([1], state(1, [1])), 2: ([2], state(-1, [2]))}
        found = of(live=(1, 3), controller=3, topics={"t": states})
        assert right(found["leaderless"], "2") and right(found["leaderless"], "0, 2")
        assert not right(found["leaderless"], "0") and not right(found["leaderless"], "1, 2")
        assert right(found["healed"], 0)
        for key in ("leaderless", "first", "healed"):
            assert "Partitions without a state never had a leader: leave them out." in found[key].asks
        without = of(live=(1, 3), controller=3, topics={"t": {n: states[n] for n in (1, 2)}})
        assert not any("without a state" in question.asks for question in without.values())

    def test_nothing_but_partitions_without_a_state(self):
        """It is not said that each has a leader."""
        found = of(live=(1,), controller=1, topics={"t": {0: ([2], None)}})
        assert "never had a state" in quiz.judged(found["leaderless"], "0").why

    @pytest.mark.parametrize("topic", ["1_000", "007", "None", "nan", "a-1", "orders-3", "R3", "none"])
    def test_odd_topics(self, topic):
        """A topic may be called like a number, like nothing, or like a partition."""
        states = {0: ([2], state(-1, [2])), 1: ([2], state(-1, [2])), 2: ([1], state(1, [1]))}
        cluster = made(live=(1,), topics={topic: states}, controller=1)
        found = leadership.examine(cluster, release.release(cluster, given="2.8.2"))
        question = {q.key: q for q in quiz_questions.questions(QuizIncident(lead=found))}["leaderless"]
        for answer in ("0,1", "0 and 1", f"{topic}-0, {topic}-1", f"[{topic},0] [{topic},1]"):
            assert right(question, answer), quiz.judged(question, answer).why
        assert not right(question, f"{topic}-0, {topic}-2")


@pytest.fixture(scope="module")
def questions() -> dict[str, QuizQuestion]:
    return asked(opened("leader_minus_one"))


class TestConclusions:
    """What is written down in the end."""

    def test_outcomes(self, questions):
        """Right is ok, wrong and given up are for information, as is what is left; one unanswered question says nothing."""
        answers = {"brokers": "1,5", "leaderless": "7", "why": GIVEN_UP}
        judged = [quiz.judged(question, answers.get(key, "")) for key, question in questions.items()]
        found = {finding.check: finding for finding in quiz.findings(judged)}
        assert found["walkthrough.brokers"].status is Status.OK
        assert found["walkthrough.leaderless"].severity is found["walkthrough.why"].severity is Severity.INFO
        assert found["walkthrough.first"].status is Status.NOT_APPLICABLE
        assert found["walkthrough.answers"].title == "1 of 7 questions answered right, 1 wrong, 1 given up, 4 not answered yet"

    @pytest.mark.parametrize(
        ("answers", "title"),
        [({}, "0 of 7 questions answered"), ({"brokers": "1,5"}, "1 of 7 questions answered right, 6 not answered yet")],
        ids=["not begun", "not done"],
    )
    def test_what_is_not_done_is_not_well(self, questions, answers, title):
        """A run that nobody has answered does not count as one in which nothing was found."""
        total = quiz.findings([quiz.judged(question, answers.get(key, "")) for key, question in questions.items()])[-1]
        assert (total.check, total.severity, total.title) == ("walkthrough.answers", Severity.INFO, title)

    def test_an_explanation_is_for_who_has_answered(self, questions):
        """Neither a wrong answer nor a hint tells it."""
        for question in questions.values():
            for answer in ("", "0", "R8", "start", "nonsense"):
                judged = quiz.judged(question, answer)
                if judged.outcome in (AnswerOutcome.WRONG, AnswerOutcome.NOT_ANSWERED):
                    assert question.explanation not in judged.why
            assert not any(question.explanation in hint for hint in question.hints)

    def test_three_hints_each(self, questions):
        assert {len(question.hints) for question in questions.values()} == {3}

    def test_a_wrong_rule_is_told_why(self, questions):
        """In a sentence from the evidence, for each of them."""
        said = [quiz.judged(questions["why"], key).why for key, _ in questions["why"].options if key != "R3"]
        assert len(set(said)) >= len(said) - 1  # R2 and R8 may fail for one reason
        assert "There is a controller: broker 3, and it is alive." in said


@pytest.mark.parametrize(
    "said", ["R3", "r3.", "R 3", "rule R3", "Rule 3", "3", "No member of the ISR is alive, and unclean election is not allowed."]
)
def test_a_rule_by_whatever_it_is_called(said):
    """Its id, with or without what belongs to it, or its words."""
    options = tuple(RULES.items())
    assert quiz_answers.choice(said, options) == "R3"


@pytest.mark.parametrize("said", ["", "R", "33", "R99", "rule"])
def test_what_names_no_rule(said):
    """Is not understood, rather than taken for one."""
    with pytest.raises(quiz_answers.Unclear):
        quiz_answers.choice(said, tuple(RULES.items()))
