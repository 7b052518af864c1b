"""What a question mentions: equations 1 and 2 of Octopus by hand, and what may name a column."""

from math import sqrt

import numpy as np
import pytest

from pneuma_assets.core.search.mentions import (
    HeaderMatcher,
    Match,
    headers_of,
    matched_columns,
    matches,
    word_mentions,
)
from pneuma_assets.core.terms.fields import header_of
from pneuma_assets.core.text.analysis import ENGLISH


def plane(*degrees: float) -> np.ndarray:
    """Unit vectors at these angles: two of them have the cosine of what lies between."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


NAMES = ("amount", "cost", "price", "region", "total price")
HEADERS = dict(zip(NAMES, plane(60, 30, 0, 90, 45), strict=True))
NEAREST = ["cost", "price", "total price", "amount", "region"]
"""To 20 degrees."""


def found(mention: str, degrees: float, **bounds: float) -> dict[str, Match]:
    [one] = matches([mention], plane(degrees), HEADERS, ENGLISH, **bounds)
    return one


def test_a_mention_matches_the_nearest_headers_above_the_threshold():
    # cosines at 20 degrees: price 20, cost 10, total price 25, amount 40 (.766), region 70 (.342)
    one = found("fee", 20)
    assert list(one) == ["cost", "price", "total price", "amount"]
    assert one["cost"].score == pytest.approx(np.cos(np.radians(10)), abs=1e-6)
    assert one["amount"].score == pytest.approx(0.766044, abs=1e-6)


@pytest.mark.parametrize(
    ("bounds", "names"),
    [
        pytest.param({"most": 2}, ["cost", "price"], id="k"),
        pytest.param({"least": 0.9}, ["cost", "price", "total price"], id="eta"),
        pytest.param({"least": -1.0, "most": 9}, NEAREST, id="all"),
        pytest.param({"most": 0}, [], id="none"),
    ],
)  # fmt: skip
def test_how_many_match_by_meaning_is_bounded(bounds, names):
    assert list(found("fee", 20, **bounds)) == names


def test_headers_of_one_cosine_are_taken_by_name():
    same = dict(zip(("b", "c", "a"), plane(0, 0, 0), strict=True))
    [one] = matches(["fee"], plane(0), same, ENGLISH, most=2)
    assert list(one) == ["a", "b"]


def test_words_and_numbers_are_hits_whatever_they_mean():
    one = found("prices", 180, most=0)
    assert one == {
        "price": Match(1.0, pytest.approx(-1.0)),
        "total price": Match(1.0, pytest.approx(-sqrt(0.5))),
    }
    headers = dict(zip(("how", "which", "price"), plane(0, 0, 0), strict=True))
    [one] = matches(["which price"], plane(180), headers, ENGLISH)
    assert list(one) == ["price"]
    headers = dict(zip(("2019", "2020"), plane(0, 10), strict=True))
    [one] = matches(["2020"], plane(0), headers, ENGLISH)
    assert list(one) == ["2020"]
    assert matches([], plane(), HEADERS, ENGLISH) == []
    assert matches(["fee"], plane(0), {}, ENGLISH) == [{}]


@pytest.mark.parametrize(
    ("column", "header"),
    [("customerId", "customer id"), ("CUSTOMER_ID", "customer id"), ("#", ""), ("", "")],
)
def test_a_header_is_the_words_of_a_name(column, header):
    assert header_of(column) == header


def test_each_header_is_there_once_and_in_order():
    tables = {"b": ["customerId", "name"], "a": ["customer_id", "#", "age"]}
    assert headers_of(tables) == ["age", "customer id", "name"]


SALE, PRICE = {"sale": Match(1.0, 0.9), "sold": Match(0.8, 0.8)}, {"price": Match(0.75, 0.75)}
TABLES = {
    "shop": ["Sale", "price", "id"],
    "old": ["sold", "id"],
    "log": ["id"],
    "web": ["id", "PRICE", "sale"],
}


def test_the_matched_columns_of_tables_have_their_best_scores():
    better = {"price": Match(0.9, 0.9), "sold": Match(0.7, 0.7)}
    assert matched_columns([SALE, PRICE, better], TABLES) == {
        "shop": {"Sale": 1.0, "price": 0.9},
        "old": {"sold": 0.8},
        "log": {},
        "web": {"PRICE": 0.9, "sale": 1.0},
    }


LAKE = {"lake/a": ["unitPrice", "region"], "lake/b": ["cost", "#"]}


class Angles:
    """Embeds texts at angles that are given, and keeps what it was asked for."""

    angles = {"unit price": 0, "cost": 25, "region": 90, "fee": 10}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_documents(self, texts):
        self.asked += texts
        radians = np.radians([self.angles[text] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def cosine(degrees: float):
    return pytest.approx(np.cos(np.radians(degrees)), abs=1e-6)


def test_columns_that_are_mentioned_have_scores_within_bounds():
    matcher = HeaderMatcher(Angles(), ENGLISH)
    assert matcher.matched_columns(["fee", "region"], LAKE) == {
        "lake/a": {"unitPrice": cosine(10), "region": 1.0},
        "lake/b": {"cost": cosine(15)},
    }
    matcher = HeaderMatcher(Angles(), ENGLISH).among(1, 0.0)
    assert matcher.matched_columns(["fee"], LAKE) == {
        "lake/a": {"unitPrice": cosine(10)},
        "lake/b": {},
    }


def test_what_is_kept_is_not_embedded_again():
    encoder = Angles()
    kept = {"region": np.array([1, 0], np.float32)}
    asked = []
    matcher = HeaderMatcher(encoder, ENGLISH, lambda names: asked.append(names) or kept)
    found = matcher.matched_columns(["fee"], LAKE)
    assert asked == [["cost", "region", "unit price"]]
    assert encoder.asked == ["cost", "unit price", "fee"]
    assert found["lake/a"].keys() == {"unitPrice", "region"}


@pytest.mark.parametrize(("mentions", "tables"), [([], LAKE), (["fee"], {"lake/a": ["#"]})])
def test_nothing_is_embedded_where_nothing_can_match(mentions, tables):
    encoder = Angles()
    matcher = HeaderMatcher(encoder, ENGLISH)
    assert matcher.matched_columns(mentions, tables) == {one: {} for one in tables}
    assert encoder.asked == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(
            "What is the number of sales?",
            ("number of sales", "number", "sales"),
            id="little words stand inside runs alone",
        ),
        pytest.param(
            "unit price, region",
            ("unit price region", "unit price", "price region", "unit", "price", "region"),
            id="longer runs first",
        ),
        pytest.param("customerId of café", ("customer id", "customer", "id", "cafe"), id="names"),
        pytest.param("sales sales", ("sales sales", "sales"), id="each once"),
        pytest.param("What is it?", (), id="nothing"),
    ],
)
def test_content_words_and_their_runs(question, expected):
    found = word_mentions(question)
    assert {*expected} <= {*found}
    assert [one for one in found if one in expected] == list(expected)


def test_runs_have_no_little_words_at_their_ends_and_a_bound():
    assert word_mentions("name of the author") == ("name", "author")
    assert len(word_mentions("a1b2 " * 10_000)) < 300
    long = " ".join(chr(0x4E00 + number) * 90 for number in range(100))
    assert sum(map(len, word_mentions(long))) < 6 * 700
