"""Commits of groups for topics that do not exist."""

from collections import defaultdict
from collections.abc import Sequence

from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.facts.offsets_topic import GroupCommit, Scanned
from casebook.findings import coverage
from casebook.findings.coverage import Gaps
from casebook.findings.finding import Coverage, Finding, Gap, Question, Severity
from casebook.findings.proof import COLLECT_AGAIN, SHOWN
from casebook.findings.words import agree, count, plural, some
from casebook.questions.offsets_topic.analysis.rows import OffsetsPartition
from casebook.questions.offsets_topic.analysis.unread import GIVE_LOG_DIRS

_COMMITS = Evidence(file="tables/commits")
_UNLISTED = Gap(why="The list of topics was not collected.", settle=COLLECT_AGAIN)


def missing_topics(
    cluster: Cluster, partitions: Sequence[OffsetsPartition], scan: Scanned, gaps: Gaps, outdated: Gaps
) -> Finding:
    """Do groups keep commits for topics that do not exist?

    Args:
        partitions: Copies of the offsets topic, largest first.
        gaps: Why some records of the offsets topic were not read.
        outdated: Why the last record read of a copy may not be the effective one.
    """
    logs = _effective(partitions)
    commits = [one for one in scan.commits if (one.broker, one.log_partition) in logs]
    every = sum(log.commits for log in scan.logs if (log.broker, log.partition) in logs)
    absent = [one for one in commits if one.topic not in cluster.topics]
    hit = [one for one in absent if cluster.lists_topics and not _is_later(one, cluster)]
    topics, groups = sorted({one.topic for one in hit}), sorted({one.group for one in hit})
    open_ = sorted({one.topic for one in absent}.difference(topics))
    doubts = (*_doubtful(cluster, open_), *_not_kept(len(commits), every), *gaps)
    ask = Question(
        check="offsets_topic.missing_topics",
        question="Which groups have commits for topics that do not exist?",
        coverage=Coverage.counted(len(commits), every, "commit", Source.SEGMENTS, Source.ZNODES),
        threshold="any visible commit for a topic that is not in the list of topics",
        facts={"topics": topics, "groups": groups, "commits": len(hit)} if scan.logs else {},
        evidence=(_COMMITS, *map(cluster.proofs.topic, (topics or open_)[:SHOWN])),
    )
    if not scan.logs:
        return ask.could_not_check("Which topics groups have committed for is unknown", settle=GIVE_LOG_DIRS)
    if hit:
        return _found(ask, hit, doubts, outdated)
    if open_:
        exist = agree(len(open_), "exists", "exist")
        title = f"Whether {plural(len(open_), 'topic')} that groups have committed for {exist} is unknown: {_few(open_)}"
        return ask.could_not_check(title, why=doubts[0].why, settle=doubts[0].settle)
    if every == 0:
        return ask.not_applicable("No group has a commit", gaps=doubts)
    return ask.ok("Every topic that groups have committed for exists", gaps=doubts)


def _found(ask: Question, hit: Sequence[GroupCommit], doubts: Gaps, outdated: Gaps) -> Finding:
    own: dict[str, set[str]] = defaultdict(set)
    for one in hit:
        own[one.group].add(one.topic)
    named = [f"{group} ({_few(sorted(topics))})" for group, topics in sorted(own.items())]
    topics = len({one.topic for one in hit})
    title = (
        f"{plural(len(own), 'group')} {agree(len(own), 'has', 'have')} commits for {plural(topics, 'topic')} that "
        f"{agree(topics, 'does', 'do')} not exist: {some(named, SHOWN)}"
    )
    if outdated:
        return ask.could_not_check(f"Perhaps {title}", why=" ".join(gap.why for gap in outdated), settle=outdated[0].settle)
    why = (
        "If a topic of that name is created again, these groups continue at the old offsets: they skip its first records, or "
        "fall back to auto.offset.reset."
    )
    return ask.found(Severity.INFO, f"At least {title}" if doubts else title, why=why)


def _effective(partitions: Sequence[OffsetsPartition]) -> set[tuple[int, int]]:
    """Return broker and partition of the read copies that count: the coordinator's, or the largest where it was not read."""
    found: dict[int, OffsetsPartition] = {}
    for copy in partitions:  # largest first
        if copy.live_bytes is not None and (copy.partition not in found or copy.coordinator):
            found[copy.partition] = copy
    return {(copy.broker, copy.partition) for copy in found.values()}


def _is_later(commit: GroupCommit, cluster: Cluster) -> bool:
    """Whether it was written after the znodes were read: its topic may have been created since."""
    return None not in (commit.commit_time, cluster.read_to) and commit.commit_time > cluster.read_to


def _doubtful(cluster: Cluster, topics: Sequence[str]) -> Gaps:
    """Return why it is unknown whether topics exist that the znodes do not name."""
    if not topics:
        return ()
    if not cluster.lists_topics:
        return coverage.partitions(cluster) or (_UNLISTED,)
    why = f"{_few(topics)} may have been created after the list of topics was read."
    return (Gap(why=why, settle=COLLECT_AGAIN),)


def _not_kept(kept: int, every: int) -> Gaps:
    """Return that a scan keeps only some rows of very many commits."""
    if kept >= every:
        return ()
    why = f"Only {count(kept)} of {plural(every, 'commit')} were kept from the scan."
    return (Gap(why=why, settle="Ask the coordinators: bin/kafka-consumer-groups.sh --describe, group by group."),)


def _few(topics: Sequence[str]) -> str:
    return some(topics, SHOWN, ", ", ", and")
