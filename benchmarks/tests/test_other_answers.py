"""Which other tables answer a question: by their columns and what they hold."""

import pytest

from pneuma_bench.generator.annotating import Annotator
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import Condition, Selected, SqlQuery, Subject

SHIPS = [(f"ship {n}", 1900 + n * 7 % 60, n * n % 97, "NO" if n % 3 else "SE") for n in range(40)]
COLUMNS = ("ship", "built", "metres", "land")
TYPES = (False, True, True, False)


def table(name, columns=COLUMNS, rows=SHIPS, numeric=TYPES, **described):
    said = {columns.index(column): text for column, text in described.items()}
    return Subject(f"s/{name}", tuple(columns), numeric, [*rows], said)


def answering(query, subject, *others, described=False, copies=None):
    with Workbench() as bench:
        annotator = Annotator([subject, *others], bench, copies or {}, described=described)
        return {*annotator.tables_that_answer(query, subject)} - {subject.table_id}


def longest(land="SE"):
    return SqlQuery((Selected(2, "MAX"),), (Condition(Selected(3), "=", land),))


def test_a_copy_answers_whatever_its_columns_are_called():
    names = ("vessel", "yr", "len_m", "flag")
    longer = [(*row[:2], row[2] + n, row[3]) for n, row in enumerate(SHIPS)]
    for copy, answers in ((table("copy", names), True), (table("copy", names, longer), False)):
        assert answering(longest(), table("ships"), copy) == ({"s/copy"} if answers else set())
        known = {"s/ships": ["s/copy"]}
        assert answering(longest(), table("ships"), copy, copies=known) == {"s/copy"}
    few = table("few", names, SHIPS[:5])
    assert answering(longest(), table("ships", rows=SHIPS[:5]), few) == set(), "by chance"


def test_a_range_must_lie_within_what_the_other_table_holds():
    later = [(f"boat {n}", 1980 + n, n, "NO") for n in range(40)]
    query = SqlQuery((Selected(0),), (Condition(Selected(1), ">", 1905),))
    assert answering(query, table("ships"), table("boats", rows=later)) == set()
    within = SqlQuery((Selected(0),), (Condition(Selected(1), "between", 1950, 1958),))
    earlier = [(f"boat {n}", 1930 + n, n, "NO") for n in range(40)]
    assert answering(within, table("ships"), table("boats", rows=earlier)) == {"s/boats"}


DESCRIBED = table("ships", metres="Length over all")
BOATS = [(f"boat {n}", 1900 + n * 3 % 60, 1000 - n, "SE") for n in range(40)]


@pytest.mark.parametrize(
    ("other", "described", "answers"),
    [
        (table("boats", rows=BOATS), False, True),  # called the same in the question
        (table("boats", rows=BOATS), True, False),  # nobody says that these metres are a length
        (table("boats", rows=BOATS, metres="length over all."), True, True),
        (table("boats", rows=BOATS, metres="Depth of the harbour"), True, False),
    ],
)
def test_columns_of_one_name_must_mean_what_the_question_says(other, described, answers):
    found = answering(longest(), DESCRIBED, other, described=described)
    assert found == ({"s/boats"} if answers else set())


def test_a_table_without_rows_answers_nothing():
    empty = table("empty", rows=[], metres="Depth")
    assert answering(longest(), DESCRIBED, empty, described=True) == set()
