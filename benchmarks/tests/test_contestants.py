"""Contestants: each indexes a set, answers its questions, and is counted the same way."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.tests.support.bench_sets import SIDES, small_set
from pneuma_assets.core.tables import Column
from pneuma_bench.contestants import (
    OurSearch,
    Prepared,
    RowVectors,
    WholeTableVectors,
    WholeTableWords,
    measured,
)
from pneuma_bench.contestants_by_model import Mentions, ParsedMentions, SummaryVectors
from pneuma_bench.files import KeptFile
from pneuma_bench.lab import Lab
from pneuma_bench.measure import measure
from pneuma_bench.settings import setting_of
from tests.support.fake_model import FakeLanguageModel
from tests.support.word_encoder import WordEncoder


class Fixed:
    """Answers every question with the same tables, one of them twice."""

    def __init__(self):
        self.asked = []

    def prepare(self, dataset):
        return Prepared(1.5, 10, 6)

    def answer(self, questions, k):
        self.asked.append(list(questions))
        return [["small/lakes", "small/rivers"] for _ in questions]


def test_a_table_is_as_near_as_its_nearest_text_and_ties_are_the_first_ones():
    chance = np.random.default_rng(3)
    one = RowVectors(WordEncoder(), 10)
    one._ids = [f"t{at}" for at in range(30)]
    one._owners = np.repeat(np.arange(30), chance.integers(1, 6, 30))
    one._vectors = chance.integers(-2, 3, (len(one._owners), 3)).astype(np.float32)
    asked = chance.integers(-2, 3, (40, 3)).astype(np.float32)
    one._encoder.encode_queries = lambda _: asked
    expected = []
    for question in asked:  # all texts in order, each table where its first one stands
        order = np.argsort(-(one._vectors @ question), kind="stable")
        expected.append([*dict.fromkeys(f"t{one._owners[at]}" for at in order)][:7])
    assert one.answer(["q"] * 40, 7) == expected


def test_places_are_of_the_first_right_table_and_questions_without_one_do_not_count():
    dataset = replace(small_set(), kinds=["odd", "even"] * 4)
    fixed = Fixed()
    found = measured(fixed, dataset, 2)
    assert [*found.places] == [2, 1, 0, 0, 0, 0, 1]
    assert found.kinds == ["odd", "even"] * 3 + ["odd"]
    assert found.facts.pop("questions_a_second") > 0
    assert found.facts == {"seconds": 1.5, "size_bytes": 10, "vectors": 6, "unanswered": 0}
    assert len(fixed.asked) == 1 + 1 + 2 * 100
    assert found.hit_rate(1)[0] == pytest.approx(2 / 7)
    assert found.hit_rate(5)[0] == pytest.approx(3 / 7)
    value, (low, high) = found.hit_rate(5, "odd")
    assert (value, low <= value <= high) == (0.5, True)
    assert np.isnan(found.hit_rate(5, "context")[0])


def test_our_search_answers_as_bench_run_does():
    with Lab(small_set(), None, {}, lambda _: WordEncoder()) as lab:
        expected = measure(lab, setting_of(SIDES, {"k": 10}))
        found = measured(OurSearch(lab, SIDES, {}), small_set(), 1)
    assert found.hit_rate(1)[0] == pytest.approx(expected.figures.values["R@1"])
    assert found.facts["vectors"] == expected.facts["blocks"]
    assert found.facts["size_bytes"] > 0
    assert found.facts["questions_a_second"] > 0


@pytest.mark.parametrize(
    "make",
    [
        WholeTableWords,
        lambda: WholeTableVectors(WordEncoder()),
        lambda: RowVectors(WordEncoder(), 100),
    ],
)
def test_plain_retrievers_find_what_the_words_say(make):
    contestant = make()
    found = measured(contestant, small_set(), 1)
    assert found.hit_rate(1)[0] == 1.0
    assert found.facts["size_bytes"] > 0
    assert found.facts["vectors"] in {0, 6, 12}
    answers = contestant.answer(["Danube", "no word of any table"], 6)
    assert answers[0][0] == "small/rivers"
    for one in answers:
        assert len({*one}) == len(one) <= 6


@pytest.mark.parametrize("text", ["...", "the of", ""])
def test_tables_without_a_word_are_not_found_by_words(text):
    dataset = small_set()
    mute_columns = [Column(text, "VARCHAR")]
    tables = [(replace(table, columns=mute_columns), [(text,)]) for table, _ in dataset.tables]
    mute = replace(dataset, tables=tables, names={}, contexts={})
    found = measured(WholeTableWords(), mute, 1)
    assert found.hit_rate(3)[0] == 0
    assert found.facts["size_bytes"] == 0


def test_a_long_table_is_the_mean_of_its_windows():
    dataset = small_set()
    (table, _), *others = dataset.tables
    long = replace(dataset, tables=[(table, [("Danube", str(n)) for n in range(300)]), *others])
    whole = WholeTableVectors(WordEncoder(window=20))
    assert whole.prepare(long).vectors == 6
    assert np.linalg.norm(whole._vectors, axis=1) == pytest.approx(1.0)


def by_model(make, answers, tmp_path):
    """Return what a retriever that asks a model does on the set, itself, and the model."""
    model = FakeLanguageModel(answers=answers)
    with KeptFile(tmp_path / "replies.db") as kept:
        contestant = make(WordEncoder(), model, kept)
        return measured(contestant, small_set(), 1), contestant, model


def test_a_table_is_found_by_its_summary_and_not_without_one(tmp_path):
    def answers(prompt):
        if "Danube" in prompt:
            return json.dumps({"name": "rivers", "summary": "length of the river Danube"})
        return "There is nothing to say."

    found, _, model = by_model(SummaryVectors, answers, tmp_path)
    assert (found.places[0], found.places[1]) == (1, 0)
    assert (found.facts["vectors"], found.facts["unanswered"]) == (1, 5)
    assert len(model.prompts) == 6
    none, _, again = by_model(SummaryVectors, lambda _: "{}", tmp_path)
    assert none.facts["unanswered"] == len(again.prompts) == 5  # one was kept


def test_mentions_of_columns_and_values_find_tables_and_rare_ones_more(tmp_path):
    def answers(prompt):
        if "Danube" in prompt:
            return json.dumps({"columns": ["length"], "sql": "SELECT x WHERE r = 'danube'"})
        if "Baikal" in prompt:
            return json.dumps({"columns": ["LAKE"], "sql": ""})
        return "What?"

    found, contestant, model = by_model(ParsedMentions, answers, tmp_path)
    assert [*found.places[:2]] == [1, 1]
    assert found.facts["unanswered"] == 6
    assert len(model.prompts) == 8  # the timed rounds ask nothing
    assert contestant.answer(["depth of lake Baikal"], 6) == [["small/lakes"]]


def test_values_are_the_literals_of_the_sketch():
    sql = "SELECT a1 FROM t WHERE n LIKE '%O''Hara%' AND y > 2024 AND s = 'Shoes' LIMIT 5"
    assert Mentions(columns=[], sql=sql).values == ["o'hara", "2024", "shoes"]
