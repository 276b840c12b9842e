"""What stands aside of an output and decides what it means: a label, a remark with the command, a folder that was entered."""

import pytest

from casebook.collect.pasted import told
from casebook.facts.pasted import Pasted
from casebook.formats.pasted import paste


def read(*lines: str) -> Pasted:
    return paste.read(lines)


def remarks(*lines: str) -> str:
    return "\n".join(told.remarks(read(*lines)))


def is_named(found: Pasted) -> set[int]:
    return {line for part in found.not_understood for line in range(part.span.first, part.span.last + 1)}


class TestOffsets:
    @pytest.mark.parametrize(
        ("label", "which"),
        [
            ("earliest (-2)", "first"),
            ("# earliest:", "first"),
            ("--time -2", "first"),
            ("== log-end ==", "last"),
            ("latest:", "last"),
            ("time=-1", "last"),
        ],
    )
    def test_a_label(self, label, which):
        said = remarks(label, "bills.v2:0:77", "bills.v2:1:")
        assert f"{which} offsets of bills.v2-0 at 77, bills.v2-1 at none" in said
        assert label.strip() in said

    @pytest.mark.parametrize(
        "line", ["", "we see these:", "the first and the last broker are well, I think, but look at what follows"]
    )
    def test_no_label(self, line):
        assert "some offsets of bills-0 at 77" in remarks(line, "bills:0:77")

    def test_each_has_its_own(self):
        said = remarks("$ kafka-get-offsets.sh --topic bills --time -2", "bills:0:7", "latest", "bills:0:9")
        assert "first offsets of bills-0 at 7" in said
        assert "last offsets of bills-0 at 9" in said


class TestSizes:
    @pytest.mark.parametrize(
        ("remark", "size"),
        [("(du -sk)", 24 << 10), ("# du -sb /kafka/bills-*", 24), ("<-- du -sm", 24 << 20), ("^ with du -k", 24 << 10)],
    )
    def test_the_command_in_a_remark_below(self, remark, size):
        found = read("24\t/kafka/bills-0", "12\t/kafka/bills-1", remark)
        assert [(row.path, row.about) for row in found.used] == [("/kafka/bills-0", size), ("/kafka/bills-1", size // 2)]
        assert is_named(found) == set()

    def test_of_the_rows_above_it_only(self):
        assert read("24\t/kafka/bills-0", "", "(du -sk)").used == ()


class TestFolders:
    @pytest.mark.parametrize(
        ("lines", "folder"),
        [
            (("cd /kafka/bills-0", "ls"), "/kafka/bills-0"),
            (("$ cd /kafka", "$ ls bills-0"), "/kafka/bills-0"),
            (("cd /kafka", "cd bills-0/", "ls -l"), "/kafka/bills-0"),
            (("cd /kafka-*/bills-0", "ls"), "bills-0"),
            (("cd /kafka", "cd ..", "ls"), ""),
            (("cd /kafka/bills-0", "broker 2:", "ls"), ""),
        ],
    )
    def test_one_that_was_entered(self, lines, folder):
        names = [f"{7:020}.log", f"{7:020}.index"]
        rows = [f"-rw-r--r-- 1 kafka kafka 9 Jan  1 10:00 {name}" for name in names] if lines[-1].endswith("-l") else names
        found = read(*lines, *rows)
        assert [(row.folder, row.name) for row in found.files] == [(folder, name) for name in names]
        assert is_named(found) == set()


class TestBrokers:
    """Settings of several brokers in one run of lines."""

    ROLES = "process.roles=broker"
    FIRST = ("node.id=1", ROLES, "log.retention.hours=1")
    SECOND = ("node.id=2", ROLES, "log.retention.hours=2")

    @pytest.mark.parametrize("between", [(), ("",), ("# the other one",), ("", "# the other one", "")])
    @pytest.mark.parametrize("turn", [0, 1])
    def test_one_below_the_other(self, between, turn):
        first, second = ((*rows[turn:], *rows[:turn]) for rows in (self.FIRST, self.SECOND))
        found = read(*first, *between, *second)
        own = {row.broker: {line for line in row.lines if "=" in line} for row in found.settings}
        assert own == {1: set(first), 2: set(second)}

    def test_one_that_is_set_twice(self):
        (row,) = read(*self.FIRST, "node.id=1").settings
        assert row.broker == 1

    @pytest.mark.parametrize("place", ["1,3c1,3", ""])
    def test_compared(self, place):
        marked = [f"< {line}" for line in self.FIRST], [f"> {line}" for line in self.SECOND]
        found = read("$ diff a b", *filter(None, [place]), *marked[0], "---", *marked[1])
        own = {row.broker: {line for line in row.lines if line} for row in found.settings}
        assert own == {1: set(self.FIRST), 2: set(self.SECOND)}
        assert is_named(found) == set()

    def test_common_lines_are_of_both(self):
        found = read("< node.id=1", "---", "> node.id=2", f"  {self.ROLES}", "< num.io.threads=8", "---", "> num.io.threads=9")
        own = {row.broker: {line for line in row.lines if line} for row in found.settings}
        assert own == {1: {"node.id=1", self.ROLES, "num.io.threads=8"}, 2: {"node.id=2", self.ROLES, "num.io.threads=9"}}

    def test_side_by_side(self):
        found = read("node.id=1\t\t      |\tnode.id=2", f"{self.ROLES}\t\t\t{self.ROLES}", "num.io.threads=8\t\t\t      <")
        own = {row.broker: {line for line in row.lines if line} for row in found.settings}
        assert own == {1: {"node.id=1", self.ROLES, "num.io.threads=8"}, 2: {"node.id=2", self.ROLES}}

    def test_of_one_broker_without_an_id(self):
        assert read("< num.io.threads=8", "---", "> num.io.threads=9").settings == ()


class TestLeftOut:
    """What a person left out of a line takes nothing else with it."""

    @pytest.mark.parametrize("process", ["Killed process (java)", "Killed process 77 (java)"])
    def test_a_killed_process(self, process):
        (row,) = read(f"Memory cgroup out of memory: {process} total-vm:20kB, anon-rss:10kB").hosts
        assert (row.facts["name"], row.facts["total-vm"], row.facts["anon-rss"]) == ("java", 20, 10)
        assert row.facts["pid"] == (77 if "77" in process else None)

    def test_a_cut_status_of_the_quorum(self):
        assert "ClusterId abcdefghijklmnopqrstuv" in remarks("ClusterId:              abcdefghijklmnopqrstuv", "Le")

    def test_one_aligned_field(self):
        assert "Message Waiting for pod kb-1 to be ready" in remarks("    Message:         Waiting for pod kb-1 to be ready")
        assert read("Message: waiting for pod kb-1 to be ready").told == ()

    @pytest.mark.parametrize("name", ["名前", "Имя", "Name"])
    def test_a_table_of_a_page(self, name):
        said = remarks(f"| {name} | restarts | limit |", "|---|---|---|", "| kb-1 | **14** | `512 MiB` |")
        assert f"{name} kb-1, restarts 14, limit 512 MiB" in said


class TestCheckpoints:
    def test_below_their_command(self):
        said = remarks("$ cat /kafka/bills-0/leader-epoch-checkpoint", "0", "2", "3 0", "8 4711")
        assert "leader-epoch-checkpoint: version 0, 2 entries: epoch 3 from offset 0, epoch 8 from offset 4711" in said

    def test_whole_by_their_own_count(self):
        assert "bills-0 at 9, audit-3 at 12" in remarks("0", "2", "bills 0 9", "audit 3 12")
        assert is_named(read("0", "3", "bills 0 9", "audit 3 12")) == {1, 2, 3, 4}


class TestRows:
    def test_an_average_of_sar_has_no_clock(self):
        head, row = "10:00:01 AM     CPU     %user   %iowait", "Average:        all      5.00     60.00"
        (said,) = (each.text for each in read(head, "10:10:01 AM     all      5.00     60.00", row).hosts)
        assert "Average: CPU all, %user 5.00, %iowait 60.00" in said

    def test_a_command_with_a_message_is_no_log_line(self):
        assert read('$ grep -c "Shrinking ISR" server.log').logs == ()
