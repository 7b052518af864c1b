"""A folder of SQL dumps and the questions asked of them, as the two files of `pneuma-bench run`.

    python -m pneuma_bench.experiments.warehouse FOLDER OUT

FOLDER holds `NAME.sql`, each of which makes the schema NAME, and `questions.jsonl`: objects with
`question` and `tables`, as `schema.table`. OUT.tables.jsonl and OUT.queries.jsonl are written. The
dumps are loaded into PostgreSQL: a database at --url in which they may make schemas, or a server
that is started for it as the tests do. They are run as they are, so let them be ones you trust.

With --source the database is then indexed as a source of `type: sql`, and the questions are asked
of both: of the extracts, and of what the source shows. --comments names a file of objects with
`table`, `column` and `gold`, which become comments in the database first. Files beside OUT are
replaced.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from tests.support.postgresql_process import Server

SHOWN = ("R@1", "recall@1", "recall@5", "recall@10", "all@5", "MRR", "nDCG@10")
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
    parser.add_argument("--source", action="store_true", help="index the database, and ask")
    parser.add_argument("--comments", type=Path, help="what people say of columns")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    asked = (options.folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in asked]
    kept = [{key: one[key] for key in ("question", "tables")} for one in questions]
    write(Path(f"{options.out}.queries.jsonl"), kept)
    with database(options.url) as url:
        with closing(psycopg.connect(url)) as connection:
            tables = list(tables_of(connection, options.folder))
            if options.comments:
                comment(connection, options.comments)
            connection.commit()
        write(Path(f"{options.out}.tables.jsonl"), tables)
        if options.source:
            ask_both(options.out, url, kept, sorted({t["id"].split(".")[0] for t in tables}))
    print(
        f"{len(tables)} tables, {len(kept)} questions, {sum(not q['tables'] for q in kept)} empty"
    )


def comment(connection: psycopg.Connection, file: Path) -> None:
    """Let the columns bear what people say of them."""
    for line in file.read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        place = sql.Identifier(*said["table"].replace("/", ".").split("."), said["column"])
        connection.execute(
            sql.SQL("COMMENT ON COLUMN {} IS {}").format(place, sql.Literal(said["gold"]))
        )


def ask_both(out: Path, url: str, questions: list[dict[str, Any]], schemas: list[str]) -> None:
    """Ask the extracts, then index the database as a source and ask that."""
    ids = [{**one, "tables": [f"warehouse/{name.replace('.', '/')}" for name in one["tables"]]}
           for one in questions]  # fmt: skip
    by_id = Path(f"{out}.ids.jsonl")
    write(by_id, ids)
    address = make_url(url)
    source = {
        "type": "sql",
        "name": "warehouse",
        "url": address._replace(password=None).render_as_string(),
        "password_env": "WAREHOUSE_PASSWORD",
        "schemas": schemas,
    }
    home = Path(f"{out}.home").absolute()
    shutil.rmtree(home, ignore_errors=True)
    config = Path(f"{out}.yaml")
    config.write_text(json.dumps({"home": str(home), "sources": [source]}))
    environ = {**os.environ, "WAREHOUSE_PASSWORD": address.password or ""}

    def run(*arguments: str, package: str = "pneuma_assets") -> str:
        command = [sys.executable, "-m", f"{package}.cli", *arguments, "--config", str(config)]
        done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    extracts = run("run", "--tables", f"{out}.tables.jsonl", "--queries",
                   f"{out}.queries.jsonl", "--json", package="pneuma_bench")  # fmt: skip
    began = time.monotonic()
    run("index")
    print(f"indexed as a source in {time.monotonic() - began:.1f} s")
    shown = run("bench", "run", "--queries", str(by_id), "--json")
    for name, said in (("extracts", extracts), ("source", shown)):
        figures = json.loads(said)
        print(f"{name:9}", " ".join(f"{key} {figures[key]:.3f}" for key in SHOWN))


@contextmanager
def database(given: str | None) -> Iterator[str]:
    """Yield the address of the database that was given, or of one made for this."""
    if given is not None:
        yield given
    else:
        with Server() as server:
            yield server.url.replace("+psycopg", "")


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


def write(path: Path, records: list[dict[str, Any]]) -> None:
    """Write an object a line."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
