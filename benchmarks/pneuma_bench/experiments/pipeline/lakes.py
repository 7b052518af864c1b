"""Where the many small tables of a benchmark lie: a folder, a bucket, a database."""

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from tests.support.postgresql_process import Server

ROWS = 20
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
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


class Lake(Protocol):
    """A place of tables, and the source that a deployment has of it."""

    source: dict[str, Any]

    def put(self, number: int, version: int = 0) -> None:
        """Write one."""
        ...

    def drop(self, number: int) -> None:
        """Delete one."""
        ...


class Folder:
    """Tables as files."""

    def __init__(self, root: Path) -> None:
        self._lake = root / "lake"
        self._lake.mkdir()
        self.source: dict[str, Any] = {"type": "folder", "name": "lake", "path": str(self._lake)}

    def put(self, number: int, version: int = 0) -> None:
        """Write one."""
        (self._lake / f"t{number}.csv").write_text(text(number, version), encoding="utf-8")

    def drop(self, number: int) -> None:
        """Delete one."""
        (self._lake / f"t{number}.csv").unlink()


class Bucket:
    """Tables as objects."""

    def __init__(self, endpoint: str) -> None:
        from pneuma_assets.core.sources.files import s3

        self._client = s3.connect(endpoint, None, *KEYS.values(), None)
        self._client.create_bucket(Bucket="lake")
        self.source = {"type": "s3", "name": "lake", "bucket": "lake", "endpoint_url": endpoint}

    def put(self, number: int, version: int = 0) -> None:
        """Write one."""
        body = text(number, version).encode()
        self._client.put_object(Bucket="lake", Key=f"t{number}.csv", Body=body)

    def drop(self, number: int) -> None:
        """Delete one."""
        self._client.delete_object(Bucket="lake", Key=f"t{number}.csv")


class Database:
    """Tables of a PostgreSQL, whose counters say at once what was written."""

    def __init__(self, connection: psycopg.Connection, url: str) -> None:
        self._connection = connection
        self.source = {"type": "sql", "name": "lake", "url": url, "password_env": PASSWORD}

    def put(self, number: int, version: int = 0) -> None:
        """Make one, or update its rows."""
        name, columns = sql.Identifier(f"t{number}"), header(number)
        types = ("integer", "text", "numeric", "date")
        spelled = [sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
                   for column, kind in zip(columns, types, strict=True)]  # fmt: skip
        with self._connection.cursor() as cursor:
            if version:
                changed = [(amount, row) for row, _, amount, _ in rows(number, version)]
                query = sql.SQL("UPDATE {} SET amount = %s WHERE id = %s").format(name)
                cursor.executemany(query, changed)
            else:
                made = sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(", ").join(spelled))
                cursor.execute(made)
                query = sql.SQL("INSERT INTO {} VALUES (%s, %s, %s, %s)").format(name)
                cursor.executemany(query, rows(number, version))
            cursor.execute("SELECT pg_stat_force_next_flush()")

    def drop(self, number: int) -> None:
        """Drop one."""
        name = sql.Identifier(f"t{number}")
        self._connection.execute(sql.SQL("DROP TABLE {}").format(name))


@contextmanager
def opened(where: str, root: Path) -> Iterator[Lake]:
    """Open an empty folder, bucket or database.

    Servers are processes of their own, and their processor time is not ours.
    """
    if where == "folder":
        yield Folder(root)
    elif where == "s3":
        os.environ.update(KEYS)
        with _bucket_server() as endpoint:
            yield Bucket(endpoint)
    else:
        with Server() as server:
            address = make_url(server.url)
            os.environ[PASSWORD] = address.password or ""
            url = server.url.replace("+psycopg", "")
            with closing(psycopg.connect(url, autocommit=True)) as connection:
                yield Database(connection, address._replace(password=None).render_as_string())


@contextmanager
def _bucket_server() -> Iterator[str]:
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    server = spawning.Process(target=_serve_buckets, args=(theirs,), daemon=True)
    server.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        server.join()


def _serve_buckets(asked: Connection) -> None:
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it tells of each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    asked.send(f"http://{host}:{port}")
    asked.recv()
    server.stop()
