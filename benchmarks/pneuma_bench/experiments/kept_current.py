"""Print what it costs to keep many small tables current: in a folder and in a database.

Run `python -m pneuma_bench.experiments.kept_current --tables 10000`, or with
`--tables 500 --where postgresql`. First all tables are indexed; then a tick looks at a lake
where nothing has changed; then 3 % are changed, 0.4 % are new and 0.2 % are gone, and one run
brings that into the index.

The database is a PostgreSQL that is started for it; its time does not count, and no model is asked.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
from sqlalchemy import make_url

import pneuma_assets.resources.models
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.service.state import open_store
from pneuma_bench.experiments.support.timing import T, timed
from pneuma_bench.experiments.tables import NoEncoder
from tests.support.postgresql_process import Server
from tests.support.ticks import Ticking

ROWS = 20
PASSWORD = "KEPT_CURRENT_PASSWORD"
"""Names the variable that the source reads."""


def header(number: int) -> tuple[str, ...]:
    """Return a table's columns: a number, a name, an amount and a day."""
    return ("id", f"label_{number % 50}", "amount", "day")


def rows(number: int, version: int) -> list[tuple[int, str, float, str]]:
    """Return a table's rows; another version has other amounts in all but the first."""
    return [
        (row, f"name {row} of {number}", row * (number + version) + 0.5, f"2024-01-{row + 1:02}")
        for row in range(ROWS)
    ]


def text(number: int, version: int) -> str:
    """Return a table as CSV."""
    lines = [header(number), *rows(number, version)]
    return "".join(",".join(str(cell) for cell in line) + "\n" for line in lines)


class Folder:
    """Tables as files."""

    def __init__(self, root: Path) -> None:
        self._lake = root / "lake"
        self._lake.mkdir()
        self.source: dict[str, Any] = {"type": "folder", "path": str(self._lake)}

    def put(self, number: int, version: int = 0) -> None:
        """Write one."""
        (self._lake / f"t{number}.csv").write_text(text(number, version), encoding="utf-8")

    def drop(self, number: int) -> None:
        """Delete one."""
        (self._lake / f"t{number}.csv").unlink()


class Database:
    """Tables of a PostgreSQL, whose counters say at once what was written."""

    def __init__(self, connection: psycopg.Connection, url: str) -> None:
        self._connection = connection
        self.source = {"type": "sql", "url": url, "password_env": PASSWORD}

    def put(self, number: int, version: int = 0) -> None:
        """Make one, or update its rows."""
        _, label, *_ = header(number)
        with self._connection.cursor() as cursor:
            if version:
                changed = [(amount, row) for row, _, amount, _ in rows(number, version)]
                cursor.executemany(f"UPDATE t{number} SET amount = %s WHERE id = %s", changed)
            else:
                columns = f"id integer, {label} text, amount numeric, day date"
                cursor.execute(f"CREATE TABLE t{number} ({columns})")
                query = f"INSERT INTO t{number} VALUES (%s, %s, %s, %s)"
                cursor.executemany(query, rows(number, version))
            cursor.execute("SELECT pg_stat_force_next_flush()")

    def drop(self, number: int) -> None:
        """Drop one."""
        self._connection.execute(f"DROP TABLE t{number}")


@contextmanager
def opened(where: str, root: Path) -> Iterator[Folder | Database]:
    """Open an empty folder or database."""
    if where == "folder":
        yield Folder(root)
    else:
        with Server() as server:
            address = make_url(server.url)
            os.environ[PASSWORD] = address.password or ""
            url = server.url.replace("+psycopg", "")
            with closing(psycopg.connect(url, autocommit=True)) as connection:
                yield Database(connection, address._replace(password=None).render_as_string())


def told(what: str, tables: int, work: Callable[[], T]) -> T:
    """Do one thing; print the time that it takes, and the processor's for each table."""
    found, took = timed(work)
    each = f"{1000 * took.cpu / tables:8.1f} ms a table" if tables else ""
    print(f"  {what:44}{took.wall:9.2f} s{took.cpu:9.2f} s CPU{each}", flush=True)
    return found


def work_off(ticking: Ticking, what: str, tables: int) -> None:
    """Tick and run until there is nothing to do."""
    request = told(f"a tick over {what}", 0, ticking.watch)
    runs = 0

    def all_runs() -> None:
        nonlocal request, runs
        while isinstance(request, dg.RunRequest):
            request = ticking.go_on(ticking.execute(request))
            runs += 1

    told(f"{what}: the runs", tables, all_runs)
    with open_store(ticking.loaded, {}) as store:
        states = [str(record.state) for record in store.tables.records()]
    if set(states) != {"indexed"}:
        raise SystemExit(f"not all tables are indexed: {sorted(set(states))}")
    print(f"  {'':44}{runs} runs, {len(states):,} tables indexed", flush=True)


def measure(where: str, root: Path, tables: int) -> None:
    """Measure one place and print."""
    changed, new, gone = max(1, tables * 3 // 100), max(1, tables // 250), max(1, tables // 500)
    (root / "dagster").mkdir(parents=True)
    with (
        opened(where, root) as lake,
        dg.DagsterInstance.local_temp(str(root / "dagster")) as instance,
    ):
        for number in range(tables):
            lake.put(number)
        ticking = Ticking(root, instance, sources=[lake.source | {"name": "lake"}])
        print(f"{tables:,} tables in a {where}", flush=True)
        work_off(ticking, "a new lake", tables)
        for again in ("", ", again"):
            decision = told(f"a tick over an unchanged lake{again}", 0, ticking.watch)
            if not isinstance(decision, dg.SkipReason):
                raise SystemExit(f"an unchanged lake was reason for a run: {decision.tags}")
        step = tables // (changed + gone)
        for number in range(changed):
            lake.put(number * step, version=1)
        for number in range(gone):
            lake.drop((changed + number) * step)
        for number in range(new):
            lake.put(tables + number)
        work_off(ticking, f"{changed} changed, {new} new, {gone} gone", changed + new + gone)


def stand_in(config: EncoderConfig) -> Encoder:
    """Return what costs nothing and bears the name that a tick expects of the index."""
    encoder = NoEncoder()
    encoder.name = open_encoder(config).name
    return encoder


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    places = ["folder", "postgresql"]
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--where", nargs="+", choices=places, default=["folder"])
    options = parser.parse_args()
    pneuma_assets.resources.models.open_encoder = stand_in
    for where in options.where:
        with tempfile.TemporaryDirectory() as name:
            measure(where, Path(name), options.tables)


if __name__ == "__main__":
    main()
