"""A lake with 1,000 values in columns that rules hide, and the means to find any that got out.

Each value is made of a word or a number that nothing else holds, so one search finds them all.
Beside them stand values that no rule hides: where these are not found, a search has proved nothing.
"""

import io
import json
import logging
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from pneuma_assets.core.index.embedded.bm25 import term_key
from pneuma_assets.core.terms.distinct_cells import hashes_of
from tests.support.canary_formats import sources, write_formats
from tests.support.sql_database import Database

RULES = {"hidden_columns": ["*ssn*", "people.salary", "/e.?mail/"], "hidden_tags": ["pii"]}
CANARY = re.compile(rb"kanari\w?\d{4}|771177\d{4}", re.IGNORECASE)
SHOWN = b"plainvalue"
"""Stands in the columns beside."""

_LARGEST = 10**12
"""Whole numbers from here on are checksums; those that are to be hidden have ten digits."""

ROWS = 20


class Lake:
    """Files and a database in a folder; `planted` are all values in them that are to be hidden."""

    def __init__(self, folder: Path) -> None:
        self.planted: list[str] = []
        self.folder, self.closed = folder / "lake", folder / "closed"
        self.database = folder / "people.duckdb"
        for place in (self.folder, self.closed):
            place.mkdir(parents=True)
        self._files(self.folder)
        self._hostile(self.folder)
        write_formats(self.folder, folder, self.word)
        self._closed()
        self._database()

    def word(self) -> str:
        self.planted.append(f"kanari{len(self.planted):04}")
        return self.planted[-1]

    def number(self) -> int:
        self.planted.append(f"771177{len(self.planted):04}")
        return int(self.planted[-1])

    def sources(self, *, rules: bool) -> list[dict[str, object]]:
        """Return the sources of a deployment, with rules or without."""
        closed = {"schema_only": True} if rules else {}
        return [
            {"type": "folder", "name": "lake", "path": str(self.folder)},
            {"type": "folder", "name": "closed", "path": str(self.closed), "privacy": closed},
            {"type": "duckdb", "name": "people", "path": str(self.database)},
            *sources(self.folder.parent),
        ]

    def _files(self, folder: Path) -> None:
        for separator, suffix in ((",", "csv"), ("\t", "tsv")):
            rows = [["id", "city", "ssn", "salary", "E-Mail", "ssn"]]
            for n in range(ROWS):
                hidden = (self.word(), str(self.number()), f"{self.word()}@x.example", self.word())
                rows.append([str(n), f"plainvalue{n}", *hidden])
            place = folder / ("hr" if suffix == "csv" else "old")
            place.mkdir()
            lines = "\n".join(separator.join(row) for row in rows)
            (place / f"people.{suffix}").write_text(f"{lines}\n")
        with (folder / "events.jsonl").open("w") as file:
            for n in range(ROWS):
                who = {"ssn": self.word(), "name": f"plainvalue{n}"}
                row = {"at": n, "kind": f"plainvalue{n}", "who": who, "MySSN": self.number()}
                file.write(json.dumps(row) + "\n")
        table = pa.table(
            {
                "id": range(ROWS),
                "what": [f"plainvalue{n}" for n in range(ROWS)],
                "ssn_number": [self.number() for _ in range(ROWS)],
                "payer": [{"email": self.word(), "n": n} for n in range(ROWS)],
            }
        )
        duckdb.from_arrow(table).write_parquet(str(folder / "payments.parquet"))
        large = folder / "large.csv"  # not kept in memory, so it is read by DuckDB twice
        with large.open("w") as file:
            file.write("id,ssn,note\n")
            secrets = [self.word() for _ in range(100)]
            for n in range(8_000):
                file.write(f"{n},{secrets[n % 100]},plainvalue {n} and more of the same words\n")

    def _hostile(self, folder: Path) -> None:
        """Write tables whose readers fail, or let a cell stand in the next column."""
        ragged = [f"{n},Smith, {self.word()},plainvalue" for n in range(5)]
        good = [f"{n},Smith {n},{self.word()}" for n in range(5)]
        (folder / "ragged.csv").write_text("\n".join(["id,name,ssn", *good, *ragged]) + "\n")
        broken = [json.dumps({"ssn": self.word(), "n": n}) for n in range(5)]
        broken.append(f'{{"ssn": "{self.word()}", "n": }}')
        (folder / "broken.jsonl").write_text("\n".join(broken) + "\n")
        (folder / "wrong.jsonl").write_text(f'["{self.word()}", {{"ssn": {self.word()}\n' * 3)
        (folder / "cut.parquet").write_bytes(b"PAR1" + self.word().encode() * 40 + b"PAR1")
        quoted = f'id,ssn\n1,"{self.word()}\n2,"{self.word()}"x"{self.word()}\n'
        (folder / "quoted.csv").write_text(quoted)

    def _closed(self) -> None:
        lines = [f"{self.word()},{self.number()},{self.word()}" for _ in range(100)]
        (self.closed / "diagnoses.csv").write_text("\n".join(["who,code,why", *lines]) + "\n")
        rows = [{"who": self.word(), "of": [self.word()]} for _ in range(50)]
        text = "\n".join(map(json.dumps, rows))
        (self.closed / "visits.jsonl").write_text(f"{text}\n")
        (self.closed / "visits.md").write_text("# Visits\nWho came to the clinic by the river.\n")
        (self.closed / "broken.jsonl").write_text(f'{{"a": "{self.word()}" "b"}}\n' * 3)

    def _database(self) -> None:
        with duckdb.connect(str(self.database)) as db:
            kinds = ", ".join(f"'{self.word()}'" for _ in range(3))
            db.execute(f"CREATE TYPE kind AS ENUM ({kinds})")
            db.execute(
                "CREATE TABLE staff (id INTEGER, place VARCHAR, nick VARCHAR, ssn VARCHAR, "
                "ssn_kind kind)"
            )
            db.execute("COMMENT ON COLUMN staff.nick IS 'What friends say. @pii'")
            while len(self.planted) < 990:
                n = len(self.planted)
                row = [n, f"plainvalue{n}", self.word(), self.word()]
                db.execute("INSERT INTO staff SELECT ?, ?, ?, ?, enum_first(NULL::kind)", row)
            db.execute("CREATE VIEW all_staff AS SELECT * FROM staff")
            db.execute("COMMENT ON COLUMN all_staff.nick IS '[pii]'")  # a tag is of one table
            db.execute(f"CREATE VIEW one AS SELECT id, ssn FROM staff WHERE ssn = '{self.word()}'")
            db.execute("CREATE VIEW counted AS SELECT id, ssn::INTEGER AS n FROM staff")
            db.execute("CREATE VIEW failing AS SELECT id, error(ssn) AS what FROM staff")
            db.execute(f"CREATE TABLE few (id INTEGER, ssn VARCHAR DEFAULT '{self.word()}')")
            while len(self.planted) < 1000:
                db.execute("INSERT INTO few VALUES (1, ?)", [self.word()])


def leaks(data: bytes) -> set[bytes]:
    return set(CANARY.findall(data))


@contextmanager
def hearing() -> Iterator[io.StringIO]:
    heard = io.StringIO()
    listener = logging.StreamHandler(heard)
    logging.getLogger().addHandler(listener)
    try:
        with redirect_stdout(heard), redirect_stderr(heard):
            yield heard
    finally:
        logging.getLogger().removeHandler(listener)


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a folder as it is, and all values of databases, unpacked."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        yield str(file), data
        if data.startswith(b"SQLite format 3"):
            yield f"{file} (values)", b"\n".join(_values(file))
        elif file.suffix == ".manifest":
            yield f"{file} (unpacked)", _unpacked(data)


def _values(file: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        for (name,) in names.fetchall():
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                yield from map(_spelled, row)


def rows_of(database: Database) -> Iterator[tuple[str, bytes]]:
    """Yield all values of all tables of a PostgreSQL database, unpacked, by the table's name."""
    named = (
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.oid >= 16384"
    )
    for (table,) in database.run(named):
        rows = database.run(f"SELECT * FROM {table}")
        yield table, b"\n".join(_spelled(value) for row in rows for value in row)


def _spelled(value: object) -> bytes:
    """Return a value as bytes; of a checksum none, whose digits may be those of a canary by chance.

    A store has hundreds of them, of 19 digits and others in each run: one search in 200 would find
    what is not there.
    """
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return b""
    return _unpacked(value) if isinstance(value, bytes) else str(value).encode()


def _unpacked(data: bytes) -> bytes:
    """Return the bytes, and after them what was compressed by zlib in there."""
    for start in range(min(len(data), 200)):
        if data[start : start + 1] == b"\x78":
            try:
                return data + zlib.decompressobj().decompress(data[start:])
            except zlib.error:
                continue
    return data


def hashes(lake: Lake) -> set[int]:
    """Return what 64 bits would confirm a guess: of each value, and of rows that hold one."""
    known = {int(number) for number in hashes_of(pa.array(lake.planted, pa.string()))}
    known |= {int(term_key(one)) for one in lake.planted}
    with duckdb.connect() as db:
        for one in lake.planted:
            known.update(db.execute("SELECT hash(?)", [one]).fetchone())
        people = str(lake.folder / "hr" / "people.csv")
        every = "read_csv(?, all_varchar = true, names = ['a', 'b', 'c', 'd', 'e', 'f'])"
        rows = db.execute(f"SELECT hash(a, b, c, d, e, f) FROM {every}", [people])
        known.update(number for (number,) in rows.fetchall())
    return known


def hashes_in(data: bytes, known: set[int]) -> set[int]:
    """Return which of these numbers stand in some bytes: as digits, or in eight bytes."""
    found = {int(digits) for digits in re.findall(rb"\d{15,20}", data)} & known
    numbers = np.array(sorted(known), np.uint64)
    for start in range(min(8, len(data))):
        there = np.frombuffer(data, "<u8", (len(data) - start) // 8, start)
        for order in (there, there.byteswap()):
            found.update(np.intersect1d(order, numbers).tolist())
    return found
