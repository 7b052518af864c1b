"""Sentences end where people say they do, abbreviations and units included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.text.sentences import ends_sentence, sentence_ends


def split(text):
    places = [0, *sentence_ends(text)]
    parts = [text[a:b].strip() for a, b in zip(places, [*places[1:], len(text)], strict=True)]
    return [part for part in parts if part]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The approx. weight of the animal in lbs.", "It is measured by hand."],
        ["The No. of items sold by the shop.", "It is a count."],
        ["The No. 5 bus."],
        ["Weight in lbs. of the ship."],
        ["The country, e.g. Italy or Spain.", "The column is text."],
        ["Songs, e.g. The Wall or the like.", "This is it."],
        ["Places, i.e. The Hague and so on."],
        ["Smith vs. The State.", "It was big."],
        ["Max. no. of pcs. per box.", "It is a count."],
        ["The avg. Max. speed per hr.", "The car is fast."],
        ["The std. dev. of x.", "This is it."],
        ["Sold in the U.S. market.", "It is big."],
        ["Sold in the U.S.", "It is big."],
        ["The U.S. Census number."],
        ["Time at 5 p.m.", "It is local."],
        ["Age in yr. at birth.", "Height in cm.", "Weight in kg."],
        ["Rates of 3.5 or 4.2 per cent.", "More follow."],
        ["Names by J. K. Rowling.", "The list is long."],
        ["Yahoo! is a site.", "Is it?", "It is."],
        ["He said (so they say.)", "It was late."],
        ["Is it either yes or no.", "The rest is unknown."],
        ["GDP.", "It is large."],
        ["数据的列。", "这是第二句。", "还有吗？"],  # noqa: RUF001
        ["यह पहला है।", "यह दूसरा है।"],
        ["An answer that is cut"],
        ["One is whole.", "Another is cu"],
        [],
    ],
)
def test_split(sentences):
    assert split(" ".join(sentences)) == sentences
    assert split("".join(sentences)) == sentences or not sentences or sentences[0].isascii()


@given(st.text(max_size=300))
def test_places_rise_and_agree(text):
    places = list(sentence_ends(text))
    assert places == sorted(set(places))
    assert all(0 < place <= len(text) for place in places)


@pytest.mark.timeout(10)
def test_a_long_row_of_marks_is_read_once():
    assert split("." * 200_000 + "x. Done.") == ["." * 200_000 + "x.", "Done."]


def test_one_place():
    text = "approx. It is here. It ends."
    assert not ends_sentence(text, 6)
    assert ends_sentence(text, text.index(". It ends"))
    assert not ends_sentence(text, 0)
