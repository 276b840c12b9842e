"""A small incident and its findings, made by hand: brokers 1 and 5 are dead, and names are as hostile as evidence allows."""

import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

from casebook.facts.cluster import Cluster
from casebook.facts.evidence import Evidence
from casebook.facts.observed import Source
from casebook.findings.finding import Coverage, Finding, Severity, Status, Step
from casebook.kafka.release import release
from casebook.page.context import PanelContext
from casebook.page.view import Figure, View
from casebook.questions.leadership.analysis import leadership, what_if
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.leadership.views import what_if as what_if_views
from tests.evidence import made, override, state

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
TOPICS = {
    "hostile": {0: ([5, 2], state(-1, [5]))},
    "1_000": {0: ([5], state(-1, [5])), 1: ([5], state(5, [5]))},
    "None": {0: ([1, 2], state(-1, [1])), 1: ([2, 3], state(2, [2, 3]))},
    "under-min": {0: ([2, 1, 5], state(2, [2]))},
    "unread": {0: ([2, 3], b"not json")},
}


def lead(**how: object) -> Leadership:
    """The incident as notebook 20 sees it."""
    topics = how.pop("topics", TOPICS)
    extra = [override(topic, unclean_leader_election_enable="false") for topic in topics]
    cluster = made(live=(2, 3, 4), topics=topics, controller=3, extra=[*extra, *how.pop("extra", ())], **how)
    cluster = _renamed(cluster, "hostile", HOSTILE)
    return leadership.examine(cluster, release(cluster, given="0.9.0.1"))


def _renamed(cluster: Cluster, old: str, new: str) -> Cluster:
    """The cluster with a topic under a name that no znode path can hold, and other evidence may."""
    return replace(
        cluster,
        topics={new if name == old else name: topic for name, topic in cluster.topics.items()},
        topic_configs={new if name == old else name: config for name, config in cluster.topic_configs.items()},
        partitions=tuple(p._replace(topic=new) if p.topic == old else p for p in cluster.partitions),
    )


def panel(
    found: Leadership, *, alive: str = "evidence", unclean: str = "as_configured", interactive: bool = False, **how: object
) -> View:
    """The what-if panel over the incident."""
    known = {*found.cluster.live, *found.dead}
    supposed = what_if.suppose(found.cluster, known, alive=alive, unclean=unclean)
    replay = partial(what_if.replay, found.cluster, found.version.version, found.verdicts)
    return what_if_views.panel(found, supposed, how.pop("replay", replay), PanelContext(interactive=interactive, **how))


def finding(check: str = "leadership.offline", **fields: object) -> Finding:
    """A critical finding whose every text is hostile."""
    texts = dict.fromkeys(("question", "title", "why", "threshold", "settle"), HOSTILE)
    seen = Coverage(seen=1, of=1, what=HOSTILE, by=(Source.ZNODES,))
    common = {
        "coverage": seen,
        "status": Status.FINDING,
        "severity": Severity.CRITICAL,
        "caveats": (HOSTILE,),
        "since": "2026-11-20T02:58:40Z",
    }
    steps = tuple(Step(kind=kind, text=HOSTILE, command=HOSTILE) for kind in ("first", "then", "not"))
    proofs = tuple(
        Evidence(file="zookeeper/znodes.jsonl.zst", znode=f"/brokers/topics/{HOSTILE}/partitions/{n}/state") for n in range(4)
    )
    return Finding(
        **({"check": check, "next": steps, "evidence": (*proofs, Evidence(file="tables/partitions"))} | texts | common | fields)
    )


def ok(check: str) -> Finding:
    return finding(check, status=Status.OK, severity=None, title="0 offline", question="Is it well?", next=(), evidence=())


def html_of(view: View) -> str:
    """All HTML of a view, with the pictures of its charts."""
    parts = (part.picture if isinstance(part, Figure) else part for part in view.parts)
    return "\n".join(str(part) for part in parts if isinstance(part, str))


def figures_of(view: View) -> list[Figure]:
    return [part for part in view.parts if isinstance(part, Figure)]


def words_of(html: str) -> str:
    """What a person reads."""
    return re.sub(r"[ \n\t]+", " ", " ".join(Page.read(html).texts)).strip()


class Page(HTMLParser):
    """HTML as its elements, strict enough to notice one that evidence has smuggled in."""

    VOID = frozenset({"meta", "link", "br", "input", "img", "hr", "path", "circle", "rect", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []

    @classmethod
    def read(cls, html: str) -> "Page":
        page = cls()
        page.feed(html)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]
