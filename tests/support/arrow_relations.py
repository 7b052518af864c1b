"""Tables that exist only in memory, as steps of a state read them, and what steps make of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.seek.materialize import materialize
from pneuma_assets.core.seek.results import Made, MakeBounds
from pneuma_assets.core.seek.state import Source, State, read_state
from pneuma_assets.core.seek.tables import duckdb_type

Typed = tuple[pa.Table, Mapping[str, str]]


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

    def unread(self, source: Source) -> Sequence[str]:
        return ()

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


def state_of(*steps: Mapping[str, object], **sources: Sequence[str]) -> State:
    """Return a state whose one table `t` is made by steps from sources of these tables."""
    return read_state(
        {
            "sources": [{"name": name, "table_ids": ids} for name, ids in sources.items()],
            "tables": [{"name": "t", "steps": list(steps)}],
        }
    )


def made_by(
    step: Mapping[str, object], bounds: MakeBounds | None = None, **tables: pa.Table | Typed
) -> Made:
    """Return what one step makes of tables; the types of a table's texts stand beside it."""
    held = {name: one if isinstance(one, tuple) else (one, {}) for name, one in tables.items()}
    relations = ArrowRelations(
        {name: rows for name, (rows, _) in held.items()},
        {name: types for name, (_, types) in held.items()},
    )
    state = state_of({"makes": "t", "reads": list(held), **step}, **{name: [name] for name in held})
    (found,) = materialize(state, relations, bounds=bounds or MakeBounds())
    return found
