"""What ends within a word, what a page has folded, and what a name above belongs to."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.collect.pasted import told
from casebook.collect.pasted.secrets import redacted
from casebook.formats.pasted import paste

ROOT = "/srv/kafka/logs"
SIZES = [f"9.1G\t{ROOT}", f"5.2G\t{ROOT}/orders-3", f"77M\t{ROOT}/bills-0"]
LAST = f"12K\t{ROOT}/carts-1"


def remarks(text: str) -> str:
    return "\n".join(told.remarks(paste.read(text.splitlines(keepends=True))))


def hosts(text: str) -> str:
    return "\n".join(row.text for row in paste.read(text.splitlines()).hosts)


class TestCutPaths:
    @pytest.mark.parametrize("end", range(len("12K\t/") + 1, len(LAST)))
    def test_no_fact_of_a_begin(self, end):
        """Wherever the last row is cut: a path is a whole folder of another row, or looks like a partition, or is no fact."""
        found = paste.read(["$ du -h | sort -rh", *SIZES, LAST[:end]])
        last = [row.path for row in found.used if row.span.first == 5]
        above = {ROOT[:at] for at in range(1, len(ROOT) + 1) if ROOT[at : at + 1] in ("/", "")}
        assert all(path.rstrip("/") in above or re.search(r"-\d+$", path) for path in last)
        assert last or LAST[4:end].rstrip("/") in " ".join(part.reason for part in found.not_understood)

    @pytest.mark.parametrize("last", [f"9.1G\t{ROOT}", "9.1G\t/srv", f"4.0K\t{ROOT}/meta.properties", f"12K\t{ROOT}/carts-1"])
    def test_whole_ones(self, last):
        assert len(paste.read(["$ du -h", *SIZES[1:], last]).used) == 3

    @pytest.mark.parametrize(("end", "is_said"), [("", True), ("\n", False), (" ", False)])
    def test_a_paste_without_line_end(self, end, is_said):
        text = "\n".join(["$ du -h", *SIZES, f"{LAST}{end}"])
        assert ("its last word, /srv/kafka/logs/carts-1, may be cut" in remarks(text)) == is_said

    @pytest.mark.parametrize("end", [b"", b"\n"])
    def test_a_case_keeps_the_missing_line_end(self, end):
        assert list(redacted([b"$ ls\r\n", b"a-1" + end])) == [b"$ ls\n", b"a-1" + end]

    def test_a_number_where_json_is_cut(self):
        text = '{"version":1,"brokers":[{"broker":7,"logDirs":[{"logDir":"/d","error":null,"partitions":[{"partition":"a-1","size":41'
        assert any("what stands last, 41, may be cut itself" in part.reason for part in paste.read([text]).not_understood)


POD = """Name:           kb-2
Namespace:      msg
Containers:
  broker:
    Image:      an/image:1
    Command:
      sh
      -c
      export A=1 && \\
export B=2 && \\
/run/it

    Requests:
      cpu:     70m
    Liveness:  tcp-socket :9092 delay=3s
Volumes:
  data:
    Type:  EmptyDir"""


class TestPods:
    def test_each_line_is_its_containers(self):
        rows = hosts(POD).splitlines()
        own = next(row for row in rows if row.startswith("container broker of pod kb-2 also has"))
        assert all(word in own for word in ("an/image:1", "export B=2", "/run/it", "cpu: 70m", "tcp-socket :9092 delay=3s"))
        assert "EmptyDir" not in own
        assert "EmptyDir" in next(row for row in rows if row.startswith("pod kb-2 also has"))

    @pytest.mark.parametrize("at", range(2, len(POD.splitlines())))
    def test_whose_it_is_after_a_foreign_line(self, at):
        """What stands between does not matter: what follows is of the pod whose name stands above."""
        lines = POD.splitlines()
        assert "whose name was not pasted" not in hosts("\n".join([*lines[:at], "", "", "so far so good", "", *lines[at:]]))

    def test_not_beyond_the_next_command(self):
        found = hosts(f"{POD}\n\n$ kubectl top nodes\n\n    Requests:\n      cpu:     9m\n      memory:  4Gi")
        assert "cpu: 9m" not in "".join(row for row in found.splitlines() if "pod kb-2" in row)


BATCH = (
    "| offset: 4 CreateTime: 1700000000000 keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] controlType: LEADER_CHANGE(2)",
    '| offset: 5 CreateTime: 1700000000000 keySize: 4 valueSize: 9 sequence: -1 headerKeys: [] KRaftVoters {"version":0}',
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(("sequence:", "headerKeys:", "keySize:", "valueSize:", "{")), unique=True))
def test_folded_rows_of_a_dump(words):
    """A row says the same wherever it is folded."""
    text = "\n".join(("Dumping d/00000000000000000004.log", "Log starting offset: 4", *BATCH))
    folded = text
    for word in words:
        folded = folded.replace(f" {word}", f"\n{word}")
    assert remarks(folded + "\n") == remarks(text + "\n")


def test_states_of_cruise_control_on_one_line():
    text = (
        "{MonitorState: {state: RUNNING(5.000% trained), flawedPartitions: 7}, ExecutorState: {state: IDLE}, "
        "AnalyzerState: {isProposalReady: false, ReadyGoals: []}}\n\nMonitored Windows:\n{}\n\nGoal Readiness:\n"
        "   RackAwareGoal, (requiredNumSnapshots=1, includedAllTopics=true), NotReady\n"
    )
    assert set(hosts(text).splitlines()) == {
        "MonitorState: {state: RUNNING(5.000% trained), flawedPartitions: 7}",
        "ExecutorState: {state: IDLE}",
        "AnalyzerState: {isProposalReady: false, ReadyGoals: []}",
        "it has no monitored windows",
    }
    assert "RackAwareGoal, (requiredNumSnapshots=1, includedAllTopics=true), NotReady" in remarks(text)


@pytest.mark.parametrize("aside", ["-stray", "-delete", "-future"])
def test_folders_set_aside_without_an_id(aside):
    row = f"drwxr-xr-x 2 ops ops 4096 May 6 07:08 carts-1{aside}"
    assert [file.name for file in paste.read(["$ ls -l /srv/logs", row]).files] == [f"carts-1{aside}"]


def test_threads_by_their_ids():
    lines = [
        f'"pool-{at}" prio=5 Id={at} BLOCKED on a.B@1f owned by "reaper" Id=47\n'
        " at app//a.B.get(B.java:1)\n -  blocked on a.B@1f at app//a.B.get(B.java:2)\n"
        for at in (21, 22)
    ]
    said = hosts("\n".join(lines))
    assert "2 threads" in said
    assert all(f"pool-{at} (Id {at}, in a.B.get (B.java:1)" in said for at in (21, 22))
    assert "owned by reaper, Id 47" in said


def test_the_killer_without_a_kill():
    """The kernel names who asked, and for what: an order of pages may be missing while memory is left."""
    said = hosts("May  6 07:08:09 kb9 kernel: java invoked oom-killer: gfp_mask=0x1, order=3, oom_score_adj=-5")
    assert "java invoked the oom-killer" in said
    assert all(word in said for word in ("order=3", "oom_score_adj=-5", "whether a process was killed, this line does not say"))


@pytest.mark.parametrize("tool", ["kafka-topics.sh --describe", "kafka-console-consumer --from-beginning", "kafka-acls --list"])
def test_a_sentence_about_a_tool(tool):
    """It is no command: nobody typed it, and nothing below it is an answer of that tool."""
    assert "What was typed" not in remarks(f"{tool} shows what the brokers have stored, which is not what we see here.\n")


def test_a_sentence_after_an_output():
    texts = ["$ kafka-console-consumer.sh --topic a", "", "After we had moved to the other brokers the problems were over."]
    assert not any("kafka-console-consumer" in part.reason for part in paste.read(texts).not_understood)


def test_names_in_capitals_within_a_file():
    lines = ["broker.id=-1", "log.dirs=/d", "SOME_NAME=a", "OTHER.NAME=b", "num.partitions=3"]
    found = paste.read(lines)
    assert [row.lines for row in found.settings] == [tuple(lines)]
    assert "its id is generated" in found.hosts[0].settle
