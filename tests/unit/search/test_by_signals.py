"""Answers by all signals, on the real embedded index."""

import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from pneuma_assets.core.config.query import QueryOptions, Weights
from pneuma_assets.core.index.base import IndexFilter, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.confidence import confidence_of
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from tests.support.counting_index import CountingIndex
from tests.support.fake_model import FakeLanguageModel, grading
from tests.support.word_encoder import WordEncoder

README = "Everything about the harbour, its ships, fees and opening hours."
SIGNALS = set(Weights.model_fields)


def evidence(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> TableTerms:
    return TableTerms(
        names=tuple(name.split("/")), columns=tuple(columns), rows=tuple(map(tuple, rows))
    )


TABLES = {
    "lake/hr/payroll_march": (
        ["employee | net pay"],
        evidence("lake/hr/payroll_march", ["empName", "netPay"], [["Jon Smith", "1,234"]]),
    ),
    "lake/hr/refunds": (
        ["payroll refunds of march: net amount | reason"],
        evidence("lake/hr/refunds", ["amount", "reason"], [["12", "paid twice"]]),
    ),
    "lake/sea/catch": (
        ["species | landed"],
        evidence("lake/sea/catch", ["species", "landed"], [["cod", "3"], ["herring", "2"]]),
    ),
    "lake/sea/berths": ([README, "berth | fee"], evidence("lake/sea/berths", ["berth", "fee"])),
    "lake/sea/ships": ([README, "ship | length"], evidence("lake/sea/ships", ["ship", "length"])),
    "lake/nothing": ([], evidence("lake/nothing", ["unheard_of"])),
}


@pytest.fixture
def index(tmp_path) -> Iterator[CountingIndex]:
    encoder = WordEncoder()
    with closing(CountingIndex(tmp_path / "index", encoder.name, encoder.dimension)) as index:
        for table_id, (texts, found) in TABLES.items():
            blocks = [Block(table_id, DocumentKind.SCHEMA, text) for text in texts]
            embedded = map(EmbeddedBlock, blocks, encoder.encode_documents(texts) if texts else [])
            index.replace_tables({table_id: TableContents(list(embedded), found)})
        yield index


@pytest.fixture
def engine(index) -> QueryEngine:
    return QueryEngine(index, WordEncoder())


def ids(results) -> list[str]:
    return [result.table_id for result in results]


def test_a_row_that_no_block_holds_is_found_and_shown(engine):
    found = engine.ask("how much herring was caught")[0]
    assert found.table_id == "lake/sea/catch"
    assert (found.kind, found.text) == (DocumentKind.VALUES, "species: herring | landed: 2")


CODES = evidence("lake/crm/people", ["cust_id", "name"], [["C0002", "Ann"], ["C0007", "Bob"]])


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        ("cust_id: C0002 | name: Ann", "C0050", "C0050"),
        ("cust_id: C0002 | name: Ann", "is Ann C0050", "C0050"),
        ("cust_id: C0002 | name: Ann\ncust_id: C0050", "is Ann C0050", "cust_id: C0050"),
        ("cust_id | name", "does Ann know C0007", "cust_id: C0007 | name: Bob"),
        ("# People\n\nWho buys of us.\nWhere they live.", "people", "People: Who buys of us."),
        ("# People", "folks", "people cust_id name"),
        ("# of kids: 2\n# of kids: 3", "kids", "# of kids: 2"),
    ],
)
def test_what_is_shown_holds_what_was_asked_for(index, engine, text, question, shown):
    found = replace(CODES, cells=("C0050",))
    block = Block("lake/crm/people", DocumentKind.ROWS, text)
    embedded = [*map(EmbeddedBlock, [block], WordEncoder().encode_documents([text]))]
    index.replace_tables({"lake/crm/people": TableContents(embedded, found)})
    where = IndexFilter(tables=("lake/crm/people",))
    assert [one.text for one in engine.ask(question, where=where)] == [shown]


class MeasuredIndex(EmbeddedIndex):
    """Notes how many tables' evidence is asked for at once."""

    asked: tuple[int, ...] = ()

    def evidence(self, table_ids):
        self.asked += (len(table_ids),)
        return super().evidence(table_ids)


def test_evidence_of_many_tables_is_not_in_memory_at_once(tmp_path):
    """Each has 60 kB of cells; of 120 tables, and of several questions, it would be many MB."""
    encoder = WordEncoder()
    cells = tuple(f"{number:060}" for number in range(1_000))
    rows = (("silent",), ("herring",))
    with closing(MeasuredIndex(tmp_path, encoder.name, encoder.dimension)) as index:
        tables = {
            f"lake/t{number}": TableContents(
                (), TableTerms(("lake", f"t{number}"), ("fish",), rows=rows, cells=cells)
            )
            for number in range(120)
        }
        index.replace_tables(tables)
        engine = QueryEngine(index, encoder)
        engine.ask_many(["fish", "herring"], k=1)
        tracemalloc.start()
        try:
            found = engine.ask_many(["fish or herring"] * 3, k=120)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert [len(one) for one in found] == [120] * 3
    assert {one.text for one in found[0]} == {"fish: herring"}
    assert max(index.asked) <= 50
    assert peak < 12_000_000


def test_evidence_is_read_a_question_at_a_time(engine, index):
    engine.ask_many(["who is Jon Smith in the list of those that are paid", "herring", "fees"])
    assert index.calls == ("search", "table_scores", *["evidence"] * 3)


@pytest.mark.parametrize(
    ("typed", "first", "name"),
    [
        ("payroll_march", "lake/hr/payroll_march", "payroll_march"),
        ("Payroll March", "lake/hr/payroll_march", "payroll_march"),
        ("payroll", "lake/hr/payroll_march", "payroll_march"),
        ("hr.payroll_march", "lake/hr/payroll_march", "hr.payroll_march"),
        ("payrol_march", "lake/hr/payroll_march", "payroll_march"),
        ("netpay", "lake/hr/payroll_march", "netPay"),
        ("empname", "lake/hr/payroll_march", "empName"),
        ("unheard of", "lake/nothing", "unheard_of"),
        ("berth", "lake/sea/berths", "berth"),
    ],
)
def test_a_name_that_is_typed_in_comes_first(engine, typed, first, name):
    found = engine.ask(typed)[0]
    assert (found.table_id, found.parts.named) == (first, name)


def test_a_name_and_the_column_that_matched_are_told_but_in_a_sentence(engine):
    assert engine.ask("netpay")[0].columns == ("netPay",)
    assert engine.ask("what net pay has each employee had in the year")[0].columns == ("netPay",)
    found = engine.ask("what was the catch of herring in the north last year")
    assert {result.parts.named for result in found} == {None}


def test_parts_add_up_to_the_score(engine):
    for result in engine.ask("herring fees of ships"):
        assert result.score == pytest.approx(sum(result.parts.signals.values()))
        assert result.score == pytest.approx(result.parts.lexical + result.parts.semantic)
        assert 0.0 <= result.score <= 1.0
        assert set(result.parts.signals) <= SIGNALS


def test_weights_of_nothing_count_nothing(index):
    weights = Weights(**(dict.fromkeys(SIGNALS, 0.0) | {"meaning": 1.0}))
    engine = QueryEngine(index, WordEncoder(), defaults=QueryOptions(weights=weights))
    for result in engine.ask("herring fees of ships"):
        assert set(result.parts.signals) <= {"meaning"}
    weights = Weights(**dict.fromkeys(SIGNALS, 0.0))
    engine = QueryEngine(index, WordEncoder(), defaults=QueryOptions(weights=weights))
    found = engine.ask("what herring and fees of ships are there")
    assert ids(found) == sorted(ids(found))
    assert {result.score for result in found} == {0.0}


def test_of_two_folders_the_one_whose_names_say_more_of_the_question_is_meant(index):
    found = QueryEngine(index, WordEncoder()).ask("the berth and the length of each ship")
    signals = {result.table_id: result.parts.signals for result in found}
    assert signals["lake/sea/catch"]["place"] == signals["lake/sea/ships"]["place"]
    assert signals["lake/sea/catch"]["place"] > signals["lake/hr/refunds"].get("place", 0.0)
    assert signals["lake/sea/ships"]["coverage"] > signals["lake/sea/berths"]["coverage"]
    assert "coverage" not in signals["lake/sea/catch"]


def test_a_text_of_several_tables_counts_less(engine):
    found = engine.ask("which hours is the harbour open to ships for their fees")
    shared = [result for result in found if result.block_text == README]
    assert {result.parts.tables for result in shared} == {2}


def test_what_the_judge_refuses_goes_to_the_end_and_others_come_by_its_grades(index):
    question = "how much herring was caught"
    refused = grading(lambda one: 0 if ["herring", "2"] in one["rows"] else 2)
    judge = FakeLanguageModel(answers=refused)
    engine = QueryEngine(index, WordEncoder(), judge)
    plain = ids(engine.ask(question, judge=False))
    assert plain[0] == "lake/sea/catch"
    assert ids(engine.ask(question)) == [*plain[1:], plain[0]]
    best = FakeLanguageModel(answers=grading(lambda one: 3 * int(one["id"] == plain[-1])))
    found = QueryEngine(index, WordEncoder(), best).ask(question, k=2)
    assert ids(found) == [plain[-1], plain[0]]
    assert [one.parts.judge for one in found] == [1.0, 0.0]


def test_where_the_judge_refuses_all_their_order_stays_and_none_answers(index):
    judge = FakeLanguageModel(answers=grading(lambda _: 0))
    engine = QueryEngine(index, WordEncoder(), judge)
    question = "how much herring was caught"
    found = engine.ask(question)
    assert ids(found) == ids(engine.ask(question, judge=False))
    assert confidence_of(found) == 0.0
    groups = engine.find_groups(question)
    assert {one.answerable for one in groups} == {0.0}


def test_by_words_alone_no_judge_is_asked(index):
    judge = FakeLanguageModel()
    engine = QueryEngine(index, WordEncoder(), judge)
    assert engine.search("how much herring was caught", words_only=True).results
    assert judge.calls == 0


def test_a_table_deleted_since_the_search_disturbs_nobody(index, engine):
    index.lost = ("lake/sea/catch",)
    assert "lake/sea/catch" not in ids(engine.ask("how much herring was caught"))


@pytest.mark.parametrize(
    ("kinds", "first"), [(("values",), "lake/sea/catch"), (("names", "values"), "lake/sea/catch")]
)
def test_a_filter_on_kinds_chooses_the_signals(engine, kinds, first):
    where = IndexFilter(kinds=tuple(map(DocumentKind, kinds)))
    found = engine.ask("how much herring was caught", where=where)
    assert found[0].table_id == first
    assert all(result.parts.raw_semantic == 0.0 for result in found)


def test_a_filter_on_kinds_leaves_out_their_signals(engine):
    where = IndexFilter(kinds=(DocumentKind.SCHEMA,))
    found = engine.ask("payroll march", where=where)
    assert found[0].table_id == "lake/hr/refunds"
    assert {result.parts.named for result in found} == {None}
    assert {result.kind for result in found} == {DocumentKind.SCHEMA}
    where = IndexFilter(kinds=(DocumentKind.NAMES,))
    assert engine.ask("how much herring was caught in that bay", where=where) == []


def test_every_result_says_how_sure_it_is_and_less_what_no_table_says(engine):
    found = engine.ask("which ships paid the herring fees")
    assert len({result.answerable for result in found}) == 1
    for result in found:
        assert 0.0 < result.confidence <= result.answerable < 1.0
    by_score = sorted(found, key=lambda result: result.score)
    assert [one.confidence for one in by_score] == sorted(one.confidence for one in found)
    said, unsaid = engine.ask_many(["species herring landed", "volcano eruptions tonight"])
    assert said[0].answerable > 0.8 > 0.27 > unsaid[0].answerable


@pytest.mark.parametrize("k", [1, 2, 5])
def test_how_many_tables_are_shown_hardly_changes_how_sure_an_answer_is(engine, k):
    question = "which ships paid the herring fees"
    one, all_of_them = engine.ask(question, k=k)[0], engine.ask(question)[0]
    assert one.answerable == pytest.approx(all_of_them.answerable, abs=0.05)


def test_a_table_whose_name_is_typed_in_is_never_refused(engine):
    found = engine.ask("unheard of")
    assert found[0].confidence >= 0.9
    assert {result.answerable for result in found} == {found[0].confidence}
    assert found[1].confidence < 0.9


def test_there_is_a_confidence_by_all_signals_alone(engine):
    values = IndexFilter(kinds=(DocumentKind.VALUES,))
    for options in ({"alpha": 0.5}, {"where": values}):
        found = engine.ask("herring", **options)
        assert {(one.confidence, one.answerable) for one in found} == {(None, None)}
    found = engine.ask("species herring landed")
    assert 0.0 < found[0].confidence < 1.0
