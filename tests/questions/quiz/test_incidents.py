"""The walkthrough's incidents of logs, disks and ledgers: each question is judged as the script that played the incident knows it."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from casebook.case.case import Case
from casebook.errors import UsageError
from casebook.kafka import release
from casebook.machine import places
from casebook.notebook.examination import Examination
from casebook.questions.quiz.analysis import answers, quiz
from casebook.questions.quiz.analysis.answers import GIVEN_UP, Unclear
from casebook.questions.quiz.analysis.quiz import AnswerOutcome, QuizQuestion
from casebook.questions.quiz.incidents import INCIDENTS, chosen
from casebook.rehearsal.plays import isr_shrunk_loss
from tests.case_copies import CaseCopy


def asked(incident: str, folder: Path) -> dict[str, QuizQuestion]:
    """The questions of an incident on a case, by key."""
    case = Case.open(folder)
    cluster = case.cluster()
    version = release.release(cluster, logged=case.logged_versions(), configured=case.configured_versions())
    found = Examination(case=case, cluster=cluster, version=version, at=None, progress=lambda *_, **__: lambda *_: None)
    asked = found.quiz(incident)
    assert not {*found.kept.tables} - {"problems"}, "tables would contain the answers"
    return {question.key: question for question in asked.questions}


@cache
def of(incident: str, sample: str) -> dict[str, QuizQuestion]:
    """The questions of an incident on a shipped case."""
    return asked(incident, places.samples_dir() / sample)


def known(sample: str) -> dict:
    """What the script of a sample noted."""
    return json.loads((places.samples_dir() / sample / "expected.json").read_text())


def outcome(question: QuizQuestion, answer: object) -> AnswerOutcome:
    return quiz.judged(question, str(answer)).outcome


def only(question: QuizQuestion, right: object, *wrong: object) -> None:
    """One answer is right; the others are wrong, each with a reason, and none of them says what is right."""
    assert outcome(question, right) is AnswerOutcome.RIGHT, (right, quiz.judged(question, str(right)).why)
    for answer in wrong:
        judged = quiz.judged(question, str(answer))
        assert (judged.outcome, bool(judged.why)) == (AnswerOutcome.WRONG, True), answer
        assert judged.why != question.explanation


def options(question: QuizQuestion) -> list[str]:
    """The options that are right."""
    return [key for key, _ in question.options if outcome(question, key) is AnswerOutcome.RIGHT]


@pytest.mark.parametrize("name", INCIDENTS)
class TestEach:
    @pytest.fixture
    def questions(self, name) -> Mapping[str, QuizQuestion]:
        return of(name, INCIDENTS[name].sample) if name != "leaderless" else of(name, "leader_minus_one")

    def test_five_to_seven_questions(self, name, questions):
        """As many as the notebook has parameters, and all of them arise in the incident's own case."""
        assert 5 <= len(questions) <= 7
        assert all(question.arises for question in questions.values())

    def test_hints_and_explanations(self, name, questions):
        """Three hints each, and a reason for those who give up."""
        for question in questions.values():
            assert len(question.hints) == 3 and all(question.hints), question.key
            judged = quiz.judged(question, GIVEN_UP)
            assert (judged.outcome, judged.why) == (AnswerOutcome.GIVEN_UP, question.explanation)
            assert question.explanation

    def test_nonsense(self, name, questions):
        """It is wrong, and never an error."""
        for question in questions.values():
            assert outcome(question, "banana") is AnswerOutcome.WRONG


class TestCoordinators:
    @pytest.fixture
    def questions(self) -> Mapping[str, QuizQuestion]:
        return of("coordinators", "coordinators_loading")

    def test_group(self, questions):
        """Its partition is where the broker itself put it, and that partition's leader is its coordinator."""
        group = questions["partition"].asks.split("group ")[1].split(" ")[0]
        noted = known("coordinators_loading")
        number = noted["facts"]["coordinators"]["groups"][group]["partition"]
        only(questions["partition"], f"__consumer_offsets-{number}", (number + 1) % 12, f"{number}, {(number + 1) % 12}")
        leaders = {p["partition"]: p["leader"] for p in noted["partitions"] if p["topic"] == "__consumer_offsets"}
        only(questions["coordinator"], f"broker {leaders[number]}", 3, "none")
        assert group in questions["load"].asks and number in noted["findings"]["coordinators.waiting"]["facts"]["partitions"]
        begun = [line for line in noted["facts"]["coordinators"]["loads"][str(leaders[number])] if f",{number}]" in line]
        assert options(questions["load"]) == ["queued"] and len(begun) == 4  # before the restart, and after the capture

    def test_topic(self, questions):
        """All copies are there: the largest one of the listing; no cleaner runs; each partition has one replica."""
        lines = [line for path in (places.samples_dir() / "coordinators_loading").glob("brokers/*/log_dirs.json")
                 for line in path.read_text().splitlines()]  # fmt: skip
        assert lines and options(questions["cleaner"]) == ["C2"]
        for broker in (1, 2, 3):
            assert outcome(questions["together"], broker) is AnswerOutcome.RIGHT
        only(questions["together"], 1, "none", "1, 2", 9)
        assert options(questions["never"]) == ["delete"]

    def test_a_dead_cleaner(self):
        """Which topic killed it, as the script meant it to; both replicas are in sync, so both must be down."""
        questions = of("coordinators", "offsets_bloat")
        noted = known("offsets_bloat")["facts"]["offsets_topic"]
        sizes = {name: size for copy in noted["sizes"].values() for name, size in copy.items()} | noted["sizes"]["1"]
        only(questions["largest"], max(sizes, key=sizes.get), 0, "0, 5")
        assert options(questions["cleaner"]) == [noted["cleaner"]["killed_by"].rpartition("-")[0]]
        only(questions["together"], "1 and 2", 1, 2, "1, 2, 3")
        assert options(questions["load"]) == ["served"]

    def test_three_in_sync(self):
        only(of("coordinators", "restart_all_coordinators")["together"], "1, 2, 3", "1, 2")

    def test_thin_evidence(self, tmp_path):
        """Without one broker's log dirs, the largest copy is unknown; its znodes still say who coordinates."""
        copy = CaseCopy(places.samples_dir() / "coordinators_loading", tmp_path / "case")
        copy.remove("brokers/2/log_dirs.json")
        copy.done()
        questions = asked("coordinators", tmp_path / "case")
        unknown = {key for key in questions if outcome(questions[key], 7) is AnswerOutcome.CANNOT_TELL}
        assert unknown == {"largest", "cleaner", "never"}


class TestAcks1:
    @pytest.fixture
    def questions(self) -> Mapping[str, QuizQuestion]:
        return of("acks1", "acks1_loss")

    @pytest.fixture
    def noted(self) -> dict:
        return known("acks1_loss")["facts"]["acks1_loss"]

    def test_leader(self, questions, noted):
        only(questions["broker"], noted["frozen"], 2, "1, 2", "none")

    def test_window(self, questions, noted):
        """From the election to the truncation, as the script saw them."""
        name = questions["window"].asks.removesuffix("?").split()[-1]
        moved = next(row for row in noted["moved"] if row["partition"] == name)
        begin, end = moved["elected_at"][11:19], moved["truncated_at"][11:19]
        only(questions["window"], f"{begin} to {end}", f"{begin} to 05:22:59", f"05:22:01 - {end}", begin, "soon")
        only(questions["cut"], moved["truncated_to"], moved["truncated_to"] + 1, 0)

    def test_partitions(self, questions, noted):
        topic = questions["moved"].asks.split("topic ")[1].split(" ")[0]
        moved = [row["partition"] for row in noted["moved"] if row["partition"].startswith(f"{topic}-")]
        only(questions["moved"], ", ".join(moved), moved[0], f"{topic}-0, 1, 2", f"{topic}-9", "none")

    def test_lost(self, questions, noted):
        """All of them in such a window; only a second copy would have helped."""
        total = sum(noted["lost"].values())
        only(questions["lost"], total, total - 1, noted["acked"])
        only(questions["inside"], total, 0, total + 1)
        assert options(questions["setting"]) == ["min-isr"]

    @pytest.mark.parametrize(
        ("without", "unknown"),
        [
            ("/ledgers/", {"lost", "inside", "setting"}),
            ("segments", {"lost", "inside", "setting"}),
        ],
    )
    def test_thin_evidence(self, without, unknown, tmp_path):
        """Without ledger or stored records nothing is counted; the windows are still known."""
        questions = asked("acks1", thinner("acks1_loss", without, tmp_path))
        assert {key for key in questions if outcome(questions[key], 7) is AnswerOutcome.CANNOT_TELL} >= unknown
        only(questions["broker"], 1, 2)

    def test_no_past(self, tmp_path):
        """Without history and logs nothing can be judged, and nothing is called wrong."""
        questions = asked("acks1", thinner("acks1_loss", "history", tmp_path, "logs/"))
        windows = ("broker", "window", "moved", "cut")
        assert {outcome(questions[key], 7) for key in windows} == {AnswerOutcome.CANNOT_TELL}


class TestIsrOfOne:
    @pytest.fixture
    def questions(self) -> Mapping[str, QuizQuestion]:
        return of("isr_of_one", "isr_shrunk_loss")

    @pytest.fixture
    def noted(self) -> dict:
        return known("isr_shrunk_loss")["facts"]["isr_shrunk_loss"]

    def test_states(self, questions, noted):
        """As the script watched them."""
        topic = questions["shrunk"].asks.split("topic ")[1].split(" ")[0]
        alone = {row["partition"] for row in noted["states"] if row["partition"].startswith(f"{topic}-") and len(row["isr"]) == 1}
        only(questions["shrunk"], ", ".join(alone), min(alone), f"{topic}-9", "none")
        name = questions["since"].asks.split()[3]
        since = next(row["at"] for row in noted["states"] if row["partition"] == name and len(row["isr"]) == 1)
        only(questions["since"], since[11:19], "05:25:37", "05:25:58", "since 5")

    def test_setting(self, questions):
        """The topic's own, as the script created it."""
        topic = questions["min_isr"].asks.split("topic ")[1].split(" ")[0]
        only(questions["min_isr"], isr_shrunk_loss.SETTINGS[topic]["min.insync.replicas"], 2, 0)
        assert options(questions["origin"]) == ["topic"]
        assert options(questions["setting"]) == ["min-isr"]

    def test_lost(self, questions, noted):
        """What was acknowledged alone and is not stored: the loss of the planned move is another one."""
        kept = noted["acked_alone_and_stored"]
        lost = sum(count - kept.get(name, 0) for name, count in noted["acked_alone"].items())
        only(questions["lost"], lost, sum(noted["lost"].values()), 0)

    def test_stale(self, questions):
        only(questions["stale"], isr_shrunk_loss.FOLLOWER, isr_shrunk_loss.LEADER, "1, 2", "none")

    def test_thin_evidence(self, tmp_path):
        """Without history, past ISRs are unknown."""
        questions = asked("isr_of_one", thinner("isr_shrunk_loss", "history", tmp_path))
        of_past = ("shrunk", "since", "min_isr", "origin", "stale")
        assert {outcome(questions[key], 7) for key in of_past} == {AnswerOutcome.CANNOT_TELL}


def thinner(sample: str, without: str, folder: Path, *more: str) -> Path:
    """A copy of a sample without items whose path has one of these texts."""
    copy = CaseCopy(places.samples_dir() / sample, folder / "case")
    for path in copy.paths:
        if any(text in path for text in (without, *more)):
            copy.remove(path)
    copy.done()
    return folder / "case"


class TestChosen:
    def test_unknown(self):
        with pytest.raises(UsageError, match="Did you mean acks1"):
            chosen("acks_1")

    def test_another_moment(self):
        """Logs and disks are as of collection."""
        assert chosen("leaderless", at="2019-10-12T11:03:42Z").name == "leaderless"
        with pytest.raises(UsageError, match="another moment"):
            chosen("acks1", at="2019-10-12T11:03:42Z")


class TestTimes:
    @pytest.mark.parametrize("text", ["11:03:42", "at 11:03:42 UTC.", "2019-10-12T11:03:42Z", "11:03:42.000"])
    def test_one(self, text):
        assert answers.times(text, 1) == (39_822_000,)

    @pytest.mark.parametrize("text", ["11:03:42 to 11:03:44.5", "from 11:03:42,000 - 11:03:44,500", "11:03:42, 11:03:44.500"])
    def test_two(self, text):
        assert answers.times(text, 2) == (39_822_000, 39_824_500)

    @pytest.mark.parametrize("text", ["11:03", "25:00:00", "11:03:42 or so", "11:03:42 to 11:03:44", "", "1 2 3"])
    def test_what_is_not_understood_is_not_guessed(self, text):
        with pytest.raises(Unclear):
            answers.times(text, 1)
