"""Whatever is asked of whatever names and cells, a template's statement passes the guard."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.tables import Draft
from pneuma_assets.core.answers.templates import draft
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.answer_tables import answer_set, answer_table

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
WORDS = (
    "what which how many number of average total highest lowest most recent top 3 each per by in "
    "2020 more than 5 between and state state_name capital population area founded texas 'New "
    "York' named or ordered , ? since 2021-03-04 common distinct"
)
WORD = st.sampled_from(WORDS.split())
KINDS = st.sampled_from(["VARCHAR", "BIGINT", "DATE", "TIMESTAMP", "TIME", "BOOLEAN", "?"])
STATES = answer_table(
    "state",
    {"state_name": "VARCHAR", "capital": "VARCHAR", "population": "BIGINT", "founded": "DATE"},
    [("Texas", "Austin", "30", "1845-12-29"), ("New York", "Albany", "19", "1788-07-26")],
)


@settings(max_examples=300, deadline=None)
@given(
    question=st.one_of(ANY_TEXT, st.lists(st.one_of(WORD, ANY_TEXT), max_size=12).map(" ".join)),
    table=ANY_TEXT,
    column=ANY_TEXT,
    kind=KINDS,
    cell=ANY_TEXT,
    dialect=st.sampled_from(["duckdb", "postgres"]),
)
@example("number", 'a"b', "n\x1f", "BIGINT", "1", "duckdb")
@example("what is the of for", "t", "of'--", "DATE", "';--", "postgres")
def test_it_passes_the_guard(question, table, column, kind, cell, dialect):
    columns = {column: kind, "population": "BIGINT", "state": "VARCHAR"}
    odd = answer_table(table, columns, [(cell, "1", "New York"), (cell, "2", "Texas")], [cell])
    tables = answer_set(STATES, odd)
    for text in (question, f"{question} {column} {cell}", f"what is the {column} of {cell}"):
        written = draft(text, tables, dialect, ENGLISH, least_sure=0.0)
        if isinstance(written, Draft):
            checked(written.sql, [one.read for one in tables.tables], dialect, 10)
