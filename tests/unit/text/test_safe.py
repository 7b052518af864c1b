"""Texts of strangers are made harmless, each in the way its use asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.text.safe import one_line, printable, well_formed

ESCAPES = [
    ("plain", "plain"),
    ("two\nlines\tand\r\ntabs", "two lines and tabs"),
    ("\x1b[31mred\x1b[0m", "[31mred [0m"),
    ("\x9b31mred", "31mred"),
    ("bell\x07\x08\x7f!", "bell !"),
    ("abc\u202egpj.exe", "abc gpj.exe"),
    ("lone \ud800 surrogate", "lone surrogate"),
    ("Größe 東京 🐧", "Größe 東京 🐧"),
    ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
]


@pytest.mark.parametrize(("text", "shown"), ESCAPES)
def test_printable(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_what_is_printed_is_utf8_on_one_line(text):
    shown = printable(text)
    shown.encode("utf-8")
    assert shown.isprintable()
    assert printable(shown) == shown


def test_well_formed_keeps_every_other_character():
    assert well_formed("a\ud800b\udfff🙂\x00é") == "a?b?🙂\x00é"


@given(st.text(), st.integers(1, 50))
def test_one_line_is_short_utf8_of_one_line(text, limit):
    shown = one_line(text, limit)
    shown.encode("utf-8")
    assert len(shown) <= limit
    assert len(shown.splitlines()) <= 1
