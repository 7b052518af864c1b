"""The same values to hide in every other format that holds a table, and in files that fail."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import fastavro
import openpyxl
import pyarrow as pa
from deltalake import write_deltalake
from pyarrow import feather, orc
from pyiceberg.catalog.sql import SqlCatalog

ROWS = 5


def write_formats(folder: Path, beside: Path, word: Callable[[], str]) -> None:
    """Write a table a format into a folder, and what is no lake beside it.

    Args:
        folder: Of the lake.
        beside: Holds the files of databases and catalogues.
        word: Returns another value to hide.
    """

    def rows() -> pa.Table:
        shown = [f"plainvalue{n}" for n in range(ROWS)]
        ssn, emails = ([word() for _ in range(ROWS)] for _ in range(2))
        payers = [{"email": email} for email in emails]
        return pa.table({"id": range(ROWS), "city": shown, "ssn": ssn, "payer": payers})

    formats = folder / "formats"
    formats.mkdir()
    write_deltalake(formats / "delta", rows())
    orc.write_table(rows(), formats / "orc.orc")
    feather.write_feather(rows(), str(formats / "arrow.feather"))
    _write_avro(formats / "avro.avro", rows())
    _write_book(formats / "book.xlsx", rows())
    _write_sqlite(formats / "inside.sqlite", rows(), word)
    _write_sqlite(beside / "shop.sqlite", rows(), word)
    with closing(SqlCatalog("ice", uri=f"sqlite:///{beside}/ice.sqlite",
                            warehouse=folder.as_uri())) as catalog:  # fmt: skip
        catalog.create_namespace("formats")
        table = catalog.create_table("formats.iceberg", rows().schema)
        table.append(rows())
    _write_damaged(folder / "damaged", word)


def sources(beside: Path) -> list[dict[str, object]]:
    """Return the sources that are no folder."""
    return [
        {"type": "sql", "name": "shop", "url": f"sqlite:///{beside / 'shop.sqlite'}"},
        {
            "type": "iceberg",
            "name": "ice",
            "catalog": "sql",
            "uri": f"sqlite:///{beside}/ice.sqlite",
            "local_files": str(beside),
        },
    ]


def _write_avro(path: Path, table: pa.Table) -> None:
    payer = {"type": "record", "name": "p", "fields": [{"name": "email", "type": "string"}]}
    kinds = {"id": "long", "city": "string", "ssn": "string", "payer": payer}
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    schema = {"type": "record", "name": "r", "fields": fields}
    with path.open("wb") as file:
        fastavro.writer(file, schema, table.to_pylist())


def _write_book(path: Path, table: pa.Table) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "city", "ssn", "E-Mail"])
    for row in table.to_pylist():
        book.active.append([row["id"], row["city"], row["ssn"], row["payer"]["email"]])
    book.save(path)


def _write_sqlite(path: Path, table: pa.Table, word: Callable[[], str]) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE people (id INTEGER, city TEXT, ssn TEXT, email TEXT)")
        for row in table.to_pylist():
            cells = (row["id"], row["city"], row["ssn"], row["payer"]["email"])
            db.execute("INSERT INTO people VALUES (?, ?, ?, ?)", cells)
        db.execute(f"CREATE VIEW few AS SELECT id, ssn FROM people WHERE ssn <> '{word()}'")
        db.execute("CREATE VIEW failing AS SELECT id, json_extract(city, ssn) AS n FROM people")


def _write_damaged(folder: Path, word: Callable[[], str]) -> None:
    folder.mkdir()
    for suffix in ("orc", "avro", "feather", "xlsx", "parquet"):
        (folder / f"{suffix}.{suffix}").write_bytes(b"Obj\x01ORC" + word().encode() * 40)
    (folder / "lite.sqlite").write_bytes(b"SQLite format 3\0" + word().encode() * 400)
    schema = {"type": "record", "name": "r", "fields": [{"name": "ssn", "type": "string"}]}
    path = folder / "cut.avro"
    with path.open("wb") as file:
        fastavro.writer(file, schema, [{"ssn": word()} for _ in range(ROWS)])
    path.write_bytes(path.read_bytes()[:-20])
    log = folder / "delta" / "_delta_log"
    log.mkdir(parents=True)
    stats = json.dumps({"numRecords": "x", "maxValues": {"ssn": word()}})
    (log / f"{0:020}.json").write_text(json.dumps({"add": {"path": f"{word()}", "stats": stats}}))
    metadata = folder / "iceberg" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "v1.metadata.json").write_text(json.dumps({"properties": {"ssn": word()}}))
