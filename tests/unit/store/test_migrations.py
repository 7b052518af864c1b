"""A state file of an earlier version is brought up to date with all that people put into it."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, make_url, text

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.errors import StateDamagedError
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.pipeline.answer_keys import narration_key
from pneuma_assets.core.store import Store, migrations, row_sums
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.postgresql_database import PostgreSQL
from pneuma_assets.core.store.schema import METADATA
from pneuma_assets.core.store.upgrade import HEAD, REVISIONS
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import Column, Description, Provenance, Table, TableRef

FORMATS = Path(__file__).parent / "formats"
HOMES = Path(__file__).parents[2] / "homes"
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
    if version == 2:
        shutil.copy(HOMES / "format-2/state.db", path)
        return
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


def test_the_revisions_are_alembics():
    config = Config()
    config.set_main_option("script_location", "pneuma_assets.core.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert [one.revision for one in scripts.walk_revisions()] == list(reversed(REVISIONS))


@pytest.mark.parametrize("version", [1, 2])
def test_a_migrated_file_has_the_shape_of_a_new_one(tmp_path, version):
    make(tmp_path / "old.db", version)
    for name in ("old.db", "new.db"):
        Store(tmp_path / name).close()
    assert shape(tmp_path / "old.db") == shape(tmp_path / "new.db")


def test_what_people_and_models_wrote_survives(tmp_path):
    assert narration_key(FakeLanguageModel(), NarrationConfig(prompt="paper")) == KEY
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
            assert store.narrations.known(AnswerKey(KEY), IRIS) == dict(enumerate(NARRATIONS[:3]))
            (record,) = store.tables.records()
            assert (record.table_id, record.state, record.block_count) == (
                "lake/iris",
                "indexed",
                3,
            )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_homes_of_earlier_versions_keep_what_was_said(tmp_path, version):
    shutil.copy(HOMES / f"format-{version}/state.db", tmp_path)
    for _ in range(2):
        with Store(tmp_path / "state.db") as store:
            store.check()
            kept = [c.text for c in store.user_contexts("lake/penguins")]
            assert kept == ["Asked for by the seabird group; body mass is in grams."]
            said = store.narrations.of_table("lake/penguins")
            assert sorted(said) == ["body_mass_g", "island", "species"]
            body_mass = Description("The body mass of the island species.", Provenance.MODEL, "")
            assert said["body_mass_g"] == body_mass
            assert [(r.table_id, r.state, r.columns) for r in store.tables.records()] == [
                ("lake/deep/stations", "indexed", 3),
                ("lake/penguins", "indexed", 3),
            ]


def test_answers_of_the_first_grounded_prompt_stay_with_the_one_table_that_had_them(tmp_path):
    """They were kept for a schema, so of tables with the same columns nobody knows whose they are.

    The key they are found by now has the prompt's second version, and the table's id.
    """
    names = {"lake/one": ("a", "b"), "lake/two": ("c", "d"), "lake/three": ("c", "d")}
    tables = [
        Table(i, tuple(Column(name, "TEXT") for name in columns), 5, f"/{i}.csv")
        for i, columns in names.items()
    ]
    old, paper = AnswerKey("m|prompt grounded 1|64 tokens"), AnswerKey("m|prompt 2|64 tokens")
    with Store(tmp_path / "state.db") as store:
        store.inventory.reconcile("lake", [TableRef(i, "lake", f"/{i}", "csv", "v") for i in names])
        store.work.claim("run", len(names), 3, ["lake"])
        for table in tables:
            for key in (old, paper):
                answers = [
                    (table.schema_hash, at, f"{c.name}?") for at, c in enumerate(table.columns)
                ]
                store.narrations.save(key, answers)
            store.narrations.assign(old, [(table, {}, store.narrations.answers(old, table))])
        done = [Finished(table.table_id, table.schema_hash, 3) for table in tables]
        store.results.finish("run", done)
        revision = import_module(f"{migrations.__name__}.versions.0010_grounded_answers")
        with store._db.write() as at, Operations.context(MigrationContext.configure(at)):
            revision.upgrade()
    new = AnswerKey("m|prompt grounded 2|64 tokens", of_table=True)
    with Store(tmp_path / "state.db") as store:
        found = {}
        for table in tables:
            store.narrations.carry_over(new, table)
            found[table.table_id] = store.narrations.known(new, table)
            assert store.narrations.known(old, table) == {}
            assert store.narrations.known(paper, table)
    assert found == {"lake/one": {0: "a?", 1: "b?"}, "lake/two": {}, "lake/three": {}}


@pytest.mark.parametrize("version", [1, 2])
def test_an_upgrade_that_is_interrupted_leaves_the_older_file(tmp_path, version, monkeypatch):
    shutil.copy(HOMES / f"format-{version}/state.db", tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(row_sums, "install", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path / "state.db")
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
    Store(tmp_path / "state.db").close()


def interrupt(_: object) -> None:
    raise KeyboardInterrupt


def test_damage_is_not_brought_up_to_date(tmp_path):
    shutil.copy(HOMES / "format-2/state.db", tmp_path)
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection, connection:
        connection.execute("DROP TRIGGER user_contexts_update_sum")
        connection.execute("UPDATE user_contexts SET text = 'Anything else.'")
    with pytest.raises(StateDamagedError, match="salvage"):
        Store(tmp_path / "state.db")


@pytest.fixture
def connection(request, tmp_path) -> Iterator[Connection]:
    """A new state, as SQLAlchemy sees it."""
    if request.param == "sqlite":
        at: Path | PostgreSQL = tmp_path / "state.db"
    else:
        url = make_url(request.getfixturevalue("postgresql_database"))
        at = PostgreSQL(url, "pneuma", url.password)
    with Store(at) as store, store._db.write() as opened:
        yield opened


@pytest.mark.parametrize(
    "connection",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)],
    indirect=True,
)
def test_the_tables_are_those_that_the_statements_are_written_for(connection):
    """A column that is added to `schema` and to no revision would be missing after an upgrade."""
    known = MigrationContext.configure(connection, opts={"include_object": ours})
    assert compare_metadata(known, METADATA) == []


@pytest.mark.integration
def test_a_migrated_server_has_the_columns_of_a_new_one(postgresql_database):
    """Servers were first used at revision 0003; what came later is taken away and added again."""
    url = make_url(postgresql_database)
    server = PostgreSQL(url, "pneuma", url.password)
    with Store(server) as store, store._db.write() as opened:
        new = columns_of(opened)
        late = "evidence", "column_descriptions", "manifests", "corrections", "drawn"
        lineage = "edges", "edge_origins", "told"
        mined = "mined_questions", "measurements", "joins", "join_verdicts", "view_joins"
        for table in (*late, "fingerprints", *lineage, "notices", *mined):
            opened.execute(text(f"DROP TABLE {table}"))
        dates = "said_at", "answered_at"
        for column in ("provenance", "said_by", "confidence", "answer", *dates):
            opened.execute(text(f"ALTER TABLE table_narrations DROP COLUMN {column}"))
        for dropped in ("tables DROP COLUMN updated_at", "pages DROP COLUMN updated_at"):
            opened.execute(text(f"ALTER TABLE {dropped}"))
        opened.execute(text("ALTER TABLE pages DROP COLUMN problem"))
        opened.execute(text("ALTER TABLE narrations DROP COLUMN said_at"))
        listed = "identity", "activity", "readers", "queries", "relations"
        signals = (*listed, "told_readers", "copy_of", "seen_copy_of")
        patience = "changed_at", "waits_since", "retry_at", "renamed_to"
        later = [("tables", column) for column in ("held_since", *signals, *patience)]
        for table, column in (*later, ("listings", "listed_at")):
            opened.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        opened.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    with Store(server) as store, store._db.write() as opened:
        assert columns_of(opened) == new


def columns_of(connection: Connection) -> list[tuple]:
    """Every column's type, order and default, as the server tells them."""
    asked = (
        "SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default"
        " FROM information_schema.columns WHERE table_schema = current_schema()"
        " ORDER BY table_name, ordinal_position"
    )
    return [tuple(row) for row in connection.execute(text(asked))]


def ours(_: object, name: str, *__: object) -> bool:
    return name in METADATA.tables
