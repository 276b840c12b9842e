"""Group to partition, by vectors that OpenJDK confirmed; tests/differential asks Kafka's own code."""

import pytest

from casebook.kafka.group_partition import group_partition, java_hash


@pytest.mark.parametrize(
    ("group", "hashed", "partition"),
    [
        ("test", 3556498, 48),
        ("my-group", -1906497762, 12),
        ("polygenelubricants", -(2**31), 0),
        ("", 0, 0),
        ("群組", 1045024, 24),
        ("😀group", -1231696132, 32),
        ("connect-cluster", 1440343063, 13),
    ],
)
class TestGroupPartition:
    def test_a_group_lies_where_java_puts_it(self, group, hashed, partition):
        """Utils.abs, not a mask: my-group would lie in 36 with one."""
        assert (java_hash(group), group_partition(group, 50)) == (hashed, partition)
