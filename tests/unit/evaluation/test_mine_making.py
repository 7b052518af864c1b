"""Questions about the tables of an index, each of which one table answers."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation import generate
from pneuma_assets.core.evaluation.ask_own_questions import ask_mined, outlived
from pneuma_assets.core.evaluation.generate import KINDS, mined_questions, spread
from pneuma_assets.core.evaluation.table_contents import Known, known_tables
from pneuma_assets.core.store.questions import MinedQuestion
from tests.support.mined_lake import Mined, mined_lake, table_ids

IDS = table_ids()


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with mined_lake(tmp_path_factory.mktemp("mined")) as opened:
        yield opened


def make(lake: Mined, count: int = 20, seed: int = 0) -> list[MinedQuestion]:
    return mined_questions(lake.store, lake.index, count, seed)


def test_each_kind_and_table_has_its_part_and_a_seed_its_questions(lake):
    made = make(lake)
    assert Counter(one.kind for one in made) == dict.fromkeys(KINDS, 5)
    asked = Counter(one.table_id for one in made)
    assert len(asked) == 10
    assert max(asked.values()) <= 4
    assert len({one.question_id for one in made}) == len({one.question for one in made}) == 20
    first, again, other = make(lake), make(lake), make(lake, seed=1)
    assert [one.question for one in first] == [one.question for one in again]
    assert {one.question_id for one in first}.isdisjoint(one.question_id for one in again)
    assert {one.question for one in first} != {one.question for one in other}


def test_one_table_alone_has_what_a_question_needs(lake):
    known = [*known_tables(lake.store, lake.index, IDS)]
    assert len(known) == 10
    for one in make(lake, 50):
        assert [it.table_id for it in known if it.has(one.made["needs"])] == [one.table_id], one


def test_the_questions_are_answered(lake):
    made = make(lake, 50)
    found = ask_mined(lake.engine, made)
    assert list(found.places) == [one.question_id for one in made]
    first = [place for place in found.places.values() if place == 1]
    assert found.figures["R@1"] == len(first) / len(made) > 0.8
    assert found.figures["R@1"] <= found.figures["MRR"] <= found.figures["R@10"] == 1
    assert {name for name in found.figures if " " in name} == {f"R@1 {kind}" for kind in KINDS}


def test_where_a_kind_has_nothing_the_others_have_more(lake, monkeypatch):
    monkeypatch.setitem(generate.KINDS, "context", lambda *_: None)
    others = [kind for kind in KINDS if kind != "context"]
    assert Counter(one.kind for one in make(lake)) == Counter(
        dict(zip(others, (7, 7, 6), strict=True))
    )


def test_nothing_to_ask_about_is_told(lake, monkeypatch):
    for kind in KINDS:
        monkeypatch.setitem(generate.KINDS, kind, lambda *_: None)
    with pytest.raises(BenchmarkError, match="pneuma-assets index"):
        make(lake)


def test_sources_and_folders_are_asked_about_evenly():
    tables = [f"lake/big/{n}" for n in range(90)] + [f"lake/small/{n}" for n in range(5)] + ["db/a"]
    drawn = spread(tables, Random(1))
    assert sorted(drawn) == sorted(tables)
    assert Counter(one.rpartition("/")[0] for one in drawn[:11]) == {
        "lake/big": 5,
        "lake/small": 5,
        "db": 1,
    }


def asking(said="Quantity sold; always whole.", **more) -> Known:
    known = Known("lake/x", ("lake", "cust_addr"), ("qty", "city"), [("3", "Ulm"), ("4", "Bonn")])
    return replace(known, described={"qty": said}, **more)


def first(kind: str, of: Known) -> str | None:
    made = (KINDS[kind](of, Random(seed)) for seed in range(50))
    return next((text for text, _ in filter(None, made)), None)


@pytest.mark.parametrize("said", ["Quantity sold; always whole.", "The quantity sold."])
def test_columns_are_called_as_they_are_described(said):
    assert first("columns", asking(said)) in {
        "What are the quantity sold and the city?",
        "What are the city and the quantity sold?",
    }


def test_names_and_sentences_are_asked_in_other_words():
    assert first("name", asking(names=("lake", "qty"))) == "What is there about quantity?"
    slip = first("name", asking())
    assert slip != "cust_addr"
    assert abs(len(slip) - len("cust_addr")) <= 1
    texts = ["The address of the customer is checked by clerks on Fridays."]
    assert first("context", asking(texts=texts, spelled="customer address")) is None, "3 are few"
    longer = [*texts, "Clerks check every parcel on Fridays before the lorry leaves."]
    assert first("context", asking(texts=longer, spelled="customer address")) == (
        "What is there about clerks check every parcel fridays lorry leaves?"
    )


def test_values_are_those_that_nothing_else_says_in_a_bounded_line():
    rows = [("3", "Ulm am See"), ("4", "Bonn")]
    texts = ["Ulm was counted first."]
    assert first("value", asking(rows=rows, texts=texts)) == "Where is Bonn?"
    assert first("value", asking(rows=rows[:1], texts=texts)) is None
    rows = [("3", "a\nb\x1b[2J"), ("4", "x" * 1000)]
    assert first("value", asking(rows=rows)) is None
    assert first("name", asking(names=("lake", "a\nb" * 200))) is None


def test_questions_go_when_other_rows_come_and_stay_when_an_option_loses_them(tmp_path):
    with mined_lake(tmp_path) as lake:
        made = make(lake, 40)
        value = next(one for one in made if one.kind == "value")
        others = [(f"someone {n}", f"{n}", "wet") for n in range(40)]
        assert list(outlived(lake.store, lake.index, made)) == []
        lake.put("2", {value.table_id: others})
        gone = list(outlived(lake.store, lake.index, made))
        assert value in gone
        assert {one.table_id for one in gone} == {value.table_id}
        assert {one.kind for one in gone} == {"value"}
        contents = dict(lake.index.contents([value.table_id]))[value.table_id]
        bare = replace(contents.evidence, rows=(), cells=())
        lake.index.replace_tables({value.table_id: replace(contents, evidence=bare)})
        assert list(outlived(lake.store, lake.index, made)) == [], "values may be left out"
        lake.index.delete_tables([value.table_id])
        assert list(outlived(lake.store, lake.index, made)) == [], "the index has lost it"
