"""A folder of SQL dumps and the questions asked of them, as the two files of `pneuma-bench run`.

    python -m pneuma_bench.experiments.warehouse FOLDER OUT

FOLDER holds `NAME.sql`, each of which makes the schema NAME, and `questions.jsonl`: objects with
`question` and `tables`, as `schema.table`. OUT.tables.jsonl and OUT.queries.jsonl are written. The
dumps are loaded into PostgreSQL: a database at --url in which they may make schemas, or a server
that is started for it as the tests do. They are run as they are, so let them be ones you trust.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pneuma_bench.files import write_lines
from tests.support.postgresql_process import Server

TABLES = """
    SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)
    FROM information_schema.columns WHERE table_schema = ANY(%s)
    GROUP BY table_schema, table_name ORDER BY table_schema, table_name
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--url", help="postgresql://user@host/database")
    options = parser.parse_args()
    asked = (options.folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in asked]
    kept = [{key: one[key] for key in ("question", "tables")} for one in questions]
    write_lines(Path(f"{options.out}.queries.jsonl"), kept)
    with ExitStack() as stack:
        url = options.url or stack.enter_context(Server()).url.replace("+psycopg", "")
        connection = stack.enter_context(closing(psycopg.connect(url)))
        tables = list(tables_of(connection, options.folder))
        connection.commit()
    write_lines(Path(f"{options.out}.tables.jsonl"), tables)
    empty = sum(not one["tables"] for one in kept)
    print(f"{len(tables)} tables, {len(kept)} questions, {empty} empty")


def tables_of(connection: psycopg.Connection, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every table that the dumps make; a cell is as PostgreSQL writes it."""
    dumps = sorted(folder.glob("*.sql"))
    for dump in dumps:
        connection.execute(dump.read_bytes())
    connection.execute("SET search_path TO public")
    found = connection.execute(TABLES, [[dump.stem for dump in dumps]]).fetchall()
    for schema, table, columns in found:
        chosen = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(c)) for c in columns)
        query = sql.SQL("SELECT {} FROM {}").format(chosen, sql.Identifier(schema, table))
        rows = connection.execute(query).fetchall()
        name = f"{schema}.{table}"
        yield {"id": name, "name": name, "columns": columns, "rows": rows}


if __name__ == "__main__":
    main()
