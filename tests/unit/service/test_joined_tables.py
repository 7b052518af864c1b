"""Tables that are joined are found together, by every door; people say what can be joined."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from pneuma_assets import ConfigError, IndexFilter, QueryError, open_workspace
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.service.joins import judged_joins
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.web.pages.rendering import group_sql
from tests.support.doors import fails, succeeds
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, local_app

AUTHORS = "author_id,name\n" + "".join(f"{n},Person {n}\n" for n in range(8))
PAPERS = "paper_id,title,year\n" + "".join(f"{n},Title {n},{1990 + n}\n" for n in range(8))
WRITES = "author_id,paper_id\n" + "".join(f"{n % 5},{n}\n" for n in range(8))
WEATHER = "day,rain\n" + "".join(f"{n},{n * 3}\n" for n in range(8))
QUESTION = "title of the paper by the author name Person 3"


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """Index four tables, of which three can be joined."""
    files = {"author": AUTHORS, "paper": PAPERS, "writes": WRITES, "weather": WEATHER}
    lake = {f"lake/{name}.csv": text for name, text in files.items()}
    return make_home(tmp_path_factory.mktemp("joined"), lake).parent


@pytest.fixture
def workspace(lake, here, monkeypatch):
    monkeypatch.chdir(lake)
    with open_workspace() as workspace:
        yield workspace


@contextmanager
def judged(workspace, join, *, holds: bool):
    """Let somebody say whether a join holds, and take it back."""
    workspace.judge_join(*join, holds=holds, author="ana")
    try:
        yield
    finally:
        workspace.judge_join(*join, holds=None)


JOINED = {"lake/author", "lake/writes", "lake/paper"}


def test_tables_that_answer_together_are_found_with_their_joins(workspace):
    first = workspace.find_groups(QUESTION, k=3)[0]
    assert set(first.tables) == JOINED
    assert {edge.on for edge in first.joins} == {
        ("lake/writes", ("author_id",), "lake/author", ("author_id",)),
        ("lake/writes", ("paper_id",), "lake/paper", ("paper_id",)),
    }
    assert first.answerable is not None


def test_a_question_opens_the_state_once_and_reads_evidence_once(workspace, monkeypatch):
    workspace.find_groups(QUESTION)
    index, read = workspace.search_index, []
    evidence = index.evidence

    def counted(table_ids):
        read.extend(table_ids)
        return evidence(table_ids)

    monkeypatch.setattr(index, "evidence", counted)
    monkeypatch.setattr(
        "pneuma_assets.core.service.state.open_store", lambda *_: pytest.fail("opened")
    )
    assert set(workspace.find_groups(QUESTION)[0].tables) == JOINED
    assert len(read) == len(set(read)) == 4


def test_one_table_or_those_of_a_filter_make_a_group(workspace):
    assert workspace.find_groups("rain by day")[0].tables == ("lake/weather",)
    kept = ("lake/author", "lake/paper")
    found = workspace.find_groups(QUESTION, where=IndexFilter(tables=kept))
    assert {table for group in found for table in group.tables} == set(kept)
    assert not any(group.joins for group in found)  # what links them is not let through


def test_no_group_has_a_table_that_the_asker_may_not_see(workspace):
    index = workspace.search_index
    before = index.facts(["lake/writes"])
    try:
        index.set_facts({"lake/writes": TableFacts(readers=("finance",))})
        hidden = workspace.find_groups(QUESTION, where=IndexFilter(readers=("ana",)))
        seen = workspace.find_groups(QUESTION, where=IndexFilter(readers=("finance",)))
    finally:
        index.set_facts(before)
    assert {table for group in hidden for table in group.tables} == {
        "lake/author", "lake/paper", "lake/weather",
    }  # fmt: skip
    assert set(seen[0].tables) == JOINED


def test_wrong_questions_are_refused_as_those_of_a_search(workspace):
    with pytest.raises(QueryError):
        workspace.find_groups("  ")
    with pytest.raises(QueryError):
        workspace.find_groups("rain", k=0)
    with pytest.raises(QueryError, match="did you mean"):
        workspace.find_groups("rain", where=IndexFilter(tables=("lake/wether",)))


def test_the_joins_of_a_table_are_told_from_its_side(workspace):
    [one] = workspace.joins("lake/author")
    assert (one.columns, one.other, one.refers, one.kind) == (
        ("author_id",), "lake/writes", False, "inferred",
    )  # fmt: skip
    assert [join.refers for join in workspace.joins("lake/writes")] == [True, True]
    assert workspace.joins("lake/weather") == []


def test_a_statement_of_joined_tables_calls_them_as_statements_do(here):
    lake = {"lake/v.1/author.old.csv": AUTHORS, "lake/v.1/writes.old.csv": WRITES}
    make_home(here, lake)
    with open_workspace() as workspace:
        groups = [one for one in workspace.find_groups("papers by author name") if one.joins]
        for one in groups:
            sql = group_sql(one, workspace.statement_names(one.tables))
            assert len(workspace.run_sql(sql, one.tables).rows) == 8
    assert groups


def drawn_joins(page: str) -> set[tuple[str, str]]:
    """From which table to which each arrow of the drawing of joins points."""
    drawing = page.partition('aria-label="Joins">')[2].partition("</svg>")[0]
    boxes = re.findall(r'<title>(.+)</title><rect x="([\d.]+)" y="([\d.]+)" width="(\d+)"', drawing)
    starts = {(float(x) + float(width), float(y) + 22): name for name, x, y, width in boxes}
    ends = {(float(x) - 3, float(y) + 22): name for name, x, y, _ in boxes}
    curves = re.findall(r'd="M(\S+) (\S+)C[^"]* (\S+) (\S+)" marker-end', drawing)
    points = [tuple(map(float, curve)) for curve in curves]
    return {(starts[points[:2]], ends[points[2:]]) for points in points}


def test_arrows_point_from_who_refers_as_the_command_line_says(workspace, lake):
    with client_of(local_app(lake / "pneuma.yaml")) as client:
        for table_id in sorted(JOINED):
            told = json.loads(succeeds("joins", table_id, "--json"))
            pairs = [(table_id, one["other"])[:: 1 if one["refers"] else -1] for one in told]
            page = client.get(f"/tables/{table_id}").text
            assert drawn_joins(page) == set(pairs)
            said = re.findall(r"(refers to|is referred to by)</span> <a[^>]*>(.+?)</a>", page)
            assert said == [
                ("refers to" if one["refers"] else "is referred to by", one["other"])
                for one in told
            ]


def test_what_people_reject_joins_nothing_until_they_take_it_back(workspace):
    join = ("lake/writes", ["author_id"], "lake/author", ["author_id"])
    assert workspace.judged_joins() == []
    assert "No joins confirmed or rejected." in succeeds("joins")
    with judged(workspace, join, holds=False):
        assert workspace.joins("lake/author") == []
        assert set(workspace.find_groups(QUESTION)[0].tables) != JOINED
        [one], listed = workspace.judged_joins(), succeeds("joins")
    assert set(workspace.find_groups(QUESTION)[0].tables) == JOINED
    assert (one.table_id, one.columns, one.other, one.holds, one.author) == (
        "lake/writes", ("author_id",), "lake/author", False, "ana",
    )  # fmt: skip
    assert "rejected" in listed
    assert one.said_at[:10] in listed
    assert "name the table" in fails(2, "joins", "--as", "ana")


def test_what_people_confirm_joins_what_nobody_inferred(workspace):
    join = ("lake/weather", ["day"], "lake/paper", ["paper_id"])
    with judged(workspace, join, holds=True):
        [one] = workspace.joins("lake/weather")
    assert (one.other, one.kind, one.score) == ("lake/paper", "person", 1.0)
    assert one.share == 1.0, "days are numbered as papers are"


@pytest.mark.parametrize(
    ("join", "why"),
    [
        (("lake/write", ["a"], "lake/author", ["author_id"]), "did you mean"),
        (("lake/writes", ["author"], "lake/author", ["author_id"]), "author_id"),
        (("lake/writes", ["author_id"], "lake/author", ["author_id", "name"]), "as many columns"),
        (("lake/writes", [], "lake/author", []), "at least one"),
        (("lake/writes", ["author_id"], "lake/writes", ["paper_id"]), "another table"),
    ],
)
def test_what_can_be_no_join_is_refused(workspace, join, why):
    with pytest.raises(ConfigError, match=why):
        workspace.judge_join(*join, holds=True, author="ana")


def test_the_commands_show_groups_and_joins(workspace):
    shown = succeeds("groups", "-k", "2", QUESTION)
    assert re.search(r"writes.author_id = author.author_id \(inferred, (0.9\d|1.00)\)", shown)
    [told] = json.loads(succeeds("groups", "--json", "-k", "1", QUESTION))
    assert (set(told["tables"]), len(told["joins"])) == (JOINED, 2)
    table = succeeds("joins", "lake/author")
    assert "is referred to by" in table
    assert "100%" in table
    assert "No joins known for lake/weather" in succeeds("joins", "lake/weather")


def test_the_command_confirms_and_takes_back(workspace):
    on = ["--to", "lake/paper", "--column", "day", "--to-column", "paper_id"]
    said = ["joins", "lake/weather", *on]
    assert "person" in succeeds(*said, "--confirm", "--author", "ana")
    assert "No joins known" in succeeds(*said, "--reset")
    assert "nobody has said" in fails(1, *said, "--reset")
    assert "named by --author" in fails(2, *said, "--as", "ana", "--confirm")
    for wrong in (["--confirm"], on, [*on, "--confirm", "--reject"]):
        assert fails(2, "joins", "lake/weather", *wrong)


def test_a_column_that_left_has_no_name_where_names_are_hidden(workspace):
    gone = JoinEdge("lake/writes", ("salary",), "lake/paper", ("paper_id",), JoinKind.PERSON, 1.0)
    store = workspace.store
    store.joins.judge(gone, confirmed=True, author="ana")
    try:
        [hidden] = judged_joins(store, Deployment(privacy=PrivacyConfig(hide_names=True)))
        [seen] = judged_joins(store, Deployment())
    finally:
        store.joins.withdraw(gone.on)
    assert (hidden.columns, hidden.other_columns) == (("hidden",), ("paper_id",))
    assert seen.columns == ("salary",)


def test_the_same_texts_are_shown_as_what_they_are_by_every_door(here):
    states = [f"State {number}" for number in range(40)]
    crime = "state,murders\n" + "".join(f"{one},{len(one)}\n" for one in states)
    votes = "st,turnout\n" + "".join(f"{one},{n}\n" for n, one in enumerate(states * 2))
    make_home(here, {"lake/a/crime.csv": crime, "lake/b/votes.csv": votes})
    with open_workspace() as workspace:
        [one] = workspace.joins("lake/a/crime")
        found = workspace.find_groups("murders and turnout in each state", k=5)
    assert (one.columns, one.other, one.other_columns) == (("state",), "lake/b/votes", ("st",))
    assert (one.kind, one.way, one.share) == ("domain", "shares values with", 1.0)
    assert {len(group.tables) for group in found} == {1}, "sets do not grow by it"
    assert "shares values with" in succeeds("joins", "lake/b/votes")
    with client_of(local_app(here / "pneuma.yaml")) as client:
        page = client.get("/tables/lake/a/crime").text
    assert "shares values with</span>" in page
    assert "the same domain of values" in page


def test_what_a_view_joins_refers_to_the_key_by_its_cells(here):
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE a_guest AS SELECT i AS person FROM range(40) t(i)")
        connection.execute("CREATE TABLE stay AS SELECT i, i % 20 AS who FROM range(90) t(i)")
        connection.execute("CREATE VIEW v AS SELECT i FROM stay JOIN a_guest ON person = who")
    make_home(here, {}, "home: home\nsources: [{type: duckdb, name: shop, path: shop.duckdb}]\n")
    with open_workspace() as workspace:
        [one] = workspace.joins("shop/main/stay")
        assert (one.columns, one.other, one.refers) == (("who",), "shop/main/a_guest", True)
        assert (one.kind, one.share) == ("view", 1.0)
        [edge] = workspace.store.joins.of_tables(["shop/main/stay"])
        assert (edge.table, edge.share) == ("shop/main/stay", 1.0)
