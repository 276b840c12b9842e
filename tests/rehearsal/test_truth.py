"""Counting whom to start first from what a script wrote down."""

from casebook.rehearsal.truth import deleting, kept, lost, start_first, well


class TestStartFirst:
    def test_most_healed_first(self):
        """Each step has a row for every broker still dead; partitions that wait for either count once."""
        rows = (
            lost("t-0", (1,), isr=(1,), why=""),
            lost("t-1", (2,), isr=(2,), why=""),
            lost("t-2", (2,), isr=(2,), why=""),
            lost("t-3", (1, 2), isr=(1, 2), why=""),
            kept("t-4", (3, 1), leader=3, isr=(3,), why=""),
            deleting("t-5", (1,), why=""),
        )
        assert [tuple(row.values()) for row in start_first(rows, (1, 2))] == [
            (1, 1, 2, False, 2),
            (1, 2, 3, True, 1),
            (2, 1, 1, True, 0),
        ]

    def test_lowest_id_on_a_tie(self):
        """As many either way: the first of them."""
        rows = (lost("t-0", (2,), isr=(2,), why=""), lost("t-1", (1,), isr=(1,), why=""))
        assert next(row["broker"] for row in start_first(rows, (2, 1)) if row["chosen"]) == 1


class TestExpected:
    def test_topic_names_with_dashes(self):
        """The partition is what stands behind the last one."""
        row = well("a-b-7", (2, 1))
        assert (row.topic, row.partition, row.leader, row.isr) == ("a-b", 7, 2, (1, 2))

    def test_min_isr_is_a_question_of_online_partitions(self):
        """Nobody writes to the others."""
        assert kept("t-0", (1, 2), leader=1, isr=(1,), min_isr=2, why="").as_json()["under_min_isr"] is True
        assert lost("t-0", (1, 2), isr=(1,), why="").as_json()["under_min_isr"] is None
