"""What hosts and operators' tools print becomes rows that notebooks read, or remarks with their lines."""

import re
from pathlib import Path

from casebook.facts.pasted import PASTED
from casebook.findings.finding import Severity, Status
from casebook.kafka import release
from casebook.kafka.settings import BUILT_IN_ASSUMED, SERVER_PROPERTIES, Settings
from casebook.questions.offsets_topic.analysis import offsets_topic
from casebook.questions.triage.analysis import next_paste

FOLDER = Path(__file__).parents[1] / "formats" / "pasted_hosts"
FILES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
WITHOUT_CLEANER = re.sub(r'"kafka-log-cleaner-thread-0".*?\n\n', "", FILES["jstack"], flags=re.DOTALL).replace(
    "length=56", "length=55"
)
PASTED_SETTINGS = f"ls /config/brokers\n[]\nls /config/topics\n[]\n\n{FILES['properties']}"
CLEANED = "broker.id=1\nlog.cleaner.enable=true\n\n"
OFFSETS = (
    "broker 1:\n$ ls -l --time-style=full-iso /data/__consumer_offsets-3\n"
    "-rw-r--r-- 1 k k 2147483648 2026-11-26 10:00:00.000000000 +0000 00000000000000000000.log\n\n"
)


def hosts(made):
    cluster = made.cluster()
    found = next_paste.checks(made.pasted(), cluster, release.release(cluster))
    return next((f for f in found if f.check == "evidence.hosts"), None)


class TestFinding:
    def test_trouble_comes_first_with_its_line(self, case):
        """A disk that is full is told in every notebook, and proven by the line of the paste."""
        made = case(FILES["df"])
        found = hosts(made)
        assert (found.status, found.severity, found.facts["bad"]) == (Status.FINDING, Severity.WARNING, 2)
        proof = found.evidence[0]
        assert (proof.file, made.line(proof.label).split()[0]) == (PASTED, "/dev/mapper/vg_kafka-lv_data")
        assert found.facts["told"][0]["text"].startswith("/data (/dev/mapper/vg_kafka-lv_data) is 100% full of space")
        assert "is unknown" in found.caveats[0]

    def test_without_trouble_nothing_is_called_well(self, case):
        found = hosts(case(FILES["jmxtool_table"]))
        assert (found.status, found.severity) == (Status.FINDING, Severity.INFO)

    def test_without_hosts_it_is_not_asked(self, case):
        assert hosts(case("ls /brokers/ids\n[1]")) is None
        assert hosts(case("<!DOCTYPE html>\n<body>brokers</body>\n")) is None

    def test_what_answers_no_check_is_told_all_the_same(self, case):
        """Settings of a broker that nothing names, and the tables that hosts print."""
        found = hosts(case("min.insync.replicas=2\nunclean.leader.election.enable=false\nlog.retention.hours=24\n"))
        assert "min.insync.replicas=2" in found.facts["told"][0]["text"]
        told = hosts(case(FILES["named"])).facts["told"]
        assert "top" in {one["kind"] for one in told}
        assert any("load average" in one["text"] for one in told)


class TestRemarks:
    def test_each_statement_is_a_remark(self, case):
        remarks = case(FILES["pods"]).cluster().remarks
        assert (
            f"{PASTED}:4 (kubectl): pod broker-1: 0/1 ready, CrashLoopBackOff, 361 restarts, the last 4m8s ago, age 32h."
            in remarks
        )

    def test_what_answers_nothing_says_what_to_paste(self, case):
        reasons = {p.path: p.reason for p in case(FILES["named"]).could_not_collect}
        assert reasons[f"{PASTED}:2"].startswith("top: no check uses top; it printed top - 10:00:00")
        assert "paste instead: dmesg" in reasons[f"{PASTED}:2"]

    def test_folders(self, case):
        remarks = "\n".join(case(FILES["listings"], FILES["dir"]).remarks)
        assert "(du of broker 3): /data/__consumer_offsets-3 takes 100G (rounded) on disk." in remarks
        assert (
            "/data/orders-0 holds 1 segment (.log), 1073741620 bytes in all (modified, as printed: 00000000000000000000.log Mar  2 10:02)."
            in remarks
        )
        assert "/data/orders-4 holds 1 segment (.log), their sizes rounded or not printed; 2 other files of segments." in remarks
        assert "C:/kafka-logs/test-0 holds 1 segment (.log), 15204 bytes in all (modified, " in remarks

    def test_many(self, case):
        """Trouble is not crowded out, and the rest is counted."""
        rows = [f"pod-{n}   1/1   Running   0   3d" for n in range(500)]
        made = case("\n".join([*rows, "broken   0/1   Pending   0   3d"]))
        assert len(made.remarks) < 90
        assert any("pod broken: 0/1 ready, Pending" in remark for remark in made.remarks)
        assert any("421 more statements" in remark for remark in made.remarks)


class TestListings:
    def test_of_windows(self, case):
        """Exact sizes make a log dir; nobody opens its place here."""
        (log_dir,) = case("broker 4:", FILES["dir"].split("\n\n Verzeichnis")[0]).log_dirs()
        (replica,) = log_dir.replicas
        assert (replica.topic, replica.partition, replica.segments[0].bytes, replica.segments[0].modified) == (
            "test",
            0,
            15204,
            None,
        )

    def test_names_alone(self, case):
        made = case("broker 4:", "$ ls /data/orders-4", "00000000000000000000.log")
        assert made.log_dirs() == ()
        assert any("their sizes were not pasted; paste ls -l" in p.reason for p in made.could_not_collect)


class TestSettings:
    def test_an_excerpt(self, case):
        """What was pasted counts, its line proves it; what was not is no default for certain."""
        made = case(PASTED_SETTINGS)
        cluster = made.cluster()
        assert cluster.server_properties[2]["min.insync.replicas"] == "2"
        assert cluster.excerpts == {2}
        found = Settings(cluster, release.release(cluster).version)
        assert found.of_broker("min.insync.replicas", 2).origin == SERVER_PROPERTIES
        assert found.of_broker("default.replication.factor", 2).origin == BUILT_IN_ASSUMED
        assert "brokers/2/server.properties" in {p.path for p in made.could_not_collect}
        line = PASTED_SETTINGS.splitlines().index("min.insync.replicas = 2") + 1
        assert made.line(f"brokers/2/server.properties:{line}") == made.line(f"{PASTED}:{line}") == "min.insync.replicas = 2"

    def test_a_file_that_was_given_counts(self, case, tmp_path):
        (tmp_path / "server.properties").write_text("broker.id=2\nmin.insync.replicas=1\n")
        made = case(FILES["properties"], properties={2: tmp_path / "server.properties"})
        assert made.cluster().server_properties[2]["min.insync.replicas"] == "1"
        assert made.cluster().excerpts == frozenset()

    def test_no_secret(self, case):
        made = case("broker.id=2\nlog.dirs=/d\nssl.keystore.password=hunter2-Xyzzy\n")
        held = b"".join(path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
        assert b"hunter2-Xyzzy" not in held
        assert made.cluster().server_properties[2]["log.dirs"] == "/d"

    def test_of_nobody(self, case):
        made = case("log.dirs=/d\nmin.insync.replicas=2\n")
        assert made.cluster().server_properties == {}
        assert any('such as "broker 3:"' in p.reason for p in made.could_not_collect)


class TestPartitions:
    def test_of_cruise_control(self, case):
        """They are told as kafka-topics tells them: no epochs."""
        partitions = {p.name: p for p in case(FILES["cruise_control"]).cluster().partitions}
        assert partitions["orders-1"].state.leader is None
        assert partitions["orders-1"].state.leader_epoch is None
        assert (partitions["orders-2"].replicas, partitions["orders-2"].state.isr) == ((4, 5), (4,))


def cleaner(made):
    cluster = made.cluster()
    return offsets_topic.examine(cluster, release.release(cluster), log_dirs=made.log_dirs(), dumps=made.pasted().dumps)


class TestThreads:
    def test_no_cleaner_in_a_whole_dump(self, case):
        """It is why the offsets topic grows, with the line of the dump; where nobody has read whether it is on, no more than an if."""
        made = case(CLEANED, OFFSETS, WITHOUT_CLEANER)
        (verdict,) = cleaner(made).verdicts.values()
        assert (verdict.rule, made.line(verdict.proof)) == ("C3", "2026-11-26 19:26:09")
        unread = cleaner(case(OFFSETS, WITHOUT_CLEANER))
        assert [one.rule for one in unread.verdicts.values()] != ["C3"]
        assert "log.cleaner.enable is false; that setting was not collected" in unread.cleaners[0].doubt

    def test_a_cleaner_that_lived(self, case):
        (verdict,) = cleaner(case(CLEANED, OFFSETS, FILES["jstack"])).verdicts.values()
        assert verdict.rule != "C3"
        (one,) = cleaner(case(CLEANED, OFFSETS, FILES["jstack"])).cleaners
        assert "1 cleaner thread is alive" in one.doubt

    def test_a_cut_dump_says_nothing(self, case):
        (verdict,) = cleaner(case(CLEANED, OFFSETS, WITHOUT_CLEANER.partition("JNI")[0])).verdicts.values()
        assert verdict.rule != "C3"

    def test_of_another_broker(self, case):
        """A dump is its own broker's, whatever stands above it."""
        other = OFFSETS.replace("broker 1:", "broker 9:")
        (verdict,) = cleaner(case(CLEANED.replace("id=1", "id=9"), other, WITHOUT_CLEANER)).verdicts.values()
        assert verdict.rule != "C3"


class TestKernel:
    def test_its_lines_are_a_hosts(self, case):
        """Of a host whose broker is named, apart from what the broker logs; each at its line of the paste."""
        made = case(FILES["kernel"])
        path = "clients/host-of-broker-3/logs/pasted.log"
        assert "Killed process 1234 (java)" in made.line(f"{path}:8")
        assert not any(item.startswith("brokers/") for item in made.items)
        assert made.unknown_clients(()) == ()
