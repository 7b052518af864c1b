"""How often this code's own path, from tables to ranked answers, finds the wanted table."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from pneuma_assets.core.bench.metrics import (
    Metric,
    all_at,
    hit_at,
    mean,
    ndcg_at,
    reciprocal_rank,
)
from pneuma_assets.core.bench.reading import read_set as read_set  # noqa: PLC0414 (others import it from here)
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.documents.packing import pack_blocks
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.positions import sample_positions
from pneuma_assets.core.tables import Block, Document, EmbeddedBlock, Table

_QUESTIONS_AT_ONCE = 100
_TABLES_AT_ONCE = 100


METRICS: dict[str, Metric] = {
    **{f"R@{k}": partial(hit_at, k) for k in (1, 5, 10)},
    **{f"all@{k}": partial(all_at, k) for k in (5, 10)},
    "MRR": reciprocal_rank,
    "nDCG@10": partial(ndcg_at, 10),
}


def table_documents(
    table: Table, rows: Sequence[Row], sampling: SamplingConfig, contexts: Sequence[str] = ()
) -> list[Document]:
    """Represent a table as indexing does with narration off: column names, rows, contexts."""
    positions = sample_positions(len(rows), sampling.rows, sampling.seed)
    drawn = DrawnRows(table, [rows[position] for position in positions])
    made = (NarratedColumns(table, {}), drawn, ReadTable(table, contexts))
    return [
        document
        for material in made
        for documents in documents_of(material).values()
        for document in documents
    ]


def index_set(
    index: SearchIndex, encoder: Encoder, dataset: RetrievalSet, sampling: SamplingConfig
) -> list[Block]:
    """Represent, pack, embed and index every table of a set; return the blocks."""
    made: list[Block] = []
    for portion in chunks(dataset.tables, _TABLES_AT_ONCE):
        blocks = pack_blocks(
            [
                document
                for table, rows in portion
                for document in table_documents(
                    table, rows, sampling, dataset.contexts.get(table.table_id, ())
                )
            ],
            encoder,
        )
        vectors = encoder.encode_documents([block.text for block in blocks])
        embedded: dict[str, list[EmbeddedBlock]] = {table.table_id: [] for table, _ in portion}
        for block, vector in zip(blocks, vectors, strict=True):
            embedded[block.table_id].append(EmbeddedBlock(block, vector))
        index.replace_tables({i: TableContents(some) for i, some in embedded.items()})
        made += blocks
    return made


def evaluate(engine: QueryEngine, dataset: RetrievalSet, **options: Any) -> dict[str, float]:
    """Ask every question with these options of `ask_many`; return the mean of each metric."""
    rankings: list[list[str]] = []
    for start in range(0, len(dataset.questions), _QUESTIONS_AT_ONCE):
        answers = engine.ask_many(dataset.questions[start : start + _QUESTIONS_AT_ONCE], **options)
        rankings.extend([result.table_id for result in answer] for answer in answers)
    asked = [place for place, relevant in enumerate(dataset.relevant) if relevant]
    rankings = [rankings[place] for place in asked]
    wanted = [dataset.relevant[place] for place in asked]
    return {name: mean(metric, rankings, wanted) for name, metric in METRICS.items()}
