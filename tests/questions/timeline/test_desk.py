"""Notebook 60's picture, story and tables, from a minute made by hand; and what is chosen of it."""

import csv
import re
from base64 import b64decode
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise

import mistune
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from casebook.errors import UsageError
from casebook.kafka.past_rows import Sentence, WindowKind
from casebook.page import lanes_fit
from casebook.page.context import PanelContext
from casebook.page.lanes import LOWER, UPPER, Label, Mark
from casebook.page.view import Figure
from casebook.questions.timeline.analysis import selection
from casebook.questions.timeline.analysis import story as timeline_story
from casebook.questions.timeline.analysis.causal_chain import Indication, Root
from casebook.questions.timeline.analysis.selection import HeldEvents, Selection
from casebook.questions.timeline.views import panel as timeline_panel
from casebook.questions.timeline.views import strips as timeline_strips
from casebook.questions.timeline.views import tables
from casebook.questions.timeline.views.timeline import TimelinePage
from tests.page.incident import Page, words_of
from tests.page.incident import html_of as shown
from tests.questions.timeline.minute import HOSTILE, ROWS, at, log, minute, strips, two_leaders

MARKUP = (
    *("|", "*", "_", " _a_ ", "*a*", "`", "``", "~~", "#", "# ", "- ", "1. ", "> ", "---", "===", "    ", "\\", "$x$", "&lt;", "<!--"),
    *("[x](javascript:alert(1))", "![x](y)", "[x]: y", "<script>alert(1)</script>", "<https://x.y>", "https://x.y", "a@b.c"),
    *("=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "\uff1d1", '"', "'", ",", ";", "\t", "\n", "\n\n", "\r", "orders-3"),
)  # fmt: skip
hostile = st.lists(st.sampled_from(MARKUP) | st.text(st.characters(exclude_categories=("C",)), max_size=3), max_size=6)
hostile = hostile.map("".join)
"""Names as nobody should give them."""
READERS = {
    "markdown-it": MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render,
    "mistune": mistune.create_markdown(escape=False, plugins=["strikethrough", "table", "footnotes", "math", "url"]),
}
"""What shows Markdown, with HTML let through."""


class Rendered(HTMLParser):
    """A page: its tags, and the text of each item of its lists."""

    def __init__(self):
        super().__init__()
        self.tags, self.items, self.inside = [], [], False

    @classmethod
    def read(cls, html):
        page = cls()
        page.feed(html)
        page.close()
        return page

    def handle_starttag(self, tag, attrs):
        self.tags += [tag, *(name for name, _ in attrs)]
        if tag == "li":
            self.items.append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.tags.append(tag)
        self.inside = self.inside and tag != "li"

    def handle_comment(self, data):
        self.tags.append("comment")

    def handle_data(self, data):
        if self.inside:
            self.items[-1] += data.removesuffix("\n")


@dataclass
class Told:
    """What a story is written from."""

    story: tuple
    windows: tuple = ()
    roots: tuple = ()


def sentences(told):
    """Sentences of texts and proofs."""
    return tuple(Sentence(None, None, text, proof, "gc_pause", 57, 0) for text, proof in told)


def one_line(text):
    """Text without breaks."""
    return " ".join(text.split())


PARTS = ("lanes", "story", "roots", "chains", "windows", "events", "unknown")


def desk(found=None, *, interactive=False, remembered=None, quote=None, **chosen):
    """The desk over a timeline, at parameters."""
    found = minute() if found is None else found
    given = selection.parse(found, **chosen)
    kept = {} if remembered is None else remembered
    context = PanelContext(interactive=interactive, remembered=kept, source="case", quote=quote, case="messaging-a")
    return TimelinePage(found, given, context)


def figure_of(view):
    """The chart of a view; ``None`` without one."""
    return next((part for part in view.parts if isinstance(part, Figure)), None)


def written(figure):
    """Every text in a chart."""
    return [re.sub(r"</?b>", "", note["text"]) for note in figure.layout["annotations"]]


class TestStrips:
    """A partition's leaders."""

    def drawn(self, window):
        """The half strips of orders-0: part, begin, end, how, for each leader in turn."""
        (one,) = timeline_strips.partitions(strips({"orders": 1}), [window])
        return [(s.where, s.start, s.end, s.how) for s in timeline_strips.row(one, lambda _: "live").strips]

    def test_two_leaders_are_two_half_strips_at_one_time(self):
        """The old one goes on in the lower half until it truncates; the new one begins in the upper half when it is elected."""
        old, new = self.drawn(two_leaders("orders", 0))
        assert old == (LOWER, at(-600), at(44.118), "solid")
        assert new == (UPPER, at(42.861), None, "solid")

    def test_a_silent_old_leader_is_hatched_up_to_its_next_line(self):
        """It may have stood still up to there; from there on it ran, until it truncated."""
        window = two_leaders("orders", 0)._replace(silent=at(43.516))
        before, silent, after, new = self.drawn(window)
        assert before[1:] == (at(-600), at(42.861), "solid")
        assert silent == (LOWER, at(42.861), at(43.516), "hatched")
        assert after == (LOWER, at(43.516), at(44.118), "solid")
        assert new[0] == UPPER

    def test_one_that_was_silent_to_the_end_never_ran(self):
        """Its first line is that it truncates: nothing of the window is drawn as sure."""
        _, silent, _ = self.drawn(two_leaders("orders", 0)._replace(silent=at(44.118)))
        assert silent[1:] == (at(42.861), at(44.118), "hatched")

    def test_what_no_log_tells_stays_unknown_behind_a_silence(self):
        """It ran again, and nothing says whether it still believed to lead: hatched to the end."""
        parts = self.drawn(two_leaders("orders", 0, closed=None)._replace(silent=at(43.516)))
        assert [part[1:] for part in parts[1:3]] == [(at(42.861), at(43.516), "hatched"), (at(43.516), None, "hatched")]

    def test_an_end_that_no_log_tells_is_hatched(self):
        """What is not known is drawn as not known, and has no end."""
        old, doubt, _ = self.drawn(two_leaders("orders", 0, closed=None))
        assert old[2:] == (at(42.861), "solid")
        assert doubt == (LOWER, at(42.861), None, "hatched")

    def test_a_partition_without_leader_is_neither_gap_nor_colour(self):
        """Nobody leads: a dashed half strip that says so."""
        first, second = strips({"orders": 1})
        (one,) = timeline_strips.partitions([first, second._replace(leader=None)], [two_leaders("orders", 0)])
        row = timeline_strips.row(one, lambda _: "live")
        assert [strip.how for strip in row.strips] == ["solid", "dashed"]
        assert "no leader" in [label.text for label in row.labels]

    def test_a_label_stands_where_only_its_own_strip_is(self):
        """The new leader is named from where the old one gave up."""
        (one,) = timeline_strips.partitions(strips({"orders": 1}), [two_leaders("orders", 0)])
        _, old, new = (label for label in timeline_strips.row(one, lambda _: "live").labels if not label.instead)
        assert (old.text, old.end) == ("57 leads, epoch 12", at(42.861))
        assert (new.text, new.start) == ("55 leads, epoch 13", at(44.118))

    @pytest.mark.parametrize(("partitions", "drawn", "said"), [(40, 40, "40 moved"), (41, 12, "12 of 41 strips")])
    def test_of_very_many_the_first_are_drawn_and_the_rest_counted(self, partitions, drawn, said):
        """Forty are drawn; of more than forty those that matter most."""
        figure = figure_of(desk(minute({"orders": partitions})).lanes())
        assert said in written(figure)
        assert sum(text.startswith("orders-") for text in written(figure)) == drawn

    def test_kafkas_own_topics_come_after_others(self):
        """Fifty partitions of the offsets topic do not hide the one that somebody writes to."""
        topics = {"__consumer_offsets": 50, "orders": 1}
        windows = [two_leaders(topic, n) for topic, many in topics.items() for n in range(many)]
        found = timeline_strips.partitions(strips(topics), windows)
        assert timeline_strips.shown(found)[0].name == "orders-0"


class TestPicture:
    """What is drawn, in both drawings."""

    @pytest.fixture
    def view(self):
        return desk().lanes()

    def test_every_lane_and_the_window_are_named(self, view):
        """ZooKeeper, controller, brokers, leaders, clients; the window with its length and both bounds."""
        texts = written(figure_of(view))
        assert {"ZooKeeper", "Controller", "Broker 57", "Brokers", "Leaders", "Clients"} <= set(texts)
        assert {
            "12 loss windows, the longest 1.257\u202fs",
            "42.861 elected .. 44.118 truncated",
            "two strips: two leaders",
        } <= set(texts)

    def test_both_drawings_say_the_same(self, view):
        """Names of lanes, windows and partitions, and the number of each sentence, are in the picture without scripts."""
        static = figure_of(view).picture
        words = words_of(str(static))
        assert all(
            text in words for text in written(figure_of(view)) if text.startswith(("12 loss", "orders-", "Broker", "57 leads"))
        )
        (numbers,) = (trace for trace in figure_of(view).data if trace.get("name") == "numbers")
        drawn = re.findall(r'class="number">(\d+)<', str(static))
        assert sorted(re.findall(r"\d+", " ".join(numbers["text"]))) == sorted(drawn) == sorted(str(n) for n in range(1, 9))

    def test_every_colour_can_be_redrawn_in_the_dark(self, view):
        """Each colour of the chart names its token."""
        layout = figure_of(view).layout
        assert all(f"shapes[{n}].line.color" in layout["meta"] for n in range(len(layout["shapes"])))
        coloured = [n for n, note in enumerate(layout["annotations"]) if "color" in note["font"]]
        assert all(f"annotations[{n}].font.color" in layout["meta"] for n in coloured)
        assert all("marker.color" in t["meta"] or t["marker"]["color"] == "rgba(0,0,0,0)" for t in figure_of(view).data)

    def test_a_planned_move_is_no_alarm(self):
        """Its window says so, and is drawn in another colour."""
        windows = tuple(window._replace(planned=True) for window in minute().windows)
        view = desk(minute(windows=windows)).lanes()
        assert "12 planned moves, the longest 1.257\u202fs" in written(figure_of(view))
        assert "A planned move of 12 leaders" in shown(view)

    def test_a_silence_is_said_in_words(self):
        """Beside the picture, to who hears it read, and at the strip: what hatched means, and up to when."""
        windows = (two_leaders("orders", 0)._replace(silent=at(43.516)), two_leaders("orders", 1))
        view = desk(minute({"orders": 2}, windows=windows)).lanes()
        said = "broker 57 logged nothing until 43.516 and may have been paused; whether it answered is unknown"
        assert said in words_of(shown(view))
        assert said in figure_of(view).alternative
        (strip,) = (words for t in figure_of(view).data for words in t.get("hovertext", ()) if "logged nothing" in words)
        assert strip.startswith("orders-0: 57 ")
        assert "Hatched" not in shown(desk().lanes())

    @settings(deadline=None)
    @given(st.floats(20, 700), st.integers(1, 3))
    def test_a_shorter_label_stands_in_where_the_longer_has_no_room(self, room, chains):
        """Of each label and what stands in for it the longest that fits is drawn, and never two."""
        texts = ("57 leads, epoch 12", "57 leads", "57")
        labels = [
            Label(text=text, start=n * 1000.0, end=n * 1000 + room, instead=text != texts[0])
            for n in range(chains)
            for text in texts
        ]
        drawn = [label for label, _ in lanes_fit.fitted(labels, (0, 1000 * chains), 1000 * chains)]
        fits = next((text for text in texts if Label(text=text).width <= room), None)
        assert [label.text for label in drawn] == [fits] * chains * (fits is not None)

    @pytest.mark.parametrize("events", [0, 1, 5, 5000, 5001])
    def test_few_events_are_drawn_each_and_many_are_counted(self, events):
        """Up to five thousand are single marks; above, counts that add up to all of them."""
        rows = tuple(log(n / 1000, 57, n + 1, "isr_shrunk") for n in range(events))
        bare = minute(rows=rows, story=(), chains=(), roots=(), windows=(), partition_history=())
        view = desk(bare).lanes()
        figure = figure_of(view)
        if not events:
            assert figure is None and "There is nothing to draw." in shown(view)
            return
        traces = {trace.get("name"): trace for trace in figure.data}
        singles, counts = traces["ticks"], traces["bins"]
        assert len(singles["x"]) == (events if events <= 5000 else 0)
        assert sum(counts["customdata"]) == (events if events > 5000 else 0)

    @settings(deadline=None)
    @given(st.lists(st.floats(0, 10_000), max_size=30), st.floats(100, 2000))
    def test_numbers_never_hide_each_other(self, times, width):
        """Discs at one time stand side by side, in order."""
        marks = [Mark(at=time, words="", number=n + 1) for n, time in enumerate(times)]
        places = [x for _, x in lanes_fit.spread(marks, (0, 10_000), width, apart=19)]
        assert all(after - before >= 19 - 1e-6 for before, after in pairwise(places)) or len(times) * 19 > width

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.floats(0, 900), st.floats(1, 900), st.sampled_from(["left", "center", "right"])), max_size=20))
    def test_labels_never_cover_each_other(self, stretches):
        """A label without room is left out; the others keep clear of each other and inside their stretch."""
        labels = [Label(text="57 leads", start=start, end=start + long, side=side) for start, long, side in stretches]
        drawn = list(lanes_fit.fitted(labels, (0, 1800), 700))
        spans = sorted((left, left + label.width) for label, left in drawn)
        assert all(after[0] >= before[1] - 4 for before, after in pairwise(spans))


class TestStory:
    """Sentences that can be taken away."""

    def test_each_has_its_number_its_time_and_its_proof(self):
        """Eight of them, the deciding ones with their first clause in bold."""
        html = shown(desk().story())
        assert [item["id"] for item in Page.read(html).all("li")] == [f"story-{n}" for n in range(1, 9)]
        assert "11:03, seconds UTC" in html
        assert "<strong>It becomes a follower and truncates</strong>" in html
        assert "<code>orders-3</code>" in html
        assert {row.proof for row in (ROWS[0], ROWS[1], ROWS[12])} <= set(desk().story().cites)

    def test_files_are_inside_the_page(self):
        """Markdown and CSV can be saved without scripts and without a network."""
        links = {a["download"]: a["href"] for a in Page.read(shown(desk().story())).all("a") if "download" in a}
        assert set(links) == {"messaging-a-timeline.md", "messaging-a-timeline.csv"}
        contents = [b64decode(link.partition(";base64,")[2]).decode() for link in links.values()]
        assert all(link.startswith("data:text/") for link in links.values())
        assert all("88120417" in content for content in contents)

    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.tuples(hostile, hostile), min_size=1, max_size=3), hostile)
    @pytest.mark.parametrize("reader", READERS, ids=READERS)
    def test_as_markdown_evidence_stays_text(self, reader, told, name):
        """Whatever names and lines hold, who renders the story reads it literally, on one line, and finds no markup of theirs."""
        root = Root("network", f"Host {name}", 57, 0, (Indication(f"as {name}"),), (), (), 1)
        story = sentences([(f"{text} fails.", f"brokers/{proof}:1") for text, proof in told])
        page = Rendered.read(READERS[reader](timeline_story.markdown(Told(story, roots=(root,)))))
        lines = [*(f"undated {s.text} ({one_line(s.proof)})" for s in story), f"{one_line(root.name)}. for: as {name}"]
        assert page.items == list(map(one_line, lines))
        assert set(page.tags) <= {"h2", "ul", "li", "code", "strong"}

    @settings(deadline=None)
    @given(st.lists(st.tuples(hostile, hostile), min_size=1, max_size=3))
    def test_as_csv_evidence_stays_text(self, told):
        """Each cell comes back whole, and none is one that a spreadsheet would compute: such a one is quoted as text."""
        _, *rows = csv.reader(StringIO(timeline_story.csv(Told(sentences(told))), newline=""))
        assert [[cell.removeprefix("'") for cell in row[-2:]] for row in rows] == [
            [cell.removeprefix("'") for cell in pair] for pair in told
        ]
        assert not [cell for row in rows for cell in row if re.match("[=+\\-@\t\r\n\uff0b\uff0d\uff1d\uff20]", cell)]

    def test_no_story_is_said(self):
        """Nothing that belongs together is a sentence, not an empty box."""
        assert "have no story" in shown(desk(minute(story=())).story())


class TestTables:
    """Roots, chains, windows, events, silences."""

    def test_candidates_are_ranked_with_what_speaks_against_each(self):
        """The first stands out; what could not be checked is marked."""
        words = words_of(shown(desk().roots()))
        assert (
            words.index("1. Network of the host of broker 57")
            < words.index("2. Long GC pause")
            < words.index("3. ZooKeeper fsync")
        )
        assert "11 acks still left 57" in words
        assert "57: +12\u202fms ± 6\u202fms" in words

    def test_each_link_has_two_lines_and_the_rule(self):
        """Both proofs of a link are cited."""
        view = desk().chains()
        assert "the controller watches /brokers/ids" in shown(view)
        assert {ROWS[1].proof, ROWS[3].proof} <= set(view.cites)

    def test_an_open_end_is_unknown(self):
        """No length is made up for it."""
        view = desk(minute(windows=(two_leaders("orders", 0, closed=None),))).windows()
        assert shown(view).count("unknown") >= 2
        assert "An open end is a ?" in shown(view)

    def test_nothing_wrong_is_said(self):
        """No window, no chain, no silence: each says so."""
        bare = minute(windows=(), chains=(), roots=(), silences=(), untyped=())
        for part, words in (
            ("windows", "No window"),
            ("chains", "No chain"),
            ("roots", "No chain"),
            ("unknown", "No gap is known"),
        ):
            assert words in shown(getattr(desk(bare), part)())

    def test_without_states_no_window_is_ruled_out(self):
        """A log of the controller alone names dead brokers, and tells nothing of a partition."""
        bare = desk(replace(minute(windows=()), partition_history=()))
        for view in (bare.windows(), bare.lanes()):
            assert "Could not check for windows" in words_of(shown(view))
            assert "No window" not in words_of(shown(view))

    def test_rows_tell_their_time_to_the_script(self):
        """A range that is brushed finds them; an open end is empty."""
        html = shown(desk(minute(windows=(two_leaders("orders", 0, closed=None),))).windows())
        (row,) = (tr for tr in Page.read(html).all("tr") if "data-cb-from" in tr)
        assert (row["data-cb-from"], row["data-cb-to"]) == (str(at(42.861)), "")

    @pytest.mark.parametrize("part", PARTS)
    def test_evidence_stays_text(self, part):
        """Names and lines may hold anything."""
        rows = (*ROWS, log(43, 57, 1, "truncated", HOSTILE, topic=HOSTILE, partition=0, group=HOSTILE))
        windows = (two_leaders(HOSTILE, 0), two_leaders("orders", 1)._replace(opened_by=HOSTILE, opened_proof=f"{HOSTILE}:1"))
        hostile = minute(rows=rows, windows=windows, partition_history=strips({HOSTILE: 1}))
        story = tuple(sentence._replace(text=HOSTILE) for sentence in hostile.story)
        view = getattr(desk(replace(hostile, story=story)), part)()
        page = Page.read(shown(view))
        assert page.open == []
        assert not page.all("script") and not page.all("img")
        chart = figure_of(view)
        assert chart is None or "<script" not in str([chart.layout["annotations"], [t.get("hovertext") for t in chart.data]])


class TestChoice:
    """Time and subject: the parameters, and what follows them."""

    def test_a_time_of_day_means_the_day_of_the_incident(self):
        """An end that names a second takes it whole."""
        chosen = selection.parse(minute(), since="11:03:42", until="11:03:44")
        assert (chosen.since, chosen.until) == (at(42), at(44.999))
        assert selection.parse(minute(), since="2019-10-12T13:03:42.5+02:00").since == at(42.5)

    def test_a_topic_may_be_named_with_its_partition(self):
        """orders-3 is a partition, unless a topic bears that very name."""
        assert selection.parse(minute(), topic="orders-3") == Selection(topic="orders", partition=3)
        assert selection.parse(minute({"orders-3": 1}), topic="orders-3") == Selection(topic="orders-3")

    @pytest.mark.parametrize("wrong", [{"since": "noon"}, {"broker": "x"}, {"since": "11:05", "until": "11:04"}])
    def test_what_cannot_be_is_an_error_for_people(self, wrong):
        """It names the parameter."""
        with pytest.raises(UsageError, match=next(iter(wrong))):
            selection.parse(minute(), **wrong)

    @pytest.mark.parametrize(
        ("nowhere", "said"),
        [
            ({"topic": "ordrs"}, "topic=ordrs is not in the evidence. Did you mean orders?"),
            ({"topic": "ordrs-3"}, "topic=ordrs-3 is not in the evidence. Did you mean orders?"),
            ({"topic": "payments-99"}, "topic=payments-99 is not in the evidence. It names partitions 0 to 1 of payments."),
            ({"partition": "99"}, "partition=99 is not in the evidence. It names partitions 0 to 9."),
            ({"broker": "4"}, "broker=4 is not in the evidence. Known: 55, 56, 57, 58, 59."),
            ({"group": "nope"}, "group=nope is not in the evidence. It names no group at all."),
            (
                {"since": "2020-01-01"},
                "since=2020-01-01T00:00:00.000Z is outside the evidence, "
                "which reaches from 2019-10-12T10:53:00.000Z to 2019-10-12T11:03:59.003Z.",
            ),
        ],
    )
    def test_what_is_nowhere_is_no_all_clear(self, nowhere, said):
        """A report about a name or a time without evidence would read as if all were well."""
        found = minute(files=tuple(file._replace(typed=3) for file in minute().files))
        with pytest.raises(UsageError) as refused:
            selection.parse(found, **nowhere)
        assert str(refused.value) == said

    def test_rows_that_are_not_held_may_name_more(self):
        """Of very many events a timeline does without some kinds."""
        found = minute(files=tuple(file._replace(typed=100_000) for file in minute().files))
        assert selection.parse(found, group="billing").group == "billing"

    def test_a_range_says_its_days_where_they_differ(self):
        """And an end that takes its second whole is that second, in words and as a parameter."""
        assert tables.ends(at(42), at(44.999)) == ("11:03:42.000", "11:03:44")
        assert tables.ends(at(42), at(42 + 86_400)) == ("12 Oct 2019, 11:03:42.000", "13 Oct 2019, 11:03:42.000")
        assert tables.ends(None, at(42)) == ("?", "11:03:42.000")
        chosen = selection.parse(minute(), until="11:03:44")
        assert chosen.parameters() == {"until": "2019-10-12T11:03:44Z"}
        assert selection.parse(minute(), **chosen.parameters()) == chosen

    def test_every_part_follows(self):
        """Within two seconds: three sentences, those events, and it is said how many of how many."""
        narrow = desk(since="11:03:42.5", until="11:03:43.1")
        assert len(Page.read(shown(narrow.story())).all("li")) == 3
        assert "11:03:42.500 to 11:03:43.100 UTC, 3 of 15 events." in shown(narrow.events())
        assert figure_of(narrow.lanes()).layout["xaxis"]["range"][0].endswith("11:03:42.500")
        assert "No window" in shown(desk(since="11:03:39", until="11:03:40").windows())

    def test_a_subject_leaves_only_what_is_about_it(self):
        """One partition: its strip, its window, its two events."""
        one = desk(topic="orders-3")
        texts = written(figure_of(one.lanes()))
        assert [text for text in texts if text.startswith("orders-")] == ["orders-3"]
        assert "1 window: 1 two leaders." in shown(one.windows())
        assert "topic orders-3, 2 of 15 events." in shown(one.events())

    def test_what_was_chosen_can_be_had_headless(self):
        """The command names the same choice."""
        html = words_of(shown(desk(since="11:03:42", topic="orders-3", broker="57").lanes()))
        assert "-p since=2019-10-12T11:03:42.000Z -p topic=orders-3 -p broker=57" in html

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 1000), max_size=50), st.integers(0, 1000), st.integers(1, 400), st.integers(1, 30))
    def test_counts_are_those_of_the_rows(self, times, since, long, bins):
        """Whoever counts in bins finds as many as whoever lists."""
        rows = [log(time / 1000, 57, n, "isr_shrunk") for n, time in enumerate(sorted(times))]
        chosen = Selection(since=at(since / 1000), until=at((since + long) / 1000))
        listed, total = HeldEvents(rows).rows(chosen, 10)
        counts = HeldEvents(rows).counts(Selection(), chosen.since, chosen.until, bins)
        assert sum(count.count for count in counts) == total == sum(since <= time <= since + long for time in times)
        assert len(listed) == min(total, 10)


class TestPanel:
    """The fields in JupyterLab."""

    @pytest.fixture
    def panel(self):
        """A desk with widgets: its fields by name, the parts that follow, what is remembered, and its proofs."""
        remembered = {}
        one = desk(interactive=True, remembered=remembered, quote=lambda proof: replace(desk().story(), parts=(proof,)))
        controls, _, _, redrawn, *_ = one.lanes().parts
        (events,) = one.events().parts
        fields = {field.description: field for field in controls.children[0].children}
        return fields, controls, events, redrawn, remembered, one

    def test_everything_below_follows_a_field_and_a_rerun_keeps_it(self, panel):
        """The picture, too, in which nothing is drawn as long as nothing changes."""
        fields, _, events, redrawn, remembered, _ = panel
        assert redrawn.value == ""
        fields["Topic"].value = "orders-3"
        assert "2 of 15 events" in events.value
        assert "orders-3" in redrawn.value and "orders-2" not in redrawn.value
        again = desk(interactive=True, remembered=remembered)
        assert "2 of 15 events" in again.events().parts[0].value

    def test_a_brushed_range_fills_the_fields(self, panel):
        """Both ends at once, and one answer."""
        fields, controls, events, _, _, _ = panel
        controls.children[1].value = "2019-10-12T11:03:42.500Z|2019-10-12T11:03:43.100Z"
        assert fields["From"].value == "2019-10-12T11:03:42.500Z"
        assert "11:03:42.500 to 11:03:43.100 UTC, 3 of 15 events." in events.value

    def test_a_click_shows_the_line(self, panel):
        """The proof behind the mark is quoted."""
        from casebook.page.lanes_figure import target

        _, controls, _, _, _, one = panel
        controls.children[2].value = f"{target(ROWS[0].proof)}|1"
        assert one._panel.answer.value == ROWS[0].proof

    def test_an_error_is_said_in_the_panel(self, panel):
        """A field that makes no sense changes nothing else."""
        fields, controls, events, _, _, _ = panel
        before = events.value
        fields["From"].value = "noon"
        assert "since=noon is not a valid time" in controls.children[3].value
        assert events.value == before

    def test_what_is_nowhere_is_said_in_the_panel(self, panel):
        """Beside the fields; nothing else changes."""
        fields, controls, events, _, _, _ = panel
        before = events.value
        fields["Topic"].value = "ordrs"
        assert "topic=ordrs is not in the evidence. Did you mean orders?" in controls.children[3].value
        assert events.value == before

    def test_what_is_offered_is_in_the_evidence(self):
        """Topics, and their partitions."""
        offered = timeline_panel._offered(minute({"orders": 2}))
        assert offered["topic"] == ["orders", "orders-0", "orders-1"]
        assert offered["broker"] == ["55", "56", "57", "58", "59"]


def test_windows_of_every_kind_have_a_word():
    """None is shown by its name in the code."""
    windows = tuple(two_leaders("orders", 0)._replace(kind=kind) for kind in WindowKind)
    assert "4 windows: 1 two leaders, 1 no leader, 1 under min ISR, 1 loading." in shown(desk(minute(windows=windows)).windows())
