"""Tables that exist only in memory, as steps of a state read them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.seek.state import Source
from pneuma_assets.core.seek.tables import duckdb_type


@dataclass
class ArrowRelations:
    """Tables by id or file name; texts are of other types where `types` says so, as in files."""

    tables: Mapping[str, pa.Table]
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reads: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def columns(self, source: Source) -> Sequence[AnswerColumn]:
        key = self._key(source)
        types = self.types.get(key, {})
        return [
            AnswerColumn(one.name, types.get(one.name, duckdb_type(one.type)))
            for one in self.tables[key].schema
        ]

    def rows(self, source: Source, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        key = self._key(source)
        self.reads.append((key, tuple(columns)))
        return self.tables[key].to_batches(max_chunksize=1_000)

    def _key(self, source: Source) -> str:
        key = source.file or source.table_ids[0]
        assert len(source.table_ids) < 2
        if key not in self.tables:
            raise TableReadError(f"there is no table {key!r}, or you may not read it")
        return key


def texts(**columns: Sequence[object]) -> pa.Table:
    """Return a table of texts, as files are read."""
    return pa.table(
        {
            name: pa.array([None if one is None else str(one) for one in cells], pa.string())
            for name, cells in columns.items()
        }
    )
