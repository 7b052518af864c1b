"""What a table or a row held that has left is in no file of the state folder after the next run."""

import re
from pathlib import Path

import pytest

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.seek.conversation import Kind
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing
from tests.support.canaries import SHOWN, contents, leaks
from tests.support.deployment_files import deploy, folder_source

pytestmark = pytest.mark.integration

ANN = Asker("ann")
LEAVING = [f"kanari{n:04}" for n in range(3)] * 20
"""Cells of a table that leaves, and of rows that do: few values, which a description quotes."""


def write(lake: Path, name: str, cells: list[str]) -> None:
    lines = (f"{n},{cell},Town {n % 3}" for n, cell in enumerate(cells))
    (lake / f"{name}.csv").write_text("\n".join(["id,who,place", *lines]) + "\n")


def talk(desk: Workspace, table: str) -> str:
    """Show rows of a table in a conversation."""
    step = {"operator": "sql", "reads": ["s"], "makes": "t", "code": "SELECT who FROM s"}
    state = {
        "sources": [{"name": "s", "table_ids": [f"lake/{table}"]}],
        "tables": [{"name": "t", "columns": [{"name": "who"}], "steps": [step]}],
        "queries": [{"name": "q", "sql": "SELECT * FROM t"}],
    }
    begun = desk.seek.start(ANN, table).conversation_id
    desk.seek.edit(begun, state, ANN)
    desk.seek.run(begun, ANN)
    return begun


def where_found(home: Path) -> set[str]:
    found = {where.removeprefix(f"{home}/") for where, data in contents(home) if leaks(data)}
    return {re.sub("index/[0-9a-f]{32}", "index", one) for one in found}


def rows_shown(desk: Workspace, conversation: str) -> list[bool]:
    events = desk.seek.get(conversation, ANN).of(Kind.MADE, Kind.RESULT)
    return [event.cells is not None for event in events]


@pytest.mark.parametrize("served", [False, True], ids=["alone", "beside a server"])
def test_one_run_later_nothing_of_it_is_in_any_file(tmp_path, small_encoder, monkeypatch, served):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    lake = tmp_path / "lake"
    lake.mkdir()
    write(lake, "patients", LEAVING)
    write(lake, "visits", [*LEAVING, *["plainvalue"] * 20])
    write(lake, "stays", ["plainvalue"] * 20)
    loaded = deploy(tmp_path, folder_source("lake"), bench={"mined": True})
    run_indexing(loaded)
    desk = Workspace(loaded, {})
    talks = {table: talk(desk, table) for table in ("patients", "visits", "stays")}
    found = desk.answer(f"where is {LEAVING[0]}", model=False)
    assert LEAVING[0] in repr(found.named)
    desk.confirm_answer("Who is where?", ["lake/patients"], sql="SELECT who FROM patients")
    assert all(all(rows_shown(desk, one)) for one in talks.values())
    if not served:
        desk.close()
    kept = where_found(loaded.home)
    assert {"state.db", "index/index.db", "columns.manifest (unpacked)"} <= kept
    assert [one for one in kept if one.startswith("dagster/")] == []

    (lake / "patients.csv").unlink()
    write(lake, "visits", ["plainvalue"] * 20)
    run_indexing(loaded)
    assert where_found(loaded.home) == set()
    desk.close()
    assert where_found(loaded.home) == set()
    assert any(SHOWN in data for _, data in contents(loaded.home))
    with Workspace(loaded, {}) as again:
        rows = {table: any(rows_shown(again, one)) for table, one in talks.items()}
    assert rows == {"patients": False, "visits": False, "stays": True}
