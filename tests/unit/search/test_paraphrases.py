"""Which questions are taken for one another, and what a rejected answer does to a ranking."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.paraphrases import AnswerMemory, KnownAnswers, Match, rejected_tables
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind
from tests.support.index_blocks import embedded, replace_blocks
from tests.support.word_encoder import WordEncoder

NEAR = np.array([1.0, 0.0], np.float32)


def answer(question="q", *tables, confirmed=True, sql="", answer_id="1"):
    given = tables or ("lake/a",)
    return SavedAnswer(answer_id, question, given, sql, confirmed, "ana", "page")


@pytest.mark.parametrize(
    ("kept", "asked", "same"),
    [
        ("Sales per region", "what were the sales of each region", True),
        ("Sales in 2019", "sales of 2019", True),
        ("Sales in 2019", "Sales in 2020", False),
        ("Sales in 2019", "Sales", False),
        ("How many people live in Berlin?", "Number of people living in berlin", True),
        ("How many people live in Berlin?", "How many people live in Rome?", False),
        ("Which region sold the most?", "Which region sold the fewest?", False),
        ("Which region sold the most?", "region with the largest sales", True),
        ("customers with orders", "customers without orders", False),
        ("average price", "total price", False),
        ("Who sold most? Name them.", "Name who sold most", True),
        ("Which airports aren't open?", "Which airports are open?", False),
        ("Which airports aren\u2019t open?", "airports that are not open", True),
        ("non-smokers per region", "smokers per region", False),
        ("rate of 1.5", "rate of 5.1", False),
        ("rates below -5", "rates below 5", False),
        ("more than 1,000 people", "over 1000 people", True),
        ("houses with two rooms", "houses with three rooms", False),
        ("houses with two rooms", "homes with 2 rooms", True),
        ("sales of the second quarter", "sales of the third quarter", False),
        ("growth from 2019 to 2020", "growth from 2020 to 2019", False),
        ("flights from Paris to London", "flights from London to Paris", False),
        ("men and women of a town", "male and female people of a town", True),
        ("Years that Ann Lee won in Oslo", "years in which Oslo was won by Ann Lee", True),
        ("Germany's sales", "sales of Germany", True),
        ("sales in june", "sales in july", False),
        ("first names of the first buyers", "last names of the first buyers", False),
        ("sales until 2019", "sales since 2019", False),
        ("imports of steel", "exports of steel", False),
        ("highest price of at least 5", "lowest price of at least 5", False),
    ],
)
def test_words_decide_between_questions_that_mean_nearly_the_same(kept, asked, same):
    known = KnownAnswers.of([answer(kept)], {kept: NEAR})
    assert bool(known.matching(asked, NEAR)) is same


def test_similar_questions_come_in_order_and_equal_ones_without_embedding():
    one, other, far = answer("rain"), answer("wet days", answer_id="2"), answer("x", answer_id="3")
    vectors = {"rain": np.array([0.9, 0.4358899]), "wet days": NEAR, "x": np.array([0.0, 1.0])}
    known = KnownAnswers.of([one, other, far], vectors)
    found = known.matching("how wet", NEAR)
    assert [match.answer.answer_id for match in found] == ["2", "1"]
    assert [match.similarity for match in found] == pytest.approx([1.0, 0.9])
    known = KnownAnswers.of([answer("How much rain fell?")], {})
    for vector in (None, NEAR):
        (match,) = known.matching("how MUCH rain, fell", vector)
        assert match.similarity == 1.0
        assert known.matching("rain that fell", vector) == []


@pytest.mark.parametrize(
    ("kept", "asked"),
    [("profit > 5", "profit < 5"), ("below -5", "below 5"), ("jobs in C#", "jobs in C")],
)
def test_signs_are_words_too(kept, asked):
    assert KnownAnswers.of([answer(kept)], {}).matching(asked, None) == []


@given(st.text(), st.text())
def test_any_texts_can_be_compared(kept, asked):
    found = KnownAnswers.of([answer(kept)], {kept: NEAR}).matching(asked, NEAR)
    assert KnownAnswers.of([answer(kept)], {}).matching(kept, None)
    assert len(found) <= 1


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ([answer("q", "a", confirmed=False)], {"a"}),
        ([answer("q", "a")], set()),
        ([answer("q", "a", confirmed=False), answer("q", "a", "b")], set()),
        ([answer("q", "a", "b", confirmed=False)], set()),
        ([answer("q", "a", confirmed=False, sql="SELECT 1")], set()),
    ],
)
def test_only_a_table_that_was_rejected_alone_is_refused(said, rejected):
    assert rejected_tables([Match(one, 0.9) for one in said]) == rejected


TEXTS = {
    "lake/rain": "how much rain fell in the valley",
    "lake/snow": "how much snow fell",
    "lake/cars": "cars and horsepower",
}


@pytest.fixture
def index(tmp_path):
    encoder = WordEncoder()
    blocks = [Block(i, DocumentKind.CONTEXT, text) for i, text in TEXTS.items()]
    with closing(EmbeddedIndex(tmp_path / "index", encoder.name, encoder.dimension)) as opened:
        replace_blocks(opened, embedded(blocks))
        yield opened


QUESTION = "how much rain fell"


def ids(results) -> list[str]:
    return [one.table_id for one in results]


def test_a_rejected_table_stands_behind_and_is_marked_and_others_take_its_place(index):
    plain = QueryEngine(index, WordEncoder()).ask(QUESTION)
    assert ids(plain)[:2] == ["lake/rain", "lake/snow"]
    said = KnownAnswers.of([answer(QUESTION, "lake/rain", confirmed=False)], {})
    engine = QueryEngine(index, WordEncoder(), answers=lambda: said)
    found = engine.ask(QUESTION)
    assert sorted(ids(found)) == sorted(ids(plain))
    assert ids(found)[-1] == "lake/rain"
    assert [one.rejected for one in found] == [False] * (len(found) - 1) + [True]
    assert sorted((one.score for one in found), reverse=True) == [one.score for one in found]
    assert ids(engine.ask(QUESTION, k=1)) == ["lake/snow"]
    assert "lake/rain" not in ids(engine.find(QUESTION, tau=0.0))
    assert ids(engine.ask("how much snow fell")) == ids(
        QueryEngine(index, WordEncoder()).ask("how much snow fell")
    )


def test_a_confirmed_answer_moves_no_table(index):
    said = KnownAnswers.of([answer(QUESTION, "lake/cars")], {})
    engine = QueryEngine(index, WordEncoder(), answers=lambda: said)
    found = engine.search(QUESTION)
    assert found.results == QueryEngine(index, WordEncoder()).ask(QUESTION)
    assert [match.answer.tables for match in found.remembered] == [("lake/cars",)]


def test_words_alone_are_asked_without_the_encoder_and_nobody_knows_how_sure_that_is(index):
    encoder = WordEncoder()
    engine = QueryEngine(index, encoder)
    found = engine.search(QUESTION, words_only=True)
    assert ids(found.results)[0] == "lake/rain"
    assert not encoder.calls
    assert {(one.confidence, one.answerable) for one in found.results} == {(None, None)}
    assert ids(engine.search(QUESTION, among=["lake/snow", "lake/gone"]).results) == ["lake/snow"]


def test_a_state_that_cannot_be_read_keeps_no_table_from_being_found(index, caplog):
    def away():
        raise StateError("the state is damaged")

    engine = QueryEngine(index, WordEncoder(), answers=away)
    assert ids(engine.ask(QUESTION))[0] == "lake/rain"
    assert "the state is damaged" in caplog.text


class Usage:
    """A state's part for answers, which counts how often it is read."""

    def __init__(self):
        self.kept, self.there, self.reads = [answer()], {}, 0

    def mark(self):
        return len(self.kept)

    def stamp(self):
        return len(self.kept), 0.0

    def answers(self):
        self.reads += 1
        return list(self.kept)

    def vectors(self, encoder, questions):
        assert encoder == "words"
        return {one: self.there[one] for one in questions if one in self.there}


def test_answers_are_read_again_when_one_came_and_while_embeddings_are_lacking(monkeypatch):
    usage = Usage()
    memory = AnswerMemory("words", lambda read: read(usage))
    assert [len(memory.known().placed) for _ in range(3)] == [0, 0, 0]
    assert usage.reads == 1
    usage.there = {"q": NEAR}
    monkeypatch.setattr("pneuma_assets.core.search.paraphrases._AGAIN", 0.0)
    assert len(memory.known().placed) == 1
    assert memory.known() is memory.known()
    assert usage.reads == 2
    usage.kept.append(replace(answer(), answer_id="2"))
    assert len(memory.known().answers) == 2
