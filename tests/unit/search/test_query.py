"""The query engine on the real embedded index, checked against section 5.1 worked out plainly."""

import json
import re
from contextlib import closing

import numpy as np
import pytest

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import Hit, IndexFilter, IndexQuery, SideHits, SideScores
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.missing_parts import Part
from pneuma_assets.core.search.names import Elsewhere
from pneuma_assets.core.search.passages import LONGEST, best_passage
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.retrieve import Candidates, rank
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.counting_index import CountingIndex
from tests.support.fake_model import FakeLanguageModel, grading, shown_tables
from tests.support.index_blocks import embedded, replace_blocks
from tests.support.word_encoder import WordEncoder

SCHEMA, ROWS, CONTEXT = DocumentKind.SCHEMA, DocumentKind.ROWS, DocumentKind.CONTEXT
BLOCKS = [
    Block("lake/flowers", SCHEMA, "petal length | petal width | species"),
    Block("lake/flowers", ROWS, "petal length: 1.4 | species: setosa\nspecies: virginica"),
    Block("lake/flowers", CONTEXT, "Measurements of iris flowers. Collected in 1935."),
    Block("lake/cars", SCHEMA, "model | horsepower | year"),
    Block("lake/cars", ROWS, "model: civic | horsepower: 90 | year: 1970"),
    Block("shop/sales", SCHEMA, "region | revenue | year"),
    Block("shop/sales", ROWS, "region: north | revenue: 12 | year: 2020\nregion: south"),
    Block("shop/empty", SCHEMA, "id"),
]


TWO_SIDES = QueryOptions(alpha=0.5, n=5)
"""As the paper fuses; what all signals answer is in test_by_signals.py."""


@pytest.fixture
def encoder():
    return WordEncoder()


@pytest.fixture
def index(tmp_path, encoder):
    with closing(CountingIndex(tmp_path / "index", encoder.name, encoder.dimension)) as index:
        replace_blocks(index, embedded(BLOCKS))
        yield index


@pytest.fixture
def engine(index, encoder):
    return QueryEngine(index, encoder, defaults=TWO_SIDES)


def ids(results):
    return [result.table_id for result in results]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("petal length of setosa", "lake/flowers"),
        ("horsepower of the civic", "lake/cars"),
        ("revenue by region", "shop/sales"),
    ],
)
def test_the_wanted_table_is_first(engine, question, first):
    assert ids(engine.ask(question))[0] == first


def test_scores_are_those_of_section_5_1(engine, index, encoder):
    """With every block a candidate, fusion is min-max over the true scores of all blocks."""
    question, alpha = "year of revenue", 0.3
    results = engine.ask(question, alpha=alpha)
    query = IndexQuery(question, encoder.encode_queries([question])[0])
    every = index.scores([query], [[block.block_id for block in BLOCKS]])[0]
    lexical = np.array([every[block.block_id].lexical for block in BLOCKS])
    semantic = np.array([every[block.block_id].semantic for block in BLOCKS])
    scaled = [(side - side.min()) / (side.max() - side.min()) for side in (lexical, semantic)]
    fused = alpha * scaled[0] + (1 - alpha) * scaled[1]
    best: dict[str, float] = {}
    for block, score in sorted(zip(BLOCKS, fused, strict=True), key=lambda pair: -pair[1]):
        best.setdefault(block.table_id, score)
    assert ids(results) == list(best)
    assert [result.score for result in results] == pytest.approx(list(best.values()), abs=1e-6)
    for result in results:
        parts = result.parts
        assert result.score == pytest.approx(alpha * parts.lexical + (1 - alpha) * parts.semantic)
        assert parts.raw_lexical == pytest.approx(every[result.block_id].lexical, abs=1e-6)
        assert parts.raw_semantic == pytest.approx(every[result.block_id].semantic, abs=1e-6)


def test_a_block_of_one_side_gets_its_true_score_from_the_other(engine, index):
    result = engine.ask("civic horsepower", k=1, n=1)[0]
    assert index.calls == ("search",) or result.parts.raw_semantic != 0.0
    wide = {r.table_id: r for r in engine.ask("civic horsepower", k=10)}
    assert result.parts.raw_lexical == pytest.approx(wide["lake/cars"].parts.raw_lexical)
    assert result.parts.raw_semantic == pytest.approx(wide["lake/cars"].parts.raw_semantic)


def test_a_batch_takes_one_encoding_and_two_calls_and_no_question_none(engine, index, encoder):
    assert engine.ask_many([]) == []
    assert (index.calls, encoder.calls) == ((), [])
    questions = ["petal length", "civic horsepower", "revenue"]
    answers = engine.ask_many(questions, k=2)
    assert index.calls == ("search", "scores")
    assert encoder.calls == [questions]
    assert answers == [engine.ask(question, k=2) for question in questions]


@pytest.mark.parametrize("k", [1, 2, 3, 100])
def test_at_most_k_tables_each_once(engine, k):
    found = ids(engine.ask("year", k=k))
    assert len(found) == min(k, 4)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("where", "tables"),
    [
        (IndexFilter(sources=("shop",)), {"shop/sales", "shop/empty"}),
        (IndexFilter(tables=("lake/cars",)), {"lake/cars"}),
        (IndexFilter(kinds=(CONTEXT,)), {"lake/flowers"}),
        (IndexFilter(sources=("shop",), tables=("lake/cars",)), set()),
    ],
)
def test_filters(engine, where, tables):
    assert set(ids(engine.ask("year", where=where))) == tables


def test_a_block_replaced_since_the_search_is_dropped():
    cars, sales = BLOCKS[3], BLOCKS[5]
    side = SideHits(lexical=[Hit(cars, 2.0)], semantic=[Hit(sales, 0.5)])
    candidates = Candidates.of(side)
    candidates.complete({cars.block_id: SideScores(2.0, 0.1)})
    assert [one.block for one in rank(candidates, 0.5)] == [cars]


def test_a_table_deleted_since_the_search_disturbs_nobody(index, encoder):
    index.lost = ("lake/flowers", "lake/cars", "shop/sales")
    found = QueryEngine(index, encoder, defaults=TWO_SIDES).ask(
        "collected region of a civic", k=1, n=3
    )
    assert index.calls == ("search", "scores")
    assert all(result.parts.raw_semantic for result in found)


def test_the_judge_orders_tables_and_what_it_refuses_goes_to_the_end(index, encoder):
    grades = {"lake/flowers": 0, "shop/sales": 1, "lake/cars": 3, "shop/empty": 1}
    judge = FakeLanguageModel(answers=grading(lambda one: grades[one["id"]]))
    engine = QueryEngine(index, encoder, judge, TWO_SIDES)
    plain = engine.ask("petal length by year", judge=False)
    assert judge.calls == 0
    assert {result.parts.judge for result in plain} == {None}
    assert ids(plain) == ["lake/flowers", "shop/sales", "lake/cars", "shop/empty"]
    judged = engine.ask("petal length by year")
    assert ids(judged) == ["lake/cars", "shop/sales", "shop/empty", "lake/flowers"]
    assert [result.parts.judge for result in judged] == [1.0, 1 / 3, 1 / 3, 0.0]
    assert [r.score for r in judged] == sorted((r.score for r in judged), reverse=True)
    assert ids(engine.ask("petal length by year", k=1)) == ["lake/cars"]
    assert (judge.calls, len(judge.prompts)) == (2, 2)


def test_many_questions_are_judged_by_one_call_of_a_request_each(index, encoder):
    judge = FakeLanguageModel(answers=grading(lambda one: 3 * int("sales" in one["id"])))
    engine = QueryEngine(index, encoder, judge, TWO_SIDES)
    found = engine.ask_many(["petal length", "civic horsepower", "revenue"], k=2)
    assert [ids(one)[0] for one in found] == ["shop/sales"] * 3
    assert (judge.calls, len(judge.prompts)) == (1, 3)


def test_what_the_judge_does_not_say_moves_nothing_and_is_told(index, encoder):
    told = []
    for text in ("No.", "", '{"candidates": []}', '{"candidates": [{"n": 9, "grade": 0}]}'):
        judge = FakeLanguageModel(answers=lambda _, text=text: text)
        engine = QueryEngine(index, encoder, judge, TWO_SIDES)
        plain = engine.ask_many(["petal length by year"], judge=False)
        missing = lambda part, error: told.append((part, str(error)))  # noqa: E731
        assert engine.ask_many(["petal length by year"], missing=missing) == plain
        assert engine.ask_many(["petal length by year"]) == plain
    assert {part for part, _ in told} == {Part.JUDGE}
    assert len(told) == 4
    assert all(said.startswith("the judge gave no verdict on 4 of 4 tables: ") for _, said in told)


def test_the_judge_on_without_a_judge(engine):
    with pytest.raises(QueryError, match=r"judge\.model"):
        engine.ask("year", judge=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be a whole number from 1 to 1000, not 0"),
        ({"k": 1001}, "k must be .* not 1001"),
        ({"k": True}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"n": 0}, "n must be a whole number from 1 to 100, not 0"),
        ({"n": 101}, "n must be"),
        ({"alpha": -0.1}, r"alpha must be a number from 0.0 to 1.0, not -0.1"),
        ({"alpha": 1.1}, "alpha must be"),
        ({"alpha": float("nan")}, "alpha must be"),
        ({"k": 1000, "n": 100}, "k times n must be at most 10,000"),
        ({"question": ""}, "no words"),
        ({"question": " \n?! "}, "no words"),
        ({"question": "a" * 10_001}, "10,001 characters"),
    ],
)
def test_what_is_out_of_range_is_refused(engine, index, options, message):
    with pytest.raises(QueryError, match=message):
        engine.ask(**({"question": "year"} | options))
    assert index.calls == ()


@pytest.mark.parametrize("question", ["'; DROP TABLE blocks; --", "\ud800 year", "\x00year", "年"])
def test_hostile_questions_are_answered(engine, question):
    assert len(engine.ask(question)) == 4


def test_defaults_come_from_the_configuration(index, encoder):
    engine = QueryEngine(index, encoder, None, QueryOptions(k=2, n=7, alpha=1.0))
    found = engine.ask("horsepower")
    assert len(found) == 2
    assert found[0].score == found[0].parts.lexical


def test_a_result_becomes_json(engine):
    record = json.loads(json.dumps(engine.ask("setosa species")[0].to_dict()))
    assert list(record)[:2] == ["table_id", "score"]
    assert record["table_id"] == "lake/flowers"
    assert record["kind"] == "rows"
    assert record["text"] == "petal length: 1.4 | species: setosa"
    assert record["block_text"] == BLOCKS[1].text
    assert set(record["parts"]) == {
        "lexical",
        "semantic",
        "judge",
        "raw_lexical",
        "raw_semantic",
        "tables",
        "weight",
        "signals",
        "named",
        "trust",
        "reason",
    }


@pytest.fixture
def hoard(index):
    """One table whose documents fill every place, beside the four others."""
    texts = [f"year year year {number}" for number in range(300)]
    replace_blocks(index, embedded([Block("lake/hoard", CONTEXT, text) for text in texts]))
    return index


def test_a_table_that_fills_all_places_hides_no_other(hoard, engine):
    found = engine.ask("year", k=3, n=5)
    assert len(ids(found)) == 3
    assert hoard.calls == ("search", "search", "search", "search", "scores")  # 15, 60, 240, 960
    assert found == engine.ask("year", k=3, n=100)
    assert len(engine.ask("year", k=5, n=2)) == 5


def test_only_questions_that_lack_tables_are_asked_again(hoard, engine):
    asked = []
    hoard.search, search = (
        lambda queries, *rest: asked.append([q.text for q in queries]) or search(queries, *rest),
        hoard.search,
    )
    many = engine.ask_many(["civic", "year", "region"], k=2, n=8)
    assert asked[0] == ["civic", "year", "region"]
    assert len(asked) > 1
    assert all(again == ["year"] for again in asked[1:])
    assert [len(answer) for answer in many] == [2, 2, 2]


@pytest.mark.parametrize(
    ("where", "tables", "calls"),
    [
        (IndexFilter(tables=("lake/hoard",)), 1, 1),
        (IndexFilter(tables=("lake/hoard", "lake/cars")), 2, 3),
        (IndexFilter(kinds=(CONTEXT,)), 2, 3),
        (IndexFilter(sources=("shop",)), 2, 1),
    ],
)
def test_what_a_filter_shuts_out_is_not_waited_for(hoard, engine, where, tables, calls):
    assert len(engine.ask("year", k=10, n=5, where=where)) == tables
    assert hoard.calls.count("search") == calls


def test_a_lake_of_fewer_tables_is_not_searched_to_its_end(index, encoder, engine):
    index.delete_tables(list(index.list_tables()))
    vectors = encoder.encode_documents(["year 2020"] * 200)
    for table_id in ("lake/one", "lake/two"):
        texts = [f"year 2020 {table_id} {number}" for number in range(200)]
        blocks = [Block(table_id, CONTEXT, text) for text in texts]
        replace_blocks(index, {table_id: list(map(EmbeddedBlock, blocks, vectors))})
    assert set(ids(engine.ask("year"))) == {"lake/one", "lake/two"}
    assert index.calls == ("search",)


def test_more_candidates_are_not_more_for_the_judge(hoard, encoder):
    judge = FakeLanguageModel()
    found = QueryEngine(hoard, encoder, judge, TWO_SIDES).ask("year", k=3, n=1)
    assert len(found) == 3
    assert len(shown_tables(judge.prompts[0])) == 3
    assert len(judge.prompts) == 1


def test_an_empty_index_says_so(tmp_path, encoder):
    with (
        closing(EmbeddedIndex(tmp_path / "none", encoder.name, encoder.dimension)) as index,
        pytest.raises(QueryError, match="nothing is indexed yet; run: pneuma-assets index"),
    ):
        QueryEngine(index, encoder, defaults=TWO_SIDES).ask("anything")


def test_who_asks_under_a_name_is_not_told_whether_there_is_anything(tmp_path, encoder):
    with closing(EmbeddedIndex(tmp_path / "none", encoder.name, encoder.dimension)) as index:
        engine = QueryEngine(index, encoder, defaults=TWO_SIDES)
        with pytest.raises(QueryError, match=r"^no table that you may see is indexed; ask who"):
            engine.ask("anything", where=IndexFilter(readers=("nobody",)))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (IndexFilter(tables=("lake/cras",)), "unknown table 'lake/cras'; did you mean lake/cars"),
        (IndexFilter(sources=("lakes",)), "unknown source 'lakes'; did you mean lake"),
        (IndexFilter(tables=("lake/cars", "x")), "unknown table 'x'"),
    ],
)
def test_a_mistyped_name_is_told_from_one_that_has_nothing_to_say(engine, where, message):
    with pytest.raises(QueryError, match=re.escape(message)):
        engine.ask("year", where=where)


def test_a_kind_that_is_not_made_is_named(index, encoder):
    engine = QueryEngine(
        index, encoder, defaults=TWO_SIDES, elsewhere=Elsewhere(kinds=lambda: ["schema", "rows"])
    )
    with pytest.raises(QueryError, match="unknown kind 'row'; did you mean rows"):
        engine.ask("year", where=IndexFilter(kinds=("row",)))
    assert engine.ask("year", where=IndexFilter(kinds=(ROWS,)))


def test_a_kind_that_only_the_index_knows_is_looked_in(index, encoder):
    engine = QueryEngine(
        index, encoder, defaults=TWO_SIDES, elsewhere=Elsewhere(kinds=lambda: ["schema"])
    )
    new = DocumentKind("kept_elsewhere")
    with pytest.raises(
        QueryError, match="unknown kind 'kept_elsewhere'; use one of: context, names, ro"
    ):
        engine.ask("year", where=IndexFilter(kinds=(new,)))
    replace_blocks(index, embedded([Block("lake/cars", new, "year")]))
    assert engine.ask("year", where=IndexFilter(kinds=(new,)))[0].kind == new


def test_names_known_elsewhere_are_no_mistake(index, encoder):
    elsewhere = Elsewhere(lambda: ["lake/pending"], ["s3"], why_not=lambda table_id: "so it is")
    engine = QueryEngine(index, encoder, defaults=TWO_SIDES, elsewhere=elsewhere)
    with pytest.raises(QueryError, match="table 'lake/pending' is not indexed: so it is"):
        engine.ask("year", where=IndexFilter(tables=("lake/cars", "lake/pending")))
    assert engine.ask("year", where=IndexFilter(sources=("s3",))) == []
    assert engine.ask("year", where=IndexFilter(tables=("lake/cars",)))
    index.delete_tables(["lake/cars"])
    assert engine.ask("year", where=IndexFilter(tables=("lake/cars",))) == []
    replace_blocks(index, {"lake/new": []})
    assert engine.ask("year", where=IndexFilter(tables=("lake/new",))) == []


LONG_ROW = " | ".join([f"c{i}: {'filler' * 3}" for i in range(40)] + ["city: Paris"])


@pytest.mark.parametrize(
    ("text", "question", "passage"),
    [
        ("a: 1 | b: 2\na: 3 | b: blue", "what is blue?", "a: 3 | b: blue"),
        ("one\ntwo", "something else", "one"),
        ("colours: red\ncolour: red, blue", "red and blue colours", "colour: red, blue"),
        (LONG_ROW, "the city of Paris", "city: Paris"),
        ("No. " * 100 + "Tax is due in May.", "when is tax due", "Tax is due in May."),
        (f"sold: {'so ' * 120}| coupon sold: such as X", "coupon sold", "coupon sold: such as X"),
        ("", "anything", ""),
        ("\n \n", "anything", ""),
    ],
)
def test_best_passage(text, question, passage):
    assert best_passage(text, question) == passage


def test_a_long_cell_is_cut_around_what_is_asked_for():
    text = f"id: 1 | notes: {'filler ' * 70}coupon: such as TENOFF, {'more ' * 70}"

    passage = best_passage(text, "which coupon")

    assert "coupon: such as TENOFF" in passage
    assert passage.startswith("… filler")
    assert len(passage) <= LONGEST


@pytest.mark.parametrize("text", ["x" * 1_000_000, "word " * 100_000, "a\n" * 500_000])
def test_a_passage_is_short_whatever_the_block(text):
    assert 0 < len(best_passage(text, "word")) <= LONGEST
