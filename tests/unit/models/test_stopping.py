"""An answer ends where its second sentence begins."""

import pytest

from pneuma_assets.core.models.language.answers import cautious, cut_at, stop_test, wrongly_cut

SECOND_SENTENCE = ("\n", ". It", ". The", ". This")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A flag. It is set by hand.", "A flag"),
        ("Sold in the U.S. market.", "Sold in the U.S. market."),
        ("One line\nand more", "One line"),
        ("A rate of 3.5 per cent.", "A rate of 3.5 per cent."),
        ("The country, e.g. Italy. It is text.", "The country, e.g. Italy"),
        ("Songs, e.g. The Wall.", "Songs, e.g. The Wall."),
        ("Of Rome. Italy is", "Of Rome"),
        ("Smith vs. The State. The court", "Smith vs. The State"),
        ("Sold in the U.S. It is big.", "Sold in the U.S"),
        ("", ""),
    ],
)
def test_cut_at_the_second_sentence(text, kept):
    assert cut_at(text, SECOND_SENTENCE) == kept


def test_the_earliest_stop_counts_if_there_is_any():
    assert cut_at("a. This b. It c", (". It", ". This")) == "a"
    assert cut_at("a. It b", ()) == "a. It b"
    assert not stop_test((), lambda _: ". It")([1, 2])


def test_only_the_tail_is_decoded_until_something_stands_there():
    seen = []

    def decode(tokens):
        seen.append(len(tokens))
        return "no" if len(seen) == 1 else "a. It"

    ended = stop_test((". It",), decode)
    assert not ended(list(range(100)))
    assert ended(list(range(100)))
    assert seen == [8, 8, 100]


def test_an_abbreviation_that_left_the_tail_does_not_end_an_answer():
    letters = [*"The approx. It weighs"]
    ended = stop_test((". It",), "".join)
    assert not any(ended(letters[:n]) for n in range(len(letters) + 1))
    assert ended([*"A year. It"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The country, e.g", True), ("Smith vs", True), ("Sold in the U.S", False), ("A year", False)],
)
def test_what_a_server_cut_after_an_abbreviation(text, expected):
    assert wrongly_cut(text, SECOND_SENTENCE) is expected
    assert not wrongly_cut(text, ("\n",))
    assert cautious(SECOND_SENTENCE) == ["\n"]
