"""A state file of an earlier version is brought up to date with all that people put into it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pneuma_assets.core.config.deployment import NarrationConfig
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.pipeline.narrating import narration_key
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.migrations import SCHEMA_VERSION
from pneuma_assets.core.tables import Column, Table

FORMATS = Path(__file__).parent / "formats"
KEY = f"{FakeLanguageModel().name}|prompt 2|{NarrationConfig().max_new_tokens} tokens"
NARRATIONS = [
    "How long a petal is.",
    "",
    "Weight in lbs. of the whole flower",
    "The approx.",
    "The No.",
    "Sure!",
    "The place, e.g",
]
"""As the first version kept them; the last four were cut short, and are asked for again."""
IRIS = Table("lake/iris", (Column("petal_length", "DOUBLE"),), 150, "/lake/iris.csv")


def make(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FORMATS / f"state-{version}.sql").read_text())


def shape(path: Path) -> dict[str, list[tuple]]:
    """Every table's columns in order, and every index."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name, type FROM sqlite_master ORDER BY name").fetchall()
        return {
            name: connection.execute(f"PRAGMA {kind}_info({name})").fetchall()
            for name, kind in names
            if not name.startswith("sqlite_")
        }


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_migrated_file_has_the_shape_of_a_new_one(tmp_path, version):
    make(tmp_path / "old.db", version)
    for name in ("old.db", "new.db"):
        Store(tmp_path / name).close()
    assert shape(tmp_path / "old.db") == shape(tmp_path / "new.db")


def test_what_people_and_models_wrote_survives(tmp_path):
    assert narration_key(FakeLanguageModel(), NarrationConfig()) == KEY
    make(tmp_path / "state.db", 1)
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection, connection:
        connection.execute("INSERT INTO user_contexts VALUES ('lake/iris', 'note', 'From Fisher.')")
        connection.executemany(
            "INSERT INTO narrations VALUES (?, ?, ?, ?)",
            [(KEY, IRIS.schema_hash, place, text) for place, text in enumerate(NARRATIONS)],
        )
        connection.execute(
            "INSERT INTO tables (table_id, source, location, format, version, context_locations,"
            " state, indexed_at, block_count) VALUES"
            " ('lake/iris', 'lake', '/lake/iris.csv', 'csv', 'v', '[]', 'indexed', 1.0, 3)"
        )
    for _ in range(2):
        with Store(tmp_path / "state.db") as store:
            assert [c.text for c in store.documents.user_contexts("lake/iris")] == ["From Fisher."]
            assert store.narrations.known(KEY, IRIS) == dict(enumerate(NARRATIONS[:3]))
            (record,) = store.work.records()
            assert (record.table_id, record.state, record.block_count) == (
                "lake/iris",
                "indexed",
                3,
            )
