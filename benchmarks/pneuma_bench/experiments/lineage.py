"""Print how true the lineage of real views is: PostgreSQL's own, by what the server itself says.

Every PostgreSQL brings some 140 views, written by its authors over thirty years: pg_stat_…,
information_schema and the like. Their system tables are copied without rows, the views made anew
over the copies, and the server asked of which columns each depends (`pg_depend`), which is the
truth. Questions of a benchmark with an answer in SQL are made views, too.

    python -m pneuma_bench.experiments.lineage [--queries FOLDER]
"""

import argparse
import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.view_sql import read_view
from pneuma_assets.core.tables import Definition
from tests.support.postgresql_process import Server, autocommitting

COPIED = """
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind = :kind ORDER BY c.oid
"""
VIEW = """
SELECT pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname = :name
"""
COLUMNS = """
SELECT c.relname, a.attname FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum
"""
DEPENDS = """
SELECT DISTINCT v.relname, t.relname, a.attname
FROM pg_catalog.pg_depend d
JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
JOIN pg_catalog.pg_class v ON v.oid = r.ev_class
JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid
  AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass
  AND d.refclassid = 'pg_catalog.pg_class'::regclass
  AND n.nspname = :schema AND t.oid <> v.oid
"""

Pairs = set[tuple[str, str]]


def remake(connection: Connection) -> dict[str, str]:
    """Copy the system's tables into a schema and make its views over them; returns their SQL."""
    connection.execute(text("CREATE SCHEMA c"))
    for schema, name in connection.execute(text(COPIED), {"kind": "r"}).all():
        made = f'CREATE TABLE c."{name}" AS SELECT * FROM {schema}."{name}" LIMIT 0'
        with contextlib.suppress(SQLAlchemyError):  # a column of a type that no table may have
            connection.execute(text(made))
    defined = {}
    for schema, name in connection.execute(text(COPIED), {"kind": "v"}).all():
        sql = connection.execute(text(VIEW), {"schema": schema, "name": name}).scalar_one()
        defined[name] = sql.replace("information_schema.", "").replace("pg_catalog.", "")
    connection.execute(text("SET search_path = c, pg_catalog, information_schema"))
    made_of: dict[str, str] = {}
    waiting = dict(defined)
    while waiting:  # a view may read another
        before = len(waiting)
        for name, sql in list(waiting.items()):
            try:
                connection.exec_driver_sql(f'CREATE VIEW c."{name}" AS {sql}'.replace("%", "%%"))
            except SQLAlchemyError:
                continue
            asked = {"schema": "c", "name": name}
            made_of[name] = connection.execute(text(VIEW), asked).scalar_one()
            del waiting[name]
        if len(waiting) == before:
            break
    return made_of


def queries(connection: Connection, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Make the tables of a folder's `*.sql`, and a view of each answer of `questions.jsonl`."""
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    for file in sorted(folder.glob("*.sql")):
        schema = file.stem
        connection.exec_driver_sql(file.read_text().replace("%", "%%"))
        golds = [one["gold"][0] for one in asked if one["schema"] == schema and one["gold"]]
        made: dict[str, str] = {}
        connection.execute(text(f'SET search_path = "{schema}"'))
        for number, gold in enumerate(dict.fromkeys(golds)):
            name = f"answer_{number}"
            made_as = f'CREATE VIEW "{schema}"."{name}" AS {gold.rstrip("; ")}'
            with contextlib.suppress(SQLAlchemyError):  # two columns of one name
                connection.exec_driver_sql(made_as.replace("%", "%%"))
                made[name] = gold
        yield schema, made


def shares(found: set[object], true: set[object]) -> tuple[int, int, int]:
    """Return how many are found and true, found, and true."""
    return len(found & true), len(found), len(true)


def told(what: str, counts: list[tuple[int, int, int]]) -> None:
    """Print precision and recall over all views together, and how many are right to the last."""
    both, found, true = (sum(column) for column in zip(*counts, strict=True))
    exact = sum(a == b == c for a, b, c in counts)
    print(
        f"{what}: precision {both / found:.4f}, recall {both / true:.4f} of {true:,}; "
        f"{exact} of {len(counts)} views wholly right"
    )


class Group:
    """The views of one schema, its tables, and the columns and tables that each view depends on."""

    def __init__(self, connection: Connection, schema: str, views: Mapping[str, str]) -> None:
        self.views = views
        self.known: dict[str, list[str]] = defaultdict(list)
        self.columns: dict[str, Pairs] = defaultdict(set)
        self.tables: dict[str, set[str]] = defaultdict(set)
        for table, column in connection.execute(text(COLUMNS), {"schema": schema}).all():
            self.known[table].append(column)
        for view, table, column in connection.execute(text(DEPENDS), {"schema": schema}).all():
            self.tables[view].add(table)
            if column is not None:
                self.columns[view].add((table, column))


def main() -> None:
    """Make the views, read them, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=Path, default=Path("../shared/data/warehouse"))
    options = parser.parse_args()
    with Server() as server, autocommitting(make_url(server.url)) as connection:
        groups = [Group(connection, "c", remake(connection))]
        if options.queries.is_dir():
            made = queries(connection, options.queries)
            groups += [Group(connection, schema, views) for schema, views in made]
    for what, some in (("views of PostgreSQL", groups[:1]), ("answers as views", groups[1:])):
        if some:
            print(f"== {what}")
            compare(some)


def compare(groups: Sequence[Group]) -> None:
    """Print how true what is read of views is."""
    began = time.process_time()
    read = [
        {name: read_view(Definition(sql, "postgres"), partial(columns_of, one.known))
         for name, sql in one.views.items()}
        for one in groups
    ]  # fmt: skip
    seconds = time.process_time() - began
    count = sum(map(len, read))
    problems = [f"{name}: {one.problem}" for r in read for name, one in r.items() if one.problem]
    print(f"{count} views, {1000 * seconds / count:.1f} ms of CPU each; not read:", problems)
    of_tables, of_columns = [], []
    for group, found in zip(groups, read, strict=True):
        for name, one in found.items():
            tables = {table.name for table in one.tables if table.name in group.known}
            columns = {(t.name, column) for t, column in one.used if t.name in group.known}
            of_tables.append(shares(tables, group.tables[name]))
            of_columns.append(shares(columns, group.columns[name]))
    told("tables", of_tables)
    told("columns used", of_columns)


def columns_of(known: Mapping[str, list[str]], table: TableName) -> list[str] | None:
    """Return the columns of a table, if there is one of its name."""
    return known.get(table.name)


if __name__ == "__main__":
    main()
