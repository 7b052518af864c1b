"""The terms by which a name that is typed in is found."""

import pytest

from pneuma_assets.core.terms.name_terms import LONGEST_TYPED, name_terms, query_name_terms, unglued

TABLE = [((), ["order", "items"]), (["sales"], ["order", "items"])]


def shared(asked: list[str]) -> int:
    return len(set(query_name_terms(asked)) & set(name_terms(TABLE, [["created", "at"], ["id"]])))


@pytest.mark.parametrize(
    "asked",
    [
        ["orderitems"],
        ["sales", "order", "items"],
        ["items"],
        ["sales", "order"],
        ["orderitem"],
        ["ordreitems"],
        ["orxderitems"],
        ["createdat"],
        ["created"],
        ["craeted", "at"],
        ["id"],
    ],
)
def test_a_name_whole_in_part_or_with_a_slip_is_found(asked: list[str]) -> None:
    assert shared(asked)


@pytest.mark.parametrize("asked", [["sales"], ["ite"], ["idd"], ["order", "at"], [], ["***"]])
def test_what_is_no_name_of_the_table_is_not(asked: list[str]) -> None:
    assert not shared(asked)


def test_whole_names_columns_and_long_words_are_told_apart():
    assert shared(["orderitems"]) > shared(["orderitem"]) > 0
    assert set(name_terms([((), ["id"])], [])).isdisjoint(name_terms([], [["id"]]))
    assert query_name_terms(["a" * LONGEST_TYPED])
    assert not query_name_terms(["a" * (LONGEST_TYPED + 1)])


def test_terms_are_bounded_and_whole_names_come_first() -> None:
    columns = [[f"column{number}", "of", "very", "many"] for number in range(4_000)]
    terms = name_terms([], columns)
    assert len(terms) == 16_000
    assert {f"c={''.join(column)}" for column in columns} <= set(terms)


@pytest.mark.parametrize(
    ("part", "words", "split"),
    [
        ("custjoindate", {"cust", "join", "date"}, ["cust", "join", "date"]),
        ("custjoindate", {"custjoin", "cust", "join", "date"}, ["custjoin", "date"]),
        ("custjoin", {"cust"}, ["custjoin"]),
        ("cust", set(), ["cust"]),
    ],
)
def test_glued_words_are_parted(part: str, words: set[str], split: list[str]) -> None:
    assert unglued([part], words) == split
