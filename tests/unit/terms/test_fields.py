"""The terms by which a table's evidence is searched."""

import pytest

from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import (
    CELL_WORDS,
    Field,
    cell_term,
    field_entries,
    name_parts,
    query_terms,
    spaced,
)
from pneuma_assets.core.text.analysis import ENGLISH

PAYROLL = TableTerms(
    names=("lake", "hr", "payroll_march"),
    columns=("empName", "netPay"),
    spelled_columns="employee",
    rows=(("Jon Smith", "1,234"), ("Ann de la Cruz", None)),
    cells=("Bob Stone",),
)


def found(field: Field, question: str) -> set[str]:
    """The terms of a question that stand in the payroll's entries of a field."""
    asked = query_terms(question, ENGLISH)[field]
    terms = {
        t for entry in field_entries(PAYROLL, ENGLISH) if entry.field == field for t in entry.terms
    }
    return terms.intersection(asked)


@pytest.mark.parametrize(
    ("field", "question", "terms"),
    [
        (Field.NAMES, "the payroll", {"payrol"}),
        (Field.NAMES, "Payroll of March", {"payrol", "march", "=payrol_march"}),
        (Field.VALUES, "net pay of employees", {"net", "pay", "employe"}),
        (Field.CELLS, "who is jon smith?", {"jon_smith"}),
        (Field.CELLS, "who got 1234", {"1234"}),
        (Field.CELLS, "what is it of the", set()),
        (Field.VALUES, "Stone or Smith", {"stone", "smith"}),
        (Field.ROWS, "Stone or Smith", {"smith"}),
        (Field.ROWS, "the names of employees", {"name", "employe"}),
        (Field.GRAMS, "payroll", {"t+payroll"}),
        (Field.GRAMS, "netpya", {"c=netpa", "c=netpy"}),
        (Field.GRAMS, "which of the many long questions is of payrol", set()),
    ],
)
def test_a_question_meets_what_a_table_says(field: Field, question: str, terms: set[str]) -> None:
    assert found(field, question) == terms


def test_rows_have_an_entry_each_and_columns_stand_in_for_none():
    rows = (("a word",), (None,), ("another",))
    fields = [entry.field for entry in field_entries(TableTerms(rows=rows), ENGLISH)]
    assert fields.count(Field.ROWS) == len(rows)
    entries = field_entries(TableTerms(columns=("net_pay",)), ENGLISH)
    assert [e.terms for e in entries if e.field == Field.ROWS] == [["net", "pay"]]


def test_of_a_long_question_no_field_looks_up_more_than_an_engine_takes() -> None:
    question = " ".join(f"word{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(676))
    asked = query_terms(f"{question} {question}", ENGLISH)
    assert max(map(len, asked.values())) == 1_000
    assert min(len(asked[field]) for field in (Field.NAMES, Field.CELLS, Field.ROWS)) == 1_000


def test_rows_of_a_wide_table_repeat_its_first_columns_only() -> None:
    columns = tuple(f"sensor{number}x" for number in range(3_000))
    rows = tuple((f"word{number}", *[None] * 2_999) for number in range(50))
    entries = list(field_entries(TableTerms(columns=columns, rows=rows), ENGLISH))
    of_rows = [entry.terms for entry in entries if entry.field == Field.ROWS]
    assert all(set(ENGLISH.terms(f"word{at}")) <= set(row) for at, row in enumerate(of_rows))
    assert max(map(len, of_rows)) < 510
    (values,) = (entry.terms for entry in entries if entry.field == Field.VALUES)
    assert set(ENGLISH.terms(spaced("sensor2999x"))) <= set(values)


def test_no_term_holds_a_space() -> None:
    for entry in field_entries(PAYROLL, ENGLISH):
        assert not any(" " in term or not term for term in entry.terms)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("HTTPServer_2", ["http", "server", "2"]),
        ("petal.length", ["petal", "length"]),
        ("Prénom", ["prenom"]),
        ("***", []),
    ],
)
def test_names_fall_into_parts(name: str, parts: list[str]) -> None:
    assert name_parts(name) == parts


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ("Jon Smith", "jon_smith"),
        ("  JÓN-smith! ", "jon_smith"),
        ("1,234", "1234"),
        ("The", "the"),
        ("", None),
        ("?! --", None),
        (" ".join("abcdefgh"), "a_b_c_d_e_f_g_h"),
        (" ".join("abcdefghi"), None),
        ("lake" + " " * 1_000_000, "lake"),
    ],
)
def test_a_value_is_looked_up_by_the_term_of_the_cell_that_it_would_be(
    value: str, term: str | None
) -> None:
    assert cell_term(value) == term
    kept = field_entries(TableTerms(cells=(value,)), ENGLISH)
    of_cells = [entry.terms for entry in kept if entry.field is Field.CELLS]
    assert of_cells == ([] if term is None else [[term]])


def test_a_question_asks_for_the_terms_of_the_values_that_it_repeats() -> None:
    asked = query_terms("where in New York, 1,234 of them?", ENGLISH)[Field.CELLS]
    assert {cell_term(value) for value in ("new york", "York, 1234", "where in New")} <= set(asked)
    assert cell_term("of them") not in asked  # little words alone
    assert max(len(term.split("_")) for term in asked) <= CELL_WORDS
