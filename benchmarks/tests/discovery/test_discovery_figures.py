"""Figures of tables, sets and cells, worked out by hand from what a desk was told to say."""

import json
import math

import pytest

from benchmarks.tests.support.fake_desk import FakeDesk, answered, rows_of
from pneuma_assets.core.answers.results import CellAnswer, Outcome, Usage
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.discovery.cells_found import (
    ask_all,
    asked_of,
    asked_of_each_table,
    cell_text,
    cell_texts,
    count_cells,
)
from pneuma_bench.discovery.drawing import draw_measured
from pneuma_bench.discovery.measuring import (
    Measured,
    check_known,
    measure,
    measure_groups,
    measure_tables,
)
from pneuma_bench.discovery.records import AnswerCells, DiscoveryQuestion
from pneuma_bench.discovery.shares import macro, shares


def asked(question, *tables, rows=()):
    cells = (AnswerCells(tables, tuple(rows)),) if rows else ()
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
    assert found.values == pytest.approx({"precision": 0.5, "recall": 0.5, "F1": 0.4})
    assert found.intervals["recall"] == (0.5, 0.5)
    assert found.intervals["precision"].low < 0.5 < found.intervals["precision"].high
    assert all(map(math.isnan, macro([]).values.values()))


TABLES = FakeDesk(
    found={
        "one": [("a", 0.9), ("b", 0.5), ("c", 0.3), ("d", 0.1)],
        "two": [("x", 0.8, ["y"]), ("z", 0.8)],
        "none": [],
    }
)
ASKED = [asked("one", "a", "c"), asked("two", "y"), asked("none", "a"), asked("not asked")]


def test_tables_of_the_first_k():
    """For "one": at 1 a of a, c; at 2 a of a, b. For "two": x and its copy y, then z as well."""
    one, two = measure_tables(TABLES, ASKED, depths=(1, 2), taus=())
    assert [one.figures.questions, two.figures.questions] == [3, 3]
    assert one.tables == pytest.approx((1 + 2 + 0) / 3)
    assert one.figures.values["precision"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert one.figures.values["recall"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert one.figures.values["F1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert two.tables == pytest.approx((2 + 3 + 0) / 3)
    assert two.figures.values["precision"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)
    assert two.figures.values["recall"] == pytest.approx((1 / 2 + 1 + 0) / 3)


@pytest.mark.parametrize(
    ("tau", "tables", "precision", "recall"),
    [
        (0.0, (4 + 3 + 0) / 3, (2 / 4 + 1 / 3) / 3, (1 + 1) / 3),
        (0.24, (3 + 3) / 3, (2 / 3 + 1 / 3) / 3, (1 + 1) / 3),  # scaled: a 1, b .5, c .25, d 0
        (0.5, (2 + 3) / 3, (1 / 2 + 1 / 3) / 3, (1 / 2 + 1) / 3),
        (1.0, (1 + 3) / 3, (1 + 1 / 3) / 3, (1 / 2 + 1) / 3),  # equal scores are all the best
    ],
)
def test_tables_whose_score_is_near_the_best(tau, tables, precision, recall):
    _, found = measure_tables(TABLES, ASKED, depths=(20,), taus=(tau,))
    assert found.tables == pytest.approx(tables)
    assert found.figures.values["precision"] == pytest.approx(precision)
    assert found.figures.values["recall"] == pytest.approx(recall)


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
    every, one, two, three = measure_groups(desk, questions)
    assert [each.needed for each in (every, one, two, three)] == [None, 1, 2, 3]
    assert every.figures.questions == 4
    names = ("hit@1", "hit@5", "hit@10", "exact@1", "exact@5", "exact@10", "tables")
    found = {each.needed: [each.figures.values[name] for name in names] for each in (one, two)}
    assert found == {1: [0, 0, 1, 0, 0, 0, 1], 2: [0.5, 1, 1, 0.5, 1, 1, 2]}
    assert [three.figures.values[name] for name in names] == [0] * 7
    assert every.figures.values["hit@10"] == 0.75


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
    found = count_cells(ask_all(asked_of(CELLS, 7, model=False), QUESTIONS))
    assert CELLS.asked[-6:] == [(one.question, 7, False, ()) for one in QUESTIONS]
    assert found.cells.questions == 3  # those whose cells are known
    assert found.cells.values["precision"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert found.cells.values["recall"] == pytest.approx((1 + 1 + 0) / 3)
    assert found.cells.values["F1"] == pytest.approx((1 + 0.8 + 0) / 3)
    assert found.first.values["precision"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.first.values["recall"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.tables.questions == 4  # those that tables answer
    assert found.tables.values["recall"] == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert found.outcomes == {"answered": 3, "not written": 1}
    assert found.unanswerable == {"refused": 1, "answered": 1}
    assert found.made_by == {"model m": 3, "template count": 1}
    assert found.repaired == 1
    assert found.usage == pytest.approx({"calls": 7 / 6, "read": 400 / 6, "written": 40 / 6})
    assert 0 <= found.median <= 6 * found.seconds


def test_one_call_a_table():
    """The peer asks about each table that was found by itself, and takes all that they say."""
    desk = FakeDesk(
        found={"q": [("a", 0.9), ("b", 0.5), ("c", 0.1)], "none": []},
        answers={
            ("q", "a"): answered("q", usage=(1, 10, 1)),
            ("q", "b"): answered("q", rows_of("b", ("x",)), usage=(2, 20, 2)),
            ("q", "c"): CellAnswer("q", Outcome.REFUSED, usage=Usage(3, 30, 3)),
        },
    )
    two, three = (asked_of_each_table(desk, k)("q") for k in (2, 3))
    assert desk.asked == [("q", 1, None, (one,)) for one in "ababc"]
    assert [one.tables for one in three.answers] == [("b",)]
    assert (two.usage, three.usage) == (Usage(3, 30, 3), Usage(6, 60, 6))
    assert three.outcome is Outcome.ANSWERED
    assert asked_of_each_table(desk, 1)("q").outcome is Outcome.NOT_WRITTEN
    nothing = asked_of_each_table(desk, 3)("none")
    assert (nothing.outcome, nothing.answers, nothing.usage) == (Outcome.REFUSED, (), Usage())


def test_only_the_parts_that_are_wanted_are_asked():
    desk = FakeDesk(found={"q": [("a", 1.0)]}, groups={"q": [["a"]]}, answers={"q": answered("q")})
    questions = [asked("q", "a", rows=[("x",)])]
    tables = measure(desk, questions, ["tables"], asked_of(desk))
    assert sorted(tables.to_dict()) == ["questions", "tables"]
    assert desk.asked == []
    every = measure(desk, questions, ["tables", "groups", "cells"], asked_of(desk))
    figures = json.loads(json.dumps(every.to_dict()))
    assert sorted(figures) == ["cells", "groups", "questions", "tables"]
    assert figures["cells"]["cells"]["recall"] == 0.0
    assert figures["groups"][0]["hit@1"] == 1.0
    assert figures["tables"][0]["k"] == 1


def test_what_there_is_nothing_to_count_of_is_null():
    desk = FakeDesk(answers={"q": answered("q")})
    figures = measure(desk, [asked("q")], ["tables", "cells"], asked_of(desk)).to_dict()
    told = json.loads(json.dumps(figures, allow_nan=False))
    assert told["tables"][0]["precision"] is None
    assert told["tables"][0]["tables"] is None
    assert told["cells"]["cells"] == {
        "questions": 0, "precision": None, "recall": None, "F1": None,
        "intervals": {"precision": [None, None], "recall": [None, None], "F1": [None, None]},
    }  # fmt: skip


def test_what_was_measured_is_drawn(tmp_path):
    desk = FakeDesk(found={"q": [("a", 1.0)]}, groups={"q": [["a"]]}, answers={"q": answered("q")})
    questions = [asked("q", "a", rows=[("x",)])]
    every = measure(desk, questions, ["tables", "groups", "cells"], asked_of(desk))
    draw_measured(tmp_path / "all.svg", every)
    drawn = (tmp_path / "all.svg").read_text()
    draw_measured(tmp_path / "again.svg", every)
    assert (tmp_path / "again.svg").read_text() == drawn
    draw_measured(tmp_path / "some.svg", Measured(1, groups=every.groups))
    assert len((tmp_path / "some.svg").read_text()) < len(drawn)
    with pytest.raises(BenchmarkError, match="nothing was measured"):
        draw_measured(tmp_path / "none.svg", Measured(1))
    with pytest.raises(BenchmarkError, match="must end in one of"):
        draw_measured(tmp_path / "all.txt", every)


def test_tables_that_are_not_indexed(tmp_path):
    check_known(tmp_path, [asked("q", "a"), asked("p")], ["a", "b"])
    with pytest.raises(BenchmarkError, match=r"no indexed table has the id 'c', 'd'$"):
        check_known(tmp_path, [asked("q", "d", "c", "a")], ["a", "b"])
    many = asked("q", *map(str, range(8)))
    with pytest.raises(BenchmarkError, match=r"'4' and 3 more$"):
        check_known(tmp_path, [many], [])
    with pytest.raises(BenchmarkError, match="no question"):
        check_known(tmp_path, [], ["a"])
