"""What an output does not print is told too: an empty answer, an empty column, a part that was left out, a row that goes on."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.collect.pasted import told
from casebook.facts.pasted import MoveState, Pasted
from casebook.formats.pasted import paste
from casebook.formats.pasted.tools.silent import _NONE
from tests.ends import ends

PROMPTS = ("$", "#", "kafka@n4:~$", "[root@n4 kafka]#", "PS C:\\kafka>", "n4%")
CHATTER = ('Defaulted container "broker" out of: broker, metrics', "Picked up JAVA_TOOL_OPTIONS: -Xmx256m", "")
SILENT = "the command printed nothing"


def read(*lines: str) -> Pasted:
    return paste.read(lines)


def remarks(*lines: str) -> str:
    return "\n".join(told.remarks(read(*lines)))


class TestSilence:
    @settings(max_examples=60)
    @given(
        st.sampled_from(_NONE),
        st.sampled_from(PROMPTS),
        st.sampled_from(CHATTER),
        st.sampled_from((".sh", "", ".bat")),
        st.booleans(),
    )
    def test_the_next_prompt_is_the_answer(self, row, prompt, chatter, ending, is_last):
        """The same prompt right below proves that there was none, and its end, where a command stands there, is not needed."""
        tool, option, says = row
        lines = [f"{prompt} bin/{tool}{ending} --bootstrap-server n4:9092 {option}", *filter(None, [chatter])]
        lines += [prompt] if is_last else [f"{prompt} date", "Mon Mar  4 10:11:12 UTC 2024"]
        assert f"Line 1, {tool}: {says} ({SILENT})." in remarks(*lines)

    @pytest.mark.parametrize(
        "lines",
        [
            ["$ kafka-topics.sh --describe --unavailable-partitions"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", ""],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "$ date"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "", "$ date", "Mon Mar  4 10:11:12 UTC 2024"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "$ date", "", "Mon Mar  4 10:11:12 UTC 2024"],
            ["kafka-topics.sh --describe --unavailable-partitions", "kafka-topics.sh --describe --topic x"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "a@n4$ date", "Mon Mar  4 10:11:12 UTC 2024"],
            ["$ kafka-topics.sh --describe --unavailable-partitions > x.txt", "$"],
            ["$ kafka-topics.sh --describe --unavailable-partitions | grep bills", "$"],
            ["$ kafka-topics.sh --describe --unavailable-partitions 2>/dev/null", "$"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "it hangs", "$"],
            ["$ kafka-topics.sh --describe --unavailable-partitions", "OpenJDK 64-Bit Server VM warning: mmap failed", "$"],
            ["$ kafka-topics.sh --describe --topic bills", "$"],
        ],
    )
    def test_no_proof(self, lines):
        """A cut end, a block of commands, another prompt or a filter leave open what was printed."""
        assert SILENT not in remarks(*lines)

    def test_decoration_is_no_output(self):
        assert read("$ kafka-topics --list", *filter(None, CHATTER), "$").not_understood == ()

    def test_whose(self):
        said = remarks("$ kafka-topics --describe --topic bills --under-replicated-partitions", "$ kafka-topics --list", "$")
        assert f"no partition is under-replicated, asked for topic bills ({SILENT})" in said
        assert f"there is no topic ({SILENT})" in said


class TestRowsThatGoOn:
    HEAD = "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT"
    WHOLE = "bills(0,1,12), bills.dead-letters(3), taxes_eu(0,7)"

    @given(st.sets(st.integers(1, len(WHOLE) - 1), min_size=1, max_size=3))
    def test_an_assignment_is_broken_anywhere(self, places):
        """As many partitions as the row counts are named on it and the lines below, wherever a screen or a mail broke it."""
        edges = [0, *sorted(places), len(self.WHOLE)]
        parts = [self.WHOLE[begin:end].strip() for begin, end in itertools.pairwise(edges)]
        rest = [part for part in parts[1:] if part]
        lines = [self.HEAD, f"pay c-1 /10.3.0.4 c 6 {parts[0]}", *rest, "pay c-2 /10.3.0.5 c 1 bills(2)"]
        first, second = read(*lines).members
        assert set(first.assigned) == {
            ("bills", 0), ("bills", 1), ("bills", 12), ("bills.dead-letters", 3), ("taxes_eu", 0), ("taxes_eu", 7),
        }  # fmt: skip
        assert (second.member, second.assigned) == ("c-2", (("bills", 2),))

    @pytest.mark.parametrize("row", ["3 bills(0,1)", "2 bills(0,1)", "0 -"])
    def test_what_follows_is_no_rest(self, row):
        """A line that does not name just the missing partitions stays where it is."""
        found = read(self.HEAD, f"pay c-1 /10.3.0.4 c {row}", "taxes(4,5)")
        assert [member.span.last for member in found.members] == [2]

    def test_a_count_alone_has_no_rest(self):
        found = read(self.HEAD.removesuffix(" ASSIGNMENT"), "pay c-1 /10.3.0.4 c 3", "(cut here)")
        assert [(member.partitions, member.span.last) for member in found.members] == [(3, 2)]

    def test_a_part_is_no_assignment(self):
        """Of a member with more partitions than are named the assignment is unknown; what is named is told."""
        lines = self.HEAD, "pay c-1 /10.3.0.4 c 3 bills(0,1)", ""
        assert [(member.partitions, member.assigned) for member in read(*lines).members] == [(3, None)]
        assert "of its 3 partitions 2 are named: bills-0, bills-1" in remarks(*lines)

    @pytest.mark.parametrize("option", ["--unavailable-partitions", "--describe", "--under-min-isr-partitions", "--topic bills"])
    def test_an_option_is_broken_anywhere(self, option):
        name, _, value = option.partition(" ")
        for place in range(3, len(name)):
            lines = f"bin/kafka-topics.sh --bootstrap-server n4:9092 {name[:place]}", f"{name[place:]} {value}".strip()
            (typed,) = read(*lines).beside
            assert typed.text == f"bin/kafka-topics.sh --bootstrap-server n4:9092 {option}"

    @pytest.mark.parametrize("below", ["ns", "bills", "s"])
    def test_a_name_below_a_whole_command(self, below):
        assert below not in read("kafka-topics.sh --bootstrap-server n4:9092 --list", below).beside[0].text.split()

    def test_bounded(self):
        """Each row is tried with a few lines, whatever they are."""
        row = "pay c-1 /10.3.0.4 c 99999 " + "t(1)," * 800
        with ends():
            read(*[self.HEAD, row, *["t(1)," * 80] * 20] * 60)


class TestEmpty:
    @pytest.mark.parametrize(("strategy", "is_told"), [("", True), ("range", False)])
    def test_a_strategy(self, strategy, is_told):
        said = remarks(
            "GROUP  COORDINATOR (ID)  ASSIGNMENT-STRATEGY  STATE  #MEMBERS", f"pay  n4:9092 (4)  {strategy}  Stable  3"
        )
        assert ("no assignment strategy is printed" in said) is is_told
        assert "Stable, 3 members" in said

    def test_whose_offsets(self):
        """Two groups with the same partition: each remark names its own."""
        head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
        said = remarks(head, "pay bills 0 - 9 - - - -", "book bills 0 3 9 6 - - -", "pay bills 1 - 9 - - - -")
        assert "no committed offset (-) is printed for bills-0, bills-1 of group pay." in said
        assert "no consumer (-) is printed for bills-0 of group book." in said

    @pytest.mark.parametrize(("rack", "says"), [("null", "no rack"), ("north", "rack north"), ("nullabor", "rack nullabor")])
    def test_a_rack(self, rack, says):
        assert f"4 at n4:9092 ({says})" in remarks(f"n4:9092 (id: 4 rack: {rack}) -> (", "\tProduce(0): 0 to 9 [usable: 9]", ")")

    @pytest.mark.parametrize(("below", "is_told"), [("  ...", True), ("", False), ("$ date", False)])
    def test_settings_that_were_left_out(self, below, is_told):
        entry = "a.ms=5 sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:a.ms=5, DEFAULT_CONFIG:a.ms=7}"
        said = remarks("All configs for group pay are:", f"  {entry}", below)
        assert "a.ms=5 (DYNAMIC_GROUP_CONFIG:a.ms=5, DEFAULT_CONFIG:a.ms=7)" in said
        assert ("others that were left out" in said) is is_told


class TestMoves:
    @pytest.mark.parametrize(
        ("line", "state"),
        [
            ("Reassignment of partition bills-3 is complete.", MoveState.COMPLETE),
            ("Reassignment of partition bills-3 completed successfully", MoveState.COMPLETE),
            ("Reassignment of partition bills-3 is still in progress.", MoveState.UNDER_WAY),
            ("Reassignment of partition bills-3 failed", MoveState.FAILED),
            (
                "There is no active reassignment of partition bills-3, but replica set is 1,2 rather than 2,3.",
                MoveState.NOT_ACTIVE,
            ),
            (
                "ERROR: Assigned replicas (1,2) don't match the list of replicas for reassignment (2,3) for partition bills-3",
                MoveState.FAILED,
            ),
        ],
    )
    def test_each_says_its_own(self, line, state):
        assert [move.state for move in read(line).moves] == [state]

    @pytest.mark.parametrize(
        ("below", "is_before"),
        [
            ("Save this to use as the --reassignment-json-file option during rollback", True),
            ("Successfully started partition reassignment for bills-3", True),
            ("", False),
        ],
    )
    def test_an_assignment_alone(self, below, is_before):
        """Only text of ``--execute`` proves that a move was started; log dirs are told in any case."""
        plan = (
            '{"version":1,"partitions":[{"topic":"bills","partition":3,"replicas":[4,2],"log_dirs":["/d1/kafka","/d7/kafka"]}]}'
        )
        said = remarks("Current partition replica assignment", plan, "", below)
        assert ("before the reassignment was started: bills-3 on 4,2" in said) is is_before
        assert '"/d1/kafka","/d7/kafka"' in said
        assert "not kept" not in said


class TestAround:
    def test_what_numbers_a_row_stays_with_it(self):
        """Lists of a client: each row's number stands before its names with values."""
        rows = [f"  Part {number} - head: {number + 4}, copies: [{number + 4}, 9], live: [9]" for number in range(3)]
        said = remarks("`Topic: bills with 3 partitions", *rows)
        assert "Topic bills with 3 partitions" in said
        for number in range(3):
            assert f"Part {number}: head {number + 4}, copies [{number + 4}, 9], live [9]" in said
        assert "not kept" not in said

    def test_an_added_line(self):
        """One run of values, also where a comparison marks one of them."""
        said = remarks("Response of zoo at port 2345:", "zk_server_state\tleader", "+zk_quorum_size\t5", "zk_znode_count\t77")
        assert "server_state leader, quorum_size 5, znode_count 77" in said
        assert "Response of zoo at port 2345:" in said
        assert "not kept" not in said

    @pytest.mark.parametrize(
        "answer",
        [
            r'["{\"host\":\"n4\",\"port\":9092,\"jmx_port\":-1}", #<Zookeeper::Stat:0x01 @czxid=7, @ctime=1700000000000>]',
            """(b'{"host":"n4","port":9092,"jmx_port":-1}', ZnodeStat(czxid=7, ctime=1700000000000))""",
        ],
    )
    def test_a_client_in_another_language(self, answer):
        """The data is a string of that language, the path stands in the call above."""
        (znode,) = read("zk.get('/brokers/ids/4')", answer).znodes
        assert (znode.path, znode.data) == ("/brokers/ids/4", '{"host":"n4","port":9092,"jmx_port":-1}')
        assert (znode.stat.czxid, znode.stat.ctime) == (7, 1700000000000)
        assert "zk.get('/brokers/ids/4')" in remarks("zk.get('/brokers/ids/4')", answer)
