"""What every view keeps: nothing of the evidence becomes markup, unknown is drawn as unknown, the rest is counted."""

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from casebook.facts.cluster import Cluster, Problem
from casebook.facts.observed import Observation, Source
from casebook.facts.znodes import Stat, Znode
from casebook.findings import evidence, tables
from casebook.findings.finding import Coverage, Severity, Status, Step
from casebook.findings.proof import COLLECT_AGAIN
from casebook.kafka import release
from casebook.page import proof
from casebook.page.render import anchor
from casebook.page.view import View, style
from casebook.questions.leadership.views import leadership
from casebook.questions.triage.views import triage
from tests.evidence import made, state, znode
from tests.page.incident import HOSTILE, Page, figures_of, finding, html_of, lead, ok, panel, words_of

CASE = SimpleNamespace(
    name=HOSTILE, digest="0" * 64, collected_at="2026-11-20T03:06:58Z", redacted=(HOSTILE,) * 5, pasted=lambda: None
)
"""What views read of a case."""

FINDINGS = [
    finding(),
    finding("a.b", severity=Severity.WARNING),
    ok("a.c"),
    finding("a.d", status=Status.COULD_NOT_CHECK, severity=None),
    finding("a.e", status=Status.NOT_APPLICABLE, severity=None),
]
VIEWS: dict[str, Callable[[], View]] = {
    "opening": lambda: triage.opening(CASE, lead().cluster, lead().version),
    "summary": lambda: triage.summary(FINDINGS, CASE, lead().cluster),
    "findings": lambda: triage.findings(FINDINGS, until=CASE.collected_at),
    "looked_at": lambda: triage.looked_at(FINDINGS),
    "could_not_check": lambda: triage.could_not_check(FINDINGS),
    "tally": lambda: triage.tally(FINDINGS),
    "where_next": lambda: triage.where_next(FINDINGS),
    "evidence_card": lambda: triage.evidence_card(CASE, lead().cluster, lead().version),
    "whom_to_start": lambda: leadership.whom_to_start(lead()),
    "costs": lambda: leadership.costs(lead()),
    "who_holds_what": lambda: leadership.who_holds_what(lead()),
    "verdict_table": lambda: leadership.verdict_table(lead()),
    "controller_history": lambda: leadership.controller_history(lead()),
    "what_if": lambda: panel(lead(), alive="2,3,4,5", source=HOSTILE),
    "cited": lambda: proof.cited([Znode(path=f"/t/{HOSTILE}", data=HOSTILE.encode())], [(HOSTILE, HOSTILE)]),
}


@pytest.fixture(params=VIEWS, scope="module")
def view(request: pytest.FixtureRequest) -> View:
    return VIEWS[request.param]()


class TestEveryView:
    """Whatever topics, titles, paths and settings are called."""

    def test_evidence_stays_text(self, view):
        """No element and no attribute comes out of the evidence, and every element is closed where it should be."""
        page = Page.read(html_of(view))
        assert page.open == []
        assert not page.all("script")
        assert not page.all("img")
        assert not [attributes for _, attributes in page.elements if any(name.startswith("on") for name in attributes)]

    def test_nothing_is_loaded(self, view):
        """No address is fetched."""
        page = Page.read(html_of(view))
        loads = [
            value
            for _, attributes in page.elements
            for name, value in attributes.items()
            if name in ("src", "srcset", "action", "data")
        ]
        assert loads == []

    def test_tables_have_heads_and_names(self, view):
        """Heads have a scope, boxes that scroll a name and a place in the keyboard's order."""
        page = Page.read(html_of(view))
        assert all(head.get("scope") in ("col", "row", "rowgroup") for head in page.all("th"))
        assert all(box.get("aria-label") for box in page.all("div") if box.get("role") == "region")

    def test_pictures_have_words(self, view):
        """A drawing is named, or is decoration beside a word."""
        page = Page.read(html_of(view))
        assert all(svg.get("aria-hidden") == "true" or svg.get("aria-label") for svg in page.all("svg"))
        assert all(figure.alternative for figure in figures_of(view))

    def test_its_tables_are_documented(self, view):
        """What it wants written has columns that are described."""
        assert set(view.tables) <= set(tables.every())


class TestCharts:
    def test_no_upload_is_offered(self):
        """Plotly's own button would send the data away."""
        from casebook.page.view import _bundle

        config = _bundle(figures_of(leadership.whom_to_start(lead()))[0])["application/vnd.plotly.v1+json"]["config"]
        assert config["showSendToCloud"] is False
        assert config["plotlyServerURL"] == ""
        assert config["displaylogo"] is False

    def test_figure_and_picture_say_the_same(self):
        """The numbers of the drawn bars stand in the picture for readers without scripts."""
        (figure,) = figures_of(leadership.whom_to_start(lead()))
        left = [number for number in figure.data[0]["x"] if number]
        static = words_of(str(figure.picture))
        assert left
        assert all(str(number) in static for number in left)

    def test_nobody_is_to_be_started_by_znodes_of_the_past(self):
        """Neither the picture nor the costs say what the plan does not."""
        past = replace(lead(), outdated=True)
        assert "The broker to start first is unknown: these znodes are of the past." in words_of(
            html_of(leadership.whom_to_start(past))
        )
        assert words_of(html_of(leadership.costs(past))).strip() == ""

    def test_both_orders_are_drawn(self):
        """The price of the other order stands beside the advice: 5 heals 3, 1 only 1."""
        view = leadership.whom_to_start(lead())
        assert "Starting broker 5 first leaves 1 partition offline; starting broker 1 first leaves 3." in words_of(html_of(view))
        assert list(figures_of(view)[0].data[0]["x"]) == [4, 1, 0, 3, 0]

    def test_every_colour_can_be_redrawn(self):
        """Each colour of a trace names the token that it is in the other scheme."""
        from casebook.page.palette import tokens

        for trace in figures_of(leadership.whom_to_start(lead()))[0].data:
            named = json.dumps(list(trace["meta"].values()))
            drawn = {colour for colour in json.dumps(trace).split('"') if colour.startswith("#")}
            assert drawn == {
                tokens()[token][0] for token in json.loads(named) for token in ([token] if isinstance(token, str) else token)
            }


class TestVerdict:
    def test_nothing_found_is_no_clean_bill(self):
        """What could not be checked stands in the second line."""
        said = words_of(
            html_of(
                triage.summary([ok("a.b"), finding("a.c", status=Status.COULD_NOT_CHECK, severity=None)], CASE, lead().cluster)
            )
        )
        assert "OK Nothing found in 1 check 1 question could not be checked, so the cluster is not proven healthy." in said
        assert f"Open: {HOSTILE}" in said

    @pytest.mark.parametrize(("name", "said"), [("live:prod", "Live, read "), ("prod", "Evidence of ")])
    def test_of_when_it_is(self, name, said):
        """A cluster that was read for this run is no evidence of some day."""
        case = SimpleNamespace(**vars(CASE) | {"name": name})
        assert f"{said}20 Nov 2026" in words_of(html_of(triage.summary([ok("a.b")], case, lead().cluster)))

    def test_nothing_checked_is_not_ok(self):
        """Without one answer nobody is told OK."""
        said = words_of(html_of(triage.summary([finding(status=Status.COULD_NOT_CHECK, severity=None)], CASE, lead().cluster)))
        assert "COULD NOT CHECK 1 of 1 question could not be answered" in said

    def test_evidence_of_different_moments_is_said_at_the_top(self):
        """Once, before what to do; the answers that are withheld therefore do not say it again."""
        words = "The znodes are 6 h 0 min older than the log dirs"
        withheld = finding("offsets_topic.compacted", status=Status.COULD_NOT_CHECK, severity=None, title=f"Unknown: {words}")
        moments = finding("evidence.moments", status=Status.COULD_NOT_CHECK, severity=None, title=words)
        found = [finding(), withheld, moments]
        assert words_of(html_of(triage.summary(found, CASE, lead().cluster))).count(words) == 1
        assert words not in words_of(html_of(triage.summary(found[:2], CASE, lead().cluster)))

    def test_mostly_unchecked_is_no_note(self):
        """A note is what is known so far, and no headline; what to paste comes first. A critical finding stays the headline."""
        unknown = [finding(f"a.{name}", status=Status.COULD_NOT_CHECK, severity=None) for name in "bcd"]
        pasting = finding("evidence.next", severity=Severity.INFO, facts={"command": "ls /brokers/ids"})
        note = finding("a.note", severity=Severity.WARNING, title="1 topic can lose records")
        said = words_of(html_of(triage.summary([*unknown, pasting, note], CASE, lead().cluster)))
        assert (
            "COULD NOT CHECK 3 of 5 questions could not be answered First Paste the output of ls /brokers/ids Known so far: 1 topic can"
            in said
        )
        critical = finding("a.critical", title="1 partition has no leader")
        assert "CRITICAL 1 partition" in words_of(html_of(triage.summary([*unknown, critical], CASE, lead().cluster)))

    def test_unknown_brokers_are_said(self):
        """When registrations could not be listed, nobody is called dead or alive."""
        unknown = replace(lead().cluster, brokers={}, brokers_known=False)
        said = words_of(html_of(triage.summary(FINDINGS, CASE, unknown)))
        assert "The live brokers are unknown" in said
        assert "alive" not in said

    def test_dead_brokers_come_first_and_the_rest_is_counted(self):
        """A strip of 12 for 40 brokers shows the dead ones, and says how many more there are."""
        topics = {"t": {n: ([n, n + 20], state(n + 20, [n + 20])) for n in range(1, 16)}}
        said = words_of(html_of(triage.summary(FINDINGS, CASE, made(live=range(21, 46), topics=topics))))
        assert said.count("dead") == 13
        assert "3 more ✕ dead" in said
        assert "25 more alive" in said


class TestCosts:
    def test_who_waits_keeps_partitions_down(self):
        """Of a topic others may be online: it is partitions that stay down."""
        dead, well = ([5], state(-1, [5])), ([2, 3], state(2, [2, 3]))
        two = lead(topics={"t": {0: dead, 1: dead, 2: well}, "u": {0: dead, 1: well}})
        assert "Wait 3 0 partitions of 2 topics stay offline" in words_of(html_of(leadership.costs(two)))
        one = lead(topics={"t": {0: dead, 1: well}})
        assert "Wait 1 0 a partition of 1 topic stays offline" in words_of(html_of(leadership.costs(one)))


class TestCoverage:
    @pytest.mark.parametrize(
        ("view", "status"),
        [
            (triage.findings, Status.FINDING),
            (triage.looked_at, Status.OK),
            (triage.could_not_check, Status.COULD_NOT_CHECK),
        ],
    )
    def test_every_answer_shows_what_it_looked_at(self, view, status):
        """How many of how many, by which evidence, as of when: found, well, or not known."""
        observed = {
            Source.LOGS: Observation(1_700_000_000_000, 1_700_003_600_000),
            Source.ZNODES: Observation(*[1_700_003_600_000] * 2),
        }
        seen = Coverage(seen=3, of=None, what="partitions", by=(Source.ZNODES, Source.LOGS, Source.SETTINGS), observed=observed)
        severity = Severity.WARNING if status is Status.FINDING else None
        if status is Status.OK:
            seen = replace(seen, of=3)
        told = words_of(html_of(view([finding(status=status, severity=severity, coverage=seen)])))
        by = "znodes (14 Nov, 23:13 UTC) and logs (14 Nov, 22:13 to 14 Nov, 23:13 UTC) and server.properties"
        assert f"{'3 of 3' if status is Status.OK else '3'} partitions, by {by}" in told


class TestFindings:
    def test_how_long(self):
        """Since when, and for how long until the evidence was read."""
        assert "since 20 Nov 2026, 02:58:40 UTC (8 min 18 s)" in words_of(
            html_of(triage.findings([finding()], until=CASE.collected_at))
        ).replace("\u202f", " ")

    def test_what_was_done_shows_in_new_evidence_only(self):
        """A folder is to be collected again; a live source needs no more than another run; without a finding nothing was done."""

        def said(findings, source):
            return words_of(html_of(triage.findings(findings, until=CASE.collected_at, source=source)))

        for kept in ("my-case", "sample:leader_minus_one"):
            assert "After any change, collect again with casebook collect" in said([finding()], kept)
        assert "After each change, run this notebook again" in said([finding()], "live:prod")
        assert "casebook collect" not in said([finding()], "live:prod")
        assert "After each change" not in said([ok("a.c")], "my-case")

    def test_nothing_found_is_well_only_where_most_was_checked(self):
        """Without answers there is no tick."""
        unknown = finding(status=Status.COULD_NOT_CHECK, severity=None)
        assert words_of(html_of(triage.findings([ok("a.c")]))) == "Nothing was found."
        said = words_of(html_of(triage.findings([ok("a.c"), unknown, unknown])))
        assert said == "Nothing was found in what could be checked; 2 of 3 questions could not be answered."

    def test_without_znodes_it_says_how_they_are_had(self):
        """Nobody was forbidden to read them; the case of a log alone is no dump."""
        cluster = Cluster(brokers_known=False, missing_parts=(Problem(path="/", reason="no znodes in this case"),))
        known = release.release(cluster)
        forbidden = finding("a.d", status=Status.COULD_NOT_CHECK, severity=None, settle=COLLECT_AGAIN)
        said = words_of(html_of(triage.could_not_check([*evidence.checks(cluster, known), forbidden])))
        assert said.count("casebook collect --zookeeper HOST:2181 --logs") == 3
        assert "an account that has access" not in said
        assert "after you remove the cause" not in said
        card = words_of(html_of(triage.evidence_card(CASE, cluster, known)))
        assert "ZooKeeper no znodes in this case" in card
        assert "Not your release? Add -p kafka_version=" in card

    def test_an_inferred_release_stands_beside_the_verdict(self):
        """With how to name another that is possible; a release that is known has none."""
        inferred = made(extra=[znode("/brokers/ids/1", {"version": 5})])
        for given, told in (("", True), ("2.8.2", False)):
            found = evidence.checks(inferred, release.release(inferred, given=given))
            assert (
                "Not your release? Add -p kafka_version=2.8.2." in words_of(html_of(triage.summary(found, CASE, inferred)))
            ) == told

    def test_since_the_state_was_written(self):
        """That is no begin: it may have been so before."""
        said = words_of(html_of(triage.findings([finding(at_latest=True)])))
        assert "since 20 Nov 2026, 02:58:40 UTC at the latest" in said

    def test_proofs_lead_to_what_is_quoted(self):
        """Every link is cited, so that it is quoted at the end; only two stand in the finding."""
        view = triage.findings([finding()])
        links = [link["href"] for link in Page.read(html_of(view)).all("a")]
        quoted = [f"#{anchor(path)}" for path in view.cites[:2]]
        assert links == ["#next-20_partition_leadership", "#verdict", *quoted, "tables/partitions.parquet", "#cited"]
        assert len(view.cites) == 4
        assert "2 more" in words_of(html_of(view))

    def test_left_out_evidence_is_counted(self):
        """The card names three missing parts and counts the rest."""
        short = replace(made(extra=[]), missing_parts=tuple(Problem(path=f"/p{n}", reason="denied") for n in range(9)))
        assert "/p2: denied; and 6 more" in words_of(html_of(triage.evidence_card(CASE, short, lead().version)))

    def test_what_is_not_there_is_said(self):
        """A znode that was asked for and is missing is quoted as that."""
        from casebook.facts.znodes import ReadOutcome

        said = words_of(html_of(proof.cited([Znode(path="/controller", outcome=ReadOutcome.MISSING, stat=Stat())], [])))
        assert "/controller not there missing" in said


class TestWhoHoldsWhat:
    def test_glyphs_say_their_role(self):
        """Roles are drawn and said: the dead in-sync copy, the dead leader, the replica out of sync."""
        labels = [svg.get("aria-label") for svg in Page.read(html_of(leadership.who_holds_what(lead()))).all("svg")]
        assert {"in sync, but dead", "named as leader, but dead", "replica, not in sync", "leader", "dead, not in sync"} <= set(
            labels
        )

    def test_like_rows_are_folded(self):
        """A thousand partitions that look alike are one row with their number."""
        topics = {"t": {n: ([5, 2], state(-1, [5])) for n in range(1000)}}
        found = lead(topics=topics)
        html = html_of(leadership.who_holds_what(found))
        assert "1\u202f000 like t-0" in words_of(html)
        assert len(Page.read(html).all("tr")) == 3

    def test_the_rest_is_counted(self):
        """More kinds of rows than are drawn: their number is told, and where they are."""
        topics = {f"t{n:02}": {0: ([*[*range(1, 7)][n % 6 :], 10 + n], state(-1, [10 + n]))} for n in range(60)}
        html = html_of(leadership.who_holds_what(lead(topics=topics)))
        assert "40 of 60 kinds of rows shown" in words_of(html)

    def test_a_whole_cluster_is_one_sentence(self):
        """Nothing ails: no empty map."""
        html = html_of(leadership.who_holds_what(lead(topics={"t": {0: ([2, 3], state(2, [2, 3]))}})))
        assert "Every partition is complete" in words_of(html)
        assert not Page.read(html).all("table")


class TestVerdictTable:
    def test_unknown_is_unknown(self):
        """A state that cannot be read is no empty ISR and no missing winner."""
        topics = {"unread": {0: ([2, 3], b"not json")}}
        html = html_of(leadership.verdict_table(lead(topics=topics)))
        cells = words_of(f"<p>{html.partition('unread-0')[2].partition('</th>')[2].partition('</tr>')[0]}</p>")
        assert cells.count("unknown") == 4  # what it says, ISR, both winners

    def test_top_of_many(self):
        """Two hundred rows of a thousand, and where all of them are."""
        topics = {"t": {n: ([5, 2], state(-1, [5])) for n in range(1000)}}
        view = leadership.verdict_table(lead(topics=topics))
        page = Page.read(html_of(view))
        assert len([row for row in page.all("tr") if row.get("class") == "cb-alarm"]) == leadership.MOST_ROWS
        assert "200 of 1\u202f000 shown; all of them in tables/partitions" in words_of(html_of(view))
        assert "Rows 1 to 40 of 1\u202f000 are printed." in words_of(html_of(view))
        assert len(view.tables["partitions"]) == 1000
        assert [box for box in page.all("input") if box.get("type") == "search"]


class TestStyle:
    def test_it_is_one_style_and_two_scripts(self):
        """The opening cell carries all that the views need, and each script ends where it should."""
        page = Page.read(html_of(style()))
        assert [name for name, _ in page.elements] == ["style", "script", "script"]
        assert page.open == []


def test_a_step_stands_once_in_full():
    """Where it belongs first, the first of all in the headline; below, how the first begins, as a link to where the rest is."""
    start, save, elect = (
        Step(kind=kind, text=text, command="bin/x")
        for kind, text in (
            ("first", "Start broker 5: it heals 8."),
            ("then", "Save t-0."),
            ("first", "Elect the preferred. It is safe."),
        )
    )
    never = Step(kind="not", text="Delete nothing.")
    both = [
        finding("leadership.offline", next=(start, save, never)),
        finding("leadership.under_min_isr", next=(start, save, never)),
        finding("maintenance.unpreferred_leaders", next=(elect,)),
        finding("maintenance.zones", next=(elect,)),
    ]
    page = html_of(triage.findings(both))
    assert page.count('<a href="#verdict">Start broker 5</a> (above)') == 2
    assert page.count("it heals 8") == 0
    assert page.count("Save t-0.") == page.count("Delete nothing.") == page.count("It is safe.") == 1
    assert '<a href="#maintenance.unpreferred_leaders">Elect the preferred</a>' in page
