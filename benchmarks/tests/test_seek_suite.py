"""Needs whose answers are computed: their states, people made of rules or played."""

from pathlib import Path

import pytest

from pneuma_assets.core.seek.state import read_state
from pneuma_bench.experiments.seek import deploy
from pneuma_bench.seek.levels import ASKER, MOST_TURNS, replayed, talked
from pneuma_bench.seek.needs import MOST_OF_WAREHOUSE, Need, chosen, read_needs, same
from tests.support import seek_lake
from tests.support.scripted_model import act, say, scripted_model

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]
WAREHOUSE = Path(__file__).resolve().parents[3] / "shared/data/warehouse"


def need(sql, answer, **told):
    of = {one["name"]: tuple(one["table_ids"]) for one in seek_lake.STATE["sources"]}
    return Need("costs", {"say": "purchases of items", **told}, of, sql, answer, {})


@pytest.fixture(scope="module")
def small(tmp_path_factory, small_encoder, read_here):
    return seek_lake.deploy(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize(
    ("answer", "is_reached"), [([[4.88]], True), ([[4.87]], False)], ids=["right", "wrong"]
)
def test_a_person_made_of_rules_accepts_the_right_rows_alone(small, answer, is_reached):
    told = {"measure": "price, previous tariff and new tariff", "grain": "all countries together"}
    with seek_lake.opened(small) as workspace:
        found = talked(
            workspace, need(seek_lake.COST.replace("costs", "result"), answer, **told), None
        )
        assert bool(found.answered) == is_reached
        assert found.complete > 0
        assert found.turns <= len(found.told) <= MOST_TURNS
        assert found.told[0] == "purchases of items"


PROPOSED = [seek_lake.FOUND, seek_lake.CHANGE, say("Shall I?")]
MADE = [act("materialize", agreed="Yes, go ahead"), seek_lake.STEPS, say()]
COSTS = need(seek_lake.COST, [[seek_lake.EXPECTED]], measure="what new tariffs cost us in all")


def talked_at(small, url):
    """Return what a person made of rules comes to with the model at an endpoint."""
    with seek_lake.opened(small, seek_lake.model_at(url)) as workspace:
        return talked(workspace, COSTS, lambda c, text: [*workspace.seek.say(c, text, ASKER)])


def test_a_person_tells_a_model_what_they_know_agrees_and_gives_up_at_last(small):
    told = ["purchases of items", COSTS.question, "Yes, go ahead."]
    with scripted_model(*PROPOSED, say("As proposed."), *MADE) as (endpoint, _):
        found = talked_at(small, endpoint.url)
    assert (found.complete, found.answered, found.told) == (1, 3, told)
    with scripted_model(*[say("No idea.")] * 20) as (endpoint, _):
        found = talked_at(small, endpoint.url)
    no = f"No, that is not what I need: {COSTS.question}"
    assert (found.answered, found.turns) == (0, 5)
    assert found.told[2:] == ["the tables are purchases and tariffs", no, no]


@pytest.mark.parametrize(
    ("rows", "others", "are"),
    [
        ([["a", 1]], [("a", "1.0000001")], True),
        ([[1], [2]], [[2], [1]], True),
        ([[1], [1]], [[1]], False),
        ([[1.001]], [[1.002]], False),
        ([[2007]], [[2008]], False),
        ([[None]], [[0]], False),
    ],
)
def test_rows_are_compared_in_any_order_to_six_digits(rows, others, are):
    assert same(rows, others) == are


@pytest.mark.skipif(not WAREHOUSE.is_dir(), reason="needs the warehouse's schemas")
def test_needs_of_the_warehouse_are_chosen_by_rule():
    some = chosen(WAREHOUSE / "questions.jsonl")
    assert len({one["question"] for one in some}) == len(some) == MOST_OF_WAREHOUSE
    assert len({one["schema"] for one in some[:7]}) == 7


@pytest.mark.slow
def test_every_right_state_reaches_its_answer_and_every_trap_is_told(tmp_path):
    pytest.importorskip("vega_datasets")
    warehouse = WAREHOUSE if WAREHOUSE.is_dir() else None
    file = deploy(tmp_path, warehouse)
    needs = read_needs(tmp_path, warehouse)
    assert len(needs) == (40 if warehouse else 22)
    with seek_lake.opened(file, {"rows": 200}) as workspace:
        for one in needs:
            read_state(one.state())
            assert replayed(workspace, one)[0], one.name
            if one.is_trap:
                is_right, rules = replayed(workspace, one, wrong=True)
                assert (is_right, one.said["finds"] in rules) == (False, True), one.name
