"""What stands in for a model writes the right statement about the table it is shown, or none."""

import pytest

from pneuma_assets.core.answers.prompts import about, writing
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.experiments.answers.calls import Knowing
from tests.support.answer_tables import answer_set, answer_table

QUESTION = "What is the highest price where the tea is Assam?"
SQL = 'SELECT MAX("price") WHERE "tea" = \'Assam\''
COLUMNS = {"tea": "VARCHAR", "Price": "BIGINT"}
ROWS = [("Assam", "5")]


def knowing():
    return Knowing([DiscoveryQuestion(QUESTION, ("a",), more={"made": {"sql": SQL}})])


def prompt(*tables):
    tables = answer_set(*tables)
    shown = [table.columns for table in tables.tables]
    return about(QUESTION, tables, shown, "duckdb", values=True) + writing("duckdb")


@pytest.mark.parametrize(
    ("tables", "statement"),
    [
        ([("shop", COLUMNS)], 'SELECT MAX("price") FROM shop WHERE "tea" = \'Assam\''),
        (
            [("notes", {"tea": "VARCHAR"}), ("Old (shop)", COLUMNS)],
            'SELECT MAX("price") FROM "Old (shop)" WHERE "tea" = \'Assam\'',
        ),
        ([("notes", {"tea": "VARCHAR"})], None),
    ],
)
def test_the_statement_is_about_the_first_table_with_its_columns(tables, statement):
    asked = prompt(*(answer_table(name, columns, ROWS) for name, columns in tables))
    assert knowing().yes_probability([asked]) == [float(statement is not None)]
    (said,) = knowing().generate([asked], 400)
    assert said.text == (statement or "None.")
