"""What glued and shortened names are taken to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.evidence.names import in_words, parted, spell_out
from pneuma_assets.core.tables import Evidence


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("paperkeyphrase", ["paper", "key", "phrase"]),
        ("joindate", ["join", "date"]),
        ("religiousness", ["religiousness"]),
        ("mpg", ["mpg"]),
        ("bücher", ["bücher"]),
        ("x" * 1000, ["x" * 1000]),
        ("", [""]),
    ],
)
def test_glued_words_are_parted(part: str, words: list[str]) -> None:
    assert list(parted(part)) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("youngkidsCost", "young kids cost"),
        ("WeekofPurchase", "week of purchase"),
        ("neighborhood", "neighborhood"),
        ("arabica", "arabica"),
        ("endorsee", "endorsee"),
        ("sbcustjoindate", "sbcustjoindate"),
        ("petal_length", "petal length"),
    ],
)
def test_people_are_shown_sure_words_only(name: str, words: str) -> None:
    assert in_words([name]) == words


@pytest.mark.parametrize(
    ("column", "text", "spelled"),
    [
        ("cust_no", "One row a customer.", "customer"),
        ("cust_no", "One row a sale.", ""),
        ("custjoindate", "when customers joined", "cust join date customers"),
        ("qty", "the quantity sold", "quantity"),
        ("age", "average of ages", ""),
        ("education", "of education", ""),
    ],
)
def test_short_names_are_spelt_by_what_was_written_of_their_table(
    column: str, text: str, spelled: str
) -> None:
    assert spell_out(Evidence(columns=(column,)), [text]).spelled_columns == spelled


@given(st.lists(st.text(max_size=30), max_size=5), st.lists(st.text(max_size=200), max_size=3))
def test_any_names_and_texts_can_be_spelt(names: list[str], texts: list[str]) -> None:
    evidence = Evidence(names=tuple(names), columns=tuple(names))
    assert spell_out(evidence, texts).names == tuple(names)
