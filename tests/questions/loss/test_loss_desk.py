"""Notebook 70's pictures, tables and records, from a morning made by hand; and what is chosen of it."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.errors import UsageError
from casebook.facts.losses import Cause, ClassCount
from casebook.facts.records import RecordVerdict
from casebook.page import lanes
from casebook.page.context import PanelContext
from casebook.page.lanes import DISC, HATCHED, OPEN
from casebook.questions.loss.analysis.gaps import GapKind
from casebook.questions.loss.analysis.unprocessed_rows import (
    CommitStep,
    GroupWork,
    SkipKind,
    StepKind,
    Unprocessed,
    UnprocessedDoubt,
)
from casebook.questions.loss.views import choice, consumers, offsets, when
from casebook.questions.loss.views import lanes as loss_lanes
from casebook.questions.loss.views import words as loss_words
from casebook.questions.loss.views.choice import LossChoice
from casebook.questions.loss.views.loss import LossPage
from casebook.questions.loss.views.when import LossPicture
from tests.page.incident import Page, figures_of, html_of, words_of
from tests.questions.loss.lost import (
    CHANGES,
    HOSTILE,
    HOUR,
    LINE,
    LOST,
    MINUTE,
    OUTSIDE,
    SIX,
    WINDOW,
    change,
    counted,
    morning,
    record,
)

PARTS = (
    *("when", "why", "not_lost", "records", "partitions", "disappeared", "gaps", "copies", "next_election", "never_processed"),
)
LINKS = {"lost.csv": "lost.csv", "lost.parquet": "lost.parquet", "lost.jsonl": "lost.jsonl"}
NOW = {change.number: change for change in CHANGES}


def desk(found=None, *, interactive=False, remembered=None, links=None, work=(), unprocessed=(), steps=(), **chosen):
    """The desk over a morning, at parameters."""
    found = morning() if found is None else found
    given_ = choice.parse(found, **chosen)
    kept = {} if remembered is None else remembered
    context = PanelContext(interactive=interactive, remembered=kept, source="case")
    return LossPage(found, given_, context, links=links, work=work, unprocessed=unprocessed, steps=steps)


def shown(view):
    """What a person reads of a view."""
    return words_of(html_of(view))


def written(figure):
    """Every text in a chart."""
    return [re.sub(r"</?b>", "", note["text"]) for note in figure.layout["annotations"]]


def scene(found, **chosen):
    return LossPicture(found=found, chosen=choice.parse(found, **chosen))


def rows_of(view):
    """The cells of each row of the tables of a view."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html_of(view), re.DOTALL)
    return [[words_of(cell) for cell in re.findall(r"<t[hd][^>]*>.*?</t[hd]>", row, re.DOTALL)] for row in rows]


moments = st.integers(SIX, SIX + 6 * HOUR)
losses = st.lists(
    st.builds(
        lambda number, at, dated: record(
            f"r{number}-{at}", NOW.get(number), at if dated else None, topic="orders", partition=number % 3
        ),
        st.sampled_from([None, 12, 13]).map(lambda number: 99 if number is None else number),
        moments,
        st.booleans(),
    ),
    max_size=30,
).map(tuple)
"""Lost records at any time, some of them alarms, some without time."""


class TestWhen:
    """Lost records against the windows."""

    def test_the_takeaway_has_the_number_and_the_window(self):
        """Eleven of twelve in one window, and the one outside is said."""
        said = shown(desk().when())
        assert "11 of 12 fall into the 11:03:42 window; 1 outside every window." in said
        assert "1\u202f204\u202f331 records expired by retention: not lost, not drawn." in said

    def test_the_overview_names_windows_moves_and_the_alarm(self):
        """The window with what it took, the planned move that took nothing, the one outside with its moment."""
        texts = written(figures_of(desk().when())[0])
        assert {"11 lost", "11:03:42 window", "planned move of 12 leaders", "08:15:00, 0 lost"} <= set(texts)
        assert "▲ 1 outside every window, 10:47:12" in texts
        assert {"Lost records", "per minute"} <= set(texts)

    def test_each_record_is_a_disc_and_the_alarm_an_open_diamond(self):
        """Eleven discs at their moments, one diamond at its own."""
        pictures = [picture for _, picture in loss_lanes.drawn(scene(morning())).pictures]
        marks = [mark for picture in pictures for lane in picture.lanes for row in lane.rows for mark in row.marks]
        assert sorted(mark.at for mark in marks if mark.shape == DISC) == sorted(one.acked_at for one in LOST[1:])
        assert [mark.at for mark in marks if mark.shape == OPEN] == [OUTSIDE.acked_at]

    def test_a_window_is_hatched_from_where_loss_is_possible_to_its_end(self):
        """It begins before the election, where the next leader had already stopped fetching."""
        early = change(12, "orders", 3, since=WINDOW - 400)
        ((_, picture),) = loss_lanes.drawn(scene(morning(LOST[1:4], changes=(early,)))).pictures
        (strip,) = (s for lane in picture.lanes for row in lane.rows for s in row.strips if s.how == HATCHED)
        assert (strip.start, strip.end) == (WINDOW - 400, early.closed)
        assert {tick.at for tick in picture.ticks} == {WINDOW, early.closed}

    def test_an_end_that_is_not_in_the_evidence_stays_open(self):
        """The window reaches to the picture's edge, and the numbers say that it is unknown."""
        found = morning(LOST[1:4], changes=(change(12, "orders", 3, closed=None),))
        ((_, picture),) = loss_lanes.drawn(scene(found)).pictures
        assert [s.end for lane in picture.lanes for row in lane.rows for s in row.strips] == [None, None]
        assert "57 → 55 11:03:42.861 11:03:42.861 unknown" in shown(desk(found).when())

    @settings(deadline=None)
    @given(losses)
    def test_every_record_is_counted_once(self, lost):
        """In the overview, and in one stretch of loss; those without time are said to be missing in both."""
        one = scene(morning(lost))
        dated = sum(row.acked_at is not None for row in lost)
        assert one.undated == len(lost) - dated
        assert sum(lost for _, lost, _ in one.bins) == dated
        assert sum(alarms for _, _, alarms in one.bins) == sum(r.cause is None and r.acked_at is not None for r in lost)
        assert sum(episode.lost for episode in loss_lanes.episodes(one)) == dated
        assert all(width * when._MOST_BINS >= max(one.times) - min(one.times) for width, _ in [one.bin])

    @settings(deadline=None)
    @given(losses)
    def test_stretches_of_loss_do_not_touch(self, lost):
        """They are in order, ten seconds apart at least, and each holds what was lost in it."""
        episodes = loss_lanes.episodes(scene(morning(lost)))
        assert all(one.until + 10_000 < other.since for one, other in pairwise(episodes))
        assert all(one.since <= row.at <= one.until for one in episodes for row in one.counts)

    @pytest.mark.parametrize(("many", "counts"), [(200, False), (201, True)])
    def test_very_many_are_counts_per_50_ms(self, many, counts):
        """Up to 200 a disc each; above, bars that add up to all of them, and it is said how large the largest is."""
        lost = tuple(record(f"o-{n}", NOW[12], WINDOW + n * 1200 // many) for n in range(many))
        drawn = loss_lanes.drawn(scene(morning(lost)))
        ((_, picture),) = drawn.pictures
        assert sum(len(row.marks) for lane in picture.lanes for row in lane.rows) == (0 if counts else many)
        assert sum(tick.count for tick in picture.bins) == (many if counts else 0)
        largest = max(sum(1 for one in lost if one.acked_at // 50 == at // 50) for at in (one.acked_at for one in lost))
        said = shown(desk(morning(lost)).when())
        assert (f"Lost records of each partition, {largest} in the largest bar" in said) == counts
        assert ("counted per 50 ms" in said) == counts

    def test_counts_are_drawn_where_not_all_records_are_at_hand(self):
        """Of 5,000 only the first thousand are held: discs would be too few."""
        counts = tuple(counted(LOST[1:2])[0]._replace(records=10, at=WINDOW + n * 50) for n in range(15))
        ((_, picture),) = loss_lanes.drawn(scene(morning(LOST[1:2], counts=counts))).pictures
        assert sum(tick.count for tick in picture.bins) == 150

    def test_alarms_keep_their_mark_among_counts(self):
        """An open diamond each, beside the bars of the others."""
        lost = (OUTSIDE, *(record(f"o-{n}", NOW[12], WINDOW + n) for n in range(300)))
        pictures = [picture for _, picture in loss_lanes.drawn(scene(morning(lost))).pictures]
        marks = [mark.shape for picture in pictures for lane in picture.lanes for row in lane.rows for mark in row.marks]
        assert marks == [OPEN]
        assert sum(tick.count for picture in pictures for tick in picture.bins) == 300

    @pytest.mark.parametrize(("partitions", "more"), [(40, 0), (41, 1), (60, 20)])
    def test_above_40_lanes_those_with_most_loss_are_drawn(self, partitions, more):
        """And the rest is counted."""
        changes = tuple(change(n, "orders", n) for n in range(partitions))
        lost = tuple(record(f"o-{n}-{k}", changes[n], WINDOW + 3 * n + k) for n in range(partitions) for k in range(1 + (n > 0)))
        drawn = loss_lanes.drawn(scene(morning(lost, changes=changes)))
        names = {lane.key for _, picture in drawn.pictures for lane in picture.lanes}
        assert (len(names), drawn.more) == (partitions - more, more)
        assert ("orders-0" in names) == (more == 0)
        assert ("more lane" in shown(desk(morning(lost, changes=changes)).when())) == (more > 0)

    def test_stretches_that_lie_far_apart_get_a_picture_each(self):
        """The alarm of 10:47 does not squeeze the window of 11:03."""
        spans = [picture.span for _, picture in loss_lanes.drawn(scene(morning())).pictures]
        assert len(spans) == 2
        assert all(last - first < 3000 for first, last in spans)

    def test_both_drawings_say_the_same(self):
        """Names, numbers, windows and every mark are in the pictures without scripts."""
        view = desk().when()
        static = [str(figure.picture) for figure in figures_of(view)]
        assert len(static) == 3
        overview, *lanes_ = static
        assert {"11 lost", "11:03:42 window", "planned move of 12 leaders"} <= set(re.findall(r">([^<]+)</text>", overview))
        assert sum(one.count('class="disc"') for one in lanes_) == 11
        assert sum(one.count('class="open"') for one in static) == 2
        assert all(f">{name}</text>" in lanes_[1] for name in ("orders-3", "orders-9", "payments-1", "clicks-22"))

    def test_every_colour_can_be_redrawn_in_the_dark(self):
        """Each colour of the charts names its token."""
        for figure in figures_of(desk().when()):
            meta, notes = figure.layout["meta"], figure.layout["annotations"]
            assert all(f"annotations[{n}].font.color" in meta for n, note in enumerate(notes) if "color" in note["font"])
            assert {"yaxis.gridcolor", "yaxis.tickfont.color"} <= set(meta)
            assert all("marker.color" in t["meta"] or t["marker"]["color"] == "rgba(0,0,0,0)" for t in figure.data)

    def test_the_numbers_have_every_window(self):
        """Sixteen, those with loss first, with their proofs."""
        rows = rows_of(desk().when())
        windows = [row for row in rows if len(row) == 8 and row[0] != "Partition"]
        assert [row[:3] for row in windows[:4]] == [
            ["orders-9", "4", "57 → 55"],
            ["orders-3", "3", "57 → 55"],
            ["payments-1", "3", "57 → 58"],
            ["clicks-22", "1", "57 → 59"],
        ]
        assert len(windows) == 16 and sum("planned move" in row[6] for row in windows) == 12
        assert LINE in desk().when().cites

    @given(st.integers(1, 10**12))
    def test_a_scale_has_few_round_counts(self, most):
        """From 0, at most four above it, the last one not far below the largest."""
        numbers = lanes.rounded(most)
        assert numbers[0] == 0 and len(numbers) <= 5
        assert numbers[-1] <= most and 2 * numbers[-1] >= most
        assert all(str(number).rstrip("0")[-1:] in {"", *"12345689"} for number in numbers)


class TestWhy:
    """Causes."""

    def test_the_alarm_is_on_top_and_every_cause_has_a_row(self):
        """With its number, 0, n/a or ?; the alarm's row is tinted."""
        view = desk().why()
        head, *rows = rows_of(view)
        assert head[:2] == ["Cause", "Records"]
        assert rows[0][:2] == ["Outside every window ALARM", "1"]
        assert [row[1] for row in rows[1:]] == ["11", "–", "0", "0", "?", "0", "–"]
        assert html_of(view).count('class="cb-alarm"') == 1
        assert "11 of 12 explained; 1 outside every window." in shown(view)
        assert LINE in view.cites and "tables/lost" not in view.cites

    def test_without_alarm_nothing_is_tinted(self):
        """The row is there, with 0."""
        view = desk(morning(LOST[1:])).why()
        assert rows_of(view)[1][:2] == ["Outside every window", "0"]
        assert "cb-alarm" not in html_of(view)
        assert "All 11 are explained." in shown(view)

    def test_of_a_topic_its_own_records_are_counted(self):
        """Four of payments and orders-9 are not of orders-3; what is not known stays so."""
        rows = rows_of(desk(topic="orders-3").why())
        assert [row[1] for row in rows[1:]] == ["1", "3", "–", "0", "0", "?", "0", "–"]

    def test_everything_that_may_be_shown_has_words(self):
        """No cause, class or label is shown by its name in the code."""
        assert set(loss_words.CAUSES) == {None, *Cause}
        assert {*loss_words.NOT_FOUND, *loss_words.FOUND} == {*RecordVerdict, "reordered"} - {RecordVerdict.LOST}
        assert set(offsets._GAPS) == set(GapKind)
        assert [set(words) for words in (consumers._HOW, consumers._DOUBTS, consumers._STEPS)] == [
            set(SkipKind),
            set(UnprocessedDoubt),
            set(StepKind),
        ]


class TestNotLost:
    """What was not found, and is not lost."""

    def test_each_class_has_its_number_and_its_rule(self):
        """Also with none."""
        rows = rows_of(desk().not_lost())
        assert [
            "Expired by retention",
            "1\u202f204\u202f331",
            "below where its log begins, or older than its first record",
        ] in rows
        assert ["Failed, yet stored", "214", "a duplicate if it was sent again"] in rows
        assert ["Compacted away", "0", "its key has a newer record, or a tombstone"] in rows
        assert "1\u202f204\u202f339 records not found, and not lost." in shown(desk().not_lost())

    def test_partitions_with_loss_come_first_and_say_what_was_read(self):
        """Of which copy, from where to where, and what of it not."""
        rows = rows_of(desk().partitions())
        assert rows[1][:4] == ["orders-3", "4", "1", "0"]
        assert rows[1][-3:] == ["broker 55", "100 to 88129999", "500 to 599"]
        assert "4 of 16 partitions lost records." in shown(desk().partitions())

    def test_whose_records_are_lost(self):
        """By producer, with the causes; where the ledger names none there is no table."""
        assert ["shop-1", "12", "1", "4"] in [row[:4] for row in rows_of(desk().partitions())]
        unnamed = tuple(one._replace(producer=None) for one in LOST)
        assert "producer" not in shown(desk(morning(unnamed)).partitions())


class TestRecords:
    """The lost records themselves."""

    def test_each_has_what_both_sides_say(self):
        """What the ledger says, what lies there now, the cause, the window and the proof."""
        rows = {row[0]: row for row in rows_of(desk().records())}
        alarm = rows["o-5519203"]
        assert alarm[1:4] == ["10:47:12.861", "orders-3 88071902", "o-5519411"]
        assert alarm[4] == "Outside every window ALARM"
        assert alarm[5] == "none; nearest begins 16\u202fmin later"
        assert rows["o-5512759"][3:6] == ["epoch 13", "acks=1 write to a deposed leader, truncated", "57 → 55 at 11:03:42.861"]
        assert len(rows) == 13

    def test_few_that_were_chosen_show_both_sides_beside_each_other(self):
        """Ledger and log of one record; what the ledger does not say is unknown."""
        said = shown(desk(record="o-5519203").records())
        assert "The ledger says Id o-5519203 Acked 12 Oct 2019, 10:47:12.861 UTC Where orders-3 88071902 Key unknown" in said
        assert "The log says There now o-5519411 Cause Outside every window" in said
        assert "-p record=o-5519203" in said

    @pytest.mark.parametrize(
        ("chosen", "records"),
        [
            ({"topic": "orders-3"}, 4),
            ({"topic": "orders"}, 8),
            ({"record": "o-5513"}, 4),
            ({"topic": "orders", "record": "o-5515"}, 0),
        ],
    )
    def test_a_choice_leaves_only_what_it_names(self, chosen, records):
        """By topic, partition, and the beginning of the id; none is said in words."""
        one = choice.parse(morning(), **chosen)
        assert sum(one.holds(row) for row in LOST) == records
        if not records:
            assert "No lost record is of topic orders, record o-5515." in shown(desk(**chosen).records())

    def test_places_in_the_proof_are_links_and_are_quoted(self):
        """Lines and transactions, within the sentence that rests on them."""
        txn = "zookeeper/history.jsonl.zst txn 0x2f0001a81"
        lost = (LOST[1]._replace(evidence=f"cut away ({LINE}), elected ({txn})"),)
        view = desk(morning(lost)).records()
        assert view.cites == (LINE, txn)
        assert "cut away ( 57/server.log:5561 ), elected ( txn 0x2f0001a81 )" in shown(view)
        assert len([a for a in Page.read(html_of(view)).all("a") if a["href"].startswith("#proof-")]) == 2

    def test_files_for_sending_again_are_linked(self):
        """Three of them, to be saved; none where there are none."""
        links = {a["href"] for a in Page.read(html_of(desk(links=LINKS).records())).all("a") if "download" in a}
        assert links == set(LINKS.values())
        assert "For re-sending" not in shown(desk().records())

    def test_of_very_many_the_first_are_shown(self):
        """And how many there are is what was counted, not what is held."""
        lost = tuple(record(f"o-{n}", NOW[12], WINDOW + n) for n in range(300))
        counts = tuple(row._replace(records=10) for row in counted(lost))
        said = shown(desk(morning(lost, counts=counts)).records())
        assert "3\u202f000 lost records. 200 of 3\u202f000 shown; all of them in tables/lost" in said


class TestCopies:
    """Copies, prices, consumers, offsets."""

    def test_divergence_says_what_each_holds_and_that_nothing_shows_it(self):
        """The worst first."""
        rows = rows_of(desk().copies())
        assert rows[1][:3] == ["orders-3", "110 to 119", "other records at the same offsets; equal log ends: no lag shows it"]
        assert "broker 55: 10 records, 880 B, epoch 13, end 120; broker 57: 10 records" in rows[1][3]

    def test_the_safest_start_comes_first(self):
        """With the price of each alternative; one without price is last and unknown."""
        rows = rows_of(desk().next_election())
        assert [row[0] for row in rows[1:4]] == ["broker 55", "broker 59", "broker 58"]
        assert rows[3][2] == "unknown"
        assert "Starting broker 55 first loses nothing" in shown(desk().next_election())

    def test_each_candidate_has_its_price_or_why_it_has_none(self):
        """Records, size, offset, time, keys, groups beyond its end."""
        rows = [row for row in rows_of(desk().next_election()) if len(row) == 8]
        assert rows[2][2:] == [
            "26\u202f635",
            "30.0\u202fMiB",
            "88093782",
            "11:03:42.861 to 11:04:42.861",
            "customer-1",
            "billing by 26\u202f218",
        ]
        assert rows[3][2] == "unknown" and rows[3][5] == "The copy of broker 57, the last leader, is not in the evidence."

    def test_an_unknown_end_of_what_disappeared_is_no_zero(self):
        """Three are known, and more may have been."""
        said = shown(desk().disappeared())
        assert "At least 3 offsets of 1 partition disappeared from a copy." in said
        assert ["4711 to ?", "?"] in [row[2:4] for row in rows_of(desk().disappeared())]
        open_ended = desk(morning(cut_ranges=morning().cut_ranges[1:])).disappeared()
        assert "Offsets of 1 partition may have disappeared from a copy; the number is unknown and may be zero." in shown(
            open_ended
        )

    def test_unexplained_gaps_come_first(self):
        """Then those that cannot be told, then the harmless ones."""
        rows = rows_of(desk().gaps())
        assert [row[0] for row in rows[1:]] == ["unexplained", "cannot tell", "control batch"]
        assert rows[2][3] == "?"

    def test_committed_and_never_processed(self):
        """By group, those with most first; what is unknown is unknown, and why stands beside it."""
        groups = (
            GroupWork("billing", "orders", 4, None, None, None, None, {}, {UnprocessedDoubt.NOT_SCANNED: None}),
            GroupWork("billing", "orders", 3, 900, 7, 1, 3, {SkipKind.CRASH: 2, SkipKind.SKIPPED: 1}, {}),
        )
        rows = (Unprocessed(None, "orders", 3, 880, "billing", SkipKind.CRASH, WINDOW, 880, 900, 12, 4711, 0),)
        view = desk(work=groups, unprocessed=rows).never_processed()
        assert "3 records of 1 group were committed and never processed; others could not be judged." in shown(view)
        first, second = rows_of(view)[1:3]
        crashed = "2 in progress when its worker ended; 1 skipped when a tool set the group beyond it"
        assert first == ["billing", "orders-3", "3", crashed, "7", "1", "900", "–"]
        assert second[2:] == ["unknown", "–", "unknown", "unknown", "unknown", "? its partition was not read"]
        commit = ["11:03:42.861", "880 → 900", "__consumer_offsets-12 4711"]
        assert rows_of(view)[4] == ["unknown", "orders-3 880", "billing", "in progress when its worker ended", *commit]
        assert "3 records never processed. 1 of 3 shown; all of them in tables/unprocessed" in shown(view)

    def test_commits_that_go_back_are_told_without_a_ledger(self):
        """What was processed is not known, how to tell it stands there, and the commits all the same."""
        steps = (
            CommitStep("billing", "orders", 3, 900, 100, WINDOW - 9, WINDOW, StepKind.STALE, 12, 4711, 0),
            CommitStep("billing", "orders", 3, 100, 500, WINDOW, None, StepKind.RESET, 12, 4712, 0),
        )
        said = shown(desk(steps=steps).never_processed())
        assert "NOT APPLICABLE There is no ledger of processed records." in said
        assert "Set the parameter processed to the processed records" in said
        assert "2 commits did not advance normally; 1 went back." in said
        assert "900 → 100 back to an earlier offset" in said


class TestNothing:
    """Empty states."""

    def test_nothing_lost_says_what_was_looked_at_and_what_comes_nearest(self):
        """A tick, the number, and the class that is nearest to a loss."""
        said = shown(desk(morning(())).when())
        assert "OK No acknowledged record is lost: 41\u202f236\u202f118 checked." in said
        assert "Checked 41\u202f236\u202f328 of 41\u202f236\u202f328 records, by ledgers and segments" in said
        assert "Nearest to it 8 records: outcome unknown, not stored" in said

    def test_without_ledger_it_says_how_to_give_one_and_the_rest_is_shown(self):
        """Nothing reads as if nothing were lost."""
        found = morning((), ledger=None)
        said = shown(desk(found).when())
        assert "COULD NOT CHECK Produced records are unknown: there is no ledger." in said
        assert "casebook run message_loss --source case -p ledger=produced.csv" in said
        assert rows_of(desk(found).partitions())[:2] == [
            ["Partition", "Read from", "Offsets read", "Not readable"],
            ["clicks-22", "broker 55", "0 to 999", "–"],
        ]
        assert "16 partitions; their lost records are unknown." in shown(desk(found).partitions())
        for part in ("why", "not_lost", "records"):
            assert "there is no ledger" in shown(getattr(desk(found), part)())
        assert "disappeared from a copy" in shown(desk(found).disappeared())
        assert "Starting broker 55" in shown(desk(found).next_election())

    def test_nothing_matched_is_not_all_lost(self):
        """It leads to the mapping of ids."""
        said = shown(desk(morning((), unmatched=frozenset({"orders"}))).when())
        assert "COULD NOT CHECK Nothing matched" in said
        assert "Check the id mapping" in said

    def test_nothing_was_read(self):
        """Why stands there."""
        said = shown(desk(morning((), unread="No segment was read.")).when())
        assert "COULD NOT CHECK The stored records were not read." in said and "No segment was read." in said

    def test_without_time_nothing_is_drawn_and_all_is_told(self):
        """The records have no time, and neither has the ledger."""
        lost = tuple(one._replace(acked_at=None) for one in LOST)
        found = morning(lost, ledger=morning().ledger._replace(first=None, last=None))
        view = desk(found).when()
        assert figures_of(view) == []
        assert "12 lost records without a time: not drawn." in shown(view)

    @pytest.mark.parametrize("part", PARTS)
    @pytest.mark.parametrize("bare", [True, False])
    def test_whatever_is_missing_no_part_fails(self, part, bare):
        """Nothing at all, or nothing but findings."""
        empty = dict.fromkeys(("changes", "limits", "gaps", "cut_ranges", "divergences", "prices", "start_prices", "causes"), ())
        found = morning((), ledger=None, **empty)
        assert shown(getattr(desk(replace(found, findings=()) if bare else found), part)())


class TestEvidence:
    """Names may hold anything."""

    @pytest.mark.parametrize("part", PARTS)
    def test_evidence_stays_text(self, part):
        """Nothing that evidence holds becomes an element of the page, or of a chart."""
        hostile = change(12, HOSTILE, 3, opened_proof=f"{HOSTILE}:1")
        texts = dict.fromkeys(("key", "producer", "window", "evidence", "there_id"), HOSTILE)
        lost = (record(HOSTILE, hostile, WINDOW + 5, **texts), record(HOSTILE, None, WINDOW + 7, **texts))
        base = morning(lost, changes=(hostile,))
        causes = tuple(
            row._replace(where=HOSTILE, window=HOSTILE, proves=HOSTILE, proof=f"tables/{HOSTILE}") for row in base.causes
        )
        cuts = tuple(row._replace(topic=HOSTILE, why=HOSTILE, proof=f"{HOSTILE}:7") for row in base.cut_ranges)
        prices = tuple(replace(row, topic=HOSTILE, keys=(HOSTILE,), why=row.why and HOSTILE) for row in base.prices)
        gaps = tuple(row._replace(topic=HOSTILE) for row in base.gaps)
        limits = tuple(row._replace(copy=HOSTILE) for row in base.limits)
        found = replace(base, causes=causes, cut_ranges=cuts, prices=prices, gaps=gaps, limits=limits)
        work = GroupWork(HOSTILE, HOSTILE, 0, 1, 1, 0, 1, {SkipKind.CRASH: 1}, {})
        row = Unprocessed(HOSTILE, HOSTILE, 0, 0, HOSTILE, SkipKind.CRASH, 0, 0, 1, 0, 0, 0)
        step = CommitStep(HOSTILE, HOSTILE, 0, 1, 0, 0, 0, StepKind.BACK, 0, 0, 0)
        view = getattr(desk(found, work=(work,), unprocessed=(row,), steps=(step,), links={HOSTILE: HOSTILE}), part)()
        page = Page.read(html_of(view))
        assert page.open == []
        assert not page.all("script") and not page.all("img")
        for chart in figures_of(view):
            assert "<script" not in str([chart.layout["annotations"], [t.get("hovertext") for t in chart.data]])


class TestChoice:
    """Topic and record: the parameters."""

    def test_a_topic_may_be_named_with_its_partition(self):
        """orders-3 is a partition, unless a topic bears that very name."""
        assert choice.parse(morning(), topic="orders-3") == LossChoice(topic="orders", partition=3)
        odd = replace(morning(), gaps=(morning().gaps[0]._replace(topic="orders-3"),))
        assert choice.parse(odd, topic="orders-3") == LossChoice(topic="orders-3")

    def test_what_is_nowhere_is_no_all_clear(self):
        """A report about a topic without evidence would read as if nothing were lost."""
        with pytest.raises(
            UsageError, match=re.escape("topic=ordrs is neither in the ledger nor in the evidence. Did you mean orders")
        ):
            choice.parse(morning(), topic="ordrs")
        with pytest.raises(UsageError, match="topic=orders-77 is neither"):
            choice.parse(morning(), topic="orders-77")

    def test_every_part_follows_the_topic(self):
        """One partition: its records, its windows, its gaps, its prices."""
        one = desk(topic="payments-1")
        assert "3 of 3 fall into the 11:03:42 window." in shown(one.when())
        assert "orders" not in shown(one.partitions()) and "orders" not in shown(one.records())
        assert "Offsets of 1 partition may have disappeared" in shown(one.disappeared())

    def test_a_topic_without_loss_is_not_told_of_that_of_others(self):
        """Its windows took nothing, and what could not be told of it stands beside."""
        doubt = ClassCount("users", 3, str(RecordVerdict.NOT_SCANNED), 7)
        one = desk(morning(classes=(*morning().classes, doubt)), topic="users")
        assert "No lost record of users is known. Nearest to it: 7 records: not looked for." in shown(one.when())
        assert "12 changes of leader; records were lost in 0." in shown(one.when())
        assert "CRITICAL" not in shown(one.when()) + shown(one.records())

    @pytest.mark.parametrize("chosen", [{}, {"topic": "orders-3"}, {"topic": "users", "record": "o-1"}])
    def test_what_was_chosen_can_be_had_headless(self, chosen):
        """Its parameters are the same choice again."""
        one = choice.parse(morning(), **chosen)
        assert one.parameters() == chosen
        assert choice.parse(morning(), **one.parameters()) == one


class TestPanel:
    """The fields in JupyterLab."""

    @pytest.fixture
    def panel(self):
        """Fields by name, the answer, and what is remembered."""
        remembered = {}
        (box,) = desk(interactive=True, remembered=remembered).records().parts
        row, answer = box.children
        return {field.description: field for field in row.children}, answer, remembered

    def test_fields_choose_and_a_rerun_keeps_it(self, panel):
        """By partition, producer, cause and id."""
        fields, answer, remembered = panel
        assert "12 lost records." in answer.value
        fields["Partition"].value = "orders-3"
        assert "4 lost records." in answer.value
        fields["Cause"].value = "Outside every window"
        assert "1 lost record." in answer.value and "o-5519203" in answer.value
        fields["Id begins"].value = "o-99"
        assert "No lost record is of topic orders-3, record o-99, cause Outside every window." in answer.value
        (again,) = desk(interactive=True, remembered=remembered).records().parts
        assert "record o-99" in again.children[1].value

    def test_what_is_offered_is_what_was_lost(self, panel):
        """Partitions, producers and causes of the lost records."""
        fields, _, _ = panel
        assert fields["Partition"].options == ("clicks-22", "orders-3", "orders-9", "payments-1")
        assert fields["Producer"].options == ("shop-1",)
        assert [name for name, _ in fields["Cause"].options] == [
            "all",
            "Outside every window",
            "acks=1 write to a deposed leader, truncated",
        ]

    def test_what_is_nowhere_is_said_in_the_panel(self, panel):
        """And everything is back with one button."""
        fields, answer, _ = panel
        fields["Partition"].value = "ordrs"
        assert "topic=ordrs is neither in the ledger" in answer.value
        fields["All lost records"].click()
        assert "12 lost records." in answer.value

    def test_a_minute_is_a_minute(self):
        """The overview's bins are named by their length."""
        for length, words in (
            (6 * HOUR, "per minute"),
            (5 * MINUTE, "per 1 s"),
            (20_000, "per 50 ms"),
            (300 * 24 * HOUR, "per day"),
        ):
            told = morning().ledger._replace(first=SIX, last=SIX + length)
            said = when.per(LossPicture(found=replace(morning(()), ledger=told), chosen=LossChoice()))
            assert said == words.replace("1 s", "second")
