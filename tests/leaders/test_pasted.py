"""What people paste of Kafka's own tools: printed by the real ones of each release, it says what ZooKeeper held."""

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.formats.pasted import paste


def test_topics(leaders_lost):
    """Leaders, ISRs and replicas, with partitions that have neither; but of topics that are being deleted, which brokers forget."""
    described, truth = leaders_lost.stage.described["during"], leaders_lost.truth.phases["during"].partitions
    found = paste.read(described.printed.splitlines())
    assert found.not_understood == ()
    told = {(p.topic, p.partition): (p.leader, set(p.isr)) for p in found.partitions if p.topic != "retired"}
    assert told == {at: (s.leader, set(s.isr)) for at, s in described.states.items() if at[0] != "retired"}
    replicas = {(row.topic, row.partition): row.replicas for row in truth}
    assert all(p.replicas == replicas[p.topic, p.partition] for p in found.partitions)
    assert {leader is None for leader, _ in told.values()} == {True, False}
    configs = {t.topic: t.configs for t in found.topics}
    assert configs["audit"]["min.insync.replicas"] == "2"
    assert configs["sessions"]["unclean.leader.election.enable"] == "true"


def test_the_other_tools(leaders_lost, tmp_path):
    """A case of the paste tells the facts that a walk through ZooKeeper told at that time, and those of the brokers' disks."""
    others = leaders_lost.stage.described["during"].others
    walked = Case.open(leaders_lost.out / "during")
    told = Case.open(collect_case(tmp_path / "case", pasted="".join(others).splitlines()))
    assert told.pasted().not_understood == ()
    read, pasted_ = walked.cluster(), told.cluster()
    assert (pasted_.live, pasted_.brokers_known, told.chroot) == (read.live, True, walked.chroot)
    assert pasted_.live == set(leaders_lost.truth.phases["during"].live)
    assert {b.id: b.stamp.session for b in pasted_.brokers.values()} == {b.id: b.stamp.session for b in read.brokers.values()}
    assert (pasted_.controller.broker, pasted_.controller.session) == (read.controller.broker, read.controller.session)
    kept = {topic: settings for topic, settings in read.topic_configs.items() if topic != "retired"}
    assert {topic: settings for topic, settings in pasted_.topic_configs.items() if topic != "retired"} == kept
    assert kept["audit"] == {"min.insync.replicas": "2"}
    sizes = {(used.broker, used.path.rpartition("/")[2]): used.about for used in told.pasted().used}
    on_disk = leaders_lost.stage.described["during"].sizes
    assert {at: on_disk[at] for at in sizes} == sizes
    assert {broker for broker, _ in sizes} == (set() if leaders_lost.kafka == "0.9.0.1" else read.live)
