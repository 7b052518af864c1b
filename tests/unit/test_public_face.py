"""What `pneuma_assets` itself offers: every name, at no cost until it is used."""

import inspect
import subprocess
import sys
import typing

import pytest

import pneuma_assets

HEAVY = {
    "alembic",
    "dagster",
    "duckdb",
    "elasticsearch",
    "numpy",
    "pydantic",
    "sqlalchemy",
    "torch",
    "transformers",
}


def loaded_after(code: str) -> set[str]:
    told = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{told}"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_importing_the_package_costs_nothing():
    assert loaded_after("import pneuma_assets").isdisjoint(HEAVY)


def test_opening_a_workspace_imports_no_dagster_and_no_model(tmp_path):
    code = (
        "from pneuma_assets import IndexFilter, QueryError, open_workspace\n"
        f"with open_workspace(home={str(tmp_path)!r}) as workspace: workspace.status()"
    )
    assert loaded_after(code).isdisjoint(
        {"alembic", "dagster", "elasticsearch", "sqlalchemy", "torch", "transformers"}
    )


@pytest.mark.parametrize("name", pneuma_assets.__all__)
def test_every_name_is_there(name):
    found = getattr(pneuma_assets, name)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(pneuma_assets)


RETURNING = [
    "ask",
    "ask_many",
    "ask_each",
    "find",
    "find_groups",
    "answer",
    "joins",
    "judged_joins",
    "index",
    "status",
    "contexts",
    "inspect_index",
    "copy_index",
    "changed",
    "check_sources",
    "restore",
    "search",
    "browse",
    "suggest",
    "table",
    "sample_rows",
    "mark",
    "run_sql",
    "confirmed_answers",
]


@pytest.mark.parametrize("method", RETURNING)
def test_what_a_workspace_returns_can_be_named(method):
    """An annotation in a caller's program needs no module but this."""
    offered = {name: getattr(pneuma_assets, name) for name in pneuma_assets.__all__}
    told = inspect.signature(getattr(pneuma_assets.Workspace, method)).return_annotation
    if isinstance(told, str):
        told = eval(told, offered)
    while typing.get_args(told):
        told = typing.get_args(told)[0]
    assert told in offered.values()


def test_names_are_told_also_where_there_are_none():
    assert pneuma_assets.TableResult.__annotations__["parts"] is pneuma_assets.ScoreParts
    with pytest.raises(AttributeError, match="'pneuma_assets' has no attribute 'open_workspaces'"):
        _ = pneuma_assets.open_workspaces
