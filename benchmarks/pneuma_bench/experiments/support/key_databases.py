"""Databases whose foreign keys are known, as an index run would know their columns."""

import csv
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pneuma_assets.core.pipeline.relate import ValueOverlap
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.tables import Column, TableTerms

Edge = tuple[str, str, str, str]
"""A table, its column, the table referred to, its column; a key of several columns is several."""
Lake = Mapping[str, Sequence[JoinColumn]]
MANY_ROWS = 10**6
"""Rows that a table without any is said to have: names alone tell of it, as of a hidden one."""


@dataclass
class KnownCells:
    """What the index keeps of the cells of each table, as `ValueOverlap` asks for it."""

    of_tables: dict[str, TableTerms] = field(default_factory=dict)

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of those that have any."""
        return {one: self.of_tables[one] for one in table_ids if one in self.of_tables}


@dataclass(frozen=True)
class KeyDatabase:
    """A database with its foreign keys.

    Attributes:
        name: Of the database.
        kind: Figures are given for each kind.
        lake: Its columns, by table.
        gold: Its foreign keys.
        directed: Whether the first column of each refers to the other.
        cells: Beyond the sketches.
    """

    name: str
    kind: str
    lake: Lake
    gold: frozenset[Edge]
    directed: bool = True
    cells: KnownCells = field(default_factory=KnownCells)

    @property
    def overlap(self) -> ValueOverlap:
        """What looks closer at cells."""
        return ValueOverlap(self.cells)  # type: ignore[arg-type]


def read_databases(folder: Path, warehouse_gold: Path) -> Iterator[KeyDatabase]:
    """Yield the databases of a folder, those with rows also as names alone."""
    yield from _of_names(folder / "spider_schemas_dev", "Spider schemas, names alone")
    yield from _of_names(folder / "beaver_dw", "enterprise warehouse, names alone", directed=False)
    for path in sorted((folder / "databases").glob("*.joins.jsonl")):
        name = path.name.removesuffix(".joins.jsonl")
        gold = {edge for _, edge in _edges(path)}
        yield from _both(_with_rows(name, "databases", path.with_name(name), gold))
    yield from _warehouse(folder / "warehouse.tables.jsonl", warehouse_gold)


def _of_names(path: Path, kind: str, *, directed: bool = True) -> Iterator[KeyDatabase]:
    lakes: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for line in _lines(path.with_suffix(".tables.jsonl")):
        database, table = line["id"].split(".", 1)
        lakes[database][table] = line["columns"]
    gold: dict[str, set[Edge]] = defaultdict(set)
    for database, edge in _edges(path.with_suffix(".joins.jsonl")):
        gold[database].add(edge)
    for database, tables in lakes.items():
        yield KeyDatabase(database, kind, names_alone(tables), frozenset(gold[database]), directed)


def names_alone(tables: Mapping[str, Sequence[str]]) -> Lake:
    """Return tables of which names of columns alone are known."""
    return {
        f"s/{table}": list(
            join_columns(f"s/{table}", [Column(one, "") for one in columns], MANY_ROWS, None)
        )
        for table, columns in tables.items()
    }


def _edges(path: Path) -> Iterator[tuple[str, Edge]]:
    for line in _lines(path):
        (database, table), (_, other) = line["a"].split(".", 1), line["b"].split(".", 1)
        for mine, theirs in zip(line["a_columns"], line["b_columns"], strict=True):
            yield database, (table, mine, other, theirs)


def _lines(path: Path) -> Iterator[dict[str, object]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def _warehouse(path: Path, gold: Path) -> Iterator[KeyDatabase]:
    keys: dict[str, set[Edge]] = defaultdict(set)
    for line in filter(None, gold.read_text("utf-8").splitlines()):
        table, mine, other, theirs = line.split("\t")
        schema = table.split("/")[0]
        pairs = zip(mine.split(","), theirs.split(","), strict=True)
        keys[schema] |= {(table.split("/")[1], a, other.split("/")[1], b) for a, b in pairs}
    with tempfile.TemporaryDirectory() as written:
        write_tables(path, Path(written))
        for schema, edges in keys.items():
            yield from _both(_with_rows(schema, "seven schemas", Path(written) / schema, edges))


def write_tables(path: Path, folder: Path) -> None:
    """Write the tables of a set as CSV files, in a folder a schema."""
    for line in _lines(path):
        schema, table = line["id"].split(".", 1)
        target = folder / schema / f"{table}.csv"
        target.parent.mkdir(exist_ok=True)
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([line["columns"], *line["rows"]])


def _with_rows(name: str, kind: str, folder: Path, gold: Iterable[Edge]) -> KeyDatabase:
    """Return the CSV files of a folder as the stages of an index run read them."""
    source, lake, cells = FileSource("s", FolderStorage(folder)), {}, KnownCells()
    for ref in source.list_tables().tables:
        table, found = source.profile(ref), source.evidence(ref, 0)
        table_id = f"s/{ref.table_id.rpartition('/')[2].removesuffix('.csv')}"
        cells.of_tables[table_id] = found.terms
        lake[table_id] = list(join_columns(table_id, table.columns, table.row_count, found.sketch))
    whole = ValueOverlap(cells).whole(lake)  # type: ignore[arg-type]
    return KeyDatabase(name, f"{kind}, rows", {**lake, **whole}, frozenset(gold), cells=cells)


def _both(database: KeyDatabase) -> Iterator[KeyDatabase]:
    yield database
    names = {
        table_id.rpartition("/")[2]: [one.name for one in columns]
        for table_id, columns in database.lake.items()
    }
    kind = database.kind.replace(", rows", ", names alone")
    yield KeyDatabase(database.name, kind, names_alone(names), database.gold)
