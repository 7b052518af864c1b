"""When the same questions are answered worse than they were."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from pneuma_assets.core.evaluation.ask_own_questions import (
    comparable,
    compared,
    level,
    reference,
    renewed,
    sign_test,
)
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.questions import Measurement
from pneuma_assets.core.tables import TableRef


def places(text: str) -> dict[str, int | None]:
    """Read places: a digit is a place (0: the tenth), '-' none."""
    return {f"q{at:02}": None if sign == "-" else int(sign) or 10 for at, sign in enumerate(text)}


@pytest.mark.parametrize(
    ("before", "now", "better", "worse", "fallen", "red"),
    [
        ("1" * 50, "1" * 50, 0, 0, 0, False),
        ("1" * 50, "1" * 48 + "22", 0, 2, 2, False),
        ("1" * 50, "1" * 46 + "2222", 0, 4, 4, False),
        ("1" * 50, "1" * 45 + "22222", 0, 5, 5, True),  # a tenth lost the first place
        ("2" * 50, "2" * 45 + "-----", 0, 5, 0, False),  # p = .0625
        ("2" * 50, "2" * 44 + "------", 0, 6, 0, True),  # p = .031
        ("2" * 50, "1" + "2" * 42 + "-------", 1, 7, -1, False),  # p = .07
        ("1" * 50, "5" * 3 + "1" * 47, 0, 3, 3, False),
        ("2" * 25 + "1" * 25, "1" * 25 + "2" * 25, 25, 25, 0, False),
        ("1" * 10, "12" * 1 + "1" * 8, 0, 1, 1, False),  # a tenth, but one question
        ("1" * 10, "222" + "1" * 7, 0, 3, 3, True),
        ("2" * 50, "9" * 50, 0, 0, 0, False),  # still among ten
        ("-" * 50, "1" * 50, 50, 0, -50, False),
        ("", "", 0, 0, 0, False),
    ],
)
def test_what_counts_as_a_loss(before, now, better, worse, fallen, red):
    change = compared(places(now), places(before))
    found = (len(change.better), len(change.worse), change.fallen, change.red)
    assert found == (better, worse, fallen, red)
    assert change.asked == len(now)


def test_only_questions_of_both_are_compared():
    change = compared({"a": None, "b": 1, "new": None}, {"a": 1, "b": 1, "gone": 1})
    assert (change.asked, list(change.worse), change.before["a"]) == (2, ["a"], 1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_that_of_the_textbook(better, worse):
    expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert sign_test(better, worse) == pytest.approx(expected)


def test_a_place_behind_the_tenth_is_none():
    assert [level(one) for one in (1, 2, 10, 11, None)] == [0, 1, 1, 2, 2]


def measured(number: int, found: str, *, accepted: bool = False) -> Measurement:
    return Measurement(number, float(number), "key", {}, places(found), accepted)


@pytest.mark.parametrize(
    ("history", "best"),
    [
        ([], None),
        (["111", "112", "111"], 1),  # the earliest of the best
        (["113", "112", "11-"], 2),  # the nearest places
        (["122", "113"], 2),  # first places before near ones
        (["11", "112"], 2),  # the first had not all of them
        (["1111", "112"], 1),  # it had another one, which has left
    ],
)
def test_the_best_there_was_is_compared_with(history, best):
    found = reference([measured(n, one) for n, one in enumerate(history, 1)], [*places("111")])
    assert (found and found.number) == best


def test_what_people_accepted_is_the_beginning():
    history = [measured(1, "111"), measured(2, "2--", accepted=True), measured(3, "22-")]
    assert reference(history, places("111")) == history[2], "22- is better than 2--"
    assert reference(history[:2], places("111")) == history[1]
    assert reference([], places("111")) is None


def grown(number: int, found: str, newer: dict[str, list[int]]) -> Measurement:
    return replace(measured(number, found), newer=newer)


def test_tables_that_came_meanwhile_do_not_count():
    now = grown(3, "24-3-1", {"q00": [2], "q01": [1, 3, 3], "q02": [3], "q03": [1, 1]})
    ids = places("111111")
    assert comparable(now, measured(2, ""), ids) == {
        **{"q00": 2, "q01": 2},  # a table of the second measurement was there
        **{"q03": 3, "q04": None, "q05": 1},
    }
    assert comparable(now, measured(1, ""), ids) == {
        **comparable(now, measured(2, ""), ids),
        "q00": 1,
    }
    assert comparable(now, measured(3, ""), ids) == now.places


def test_growth_alone_is_no_loss_and_hides_none():
    ids = [*places("1" * 12)]
    before = measured(1, "1" * 12)
    pushed = grown(2, "2" * 6 + "-" * 6, {one: [2] for one in ids})
    change = compared(comparable(pushed, before, ids), before.places)
    assert (change.asked, change.red) == (6, False)
    lost = grown(2, "3" * 6 + "-" * 6, {one: [2] for one in ids[:6]})
    assert compared(comparable(lost, before, ids), before.places).red


def test_where_other_questions_begin_is_told(tmp_path):
    history = [measured(1, "111"), measured(2, "11"), replace(measured(3, "1"), places={"new": 1})]
    assert renewed(history) == {3}
    assert renewed([]) == renewed(history[2:]) == set()
    with Store(tmp_path / "state.db") as store:
        for one in history:
            store.questions.add(one.key, {"R@1": 1, "R@10": 1, "MRR": 1}, one.places)
        store.listings.sync("lake", [TableRef("lake/a", "lake", "/a.csv", "csv", "1")])
    (tmp_path / "pneuma.yaml").write_text(json.dumps({"home": str(tmp_path)}))
    config = ["--config", str(tmp_path / "pneuma.yaml")]
    told = CliRunner().invoke(app, ["bench", "mine", "--history", *config])
    noted = [line for line in told.output.splitlines() if "other questions" in line]
    assert [line.split()[0] for line in noted] == ["3"]
