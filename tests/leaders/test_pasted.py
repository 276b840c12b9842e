"""What people paste of Kafka's own tools: printed by the real ones of each release, it says what ZooKeeper held."""

from casebook.formats import pasted


def test_topics(leaders_lost):
    """Leaders, ISRs and replicas, with partitions that have neither; but of topics that are being deleted, which brokers forget."""
    described, truth = leaders_lost.stage.described["during"], leaders_lost.truth.phases["during"].partitions
    found = pasted.read(described.printed.splitlines())
    assert found.not_understood == ()
    told = {(p.topic, p.partition): (p.leader, set(p.isr)) for p in found.partitions if p.topic != "retired"}
    assert told == {at: (s.leader, set(s.isr)) for at, s in described.states.items() if at[0] != "retired"}
    replicas = {(row.topic, row.partition): row.replicas for row in truth}
    assert all(p.replicas == replicas[p.topic, p.partition] for p in found.partitions)
    assert {leader is None for leader, _ in told.values()} == {True, False}
    configs = {t.topic: t.configs for t in found.topics}
    assert configs["audit"]["min.insync.replicas"] == "2"
    assert configs["sessions"]["unclean.leader.election.enable"] == "true"
