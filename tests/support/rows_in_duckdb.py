"""Runs statements in DuckDB over the rows that tables of tests are made of."""

from collections.abc import Sequence

import duckdb
from sqlglot import exp

from pneuma_assets.core.answers.results import AnswerTable
from pneuma_assets.core.answers.statements import Checked
from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.sources.base import StatementRows


class RowsInDuckDB:
    """Keeps `answers.attempting.Runner`, without a process for each statement.

    Attributes:
        ran: The statements, in order.
    """

    def __init__(self) -> None:
        self.ran: list[str] = []

    def dialect(self, tables: Sequence[AnswerTable]) -> str:
        return "duckdb"

    def run(self, statement: Checked, tables: Sequence[AnswerTable]) -> StatementRows:
        """Return the rows that a statement gives."""
        self.ran.append(statement.sql)
        with duckdb.connect() as connection:
            for table in tables:
                columns = ", ".join(
                    f"{exp.to_identifier(one.name, quoted=True).sql('duckdb')} {one.type}"
                    for one in table.columns
                )
                schema, name = table.read.place
                place = f'"{schema or "main"}"."{name}"'
                connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema or "main"}"')
                connection.execute(f"CREATE TABLE {place} ({columns})")
                marks = ", ".join("?" for _ in table.columns)
                for row in table.evidence.rows:
                    connection.execute(f"INSERT INTO {place} VALUES ({marks})", row)
            try:
                result = connection.execute(statement.sql)
            except duckdb.Error as error:
                raise SqlFailedError(str(error)) from error
            columns = tuple(one[0] for one in result.description)
            rows = tuple(result.fetchmany(statement.most_rows + 1))
        more = len(rows) > statement.most_rows
        return StatementRows(columns, rows[: statement.most_rows], more)
