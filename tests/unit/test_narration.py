import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.models.fake import FakeLanguageModel
from pneuma_assets.core.narration.answers import MAX_CHARACTERS, tidy
from pneuma_assets.core.narration.documents import schema_documents
from pneuma_assets.core.narration.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.narration.prompts import FULL_SCHEMA, column_prompt
from pneuma_assets.core.progress import listening
from pneuma_assets.core.tables import Column, Table


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


def test_neighbours_in_a_wide_table_share_their_beginning():
    columns = [f"column {n}" for n in range(2000)]
    beginnings = {column_prompt(columns, n).split("Describe")[0] for n in range(2000)}
    assert len(beginnings) <= 2000 / 80 + 1


def test_a_schema_within_the_limit_is_shown_in_full():
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
    ],
)
def test_tidy(answer, expected):
    assert tidy(answer) == expected


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
        narrations = list(narrate_columns(model, requests, 48))
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
    assert list(narrate_columns(model, [], 48)) == []
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
    assert [document.text for document in schema_documents(TABLE, narrations)] == [expected]


def test_a_table_without_names_has_no_schema_document():
    assert schema_documents(Table("s/t", (Column(" ", "INT"),), 0, "x"), {}) == []
