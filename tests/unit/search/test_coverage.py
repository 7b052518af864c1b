"""How much of a question the names of tables say, and the best two of a schema together."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.base import TableScores
from pneuma_assets.core.search.signals import coverage

WORDS = ("course", "student", "score")


def found(**headers: dict[str, float]) -> dict[str, TableScores]:
    """Return tables of two letters, of which the first is the schema."""
    return {f"{i[0]}/{i}": TableScores(headers=one) for i, one in headers.items()}


def test_a_word_counts_by_how_few_have_it_and_by_its_share_of_the_name():
    tables = found(ax={"course": 1.0}, ay={"course": 0.5, "student": 1.0}, az={})
    said = coverage(tables, WORDS)
    whole = log(1 + 3 / 2) + 2 * log(1 + 3)
    assert said["a/ax"] == {"coverage": pytest.approx(log(1 + 3 / 2) / whole)}
    assert said["a/ay"]["coverage"] == pytest.approx((log(1 + 3 / 2) / 2 + log(4)) / whole)
    assert said["a/az"] == {}


def test_the_best_two_tables_speak_for_a_schema_whatever_its_size():
    one, two, three = ({word: 1.0} for word in WORDS)
    few = coverage(found(ax=one, ay=two, bx=three), WORDS)
    many = coverage(found(ax=one, ay=two, az=three, bx=one | two), WORDS)
    assert few["a/ax"]["place"] == few["a/ay"]["place"] > few["b/bx"]["place"]
    whole = 2 * log(1 + 4 / 2) + log(1 + 4)
    assert many["a/az"]["place"] == pytest.approx((log(1 + 4) + log(1 + 4 / 2)) / whole)
    assert many["b/bx"]["place"] == many["b/bx"]["coverage"] == pytest.approx(2 * log(3) / whole)


def test_one_schema_alone_tells_nothing():
    assert "place" not in coverage(found(ax={"course": 1.0}, ay={"score": 1.0}), WORDS)["a/ax"]


@given(st.permutations(["ax", "ay", "az", "au", "bx"]))
def test_the_order_of_candidates_decides_nothing(order):
    headers = {
        "ax": {"course": 1.0, "student": 0.5},
        "ay": {"score": 1.0, "grade": 0.5},
        "az": {"course": 0.5},
        "au": {"score": 0.5, "student": 1.0},
        "bx": {"grade": 0.5},
    }
    words = (*WORDS, "grade")
    assert coverage(found(**{i: headers[i] for i in order}), words) == coverage(
        found(**headers), words
    )


SHARES = st.dictionaries(st.sampled_from([*WORDS, "unasked"]), st.floats(0.5, 1.0))


@given(st.dictionaries(st.sampled_from(["ax", "ay", "az", "bx", "by"]), SHARES))
def test_shares_are_bounded_and_a_schema_says_no_less_than_its_best_table(headers):
    tables = found(**headers)
    for table_id, parts in coverage(tables, WORDS).items():
        assert all(0.0 < value <= 1.0 + 1e-9 for value in parts.values())
        if "place" in parts:
            assert parts["place"] >= parts.get("coverage", 0.0)
        assert parts.keys() <= {"coverage", "place"}, table_id
