"""Finding copies, families and joins among all tables, once those of a run are searchable."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.relations.copies import RECIPE as COPIES_RECIPE
from pneuma_assets.core.relations.copies import KnownTable, find_copies_and_families
from pneuma_assets.core.relations.infer_joins import RECIPE, infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.shared_domains import shared_domains
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableFacts, content_hash
from pneuma_assets.core.terms.collect import ROWS_KEPT, most_cells
from pneuma_assets.core.terms.distinct_cells import Hashes, hashes_of


def mark_copies(store: Store, facts: Mapping[str, TableFacts]) -> int:
    """Note in the store which tables are copies or families; returns of how many that is news.

    By `facts`, what is used and described more is the original. All are compared, or none where
    neither a table nor its use is another than last time.
    """
    used = {i: (one.feeds, one.documented, one.updated_at) for i, one in facts.items()}
    now = content_hash(COPIES_RECIPE, *store.joins.stamp(), repr(sorted(used.items())))
    if store.profiles.copies_made_of() == now:
        return 0
    known = store.profiles.fingerprints()
    tables = [KnownTable(i, one, facts.get(i, TableFacts())) for i, one in known.items()]
    return store.profiles.mark_copies(*find_copies_and_families(tables), now)


_MOST_TIMES = 2
"""Joins are looked for in one stage, however often tables of other runs come in between."""

_MOST_COMPARED = 200
_AT_ONCE = 100
"""Tables whose profiles and sketches are read at a time."""


def mark_joins(store: Store, index: SearchIndex) -> int:
    """Note in the store which tables can be joined; returns of how many joins that is news.

    All tables are looked at, or none where no table is another than last time. Where tables of
    another run came meanwhile, once more: that run may have looked before this one wrote.
    """
    news = 0
    for _ in range(_MOST_TIMES):
        now = (RECIPE, *store.joins.stamp())
        if store.joins.made_of() == now:
            break
        tables, kept = columns_of(store, store.tables.indexed()), ValueOverlap(index)
        tables |= kept.whole(tables)
        keys = infer_joins(tables, kept.share)
        news += store.joins.replace([*keys, *shared_domains(tables, keys)], now)
        _compare_views(store, store.joins.of_views(), tables)
    new = store.joins.of_views(compared=False)
    _compare_views(store, new, columns_of(store, sorted(_tables_of(new))))
    return news


def _tables_of(said: Iterable[tuple[str, JoinEdge]]) -> set[str]:
    return {table for _, edge in said for table in edge.tables}


def _compare_views(
    store: Store, said: Sequence[tuple[str, JoinEdge]], tables: Mapping[str, Sequence[JoinColumn]]
) -> None:
    """Note of joins of queries which side is the key, by the cells, and how much of it is there."""
    known = _by_name(tables)
    found = [(origin, edge, _compared(edge, known)) for origin, edge in said]
    if found:
        store.joins.compare_views(found)


def _compared(edge: JoinEdge, known: Mapping[tuple[str, str], JoinColumn]) -> JoinEdge:
    """Return a join by one column with its share of cells; its key is the side referred to."""
    column = known.get((edge.table, edge.columns[0]))
    key = known.get((edge.other, edge.other_columns[0]))
    if len(edge.columns) > 1 or column is None or key is None:
        return edge
    if column.is_unique and not key.is_unique and edge.kind is JoinKind.VIEW:
        edge, column, key = edge.turned(), key, column
    return replace(edge, share=column.share_in(key))


def _by_name(tables: Mapping[str, Sequence[JoinColumn]]) -> dict[tuple[str, str], JoinColumn]:
    return {(one.table_id, one.name): one for columns in tables.values() for one in columns}


def columns_of(store: Store, table_ids: Sequence[str]) -> dict[str, list[JoinColumn]]:
    """Return what is known of the columns of tables, by their ids; of those that were read."""
    found: dict[str, list[JoinColumn]] = {}
    for some in chunks(table_ids, _AT_ONCE):
        sketches = store.profiles.sketches(some)
        for table in store.tables.profiles(some):
            sketch = sketches.get(table.table_id)
            columns = join_columns(
                table.table_id, table.columns, table.row_count, sketch, table.primary_key
            )
            found[table.table_id] = list(columns)
    return found


def with_shares(store: Store, edges: Sequence[JoinEdge]) -> list[JoinEdge]:
    """Return joins by one column with the share of sampled cells, also of those nobody inferred.

    Of these, the first `_MOST_COMPARED` are compared.
    """
    untold = [one for one in edges if one.share is None and len(one.columns) == 1][:_MOST_COMPARED]
    tables = columns_of(store, sorted({table for one in untold for table in one.tables}))
    known = _by_name(tables)
    compared = {one.on: _compared(one, known) for one in untold}
    return [compared.get(one.on, one) for one in edges]


MOST_TABLES = 1_000
"""Whose evidence is read in one run; of keys beyond these, names alone tell."""

MOST_SMALL_TABLES = 2_000
"""Of which all cells are looked at in one run, the first ones."""

_EVIDENCE_AT_ONCE = 50
_REMEMBERED = 200
"""Tables whose cells are kept in memory, about 30 kB each at most."""

_ALL_THERE = 0.9
"""Of the key's sampled cells, the share from which on all of it counts as kept."""

_LEAST_EXPECTED = 8.0
"""Cells to be found if the key had all of the column, where some of the key are not kept."""

_UNSURE = 0.25, 0.75
"""Between these a share says nothing where some of the key are not kept: it is off by a third, that
of the key's sample by a sixth, and a cell is there or not by chance."""

_LEAST_COMPARED = 2


class ValueOverlap:
    """Tells shares by the evidence in an index; for one thread."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._known: OrderedDict[str, Hashes] = OrderedDict()
        self._read = 0

    def share(self, column: JoinColumn, key: JoinColumn) -> float | None:
        """Return the share of a small column's different cells that a key has, from 0 to 1.

        None where not all of its cells or too little of the key is known, or they are numbers.
        """
        numbers = column.is_whole_number or key.is_whole_number
        if numbers or not column.whole or len(column.cells) < _LEAST_COMPARED:
            return None
        if not len(key.cells):
            return None
        kept = self._kept(key.table_id)
        there = len(np.intersect1d(key.cells, kept, assume_unique=True)) / len(key.cells)
        there *= min(1.0, most_cells(key.width) / max(1.0, key.different))
        expected = there * len(column.cells)
        if there < _ALL_THERE and expected < _LEAST_EXPECTED:
            return None
        found = len(np.intersect1d(column.cells, kept, assume_unique=True))
        share = round(min(1.0, found / expected), 3)
        is_unsure = there < _ALL_THERE and _UNSURE[0] <= share < _UNSURE[1]
        return None if is_unsure else share

    def whole(self, tables: Mapping[str, Sequence[JoinColumn]]) -> dict[str, list[JoinColumn]]:
        """Return the columns of small tables with all of their cells, where the index has all rows.

        What was read anew since the sketch was made is left out.
        """
        small = [
            table_id for table_id, columns in tables.items() if any(map(_may_be_whole, columns))
        ]
        found = {}
        for some in chunks(small[:MOST_SMALL_TABLES], _EVIDENCE_AT_ONCE):
            for table_id, evidence in self._index.evidence(some).items():
                rows = evidence.rows
                columns = tables[table_id]
                if len(rows) == columns[0].rows:
                    found[table_id] = [_with_all(one, rows) for one in columns]
        return found

    def _kept(self, table_id: str) -> Hashes:
        """Return the hashes of a table's cells, as its sketch has them; none beyond the bound."""
        if table_id in self._known:
            self._known.move_to_end(table_id)
        elif self._read >= MOST_TABLES:
            return np.empty(0, np.uint64)
        else:
            self._read += 1
            self._known[table_id] = self._hashes(table_id)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[table_id]

    def _hashes(self, table_id: str) -> Hashes:
        evidence = self._index.evidence([table_id]).get(table_id)
        if evidence is None:
            return np.empty(0, np.uint64)
        cells = {cell for row in evidence.rows for cell in row if cell is not None}
        return _hashes([*cells, *evidence.cells])


def _may_be_whole(column: JoinColumn) -> bool:
    return not column.whole and len(column.cells) > 0 and column.rows <= ROWS_KEPT


def _with_all(column: JoinColumn, rows: Sequence[Sequence[str | None]]) -> JoinColumn:
    if not _may_be_whole(column):
        return column
    cells = {row[column.place] for row in rows if column.place < len(row)} - {None}
    hashes = _hashes(cells)
    if not np.array_equal(hashes[: len(column.cells)], column.cells):
        return column
    return replace(column, cells=hashes, whole=True)


def _hashes(texts: Iterable[str | None]) -> Hashes:
    return np.unique(hashes_of(pa.array(list(texts), pa.string())) >> np.uint64(32))
