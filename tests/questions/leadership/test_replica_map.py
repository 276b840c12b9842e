"""Who holds what on clusters of many brokers: columns that fit, the dead ones first."""

import re
from dataclasses import replace

from casebook.facts.cluster import Topic
from casebook.kafka.release import release
from casebook.questions.leadership.analysis import leadership
from casebook.questions.leadership.views.leadership import verdict_table
from casebook.questions.leadership.views.replica_map import replica_map
from tests.evidence import made, state
from tests.page.incident import words_of

DEAD = 40


def drawn(brokers: int) -> tuple[list[str], str]:
    """The columns and the words of a map: each broker leads a partition that misses its copy on a dead one."""
    topics = {"t": {n: ([n, DEAD], state(n, [n])) for n in range(1, brokers + 1)}}
    topics["busy"] = {n: ([9, DEAD], state(9, [9])) for n in range(3)}
    cluster = made(live=range(1, brokers + 1), topics=topics)
    html = str(replica_map(leadership.examine(cluster, release(cluster, given="0.9.0.1"))))
    return re.findall(r"(\d+)<br><small>", html), words_of(html)


class TestColumns:
    def test_few_brokers_stand_in_order(self):
        """All of them, by id."""
        columns, words = drawn(brokers=11)
        assert columns == [*map(str, range(1, 12)), str(DEAD)]
        assert "not drawn." in words
        assert "brokers with the fewest" not in words

    def test_of_many_the_dead_come_first(self):
        """Then those that hold most of what ails; how many are left out is told."""
        columns, words = drawn(brokers=30)
        assert columns == [str(DEAD), "1", "2", "3", "4", "5", "9"]
        assert "24 brokers with the fewest of these replicas are not drawn." in words

    def test_rows_that_differ_in_undrawn_columns_are_one(self):
        """Brokers 6 to 8 and 10 to 30 lead alike: nobody needs 24 rows for it."""
        assert "24 like t-6 " in drawn(brokers=30)[1]


def test_a_partition_that_is_being_deleted_is_counted_apart():
    """Neither among those without leader nor among those that are short: one count everywhere, and what it leaves out is named."""
    topics = {
        "t": {0: ([1, DEAD], state(-1, [DEAD])), 1: ([1, DEAD], state(1, [1])), 2: ([1], state(1, [1]))},
        "old": {n: ([DEAD], state(-1, [DEAD])) for n in range(2)},
    }
    cluster = made(live=[1], topics=topics)
    cluster = replace(cluster, topics={**cluster.topics, "old": Topic(name="old", deleting=True)})
    lead = leadership.examine(cluster, release(cluster, given="0.9.0.1"))
    drawn_ = words_of(str(replica_map(lead)))
    assert "1 of 5 partitions offline, 1 more online but not complete, 2 being deleted. 1 complete and not drawn." in drawn_
    assert "1 of 5 partitions offline, 2 being deleted." in words_of(str(verdict_table(lead).parts[0]))
    offline = next(finding for finding in lead.findings if finding.check == "leadership.offline")
    assert "2 more partitions are being deleted" in " ".join(offline.caveats)
