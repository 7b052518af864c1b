"""Indexing changes nothing of what it reads, and makes no file beside it, not even for a moment."""

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from tests.support.canary_formats import write_formats
from tests.support.deployment_files import deploy, folder_source
from tests.support.lake_tables import let_others_enter
from tests.support.stages import run_stages

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode = WAL")
db.execute("CREATE TABLE seen (name)")
db.execute("INSERT INTO seen VALUES ('early')")
db.commit()
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.execute("INSERT INTO seen VALUES ('late')")
db.commit()
print("written", flush=True)
sys.stdin.read()
"""
DATABASES = ("open", "left", "copied", "closed", "journal")


@contextmanager
def databases(folder: Path) -> Iterator[None]:
    """Write SQLite files: one that is open, as a kill leaves it, copied without its `-shm`, ..."""
    folder.mkdir()
    command = [sys.executable, "-c", WRITER, str(folder / "open.sqlite")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        for end in ("", "-wal", "-shm"):
            shutil.copy(folder / f"open.sqlite{end}", folder / f"left.sqlite{end}")
        for end in ("", "-wal"):
            shutil.copy(folder / f"open.sqlite{end}", folder / f"copied.sqlite{end}")
        for name, mode in (("closed", "WAL"), ("journal", "DELETE")):
            with closing(sqlite3.connect(folder / f"{name}.sqlite")) as db, db:
                db.execute(f"PRAGMA journal_mode = {mode}")
                db.execute("CREATE TABLE seen AS SELECT 'early' AS name UNION SELECT 'late'")
        yield
        writer.communicate()


def state_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return size, time and number of all there is; a folder's time tells what came and went."""
    found = [folder, *folder.rglob("*")]
    stats = {str(path.relative_to(folder)): path.lstat() for path in found}
    return {name: (one.st_size, one.st_mtime_ns, one.st_ino) for name, one in stats.items()}


def write_lake(folder: Path) -> None:
    (folder / "beside").mkdir(parents=True)
    write_formats(folder, folder / "beside", iter(map(str, range(1000))).__next__)
    for name in ("a.csv", "a.tsv"):
        (folder / name).write_text("id\tname\n1\tann\n" if name == "a.tsv" else "id,name\n1,ann\n")
    (folder / "packed.csv.gz").write_bytes(gzip.compress("id,name\n1,Zoë\n".encode("utf-16")))
    (folder / "lines.jsonl").write_text('{"id": 1}\n')
    (folder / "list.json").write_text(json.dumps([{"id": 1}]))
    (folder / "a.md").write_text("People by number.")
    pq.write_table(pa.table({"id": [1]}), folder / "one.parquet")
    pq.write_to_dataset(pa.table({"id": [1, 2], "year": [1, 2]}), folder / "parts", ["year"])
    with closing(duckdb.connect(folder / "shop.duckdb")) as db:
        db.execute("CREATE TABLE seen AS SELECT 'early' AS name")
        db.execute("CHECKPOINT")
        db.execute("PRAGMA disable_checkpoint_on_shutdown")
        db.execute("INSERT INTO seen VALUES ('late')")
    assert (folder / "shop.duckdb.wal").stat().st_size
    shutil.copy(folder / "shop.duckdb", folder / "whole.duckdb")


def test_an_index_of_every_local_format_leaves_the_lake_as_it_was(tmp_path, small_encoder):
    lake = tmp_path / "lake"
    write_lake(lake)
    with databases(lake / "sqlite"):
        loaded = deploy(
            tmp_path,
            folder_source(lake),
            *({"type": "duckdb", "name": name, "path": str(lake / f"{name}.duckdb")}
              for name in ("shop", "whole")),
            *({"type": "sql", "name": name, "url": f"sqlite:///{lake}/sqlite/{name}.sqlite"}
              for name in DATABASES),
            {"type": "iceberg", "name": "ice", "catalog": "sql", "local_files": str(lake),
             "uri": f"sqlite:///{lake}/beside/ice.sqlite"},
        )  # fmt: skip
        before = state_of(lake)
        run_stages(loaded)
        assert state_of(lake) == before
    with closing(open_store(loaded, {})) as store:
        found = {one.table_id: one.rows for one in store.tables.records() if one.indexed_at}
    wanted = {f"lake/sqlite/{name}/seen": 2 for name in DATABASES}
    wanted |= {f"{name}/main/seen": 2 for name in (*DATABASES, "shop")} | {"whole/main/seen": 1}
    assert wanted.items() <= found.items()
    assert {"lake/a", "lake/a.tsv", "lake/packed", "lake/lines", "lake/list", "lake/one",
            "lake/parts", "lake/formats/delta", "lake/formats/orc", "lake/formats/arrow",
            "lake/formats/avro", "lake/formats/book/Sheet", "lake/formats/inside/people",
            "ice/formats/iceberg"} <= found.keys()  # fmt: skip


READ = """
import os, sys
from pathlib import Path
from sqlalchemy.dialects import sqlite as dialect
from pneuma_assets.core.sources.files import sqlite
from pneuma_assets.core.sources.sql import generic, source
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
os.setuid(65534)
file = Path(sys.argv[1])
for config in (
    FolderSourceConfig(name="s", path=file.parent),
    SqlSourceConfig(name="s", url=f"sqlite:///{file}"),
):
    opened = config.open({})
    (ref,) = opened.list_tables().tables
    print(opened.profile(ref).row_count, *(row.cells for row in opened.sample(ref, 5, 0)))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_log_is_read_in_a_folder_that_nobody_may_write_to(tmp_path):
    with databases(tmp_path / "made"):
        (tmp_path / "lake").mkdir()
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"made/copied.sqlite{end}", tmp_path / f"lake/a.sqlite{end}")
    let_others_enter(tmp_path / "lake")
    read = [sys.executable, "-c", READ, str(tmp_path / "lake/a.sqlite")]
    done = subprocess.run(read, capture_output=True, text=True, check=False)
    assert done.stdout == "2 ('early',) ('late',)\n" * 2, done.stderr


@pytest.mark.parametrize("kind", [FolderSourceConfig, SqlSourceConfig])
def test_the_copy_of_a_file_with_a_log_does_not_count_as_a_change(tmp_path, kind):
    with databases(tmp_path / "lake"):
        where = tmp_path / "lake/copied.sqlite"
        if kind is FolderSourceConfig:
            config = kind(name="s", path=where.parent)
        else:
            config = kind(name="s", url=f"sqlite:///{where}")
        with closing(config.open({})) as source:
            first, second = (
                {one.table_id: one.version for one in source.list_tables().tables} for _ in "12"
            )
        assert first == second


@pytest.mark.parametrize("kind", [FolderSourceConfig, SqlSourceConfig])
def test_a_file_with_a_log_is_not_copied_where_there_is_no_room(tmp_path, kind, monkeypatch):
    copied = []
    with databases(tmp_path / "made"):
        (tmp_path / "lake").mkdir()
        for end in ("", "-wal"):
            shutil.copy(tmp_path / f"made/copied.sqlite{end}", tmp_path / f"lake/a.sqlite{end}")
    monkeypatch.setattr(bounds._in_force, "limits", LimitsConfig(temporary_gigabytes=1e-6))
    monkeypatch.setattr(shutil, "copyfile", lambda *paths, **_: copied.append(paths))
    where = tmp_path / "lake/a.sqlite"
    given = {"path": where.parent} if kind is FolderSourceConfig else {"url": f"sqlite:///{where}"}
    with closing(kind(name="s", **given).open({})) as source:
        try:
            said = [one.cause for one in source.list_tables().problems]
        except SourceError as error:
            said = [str(error)]
    assert "limits.temporary_gigabytes" in "".join(said)
    assert "the source's url" not in "".join(said)  # nothing is wrong with the path
    assert not copied
