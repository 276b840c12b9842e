"""What the walkthrough shows of a term is what really happened: what the rehearsal wrote down while it acted."""

import json
from datetime import datetime

import pytest

from casebook.case.case import Case
from casebook.errors import UsageError
from casebook.machine import places
from casebook.questions.quiz import incidents, walkthrough
from casebook.rehearsal.plays import offsets_bloat


def facts(sample: str, area: str) -> dict:
    """What the script of a sample noted."""
    return json.loads((places.samples_dir() / sample / "expected.json").read_text())["facts"][area]


class TestLessons:
    @pytest.mark.parametrize("name", walkthrough.LESSONS)
    def test_each_has_its_evidence(self, name):
        """A table, and something that was read: znodes, lines or transactions."""
        seen = walkthrough.lesson(name)
        assert seen.rows and all(len(row) == len(seen.columns) for row in seen.rows)
        assert any(seen.evidence)
        assert str(places.checkout()) not in repr(seen.rows)

    @pytest.mark.parametrize(
        ("name", "sample", "partition"), [("isr", "acks1_loss", "payments-0"), ("isr_elsewhere", "isr_shrunk_loss", "clicks-0")]
    )
    def test_leader_and_isr(self, name, sample, partition):
        """Every state that ZooKeeper ever held of that partition, with the leaders that the script saw."""
        noted = [row for row in facts(sample, sample)["states"] if row["partition"] == partition]
        rows = walkthrough.lesson(name).rows
        assert [(row[1], row[2], row[3]) for row in rows] == [
            (row["leader"], ", ".join(map(str, row["isr"])), row["leader_epoch"]) for row in noted
        ]
        assert [row[0][:8] for row in rows] == [f"{datetime.fromisoformat(row['at']):%H:%M:%S}" for row in noted]

    def test_what_the_notebook_asks_is_answered(self):
        """From the evidence, as the scripts noted it: the assignment, who took over with which epoch, which topic killed the cleaner."""
        cluster = Case.open(places.samples_dir() / "acks1_loss").cluster()
        replicas = next(p.replicas for p in cluster.partitions if (p.topic, p.partition) == ("payments", 0))
        assert f": {', '.join(map(str, replicas))}. Broker {replicas[0]} is" in walkthrough.lesson("partition").answer
        moved = next(row for row in facts("acks1_loss", "acks1_loss")["moved"] if row["partition"] == "payments-0")
        isr = walkthrough.lesson("isr").answer
        assert f"Broker {moved['new_leader']} took over" in isr
        assert isr.count("raised the leader epoch from 0 to 1") == 1 and "which left the leader epoch at 1" in isr
        assert walkthrough.lesson("cleaner").answer.startswith("-".join(map(str, offsets_bloat.KILLER)))
        assert walkthrough.lesson("coordinator").answer == ""

    def test_high_watermark(self):
        """Cut where the script saw that it was cut, by the leader of before."""
        moved = next(row for row in facts("acks1_loss", "acks1_loss")["moved"] if row["partition"] == "payments-0")
        seen = walkthrough.lesson("high_watermark")
        assert seen.takeaway.startswith(
            f"Broker {moved['old_leader']}, the previous leader, truncated payments-0 to {moved['truncated_to']}"
        )
        assert seen.evidence[1][0].text.endswith(f"to offset {moved['truncated_to']}. (kafka.log.Log)")

    def test_what_the_cut_took(self):
        """The table shows it: kept below, cut off from there on, and what is gone is what the script found nowhere."""
        noted = facts("acks1_loss", "acks1_loss")
        cut = next(row for row in noted["moved"] if row["partition"] == "payments-0")["truncated_to"]
        seen = walkthrough.lesson("high_watermark")
        assert f" {noted['lost']['payments-0']} acknowledged records are lost" in seen.takeaway
        single = [row for row in seen.rows if isinstance(row[0], int)]
        assert {row[0] for row in single} > {cut - 1, cut}
        assert [row[1] for row in single] == ["kept" if row[0] < cut else "cut off" for row in single]
        gone = {row[0]: row[3] for row in single if row[3] != "–"}
        (between,) = (row for row in seen.rows if row not in single)
        assert between[0] == f"{cut + 2} to {max(gone) - 1}"
        assert int(between[3].split()[0]) == noted["lost"]["payments-0"] - len(gone)
        assert min(gone) == cut and set(gone.values()) <= set(noted["lost_ids"])
        assert not {row[2] for row in seen.rows} & set(noted["lost_ids"])

    def test_coordinator(self):
        """Groups lie where Kafka's rule puts them, with the leader of that partition; the load began and ended."""
        noted = json.loads((places.samples_dir() / "restart_all_coordinators" / "expected.json").read_text())
        leaders = {f"{p['topic']}-{p['partition']}": p["leader"] for p in noted["partitions"]}
        seen = walkthrough.lesson("coordinator")
        assert {row[3]: row[4] for row in seen.rows}.items() <= leaders.items()
        assert {row[3] for row in seen.rows} == {f"__consumer_offsets-{abs(row[1]) % 6}" for row in seen.rows}
        assert ["Finished loading" in line.text for line in seen.evidence[1]] == [False, True]

    def test_acknowledged(self):
        """As many as the script counted."""
        noted = facts("isr_shrunk_loss", "isr_shrunk_loss")
        rows = walkthrough.lesson("acks").rows
        assert (sum(row[2] for row in rows), sum(row[3] for row in rows)) == (noted["acked"], noted["failed"])

    def test_min_isr(self):
        """As the script created the topics; the default of the release is 1."""
        assert {row[0]: row[1] for row in walkthrough.lesson("min_isr").rows} == {"clicks": "1", "invoices": "2", "payments": "1"}

    @pytest.mark.parametrize("incident", incidents.INCIDENTS.values(), ids=incidents.INCIDENTS)
    def test_no_lesson_solves_its_incident(self, incident):
        """Each incident has lessons, and what they show of what was asked comes from another case."""
        seen = walkthrough.lessons(incident)
        assert seen and not {lesson.source for lesson in seen if lesson.name != "partition"} & {incident.source}

    def test_cleaner(self):
        """The line with which it died, with the topic that killed it in the lines behind."""
        noted = facts("offsets_bloat", "offsets_topic")["cleaner"]
        line = walkthrough.lesson("cleaner").evidence[1][0]
        assert line.text == noted["died"]
        assert noted["killed_by"] in "".join(line.after)

    def test_unknown(self):
        with pytest.raises(UsageError, match="Did you mean cleaner"):
            walkthrough.lesson("cleaners")
