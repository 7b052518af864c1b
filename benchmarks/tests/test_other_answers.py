"""Which other tables answer a question: by what they hold, not by what their columns are called."""

import random

import pytest

from pneuma_bench.generator.annotating import Annotator, Twins
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import Condition, Selected, SqlQuery, Subject

SHIPS = [(f"ship {n}", 1900 + n * 7 % 60, n * n % 97, "NO" if n % 3 else "SE") for n in range(40)]
COLUMNS = ("ship", "built", "metres", "land")
TYPES = (False, True, True, False)


def table(name, columns=COLUMNS, rows=SHIPS, numeric=TYPES, **described):
    said = {columns.index(column): text for column, text in described.items()}
    return Subject(f"s/{name}", tuple(columns), numeric, [*rows], said)


def answering(query, subject, *others, described=False):
    with Workbench() as bench:
        annotator = Annotator([subject, *others], bench, described=described)
        return {*annotator.tables_that_answer(query, subject)} - {subject.table_id}


def longest(land="SE"):
    return SqlQuery((Selected(2, "MAX"),), (Condition(Selected(3), "=", land),))


def renamed(rows=SHIPS):
    """Another order and other names, so that values alone tell what a column is."""
    turned = [(land, length, name, year) for name, year, length, land in rows]
    return table("copy", ("flag", "len_m", "vessel", "yr"), turned, (False, True, False, True))


def test_a_near_copy_answers_whatever_its_columns_are_called():
    other_rows = [("new", 1990, 12, "SE"), ("newer", 1991, 13, "NO"), *SHIPS[4:]]
    assert answering(longest(), table("ships"), renamed()) == {"s/copy"}
    assert answering(longest(), table("ships"), renamed(other_rows)) == {"s/copy"}
    assert answering(longest("DK"), table("ships"), renamed()) == set(), "gives nothing"


def test_a_table_of_other_rows_and_names_does_not_answer():
    chance = random.Random(0)
    mixed = list(
        zip(
            *(chance.sample(column, len(column)) for column in zip(*SHIPS, strict=True)),
            strict=True,
        )
    )
    assert answering(longest(), table("ships"), renamed(mixed)) == set()
    half = [("x" + name, year + 100, length, land) for name, year, length, land in SHIPS[:20]]
    assert answering(longest(), table("ships"), renamed([*half, *SHIPS[20:]])) == set()


def test_two_columns_of_small_numbers_are_no_copy_by_themselves():
    plots = [(n, n % 7, n * 31 % 89) for n in random.Random(1).sample(range(40), 40)]
    points = [(n, few, -5000 - n * n) for n, few, _ in plots]
    one = table("plots", ("row", "col", "yield"), plots, (True, True, True))
    other = table("points", ("point", "map", "latitude"), points, (True, True, True))
    assert Twins([one, other]).of(one) == {}


def test_counters_of_rows_do_not_make_a_copy_of_two_flags():
    rows = [(n, n % 2, int(n % 3 == 0)) for n in range(1, 41)]
    one = table("a", ("n", "sex", "smokes"), rows, (True, True, True))
    other = table("b", ("m", "treated", "died"), rows, (True, True, True))
    assert Twins([one, other]).of(one) == {}


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
        (table("boats", rows=SHIPS[:20], metres="Depth of the harbour"), True, True),  # same rows
        (table("boats", rows=SHIPS[:5], metres="Depth of the harbour"), True, False),  # too few
    ],
)
def test_columns_of_one_name_must_mean_what_the_question_says(other, described, answers):
    found = answering(longest(), DESCRIBED, other, described=described)
    assert found == ({"s/boats"} if answers else set())


def test_a_table_without_rows_answers_nothing():
    empty = table("empty", rows=[], metres="Depth")
    assert answering(longest(), DESCRIBED, empty, described=True) == set()
