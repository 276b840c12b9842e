"""Notebook 50's pictures, tables and look-up, from the real sample."""

import re
from dataclasses import replace

import pytest

from casebook.case.case import Case
from casebook.facts.cluster import Cluster, GroupOffset, Topic
from casebook.facts.offsets_topic import Segment
from casebook.kafka.group_partition import group_partition
from casebook.kafka.releases import KafkaVersion, VersionInUse, VersionOrigin
from casebook.machine import places
from casebook.page.context import PanelContext
from casebook.page.view import Figure
from casebook.questions.coordinators.analysis import coordinators
from casebook.questions.coordinators.analysis.states import CoordinatorState
from casebook.questions.coordinators.views import coordinators as views
from casebook.questions.coordinators.views import group_lookup
from casebook.questions.timeline.scans import logs

VERSION = VersionInUse(version=KafkaVersion.parse("0.9.0.1"), origin=VersionOrigin.PARAMETER)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def held():
    """The sample, with a few names of groups, one of them hostile."""
    case = Case.open(places.samples_dir() / "coordinators_loading")
    told = logs.read(case)
    groups = ["fraud", "metrics", HOSTILE]
    return coordinators.examine(
        case.cluster(), VERSION, log_dirs=case.log_dirs(), events=told.events(), files=told.files, groups=groups
    )


def text_of(view):
    """What is shown, without markup."""
    return " ".join(part.striptags() for part in view.parts if not isinstance(part, Figure))


class TestLoadQueues:
    def test_each_broker_has_a_lane_and_each_wait_an_end(self, held):
        """Lanes, the end of the evidence, and an interval for each load at work."""
        view = views.load_queues(held)
        (figure,) = (part for part in view.parts if isinstance(part, Figure))
        written = [note["text"] for note in figure.layout["annotations"]]
        assert {"<b>Broker 1</b>", "<b>Broker 2</b>", "<b>Broker 3</b>"} <= set(written)
        assert any("evidence ends" in note for note in written)
        at_work = [one for one in held.partitions if one.judged.state is CoordinatorState.LOADING]
        assert len(figure.data[2]["x"]) == 4 * len(at_work) > 0

    def test_there_is_a_picture_without_scripts_and_the_numbers_as_a_table(self, held):
        """Nothing of the chart is lost to who cannot run it."""
        view = views.load_queues(held)
        assert any(isinstance(part, Figure) and "<svg" in part.picture for part in view.parts)
        assert f"The numbers ({len(held.partitions)} partitions)" in text_of(view)

    def test_every_colour_can_be_redrawn_in_the_dark(self, held):
        """Each annotation and shape that has a colour of its own names its token."""
        (figure,) = (part for part in views.load_queues(held).parts if isinstance(part, Figure))
        meta = figure.layout["meta"]
        assert all(f"shapes[{at}].line.color" in meta for at in range(len(figure.layout["shapes"])))
        coloured = [at for at, note in enumerate(figure.layout["annotations"]) if "color" in note["font"]]
        assert all(f"annotations[{at}].font.color" in meta for at in coloured)

    def test_nothing_to_draw_is_said(self):
        """An empty case gets a sentence, not an empty box."""
        nothing = coordinators.examine(Cluster(brokers_known=False), VERSION)
        for view in (views.load_queues(nothing), views.who_waits(nothing), views.blast_radius(nothing)):
            assert not any(isinstance(part, Figure) for part in view.parts)
            assert text_of(view).strip()


class TestTables:
    def test_who_waits_is_in_the_table_and_in_the_runs_tables(self, held):
        """All that are not served, with proof."""
        view = views.who_waits(held)
        waits = [row for row in held.rows if row.state in ("loading", "queued")]
        assert waits
        assert all(row.proof in view.cites for row in waits)
        assert view.tables["coordinators"] == held.rows

    def test_a_hostile_name_stays_text(self, held):
        """A group may be called anything."""
        shown = [*views.who_waits(held).parts, *group_lookup.panel(held, PanelContext(), group=HOSTILE).parts]
        assert not any(HOSTILE in str(part) for part in shown)

    def test_where_each_group_commits(self, held):
        """What Kafka has of a group is known where the segments of its partition were read, or where no offsets topic is."""
        kept = replace(held.cluster, group_offsets=(GroupOffset("fraud", "t", 0, 7, None), GroupOffset("old", "t", 0, 7, None)))
        said = text_of(views.commits(replace(held, cluster=kept)))
        assert re.search(r"fraud\s*ZooKeeper and Kafka", said)
        assert re.search(r"old\s*ZooKeeper; Kafka unknown", said)
        mine = group_partition("old", held.topic.count)
        read = Segment(1, mine, 0, 9, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 9, 0, False)
        for known in (
            replace(held, cluster=kept, segments=[read]),
            replace(held, cluster=replace(kept, topics={"t": Topic(name="t")}), groups=()),
        ):
            assert "Kafka unknown" not in text_of(views.commits(known))


class TestLookUp:
    def test_without_widgets_the_answer_stands_at_the_parameter(self, held):
        """Five steps, and the command that gives the same."""
        view = group_lookup.panel(held, PanelContext(source="sample:coordinators_loading"), group="fraud")
        shown = text_of(view)
        for word in ("97692260", "__consumer_offsets-8", "broker 1", "loading", "16 NOT_COORDINATOR_FOR_GROUP"):
            assert word in shown
        assert "casebook run group_coordinators --source sample:coordinators_loading -p group=fraud" in shown

    def test_a_name_that_nothing_bears_works_too(self, held):
        """Its partition follows from the name alone."""
        assert "__consumer_offsets-" in text_of(group_lookup.panel(held, PanelContext(), group="never heard of"))

    def test_the_field_answers_as_one_types_and_keeps_the_name(self, held):
        """A re-run of the cell begins with what was typed."""
        remembered = {}
        (box,) = group_lookup.panel(held, PanelContext(interactive=True, remembered=remembered), group="fraud").parts
        field, answer = box.children
        field.value = "metrics"
        assert "<code>metrics</code>" in answer.value
        assert remembered == {"group": "metrics"}
