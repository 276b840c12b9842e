"""Notebook 80: shapes with words, topics that fare alike in one row, what is not known as that, nothing of the evidence as markup."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from casebook.facts.cluster import Cluster, Problem
from casebook.findings import tables
from casebook.formats.clients import client_properties
from casebook.kafka.release import release
from casebook.page.view import View
from casebook.questions.durability.analysis import durability
from casebook.questions.durability.analysis.durability import Durability
from casebook.questions.durability.analysis.rows import IsrAlone
from casebook.questions.durability.views import durability as views
from casebook.questions.durability.views import settings
from tests.evidence import made, override, state
from tests.page.incident import HOSTILE, Page, _renamed, figures_of, html_of, words_of

TOPICS = {
    "hostile": {0: ([1], state(1, [1]))},
    "careful": {0: ([1, 2, 3], state(1, [1, 2, 3]))},
    "halved": {0: ([1, 2], state(1, [1, 2]))},
}
SETTINGS = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
FILES = (
    *client_properties.parse(
        "acks=1\nretries=0\nkey.serializer=x\n", client="billing", file="clients/billing/config/a.properties"
    ),
    *client_properties.parse(f"acks: {HOSTILE!r}\ngroup.id: x\n", client="mailer", file=f"clients/mailer/config/{HOSTILE}.yml"),
)


def audited(
    topics: object = None, files: object = FILES, against: bool = True, third: object = (), **settings: str
) -> Durability:
    cluster = made(live=(1, 2, 3), topics=topics or TOPICS, extra=[override("careful", min_insync_replicas="2")])
    cluster = _renamed(cluster, "hostile", HOSTILE)
    cluster = replace(cluster, server_properties=dict.fromkeys((1, 2), SETTINGS | settings) | dict(third))
    version = release(cluster, given="2.8.2")
    found = durability.examine(cluster, version, clients=files)
    if not against:
        return found
    before = replace(cluster, server_properties={b: SETTINGS | {"min.insync.replicas": "1"} for b in (1, 2, 3)})
    return durability.compared(found, durability.examine(before, version, clients=files))


VIEWS: dict[str, Callable[[], View]] = {
    "matrix": lambda: views.matrix(audited()),
    "ways": lambda: views.ways(audited()),
    "verdicts": lambda: views.verdicts(audited()),
    "settings": lambda: settings.settings(audited()),
    "clients": lambda: settings.clients(audited()),
    "no_clients": lambda: settings.clients(audited(files=())),
    "single_copies": lambda: views.single_copies(audited()),
    "past": lambda: views.past(audited()),
    "ask": lambda: views.ask(audited()),
    "changes": lambda: views.changes(audited(), against=HOSTILE),
    "no_changes": lambda: views.changes(audited(against=False)),
}


@pytest.fixture(params=VIEWS, scope="module")
def view(request: pytest.FixtureRequest) -> View:
    return VIEWS[request.param]()


class TestEveryView:
    """Whatever topics, clients, files and settings are called."""

    def test_evidence_stays_text(self, view):
        """No element and no attribute comes out of the evidence, and every element is closed."""
        page = Page.read(html_of(view))
        assert page.open == []
        assert not page.all("script")
        assert not page.all("img")

    def test_pictures_have_words_and_tables_heads(self, view):
        """A drawing is named, or stands beside a word."""
        page = Page.read(html_of(view))
        assert all(svg.get("aria-hidden") == "true" or svg.get("aria-label") for svg in page.all("svg"))
        assert all(head.get("scope") in ("col", "row", "rowgroup") for head in page.all("th"))
        assert all(box.get("aria-label") for box in page.all("div") if box.get("role") == "region")
        assert all(figure.alternative for figure in figures_of(view))

    def test_its_tables_are_documented(self, view):
        """What it wants written has columns that are described."""
        assert set(view.tables) <= set(tables.every())


class TestMatrix:
    def test_each_outcome_has_its_word(self):
        """Read without colours: every shape says which rule and what."""
        said = {
            span.get("aria-label")
            for span in Page.read(html_of(views.matrix(audited()))).all("span")
            if span.get("role") == "img"
        }
        assert {"D2: lost by one failure", "D3: lost by one failure", "D4: safe by this rule", "D15: not known"} <= said
        assert "D3: does not apply" in said

    def test_topics_that_fare_alike_are_one_row(self):
        """A thousand of three kinds are three rows with their numbers."""
        topics = {f"t{n:04}": {0: (list(range(1, 2 + n % 3)), state(1, [1]))} for n in range(999)}
        html = html_of(views.matrix(audited(topics, files=())))
        assert len(Page.read(html).all("tr")) == 1 + 3
        assert words_of(html).count("and 332 alike") == 3

    def test_the_rest_is_counted(self):
        """More kinds than are drawn: how many, and where all of them are."""
        topics = {f"t{n}": {p: (list(range(1, 2 + (n >> p & 1))), state(1, [1])) for p in range(7)} for n in range(128)}
        cluster = audited(topics, files=())
        kinds = views.durability_matrix.kinds(cluster)
        assert sum(kind.topics for kind in kinds) == 128

    def test_one_topic_only(self):
        """The filter of the notebook."""
        html = html_of(views.matrix(audited(), topic="careful"))
        assert "careful" in words_of(html)
        assert "halved" not in words_of(html)

    def test_who_is_worst_stands_first(self):
        """Rows by what one failure takes."""
        looks = [kind.looks for kind in views.durability_matrix.kinds(audited())]
        assert ["critical" in one for one in looks] == sorted(("critical" in one for one in looks), reverse=True)


class TestWays:
    def test_every_way_is_counted_and_has_one_sentence(self):
        """Two producers by one consumer over three topics; alike in one row, nothing left out."""
        said = words_of(html_of(views.ways(audited())))
        assert "6 of 6 ways from a producer to a consumer" in said
        assert "When the leader of careful dies or is cut off, billing loses" in said

    def test_no_client_is_said(self):
        """Then nobody is taken for careless."""
        assert "No client configuration is known" in words_of(html_of(views.ways(audited(files=()))))


class TestUnknown:
    def test_a_variable_is_drawn_as_unknown(self):
        """What the file does not tell is neither the default nor empty."""
        html = html_of(settings.clients(audited()))
        assert "unknown" in words_of(html)
        assert any("mailer" in one.whom for one in audited().questions)

    def test_no_topic_is_no_clean_bill(self):
        """Where no topic is known, no copy is, and nothing is ticked."""
        unknown = durability.examine(
            Cluster(unlisted=(Problem(path="/brokers/topics", reason="not collected"),)), release(Cluster())
        )
        for view in (views.single_copies(unknown), views.matrix(unknown)):
            assert "No broker holds" not in words_of(html_of(view)) and "no topic of" not in words_of(html_of(view))
        assert "could not be checked" in words_of(html_of(views.matrix(unknown)))
        safe = audited(topics={"careful": {0: ([1, 2], state(1, [1, 2]))}})
        assert "No broker holds an only copy." in words_of(html_of(views.single_copies(safe)))

    def test_no_history_is_no_clean_bill(self):
        """The past without ZooKeeper's files is unknown, with the command that brings them."""
        assert "--zookeeper-data" in words_of(html_of(views.past(audited())))

    def test_times_of_which_nothing_can_be_told(self):
        """A leader alone under a min.insync.replicas that nobody knows is no time of acks=1."""
        known = IsrAlone("careful", 0, 60_000, 60_000, 1, 1_000, 61_000, False, "1", "zookeeper/history")
        unsure = known._replace(partition=1, min_isr=None)
        found = replace(audited(against=False), history=True)
        said = words_of(html_of(views.past(replace(found, isr_alone=(unsure,)))))
        assert "For 1 partition, it is unknown" in said
        assert "acks=all was acks=1 in" not in said
        both = words_of(html_of(views.past(replace(found, isr_alone=(known, unsure)))))
        assert "acks=all was acks=1 in 1 partition" in both
        assert "For 1 partition, it is unknown" in both

    def test_brokers_without_collected_settings(self):
        """Broker 3's file was not collected: its defaults are called assumed."""
        assert "built-in default, as server.properties was not collected" in words_of(html_of(settings.settings(audited())))


class TestSettings:
    def test_disagreement_stands_first(self):
        """min.insync.replicas is 2 on two brokers, and 1 on the third; of one whose file was not collected nobody knows it."""
        html = html_of(settings.settings(audited(third={3: SETTINGS | {"min.insync.replicas": "1"}})))
        alarms = [row for row in Page.read(html).all("tr") if row.get("class") == "cb-alarm"]
        assert alarms
        assert html.index("min.insync.replicas") < html.index("auto.create.topics.enable")
        assert not [row for row in Page.read(html_of(settings.settings(audited()))).all("tr") if row.get("class") == "cb-alarm"]


class TestChanges:
    def test_what_got_worse_is_marked(self):
        """D4 of careful is gone with min.insync.replicas 2, and told as gone."""
        said = words_of(html_of(views.changes(audited(), against="last-year")))
        assert "changed since last-year" in said
