"""An answer ends where its second sentence begins."""

import pytest

from pneuma_assets.core.models.stopping import cut_at, stop_test
from pneuma_assets.core.narration.narrate import SECOND_SENTENCE


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A flag. It is set by hand.", "A flag"),
        ("Sold in the U.S. market.", "Sold in the U.S. market."),
        ("One line\nand more", "One line"),
        ("A rate of 3.5 per cent.", "A rate of 3.5 per cent."),
        ("", ""),
    ],
)
def test_cut_at_the_second_sentence(text, kept):
    assert cut_at(text, SECOND_SENTENCE) == kept


def test_the_earliest_stop_counts():
    assert cut_at("a. This b. It c", (". It", ". This")) == "a"


def test_without_stop_strings_nothing_ends():
    assert cut_at("a. It b", ()) == "a. It b"
    assert not stop_test((), lambda _: ". It")([1, 2])


def test_only_the_tail_is_decoded():
    seen = []

    def decode(tokens):
        seen.append(len(tokens))
        return ". It"

    assert stop_test((". It",), decode)(list(range(100)))
    assert seen == [8]
