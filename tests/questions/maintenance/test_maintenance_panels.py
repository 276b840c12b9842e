"""Notebook 30's views: the same answer with widgets and without, marks that differ in shape, files that can be saved, hostile names."""

import base64
import json
import re

import pytest

from casebook.errors import UsageError
from casebook.kafka.release import release
from casebook.page.context import PanelContext
from casebook.questions.maintenance.analysis import asked as maintenance_asked
from casebook.questions.maintenance.analysis import maintenance
from casebook.questions.maintenance.analysis.order import Order
from casebook.questions.maintenance.views import drain, drain_panel
from casebook.questions.maintenance.views import maintenance as views
from casebook.questions.maintenance.views import panel as maintenance_panel
from casebook.questions.maintenance.views.matrix import MOST_BROKERS, OFFLINE, REFUSES, SAFE, UNKNOWN, matrix
from tests.evidence import made, override, state
from tests.page.incident import HOSTILE, Page, _renamed, figures_of, html_of, words_of

TOPICS = {
    "one": {0: ([1], state(1, [1]))},
    "two": {0: ([2, 3], state(2, [2, 3]))},
    "three": {n: ([1, 2, 3], state(1, [1, 2, 3])) for n in range(4)},
    "gone": {0: ([2, 9], state(-1, [9]))},
}
EXTRA = (override("two", min_insync_replicas="2"),)


def found(cluster=None, **asked):
    cluster = cluster or made(live=(1, 2, 3), topics=TOPICS, extra=EXTRA)
    version = release(cluster, given=asked.pop("version", "2.8.2"))
    return maintenance.examine(cluster, version, asked=maintenance_asked.parse(cluster, **asked))


def panel(m, *, step=0, interactive=False, remembered=None, source="sample:x"):
    context = PanelContext(interactive=interactive, remembered={} if remembered is None else remembered, source=source)
    return maintenance_panel.panel(m, context, step=step)


def controls(view):
    """The panel's widgets by what they say."""
    brokers, order, step, answer = view.parts[0].children
    return {
        "brokers": dict(enumerate(brokers.children[1:], start=1)),
        "order": order.children[0],
        "apart": order.children[1],
        "together": order.children[2],
        "back": order.children[3],
        "step": step.children[0],
        "answer": answer,
    }


class TestMatrix:
    def test_each_outcome_has_its_own_shape(self):
        """On the diagonal one broker, below it two; what each breaks, and how much."""
        drawn = matrix(found().restarts, "x")
        kinds = {(cell.row, cell.column): (cell.kind, cell.number) for cell in drawn.cells}
        assert kinds == {
            (0, 0): (OFFLINE, 1), (1, 1): (REFUSES, 1), (2, 2): (REFUSES, 1),
            (1, 0): (OFFLINE, 1), (2, 0): (OFFLINE, 1), (2, 1): (OFFLINE, 1),
        }  # fmt: skip
        figure = figures_of(views.restarts(found()))[0]
        symbols = {trace["marker"]["symbol"] for trace in figure.data if "marker" in trace}
        assert symbols == {"triangle-up", "diamond"}

    def test_safe_and_unknown(self):
        """A tick, and a question mark; neither is a filled mark."""
        cluster = made(live=(1, 2, 3), topics={"three": TOPICS["three"], "bad": {0: ([1, 2], b"?")}})
        assert {cell.kind for cell in matrix(found(cluster).restarts, "x").cells} == {UNKNOWN}
        well = made(live=(1, 2, 3), topics={"three": TOPICS["three"]}, extra=(override("three", min_insync_replicas="1"),))
        assert {cell.kind for cell in matrix(found(well).restarts, "x").cells} == {SAFE}
        assert "not known" in words_of(html_of(views.restarts(found(cluster))))

    def test_without_scripts(self):
        """The static twin bears the same marks and numbers."""
        html = html_of(views.restarts(found()))
        assert html.count('class="breaks"') == 4
        assert html.count('class="refuses"') == 2

    def test_many_brokers(self):
        """Those that break most are drawn, and it is said how many there are."""
        topics = {"t": {n: ([n], state(n, [n])) for n in range(10, 41)}}
        m = found(made(live=range(1, 41), topics=topics))
        assert len(matrix(m.restarts, "x").brokers) == MOST_BROKERS
        assert "24 brokers that break most of 40 are drawn" in words_of(html_of(views.restarts(m)))

    def test_nobody(self):
        """No broker registered: said, not drawn."""
        view = views.restarts(found(made(live=(), topics=TOPICS)))
        assert not figures_of(view)
        assert "No broker is registered." in words_of(html_of(view))


class TestTables:
    def test_what_is_broken_already_stands_apart(self):
        said = words_of(html_of(views.one_by_one(found())))
        assert "broker 2 0 1 1 0 no group" in said

    def test_rolling(self):
        """The controller comes last; the condition between steps has its command."""
        said = words_of(html_of(views.rolling(found())))
        assert "bin/kafka-topics.sh --bootstrap-server HOST:9092 --describe --under-replicated-partitions" in said
        assert "Broker 1 is the controller and is restarted last" in said

    def test_leftovers(self):
        said = words_of(html_of(views.leftovers(found())))
        assert "a replica on a broker that is not registered 1 9 gone-0" in said
        well = made(live=(1, 2, 3), topics={"three": TOPICS["three"]}, extra=(override("three", min_insync_replicas="1"),))
        assert "There are no leftovers." in words_of(html_of(views.leftovers(found(well))))

    def test_unknown_waits_are_unknown(self):
        """Groups whose wait nothing foretells are not said to wait for nothing."""
        topics = {"__consumer_offsets": {n: ([1, 2], state(1, [1, 2])) for n in range(2)}}
        known = (override("__consumer_offsets", min_insync_replicas="1"),)
        said = words_of(html_of(views.one_by_one(found(made(live=(1, 2), topics=topics, extra=known)))))
        assert "broker 1 0 0 0 2 unknown" in said


class TestDrain:
    def files(self, html):
        """What can be saved, by name."""
        links = [link for link in Page.read(html).all("a") if "download" in link]
        return {link["download"]: base64.b64decode(link["href"].partition("base64,")[2]).decode() for link in links}

    def test_files_can_be_saved(self):
        """The plan, the way back, leadership alone and the commands: each inside the page, and as Kafka's tool takes it."""
        m = found(made(live=(1, 2, 3, 4), topics=TOPICS), drain="1", moves=3)
        saved = self.files(html_of(drain.drain(m.drain, source="")))
        assert saved == dict(m.drain.files())
        assert json.loads(saved["step-1.json"])["partitions"][0]["topic"] == "one"

    def test_none_asked(self):
        """It says how to ask, with the case at hand, and invents nothing."""
        view = drain.drain(None, source="sample:x")
        assert "casebook run broker_maintenance --source sample:x -p drain=2 -p throttle=50" in words_of(html_of(view))

    def test_unknown_sizes(self):
        said = words_of(html_of(drain.drain(found(made(live=(1, 2, 3, 4), topics=TOPICS), drain="1").drain, source="")))
        assert "5 replicas of unknown size to copy" in said
        assert "0 KiB" not in said

    def test_nothing_there(self):
        idle = found(made(live=(1, 2, 3, 8), topics=TOPICS), drain="8")
        assert "Nothing to move: broker 8 holds nothing." in words_of(html_of(drain.drain(idle.drain, source="")))

    def test_what_stays(self):
        said = words_of(html_of(drain.drain(found(drain="2").drain, source="")))
        assert "no living replica is in sync, so there is nothing to copy from" in said
        assert "no other broker is left to take it" in said


class TestStaticTwin:
    def test_it_stands_at_the_parameters(self):
        """The order, what each step breaks, all at once, the map of the first step that does harm."""
        said = words_of(html_of(panel(found(brokers="3,1"))))
        assert "1. broker 3 2. broker 1" in said
        assert "CRITICAL Step 1, broker 3 down: 1 partition refuses acks=all; 1 more step does harm" in said
        assert "All at once: 1 partition goes offline, 1 refuses acks=all." in said
        assert "Step 1: while broker 3 is down" in said
        assert "casebook run broker_maintenance --source sample:x -p brokers=3,1" in said

    def test_a_step(self):
        """The map of any step, as the one before has left the leaders; what was broken before stands apart."""
        said = words_of(html_of(panel(found(brokers="1,2"), step=2)))
        assert "-p brokers=1,2 -p step=2" in said
        assert "Refuses acks=all two-0" in re.sub(r" (leader|in sync \(ISR\)|dead, not in sync|·)", "", said)
        assert "Broken already, and not made worse" in said
        assert "1 of 6 partitions of broker 2 breaks, 1 broken already." in said

    def test_what_gets_worse_is_not_broken_already(self):
        """Under min ISR before, and offline now: that is harm, and the map says so where the counts do."""
        topics = {"t": {0: ([1, 2], state(1, [1])), 1: ([1, 3], state(3, [3]))}}
        cluster = made(live=(1, 2, 3), topics=topics, extra=[override("t", min_insync_replicas="2")])
        said = words_of(html_of(panel(found(cluster, brokers="1"))))
        assert "1 of 2 partitions of broker 1 breaks, 1 broken already." in said
        assert (
            said.index("Goes offline") < said.index("t-0") < said.index("Broken already, and not made worse") < said.index("t-1")
        )

    def test_without_brokers_named(self):
        """All of them, in the rolling order."""
        m = found()
        assert f"-p brokers={maintenance_asked.written(m.rolling_order)}" in words_of(html_of(panel(m)))

    def test_no_such_step(self):
        with pytest.raises(UsageError, match="step=3"):
            panel(found(brokers="1,2"), step=3)

    def test_nobody_to_restart(self):
        assert "There is no broker to restart." in words_of(html_of(panel(found(made(live=(), topics=TOPICS)))))


class TestPanel:
    def test_first_values_are_the_parameters(self):
        shown = controls(panel(found(brokers="3,1"), interactive=True))
        assert shown["order"].value == "3,1"
        assert [button.description for button in shown["brokers"].values()] == ["2. broker 1", "broker 2", "1. broker 3"]

    def test_clicks_make_an_order(self):
        """In the order of the clicks; a second click takes a broker out."""
        remembered = {}
        shown = controls(panel(found(brokers="3"), interactive=True, remembered=remembered))
        shown["brokers"][1].value = True
        assert shown["order"].value == "3,1"
        shown["brokers"][3].value = False
        assert shown["order"].value == remembered["order"] == "1"
        assert "-p brokers=1" in shown["answer"].value

    def test_together_and_apart(self):
        shown = controls(panel(found(brokers="3,1"), interactive=True))
        shown["together"].click()
        assert shown["order"].value == "3+1"
        shown["apart"].click()
        assert shown["order"].value == "3,1"
        shown["order"].value = "2+3,1"
        shown["back"].click()
        assert shown["order"].value == "3,1"

    def test_the_map_follows_the_step(self):
        shown = controls(panel(found(brokers="3,1"), interactive=True))
        shown["step"].value = 2
        assert "Step 2: while broker 1 is down" in words_of(shown["answer"].value)

    def test_a_rerun_keeps_the_choice(self):
        remembered = {}
        controls(panel(found(), interactive=True, remembered=remembered))["order"].value = "2+3"
        assert controls(panel(found(), interactive=True, remembered=remembered))["order"].value == "2+3"

    def test_what_cannot_be_meant_is_said(self):
        """A line that is no order says why; the panel goes on."""
        shown = controls(panel(found(brokers="3"), interactive=True))
        shown["order"].value = "3,9"
        assert "not registered" in words_of(shown["answer"].value)
        shown["order"].value = ""
        assert "Choose a broker." in words_of(shown["answer"].value)
        shown["order"].value = "1"
        assert "Step 1" in words_of(shown["answer"].value)

    def test_an_error_shows_in_the_panel(self, monkeypatch):
        """A callback's exception shows nowhere else; its words are text."""
        shown = controls(panel(found(brokers="3"), interactive=True))

        def fails(*_):
            raise ValueError(HOSTILE)

        monkeypatch.setattr(maintenance.Maintenance, "steps", fails)
        shown["brokers"][1].value = True
        assert "The panel failed: ValueError" in words_of(shown["answer"].value)
        assert not Page.read(shown["answer"].value).all("script")


class TestDrainPanel:
    ASKED = {"drain": "", "exclude": "", "targets": "", "throttle": 0.0, "moves": 50, "min_rf": 1}

    def shown(self, m, remembered=None, **asked):
        """The fields by what they say, and the answer."""
        context = PanelContext(interactive=True, remembered={} if remembered is None else remembered, source="sample:x")
        view = drain_panel.panel(m, context, **self.ASKED | asked)
        first, second, answer = view.parts[0].children
        return {field.description: field for field in (*first.children, *second.children)}, answer

    def test_a_change_is_answered(self):
        """Another broker, another plan: with its files, and the parameters that give it headless."""
        m = found(made(live=(1, 2, 3, 4), topics=TOPICS))
        fields, answer = self.shown(m)
        assert "No broker to drain was set." in words_of(answer.value)
        fields["Drain"].value = "1"
        assert "-p drain=1 -p moves=50 -p min_rf=1" in words_of(answer.value)
        fields["Throttle, MB/s"].value = 2.5
        fields["Exclude"].value = "4"
        assert "-p throttle=2.5" in words_of(answer.value)
        assert TestDrain().files(answer.value) == dict(m.drained(drain="1", exclude="4", throttle=2.5).files())

    def test_what_cannot_be_meant_is_said(self):
        fields, answer = self.shown(found(), drain="1")
        fields["Drain"].value = "one"
        assert "not a list of broker ids" in words_of(answer.value)

    def test_a_rerun_keeps_the_choice(self):
        remembered = {}
        self.shown(found(), remembered)[0]["Drain"].value = "2"
        assert self.shown(found(), remembered)[0]["Drain"].value == "2"

    def test_static_twin(self):
        """Without widgets it is the plan at the parameters."""
        m = found(drain="2")
        view = drain_panel.panel(m, PanelContext(), **self.ASKED)
        assert html_of(view) == html_of(drain.drain(m.drain, source=""))


def every_view(m, order: Order = ()):
    return (views.restarts(m), views.one_by_one(m), views.rolling(m), views.leftovers(m), panel(m, source=HOSTILE),
            drain.drain(m.drain, source=HOSTILE))  # fmt: skip


def test_hostile_names():
    """Names are text wherever they stand; every element that is opened is closed."""
    cluster = made(live=(1, 2, 3), topics=TOPICS | {"hostile": {0: ([3, 2], state(2, [2, 3])), 1: ([2], state(2, [2]))}})
    for view in every_view(found(_renamed(cluster, "hostile", HOSTILE), drain="2")):
        page = Page.read(html_of(view))
        assert page.open == []
        assert not page.all("script")
        assert not page.all("img")


def test_pages_stay_small():
    """Ten thousand partitions fold: no view grows with them."""
    topics = {f"t{n}": {p: ([1 + p % 3, 1 + (p + 1) % 3], state(1 + p % 3, [1 + p % 3])) for p in range(100)} for n in range(100)}
    m = found(made(live=(1, 2, 3), topics=topics))
    assert max(len(html_of(view)) for view in every_view(m)) < 200_000
