"""Mentions are the longest runs of words that name columns; tables are scored by equations."""

from math import log

import numpy as np
import pytest

from pneuma_assets.core.search.mentions import HeaderMatcher, Match
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.entities.scoring import (
    best_columns,
    looked_up_columns,
    rarity,
    score_tables,
)

LOOKED_UP = {"lake/a": ["unitPrice", "region"], "lake/b": ["unit_id"]}
ANGLES = {"unit price": 0, "region": 90, "unit id": 180, "cost of units": 20, "price region": 45}


class Encoder:
    """Embeds phrases at angles that are given, others far from all."""

    def encode_documents(self, texts):
        radians = np.radians([ANGLES.get(text, 270) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def named(question: str) -> dict[str, list[str]]:
    found = looked_up_columns(HeaderMatcher(Encoder(), ENGLISH), question, LOOKED_UP)
    return {mention: list(headers) for mention, headers in found.items()}


def test_the_longest_run_near_a_header_is_one_mention():
    assert named("cost of units by region") == {
        "cost of units": ["unit price", "unit id"],
        "region": ["region"],
    }


def test_each_word_is_in_one_mention():
    assert list(named("unit price region")) == ["unit price", "region"]


def test_a_run_that_only_shares_a_word_is_none_but_the_word_is():
    assert list(named("many units sold")) == ["units"]


def test_words_that_no_header_has_are_left_out():
    assert named("who are we") == {}
    assert named("") == {}


SALE, PRICE = {"sale": Match(1.0, 0.9), "sold": Match(0.8, 0.8)}, {"price": Match(0.75, 0.75)}
TABLES = {
    "shop": ["Sale", "price", "id"],
    "old": ["sold", "id"],
    "log": ["id"],
    "web": ["id", "PRICE", "sale"],
}


def test_each_mention_has_one_column_of_a_table():
    assert best_columns([SALE, PRICE], ["sold", "price", "Sale"]) == {
        0: ("Sale", Match(1.0, 0.9)),
        1: ("price", Match(0.75, 0.75)),
    }


def test_of_columns_that_share_a_word_the_nearest_in_meaning_is_taken_then_the_first():
    one = {"order date": Match(1.0, 0.5), "order id": Match(1.0, 0.8)}
    assert best_columns([one], ["order_date", "order_id"])[0][0] == "order_id"
    same = {"order date": Match(1.0, 0.5), "order id": Match(1.0, 0.5)}
    assert best_columns([same], ["order_id", "order_date"])[0][0] == "order_id"


def test_what_all_have_tells_nothing():
    assert rarity(1, 4) == pytest.approx(log(4))
    assert rarity(4, 4) == 0


def test_tables_are_scored_by_columns_and_values():
    held = {"lima": ["shop"], "peru": ["shop", "web", "elsewhere"]}
    scores = score_tables([SALE, PRICE], TABLES, held)
    # sale: in shop and web, so log(4/2); sold: in one, log 4; price: in two, log(4/2)
    assert set(scores) == {"shop", "old", "web"}
    assert scores["shop"].columns == pytest.approx(log(2) + 0.75 * log(2))
    assert scores["old"].columns == pytest.approx(0.8 * log(4))
    # lima: in one of four; peru: in two, one that is elsewhere does not count
    assert scores["shop"].values == pytest.approx(log(4) + log(2))
    assert scores["web"].values == pytest.approx(log(2))
    assert scores["shop"].total == pytest.approx(1.75 * log(2) + 2 * (log(4) + log(2)))
    assert scores["web"].total == pytest.approx(1.75 * log(2) + 2 * log(2))
    assert scores["old"].total == scores["old"].columns
    assert scores["shop"].best == {0: "Sale", 1: "price"}


def test_a_header_in_two_columns_of_a_table_counts_that_table_once():
    tables = {"a": ["Sale", "sale"], "b": ["id"]}
    assert score_tables([SALE], tables, {})["a"].columns == pytest.approx(log(2))


def test_values_count_where_no_column_is_mentioned():
    scores = score_tables([], TABLES, {"lima": ["log"], "nowhere": []})
    assert set(scores) == {"log"}
    assert scores["log"].total == pytest.approx(log(4))
