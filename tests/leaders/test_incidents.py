"""The incidents happen as their scripts say, and leave cases and the truth behind."""

import json
from datetime import datetime

import pytest

from casebook.case.case import Case
from casebook.errors import RehearsalError
from casebook.rehearsal import INCIDENTS, list_incidents, play


def states(phase):
    return {f"{row.topic}-{row.partition}": (row.state, row.leader, row.isr) for row in phase.partitions}


class TestLeaderMinusOne:
    def test_three_cases(self, leaders_lost):
        """Before, during and after are whole cases."""
        for phase in ("before", "during", "after"):
            assert (leaders_lost.out / phase / "case.json").exists()
            Case.open(leaders_lost.out / phase)

    def test_whom_to_start_first(self, leaders_lost):
        """Broker 5 heals 8 of 11 and then broker 1 the rest; starting each of them first on a copy showed the same."""
        rows = leaders_lost.truth.phases["during"].as_json()["start_first"]
        assert [(row["step"], row["broker"], row["heals"], row["chosen"]) for row in rows] == [
            (1, 1, 4, False),
            (1, 5, 8, True),
            (2, 1, 3, True),
        ]
        assert leaders_lost.truth.verified == [{"broker": 1, "heals": 4}, {"broker": 5, "heals": 8}]

    def test_last_isr_member_with_unclean_election_on(self, leaders_lost):
        """0.9 empties the ISR of a partition that may elect unclean and has nobody left; later releases keep one."""
        isr = states(leaders_lost.truth.phases["during"])["sessions-1"][2]
        assert isr == (() if leaders_lost.kafka == "0.9.0.1" else (5,))

    def test_actions_are_on_record(self, leaders_lost):
        """Each with its time, in order."""
        times = [datetime.fromisoformat(action["at"]) for action in leaders_lost.truth.actions]
        assert times == sorted(times)
        assert all(time.tzinfo for time in times)
        assert "Kill broker 1 (SIGKILL)." in [action["did"] for action in leaders_lost.truth.actions]


class TestControllerDies:
    def test_dead_leaders_stay_named_in_0_9(self, controller_lost):
        """Offline is not always leader -1: 0.9 leaves the state alone when nobody can be elected."""
        expected = ("leader_dead", 1, (1, 4)) if controller_lost.kafka == "0.9.0.1" else ("leaderless", None, (4,))
        assert states(controller_lost.truth.phases["during"])["orders-0"] == expected


class TestPlay:
    def test_healthy(self, tmp_path):
        """One case, and a truth without a dead broker."""
        out = play("healthy", out=tmp_path / "out")
        truth = json.loads((out / "truth.json").read_text())
        assert truth["phases"]["now"]["offline"] == 0
        assert {path.name for path in out.iterdir()} == {"now", "truth.json"}

    def test_unknown_incident(self, tmp_path):
        """The error names those that exist."""
        with pytest.raises(RehearsalError, match="leader-minus-one"):
            play("leader-minus-two", out=tmp_path)

    def test_unknown_version(self, tmp_path):
        """The error names the versions."""
        with pytest.raises(RehearsalError, match=r"3\.9\.2"):
            play("healthy", kafka="4.1.0", out=tmp_path)

    def test_used_folder(self, tmp_path):
        """Nothing of the user's is overwritten."""
        (tmp_path / "mine").write_text("")
        with pytest.raises(RehearsalError, match="not empty"):
            play("healthy", out=tmp_path)

    def test_list(self):
        """By name, each with a story."""
        assert [incident.name for incident in list_incidents()] == sorted(INCIDENTS)
        assert all(incident.story.endswith(".") for incident in list_incidents())
