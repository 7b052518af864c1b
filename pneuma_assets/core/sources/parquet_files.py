"""How Parquet is read: counts from the footers, rows by number from the row groups they are in."""

from collections import defaultdict
from collections.abc import Sequence

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.relation import Relation, cells
from pneuma_assets.core.sources.staging import OpenTable


def relation(table: OpenTable) -> Relation:
    """Return what to select from.

    Partitions with different columns are joined by name. Some writers leave bytes in strings
    that are not UTF-8; these show as U+FFFD.
    """
    partitioned = str(table.partitioned).lower()
    options = f"hive_partitioning = {partitioned}, union_by_name = {partitioned}, "
    options += "utf8_validation = 'replace'"
    return Relation(f"read_parquet(?, {options})", (table.files,))


def check_columns(table: OpenTable) -> None:
    """Refuse a table of too many columns by the first footer; to describe it takes minutes.

    Raises:
        TableReadError: It has more than the limits allow.
    """
    root = table.connection.execute(
        "SELECT num_children FROM parquet_schema(?) LIMIT 1", [table.files[:1]]
    ).fetchall()
    check_width(int(root[0][0] or 0) if root else 0)


def count_rows(table: OpenTable) -> list[int]:
    """Return the number of rows of each file; reads footers only."""
    found = table.connection.execute(
        "SELECT file_name, num_rows FROM parquet_file_metadata(?)", [table.files]
    ).fetchall()
    counts = dict(found)
    return [int(counts[name]) for name in table.files]


def rows_at(table: OpenTable, width: int, positions: Sequence[int]) -> list[Row]:
    """Return the rows at these positions of all files in sequence, cells as text."""
    wanted: dict[int, list[int]] = defaultdict(list)
    counts = count_rows(table)
    number, before = 0, 0
    for position in sorted(positions):
        while position >= before + counts[number]:
            before += counts[number]
            number += 1
        wanted[number].append(position - before)
    source = relation(table)
    rows: list[Row] = []
    for number, file_rows in wanted.items():
        found = table.connection.execute(
            f"SELECT file_row_number, {cells(width)} FROM {source.aliased(width)} "
            f"WHERE file_index = {number} "
            f"AND file_row_number IN ({', '.join(map(str, file_rows))})",
            source.parameters,
        ).fetchall()
        rows += [row[1:] for row in sorted(found, key=lambda row: int(row[0]))]
    return rows
