"""Index a lake of bombs and damaged files beside five good tables, and print what became of each.

Run `python -m pneuma_bench.experiments.sources.hostile_files`. Narration is off; the time of a
table is lowered (`--seconds`), so that the whole ends in some minutes. Fails if a bad table is
neither indexed nor named, or a good one is not indexed. Files are made on the fly, some 600 MB in
TMPDIR.
"""

import argparse
import gzip
import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import duckdb
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.progress import listening
from pneuma_assets.core.service.state import open_store
from pneuma_assets.index_run import run_indexing

GOOD = {
    "good_csv.csv": b"name,age\nann,1\nbob,2\n",
    "good_tsv.tsv": b"name\tage\nann\t1\n",
    "good_lines.jsonl": b'{"name":"ann","age":1}\n',
    "good_zipped.csv.gz": gzip.compress(b"name,age\nann,1\n"),
}
TEXTS: dict[str, Callable[[], bytes]] = {
    "one_quoted_line.csv": lambda: b'a,b\n1,"' + b"x" * 100_000_000 + b'"\n',
    "quote_never_closed.csv": lambda: b'a,b\n1,"' + b"x,\n" * 33_000_000,
    "only_quotes.csv": lambda: b"a,b\n" + b'"' * 50_000_000,
    "only_commas.csv": lambda: b"a,b\n" + b"," * 50_000_000 + b"\n",
    "only_newlines.csv": lambda: b"a,b\n" + b"\n" * 100_000_000,
    "header_100k.csv": lambda: _row(100_000, "c") + _row(100_000, ""),
    "header_1m.tsv": lambda: _row(1_000_000, "c").replace(b",", b"\t"),
    "one_wide_row.csv": lambda: b"a,b\n" + b"1,2\n" * 1000 + b"1" + b",1" * 500_000 + b"\n",
    "odd_bytes.csv": lambda: random.Random(0).randbytes(3_000_000),
    "nul_header.csv": lambda: b"a,b\n" + b"\0" * 50_000_000,
    "million_keys.jsonl": lambda: json.dumps(dict.fromkeys(map(str, range(1_000_000)), 1)).encode(),
    "key_a_line.jsonl": lambda: b"".join(b'{"k%d":1}\n' % i for i in range(200_000)),
    "deep_objects.jsonl": lambda: b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"\n",
    "deep_lists.jsonl": lambda: b'{"a":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}\n",
    "long_string.jsonl": lambda: b'{"a":"' + b"x" * 100_000_000 + b'"}\n',
    "long_list.jsonl": lambda: b'{"a":[' + b"1," * 30_000_000 + b"1]}\n",
    "one_pretty_object.jsonl": lambda: json.dumps({"a": [1] * 99_999}, indent=1).encode(),
    "zeros.csv.gz": lambda: _zipped(b"", bytes(10**6), 1000),
    "blanks.csv.gz": lambda: _zipped(b"a,b\n", b" " * 10**6, 1000),
    "rows.csv.gz": lambda: _zipped(b"a,b\n", b"1,2\n" * 250_000, 4000),
    "latin.csv.gz": lambda: _zipped(b"a,b\n", b"\xe9,2\n" * 250_000, 4000),
    "utf16.csv.gz": lambda: _zipped(b"\xff\xfe", "a,b\n".encode("utf-16-le") * 125_000, 4000),
    "lines.jsonl.gz": lambda: _zipped(b"", b'{"a":1}\n' * 125_000, 4000),
    "nested.csv.gz": lambda: gzip.compress(_zipped(b"", bytes(10**6), 100)),
    "cut.csv.gz": lambda: gzip.compress(random.Random(0).randbytes(10**6))[:-9999],
    "not_parquet.parquet": lambda: b"PAR1" + bytes(10**6) + b"PAR1",
    "huge_footer.parquet": lambda: b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1",
}
VIEWS = {
    "cross_join": "SELECT a.range FROM range(10000000) a, range(10000000) b",
    "endless": "WITH RECURSIVE t AS (SELECT 1 x UNION ALL SELECT x + 1 FROM t) SELECT x FROM t",
    "sleeping": "SELECT sleep_ms(100000000) AS x",
    "one_slow_cell": "SELECT levenshtein(repeat('a', 1000000 + range), repeat('b', 1000000)) x "
    "FROM range(2)",
    "huge_cells": "SELECT repeat('x', 3000000000 + range) AS x FROM range(9)",
    "huge_list": "SELECT list(range) AS x FROM range(10000000000)",
    "huge_sort": "SELECT random() AS x FROM range(10000000000) ORDER BY x",
    "passwords": "SELECT * FROM read_text('/etc/passwd')",
    "environment": "SELECT * FROM read_blob('/proc/self/environ')",
    "files": "SELECT * FROM glob('/etc/*')",
    "wide": "SELECT " + ", ".join(f"1 AS c{i}" for i in range(11_000)),
}
LEVELS, COPIES = 8, 16
"""Views that each read the next so often: together 16 to the power of 8 tables."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="limits.seconds_per_table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ProcessPoolExecutor(1) as other:  # so that what this process holds is the run's
            expected = other.submit(build, folder).result()
        deployment = {
            "home": "home",
            "sources": [
                {"type": "folder", "name": "lake", "path": "lake"},
                {"type": "duckdb", "name": "base", "path": "base.duckdb"},
            ],
            "limits": {"seconds_per_table": options.seconds},
        }
        (folder / "pneuma.yaml").write_text(json.dumps(deployment))
        report(folder, expected)


def report(folder: Path, expected: dict[str, bool]) -> None:
    loaded = load_deployment(folder / "pneuma.yaml", environ={})
    moments: list[float] = []

    def heard(stage: str, _done: int, _total: int) -> None:
        if stage == "reading profiles":
            moments.append(time.monotonic())

    started = time.monotonic()
    with Peak() as peak, listening(heard):
        run_indexing(loaded)
    wall = time.monotonic() - started
    with open_store(loaded, os.environ) as store:
        causes = {problem.subject: problem.cause for problem in store.problems.all()}
        records = store.tables.records()
    spent = (after - before for before, after in pairwise(moments))
    seconds = dict(zip((r.table_id for r in records), spent, strict=True))
    indexed = {r.table_id for r in records if r.indexed_at is not None}
    for table in sorted(expected | dict.fromkeys(causes, False)):
        outcome = causes.get(table) or ("indexed" if table in indexed else "LOST")
        print(f"{table:28} {seconds.get(table, 0.0):6.1f} s  {outcome}")
    lost = expected.keys() - causes.keys() - indexed
    missed = [t for t, good in expected.items() if good and t not in indexed]
    print(
        f"{len(expected)} tables, {len(causes)} named, {len(indexed)} indexed; {wall:.0f} s; peak "
        f"{peak.own:.0f} MiB here (with the encoder), {peak.reader:.0f} MiB in a reader; "
        f"temporary files {peak.disk / 1e6:.0f} MB"
    )
    if lost or missed:
        raise SystemExit(f"neither named nor indexed: {lost}; good but not indexed: {missed}")


def build(folder: Path) -> dict[str, bool]:
    """Write the lake and the database; return the ids of the tables, and whether each is good."""
    lake = folder / "lake"
    lake.mkdir()
    expected = {}
    for name, content in [*GOOD.items(), *((name, make()) for name, make in TEXTS.items())]:
        (lake / name).write_bytes(content)
        stem = name.removesuffix(".gz").rpartition(".")[0]
        expected[f"lake/{stem}"] = name in GOOD
    for name in _special_files(lake):
        expected[f"lake/{name}"] = False
    (lake / "good_csv.html").write_bytes(b"<p>" * 166_000_000)
    (lake / "good_tsv.json").write_bytes(b"[" * 900_000)
    entities = b"".join(b'<!ENTITY e%d "&e%d;&e%d;">' % (i + 1, i, i) for i in range(99))
    (lake / "good_lines.html").write_bytes(b"<!DOCTYPE x [" + entities + b"]><p>&e99;</p>")
    _write_database(folder / "base.duckdb")
    expected |= {f"base/main/{name}": False for name in [*VIEWS, "doubled"]}
    return expected | {"base/main/good_table": True}


def _special_files(lake: Path) -> Iterator[str]:
    with (lake / "holes.csv").open("wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 50_000)
        file.truncate(10**12)
    with (lake / "only_holes.csv").open("wb") as file:
        file.truncate(10**12)
    os.mkfifo(lake / "pipe.csv")
    (lake / "device.csv").symlink_to("/dev/zero")
    (lake / "itself.csv").symlink_to(lake / "itself.csv")
    (lake / "loop").mkdir()
    (lake / "loop" / "back").symlink_to(lake)
    columns = {f"c{i}": [1] for i in range(100_000)}
    pq.write_table(pa.table(columns), lake / "columns.parquet")
    cell = pa.table({"a": ["x" * 1_000_000_000]})
    pq.write_table(cell, lake / "huge_dictionary.parquet", compression="zstd")
    yield from ("holes", "only_holes", "pipe.csv", "device.csv", "itself.csv", "columns")
    yield "huge_dictionary"


def _write_database(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE good_table AS SELECT 'ann' AS name, 1 AS age")
        for name, query in VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {query}")
        # From the top down, each is made over a table that then becomes a view of two more.
        connection.execute("CREATE SCHEMA doubling")
        connection.execute("CREATE TABLE doubling.d0 AS SELECT 1 AS x")
        connection.execute("CREATE VIEW doubled AS SELECT x FROM doubling.d0")
        copies = ", ".join(f"{{0}} t{n}" for n in range(COPIES))
        for i in range(LEVELS):
            below = f"doubling.d{i + 1}"
            connection.execute(f"CREATE TABLE {below} AS SELECT 1 AS x")
            connection.execute(f"DROP TABLE doubling.d{i}")
            view = f"SELECT t0.x FROM {copies.format(below)}"
            connection.execute(f"CREATE VIEW doubling.d{i} AS {view}")


class Peak:
    """The most memory of this process, of one that reads, and of temporary files."""

    def __enter__(self) -> "Peak":
        self.own = self.reader = self.disk = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._ended.wait(0.1):
            self.own = max(self.own, process.memory_info().rss / 2**20)
            for child in process.children():
                with suppress(psutil.NoSuchProcess):
                    self.reader = max(self.reader, child.memory_info().rss / 2**20)
            readers = Path(tempfile.gettempdir()).glob("pneuma-reader-*")
            self.disk = max(self.disk, sum(map(_size_below, readers)))


def _size_below(folder: Path) -> float:
    try:
        return sum(p.lstat().st_blocks * 512.0 for p in folder.rglob("*"))
    except OSError:
        return 0.0  # It ended meanwhile.


def _row(width: int, prefix: str) -> bytes:
    return ",".join(f"{prefix}{i}" for i in range(width)).encode() + b"\n"


def _zipped(head: bytes, piece: bytes, times: int) -> bytes:
    """Compress a gigabyte or more without ever holding it."""
    import zlib

    packer = zlib.compressobj(1, wbits=31)
    packed = [packer.compress(head), *(packer.compress(piece) for _ in range(times))]
    return b"".join([*packed, packer.flush()])


if __name__ == "__main__":
    main()
