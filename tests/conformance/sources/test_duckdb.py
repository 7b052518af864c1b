"""A DuckDB file keeps the contract."""

from pathlib import Path
from typing import ClassVar

import duckdb
import pyarrow as pa
import pytest

from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, Isolated, arrow_table, people


class DuckDBLake:
    """One database file, which its owner has open only while he writes."""

    environ: ClassVar[dict[str, str]] = {}

    def __init__(self, file: Path) -> None:
        self._file = file
        self.config = DuckDBSourceConfig(name="s", path=file)
        self._run("SELECT 1")

    def _run(self, statement: str, **tables: pa.Table) -> None:
        with duckdb.connect(self._file) as connection:
            for name, table in tables.items():
                connection.register(name, table)
            connection.execute(statement)

    def write(self, name: str, columns: Columns) -> None:
        self.delete(name)
        self._run(f"CREATE TABLE {quote_identifier(name)} AS FROM rows", rows=arrow_table(columns))

    def write_beside(self, name: str) -> None:
        self._run(f"CREATE SCHEMA x; CREATE TABLE x.{quote_identifier(name)} AS SELECT 1 AS a")

    def describe(self, name: str, text: str) -> None:
        quoted = text.replace("'", "''")
        self._run(f"COMMENT ON TABLE {quote_identifier(name)} IS '{quoted}'")

    def damage(self, name: str) -> None:
        self.write("its_table", people(1))
        self.delete(name)
        self._run(f"CREATE VIEW {quote_identifier(name)} AS SELECT * FROM its_table")
        self.delete("its_table")

    def delete(self, name: str) -> None:
        with duckdb.connect(self._file) as connection:
            for kind in ("VIEW", "TABLE"):
                try:
                    connection.execute(f"DROP {kind} IF EXISTS {quote_identifier(name)}")
                except duckdb.CatalogException:
                    continue  # It is of the other kind.

    def vanish(self) -> None:
        self._file.unlink()


@pytest.mark.slow
class TestDuckDBFile(SourceConformance):
    @pytest.fixture
    def lake(self, tmp_path):
        return DuckDBLake(tmp_path / "lake.duckdb")


class TestDuckDBFileIsolated(Isolated, TestDuckDBFile):
    """The suite through the process that reads, of this kind for all."""
