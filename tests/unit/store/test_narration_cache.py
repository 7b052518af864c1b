"""A schema is described once, and a renamed column costs one call."""

import pytest

from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Column, Table


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        yield opened


def table(name: str, *columns: str) -> Table:
    return Table(f"lake/{name}", tuple(Column(c, "BIGINT") for c in columns), 1, "/x")


def narrate(store: Store, model: str, described: Table) -> None:
    """Do what the narration stage does, with the column's name as its narration."""
    answers = {p: f"about {c.name}" for p, c in enumerate(described.columns)}
    store.narrations.save(model, [(described.schema_hash, p, t) for p, t in answers.items()])
    store.narrations.assign(model, [(described, answers)])


def test_tables_with_one_schema_share_narrations(store):
    narrate(store, "m", table("a", "x", "y"))
    assert store.narrations.known("m", table("b", "x", "y")) == {0: "about x", 1: "about y"}
    assert store.narrations.known("other", table("b", "x", "y")) == {}


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (("x", "y", "z"), 0),
        (("x", "renamed", "z"), 1),
        (("z", "y", "x"), 0),
        (("x", "y", "z", "added"), 1),
        (("x", "p", "q"), 3),
        (("x",), 1),
    ],
    ids=["same", "renamed", "reordered", "added", "mostly new", "mostly dropped"],
)
def test_what_a_changed_schema_asks(store, columns, asked):
    narrate(store, "m", table("a", "x", "y", "z"))
    changed = table("a", *columns)
    store.narrations.carry_over("m", changed)
    known = store.narrations.known("m", changed)
    assert len(columns) - len(known) == asked
    assert all(known[p] == f"about {columns[p]}" for p in known)


def test_a_type_change_asks_again(store):
    narrate(store, "m", table("a", "x", "y"))
    changed = Table("lake/a", (Column("x", "DATE"), Column("y", "BIGINT")), 1, "/x")
    store.narrations.carry_over("m", changed)
    assert store.narrations.known("m", changed) == {1: "about y"}
