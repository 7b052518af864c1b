"""What is counted, of which groups: where a wrong answer would look right."""

import pytest

from tests.support.answer_tables import answer_set, answer_table
from tests.unit.answers.test_templates import answered

MEMBERS = answer_table(
    "members",
    {"member_id": "BIGINT", "name": "VARCHAR", "joined": "DATE", "active": "VARCHAR",
     "trial": "BOOLEAN", "country": "VARCHAR"},
    [("1", "John Smith", "2020-05-01", "Y", "true", "Spain"),
     ("2", "John Smith", "2020-05-01", "N", "false", "Spain"),
     ("3", "Ann Lee", "2021-05-01", "Y", "true", "Italy")],
)  # fmt: skip
VISITS = answer_table(
    "visits",
    {"visit_id": "BIGINT", "member_id": "BIGINT", "visited_at": "TIMESTAMP", "minutes": "BIGINT",
     "club": "VARCHAR"},
    [("1", "1", "2023-01-01 10:00:00", "30", "North"),
     ("2", "1", "2023-01-01 10:00:00", "30", "North"),
     ("3", "2", "2023-01-01 10:00:00", "90", "South"),
     ("4", "3", "2023-02-01 10:00:00", "20", "South")],
)  # fmt: skip
CLUB = answer_set(VISITS, MEMBERS, joins=["visits.member_id = members.member_id"])
LINES = answer_table(
    "order_lines",
    {"order_id": "BIGINT", "line_no": "BIGINT", "pieces": "BIGINT", "start_year": "BIGINT"},
    [("1", "1", "5", "2020"), ("1", "2", "5", "2020"), ("2", "1", "7", "2021")],
)
TOWNS = answer_table(
    "Towns", {"town": "BIGINT", "year": "BIGINT"}, [("7", "1"), ("7", "2"), ("8", "1")]
)


def count(number):
    return "template count", [(number,)]


@pytest.mark.parametrize(
    ("question", "tables", "wanted"),
    [
        ("How many members joined in 2020?", answer_set(MEMBERS), count(2)),
        ("How many visits in 2023?", answer_set(VISITS), count(4)),
        ("number of visits by club", answer_set(VISITS),
         ("template group", [("North", 2), ("South", 2)])),
        ("How many active members?", answer_set(MEMBERS), None),
        ("How many members are there by country?", answer_set(MEMBERS),
         ("template group", [("Italy", 1), ("Spain", 2)])),
        ("How many trial members?", answer_set(MEMBERS), count(2)),
        ("How many towns are there?", answer_set(TOWNS), count(2)),
        ("How many different clubs?", answer_set(VISITS), count(2)),
        ("How many lines?", answer_set(LINES), None),
        ("How many lines started in 2020?", answer_set(LINES), None),
        ("How many different pieces?", answer_set(LINES), count(2)),
        ("Which club has the most minutes?", answer_set(VISITS), None),
        ("Which member has the most minutes?", CLUB, None),
        ("Which club has the highest minutes?", answer_set(VISITS),
         ("template largest", [("South", 90)])),
        ("orders with more than 1 orders", answer_set(LINES), None),
        ("members in Spain", answer_set(MEMBERS),
         ("template lookup", [("John Smith",), ("John Smith",)])),
        ("countries of members named John Smith", answer_set(MEMBERS),
         ("template lookup", [("Spain",)])),
        ("average minutes per visit", answer_set(VISITS), None),
        ("average minutes per club", answer_set(VISITS),
         ("template group", [("North", 30.0), ("South", 55.0)])),
        ("visits per club", answer_set(VISITS), None),
    ],
)  # fmt: skip
def test_what_is_counted_is_what_is_asked_for(question, tables, wanted):
    found = answered(question, tables)
    assert (found if found is None else (found[0], sorted(found[1]))) == wanted
