"""What a database file may make this machine read: nothing but itself."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource
from pneuma_assets.core.sources.duckdb.session import lock_down
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.resources.source_storage import LakeDuckDBResource
from tests.support.hostile_views import SECRET, build_hostile_views, build_shadows

HARMLESS = {
    "v_settings", "v_proxy", "v_proxy_password", "v_stored_secrets", "v_which_secret",
    "v_variables", "v_variable", "v_logs",
}  # fmt: skip
"""Views that ask DuckDB only for what it knows itself; they may answer, without the secret."""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    monkeypatch.setenv("MY_SECRET", SECRET)
    monkeypatch.setenv("HTTP_PROXY", f"http://user:{SECRET}@127.0.0.1:9")
    path = tmp_path / "v.duckdb"
    return path, build_hostile_views(path, tmp_path / "secrets")


def test_no_view_reads_anything_but_its_database(hostile):
    path, views = hostile
    before = {file: file.read_bytes() for file in (path.parent / "secrets").iterdir()}
    secret_variable = pa.table({"a": [SECRET]})
    source = DuckDBFileSource("d", path)
    outcomes, refused = {}, {}
    for ref in source.list_tables().tables:
        name = ref.table_id.rpartition("/")[2]
        try:
            outcomes[name] = str((source.profile(ref), source.sample(ref, 1000, 0)))
        except TableReadError as error:
            outcomes[name] = refused[name] = str(error)
    assert not [name for name, outcome in outcomes.items() if SECRET in outcome]
    assert refused.keys() == set(views) - HARMLESS
    told = {name for name, cause in refused.items() if "external_views: true" in cause}
    assert told == {name for name in refused if not name.startswith("v_python")}
    assert {file: file.read_bytes() for file in (path.parent / "secrets").iterdir()} == before
    assert secret_variable.num_rows == 1


def test_a_macro_cannot_say_that_a_connection_is_locked(tmp_path):
    (tmp_path / "s.txt").write_text(SECRET)
    with duckdb.connect(tmp_path / "v.duckdb") as connection:
        build_shadows(connection, "current_setting")
        connection.execute(f"CREATE VIEW v AS FROM read_text('{tmp_path}/s.txt')")
    source = DuckDBFileSource("d", tmp_path / "v.duckdb")
    (ref,) = source.list_tables().tables
    with pytest.raises(TableReadError, match="external_views: true"):
        source.sample(ref, 5, 0)


@pytest.mark.parametrize("external_views", [False, True])
def test_no_macro_stands_for_a_function(tmp_path, external_views):
    for name in ("plain", "shadowed"):
        with duckdb.connect(tmp_path / f"{name}.duckdb") as connection:
            connection.execute("CREATE TABLE people AS SELECT 'p' || i AS a, i FROM range(9) r(i)")
            connection.execute("CREATE VIEW few AS SELECT * FROM people WHERE i > 4")
            connection.execute("COMMENT ON TABLE people IS 'Who works here.'")
            if name == "shadowed":
                build_shadows(connection)
    plain, shadowed = (
        DuckDBFileSource("d", tmp_path / f"{name}.duckdb", external_views=external_views)
        for name in ("plain", "shadowed")
    )
    refs = shadowed.list_tables().tables
    assert sorted(ref.table_id for ref in refs) == ["d/main/few", "d/main/people"]
    for ref in refs:
        assert shadowed.profile(ref).columns == plain.profile(ref).columns
        assert shadowed.profile(ref).row_count == plain.profile(ref).row_count
        assert shadowed.contexts(ref) == plain.contexts(ref)
        rows = plain.sample(ref, 3, 0)
        assert rows == shadowed.sample(ref, 3, 0)
        assert shadowed.sample(ref, 3, 0, [row.mark for row in rows or ()]) is None


def test_a_trusted_file_reads_what_its_views_ask_for(hostile):
    path, _ = hostile
    source = DuckDBFileSource("d", path, external_views=True)
    refs = {ref.table_id: ref for ref in source.list_tables().tables}
    for name in ("v_text", "v_csv_by_name", "v_parquet", "v_macro_of_query", "v_database"):
        assert SECRET in str(source.sample(refs[f"d/main/{name}"], 5, 0)), name


def test_dagster_admits_what_the_deployment_file_admits(hostile):
    path, _ = hostile
    with LakeDuckDBResource(database=str(path), external_views=True).get_connection() as connection:
        assert SECRET in str(connection.execute("FROM v_text").fetchall())
    with (
        pytest.raises(duckdb.PermissionException),
        LakeDuckDBResource(database=str(path)).get_connection() as connection,
    ):
        connection.execute("FROM v_text")


@pytest.mark.parametrize("left_open", ["enable_external_access", "python_enable_replacements"])
def test_a_connection_that_was_locked_open_is_refused(hostile, left_open):
    path, _ = hostile

    with duckdb.connect(path, read_only=True) as connection:
        for name in {"enable_external_access", "python_enable_replacements"} - {left_open}:
            connection.execute(f"SET {name} = false")
        connection.execute("SET lock_configuration = true")
        with pytest.raises(SourceError, match=f"{left_open} = true"):
            lock_down(connection, str(path))


def test_the_memory_that_files_are_read_into_is_locked_too(tmp_path):
    source = FileSource("s", FolderStorage(tmp_path))
    rows = pa.table({"a": [1]})
    database = source.database
    for query in ("FROM rows", "SET threads = 1", "INSTALL httpfs", "LOAD httpfs"):
        with pytest.raises(duckdb.Error):
            database.cursor().execute(query)
    assert rows.num_rows == 1
    source.close()
