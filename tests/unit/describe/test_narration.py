import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.describe import narrate
from pneuma_assets.core.describe.narrate import (
    MAX_CHARACTERS,
    NarrationRequest,
    narrate_columns,
    tidy,
)
from pneuma_assets.core.describe.prompts import FULL_SCHEMA, column_prompt
from pneuma_assets.core.describe.texts import NarratedColumns, schema_texts
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.models.language.answers import cut_at
from pneuma_assets.core.progress import listening
from pneuma_assets.core.tables import Column, Table
from tests.support.fake_model import FakeLanguageModel


def test_the_prompt_is_the_authors():
    assert column_prompt(("Player", "AB"), 1) == (
        "A table has the following columns:\n/*\nPlayer | AB\n*/\n"
        "Describe briefly what the AB column represents. "
        'If not possible, simply state "No description."'
    )


def test_a_wide_table_shows_its_head_and_the_neighbours():
    columns = [f"column {n}" for n in range(2000)]
    for position in (0, 19, 20, 99, 100, 1050, 1999):
        prompt = column_prompt(columns, position)
        shown = prompt.split("/*\n")[1].split("\n*/")[0].split(" | ")
        assert len(shown) <= FULL_SCHEMA + 2
        assert f"column {position}" in shown
        assert shown[:20] == columns[:20]
        assert len(prompt) < 2500


def test_wide_schemas_share_their_beginning_and_narrow_ones_are_whole():
    columns = [f"column {n}" for n in range(2000)]
    beginnings = {column_prompt(columns, n).split("Describe")[0] for n in range(2000)}
    assert len(beginnings) <= 2000 / 80 + 1
    columns = [f"c{n}" for n in range(FULL_SCHEMA)]
    assert " | ".join(columns) in column_prompt(columns, 5)


@given(st.lists(st.text(max_size=200), min_size=1, max_size=150), st.data())
def test_hostile_names_stay_inside_the_comment(columns, data):
    position = data.draw(st.integers(0, len(columns) - 1))
    prompt = column_prompt(columns, position)
    assert prompt.count("*/") == 1
    assert prompt.count("/*") == 1
    assert len(prompt.splitlines()) == 5
    assert len(prompt) <= 67 * (FULL_SCHEMA + 5) + 400


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The year of the game.", "The year of the game."),
        ("  The year\n of the game.\n\nAnd more text.", "The year of the game."),
        ("No description.", ""),
        ('"No description."', ""),
        ("no description is possible here", ""),
        ("", ""),
        ("Height in cm. It is used to calcul", "Height in cm."),
        ("Height of the tree in", "Height of the tree"),
        ("Amounts, e.g. 3.5 or 4.2 dollars. Mor", "Amounts, e.g. 3.5 or 4.2 dollars."),
        ("Made in the U.S. market by year. Cut her", "Made in the U.S. market by year."),
        ("It is a year. It is a year. It is a ye", "It is a year."),
        (
            "The lgID column represents the division of a team based on the division of a team "
            "based on the division of a team based on",
            "The division of a team.",
        ),
        ("The AB column represents the number of at-bats.", "The number of at-bats."),
        ('The "x y" column is a flag. It is set.', "A flag. It is set."),
        ("This column contains dates.", "Dates."),
        ("The columns represent years.", "The columns represent years."),
        ("a a a a a a", "a."),
        ("Sold day by day by the shop.", "Sold day by day by the shop."),
        ("Bell\x07 and\ttab.", "Bell and tab."),
        ("数据的列。", "数据的列。"),
        (
            "The approx. weight of the animal in lbs. as weighed by",
            "The approx. weight of the animal in lbs. as weighed",
        ),
        ("The weight in lbs. The animal is wei", "The weight in lbs."),
        ("The country, e.g. Italy or Spain. Others ar", "The country, e.g. Italy or Spain."),
        ("Sure! The x column represents the ye", "The ye"),
        ("The year\n\nIt is cu", "The year"),
    ],
)
def test_tidy(answer, expected):
    assert tidy(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Sure! The x column represents the year", "The year"),
        ("Sure, the x column represents the year", "The year"),
        ("Certainly. The year of the game", "The year of the game"),
        ("Of course, here is a brief description of the x column: The year.", "The year."),
        ("Of course! Here's what it means: the year", "The year"),
        ("Certainly! Here is a description of the x column. It is a flag", "It is a flag"),
        ("Sure! Here is a brief description of the column", ""),
        ("Sure!", ""),
        ("Sure footing is scored", "Sure footing is scored"),
        ("Here is where a year stands", "Here is where a year stands"),
        ("The approx. weight of the animal in lbs", "The approx. weight of the animal in lbs"),
        ("The No. of items sold by the shop", "The No. of items sold by the shop"),
        ("The year. Values are numbers", "The year. Values are numbers"),
        ("The country, e.g. Italy", "The country, e.g. Italy"),
        ("It is a year. It is a year", "It is a year."),
        ("", ""),
    ],
)
def test_tidy_a_whole_answer(answer, expected):
    assert tidy(answer, whole=True) == expected


@pytest.mark.parametrize(
    ("answer", "limit", "expected"),
    [
        ("The place, e.g. Italy. It is text.", 40, "The place, e.g. Italy"),
        ("The approx. weight in lbs. It is big.", 40, "The approx. weight in lbs"),
        ("Sure! The x column represents a year. It is big.", 40, "A year"),
        ("The year. Its value is giv en.", 6, "The year"),
        ("The year counts. Other values", 4, "The year counts."),
    ],
)
def test_what_a_model_writes_is_kept_to_its_first_sentence(monkeypatch, answer, limit, expected):
    monkeypatch.setattr(narrate, "NARRATION_TOKENS", limit)

    class Writer(FakeLanguageModel):
        def generate(self, prompts, max_new_tokens, stop=()):
            words = answer.split()
            text = " ".join(words[:max_new_tokens])
            kept = cut_at(text, stop)
            whole = kept != text or len(words) <= max_new_tokens
            yield Generation(0, kept, whole=whole)

    requests = [NarrationRequest("s/a", ("x",), 0)]
    assert [n.text for n in narrate_columns(Writer(), requests)] == [expected]


@given(st.text(max_size=3000))
def test_tidy_gives_one_bounded_line_and_is_stable(answer):
    text = tidy(answer)
    assert len(text) <= MAX_CHARACTERS
    assert len(text.splitlines()) <= 1
    text.encode("utf-8")


def test_narrations_are_pooled_and_the_same_prompt_is_asked_once():
    model = FakeLanguageModel()
    requests = [
        NarrationRequest(table, columns, position)
        for table, columns in (("s/a", ("x", "y")), ("s/b", ("x", "y")), ("s/c", ("z",)))
        for position in range(len(columns))
    ]
    heard = []
    with listening(lambda *progress: heard.append(progress)):
        narrations = list(narrate_columns(model, requests))
    assert {(n.table_id, n.position) for n in narrations} == {
        (r.table_id, r.position) for r in requests
    }
    assert len(model.prompts) == 3
    assert model.calls == 1
    texts = {(n.table_id, n.position): n.text for n in narrations}
    assert texts["s/a", 1] == texts["s/b", 1] != texts["s/a", 0]
    assert texts["s/a", 0].startswith("Holds the x of each row")
    assert heard == [("schema narrations", done, 5) for done in range(6)]


def test_nothing_to_narrate_asks_nothing():
    model = FakeLanguageModel()
    assert list(narrate_columns(model, [])) == []
    assert model.calls == 0


TABLE = Table("s/t", (Column("AB", "INT"), Column("G\nP", "INT"), Column("", "INT")), 3, "x.csv")


@pytest.mark.parametrize(
    ("narrations", "expected"),
    [
        ({}, "AB | G P"),
        ({0: "At bats."}, "AB: At bats. | G P"),
        ({0: "At bats.", 1: "", 2: "Unnamed."}, "AB: At bats. | G P | Unnamed."),
    ],
)
def test_schema_document(narrations, expected):
    assert schema_texts(NarratedColumns(TABLE, narrations)) == [expected]


def test_a_table_without_names_has_no_schema_document():
    assert schema_texts(NarratedColumns(Table("s/t", (Column(" ", "INT"),), 0, "x"), {})) == []
