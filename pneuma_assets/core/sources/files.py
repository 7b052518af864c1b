"""A source made of files, wherever they are kept."""

from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property

import duckdb
import pyarrow as pa

from pneuma_assets.core.contexts import read_contexts
from pneuma_assets.core.sampling import sample_positions
from pneuma_assets.core.sources import engine, parquet_files, text_files
from pneuma_assets.core.sources.base import Contexts, Listing, Row
from pneuma_assets.core.sources.catalogue import build_tables, path_id
from pneuma_assets.core.sources.relation import Relation, batches, describe, rows_at
from pneuma_assets.core.sources.staging import OpenTable, opened
from pneuma_assets.core.sources.storage import Storage
from pneuma_assets.core.sources.text_files import Recipe
from pneuma_assets.core.tables import Column, Problem, Table, TableRef

_REMEMBERED = 10_000
"""Recipes kept, so that sampling after profiling reads a text table once and not twice."""


class FileSource:
    """CSV, TSV, JSON Lines and Parquet files of one `Storage`."""

    def __init__(self, name: str, storage: Storage) -> None:
        self._name = name
        self._storage = storage
        self._recipes: OrderedDict[tuple[str, str], Recipe] = OrderedDict()

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """An empty database in memory, to read with: opening one costs more than a small table."""
        return duckdb.connect(config={**engine.settings(), "lock_configuration": True})

    def close(self) -> None:
        """Close the database in memory; used again, another is opened."""
        database = self.__dict__.pop("_database", None)
        if database is not None:
            database.close()

    @property
    def name(self) -> str:
        """The first part of every table id of this source."""
        return self._name

    def list_tables(self) -> Listing:
        """List every table with a cheap version; opens no file."""
        walk = self._storage.walk()
        tables = build_tables(self._name, walk.entries, self._storage.location)
        problems = [
            Problem(path_id(self._name, obstacle.path), "listing", obstacle.cause)
            for obstacle in walk.obstacles
        ]
        unlisted = [
            f"{path_id(self._name, obstacle.path)}/"
            for obstacle in walk.obstacles
            if obstacle.is_folder
        ]
        return Listing(tables, problems, unlisted)

    def profile(self, ref: TableRef) -> Table:
        """Read the columns and count the rows; Parquet from its footer, text in one pass."""
        with opened(self._database, self._storage, ref) as table:
            notes: tuple[str, ...] = ()
            if table.format == "parquet":
                parquet_files.check_columns(table)
                columns = describe(table.connection, parquet_files.relation(table))
                row_count = sum(parquet_files.count_rows(table))
            else:
                recipe, columns = self._find_recipe(table, ref)
                row_count, notes = recipe.row_count, recipe.notes
        return Table(ref.table_id, tuple(columns), row_count, ref.location, notes=notes)

    def sample(self, ref: TableRef, rows: int, seed: int) -> list[Row]:
        """Draw rows uniformly without replacement, in the order of the table, cells as text."""
        with opened(self._database, self._storage, ref) as table:
            if table.format == "parquet":
                row_count = sum(parquet_files.count_rows(table))
                width = len(describe(table.connection, parquet_files.relation(table)))
                return parquet_files.rows_at(table, width, sample_positions(row_count, rows, seed))
            source, columns, row_count = self._text(table, ref)
            positions = sample_positions(row_count, rows, seed)
            return rows_at(table.connection, source, len(columns), positions)

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows."""
        with opened(self._database, self._storage, ref) as table:
            if table.format == "parquet":
                source = parquet_files.relation(table)
                columns = describe(table.connection, source)
            else:
                source, columns, _ = self._text(table, ref)
            yield from batches(table.connection, source, columns, batch_rows)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return the documents beside the table and its folder's, as plain text."""
        return read_contexts(ref, self._storage)

    def _text(self, table: OpenTable, ref: TableRef) -> tuple[Relation, list[Column], int]:
        """Return how to read a text table, its columns and its number of rows."""
        recipe = self._recipes.get((ref.location, ref.version))
        if recipe is None:
            recipe, columns = self._find_recipe(table, ref)
        else:
            if recipe.transcoded:
                table.transcode()
            columns = describe(table.connection, text_files.relation(table, recipe.options))
        return text_files.relation(table, recipe.options), columns, recipe.row_count

    def _find_recipe(self, table: OpenTable, ref: TableRef) -> tuple[Recipe, list[Column]]:
        recipe, columns = text_files.find_recipe(table)
        self._recipes[ref.location, ref.version] = recipe
        while len(self._recipes) > _REMEMBERED:
            self._recipes.popitem(last=False)
        return recipe, columns
