"""A person's own file as a table of a conversation, read as files of a folder are."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError, QueryError, SourceError, TableReadError
from pneuma_assets.core.sources.base import unread_of
from pneuma_assets.core.sources.isolation.source import IsolatedSource

_NAME = re.compile(r"[\w][\w .()-]{0,199}\.(csv|tsv|txt|parquet|jsonl|ndjson)", re.IGNORECASE)
_MOST_CELLS = 20_000_000
_MOST_BYTES = 500_000_000
"""Of its rows in memory."""
_TYPE = b"duckdb type"
_UNREAD = b"lines not read"


@dataclass(frozen=True)
class OwnTable:
    """A table that a person brought."""

    rows: pa.Table

    @property
    def columns(self) -> tuple[AnswerColumn, ...]:
        """Its columns; text of another type is cast where it is read."""
        return tuple(
            AnswerColumn(one.name, (one.metadata or {}).get(_TYPE, b"VARCHAR").decode())
            for one in self.rows.schema
        )

    def unread(self, name: str) -> tuple[str, ...]:
        """Return of which lines of the file, called so, rows are missing."""
        told = (self.rows.schema.metadata or {}).get(_UNREAD, b"").decode()
        return (f"{name}: {told}",) if told else ()

    def packed(self) -> bytes:
        """Return it as Parquet."""
        sink = io.BytesIO()
        pq.write_table(self.rows, sink, compression="zstd")
        return sink.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> "OwnTable":
        """Return what was packed."""
        return cls(pq.read_table(io.BytesIO(data)))


def read_file(
    name: str, data: bytes, loaded: LoadedDeployment, environ: Mapping[str, str]
) -> OwnTable:
    """Return the table in a file, read by a process of its own within the deployment's limits.

    Raises:
        QueryError: Its name is none of those of a table's file, it is no such file, or it is too
            large.
    """
    from pneuma_assets.core.config.source_kinds import KINDS

    most = loaded.deployment.seek.file_megabytes
    if _NAME.fullmatch(name) is None:
        raise QueryError("a file of one's own is called NAME.csv, .tsv, .jsonl or .parquet")
    if len(data) > most * 1_000_000:
        raise QueryError(f"{name} is larger than {most} MB (seek.file_megabytes); shorten it")
    with TemporaryDirectory(prefix="pneuma-file-") as folder:
        (Path(folder) / name).write_bytes(data)
        kind = KINDS.find("folder")
        if kind is None:
            raise ConfigError("files are not read here")
        config = kind.model_validate({"type": "folder", "name": "file", "path": folder})
        source = IsolatedSource(config, environ, loaded.deployment.limits)
        try:
            refs = source.list_tables().tables
            if len(refs) != 1:
                raise QueryError(f"{name} holds no table, or several; give a file of one")
            return _read(name, source, refs[0])
        except (SourceError, TableReadError) as error:
            told = str(error).replace(f"{folder}/", "")
            raise QueryError(f"{name} is not added: {told}") from error
        finally:
            source.close()


def _read(name: str, source: IsolatedSource, ref: "object") -> OwnTable:
    table = source.profile(ref)  # type: ignore[arg-type]
    batches, cells, size = [], 0, 0
    for batch in source.scan(ref):  # type: ignore[arg-type]
        cells, size = cells + batch.num_rows * batch.num_columns, size + batch.nbytes
        if cells > _MOST_CELLS or size > _MOST_BYTES:
            raise QueryError(f"{name} has more than {_MOST_CELLS:,} cells or 500 MB of them")
        batches.append(batch)
    types = {one.name: one.type for one in table.columns}
    if not batches:
        return OwnTable(pa.table({one: pa.array([], pa.string()) for one in types}))
    rows = pa.Table.from_batches(batches)
    fields = [f.with_metadata({_TYPE: types.get(f.name, "VARCHAR").encode()}) for f in rows.schema]
    return OwnTable(rows.cast(pa.schema(fields, {_UNREAD: unread_of(table.notes).encode()})))
