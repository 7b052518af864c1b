"""What a table's page begins with, whatever was written."""

import pytest

from pneuma_assets.core.text.safe import plain_in_markdown, prose
from pneuma_assets.core.text.sentences import first_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("---\n", ""),
        ("# Only a title", "Only a title"),
        ("# Title\n\nFirst words. More.", "First words. More."),
        ("Title\n=====\n\nFirst words.", "First words."),
        ("# T\n\nFirst words.\n\n## Columns\n\n- a: b", "First words."),
        ("First words:\n- a: b\n- c: d", "First words:"),
        ("- a: b\n- c: d\n\nLast words.", "Last words."),
        ("- a: b\n- c: d", "a: b - c: d"),
        ("First words.\n| a | b |", "First words."),
        ("First words. " + "X" * 80, "First words."),
        ("The approx. weight in lbs. of it. " + "Y" * 80, "The approx. weight in lbs. of it."),
        ("word " * 50, "word " * 10 + "word…"),
        ("\x1b[31mred\u202e", "[31mred"),
    ],
)
def test_it_is_cut_at_a_sentence(text, shown):
    assert first_words(text, 60) == shown


@pytest.mark.parametrize("text", ["x" * 1_000_000, "# " * 500_000, "a. " * 400_000, "\n" * 900_000])
def test_a_text_of_any_size_is_short_at_once(text):
    assert len(first_words(text, 500)) <= 500


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[x](http://a)", r"\[x\](http\://a)"),
        ("# not a title", r"\# not a title"),
        ("- no item", r"\- no item"),
        ("1. no list", r"1\. no list"),
        ("<script>&amp;", r"\<script\>\&amp;"),
        ("snake_case and _this_", r"snake_case and \_this\_"),
        ("www.example.org", r"www\.example.org"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_markdown_in_it_is_shown_and_not_obeyed(text, written):
    assert plain_in_markdown(text) == written


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("Orders.\n\n#### Raw SQL:\n```sql\n  select 1\n```", "Orders."),
        ("~~~\nselect '```'\n~~~\nOrders.", "Orders."),
        (
            "# Orders\nOne a receipt.\n## Raw\n```\nx\n```\n## Who\nAda.",
            "Orders One a receipt. Who Ada.",
        ),
        ("Costs #1 and `code`.", "Costs #1 and `code`."),
        ("```\nnever closed", ""),
        ("# Alone\n\n", ""),
    ],
)
def test_code_and_headings_without_text_are_no_prose(written, left):
    assert " ".join(prose(written).split()) == left
