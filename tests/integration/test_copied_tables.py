"""A lake with copies, indexed by the real job in both engines: one result, and the right one."""

import json
import random
import shutil
from dataclasses import replace

import dagster as dg
import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.service.workspace import Workspace
from tests.support.named_encoders import use_named_encoders
from tests.support.pipeline_support import run_job

pytestmark = pytest.mark.integration

ENGINES = ("embedded", pytest.param("elasticsearch", marks=pytest.mark.slow))
QUESTION = "amount that a customer paid for an order"
COPIES = ("backup/orders", "sales/orders_2023_01_31", "sales/tmp_orders")


@pytest.fixture(autouse=True)
def _small_encoders(monkeypatch):
    use_named_encoders(monkeypatch)


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def lake(tmp_path):
    """Orders, three copies of them, those of another year, and a form that nobody filled in."""
    folder = tmp_path / "lake"
    rows = order_rows(0)
    write(folder / "sales/orders.csv", rows)
    (folder / "sales/orders.md").write_text(f"# Orders\n{QUESTION}.")
    write(folder / "backup/orders.csv", rows)
    changed = [f"{row}0" if at % 20 == 0 else row for at, row in enumerate(rows)]
    write(folder / "sales/orders_2023_01_31.csv", changed)
    write(folder / "sales/tmp_orders.csv", [f"{row},now" for row in rows], more=",loaded_at")
    write(folder / "sales/orders_2024.csv", order_rows(1))
    write(folder / "landing/orders.csv", [])
    return folder


def order_rows(seed):
    chance = random.Random(seed)
    return [
        f"{number},customer {chance.randrange(900)},{chance.uniform(1, 99):.2f}"
        for number in range(300)
    ]


def write(path, rows, more=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"order_id,customer,amount{more}", *rows]) + "\n")


@pytest.fixture(params=ENGINES)
def loaded(request, tmp_path, lake):
    index = {"engine": request.param}
    if request.param == "elasticsearch":
        url, name = map(request.getfixturevalue, ("elasticsearch_url", "index_name"))
        index["elasticsearch"] = {"urls": [url], "name": name, "replicas": 0}
    file = tmp_path / "pneuma.yaml"
    sources = [{"name": "lake", "type": "folder", "path": str(lake)}]
    settings = {"home": "home", "sources": sources, "index": index, "encoder": {"model": "words"}}
    file.write_text(json.dumps(settings))
    return load_deployment(config=file, environ={}, cwd=tmp_path)


def found(loaded, question=QUESTION, **where):
    with Workspace(loaded, {}) as workspace:
        results = workspace.ask(question, where=IndexFilter(**where))
        return {one.table_id: one.copies for one in results}


def test_copies_are_one_result_and_the_next_run_knows_better(loaded, instance, lake):
    run_job(loaded, instance)
    answer = found(loaded)
    assert next(iter(answer)) == "lake/sales/orders"
    assert sorted(answer["lake/sales/orders"]) == sorted(f"lake/{one}" for one in COPIES)
    assert {*answer} == {"lake/sales/orders", "lake/sales/orders_2024", "lake/landing/orders"}
    assert next(iter(found(loaded, "tmp_orders"))) == "lake/sales/tmp_orders"
    only = ("lake/backup/orders",)
    assert found(loaded, tables=only) == {only[0]: ()}

    hide(loaded, "lake/sales/orders", "lake/sales/tmp_orders")
    shown = found(loaded, readers=("clerk",))  # by itself, each copy of what is hidden
    assert {f"lake/{one}" for one in COPIES[:2]} <= {*shown}
    assert not any(shown.values())

    with Workspace(loaded, {}) as workspace:  # as if the run had been killed before it looked
        workspace.store.profiles.mark_copies({}, {})
    run_job(loaded, instance)
    assert len(found(loaded)["lake/sales/orders"]) == len(COPIES)

    shutil.move(lake / "sales/orders.csv", lake / "sales/invoices.csv")
    write(lake / "sales/tmp_orders.csv", order_rows(2))
    run_job(loaded, instance)
    answer = found(loaded)
    assert answer["lake/sales/tmp_orders"] == ()
    assert sorted(answer["lake/sales/invoices"]) == sorted(f"lake/{one}" for one in COPIES[:2])


def hide(loaded, *table_ids):
    """Let nobody but the boss see these, until the next run tells the index what is so."""
    with Workspace(loaded, {}) as workspace:
        index = workspace.search_index
        facts = index.facts(table_ids)
        index.set_facts({i: replace(one, readers=("boss",)) for i, one in facts.items()})
