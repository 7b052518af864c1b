"""Figures of tables, sets and cells, worked out by hand from what a desk was told to say."""

import pytest

from benchmarks.tests.support.fake_desk import FakeDesk, answered, rows_of
from pneuma_assets.core.answers.results import CellAnswer, Outcome
from pneuma_assets.core.models.usage import Usage
from pneuma_bench.discovery.measuring import (
    ask_all,
    cell_text,
    cell_texts,
    count_cells,
    macro,
    measure_groups,
    measure_tables,
    shares,
)
from pneuma_bench.discovery.records import DiscoveryQuestion


def asked(question, *tables, rows=()):
    cells = [{"tables": tables, "rows": rows}] if rows else ()
    return DiscoveryQuestion(question, tables, cells=cells)


@pytest.mark.parametrize(
    ("found", "wanted", "figures"),
    [
        ({"a"}, {"a"}, (1.0, 1.0, 1.0)),
        ({"a", "b"}, {"a"}, (0.5, 1.0, 2 / 3)),
        ({"a"}, {"a", "b", "c", "d"}, (1.0, 0.25, 0.4)),
        (["a", "a", "b"], ["a", "c", "a"], (0.5, 0.5, 0.5)),
        ({"b"}, {"a"}, (0.0, 0.0, 0.0)),
        (set(), {"a"}, (0.0, 0.0, 0.0)),
    ],
)
def test_shares_of_one_question(found, wanted, figures):
    assert shares(found, wanted) == pytest.approx(figures)


def test_means_over_questions_and_over_none():
    found = macro([(1.0, 0.5, 0.6), (0.0, 0.5, 0.2)])
    assert (found["questions"], found["precision"], found["F1"]) == (2, 0.5, pytest.approx(0.4))
    assert found["intervals"]["recall"] == [0.5, 0.5]
    low, high = found["intervals"]["precision"]
    assert low < 0.5 < high
    none = macro([])
    assert (none["recall"], none["intervals"]["recall"]) == (None, [None, None])


TABLES = FakeDesk(
    found={
        "one": [("a", 0.9), ("b", 0.5), ("c", 0.3), ("d", 0.1)],
        "two": [("x", 0.8, ["y"]), ("z", 0.8)],
        "none": [],
    }
)
ASKED = [asked("one", "a", "c"), asked("two", "y"), asked("none", "a"), asked("not asked")]


@pytest.mark.parametrize(
    ("rule", "at", "tables", "precision", "recall"),
    [
        # For "one": at 1 a of a, c; at 2 a of a, b. For "two": x and its copy y, then z as well.
        ("k", 1, (1 + 2) / 3, (1 + 1 / 2) / 3, (1 / 2 + 1) / 3),
        ("k", 2, (2 + 3) / 3, (1 / 2 + 1 / 3) / 3, (1 / 2 + 1) / 3),
        ("tau", 0.0, (4 + 3 + 0) / 3, (2 / 4 + 1 / 3) / 3, (1 + 1) / 3),
        ("tau", 0.24, (3 + 3) / 3, (2 / 3 + 1 / 3) / 3, (1 + 1) / 3),  # scaled: a 1, b .5, c .25
        ("tau", 0.5, (2 + 3) / 3, (1 / 2 + 1 / 3) / 3, (1 / 2 + 1) / 3),
        ("tau", 1.0, (1 + 3) / 3, (1 + 1 / 3) / 3, (1 / 2 + 1) / 3),  # equal scores are the best
    ],
)
def test_tables_of_the_first_k_and_those_whose_score_is_near_the_best(
    rule, at, tables, precision, recall
):
    depths = (20,) if rule == "tau" else (1, 2)
    measured = measure_tables(TABLES, ASKED, depths, taus=(0.0, 0.24, 0.5, 1.0))
    (found,) = (one for one in measured if one.get(rule) == at)
    assert found["questions"] == 3
    figures = found["tables"], found["precision"], found["recall"]
    assert figures == pytest.approx((tables, precision, recall))


def test_sets_of_tables():
    """A hit has all tables; an exact one no other. Two of two need a set of the first two."""
    desk = FakeDesk(
        groups={
            "ab": [["a", "c"], ["a", "b", "c"], ["b", "a"]],
            "cd": [["c", "d"]],
            "a": [["b"]] * 9 + [["a", "z"]],
            "abc": [],
        }
    )
    questions = [asked(name, *name) for name in ("ab", "cd", "a", "abc")] + [asked("not asked")]
    every, *others = measure_groups(desk, questions)
    names = ("hit@1", "hit@5", "hit@10", "exact@1", "exact@5", "exact@10", "tables")
    assert (every["needed"], every["questions"], every["hit@10"]) == (None, 4, 0.75)
    assert {one["needed"]: [one[name] for name in names] for one in others} == {
        1: [0, 0, 1, 0, 0, 0, 1],
        2: [0.5, 1, 1, 0.5, 1, 1, 2],
        3: [0] * 7,
    }


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *(("  Kiel\n am See ", "kiel am see"), ("ÉTÉ", "été"), ("50%", "50%"), ("it's", "it's")),
        *((240, "240"), (240.0, "240"), ("240.00", "240"), ("2.4e2", "240"), ("-0.50", "-0.5")),
        *((0.1 + 0.2, "0.3"), ("0.30000000001", "0.3"), (1 / 3, "0.3333333333")),
        *((1998, "1998"), (12345678901, "12345678901"), ("1e30", "1e+30"), ("9" * 40, "9" * 40)),
        *((9007199254740993, "9007199254740993"), ("-9007199254740992.00", "-9007199254740992")),
        *(("12345678901234567891", "12345678901234567891"), (2.0**60, "1.152921505e+18")),
        *((True, "true"), ("FALSE", "false")),
        *(("2020-01-31 00:00:00", "2020-01-31"), ("2020-01-31T00:00:00.000", "2020-01-31")),
        ("2020-01-31 10:00:00", "2020-01-31 10:00:00"),
        *((nothing, None) for nothing in (None, "", " ", "NA", "null", float("nan"), "-")),
        *((float("inf"), "inf"), ("1e999", "1e999"), ([1, "a"], "[1, 'a']")),
        ("x" * 1_000_000, "x" * 1_000_000),
    ],
)
def test_what_a_cell_says(cell, text):
    assert cell_text(cell) == text


def test_what_rows_say_is_a_set():
    assert cell_texts([("Kiel", 1), ("KIEL", None, 1.0)]) == {"kiel", "1"}


CELLS = FakeDesk(
    answers={
        "right": answered("right", rows_of("a", ("Kiel", 240.0)), usage=(2, 100, 10)),
        "half": answered(
            "half",
            rows_of("b", ("Rome",), ("Oslo",), made_by="template count", repaired=True),
            rows_of("a", ("Kiel",)),
            usage=(4, 300, 30),
        ),
        "silent": answered("silent"),
        "unknown": answered("unknown", rows_of("c", ("x",))),
        "nobody": CellAnswer("nobody", Outcome.REFUSED, usage=Usage(1, 0, 0)),
        "wrong": answered("wrong", rows_of("a", ("x",))),
    }
)
QUESTIONS = [
    asked("right", "a", rows=[("KIEL", "240")]),
    asked("half", "a", "b", rows=[("kiel", "oslo")]),
    asked("silent", "a", rows=[("x",)]),
    asked("unknown", "c"),
    asked("nobody"),
    asked("wrong"),
]


def test_cells_tables_outcomes_and_what_they_cost():
    found = count_cells(ask_all(CELLS.answer, QUESTIONS))
    assert found["cells"]["questions"] == 3  # those whose cells are known
    assert found["cells"]["precision"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert found["cells"]["recall"] == pytest.approx((1 + 1 + 0) / 3)
    assert found["cells"]["F1"] == pytest.approx((1 + 0.8 + 0) / 3)
    assert found["first"]["precision"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["tables"]["questions"] == 4  # those that tables answer
    assert found["tables"]["recall"] == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert found["outcomes"] == {"answered": 3, "not written": 1}
    assert found["unanswerable"] == {"refused": 1, "answered": 1}
    assert found["made_by"] == {"model m": 3, "template count": 1}
    assert found["repaired"] == 1
    assert found["usage"] == pytest.approx({"calls": 7 / 6, "read": 400 / 6, "written": 40 / 6})
    assert 0 <= found["median"] <= 6 * found["seconds"]
