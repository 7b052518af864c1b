"""What people are told where no template reads a question."""

import pytest

from pneuma_assets.core.answers.answering import by_templates
from pneuma_assets.core.answers.attempting import Attempts
from pneuma_assets.core.answers.tables import NoDraft
from pneuma_assets.core.answers.templates import draft
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.answer_tables import answer_set
from tests.support.rows_in_duckdb import RowsInDuckDB
from tests.unit.answers.test_templates_refused import CUSTOMERS, ORDERS, SHOP


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("Which customers are not from Germany?", "nothing is made of 'not'"),
        ("How many orders were placed in the last 30 days?", "nothing is made of 'last 30 days'"),
        ("Which customers like Get Out?", "nothing is made of 'like', 'get', 'out'"),
        ("Is Ana a customer?", "nothing is answered by yes or no"),
        ("how does Ana pay", "'how' is read in 'how many' and 'how much' alone"),
        ("How many refunds are there?", "what it counts is no table or column here"),
        ("average refund", "of what it wants the average is no table or column here"),
        ("average amount by refund", "no column is named behind 'by'"),
        ("average and maximum credit", "it asks for two things, and a statement tells one of them"),
        ("lowest and highest credit", "of two superlatives, as in 'lowest and highest', one is"),
        ("orders after Ana", "it is not plain what 'after' compares"),
        ("average amount of the top 2 orders", "nothing is computed of the first rows alone"),
        ("total credit of customers with orders in 2021", "a join would count rows more than once"),
        ("Customers in Madrid, Paris", "no row has two values of one column; say 'or' if one is"),
        ("Customers in Madrid or active", "'or' is read between values of one column alone"),
        ("What is the country US?", "no column or table is named that it asks for"),
        ("What is the number of us customers?", "'us' may be a value, or say nothing; put it in"),
        ("Which customer has the lowest?", "no column says for sure what is lowest"),
        ("there " * 61, "it has no word, or more than 60"),
    ],
)
def test_it_is_told_why_there_is_no_statement(question, why):
    found = draft(question, SHOP, "duckdb", ENGLISH)
    assert isinstance(found, NoDraft)
    assert found.why.startswith(why)
    assert 0 <= found.named < 1


def test_the_reason_is_of_the_tables_that_have_most_of_what_is_named():
    def written(question, tables, dialect):
        return draft(question, tables, dialect, ENGLISH)

    sets = [answer_set(ORDERS), answer_set(CUSTOMERS), SHOP]
    attempts = Attempts(RowsInDuckDB(), 5)
    found = by_templates("total credit of customers with orders in 2021", sets, written, attempts)
    assert found.unwritten == "a join would count rows more than once"
    assert found.answers == []
    assert by_templates("How many orders?", sets, written, attempts).unwritten == ""


def test_tables_that_have_less_of_what_is_named_do_not_answer_in_place_of_more():
    def written(question, tables, dialect):
        return draft(question, tables, dialect, ENGLISH)

    question, attempts = "average credit of customers with orders", Attempts(RowsInDuckDB(), 5)
    alone = by_templates(question, [answer_set(CUSTOMERS)], written, attempts)
    assert [one.rows for one in alone.answers] == [((100.0,),)]
    found = by_templates(question, [answer_set(CUSTOMERS), SHOP], written, attempts)
    assert (found.answers, found.unwritten) == ([], "a join would count rows more than once")
