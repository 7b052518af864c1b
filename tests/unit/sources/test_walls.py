"""A folder's root is a wall: for what is listed, and again for each file that is opened."""

import os
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.confined_folder import Root
from pneuma_assets.core.sources.files import folder as folder_module
from pneuma_assets.core.sources.files.documents import read_contexts
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.iceberg import IcebergSourceConfig
from tests.support.lake_tables import rows_in

OUTSIDE = "follow_links: true"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Return a lake with tables in a folder, beside a folder with the same."""
    for name in ("lake/in", "outside/in"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.csv").write_text(f"place,n\n{name},1\n")
        (tmp_path / name / "a.md").write_text(f"About {name}.")
        with closing(sqlite3.connect(tmp_path / name / "a.sqlite")) as db:
            db.execute("CREATE TABLE t AS SELECT ? AS place", [name])
            db.commit()
        pq.write_table(pa.table({"place": [name]}), tmp_path / name / "p.parquet")
    return tmp_path / "lake"


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("in/a.csv", "in/a.csv"),
        ("in/../in//a.csv", "in/a.csv"),
        ("around/a.csv", "in/a.csv"),
        ("", "."),
        ("out/a.csv", None),
        ("out", None),
        ("../outside/in/a.csv", None),
        ("../lake2", None),
        ("in/../../outside/in/a.csv", None),
        ("../../../../../../../../../etc/hostname", None),
        ("dangling", None),
    ],
)
def test_what_lies_in_a_root(lake, path, real):
    (lake.parent / "lake2").mkdir()
    (lake / "out").symlink_to("../outside/in")
    (lake / "around").symlink_to("../outside/back/in")
    (lake.parent / "outside" / "back").symlink_to(lake)
    (lake / "dangling").symlink_to("../nowhere")
    root = Root(lake)
    if real is None:
        with pytest.raises(TableReadError, match=OUTSIDE):
            root.resolve(path)
    else:
        assert root.inside(root.resolve(path)) == real


def test_a_root_that_is_a_link_is_where_it_leads(lake, tmp_path):
    (tmp_path / "named").symlink_to(lake)
    source = FileSource("lake", FolderStorage(tmp_path / "named"))
    assert len(source.list_tables().tables) == 3


@pytest.mark.parametrize("by_number", [True, False])
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_that_comes_after_the_listing(lake, swapped, by_number, monkeypatch):
    if not by_number:  # as on a system without names for open files
        monkeypatch.setattr(folder_module, "_OPEN_FILES", Path("/nowhere"))
    source = FileSource("lake", FolderStorage(lake))
    refs = source.list_tables().tables
    assert len(refs) == 3
    assert {rows_in(source, ref)[0][0] for ref in refs} == {"lake/in"}
    elsewhere = lake.parent / "outside" / "in"
    if swapped == "folder":
        (lake / "in").rename(lake / "was")
        (lake / "in").symlink_to(elsewhere)
    else:
        for file in (lake / "in").iterdir():
            file.unlink()
            file.symlink_to(elsewhere / file.name)
    for ref in refs:
        for method in ("profile", "scan", "evidence"):
            fresh = FileSource("lake", FolderStorage(lake))  # which has no rows in memory
            with pytest.raises(TableReadError, match=OUTSIDE):
                list(getattr(fresh, method)(ref, *([0] if method == "evidence" else [])))
    (ref,) = [one for one in refs if one.format == "csv"]
    said = read_contexts(ref, FolderStorage(lake), lambda _: ())
    assert not said.texts
    assert OUTSIDE in said.problems[0]
    source.close()


@pytest.mark.parametrize("level", [0, 1])
def test_a_link_that_comes_between_the_look_and_the_opening(lake, level, monkeypatch):
    """The path was resolved; then a link takes the place of the file, or of its folder."""
    place, elsewhere = (lake / "in/a.csv", lake / "in")[level], lake.parent / "outside/in"
    look = Root.resolve

    def resolved(root: Root, path: str) -> str:
        real = look(root, path)
        place.rename(lake / "was")
        place.symlink_to((elsewhere / "a.csv", elsewhere)[level])
        return real

    monkeypatch.setattr(Root, "resolve", resolved)
    with pytest.raises(OSError, match="took its place"):
        Root(lake).open("in/a.csv")


def test_what_takes_the_place_of_an_open_file_is_not_read(lake):
    """A table's files are read as they were when it was opened."""
    storage = FolderStorage(lake)
    real = storage.place

    def place(path, target, table, *, columnar):
        name = real(path, target, table, columnar=columnar)
        (lake / path).unlink()
        (lake / path).symlink_to(lake.parent / "outside" / path)
        return name

    storage.place = place
    source = FileSource("lake", storage)
    for ref in source.list_tables().tables:
        if ref.format == "sqlite":  # which is opened by its name, and seen to be another
            continue
        assert [row.cells[0] for row in source.sample(ref, 5, 0)] == ["lake/in"]
    source.close()


def test_a_sqlite_file_that_is_swapped_while_it_is_opened(lake, monkeypatch):
    connect = sqlite3.connect

    def swapped(*arguments, **options):
        file = lake / "in" / "a.sqlite"
        file.unlink()
        file.symlink_to(lake.parent / "outside/in/a.sqlite")
        return connect(*arguments, **options)

    source = FileSource("lake", FolderStorage(lake))
    (ref,) = [one for one in source.list_tables().tables if one.format == "sqlite"]
    monkeypatch.setattr(sqlite3, "connect", swapped)
    with pytest.raises(TableReadError, match="took its place"):
        source.profile(ref)


@pytest.mark.parametrize("follows", [False, True])
def test_the_process_that_reads_keeps_to_it(lake, follows):
    (lake / "out.csv").symlink_to("../outside/in/a.csv")
    config = FolderSourceConfig(name="lake", path=lake, follow_links=follows)
    source = IsolatedSource(config, {}, LimitsConfig(memory_gigabytes=1))
    try:
        refs = {ref.table_id: ref for ref in source.list_tables().tables}
        assert ("lake/out" in refs) is follows
        (lake / "in/a.csv").unlink()
        (lake / "in/a.csv").symlink_to("../../outside/in/a.csv")
        if follows:
            assert source.profile(refs["lake/in/a"]).row_count == 1
            return
        with pytest.raises(TableReadError, match=OUTSIDE):
            source.profile(refs["lake/in/a"])
    finally:
        source.close()


def test_a_table_of_more_files_than_may_be_open(lake):
    for year in range(200):
        (lake / f"many/year={year}").mkdir(parents=True)
        (lake / f"many/year={year}/a.csv").write_text("a\n1\n")
    source = FileSource("lake", FolderStorage(lake))
    (ref,) = [one for one in source.list_tables().tables if one.table_id == "lake/many"]
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/dev/fd").iterdir()]) + 100, most))
        with pytest.raises(TableReadError, match="ulimit -n"):
            source.profile(ref)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
    assert source.profile(ref).row_count == 200
    source.close()


def test_one_file_by_two_names_is_one_table(lake):
    (lake / "0.csv").symlink_to("in/a.csv")
    (lake / "in/README.md").write_text("Of all.")
    (lake / "store").mkdir()
    (lake / "store/blob").write_text("a\n1\n")
    for name in ("x", "y"):
        (lake / f"{name}.csv").symlink_to("store/blob")
    (lake / "parts/year=1").mkdir(parents=True)
    (lake / "parts/year=1/a.csv").symlink_to("../../in/a.csv")  # else its rows would be missing
    listing = FileSource("lake", FolderStorage(lake)).list_tables()
    found = {ref.table_id for ref in listing.tables}
    assert found == {"lake/in/a", "lake/in/p", "lake/in/a/t", "lake/x", "lake/parts"}
    assert not listing.problems


def test_links_in_a_table_of_a_lake_format(lake, tmp_path):
    write_deltalake(lake / "d", pa.table({"a": [1]}))
    (part,) = (lake / "d").glob("*.parquet")
    part.rename(tmp_path / "part.parquet")
    part.symlink_to(tmp_path / "part.parquet")
    source = FileSource("lake", FolderStorage(lake))
    (ref,) = [one for one in source.list_tables().tables if one.format == "delta"]
    with pytest.raises(TableReadError, match=OUTSIDE):
        list(source.scan(ref))
    followed = FileSource("lake", FolderStorage(lake, follow_links=True))
    assert rows_in(followed, ref) == [("1",)]


def catalogue(folder: Path, location: Path) -> IcebergSourceConfig:
    """Return a catalogue whose only table lies in a folder of this machine."""
    uri = f"sqlite:///{folder}/c.sqlite"
    with closing(SqlCatalog("c", uri=uri, warehouse=(folder / "wh").as_uri())) as catalog:
        catalog.create_namespace("shop")
        rows = pa.table({"a": [1]})
        catalog.create_table("shop.t", rows.schema, location=location.as_uri()).append(rows)
    return IcebergSourceConfig(name="ice", catalog="sql", catalog_name="c", uri=uri)


@pytest.mark.parametrize(
    ("settings", "reads"),
    [
        ({}, False),
        ({"warehouse": "file://{}/wh"}, False),
        ({"warehouse": "s3://bucket/wh"}, False),
        ({"warehouse": "file://{}/other"}, True),
        ({"warehouse": "{}/other"}, True),
        ({"local_files": "{}/other"}, True),
        ({"local_files": "{}/linked"}, True),
    ],
)
def test_local_files_of_a_catalogue(tmp_path, settings, reads):
    (tmp_path / "wh").mkdir()
    (tmp_path / "linked").symlink_to("other")
    config = catalogue(tmp_path, tmp_path / "other" / "t")
    written = {key: value.format(tmp_path) for key, value in settings.items()}
    source = IcebergSourceConfig(**{**config.model_dump(), **written}).open(os.environ)
    try:
        if reads:
            (ref,) = source.list_tables().tables
            assert rows_in(source, ref) == [("1",)]
            return
        with pytest.raises(SourceError, match="set local_files"):
            source.list_tables()
    finally:
        source.close()


def test_the_log_beside_a_duckdb_file_is_no_link(tmp_path):
    with duckdb.connect(tmp_path / "d.duckdb") as db:
        db.execute("CREATE TABLE t (a INTEGER)")
    (tmp_path / "d.duckdb.wal").symlink_to("/etc/hostname")
    source = DuckDBSourceConfig(name="d", path=tmp_path / "d.duckdb").open({})
    with pytest.raises(SourceError, match="write-ahead log is a link"):
        source.list_tables()
