"""A lake full of ways out of it, and of entries that cannot be read, beside good tables.

Everything outside holds `CANARY`, in cells, in names of columns and files, and in documents.
"""

import gzip
import json
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
from deltalake import write_deltalake

CANARY = "zqcanary"
ROWS = pa.table({CANARY: [f"{CANARY}{n}" for n in range(5)], "n": range(5)})
GOOD = "name,depth\nann,1\nbob,2\n"
OUTSIDE = "outside of the source's root; set follow_links: true"
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "sqlite", "orc", "arrow", "json", "csv.gz")
DOCUMENTS = (
    *(
        "people.md",
        "people.txt",
        "people.rst",
        "people.html",
        "people.json",
        "README",
        "readme.rst",
    ),
    *("README.html", "metadata.json", "dictionary.csv", "data_dictionary.tsv", "codebook.md"),
)
V2 = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["v2Checkpoint", "deletionVectors"],
    "writerFeatures": ["v2Checkpoint", "deletionVectors"],
}


class WalledLake:
    """Writes all of it below a folder.

    Attributes:
        root: Of the source.
        good: The ids of the tables that must be found.
        expected: Entries, each with what the cause of its problem says; None: no problem.
    """

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "lake", folder / "outside"
        self.root.mkdir()
        self.good: set[str] = set()
        self.expected: dict[str, str | None] = {}
        write_outside(self.outside)
        shutil.copytree(self.outside, folder / "lake2")  # Its name begins as the lake's does.
        (self.outside / "back").symlink_to(self.root)
        for write in (
            *(self._formats, self._spellings, self._documents, self._parts, self._delta),
            *(self._sqlite, self._no_files, self._long, self._within),
        ):
            write()

    def good_table(self, folder: str) -> None:
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        name = f"good_{folder.replace('/', '_')}"
        (self.root / folder / f"{name}.csv").write_text(GOOD)
        self.good.add(f"lake/{folder}/{name}")

    def link(self, path: str, target: str | Path, says: str | None = OUTSIDE) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        self.expected[path] = says

    def _formats(self) -> None:
        self.good_table("formats")
        for suffix in FORMATS:
            self.link(f"formats/t.{suffix}", f"../../outside/secret.{suffix}")

    def _spellings(self) -> None:
        self.good_table("spelled")
        secret = self.outside / "secret.csv"
        for name, target in {
            "dots.csv": "../spelled/../../outside/./secret.csv",
            "slashes.csv": f"//{secret}",
            "proc_root.csv": f"/proc/self/root{secret}",
            "proc_cwd.csv": "/proc/self/cwd/pyproject.toml",
            "environ.csv": "/proc/self/environ",
            "stdin.csv": "/dev/stdin",
            "zero.csv": "/dev/zero",
            "prefix.csv": "../../lake2/secret.csv",
            "parent_folder": "../..",
            "everything": "/",
            "folder_slash": f"{self.outside}/tables/",
            "folder.csv": self.outside / "tables",
            "caf\udce9.csv": secret,
            "line\nbreak.csv": secret,
            "\u202evsc.csv": secret,
            f"{'n' * 250}.csv": secret,
        }.items():
            self.link(f"spelled/{name}", target)
        for number in range(5):
            self.link(f"spelled/hop{number}.csv", f"hop{number + 1}.csv")
        self.link("spelled/hop5.csv", secret)
        self.link("spelled/through.csv", "folder_slash/zqcanary.csv")

    def _documents(self) -> None:
        self.good_table("documents")
        (self.root / "documents/people.csv").write_text(GOOD)
        self.good.add("lake/documents/people")
        for name in DOCUMENTS:
            self.link(f"documents/{name}", self.outside / f"notes{Path(name).suffix or '.md'}")

    def _parts(self) -> None:
        self.good_table("parts")
        for year in ("2023", "2024"):
            (self.root / f"parts/sales/year={year}").mkdir(parents=True)
            (self.root / f"parts/sales/year={year}/a.csv").write_text(GOOD)
        self.good.add("lake/parts/sales")
        self.link("parts/sales/year=2025", self.outside / "tables")
        self.link("parts/sales/year=2024/b.csv", self.outside / "secret.csv")
        self.link("parts/sales/year=2024/month=1/c.csv", self.outside / "secret.csv")

    def _delta(self) -> None:
        self.good_table("delta")
        folder = self.root / "delta"
        log = "_delta_log/00000000000000000000.json"
        write_deltalake(folder / "log_link", pa.table({"a": [1]}))
        shutil.rmtree(folder / "log_link/_delta_log")
        self.link("delta/log_link/_delta_log", self.outside / "delta/_delta_log")
        write_deltalake(folder / "commit_link", pa.table({"a": [1]}))
        (folder / "commit_link" / log).unlink()
        self.link(f"delta/commit_link/{log}", self.outside / "delta" / log)
        for name, path in {
            "sidecar_absolute": str(self.outside / "sidecar.parquet"),
            "sidecar_uri": (self.outside / "sidecar.parquet").as_uri(),
            "sidecar_upwards": "../../../../../outside/sidecar.parquet",
        }.items():
            write_sidecars(folder / name, path)
            self.expected[f"delta/{name}"] = "outside its own folder"

    def _sqlite(self) -> None:
        self.good_table("sqlite")
        for name, end in {"wal": "-wal", "journal": "-journal", "shm": "-shm"}.items():
            file = self.root / f"sqlite/{name}.sqlite"
            shutil.copy(self.outside / "waiting.sqlite", file)
            if end == "-shm":
                shutil.copy(self.outside / "waiting.sqlite-wal", f"{file}-wal")
            file.with_name(f"{file.name}{end}").symlink_to(self.outside / "waiting.sqlite-wal")
            self.expected[f"sqlite/{name}.sqlite"] = None if name == "journal" else "is a link"
        self.good.add("lake/sqlite/journal/seen")
        with closing(sqlite3.connect(self.root / "sqlite/attached.db")) as db:
            db.execute("CREATE TABLE t (a)")
            db.execute("CREATE VIEW v AS SELECT readfile('/etc/passwd') AS a")
            db.commit()
        self.good.add("lake/sqlite/attached/t")
        self.expected["sqlite/attached/v"] = "SQLite says"

    def _no_files(self) -> None:
        self.good_table("no_files")
        folder = self.root / "no_files"
        for name in ("pipe.parquet", "README.md", "pipe.xlsx", "metadata.json"):
            os.mkfifo(folder / name)
            self.expected[f"no_files/{name}"] = "pipe, socket or device"
        here = Path.cwd()
        os.chdir(folder)  # The address of a socket is short.
        try:
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind("socket.csv")
        finally:
            os.chdir(here)
        self.expected["no_files/socket.csv"] = "pipe, socket or device"
        self.link("no_files/a.csv", "b.csv", "link")
        self.link("no_files/b.csv", "a.csv", "link")
        self.link("no_files/loop.md", "loop.md", "link")
        self.link("no_files/codebook.md", "codebook.md", "link")
        self.link("no_files/x", "y", "link")
        self.link("no_files/y", "x", "link")
        self.link("no_files/inner.csv", "inner.csv/inner.csv", "link")
        self.link("no_files/gone.txt", "nowhere.txt", "link")
        for number in range(60):
            self.link(f"no_files/chain{number}.csv", f"chain{number + 1}.csv", None)
        (folder / "chain60.csv").write_text(GOOD)
        self.good.add("lake/no_files/chain60")
        self.expected["no_files/chain0.csv"] = "link"

    def _long(self) -> None:
        self.good_table("long")
        deep(self.root / "long", "d" * 200, 30)
        deep(self.root / "long", os.fsdecode(b"\xff" * 240), 20)
        deep(self.outside / "deep", "o" * 200, 30)
        self.link("long/out", self.outside / "deep")

    def _within(self) -> None:
        """Links that stay inside go on working, and make no second table of a file."""
        self.good_table("within")
        folder = self.root / "within"
        for name, target in {
            "again.csv": "good_within.csv",
            "up": "..",
            "self": ".",
            "round.csv": self.outside / "back/within/good_within.csv",
        }.items():
            self.link(f"within/{name}", target, None)
        (folder / "kept").mkdir()
        (folder / "kept/blob").write_text(GOOD)
        self.link("within/blob.csv", "kept/blob", None)
        self.good.add("lake/within/blob")


def write_outside(folder: Path) -> None:
    """Write tables and documents of every kind."""
    (folder / "tables").mkdir(parents=True)
    rows = ROWS.to_pylist()
    text = "\n".join([f"{CANARY},n", *(f"{row[CANARY]},{row['n']}" for row in rows)]) + "\n"
    for name in ("secret.csv", "notes.csv", "tables/zqcanary.csv", "tables/people.csv"):
        (folder / name).write_text(text)
    for name in ("secret.tsv", "notes.tsv"):
        (folder / name).write_text(text.replace(",", "\t"))
    (folder / "secret.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "secret.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "secret.json").write_text(json.dumps(rows))
    for suffix in (".md", ".txt", ".rst", ".html"):
        (folder / f"notes{suffix}").write_text(f"The {CANARY} of all people.\n")
    (folder / "notes.json").write_text(json.dumps({"description": f"The {CANARY} of all."}))
    pq.write_table(ROWS, folder / "secret.parquet")
    orc.write_table(ROWS, folder / "secret.orc")
    feather.write_feather(ROWS, folder / "secret.arrow")
    book = openpyxl.Workbook()
    for row in [[CANARY, "n"], *([row[CANARY], row["n"]] for row in rows)]:
        book.active.append(row)
    book.save(folder / "secret.xlsx")
    write_deltalake(folder / "delta", ROWS)
    with closing(sqlite3.connect(folder / "secret.sqlite")) as db:
        db.execute(f"CREATE TABLE {CANARY} AS SELECT '{CANARY}' AS a")
        db.commit()
    write_waiting(folder / "waiting.sqlite")
    texts = pa.map_(pa.string(), pa.string())
    kinds = {"path": pa.string(), "size": pa.int64(), "dataChange": pa.bool_()}
    added = pa.struct({**kinds, "partitionValues": texts, "modificationTime": pa.int64()}.items())
    action = {"path": "p.parquet", "size": 1, "dataChange": True, "modificationTime": 1}
    values = pa.array([{**action, "partitionValues": [("place", CANARY)]}], added)
    pq.write_table(pa.table({"add": values}), folder / "sidecar.parquet")


def write_waiting(file: Path) -> None:
    made = file.with_name("made.sqlite")
    with closing(sqlite3.connect(made)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE seen (a)")
        db.execute("INSERT INTO seen VALUES ('ann')")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute(f"INSERT INTO seen VALUES ('{CANARY}')")
        db.commit()
        shutil.copy(made, file)
        shutil.copy(f"{made}-wal", f"{file}-wal")


def write_sidecars(table: Path, path: str) -> None:
    """Write a Delta table with a checkpoint in parts, of which one lies at any path."""
    write_deltalake(table, pa.table({"place": ["x"], "n": [1]}), partition_by=["place"])
    log = table / "_delta_log"
    commit = log / f"{0:020}.json"
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    (metadata,) = [line for line in lines if "metaData" in line]
    commit.unlink()
    part = {"path": path, "sizeInBytes": 1500, "modificationTime": 1}
    actions = [
        {"checkpointMetadata": {"version": 1}},
        {"protocol": V2},
        metadata,
        {"sidecar": part},
    ]
    checkpoint = log / f"{1:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    checkpoint.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    (log / f"{2:020}.json").write_text(json.dumps({"commitInfo": {}}) + "\n")


def deep(folder: Path, name: str, levels: int) -> None:
    """Make folders in each other, deeper than a path may be long, with a table at each level."""
    folder.mkdir(exist_ok=True)
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        at, above = os.open(name, os.O_RDONLY, dir_fd=at), at
        os.close(above)
    os.close(at)
