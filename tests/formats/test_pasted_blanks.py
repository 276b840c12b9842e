"""Values that an output does not end as one expects: with blanks, with a shell's mark, within the next name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.collect.pasted import told
from casebook.facts.pasted import GroupMember, ToldConfig
from casebook.formats.pasted import paste

HEAD = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
CLIENTS = st.lists(st.text("abcz(:@.)", min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)


def members(lines: list[str]) -> list[GroupMember]:
    return list(paste.read(lines).members)


def remarks(lines: list[str]) -> str:
    return "\n".join(told.remarks(paste.read(lines)))


@settings(max_examples=60, deadline=None)
@given(CLIENTS, st.integers(0, 3))
def test_a_client_with_blanks(client, partition):
    """A member's id is the id of its client, ``-`` and a random one (``GroupCoordinator.scala@2.8.2``)."""
    row = f"shop orders {partition} 4 9 5 {client}-7f3a /10.1.2.3 {client}"
    found = members([HEAD, row, f"shop orders {partition + 1} 4 4 0 - - -"])
    assert [(each.member, each.host, each.client) for each in found] == [(f"{client}-7f3a", "10.1.2.3", client)]


def test_no_begin_of_a_member():
    assert members([HEAD, "shop orders 0 4 9 5 till@desk (shop.exa"]) == []


@pytest.mark.parametrize("below", [["drawn below"], [""], ["```"], ["$ date"], []])
def test_the_mark_of_a_missing_line_end(below):
    """zsh prints ``%`` and fills the line with blanks."""
    blanks = "      " if below == ["drawn below"] else ""
    found = members(
        [HEAD, "shop orders 1 4 9 5 till-1 /10.1.2.3 till", f"shop orders 0 4 9 5 till-1 /10.1.2.3 till%{blanks}", *below]
    )
    assert "%" not in "".join(each.client or "" for each in found)


@pytest.mark.parametrize("end", range(len("max.") + 1, len("max.message.bytes=") + 1))
def test_a_list_of_settings_cut_within_a_name(end):
    head = "Topic: orders\tTopicId: AAAAAAAAAAAAAAAAAAAAAA\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: "
    found = paste.read([f"{head}cleanup.policy=delete,retention.ms=1000,{'max.message.bytes='[:end]}"])
    assert [row.configs for row in found.topics] == [None]
    told_rows = [row for row in found.configs if isinstance(row, ToldConfig)]
    assert [(row.settings, row.whole) for row in told_rows] == [({"cleanup.policy": "delete", "retention.ms": "1000"}, False)]


def test_brokers_around_omitted_lines():
    text = "kf1:9092 (id: 1 rack: a) -> (\n\tProduce(0): 0 to 9 [usable: 9],\n\t<snip>\n\tNew(67): UNSUPPORTED\n)\n"
    said = remarks(
        [*text.splitlines(), *text.replace("1", "2").splitlines(), "kf3:9092 (id: 3 rack: b) -> ERROR: x.TimeoutException"]
    )
    assert "no broker answered" not in said
    assert "does not support New" in said


@pytest.mark.parametrize("prompt", ["$", "#", "root@kf1:~#", "[me@kf1 ~]$"])
def test_no_row_above_a_prompt(prompt):
    head = "Topic\tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)"
    assert "no hanging transactions" in remarks(["$ kafka-transactions.sh find-hanging --broker 2", head, prompt])


def test_groups_in_bullets():
    said = remarks(["• $ kafka-consumer-groups.sh --bootstrap-server kf:9092 --list", "•", "• shop-eu", "• till-7", "• audit-2"])
    assert "3 groups: shop-eu, till-7, audit-2" in said


def test_quotes_as_a_page_writes_them():
    text = ["Metadata for all topics (from broker 1: kf1:9092/1):", " 1 brokers:", "  broker 1 at kf1:9092 (controller)"]
    text += [" 1 topics:", '  topic "orders" with 1 partitions:', "    partition 0, leader 1, replicas: 1, isrs: 1"]
    found = paste.read([f"&gt; {each}" for each in text])
    assert [(row.topic, row.partition, row.leader) for row in found.partitions] == [("orders", 0, 1)]
