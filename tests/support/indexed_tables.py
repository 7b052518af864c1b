"""Puts tables into an index as a run does, in no time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.describe.texts import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.pipeline.sample import SEED
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import EmbeddedBlock, Table
from pneuma_assets.core.terms.collect import collect_rows
from pneuma_assets.core.terms.split_names import spell_out

Tables = Sequence[tuple[Table, Sequence[Row]]]


def index_tables(
    index: SearchIndex,
    encoder: Encoder,
    tables: Tables,
    names: Mapping[str, Sequence[str]] | None = None,
    contexts: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Index tables with all their rows, what people call them, and what they wrote of them."""
    sampling, contents = SamplingConfig(), {}
    for table, rows in tables:
        called = (names or {}).get(table.table_id, ())
        written = (contexts or {}).get(table.table_id, ())
        drawn = [rows[at] for at in sample_positions(len(rows), sampling.rows, SEED)]
        known = (
            NarratedColumns(table, {}, called),
            DrawnRows(table, drawn),
            ReadTable(table, written),
        )
        made = [some for one in known for kind in documents_of(one).values() for some in kind]
        blocks = pack_blocks(made, encoder)
        vectors = encoder.encode_documents([block.text for block in blocks])
        columns = tuple(column.name for column in table.columns)
        found = collect_rows(rows, len(columns), SEED).terms
        evidence = spell_out(replace(found, names=tuple(called), columns=columns), written)
        embedded = [EmbeddedBlock(*pair) for pair in zip(blocks, vectors, strict=True)]
        contents[table.table_id] = TableContents(embedded, evidence)
    index.replace_tables(contents)
