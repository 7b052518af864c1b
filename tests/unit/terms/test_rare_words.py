"""Which words of a question may tell a table from all others, and where they are looked for."""

import subprocess
import sys

import pytest

from pneuma_assets.core.terms.fields import Field
from pneuma_assets.core.terms.rare_words import MOST_SOUGHT, places_of, sought_words
from pneuma_assets.core.text.analysis import ENGLISH, analyzer_named
from pneuma_assets.core.text.word_frequencies import is_common


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("how many flights left each day", ()),
        ("the AEI of keyphrases", ("aei", "keyphrases")),
        ("sum of Calculation_4053", ("Calculation_4053", "4053")),
        ("films made_by year", ("made_by",)),
        ("one-way trips on an F-16 of H-Block", ("F-16", "H-Block")),
        ("a one-way tri-athlete of O'Hare's", ("tri-athlete", "O'Hare", "tri", "hare")),
        ("where is George Town", ("George Town",)),
        ("is HIRE_DATE hire_date", ("HIRE_DATE",)),
        ("xq-" * 3_000 + "x", ()),
        ("was it 1,234 or 12 on the 31st", ("1,234",)),
        ("\u6e56\u7684\u5730\u56fe", ()),
        ("", ()),
    ],
)
def test_what_is_sought_is_no_common_english(question, sought):
    assert sought_words(question, ENGLISH) == sought


def test_other_languages_and_long_questions_seek_few_words():
    assert sought_words("Wie heißt Zyx_1 in Zyx", analyzer_named("german")) == ("Zyx_1",)
    words = [f"zq{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(99)]
    assert sought_words(" ".join(words), ENGLISH) == tuple(words[:MOST_SOUGHT])


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("keyphrases", {Field.NAMES, Field.VALUES, None}),
        ("1,234", {Field.NAMES, Field.VALUES, None}),
        ("made_by", {Field.GRAMS, Field.CELLS}),
        ("F-16", {Field.GRAMS, Field.CELLS, Field.PAIRS}),
        ("tri-athlete", {Field.GRAMS, Field.CELLS, Field.PAIRS, None}),
        ("x91l", {Field.NAMES, Field.VALUES, None, Field.PAIRS, Field.CELLS, Field.GRAMS}),
        ("136A", {Field.GRAMS, Field.CELLS}),
        ("George Town", {Field.PAIRS}),
        ("Mt McKinley", {Field.PAIRS}),
        ("", set()),
    ],
)
def test_where_a_word_is_looked_for(word, fields):
    assert {field for field, _ in places_of(word, ENGLISH)} == fields


def test_common_words_are_known_without_loading_the_package_that_lists_them():
    assert is_common("The")
    assert not is_common("keyphrase")
    code = (
        "import sys; from pneuma_assets.core.text.word_frequencies import is_common; "
        "is_common('x'); sys.exit('symspellpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
